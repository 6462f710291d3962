"""Run a version of any operation for a check: what it is given, what is right, and what comes out.

It runs on the adapter (`launched`) or without one (`simulated`). On the adapter, numbers that no kernel may read follow
every input, and numbers that no kernel may overwrite follow every output: a driver answers an out-of-range read with 0,
and drops an out-of-range write, so that neither would be noticed.

Everywhere, `kernel` is a version from `helpers.load`, as it is or edited, and `shape` holds the sizes of a problem.
"""

from collections.abc import Callable, Sequence
from functools import partial
from math import ceil, prod

import numpy as np

from helpers import gpu
from helpers.checks.report import CheckError, Report
from helpers.operations.convolution.shapes import ConvShape
from helpers.operations.dispatch import Schedule, Step
from helpers.operations.operation import Operation, Shape
from helpers.operations.registry import OPERATIONS
from wgsl import Kernel
from wgsl.simulator.run import simulate, stored
from wgsl.simulator.trace import Trace

Array = np.ndarray
Tensors = dict[str, Array]

LARGE = 4099.0  # follows inputs of whole numbers; for all others, ask for NaN
SENTINELS = np.full(64, 1234.5)  # follow outputs
# Between two zeros of each sign and the ends of float32, and where float32 no longer distinguishes exp(-x) from 0.
_SIZES = 0, 1e-38, 1e-3, 0.04, 0.0999, 0.75, 1.28, 5, 9, 20, 43, 44, 45, 86, 87, 88, 89, 100, 1e4, 1e13, 1e30, 3e38
EXTREMES = np.outer(np.float32(_SIZES), np.float32([1, -1])).ravel()


def operation_of(kernel: Kernel) -> Operation:
    """The operation that a version, or an edited copy of it, computes: the folder in its name."""
    return OPERATIONS[kernel.name.partition("/")[0]]


# --- What it is given: float32 arrays of any shape, and labels ------------------------------------------------


def whole(shape: tuple[int, ...], seed: int = 0) -> Array:
    """Whole numbers from -4 to 4: their sums are exact in every order."""
    return np.random.default_rng(seed).integers(-4, 5, shape).astype(np.float32)


def normal(shape: tuple[int, ...], seed: int = 0, scale: float = 1) -> Array:
    """Numbers from the normal distribution: their sums round. `scale` is a usual one."""
    return np.random.default_rng(seed).standard_normal(shape, np.float32) * np.float32(scale)


huge = partial(normal, scale=2**20)  # a million or so: what is cut to a range is wrong
tiny = partial(normal, scale=2**-20)  # a millionth or so: what is rounded to a step is wrong
wide = partial(normal, scale=30)  # in the tens and hundreds: exponentials of their differences vanish, or nearly


def ones(shape: tuple[int, ...], seed: int = 0) -> Array:
    """Ones: sums of their products count the products."""
    return np.ones(shape, np.float32)


def drawn(operation: Operation, shape: Shape, draw: Callable[..., Array] = whole) -> Tensors:
    """The inputs of an operation by their names, in binding order; each is ``draw(its shape, its place)``.

    Those that are no float32 numbers are always the same.
    """
    tensors = {}
    for seed, name in enumerate(operation.inputs):
        if name in operation.draws:
            tensors[name] = operation.draws[name](shape)
        else:
            tensors[name] = draw(shape.of(name), seed)
    return tensors


def conv_bias_alone(x: Array, activation: str) -> tuple[ConvShape, Tensors]:
    """A convolution, with a filter that every version takes, whose pre-activations are exactly `x` (n,)."""
    shape = ConvShape(1, 1, 1, 1, len(x), 3, 3, 1, 1, activation=activation)
    tensors = {
        "input": np.zeros(shape.input, np.float32),
        "weight": np.zeros(shape.weight, np.float32),
        "bias": np.float32(x),
    }
    return shape, tensors


# --- What is right ------------------------------------------------------------------------------------------


def reports(kernel: Kernel, shape: Shape, tensors: Tensors, got: Sequence[Array]) -> Sequence[Report]:
    """Judge the outputs `got` by the tolerance that can be proven for float32: for whole numbers, mostly none."""
    operation = operation_of(kernel)
    return operation.reports(shape, tensors, got, operation.judges.get(kernel.version))


# --- What comes out -----------------------------------------------------------------------------------------


def with_guards(operation: Operation, shape: Shape, tensors: Tensors, guard: float, before: float | Array) -> Tensors:
    """Flat arrays by name, in binding order.

    After an input are as many guards as it has elements, and 64 more; after an output, sentinels. One that is not
    updated is full of `before`.
    """
    arrays = {}
    for name in operation.tensors:
        size = prod(shape.of(name))
        numbers = tensors[name].ravel() if name in tensors else np.resize(before, size)
        if numbers.dtype != np.uint32:  # all but labels
            numbers = numbers.astype(np.float32)
        after = SENTINELS if name in operation.outputs else np.full(size + 64, guard)
        same_bits = after.astype(np.float32).view(numbers.dtype)
        arrays[name] = np.concatenate([numbers, same_bits])
    return arrays


