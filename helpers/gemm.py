"""A fully connected layer, fused: GEMM + bias + activation, and its backward pass in four dispatches.

Two layers, as in `ops`: `gemm_bias_act` and `gemm_bias_act_backward` are NumPy in, NumPy out; `launch_forward` and
`launch_backward` work on buffers that stay on the GPU, and read nothing back.
"""

from dataclasses import asdict, dataclass, fields
from math import ceil, prod

import numpy as np
import wgpu
from numpy.typing import DTypeLike

from helpers import gpu
from helpers.arguments import check_buffers, check_dtype, check_size, check_tensor
from helpers.plans import Plan, loop
from helpers.wgsl import Kernel, candidates

FORWARD, BACKWARD = "gemm_bias_act", "gemm_bias_act_backward"
ACTIVATIONS = ("none", "relu", "gelu", "silu", "sigmoid", "tanh")  # a kernel knows each by its place
TENSORS = {  # in binding order
    FORWARD: ("a", "b", "bias", "output"),
    BACKWARD: ("a", "b", "bias", "grad", "grad_pre", "d_a", "d_b", "d_bias"),
}


@dataclass(frozen=True)
class GemmShape:
    """Sizes of ``output = act(a @ b + bias)``: `a` is (batch, M, K), `b` (K, N), `output` (batch, M, N).

    With `b_per_item` each item has its own `b`, (batch, K, N); with `per_item` so has `d_b`, which else is the sum.

    Raises
    ------
    TypeError
        A size is not an int, or one of the two flags is not a bool.
    ValueError
        A size is out of range.
    """

    m: int
    k: int
    n: int
    batch_size: int = 1
    b_per_item: bool = False
    per_item: bool = False

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if field.type is int:
                check_size(field.name, value)
            elif not isinstance(value, bool):
                raise TypeError(f"{field.name} = {value!r}: it must be True or False")

    def of(self, tensor: str) -> tuple[int, ...]:
        """The shape of a tensor, by its name in `TENSORS`."""
        own = self.per_item if tensor == "d_b" else self.b_per_item
        b = (self.batch_size,) * own + (self.k, self.n)
        shapes = {"a": (self.batch_size, self.m, self.k), "b": b, "bias": (self.n,)}
        return shapes.get(tensor.removeprefix("d_"), (self.batch_size, self.m, self.n))

    def params(self, activation: str) -> tuple[int, ...]:
        """The eight u32 that both kernels take, in their struct's order."""
        strides = self.k * self.n * self.b_per_item, self.k * self.n * self.per_item
        return self.m, self.k, self.n, self.batch_size, ACTIVATIONS.index(activation), *strides, 0


# --- On the GPU -----------------------------------------------------------------------------------------


def passes(
    operation: str,
    buffers: tuple[wgpu.GPUBuffer, ...],
    *,
    activation: str,
    dtype: DTypeLike = "float32",
    kernel: str | Kernel | None = None,
    **sizes: int | bool,
) -> tuple[gpu.Pass, ...]:
    """The passes of one operation over resident buffers, to run together or to measure one by one.

    Parameters
    ----------
    operation : str
        gemm_bias_act, which is one pass, or gemm_bias_act_backward, which is four.
    buffers : tuple of GPUBuffer
        Distinct buffers in the order of `TENSORS`; what follows the inputs is written.
    activation : str
        One of none, relu, gelu, silu, sigmoid, tanh.
    dtype : dtype
        float32, the only one there is.
    kernel : str or Kernel, optional
        A rung, or a copy of one with other constants or an edited text.
    m, n, k, batch_size, b_per_item, per_item
        The sizes, as in `GemmShape`.

    Raises
    ------
    TypeError
        `dtype` is not float32, or a size is not an int.
    ValueError
        An unknown activation or rung, a size out of range, one buffer for two tensors, or one too small.
    GpuError
        This adapter cannot run it.
    """
    check_dtype(operation, dtype)
    _check_activation(operation, activation)
    shape = GemmShape(**sizes)
    check_buffers(operation, {name: shape.of(name) for name in TENSORS[operation]}, buffers)
    if len(set(buffers)) < len(buffers):
        raise ValueError(f"{operation}: one buffer stands for two tensors: {', '.join(TENSORS[operation])} must differ")
    return plan(operation, shape, kernel, (*buffers, gpu.uniform(shape.params(activation))))


