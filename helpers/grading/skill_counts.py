"""The skill of a puzzle: which counts of a right kernel show, beside the official kernel's, that it lacks it."""

from collections.abc import Iterator
from typing import NamedTuple

from helpers.grading.puzzle import Case, Puzzle
from helpers.grading.test_run import TestRun, simulated
from wgsl import Kernel
from wgsl.simulator.work import Work

MOST_WORK = 500_000_000  # of `Work`, in the larger problem, where a thread may do the work of all
_official: dict[tuple[str, str], TestRun] = {}  # the official kernel in a case, each simulated once


class Lacks(NamedTuple):
    """The counts that are larger or smaller than the puzzle allows, with the official kernel's, and where."""

    case: str
    counts: dict[str, tuple[float, float]]


def official_run(puzzle: Puzzle, case: Case) -> TestRun:
    """The official kernel in a case."""
    key = puzzle.name, case.name
    if key not in _official:
        _official[key] = simulated(puzzle.official, case)
    return _official[key]


def lacks(puzzle: Puzzle, kernel: Kernel, asked: TestRun) -> Lacks | None:
    """Return what a right kernel lacks of the skill; `asked` is its run in the test of the skill."""
    if puzzle.skill is None:
        return None
    for run in _counted(puzzle, kernel, asked):
        counts = run.lacking(puzzle.skill, official_run(puzzle, run.case))
        if counts:
            return Lacks(run.case.name, counts)
    return None


def _counted(puzzle: Puzzle, kernel: Kernel, asked: TestRun) -> Iterator[TestRun]:
    """The runs in which the work is counted: the test of the skill, and the larger problem."""
    yield asked
    if puzzle.skill.larger_case is None:
        return
    larger = simulated(kernel, puzzle.skill.larger_case, work=Work(MOST_WORK))
    if not larger.endless and not larger.wrong.any():
        yield larger
