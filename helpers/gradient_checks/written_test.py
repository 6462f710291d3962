"""A test of the weight gradient that a learner writes, as sizes and data: which wrong kernels does it let through?

It is what lesson 05 calls good: the numbers are compared with the reference, where guards follow the tensors, and the
simulator looks at every access.
"""

from collections.abc import Callable
from functools import cache
from itertools import pairwise
from math import prod

from helpers.convolution.shapes import ConvShape, Pair
from helpers.gradient_checks import methods
from helpers.gradient_checks.harness import normal
from helpers.gradient_checks.matrix import catches, shown, shrunk
from helpers.gradient_checks.methods import Problem, Simulated
from helpers.gradient_checks.wrong_kernels import WEIGHT_1, WEIGHT_2, WrongKernel
from helpers.kernels import load
from wgsl import Kernel

OPERATION = "conv2d_grad_weight"
MOST_OUTPUTS, MOST_WEIGHTS, MOST_PIXELS = 30, 120, 1_000  # of a test: 39 kernels are simulated with it, in seconds
GROUPS = {  # of wrong kernels, in the order of their table: the first one of each
    "batch_and_rows": "batch not summed",
    "stride_and_padding": "stride forgotten",
    "indices": "filter flipped",
    "sums": "only the last product",
    "stores": "loop over the batch never ends",
    "tree": "tree stops at two",
    "products_of_threads": "one product per thread",
    "workgroups": "channel decoded by rows",
}
DATA: dict[str, Callable[[Problem], Problem]] = {
    "ones": methods.all_ones,
    "whole": methods.whole_numbers,
    "symmetric": methods.symmetric,
    "fractions": lambda problem: problem,
    "normal": lambda problem: methods.good(OPERATION, problem.shape, normal),
}
HOW = "write sizes and data, as in `test = shape(...), ones()`"


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
    outputs = batch * sizes.out_h * sizes.out_w
    counts = {
        "outputs of a channel, in all images": (outputs, MOST_OUTPUTS),
        "weights": (prod(sizes.weight), MOST_WEIGHTS),
        "pixels, in all channels and images": (prod(sizes.input), MOST_PIXELS),
    }
    for what, (count, most) in counts.items():
        if count > most:
            raise ValueError(f"a test has at most {most:,} {what}, and this one has {count:,}")
    return sizes


def _named(data: str) -> Callable[[], str]:
    return lambda: data


FUNCTIONS = {"shape": shape, **{name: _named(name) for name in DATA}}


def rejected_right_kernels(test: object) -> str:
    """What to say of a test that rejects a right kernel, or nothing."""
    if not _is_test(test):
        return HOW
    wrong = [kernel for kernel in (WEIGHT_1, WEIGHT_2) if _rejects(load(*kernel.split("/")), *test)]
    return f"it rejects right kernels, by their rounding: {', '.join(wrong)}" if wrong else ""


@cache
def groups() -> dict[str, list[WrongKernel]]:
    """The wrong kernels of lesson 05, by what they have in common."""
    kernels = [*shown(WEIGHT_1), *shown(WEIGHT_2)]
    names = [kernel.name for kernel in kernels]
    places = pairwise([*map(names.index, GROUPS.values()), len(names)])
    return {group: kernels[first:end] for group, (first, end) in zip(GROUPS, places, strict=True)}


def let_through(group: str, test: object) -> str:
    """What to say of a test that lets wrong kernels of a group through, or nothing."""
    if not _is_test(test):
        return HOW
    names = _let_through(group, *test)
    count = f"{len(names)} of {len(groups()[group])} wrong kernels pass your test"
    return f"{count}: {', '.join(f'“{name}”' for name in names)}" if names else ""


def _is_test(test: object) -> bool:
    return isinstance(test, tuple) and [*map(type, test)] == [ConvShape, str]


@cache
def _let_through(group: str, sizes: ConvShape, data: str) -> tuple[str, ...]:
    """The names of the wrong kernels of a group that a test lets through."""
    return tuple(kernel.name for kernel in groups()[group] if not _rejects(kernel.wrong, sizes, data))


def _rejects(kernel: Kernel, sizes: ConvShape, data: str) -> bool:
    """Whether a test finds something wrong with a kernel."""
    run, problem = Simulated(shrunk(kernel)), DATA[data](methods.good(OPERATION, sizes))
    return any(catches(method, run, problem) for method in (methods.reference, methods.simulator))
