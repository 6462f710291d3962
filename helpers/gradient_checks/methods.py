"""Six ways to find out whether a gradient is right, and data on which a wrong one goes unnoticed.

Each way is a function of a `run` and a `Problem`. A run takes a problem and returns the gradient; `Simulated(kernel)`
is one. It needs no GPU, so that what comes out is the same on every machine, also where it depends on luck on a GPU:

- Threads run in step. A race then often gives the right numbers, as it often does on a GPU.
- A `guard` is a number that follows each tensor, as other data does in the memory of a GPU: a read past the end
  returns it, and a write past the end is noticed. The output holds guards, too, of both signs, until the kernel writes
  it. Without a guard a buffer ends with its tensor, and the output begins as zeros, as WebGPU makes it; a read past the
  end returns 0 and a write there is dropped, as many drivers do. So a wrong kernel may be right by luck.
- An endless loop ends after ENOUGH_ITERATIONS iterations. On a GPU it would not end.

All data are so few multiples of 1/64 that float32 adds up their products exactly: the tolerance is 0. (Only the dot
products of the adjoint test are longer sums, with a tolerance above 0.)
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from helpers.checks import differences
from helpers.checks.report import Report, compare
from helpers.convolution import check
from helpers.convolution.reference import conv2d
from helpers.convolution.shapes import ConvShape
from helpers.gradient_checks import probes, products
from helpers.gradient_checks.harness import LARGE, Tensors, ones, operation_of, simulated, whole, with_guards, within
from helpers.operations import OPERATIONS
from wgsl import Kernel
from wgsl.simulator.run import compiled, execute

Array = np.ndarray

ENOUGH_ITERATIONS = 100  # loop iterations of one thread: a right kernel needs fewer on all problems here


@dataclass(frozen=True, eq=False)
class Problem:
    """One gradient to compute: the operation, the sizes, the tensors by name, and what follows them, if anything.

    `operation` is conv2d_grad_weight, conv2d_grad_input or conv2d_grad_bias. `tensors` has input, weight, bias and
    grad_output; a kernel gets those that it needs.
    """

    operation: str
    shape: ConvShape
    tensors: Tensors
    guard: float | None = LARGE

    @property
    def gradient(self) -> str:
        """The name of the gradient to compute, such as grad_weight."""
        return self.operation.removeprefix("conv2d_")

    @property
    def argument(self) -> str:
        """The name of the tensor that it is the gradient of, such as weight."""
        return self.gradient.removeprefix("grad_")


Run = Callable[[Problem], Array]


class Simulated:
    """A kernel in the simulator, as a run. The same problem is run only once."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel, self._run = kernel, cache(self._simulated)

    def __call__(self, problem: Problem) -> Array:
        """The gradient; raises CheckError where the kernel overwrote what follows it."""
        (gradient,), _ = self._run(problem)
        return gradient

    def findings(self, problem: Problem) -> list[str]:
        """What the simulator found, one line each. With a guard it cannot see what is past the end of a tensor."""
        _, traces = self._run(problem)
        return [str(finding) for trace in traces for finding in trace.findings]

    def _simulated(self, problem: Problem) -> tuple:
        guard = problem.guard
        before = 0.0 if guard is None else np.array([guard, -guard])
        return simulated(self.kernel, problem.shape, problem.tensors, guard, before, max_steps=ENOUGH_ITERATIONS)


def unwatched(kernel: Kernel) -> Run:
    """A kernel whose loops all end, as a run that takes half the time, since nobody watches it."""
    operation = operation_of(kernel)
    (output,) = operation.outputs

    def run(problem: Problem) -> Array:
        text, schedule = operation.scheduled(problem.shape, kernel)
        before = np.array([problem.guard, -problem.guard])
        arrays = with_guards(operation, problem.shape, problem.tensors, problem.guard, before)
        words = {name: array.view(np.uint32) for name, array in arrays.items()}
        params = np.array(operation.params(problem.shape), np.uint32)
        execute(compiled(text, "main", None), [*words.values(), params], schedule.steps[0].workgroups)
        return within(output, words[output].view(np.float32), problem.shape.of(output))

    return run


# --- Six methods ----------------------------------------------------------------------------------------------


def reference(run: Run, problem: Problem) -> Report:
    """Compare each number with the formula in NumPy."""
    (want,) = OPERATIONS[problem.operation].right(problem.shape, problem.tensors)
    return compare("reference", run(problem), want, 0.0)


def central_differences(run: Run, problem: Problem) -> Report:
    """Move one number up and down by 1: the loss, linear in it, changes by twice its gradient."""
    return compare("central differences", run(problem), _derivatives(problem), 0.0)


def adjoint(run: Run, problem: Problem) -> Report:
    """Compare two dot products: <conv2d(input, weight), grad_output> and <weight, grad_weight>, for example."""
    moved = np.random.default_rng(0).integers(-99, 100, problem.shape.of(problem.argument))  # few sums are alike
    tensors = problem.tensors | {problem.argument: moved}
    return check.adjoint(**tensors, **problem.shape.steps, **{problem.gradient: run(problem)})