def backward_passes(buffers: tuple[wgpu.GPUBuffer, ...], **options) -> tuple[gpu.Pass, ...]:
    """The four backward passes in their order; arguments and errors are those of `passes`."""
    return passes(BACKWARD, buffers, **options)


def launch_forward(buffers: tuple[wgpu.GPUBuffer, ...], **options) -> None:
    """Launch the forward pass and read nothing back; arguments and errors are those of `passes`."""
    gpu.run(*passes(FORWARD, buffers, **options))


def launch_backward(buffers: tuple[wgpu.GPUBuffer, ...], **options) -> None:
    """Launch the four backward passes in one submission and read nothing back; arguments as in `passes`."""
    gpu.run(*passes(BACKWARD, buffers, **options))


def plan(
    operation: str, shape: GemmShape, kernel: str | Kernel | None = None, buffers: tuple[wgpu.GPUBuffer, ...] = ()
) -> tuple[gpu.Pass, ...]:
    """How an operation is dispatched; raises GpuError where this adapter cannot run one of its passes."""
    kernel = candidates(operation, kernel)[0]
    planned = []
    for entry_point, (workgroups, loops) in PLANS[operation](shape, kernel.value("TILE")).items():
        label = operation if entry_point == "main" else entry_point.removesuffix("_f32")
        planned.append(gpu.Pass(kernel, buffers, workgroups, loops, entry_point, label))
        if planned[-1].problem():
            planned[-1].refuse()
    return tuple(planned)


def _backward_plan(s: GemmShape, tile: int) -> dict[str, Plan]:
    items, layers = (1, s.batch_size) if s.per_item else (s.batch_size, 1)  # of one thread, of the dispatch
    return {
        "gemm_bwd_grad_pre_f32": _tiled(s.n, s.m, s.batch_size, tile, s.k),
        "gemm_bwd_da_f32": _tiled(s.k, s.m, s.batch_size, tile, s.n),
        "gemm_bwd_db_f32": _tiled(s.n, s.k, layers, tile, s.m, items),
        "gemm_bwd_dbias_f32": ((ceil(s.n / 256), 1, 1), loop(s.batch_size * s.m)[0]),
    }


def _tiled(columns: int, rows: int, layers: int, tile: int, terms: int, items: int = 1) -> Plan:
    """One thread an element of (layers, rows, columns), each a sum of items * terms products taken tile by tile."""
    loops, _ = loop(items, loop(ceil(terms / tile), loop(tile)))
    return (ceil(columns / tile), ceil(rows / tile), layers), loops


PLANS = {  # entry points in the order of their passes
    FORWARD: lambda s, tile: {"main": _tiled(s.n, s.m, s.batch_size, tile, s.k)},
    BACKWARD: _backward_plan,
}


def _compute(
    operation: str, shape: GemmShape, activation: str, kernel: str | Kernel | None, **tensors: np.ndarray
) -> dict[str, np.ndarray]:
    """Upload, launch, read: the tensors of an operation that are not among those given, but for grad_pre."""
    sizes = {name: 4 * prod(shape.of(name)) for name in TENSORS[operation]}
    plan(operation, shape, kernel)  # this and the next lines refuse before anything is uploaded
    for name, nbytes in sizes.items():
        gpu.check_room(nbytes, name)
    buffers = {name: gpu.empty(nbytes, name) for name, nbytes in sizes.items() if name not in tensors}
    buffers |= {name: gpu.upload(tensor, name) for name, tensor in tensors.items()}
    in_order = tuple(buffers[name] for name in TENSORS[operation])
    gpu.run(*passes(operation, in_order, activation=activation, kernel=kernel, **asdict(shape)))
    return {name: gpu.read(buffers[name], shape.of(name)) for name in sizes.keys() - tensors.keys() - {"grad_pre"}}


# --- NumPy in, NumPy out --------------------------------------------------------------------------------


