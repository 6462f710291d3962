"""Checks that a learner writes in lesson 05: which wrong kernels pass them?

`shape` and the kinds of data in `DATA` make a test of the weight gradient: numbers are compared with the reference,
guards follow the tensors, and the simulator looks at every access. The functions of `lines_for` make a check of the
input gradient without a reference, by the forward pass and dot products.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from math import prod
from typing import NamedTuple

import numpy as np

from helpers.lessons.shared import wrong_kernels
from helpers.lessons.shared.wrong_kernels import (
    ENDLESS,
    INPUT_1,
    INPUT_2,
    WEIGHT_1,
    WEIGHT_2,
    WrongKernel,
)
from helpers.lessons.trusting_a_gradient import problems
from helpers.lessons.trusting_a_gradient.problems import SIZES, Problem, shrunk
from helpers.operations.convolution import reference
from helpers.operations.convolution.shapes import ConvShape, Pair
from helpers.operations.harness import normal, whole
from helpers.operations.kernels import load
from wgsl import Kernel

OPERATION = "conv2d_grad_weight"
# of a test: 39 kernels run with it, in about a second
MOST_OUTPUTS = 30
MOST_WEIGHTS = 120
MOST_PIXELS = 1_000
MOST_PADDED = 100_000
DATA: dict[str, Callable[[Problem], Problem]] = {
    "ones": problems.all_ones,
    "whole": problems.whole_numbers,
    "symmetric": problems.symmetric,
    "fractions": lambda problem: problem,
    "normal": lambda problem: problems.good(OPERATION, problem.shape, normal),
}
HOW = "write sizes and data, as in `test = shape(...), ones()`"
WRONG_KERNELS = tuple(row for row in wrong_kernels.WRONG_KERNELS if row.kernel in (WEIGHT_1, WEIGHT_2))
LONGEST_EDIT = 70  # characters of a piece of a kernel in a sentence


def shape(
    batch: int, in_channels: int, in_h: int, in_w: int, out_channels: int, kernel_h: int, kernel_w: int,
    stride: int | Pair = 1, padding: int | Pair = 0,
) -> ConvShape:  # fmt: skip
    """The sizes of a test. Raises ValueError where they are no convolution, or too many numbers for a test."""
    try:
        sizes = ConvShape(
            batch, in_channels, in_h, in_w, out_channels, kernel_h, kernel_w, stride=stride, padding=padding
        )
    except TypeError as error:
        raise ValueError(str(error)) from None
    if sizes.stride_h != sizes.stride_w:
        raise ValueError(f"stride = {stride!r}: these kernels have one stride for rows and columns, as in stride=2")
    outputs = batch * sizes.out_h * sizes.out_w
    counts = {
        "outputs of a channel in all images": (outputs, MOST_OUTPUTS),
        "weights": (prod(sizes.weight), MOST_WEIGHTS),
        "pixels in all channels and images": (prod(sizes.input), MOST_PIXELS),
        "pixels in all channels and images, padding included": (_padded_pixels(sizes), MOST_PADDED),
    }
    for what, (count, most) in counts.items():
        if count > most:
            raise ValueError(f"a shape has at most {most:,} {what}, and this one has {count:,}")
    return sizes


def _padded_pixels(sizes: ConvShape) -> int:
    """The numbers of the input with its padding, which the reference makes."""
    return sizes.batch * sizes.in_channels * sizes.padded("h") * sizes.padded("w")


def _named(data: str) -> Callable[[], str]:
    return lambda: data


FUNCTIONS = {"shape": shape, **{name: _named(name) for name in DATA}}


# --- A test of the weight gradient ------------------------------------------------------------------------------


def rejected_right_kernels(test: object) -> str:
    """Return a message about a test that rejects a right kernel, or ""."""
    if not _is_test(test):
        return HOW
    wrong = [name for name in (WEIGHT_1, WEIGHT_2) if rejects(load(name), *test, ends=True)]
    return f"it rejects right kernels, by their rounding: {', '.join(wrong)}" if wrong else ""


def test_name(wrong: WrongKernel) -> str:
    """The name of the test that a wrong kernel must not pass; those of the second version say so."""
    return wrong.name if wrong.kernel == WEIGHT_1 else f"{wrong.name} (2)"


class Cause(NamedTuple):
    """Reasons why a test cannot show some faults: words that complete "because ...", when it is true, and the faults.

    Where they are true, none of the faults shows, whatever else the test is.
    """

    words: str
    holds: Callable[[ConvShape, str], bool]
    hides: tuple[str, ...]


def _misses(s: ConvShape, axis: str, o: int) -> bool:
    """Return whether the windows of an output row or column lie wholly in the padding."""
    start = o * getattr(s, f"stride_{axis}") - getattr(s, f"padding_{axis}")
    return not -getattr(s, f"kernel_{axis}") < start < getattr(s, f"in_{axis}")


def _whole_windows(s: ConvShape) -> bool:
    """Return whether the rows of windows end where the padded rows end, so that a mirror image has the same windows."""
    return (s.padded("h") - s.kernel_h) % s.stride_h == 0


CAUSES = (
    Cause(
        "there is one image",
        lambda s, _: s.batch == 1,
        ("batch not summed", "mean over the batch", "batch and channel swapped"),
    ),
    Cause("there is one output channel", lambda s, _: s.out_channels == 1, ("batch and channel swapped",)),
    Cause("there is one input channel", lambda s, _: s.in_channels == 1, ("input channel ignored",)),
    Cause(
        "the upstream gradient is all ones",
        lambda _, data: data == "ones",
        ("batch and channel swapped", "sum rounded to 16 bits"),
    ),
    Cause(
        "all numbers are whole",
        lambda _, data: data == "whole",
        ("sum cut to a whole number", "sum rounded to 16 bits"),
    ),
    Cause(
        "the data are their own mirror images",
        lambda s, data: data == "symmetric" and _whole_windows(s),
        ("filter flipped",),
    ),
    Cause("the filter has one row", lambda s, _: s.kernel_h == 1, ("filter flipped",)),
    Cause(
        "the filter is square",
        lambda s, _: s.kernel_h == s.kernel_w,
        ("index decoded by rows", "channel decoded by rows (2)"),
    ),
    Cause(
        "the filter is not wider than high, and there is one input channel",
        lambda s, _: s.in_channels == 1 and s.kernel_w <= s.kernel_h,
        ("channel decoded by rows (2)",),
    ),
    Cause("the stride is 1", lambda s, _: s.stride_h == 1, ("stride forgotten",)),
    Cause("the output has one column", lambda s, _: s.out_w == 1, ("stride forgotten",)),
    Cause(
        "the columns have no padding",
        lambda s, _: s.padding_w == 0,
        ("padding added", "padding read as data", "columns of padding read (2)"),
    ),
    Cause(
        "rows and columns have the same padding",
        lambda s, _: s.padding_h == s.padding_w,
        ("one padding for both axes",),
    ),
    Cause("the output has as many rows as columns", lambda s, _: s.out_h == s.out_w, ("output decoded by rows (2)",)),
    Cause(
        "the first window lies wholly in the padding",
        lambda s, _: _misses(s, "h", 0) or _misses(s, "w", 0),
        ("one product too many (2)",),
    ),
    Cause(
        "the last window lies wholly in the padding",
        lambda s, _: _misses(s, "h", s.out_h - 1) or _misses(s, "w", s.out_w - 1),
        ("last product left out (2)",),
    ),
    Cause(
        "the last row of windows lies wholly in the padding",
        lambda s, _: _misses(s, "h", s.out_h - 1),
        ("last output row left out",),
    ),
    Cause(
        "each weight has at most 4 products, one for each thread",
        lambda s, _: s.batch * s.out_h * s.out_w <= SIZES["THREADS"],
        ("one product per thread (2)",),
    ),
    Cause(
        "each weight has two products at most",
        lambda s, _: s.batch * s.out_h * s.out_w <= 2,
        ("tree begins at a quarter (2)",),
    ),
)


def let_through(wrong: WrongKernel, test: object) -> str:
    """Return a message about a test that a wrong kernel passes, or ""."""
    if not _is_test(test):
        return HOW
    if rejects(wrong.wrong, *test, ends=ENDLESS[0] not in wrong.reasons):
        return ""
    name = test_name(wrong)
    escapes = f"“{name}” escapes your test"
    for cause in CAUSES:
        if name in cause.hides and cause.holds(*test):
            escapes += f", because {cause.words}"
            break
    return f"{escapes}: this kernel has {_brief(wrong.new)} in place of {_brief(wrong.old)}"


def _brief(code: str) -> str:
    """A piece of code in one line, in a message."""
    line = " ".join(code.split())
    if not line:
        return "nothing"
    if len(line) > LONGEST_EDIT:
        line = f"{line[:LONGEST_EDIT]}…"
    return f"`{line}`"


def _is_test(test: object) -> bool:
    return isinstance(test, tuple) and [*map(type, test)] == [ConvShape, str]


@cache
def rejects(kernel: Kernel, sizes: ConvShape, data: str, ends: bool) -> bool:
    """Return whether a test finds something wrong with a kernel: with its numbers, or else with its accesses.

    `ends` says whether all of its loops end; if not, it is only run where a loop is stopped.
    """
    few = shrunk(kernel)
    problem = DATA[data](problems.good(OPERATION, sizes))
    return (ends and problems.is_wrong(few, problem)) or problems.is_unsafe(few, problem)


# --- A check of the input gradient without a reference -------------------------------------------------------------

SEEDS = (1, 2, 3)  # of the image, the filters and the upstream gradient
Note = Callable[["Asked"], object]
MOST_KEPT = 300  # gradients, of at most 1,000 pixels each
HIDDEN = (  # in the order of the tests
    (INPUT_1, "every image is image 0"),
    (INPUT_1, "holes between columns filled"),
    (INPUT_1, "one padding for both axes"),
    (INPUT_1, "channels swapped"),
    (INPUT_1, "correlated, not flipped"),
    (INPUT_2, "column wraps at the wrong side"),
)


@dataclass(frozen=True)
class Tensor:
    """An array as lines of Python see it: they can give it to a function, and do nothing else with it."""

    values: np.ndarray

    def __repr__(self) -> str:
        return f"an array of {' × '.join(map(str, self.values.shape))}"


def _is(kind: type, rule: str, *values: object) -> None:
    if not all(isinstance(value, kind) for value in values):
        raise ValueError(rule)


def _drawn(tensor: str, seed: int) -> Callable[[ConvShape], Tensor]:
    def draw(s: ConvShape) -> Tensor:
        _is(ConvShape, "it takes a shape, as in `s = shape(...)`", s)
        return Tensor(whole(s.of(tensor), seed))

    return draw


def _ones(a: Tensor) -> Tensor:
    _is(Tensor, "it takes an array", a)
    return Tensor(np.ones_like(a.values))


def _dot(a: Tensor, b: Tensor) -> float:
    _is(Tensor, "a dot product takes two arrays", a, b)
    if a.values.shape != b.values.shape:
        raise ValueError(f"a dot product takes two arrays of one size, and these are {a!r} and {b!r}")
    return float(np.vdot(a.values, b.values))


def _fit(s: ConvShape, **tensors: Tensor) -> None:
    """Raise ValueError where arguments are not what their names say."""
    _is(ConvShape, "its last argument is a shape, as in `s = shape(...)`", s)
    for name, tensor in tensors.items():
        _is(Tensor, f"its {name} is an array", tensor)
        if tensor.values.shape != s.of(name):
            right = Tensor(np.empty(s.of(name)))
            raise ValueError(f"its {name} must be {right!r} for this shape, and this is {tensor!r}")


def _conv2d(x: Tensor, w: Tensor, s: ConvShape) -> Tensor:
    _fit(s, input=x, weight=w)
    return Tensor(reference.conv2d(x.values, w.values, **s.steps))


class Asked(NamedTuple):
    """The arguments with which a kernel is called."""

    dy: np.ndarray
    w: np.ndarray
    shape: ConvShape


def _gradient_by(kernel: Kernel, note: Note) -> Callable[[Tensor, Tensor, ConvShape], Tensor]:
    def grad_input(dy: Tensor, w: Tensor, s: ConvShape) -> Tensor:
        _fit(s, grad_output=dy, weight=w)
        note(Asked(dy.values, w.values, s))
        return Tensor(_returned(kernel, s, _bytes(dy), _bytes(w)))

    return grad_input


def _bytes(tensor: Tensor) -> bytes:
    return tensor.values.astype(np.float32).tobytes()


@lru_cache(MOST_KEPT)
def _returned(kernel: Kernel, s: ConvShape, dy: bytes, w: bytes) -> np.ndarray:
    """Return what a kernel makes of these tensors: lines that differ in one place ask for the same again and again."""
    tensors = {
        "grad_output": np.frombuffer(dy, np.float32).reshape(s.of("grad_output")),
        "weight": np.frombuffer(w, np.float32).reshape(s.of("weight")),
    }
    return problems.returned(shrunk(kernel), Problem("conv2d_grad_input", s, tensors))


def lines_for(kernel: Kernel, seeds: Sequence[int] = SEEDS, note: Note = lambda asked: None) -> dict[str, object]:
    """The functions that a check of this kernel may call; `seeds` are those of the tensors, `note` sees calls."""
    of_image, of_filters, of_upstream = seeds
    return {
        "shape": shape,
        "image": _drawn("input", of_image),
        "filters": _drawn("weight", of_filters),
        "upstream": _drawn("grad_output", of_upstream),
        "ones": _ones,
        "dot": _dot,
        "conv2d": _conv2d,
        "grad_input": _gradient_by(kernel, note),
    }