def resident(
    operation: Operation, shape: Shape, tensors: Tensors, guard: float = LARGE, before: float = np.nan
) -> dict[str, object]:
    """The arrays of `with_guards` as buffers on the adapter."""
    arrays = with_guards(operation, shape, tensors, guard, before)
    return {name: gpu.upload(array, name) for name, array in arrays.items()}


def launched(
    kernel: Kernel, shape: Shape, tensors: Tensors, guard: float = LARGE, before: float = np.nan
) -> tuple[Array, ...]:
    """The arrays that the adapter writes over resident buffers, in the order of the operation's outputs.

    Launch only what is known to end: simulate it first.

    Parameters
    ----------
    tensors : dict of float32 arrays
        At least the inputs by their names, each of `shape.of(name)`, as `drawn` makes them.
    guard : float
        What follows each input. With NaN nothing that was read there can come out right.
    before : float
        What is in the outputs at the start, and at the end where the kernel writes nothing.

    Raises
    ------
    CheckError
        The kernel overwrote what follows an output.
    """
    operation = operation_of(kernel)
    inputs = {name: tensors[name] for name in operation.inputs}
    buffers = resident(operation, shape, inputs, guard, before)
    operation.launch(tuple(buffers.values()), shape, kernel)
    outputs = []
    for name in operation.outputs:
        size = prod(shape.of(name)) + SENTINELS.size
        written = gpu.read(buffers[name], (size,))
        outputs.append(within(name, written, shape.of(name)))
    return tuple(outputs)


def within(name: str, written: Array, shape: tuple[int, ...]) -> Array:
    """An output without the sentinels after it, if any; raises CheckError where one of them was overwritten."""
    count = prod(shape)
    past = np.flatnonzero(written[count:] != SENTINELS[: written.size - count])
    if past.size:
        rule = f"it has {count:,} numbers, the last one is number {count - 1:,}"
        raise CheckError(f"{name} is written past its end, first at number {count + past[0]:,}: {rule}")
    return written[:count].reshape(shape)


def simulated(
    kernel: Kernel,
    shape: Shape,
    tensors: Tensors,
    guard: float | None = None,
    before: float | Array = np.nan,
    rows: int = 1,
    **options,
) -> tuple[tuple[Array, ...], list[Trace]]:
    """The outputs without an adapter, in the order of the operation's outputs, and the trace of each pass.

    After an endless loop the buffers are as they stand then.

    Parameters
    ----------
    tensors : dict of float32 arrays
        At least the inputs by their names, each of `shape.of(name)`, as `drawn` makes them.
    guard : float, optional
        What follows each input, as in `launched`. Without it an array ends where its tensor ends: the simulator
        then sees what is past the end, answers a read there with 0 and drops a write.
    before : float or array
        What is in the outputs and the scratch buffers at the start; of several numbers, one after the other, repeated.
    rows : int
        The rows in which the workgroups of a flat dispatch are laid, as those of a large tensor are.
    options
        Further arguments of `helpers.simulate`, such as `max_steps`.

    Raises
    ------
    CheckError
        There is a guard, and the kernel overwrote what follows an output.
    ValueError
        The version does not take this shape; the message says why.
    """
    operation = operation_of(kernel)
    kernel, schedule = operation.scheduled(shape, kernel)
    if schedule.refused:
        raise ValueError(schedule.refused)
    inputs = {name: tensors[name] for name in operation.inputs}
    buffers = _simulated_buffers(operation, shape, inputs, guard, before)
    for name, nbytes in schedule.scratch.items():
        buffers[name] = np.resize(np.float32(before), nbytes // 4)
    params = []
    if kernel.buffer_types[-1] == "uniform":
        params.append(np.array(operation.params(shape), np.uint32))
    traces = []
    for step in schedule.steps:
        arrays = [*buffers.values(), *params]
        written = {"outputs": _must_be_written(operation, kernel, schedule, step)}
        count, *others = step.workgroups
        workgroups = ceil(count / rows), others[0] * rows, others[1]
        trace = simulate(kernel, arrays, workgroups, entry_point=step.entry_point, **written | options)
        buffers = dict(zip(buffers, trace.buffers, strict=False))
        traces.append(trace)
    outputs = [within(name, buffers[name].ravel(), shape.of(name)) for name in operation.outputs]
    return tuple(outputs), traces


def _simulated_buffers(
    operation: Operation, shape: Shape, inputs: Tensors, guard: float | None, before: float | Array
) -> Tensors:
    """The arrays of an operation by name, in binding order, with what follows them if there is a guard."""
    if guard is not None:
        return with_guards(operation, shape, inputs, guard, before)
    arrays = {}
    for name in operation.tensors:
        if name in inputs:
            arrays[name] = inputs[name]
        else:
            arrays[name] = np.resize(np.float32(before), shape.of(name))
    return arrays


def _must_be_written(operation: Operation, kernel: Kernel, schedule: Schedule, step: Step) -> Sequence[int]:
    """The argument `outputs` of the simulator: the arrays that a step must write whole, mostly all that it stores to.

    A specialized version may leave parts of its scratch buffers, or leave them to a later step: who reads those reads
    `before`, and the last step must write the outputs whole.
    """
    if not (schedule.constants and schedule.scratch):
        return stored(kernel, step.entry_point)
    if step is not schedule.steps[-1]:
        return ()
    return [operation.tensors.index(name) for name in operation.outputs]