def gemm_bias_act(a: np.ndarray, b: np.ndarray, bias: np.ndarray, activation: str = "none") -> np.ndarray:
    """A fully connected layer: ``output = act(a @ b + bias)``.

    Parameters
    ----------
    a : float32 array (batch, M, K)
    b : float32 array (K, N), shared by all items, or (batch, K, N)
    bias : float32 array (N,)
    activation : str
        One of none, relu, gelu (the tanh form), silu, sigmoid, tanh.

    Returns
    -------
    float32 array (batch, M, N)

    Raises
    ------
    TypeError, ValueError
        An argument breaks a rule; names it, its value and the rule.
    GpuError
        This adapter cannot run it, and what to do.
    """
    shape = _shape(FORWARD, a, b, bias, activation)
    return _compute(FORWARD, shape, activation, None, a=a, b=b, bias=bias)["output"]


def gemm_bias_act_backward(
    a: np.ndarray,
    b: np.ndarray,
    bias: np.ndarray,
    grad: np.ndarray,
    activation: str = "none",
    *,
    per_item: bool = False,
    kernel: str | Kernel | None = None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Gradients of the loss for the three inputs of `gemm_bias_act`.

    ``grad_pre = grad * act'(a @ b + bias)``, then ``d_a = grad_pre @ b^T``, ``d_b = a^T @ grad_pre`` summed over
    the batch, and ``d_bias`` = grad_pre summed over batch and M (the chain rule, first on act, then on a sum that
    is linear in each of a, b and bias). The sum is b's gradient where all items share one b; where each has its
    own, ask for `per_item`.

    Parameters
    ----------
    a : float32 array (batch, M, K)
    b : float32 array (K, N), shared by all items, or (batch, K, N)
    bias : float32 array (N,)
    grad : float32 array (batch, M, N)
        Gradient of the loss for the output.
    activation : str
        One of none, relu, gelu (the tanh form), silu, sigmoid, tanh. ReLU's slope at 0 is 0.
    per_item : bool
        Keep the gradients of the items' b apart.
    kernel : str or Kernel, optional
        A rung of kernels/gemm_bias_act_backward.

    Returns
    -------
    d_a : float32 array (batch, M, K)
    d_b : float32 array (K, N), or (batch, K, N) with `per_item`
    d_bias : float32 array (N,)

    Raises
    ------
    TypeError, ValueError
        An argument breaks a rule; names it, its value and the rule.
    GpuError
        This adapter cannot run it, and what to do.
    """
    shape = _shape(BACKWARD, a, b, bias, activation, per_item)
    check_tensor(BACKWARD, "grad", grad, "batch M N")
    _agree(BACKWARD, "grad", grad, shape)
    gradients = _compute(BACKWARD, shape, activation, kernel, a=a, b=b, bias=bias, grad=grad)
    return gradients["d_a"], gradients["d_b"], gradients["d_bias"]


# --- Checks ---------------------------------------------------------------------------------------------


def _shape(
    operation: str, a: np.ndarray, b: np.ndarray, bias: np.ndarray, activation: str, per_item: bool = False
) -> GemmShape:
    """The whole problem's sizes, checked against each other."""
    _check_activation(operation, activation)
    b_per_item = getattr(b, "ndim", 2) == 3
    batch_size, m, k = check_tensor(operation, "a", a, "batch M K").shape
    check_tensor(operation, "b", b, "batch K N" if b_per_item else "K N")
    check_tensor(operation, "bias", bias, "N")
    if b.shape[:-1] not in [(k,), (batch_size, k)]:
        told = f"{operation}: b has shape {b.shape}: a {a.shape} makes it"
        raise ValueError(f"{told} ({k}, N), shared by all items, or ({batch_size}, {k}, N)")
    shape = GemmShape(m, k, b.shape[-1], batch_size, b_per_item, per_item)
    _agree(operation, "bias", bias, shape)
    return shape


def _agree(operation: str, name: str, array: np.ndarray, shape: GemmShape) -> None:
    """Refuse a tensor whose shape is not the one that `a` and `b` imply."""
    if array.shape != shape.of(name):
        told = f"{operation}: {name} has shape {array.shape}"
        raise ValueError(f"{told}: a {shape.of('a')} and b {shape.of('b')} make it {shape.of(name)}")


def _check_activation(operation: str, activation: str) -> None:
    """Refuse what is not one of the six names."""
    if activation not in ACTIVATIONS:
        raise ValueError(f"{operation}: activation = {activation!r}: it must be one of {', '.join(ACTIVATIONS)}")
