"""The operations of a network beside its convolutions, on the GPU: pooling, ReLU backward, the loss and the update.

Arguments and errors are as in `helpers.operations.convolution.operations`; the names of arguments, ties and edges are
PyTorch's.
"""

from collections.abc import Callable
from math import ceil, prod

import numpy as np

from helpers.checks.adjoint import directions
from helpers.checks.arguments import check_shape, check_sizes, check_tensor
from helpers.checks.tolerance import FLOAT32_MAX
from helpers.operations.dispatch import Schedule, flat, nested_loops, one_step
from helpers.operations.network import check, reference
from helpers.operations.network.reference import Array
from helpers.operations.network.shapes import ElementShape, LossShape, Pair, PoolShape, StartShape, UpdateShape
from helpers.operations.operation import Choice, Operation
from wgsl import Kernel

PerAxis = int | Pair  # the same for rows and columns, or one for each

# --- The schedules of the versions --------------------------------------------------------------------------


def _outputs(s: PoolShape, kernel: Kernel) -> Schedule:
    return one_step(flat(prod(s.of("output"))), nested_loops(*s.kernel))


def _pixels(s: PoolShape, kernel: Kernel, *rivals: int) -> Schedule:
    return one_step(flat(prod(s.of("input"))), nested_loops(*_windows(s), *rivals))


def _windows(s: PoolShape) -> Pair:
    """The most rows and columns of windows that hold one pixel."""
    rows = min(ceil(s.kernel[0] / s.stride[0]), s.outputs[0])
    columns = min(ceil(s.kernel[1] / s.stride[1]), s.outputs[1])
    return rows, columns


def _rows(s: LossShape, kernel: Kernel) -> Schedule:
    return one_step((ceil(s.rows / 64), 1, 1), nested_loops(3 * s.classes + 4))


def _elements(s: ElementShape, kernel: Kernel) -> Schedule:
    return one_step(flat(s.count), 0)


# --- The operations and their versions ----------------------------------------------------------------------


def _operation(name: str, tensors: str, outputs: str, version: str, schedule: Callable, **more: object) -> Operation:
    """An operation with one version. Its answer and its judge have its name, where `more` has no others."""
    choices = [Choice(version, "it is the only one")]
    more.setdefault("answer", getattr(reference, name))
    more.setdefault("judge", getattr(check, name))
    return Operation(
        name,
        tensors=tuple(tensors.split()),
        outputs=tuple(outputs.split()),
        versions={version: schedule},
        choose=lambda shape, adapter: choices,
        **more,
    )


_POOLS = PoolShape(2, 3, 8, 11, (4, 3), (1, 2), (2, 1)), PoolShape(1, 2, 7, 5, 2)  # both leave columns out


MAX = _operation(
    "max_pool2d",
    "input output",
    "output",
    "1_thread_per_output",
    _outputs,
    examples=_POOLS,
)
MAX_BACKWARD = _operation(
    "max_pool2d_backward",
    "input grad_output grad_input",
    "grad_input",
    "1_gather",
    lambda s, kernel: _pixels(s, kernel, *s.kernel),
    adjoint=lambda got, x, dy, s: check.adjoint(got, x, dy, s, reference.max_pool2d),
    examples=_POOLS,
)
AVG = _operation(
    "avg_pool2d",
    "input output",
    "output",
    "1_thread_per_output",
    _outputs,
    examples=_POOLS,
)
AVG_BACKWARD = _operation(
    "avg_pool2d_backward",
    "grad_output grad_input",
    "grad_input",
    "1_gather",
    _pixels,
    adjoint=lambda got, dy, s: [check.adjoint(got, x, dy, s, reference.avg_pool2d) for x in directions(s.of("input"))],
    examples=_POOLS,
)
RELU_BACKWARD = _operation(
    "relu_backward",
    "output grad_output grad_pre",
    "grad_pre",
    "1_thread_per_element",
    _elements,
    answer=lambda output, grad, shape: reference.relu_backward(output, grad),
    judge=lambda got, output, grad, shape: check.relu_backward(got, output, grad),
    examples=[ElementShape(7), ElementShape(300)],
)
CROSS_ENTROPY = _operation(
    "cross_entropy",
    "logits labels losses grad_logits",
    "losses grad_logits",
    "1_thread_per_row",
    _rows,
    answer=lambda logits, labels, shape: reference.cross_entropy(logits, labels),
    judge=lambda got, logits, labels, shape: check.cross_entropy(got, logits, labels),
    draws={"labels": LossShape.labels},
    examples=[LossShape(5, 4), LossShape(70, 3)],
)
SGD = _operation(
    "sgd",
    "parameter grad velocity",
    "parameter velocity",
    "1_thread_per_parameter",
    _elements,
    answer=lambda *state: reference.sgd(*state[:3], state[3].learning_rate, state[3].momentum),
    examples=[UpdateShape(7, 0.5), UpdateShape(300, 0.1, 0.9)],
    updated=("parameter", "velocity"),
)
INITIALIZE = _operation(
    "initialize",
    "parameter",
    "parameter",
    "1_thread_per_element",
    _elements,
    examples=[StartShape(7, 0.5, 3, 1), StartShape(300, 0.25, 7, 3)],
)
_ALL = MAX, MAX_BACKWARD, AVG, AVG_BACKWARD, RELU_BACKWARD, CROSS_ENTROPY, SGD, INITIALIZE
OPERATIONS = {operation.name: operation for operation in _ALL}

