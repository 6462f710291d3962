"""Evidence of a mistake in a run: the wrong output drawn, what was read for a wrong number, the accesses of a race."""

import numpy as np

from helpers.grading.drawing import NumbersDrawn, drawing
from helpers.grading.puzzle import Puzzle
from helpers.grading.race import Race, race
from helpers.grading.read_sets import ReadSets, read_sets
from helpers.grading.test_run import TestRun, traced
from wgsl import Kernel

MOST_STATEMENTS = 10_000  # of a run that is repeated, for what was read


def numbers_drawn(puzzle: Puzzle, run: TestRun, test: str) -> NumbersDrawn:
    """Return the output beside the right one, in lines; `test` is "" for a drawn problem."""
    case = run.case
    marks = np.where(run.unwritten, ".", np.where(run.wrong, "*", ""))
    inputs = {
        binding.name: array
        for binding, array in zip(puzzle.official.bindings, (*case.inputs, *case.start), strict=False)
    }
    lines = drawing(case.expected, run.output, marks, puzzle.axes.split(), inputs)
    passes = tuple((dispatch.entry_point, tuple(dispatch.workgroups)) for dispatch in case.dispatches)
    if len(passes) == 1:
        passes = ()
    return NumbersDrawn(test, passes, tuple(filter(None, np.unique(marks).tolist())), tuple(lines))


def reads(puzzle: Puzzle, kernel: Kernel, run: TestRun) -> ReadSets | None:
    """Return what was read for the first wrong number; None where that takes long."""
    if run.counts["statements"] > MOST_STATEMENTS:
        return None
    return read_sets(kernel, puzzle.official, run.case, run.wrong)


def race_found(kernel: Kernel, run: TestRun) -> Race | None:
    """Return the two accesses of a race, where that is what was found."""
    if not run.finding or run.finding.kind != "data race" or len(run.case.dispatches) > 1:
        return None
    return race(traced(kernel, run.case)[0], run.finding)
