"""Six wrong kernels and five kinds of data: which of the data show which fault? The first picture of lesson 05."""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

from helpers.convolution.exercises import PUZZLES
from helpers.convolution.shapes import ConvShape
from helpers.gradient_checks import problems
from helpers.gradient_checks.harness import launched
from helpers.gradient_checks.problems import Problem
from helpers.gradient_checks.wrong_kernels import INPUT_1, WEIGHT_1
from wgsl import Kernel

OWN = {puzzle.name: puzzle for puzzle in PUZZLES}
WRITTEN = {WEIGHT_1: "strided_grad_weight", INPUT_1: "strided_grad_input"}  # blank pages; they take these places
LESSONS = {WEIGHT_1: "lesson 02", INPUT_1: "lesson 03"}
SQUARE = ConvShape(2, 3, 6, 6, 2, 3, 3, 1, 1)


class Wrong(NamedTuple):
    """A kernel that the reader wrote, with one fault: `old` became `new`."""

    name: str
    version: str
    old: str
    new: str

    @property
    def kernel(self) -> Kernel:
        """Our text of it, with the fault."""
        return Kernel(OWN[WRITTEN[self.version]].solution.text, self.version).edit(self.old, self.new)


KERNELS = (
    Wrong("first image only", WEIGHT_1, "n < params.batch", "n < 1u"),
    Wrong("not flipped", INPUT_1, "ih + params.Ph - kh", "ih + kh - params.Ph"),
    Wrong("sum cut to a whole number", WEIGHT_1, "= sum;", "= trunc(sum);"),
    Wrong("image and channel swapped", WEIGHT_1, "n * params.out_channels + co", "co * params.batch + n"),
    Wrong("one padding for both axes", INPUT_1, "iw + params.Pw - kw", "iw + params.Ph - kw"),
    Wrong("holes between columns filled", INPUT_1, " || column % params.S != 0u", ""),
)
DATA: dict[str, tuple[tuple[str, ...], Callable[[Problem], Problem]]] = {  # with facts that differ, in words
    "ones": (("2 images,", "upstream 1s"), problems.all_ones),
    "one image": (("1 image,", "no fractions"), lambda problem: problems.whole_numbers(problems.batch_1(problem))),
    "fractions": (("2 images,", "random"), lambda problem: problem),
    "square": (("2 images,", "6 × 6, 3 × 3"), lambda problem: problems.good(problem.operation, SQUARE)),
    "symmetric": (("2 images,", "mirror images"), problems.symmetric),
}


@cache
def caught(kernel: int, data: int) -> bool:
    """Whether one of the kernels returns a wrong number for one kind of data, on the adapter: all of them end."""
    wrong, (_, make) = KERNELS[kernel], [*DATA.values()][data]
    problem = make(problems.good(wrong.version.partition("/")[0]))
    return not problem.is_solved_by(*launched(wrong.kernel, problem.shape, problem.tensors))
