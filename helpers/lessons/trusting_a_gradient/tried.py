"""Six wrong kernels and five kinds of data: which of the data show which fault? The first picture of lesson 05."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

from helpers.lessons.exercises import PUZZLES
from helpers.lessons.shared.wrong_kernels import INPUT_1, WEIGHT_1, WrongKernel, read_by_name
from helpers.lessons.trusting_a_gradient import problems
from helpers.lessons.trusting_a_gradient.problems import Problem
from helpers.operations.convolution.shapes import ConvShape
from helpers.operations.harness import launched
from wgsl import Kernel

WRITTEN = {WEIGHT_1: "strided_grad_weight", INPUT_1: "strided_grad_input"}  # blank pages; they take these places
LESSONS = {WEIGHT_1: "lesson 02", INPUT_1: "lesson 03"}
SQUARE = ConvShape(2, 3, 6, 6, 2, 3, 3, 1, 1)

KERNELS = read_by_name(Path(__file__).with_suffix(".toml"))


def _unchanged(problem: Problem) -> Problem:
    return problem


def _one_whole_image(problem: Problem) -> Problem:
    return problems.whole_numbers(problems.batch_1(problem))


def _square(problem: Problem) -> Problem:
    return problems.good(problem.operation, SQUARE)


# Two lines in words, of facts in which the data differ, and how they are made of good data.
DATA: dict[str, tuple[tuple[str, ...], Callable[[Problem], Problem]]] = {
    "ones": (("2 images,", "upstream 1s"), problems.all_ones),
    "one image": (("1 image,", "no fractions"), _one_whole_image),
    "fractions": (("2 images,", "random"), _unchanged),
    "square": (("2 images,", "6 × 6, 3 × 3"), _square),
    "symmetric": (("2 images,", "mirrored"), problems.symmetric),
}


def written(wrong: WrongKernel) -> Kernel:
    """Our text of a kernel that the reader wrote, with the fault."""
    puzzle = PUZZLES[WRITTEN[wrong.kernel]]
    kernel = Kernel(puzzle.solution.text, wrong.kernel)
    return kernel.edit(wrong.old, wrong.new)


@cache
def caught(kernel: int, data: int) -> bool:
    """Return whether a kernel returns a wrong number for one kind of data, on the adapter: all of them end."""
    wrong = KERNELS[kernel]
    name = list(DATA)[data]
    _, make = DATA[name]
    operation, _, _ = wrong.kernel.partition("/")
    problem = make(problems.good(operation))
    (gradient,) = launched(written(wrong), problem.shape, problem.tensors)
    return not problem.is_solved_by(gradient)
