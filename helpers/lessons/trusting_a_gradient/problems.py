"""Gradients to compute, on data that show what is wrong with a kernel, or that hide it; and what a kernel returns.

All data are so few multiples of 1/64 that float32 adds up their products exactly: a right gradient has no error.

Nothing here needs a GPU, so that what comes out is the same on every machine, also where it depends on luck on a GPU.
Threads run in step: a race then often gives the right numbers, as it often does there. Guards follow each tensor, as
other data does in the memory of a GPU: a read past the end returns one, and a write past the end is noticed.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from helpers.checks.report import CheckError
from helpers.operations.convolution.shapes import ConvShape
from helpers.operations.harness import LARGE, Tensors, ones, operation_of, simulated, whole, with_guards, within
from helpers.operations.registry import OPERATIONS
from wgsl import Kernel
from wgsl.simulator.run import compiled, execute

Array = np.ndarray

SIZES = {"THREADS": 4, "TILE": 2, "TAPS": 4}  # threads of a workgroup, or along each side of it; sums of each thread
# Weights held at once: the filters here have more.
CHUNK = r"\bCHUNK: u32 = \d+u"
SMALL_CHUNK = "CHUNK: u32 = 12u"
ENOUGH_ITERATIONS = 100  # loop iterations of one thread: a right kernel needs fewer on all problems here


@dataclass(frozen=True, eq=False)
class Problem:
    """One gradient to compute: the operation, such as conv2d_grad_weight, the sizes, and the tensors by name."""

    operation: str
    shape: ConvShape
    tensors: Tensors

    def is_solved_by(self, gradient: Array) -> bool:
        """Return whether each number is that of the formula in NumPy."""
        (right,) = OPERATIONS[self.operation].right(self.shape, self.tensors)
        return np.array_equal(gradient, right)


# --- What a kernel returns, and whether that is right -----------------------------------------------------------


def shrunk(kernel: Kernel) -> Kernel:
    """The kernel with workgroups of a few threads, which hold few weights: a small problem has several of them."""
    sizes = {name: size for name, size in SIZES.items() if kernel.kind(name)}
    few = kernel.with_constants(**sizes)
    source = re.sub(CHUNK, SMALL_CHUNK, few.source)
    return replace(few, source=source)


def returned(kernel: Kernel, problem: Problem) -> Array:
    """The gradient by a kernel whose loops all end; nobody watches it, which takes half the time.

    The output holds guards, too, of both signs, until the kernel writes it. Raises CheckError where the kernel
    overwrote what follows the output.
    """
    operation = operation_of(kernel)
    shape = problem.shape
    (output,) = operation.outputs
    text, schedule = operation.scheduled(shape, kernel)
    both_signs = np.array([LARGE, -LARGE])
    arrays = with_guards(operation, shape, problem.tensors, LARGE, both_signs)
    words = {name: array.view(np.uint32) for name, array in arrays.items()}
    params = np.array(operation.params(shape), np.uint32)
    execute(compiled(text, "main"), [*words.values(), params], schedule.steps[0].workgroups)
    return within(output, words[output].view(np.float32), shape.of(output))


def is_wrong(kernel: Kernel, problem: Problem) -> bool:
    """Return whether a kernel whose loops all end returns a wrong number, or overwrites what follows them."""
    try:
        return not problem.is_solved_by(returned(kernel, problem))
    except CheckError:
        return True


def is_unsafe(kernel: Kernel, problem: Problem) -> bool:
    """Return whether the simulator finds something: it watches all accesses, and does not look at the numbers."""
    _, traces = simulated(kernel, problem.shape, problem.tensors, before=0.0, max_steps=ENOUGH_ITERATIONS)
    return any(trace.findings for trace in traces)


# --- Good data, and data that hide mistakes ---------------------------------------------------------------------

GOOD = ConvShape(2, 3, 3, 8, 2, 5, 4, 2, (2, 1))  # nothing square; an index one too large lies inside


def fractions(shape: tuple[int, ...], seed: int) -> Array:
    """Random multiples of 1/64 from -4 to 4, as float32: their products need more than 16 bits."""
    random = np.random.default_rng(seed)
    multiples = random.integers(-256, 257, shape)
    return (multiples / 64).astype(np.float32)


def good(operation: str, shape: ConvShape = GOOD, draw: Callable[..., Array] = fractions) -> Problem:
    """Random fractions, or what ``draw(shape of a tensor, its place)`` returns."""
    tensors = {}
    for place, name in enumerate(("input", "weight", "bias", "grad_output")):
        tensors[name] = draw(shape.of(name), place)
    return Problem(operation, shape, tensors)


def whole_numbers(problem: Problem) -> Problem:
    """With whole numbers from -4 to 4."""
    return good(problem.operation, problem.shape, whole)


def all_ones(problem: Problem) -> Problem:
    """With an upstream gradient of ones: it is the same at each output, in each image, for each channel."""
    upstream = ones(problem.shape.output)
    return replace(problem, tensors=problem.tensors | {"grad_output": upstream})


def symmetric(problem: Problem) -> Problem:
    """With images, filters and upstream gradients that are their own mirror images, both ways."""
    tensors = dict(problem.tensors)
    for name, array in problem.tensors.items():
        if array.ndim > 3:
            mirrored = array + array[..., ::-1]
            tensors[name] = mirrored + mirrored[..., ::-1, :]
    return replace(problem, tensors=tensors)


def batch_1(problem: Problem) -> Problem:
    """With one image."""
    return good(problem.operation, replace(problem.shape, batch=1))
