"""A fully connected layer, fused, on the GPU: GEMM + bias + activation, and its backward pass in a few dispatches.

Each public function takes and returns NumPy float32 arrays. An argument that breaks a rule is a TypeError or
ValueError that names it, its value and the rule, before anything is launched; what this adapter cannot run is a
GpuError that says what to do. For buffers that stay on the GPU, use `prepare` and `launch` of FORWARD and BACKWARD.

NaN and infinity reach every sum that they are in, and an activation and its derivative have their limits at an
infinity. A derivative that is not finite counts as 0, so NaN in `pre` stops there. NaN in `grad` does not: 0 times NaN
is NaN. The glossary lists where this differs from PyTorch.
"""

import numpy as np

from helpers.checks.arguments import check_shape, check_tensor
from helpers.operations.gemm import check, choice, reference
from helpers.operations.gemm.schedules import gemm_bias_act as forward
from helpers.operations.gemm.schedules import gemm_bias_act_backward as backward
from helpers.operations.gemm.shapes import GemmShape
from helpers.operations.kernels import schedules
from helpers.operations.operation import Operation
from wgsl import Kernel

# --- The operations and their versions -----------------------------------------------------------------------


def _activated(layer: tuple) -> tuple:
    """Tensors and a shape, with the shape's activation in its place."""
    *tensors, shape = layer
    return *tensors, shape.activation


_EXAMPLES = GemmShape(2, 3, 5, 4, "gelu", b_per_item=True), GemmShape(5, 4, 3, 2, "tanh", per_item=True)
FORWARD = Operation(
    name="gemm_bias_act",
    tensors=("a", "b", "bias", "output"),
    outputs=("output",),
    versions=schedules("gemm_bias_act", forward),
    choose=choice.forward,
    answer=lambda *layer: reference.forward(*_activated(layer)),
    judge=lambda *layer: check.gemm_bias_act(*_activated(layer)),
    examples=_EXAMPLES,
)
BACKWARD = Operation(
    name="gemm_bias_act_backward",
    tensors=("a", "b", "bias", "grad", "grad_pre", "d_a", "d_b", "d_bias"),
    outputs=("d_a", "d_b", "d_bias"),
    versions=schedules("gemm_bias_act_backward", backward),
    choose=choice.backward,
    answer=lambda *layer: reference.backward(*_activated(layer), per_item=layer[-1].per_item),
    judge=lambda *layer: check.gemm_bias_act_backward(*_activated(layer)),
    adjoint=lambda got, *layer: check.adjoint(*_activated(layer), **dict(zip(check.GRADIENTS, got, strict=True))),
    examples=_EXAMPLES,
    between=("grad_pre",),
)
OPERATIONS = {operation.name: operation for operation in (FORWARD, BACKWARD)}

# --- NumPy in, NumPy out ----------------------------------------------------------------------------------


def gemm_bias_act(a: np.ndarray, b: np.ndarray, bias: np.ndarray, activation: str = "none") -> np.ndarray:
    """A fully connected layer: ``output = act(a @ b + bias)``.

    Parameters
    ----------
    a : float32 array (batch, M, K)
    b : float32 array (K, N), shared by all items, or (batch, K, N)
    bias : float32 array (N,)
    activation : str
        A name in ``helpers.operations.activations.ACTIVATIONS``, such as relu; gelu is the tanh form.

    Returns
    -------
    float32 array (batch, M, N)
    """
    shape = _shape(FORWARD.name, a, b, bias, activation)
    return FORWARD.compute(shape, None, a=a, b=b, bias=bias)[0]


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
    own, set `per_item`.

    Parameters
    ----------
    a : float32 array (batch, M, K)
    b : float32 array (K, N), shared by all items, or (batch, K, N)
    bias : float32 array (N,)
    grad : float32 array (batch, M, N)
        Gradient of the loss for the output.
    activation : str
        A name in ``ACTIVATIONS`` of helpers.operations.activations, such as relu; gelu is the tanh
        form. ReLU's derivative at 0 is 0.
    per_item : bool
        Keep the gradients of the items' b apart.
    kernel : str or Kernel, optional
        A version in kernels/gemm_bias_act_backward; the best one for this adapter by default.

    Returns
    -------
    d_a : float32 array (batch, M, K)
    d_b : float32 array (K, N), or (batch, K, N) with `per_item`
    d_bias : float32 array (N,)
    """
    shape = _shape(BACKWARD.name, a, b, bias, activation, per_item)
    check_tensor(BACKWARD.name, "grad", grad, "batch M N")
    _require_shape(BACKWARD.name, "grad", grad, shape)
    return BACKWARD.compute(shape, kernel, a=a, b=b, bias=bias, grad=grad)


# --- Checks -----------------------------------------------------------------------------------------------


def _shape(
    operation: str, a: np.ndarray, b: np.ndarray, bias: np.ndarray, activation: str, per_item: bool = False
) -> GemmShape:
    """The whole problem's sizes, checked against each other."""
    b_per_item = getattr(b, "ndim", 2) == 3
    batch_size, m, k = check_tensor(operation, "a", a, "batch M K").shape
    check_tensor(operation, "b", b, "batch K N" if b_per_item else "K N")
    check_tensor(operation, "bias", bias, "N")
    if b.shape[:-1] not in [(k,), (batch_size, k)]:
        mistake = f"{operation}: b has shape {b.shape}: with a {a.shape} it must be"
        raise ValueError(f"{mistake} ({k}, N), shared by all items, or ({batch_size}, {k}, N)")
    shape = GemmShape(m, k, b.shape[-1], batch_size, activation, b_per_item, per_item)
    _require_shape(operation, "bias", bias, shape)
    return shape


def _require_shape(operation: str, name: str, array: np.ndarray, shape: GemmShape) -> None:
    """Refuse a tensor whose shape is not the one that `a` and `b` imply."""
    check_shape(operation, name, array, shape.of(name), lambda: f"a {shape.of('a')} and b {shape.of('b')}")