# --- Pooling: NumPy in, NumPy out ---------------------------------------------------------------------------


def max_pool2d(
    input: Array,
    kernel_size: PerAxis,
    stride: PerAxis | None = None,
    padding: PerAxis = 0,
    *,
    kernel: str | Kernel | None = None,
) -> Array:
    """The largest pixel of each window, as in PyTorch: NaN counts as larger than any number, and padding never wins.

    Parameters
    ----------
    input : float32 array (N, C, H, W)
    kernel_size : int or (rows, columns)
        The size of a window.
    stride : int or (rows, columns), optional
        From one window to the next; the size of a window by default.
    padding : int or (rows, columns)
        At most half a window.
    kernel : str or Kernel, optional
        A version in kernels/max_pool2d; the best one for this adapter by default.

    Returns
    -------
    float32 array (N, C, oH, oW)
        ``oH = (H + 2*Ph - kH) // Sh + 1``: rows that no whole window reaches are left out; columns likewise.
    """
    shape = PoolShape(*check_tensor("max_pool2d", "input", input, "N C H W").shape, kernel_size, stride, padding)
    return MAX.compute(shape, kernel, input=input)[0]


def max_pool2d_backward(
    input: Array,
    grad_output: Array,
    kernel_size: PerAxis,
    stride: PerAxis | None = None,
    padding: PerAxis = 0,
    *,
    kernel: str | Kernel | None = None,
) -> Array:
    """Gradient of the loss for max_pool2d's input: each window passes its gradient to its first maximum, row by row.

    In a window with NaN, the last NaN takes the gradient, as in PyTorch.

    Parameters
    ----------
    input : float32 array (N, C, H, W)
    grad_output : float32 array (N, C, oH, oW)
    kernel_size, stride, padding
        Those of `max_pool2d`.
    kernel : str or Kernel, optional
        A version in kernels/max_pool2d_backward; the best one for this adapter by default.

    Returns
    -------
    float32 array (N, C, H, W)
    """
    name = MAX_BACKWARD.name
    shape = PoolShape(*check_tensor(name, "input", input, "N C H W").shape, kernel_size, stride, padding)
    _require_grad_output(name, grad_output, shape)
    return MAX_BACKWARD.compute(shape, kernel, input=input, grad_output=grad_output)[0]


def avg_pool2d(
    input: Array,
    kernel_size: PerAxis,
    stride: PerAxis | None = None,
    padding: PerAxis = 0,
    *,
    kernel: str | Kernel | None = None,
) -> Array:
    """The mean of each window, in which padding counts as zeros; arguments and result are those of `max_pool2d`."""
    shape = PoolShape(*check_tensor("avg_pool2d", "input", input, "N C H W").shape, kernel_size, stride, padding)
    return AVG.compute(shape, kernel, input=input)[0]


def avg_pool2d_backward(
    input_size: tuple[int, int, int, int],
    grad_output: Array,
    kernel_size: PerAxis,
    stride: PerAxis | None = None,
    padding: PerAxis = 0,
    *,
    kernel: str | Kernel | None = None,
) -> Array:
    """Gradient of the loss for avg_pool2d's input: each window passes an equal share to each of its pixels.

    Parameters
    ----------
    input_size : (N, C, H, W)
    grad_output : float32 array (N, C, oH, oW)
    kernel_size, stride, padding
        Those of `avg_pool2d`.
    kernel : str or Kernel, optional
        A version in kernels/avg_pool2d_backward; the best one for this adapter by default.

    Returns
    -------
    float32 array (N, C, H, W)
    """
    shape = PoolShape(*check_sizes("input_size", input_size, "N C H W"), kernel_size, stride, padding)
    _require_grad_output(AVG_BACKWARD.name, grad_output, shape)
    return AVG_BACKWARD.compute(shape, kernel, grad_output=grad_output)[0]


# --- Element by element, and the loss: NumPy in, NumPy out --------------------------------------------------


