"""The elements of which a wrong number was made: the read sets of both kernels, in words and as a picture."""

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from support.grading import MISTAKES, edited
from support.legible import faults
from support.sample import sample

from helpers.grading import evidence, grader
from helpers.grading.puzzle import Case
from helpers.grading.read_sets import ReadSets, read_sets
from helpers.grading.test_run import simulated, traced
from helpers.lessons.exercises import PUZZLES
from helpers.operations.convolution.indices import taps_of_weight
from helpers.operations.convolution.shapes import ConvShape
from helpers.widgets.read_sets_picture import ReadSetsPicture
from wgsl import Kernel

TINY, RECTANGULAR = (PUZZLES["conv2d_grad_weight"].cases()[i] for i in (0, -1))


def at(puzzle: str, case: Case, index: tuple[int, ...], kernel: Kernel | None = None) -> ReadSets:
    """The reads for any number, as if it were the first that is wrong."""
    wrong = np.zeros(case.expected.shape, bool)
    wrong[index] = True
    return read_sets(kernel or PUZZLES[puzzle].official, PUZZLES[puzzle].official, case, wrong)


# --- The facts ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("case", [TINY, RECTANGULAR], ids=["tiny", "rectangular"])
def test_the_right_reads_of_a_weight_are_those_of_the_index_arithmetic(case):
    shape = ConvShape.between(case.inputs[1].shape, case.inputs[0].shape)
    for co, ci, kh, kw in sample([*np.ndindex(*shape.weight)], 6):
        upstream, pixels = at("conv2d_grad_weight", case, (co, ci, kh, kw)).inputs
        want = [*product(range(shape.batch), taps_of_weight(shape, kh, kw))]
        places = {np.ravel_multi_index((n, co, tap.oh, tap.ow), shape.output) for n, tap in want}
        assert upstream.right == upstream.yours == places
        assert pixels.right == {np.ravel_multi_index((n, ci, tap.ih, tap.iw), shape.input) for n, tap in want}


@pytest.mark.parametrize("edit", [("oh + kh)", "oh - kh)"), ("ow + kw;", "ow;"), ("n < params.batch", "n < 1u")])
def test_yours_are_the_elements_that_change_the_number(edit):
    """Each of them is set to NaN in a run of its own."""
    kernel = Kernel(edited("conv2d_grad_weight", edit))
    index = 0, 0, 1, 1
    for i, read in enumerate(at("conv2d_grad_weight", TINY, index, kernel).inputs):
        assert read.yours == {word for word in range(read.array.size) if nan_reaches(kernel, TINY, i, word, index)}


def nan_reaches(kernel: Kernel, case: Case, i: int, word: int, index: tuple[int, ...]) -> bool:
    inputs = [array.copy() for array in case.inputs]
    inputs[i].flat[word] = np.nan
    return np.isnan(traced(kernel, replace(case, inputs=tuple(inputs)))[-1].buffers[len(inputs)][index])


def test_a_run_with_more_accesses_than_are_kept_has_no_picture(monkeypatch):
    monkeypatch.setattr("wgsl.simulator.trace.MOST", 50)
    assert at("conv2d_grad_weight", TINY, (0, 0, 0, 0)) is None
    monkeypatch.setattr(evidence, "MOST_STATEMENTS", 0)
    assert not any(verdict.evidence for verdict in grader.grade(PUZZLES["map"], edited("map", ("+ 1.0", "+ 2.0"))))


# --- The picture and the verdict ------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "mistake"), sample(MISTAKES, 6))
def test_no_known_mistake_is_without_a_legible_picture(name, mistake):
    puzzle = PUZZLES[name]
    kernel = puzzle.with_mistake(mistake)
    runs = [simulated(kernel, case) for case in puzzle.cases()]
    wrong = [run for run in runs if run.wrong.any() and not run.endless]
    if wrong and wrong[0].case.inputs:  # what reads nothing has no picture
        picture = ReadSetsPicture(read_sets(kernel, puzzle.official, wrong[0].case, wrong[0].wrong))
        assert [fault for fault in faults(picture) if "the sheet is" not in fault] == []
        assert picture.sentence.startswith(("For ", "Nothing is stored in "))
