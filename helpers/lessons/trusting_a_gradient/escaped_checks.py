"""The test of a check of the input gradient on one kernel, and the reasons why a wrong kernel escapes a check."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np

from helpers.grading.python_lines import Program, Result
from helpers.grading.python_puzzle import PythonCase
from helpers.lessons.shared.wrong_kernels import INPUT_1, INPUT_2, named, small
from helpers.lessons.trusting_a_gradient.written_test import HIDDEN, SEEDS, Asked, lines_for
from helpers.operations.convolution.shapes import ConvShape
from helpers.operations.kernels import load
from wgsl import Kernel, WgslError

RIGHT, WRONG = "a right kernel", "a wrong kernel"
NEEDED = ("grad_input", "conv2d")  # a check compares what the one returns with what the other does


class Cause(NamedTuple):
    """Words that complete "because ...", when they are true of what a kernel is asked, and the faults that they hide.

    Where they are true, the kernel returns what a right one does.
    """

    words: str
    holds: Callable[[Asked], bool]
    hides: tuple[str, ...]


def _of_shape(holds: Callable[[ConvShape], bool]) -> Callable[[Asked], bool]:
    return lambda asked: holds(asked.shape)


def _is_ones(array: np.ndarray) -> bool:
    return bool((array == 1).all())


CAUSES = (
    Cause("there is one image", _of_shape(lambda s: s.batch == 1), ("every image is image 0",)),
    Cause(
        "the upstream gradient is all ones",
        lambda asked: _is_ones(asked.dy),
        ("every image is image 0",),
    ),
    Cause("the stride is 1", _of_shape(lambda s: s.stride_h == 1), ("holes between columns filled",)),
    Cause(
        "rows and columns have the same padding, or none",
        _of_shape(lambda s: s.padding_h == s.padding_w),
        ("one padding for both axes",),
    ),
    Cause("there is one input channel", _of_shape(lambda s: s.in_channels == 1), ("channels swapped",)),
    Cause("there is one output channel", _of_shape(lambda s: s.out_channels == 1), ("channels swapped",)),
    Cause("all weights are 1", lambda asked: _is_ones(asked.w), ("channels swapped",)),
    Cause(
        "the filter is square",
        _of_shape(lambda s: s.kernel_h == s.kernel_w),
        ("column wraps at the wrong side",),
    ),
    Cause(
        "the filter has one row, and the rows have no padding",
        _of_shape(lambda s: s.kernel_h == 1 and s.padding_h == 0),
        ("correlated, not flipped",),
    ),
)


@dataclass(frozen=True)
class CheckCase(PythonCase):
    """A test of a check: it must accept the kernel if that is right, and else reject it; `fault` is its mistake."""

    kernel: Kernel | None = None
    fault: str = ""
    seeds: tuple[int, ...] = SEEDS

    @classmethod
    def on_kernel(cls, name: str, kernel: Kernel, fault: str, seeds: Sequence[int] = SEEDS) -> Self:
        """Return the test on a kernel, with tensors of these seeds."""
        return cls(name, (lines_for(kernel, seeds),), ("",), kernel=kernel, fault=fault, seeds=tuple(seeds))

    def results(self, program: Program) -> tuple[Result | WgslError, ...]:
        """Return what is wrong with a check's answer, or what keeps it from being computed."""
        asked: list[Asked] = []
        try:
            result = program.run(lines_for(self.kernel, self.seeds, asked.append))
        except WgslError as error:
            return (error,)
        return (replace(result, value=said_of(self.fault, result.value, program, asked)),)


def said_of(fault: str, accepted: object, program: Program, asked: Sequence[Asked]) -> str:
    """Return a message about a check's answer on a kernel with a fault, or on a right one, which has none; "" if right.

    `program` is the check, and `asked` is what it gave to the kernel.
    """
    if not isinstance(accepted, bool):
        return "`accepted` must be True or False: compare two numbers"
    if accepted == (not fault):
        return ""
    message = f"your check accepts {WRONG}" if fault else f"your check rejects {RIGHT}"
    for function in NEEDED:
        if function not in program.words:
            return f"{message}, and it never calls `{function}`"
    for cause in CAUSES:
        if fault in cause.hides and all(map(cause.holds, asked)):
            return f"{message}, because {cause.words}"
    return message


def _checked() -> Iterator[CheckCase]:
    for i, name in enumerate((INPUT_1, INPUT_2), 1):
        yield CheckCase.on_kernel(f"right_{i}", small(load(name)), "")
    for i, row in enumerate(HIDDEN, 1):
        yield CheckCase.on_kernel(f"wrong_{i}", named(*row).wrong, row[1])


CHECKED = tuple(_checked())


def drawn_check(random: np.random.Generator) -> CheckCase:
    """A right kernel with other tensors: no test accepts it by the numbers of one problem."""
    right = [case.kernel for case in CHECKED if not case.fault]
    kernel = right[random.integers(len(right))]
    return CheckCase.on_kernel("", kernel, "", random.integers(4, 1000, 3).tolist())
