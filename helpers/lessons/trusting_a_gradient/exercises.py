"""The exercises of lesson 05: the fault in a kernel, from what the tests say about it, and questions."""

from collections.abc import Callable, Iterator
from functools import partial
from math import ceil, prod
from pathlib import Path

import numpy as np

from helpers.data import tables
from helpers.grading.fault import Fault
from helpers.grading.matching import matchings
from helpers.grading.puzzle import Case, Dispatch, Skill
from helpers.grading.python_puzzle import PythonCase, PythonPuzzle
from helpers.lessons.trusting_a_gradient.escaped_checks import CHECKED, drawn_check
from helpers.lessons.trusting_a_gradient.written_test import (
    FUNCTIONS,
    WRONG_KERNELS,
    let_through,
    rejected_right_kernels,
    test_name,
)
from helpers.operations.harness import drawn, ones, operation_of, whole
from helpers.operations.kernels import load
from helpers.operations.network.shapes import PoolShape
from helpers.operations.operation import Shape
from helpers.operations.summation.shapes import SumShape
from wgsl import Kernel

Random = np.random.Generator
HERE = Path(__file__)
FOLDER = HERE.with_name("puzzles")


def distinct(shape: tuple[int, ...], seed: int = 0) -> np.ndarray:
    """Whole numbers of which no two are equal."""
    random = np.random.default_rng(seed)
    numbers = random.permutation(prod(shape))
    return numbers.reshape(shape).astype(np.float32)


def _case(kernel: Kernel, name: str, shape: Shape, draw: Callable[..., np.ndarray] = whole) -> Case:
    """A test in whole numbers."""
    operation = operation_of(kernel)
    tensors = drawn(operation, shape, draw)
    schedule = operation.versions[kernel.version](shape, kernel)
    (expected,) = operation.right(shape, tensors)
    passes = tuple(Dispatch(step.workgroups, step.entry_point) for step in schedule.steps)
    scratch = tuple(size // 4 for size in schedule.scratch.values())
    return Case(name, tuple(tensors.values()), expected, operation.params(shape), passes, scratch=scratch)


def _scores() -> Iterator[Case]:
    """Scores of ten classes, of which the largest is looked for; the first table is its own mirror image."""
    square = whole((10, 10))
    scores = {
        "mirror_image": square + square.T,
        "three_digits": distinct((3, 10)),
        "forty_digits": distinct((40, 10)),
    }
    for name, table in scores.items():
        dispatch = Dispatch((ceil(len(table) / 16), 1, 1))
        yield Case(name, (table,), table.max(1), table.shape, (dispatch,))


NEEDED = {"axes": str, "old": str, "new": str, "question": str, "cure": str}
OPTIONAL = {"kernel": str, "also": str}
SCORES = Kernel(HERE.with_name("largest_scores.wgsl").read_text(encoding="utf-8"), "scores")
TESTS_OF_A_FAULT: dict[str, tuple[tuple, ...]] = {  # name, shape and, where it is not usual, how numbers are drawn
    "fault_in_a_sum": (
        ("one_workgroup", SumShape(200)),
        ("two_workgroups", SumShape(300)),
        ("five_workgroups", SumShape(1200)),
    ),
    "fault_in_max_pooling": (
        ("no_two_pixels_equal", PoolShape(1, 2, 4, 6, 2), distinct),
        ("some_pixels_equal", PoolShape(1, 2, 4, 6, 2)),
        ("all_pixels_equal", PoolShape(1, 1, 4, 4, 2), ones),
    ),
}


def _faults() -> dict[str, Fault]:
    """Return the exercises of ``faults.toml``, the easiest first.

    A table has the letters of the output's axes, the official kernel (that of scores, if none is named), the piece of
    its text that is replaced, the question that leads to the line, and the one that leads to its correction; `also` is
    a piece of another line that may be corrected instead.
    """
    faults = {}
    for name, table in tables.read(HERE.with_name("faults.toml"), NEEDED, OPTIONAL).items():
        axes = table.pop("axes")
        kernel = table.pop("kernel", None)
        right = load(kernel) if kernel else SCORES
        cases = partial(_cases, name, right)
        faults[name] = Fault(name, FOLDER, axes, cases, kernel=right, **table)
    return faults


def _cases(name: str, kernel: Kernel) -> list[Case]:
    """Return the tests of a fault."""
    if kernel is SCORES:
        return [*_scores()]
    return [_case(kernel, *test) for test in TESTS_OF_A_FAULT[name]]


FAULTS = _faults()

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


def _tests() -> tuple[PythonCase, ...]:
    """The tests of a test: it must accept the right kernels, and reject each wrong one."""
    cases = [PythonCase("right kernels", (FUNCTIONS,), ("",), rejected_right_kernels)]
    for wrong in WRONG_KERNELS:
        cases.append(PythonCase(test_name(wrong), (FUNCTIONS,), ("",), partial(let_through, wrong)))
    return tuple(cases)


def _drawn_slope(random: Random) -> PythonCase:
    """A loss a * w**3 + b * w**2 + c * w, whose central difference is exact but for a * h**2."""
    a, b, c = random.choice([-3, -2, -1, 1, 2, 3], 3).tolist()
    w = float(random.integers(-20, 21) / 4)
    h = float(random.choice([0.125, 0.25, 0.5, 1]))
    derivative = 3 * a * w**2 + 2 * b * w + c + a * h**2
    return _slope_case("", lambda w: ((a * w + b) * w + c) * w, w, h, derivative)


TESTS = _tests()
PYTHON_PUZZLES = (  # as they come in the lesson
    PythonPuzzle("catch_them_all", FOLDER, "test", lambda: TESTS, free="shape"),
    PythonPuzzle("central_difference", FOLDER, "derivative", lambda: LOSSES, TWO_LOSSES, _drawn_slope),
    PythonPuzzle("check_grad_input", FOLDER, "accepted", lambda: CHECKED, drawn=drawn_check, free="shape"),
)

# --- Patterns to name -----------------------------------------------------------------------------------------


def _patterns() -> object:
    """Return the picture of the three patterns."""
    from helpers.lessons.trusting_a_gradient.pictures.probes import ProbesPicture  # here: the process apart draws none

    return ProbesPicture()


PATTERNS = ("Pattern A", "Pattern B", "Pattern C")
MATCHINGS = matchings(HERE.with_name("matchings.toml"), fault_from_a_probe=(PATTERNS, _patterns))