def relu_backward(output: Array, grad_output: Array) -> Array:
    """Gradient of the loss for what a fused ReLU was applied to: 0 where `output` is 0, else `grad_output`.

    Where `output` is NaN, the gradient passes, as in PyTorch.

    Parameters
    ----------
    output : float32 array of any shape
        What the layer returned, after its ReLU.
    grad_output : float32 array of the same shape

    Returns
    -------
    float32 array of the same shape
    """
    count = _count(RELU_BACKWARD.name, output=output, grad_output=grad_output)
    (grad_pre,) = RELU_BACKWARD.compute(ElementShape(count), None, output=output, grad_output=grad_output)
    return grad_pre.reshape(output.shape)


def cross_entropy(logits: Array, labels: Array) -> tuple[Array, Array]:
    """The loss of each row, and the gradient of their mean for the logits.

    ``losses[n] = -log(softmax(logits[n])[labels[n]])``, and ``grad_logits = (softmax(logits) - one_hot(labels)) / N``.

    Parameters
    ----------
    logits : float32 array (N, C)
        As in PyTorch, -infinity is a class with probability 0, and NaN or infinity makes all results of its row NaN.
    labels : integer array (N,)
        The right class of each row, from 0 to C - 1.

    Returns
    -------
    losses : float32 array (N,)
    grad_logits : float32 array (N, C)
    """
    name = CROSS_ENTROPY.name
    shape = LossShape(*check_tensor(name, "logits", logits, "N C").shape)
    check_labels(name, labels, shape, f"logits {logits.shape}")
    return CROSS_ENTROPY.compute(shape, None, logits=logits, labels=labels.astype(np.uint32))


def sgd(
    parameter: Array, grad: Array, velocity: Array, learning_rate: float, momentum: float = 0.0
) -> tuple[Array, Array]:
    """One step of gradient descent with momentum, as torch.optim.SGD makes it; the arguments are left as they are.

    ``velocity = momentum * velocity + grad``, and then ``parameter = parameter - learning_rate * velocity``. PyTorch
    ignores the velocity where the momentum is 0. Here 0 times a velocity of NaN or infinity is NaN.

    Parameters
    ----------
    parameter, grad, velocity : float32 arrays of one shape
        The first velocity is zeros.
    learning_rate : float
    momentum : float
        In [0, 1).

    Returns
    -------
    parameter, velocity : float32 arrays of the same shape
    """
    count = _count(SGD.name, parameter=parameter, grad=grad, velocity=velocity)
    shape = UpdateShape(count, learning_rate, momentum)
    moved = SGD.compute(shape, None, parameter=parameter, grad=grad, velocity=velocity)
    return tuple(array.reshape(parameter.shape) for array in moved)


# --- Checks -------------------------------------------------------------------------------------------------


def _require_grad_output(operation: str, grad_output: Array, s: PoolShape) -> None:
    """Refuse an upstream gradient that the other arguments do not imply."""
    check_tensor(operation, "grad_output", grad_output, "N C oH oW")
    other_arguments = f"input {s.of('input')}, kernel_size {s.kernel}, stride {s.stride}, padding {s.padding}"
    check_shape(operation, "grad_output", grad_output, s.of("output"), lambda: other_arguments)


def _count(operation: str, **arrays: Array) -> int:
    """The number of elements of each of these float32 arrays, which must have one shape."""
    first = next(iter(arrays))
    shape = np.shape(arrays[first])
    for name, array in arrays.items():
        axes = [f"axis_{i}" for i in range(np.ndim(array))]
        check_tensor(operation, name, array, " ".join(axes))
        check_shape(operation, name, array, shape, lambda: f"the sizes of {first}")
    return prod(shape)


def check_finite(operation: str, name: str, array: Array) -> None:
    """Refuse NaN, infinity and what is infinite in float32, by the place of the first one."""
    with np.errstate(over="ignore"):
        finite = np.isfinite(array.astype(np.float32, copy=False))
    if not finite.all():  # to look for the place takes 30 times as long
        place = tuple(np.argwhere(~finite)[0].tolist())
        value = array[place]
        rule = "every number must be finite"
        if np.isfinite(value):
            rule = f"it is too large for float32, whose largest number is {FLOAT32_MAX:.9g}"
        raise ValueError(f"{operation}: {name}{list(place)} = {value}: {rule}")


def check_labels(operation: str, labels: Array, s: LossShape, origin: str) -> None:
    """Refuse what is not one class for each row; `origin` says in words where the rows come from."""
    if not isinstance(labels, np.ndarray) or isinstance(labels, np.ma.MaskedArray):
        raise TypeError(f"{operation}: labels is a {type(labels).__name__}: it must be a plain NumPy array")
    if labels.dtype.kind not in "iu":
        raise TypeError(f"{operation}: labels has dtype {labels.dtype}: it must be of integers")
    check_shape(operation, "labels", labels, s.of("labels"), lambda: origin)
    bad = np.flatnonzero((labels < 0) | (labels >= s.classes))
    if bad.size:
        raise ValueError(f"{operation}: labels[{bad[0]}] = {labels[bad[0]]}: it must be from 0 to {s.classes - 1}")
