"""What a learner works out in lesson 05: the fault in a kernel, from what the tests say about it, and questions."""

from collections.abc import Callable, Iterator
from functools import partial
from math import ceil, prod
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from helpers.gpu.operation import Shape
from helpers.gradient_checks.harness import drawn, ones, operation_of, whole
from helpers.gradient_checks.written_test import (
    FUNCTIONS,
    WRONG_KERNELS,
    checked_kernels,
    let_through,
    lines_for,
    rejected_right_kernels,
    said_of,
    test_name,
)
from helpers.grading.fault import Fault
from helpers.grading.matching import matchings
from helpers.grading.prediction import questions
from helpers.grading.puzzle import Case, Dispatch, Skill
from helpers.grading.python_puzzle import PythonCase, PythonPuzzle
from helpers.kernels import load
from helpers.network.shapes import PoolShape
from helpers.summation.shapes import SumShape
from wgsl import Kernel

if TYPE_CHECKING:
    from helpers.pictures.canvas import Picture  # which takes as long to import as all the rest


def distinct(shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    """Whole numbers of which no two are equal."""
    return np.random.default_rng(seed).permutation(prod(shape)).reshape(shape).astype(np.float32)


def _case(kernel: Kernel, name: str, shape: Shape, draw: Callable[..., np.ndarray] = whole) -> Case:
    """A test in whole numbers."""
    operation = operation_of(kernel)
    tensors, schedule = drawn(operation, shape, draw), operation.versions[kernel.version](shape, kernel)
    (expected,) = operation.right(shape, tensors)
    passes = tuple(Dispatch(step.workgroups, step.entry_point) for step in schedule.steps)
    scratch = tuple(size // 4 for size in schedule.scratch.values())
    return Case(name, tuple(tensors.values()), expected, operation.params(shape), passes, scratch=scratch)


def _fault(name: str, kernel: Kernel, axes: str, *cases: tuple, **words: str) -> Fault:
    """An exercise; `axes` are the letters of the kernel's output, `words` the rest of a Fault."""
    return Fault(
        name, "gradient_checks", axes, lambda: [_case(kernel, *case) for case in cases], kernel=kernel, **words
    )


def _scores() -> Iterator[Case]:
    """Scores of ten classes, of which the largest is looked for; the first table is its own mirror image."""
    square = whole((10, 10))
    tables = {"mirror_image": square + square.T, "three_digits": distinct((3, 10)), "forty_digits": distinct((40, 10))}
    for name, table in tables.items():
        yield Case(name, (table,), table.max(1), table.shape, (Dispatch((ceil(len(table) / 16), 1, 1)),))


FAULTS = (  # the easiest first
    _fault(
        "fault_in_a_sum",
        load("sum", "3_two_passes"),
        "i",
        ("one_workgroup", SumShape(200)),
        ("two_workgroups", SumShape(300)),
        ("five_workgroups", SumShape(1200)),
        old="thread < arrayLength(&parts)",
        new="thread + 1u < arrayLength(&parts)",
        question="one workgroup leaves one part, and the total is 0; which pass has lost it?",
        cure="the parts are numbered from 0; for how many threads is there one?",
    ),
    _fault(
        "fault_in_max_pooling",
        load("max_pool2d_backward", "1_gather"),
        "n c ih iw",
        ("no_two_pixels_equal", PoolShape(1, 2, 4, 6, 2), distinct),
        ("some_pixels_equal", PoolShape(1, 2, 4, 6, 2)),
        ("all_pixels_equal", PoolShape(1, 1, 4, 4, 2), ones),
        old="rival > value || (rival == value && other < mine)",
        new="rival > value",
        question="the numbers are wrong only where pixels of a window are equal; which line compares two pixels?",
        cure="of several equal pixels, the first one in the window takes the gradient; which number says who is first?",
    ),
    Fault(
        "fault_in_a_tile",
        "gradient_checks",
        "n",
        lambda: [*_scores()],
        kernel=Kernel(Path(__file__).with_name("largest_scores.wgsl").read_text(encoding="utf-8"), "scores"),
        old="tile[local.x * TILE + i]",
        new="tile[i * TILE + local.x]",
        question="the numbers are right where the table of scores is its own mirror image; which line takes a column "
        "of the tile for a row?",
        cure="the scores of one digit were copied by one row of threads; in which slots of the tile are they?",
    ),
)

# --- Lines to write -------------------------------------------------------------------------------------------


def _slope_case(name: str, loss: Callable[[float], float], w: float, h: float, derivative: float) -> PythonCase:
    return PythonCase(name, ({"loss": loss, "w": w, "h": h},), (derivative,))


LOSSES = (
    _slope_case("parabola", lambda w: w * w, 3, 1, 6),
    _slope_case("smaller_step", lambda w: w * w + w, -2, 0.5, -3),
    _slope_case("straight_line", lambda w: 5 * w - 2, 4, 2, 5),
    _slope_case("cubic", lambda w: w**3, 2, 0.5, 12.25),  # 12, and h * h: the truncation error
)
TWO_LOSSES = Skill("two losses for each weight", "parabola", {"loss": 1})
TESTS = (
    PythonCase("right kernels", (FUNCTIONS,), ("",), rejected_right_kernels),
    *(PythonCase(test_name(wrong), (FUNCTIONS,), ("",), partial(let_through, wrong)) for wrong in WRONG_KERNELS),
)
CHECKED = tuple(
    PythonCase(name, (lines_for(kernel),), ("",), partial(said_of, right)) for name, kernel, right in checked_kernels()
)
PYTHON_PUZZLES = (  # as they come in the lesson
    PythonPuzzle("catch_them_all", "gradient_checks", "test", lambda: TESTS),
    PythonPuzzle("central_difference", "gradient_checks", "derivative", lambda: LOSSES, TWO_LOSSES),
    PythonPuzzle("check_grad_input", "gradient_checks", "accepted", lambda: CHECKED),
)

# --- Questions ------------------------------------------------------------------------------------------------

QUESTIONS = questions(__file__)


def _curves() -> "Picture":
    from helpers.gradient_checks import in_training  # here, as the process apart trains nothing

    return in_training.curves()


def _patterns() -> "Picture":
    from helpers.gradient_checks.pictures import probes

    return probes.ProbesPicture()


PATTERNS = "Pattern A", "Pattern B", "Pattern C"
MATCHINGS = matchings(
    __file__, fault_from_a_probe=(PATTERNS, _patterns), four_curves=([f"Curve {letter}" for letter in "ABCD"], _curves)
)