def one_hot_probes(run: Run, problem: Problem) -> Report:
    """Give each output channel one upstream gradient of 1 among zeros: what comes out is what was read for this one."""
    shape, random = problem.shape, np.random.default_rng(0)
    places = [(random.integers(shape.batch), co, *random.integers(shape.output[2:])) for co in range(shape.output[1])]
    tensors = {name: probes.numbered(array.shape) for name, array in problem.tensors.items()}
    tensors["grad_output"] = probes.one_hot(shape.output, *places)
    want = probes.expected(problem.operation, shape, tensors, places)
    return compare("one-hot probes", run(replace(problem, tensors=tensors)), want, 0.0)


def im2col(run: Run, problem: Problem) -> Report:
    """Compute the gradient in another way: each window of the input is a row of a matrix, and one product does it."""
    tensors = [problem.tensors[name] for name in OPERATIONS[problem.operation].inputs]
    want = getattr(products, problem.operation)(problem.shape, *tensors)
    return compare("im2col", run(problem), want, 0.0)


def simulator(run: Simulated, problem: Problem) -> bool:
    """Is every access allowed? It watches all threads, and does not look at the numbers that come out."""
    return not run.findings(no_guard(problem))


# --- Central differences --------------------------------------------------------------------------------------


@cache
def _derivatives(problem: Problem) -> Array:
    """How much the loss grows with each number of the argument: half of what it changes from -1 to +1."""

    def loss(moved: Array) -> float:
        """<conv2d(input, weight, bias), grad_output>: the loss whose gradients these are."""
        t = problem.tensors | {problem.argument: moved}
        return np.vdot(conv2d(t["input"], t["weight"], t["bias"], **problem.shape.steps), t["grad_output"])

    return differences.central_differences(loss, problem.tensors[problem.argument])


# --- Good data, and data that hide mistakes --------------------------------------------------------------------------

GOOD = ConvShape(2, 3, 3, 8, 2, 5, 4, 2, (2, 1))  # nothing square; an index one too large lies inside
# The same over the whole signature: the axes have different steps; two groups of 2 channels with 3 filters each.
GENERAL = ConvShape(3, 4, 5, 9, 6, 3, 2, (2, 3), (2, 1), (3, 2), 2)


def fractions(shape: tuple[int, ...], seed: int = 0) -> Array:
    """Random multiples of 1/64 from -4 to 4, as float32: their products need more than 16 bits."""
    return (np.random.default_rng(seed).integers(-256, 257, shape) / 64).astype(np.float32)


def good(operation: str, shape: ConvShape = GOOD, draw: Callable[..., Array] = fractions) -> Problem:
    """Random fractions, with a guard after each tensor; or what ``draw(shape of a tensor, its place)`` returns."""
    names = ("input", "weight", "bias", "grad_output")
    return Problem(operation, shape, {name: draw(shape.of(name), seed) for seed, name in enumerate(names)})


def whole_numbers(problem: Problem) -> Problem:
    """With whole numbers from -4 to 4."""
    return good(problem.operation, problem.shape, whole)


def all_ones(problem: Problem) -> Problem:
    """With an upstream gradient of ones: it is the same at each output, in each image, for each channel."""
    return replace(problem, tensors=problem.tensors | {"grad_output": ones(problem.shape.output)})


def symmetric(problem: Problem) -> Problem:
    """With images, filters and upstream gradients that are their own mirror images, both ways."""
    flat = {name: array for name, array in problem.tensors.items() if array.ndim < 3}
    images = {name: array + array[..., ::-1] for name, array in problem.tensors.items() if array.ndim > 3}
    return replace(problem, tensors=flat | {name: array + array[..., ::-1, :] for name, array in images.items()})


def batch_1(problem: Problem) -> Problem:
    """With one image."""
    return good(problem.operation, replace(problem.shape, batch=1))


def square(problem: Problem) -> Problem:
    """With as many columns as rows, in image, filter and padding, and with the steps of the rows along both axes."""
    s = problem.shape
    steps = {"stride": s.stride_h, "padding": s.padding_h, "dilation": s.dilation_h}
    return good(problem.operation, replace(s, in_w=s.in_h, kernel_w=s.kernel_h, **steps))


@cache  # so that the two columns of the matrix that need it share a run
def no_guard(problem: Problem) -> Problem:
    """With buffers that WebGPU has just made: nothing follows the tensors, and the output begins as zeros."""
    return replace(problem, guard=None)


def classroom(problem: Problem) -> Problem:
    """As known courses test: one square image, stride 1, no padding, an upstream gradient of ones, and no guard."""
    return no_guard(all_ones(good(problem.operation, ConvShape(1, 2, 5, 5, 3, 3, 3))))
