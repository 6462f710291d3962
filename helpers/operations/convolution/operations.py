"""Convolution and its three gradients on the GPU: the public functions, and their versions.

Each public function takes and returns NumPy float32 arrays. An argument that breaks a rule is a TypeError or
ValueError that names it, its value and the rule, before anything is launched; what this adapter cannot run is a
GpuError that says what to do. For buffers that stay on the GPU, use `prepare` and `launch` of the OPERATIONS below.

Everywhere, ``oh*Sh + kh*Dh - Ph`` is the input row under filter row kh at output row oh: stride Sh, dilation Dh
and padding Ph; columns likewise. With groups, the filters of a group see its channels alone: below, ``ci`` counts the
channels of a group. Stride, padding, dilation and groups mean what they mean in ``torch.nn.grad``.

NaN and infinity reach every sum that they are in, and an activation has its limit at an infinity. In fast versions they
reach more: tiles of Winograd's method, in which large numbers may also overflow, and sums with zeros from outside the
image. The headers of these versions say so, and the glossary lists them, beside what PyTorch does.
"""

from dataclasses import replace
from functools import lru_cache

import numpy as np

from helpers.checks.arguments import as_int, check_pair, check_shape, check_size, check_sizes, check_tensor
from helpers.checks.report import Array
from helpers.operations.activations import check_activation
from helpers.operations.convolution import check, choice, chunks, reference, winograd
from helpers.operations.convolution.schedules import conv2d as forward
from helpers.operations.convolution.schedules import conv2d_grad_bias as grad_bias
from helpers.operations.convolution.schedules import conv2d_grad_input as grad_input
from helpers.operations.convolution.schedules import conv2d_grad_weight as grad_weight
from helpers.operations.convolution.shapes import PAIRS, STEPS, ConvShape, padded_by_word
from helpers.operations.kernels import schedules
from helpers.operations.operation import Operation
from wgsl import Kernel

Pair = int | tuple[int, int]  # one for both axes, or one for rows and one for columns

# --- The operations and their versions -----------------------------------------------------------------------

# A stride that leaves a rest, and a padding larger than the filter.
_EXAMPLES = ConvShape(2, 3, 30, 40, 10, 4, 7, 6, (1, 8)), ConvShape(2, 3, 6, 8, 4, 3, 2, 1, (4, 5))
GRAD_WEIGHT = Operation(
    name="conv2d_grad_weight",
    tensors=("grad_output", "input", "grad_weight"),
    outputs=("grad_weight",),
    versions=schedules("conv2d_grad_weight", grad_weight),
    choose=choice.grad_weight,
    answer=reference.grad_weight,
    judges={"4_winograd": winograd.GRAD_WEIGHT.judge},
    adjoint=check.weight_adjoint,
    examples=_EXAMPLES,
)
GRAD_INPUT = Operation(
    name="conv2d_grad_input",
    tensors=("grad_output", "weight", "grad_input"),
    outputs=("grad_input",),
    versions=schedules("conv2d_grad_input", grad_input),
    choose=choice.grad_input,
    answer=reference.grad_input,
    judges={"5_winograd": winograd.GRAD_INPUT.judge},
    adjoint=check.input_adjoint,
    examples=_EXAMPLES,
)
GRAD_BIAS = Operation(
    name="conv2d_grad_bias",
    tensors=("grad_output", "grad_bias"),
    outputs=("grad_bias",),
    versions=schedules("conv2d_grad_bias", grad_bias),
    choose=choice.grad_bias,
    answer=lambda grad_output, shape: reference.conv2d_grad_bias(grad_output),
    adjoint=check.bias_adjoint,
    examples=_EXAMPLES,
    params=lambda shape: shape.output,
)
FORWARD = Operation(
    name="conv2d",
    tensors=("input", "weight", "bias", "output"),
    outputs=("output",),
    versions=schedules("conv2d", forward),
    choose=choice.forward,
    answer=reference.output,
    judge=check.output,
    judges={"3_winograd": winograd.FORWARD.judge},
    examples=[replace(shape, activation=name) for shape, name in zip(_EXAMPLES, ("gelu", "tanh"), strict=True)],
)
OPERATIONS = {operation.name: operation for operation in (FORWARD, GRAD_WEIGHT, GRAD_INPUT, GRAD_BIAS)}

# --- NumPy in, NumPy out ----------------------------------------------------------------------------------


def conv2d(
    input: Array,
    weight: Array,
    bias: Array | None = None,
    stride: Pair = 1,
    padding: Pair | str = 0,
    dilation: Pair = 1,
    groups: int = 1,
    *,
    activation: str = "none",
    kernel: str | Kernel | None = None,
) -> Array:
    """Convolution as deep learning means it: cross-correlation, without a flip; then an activation.

    ``output[n,co,oh,ow] = act(pre)``, where `pre` is
    ``bias[co] + sum over ci,kh,kw of input[n,ci,oh*Sh+kh*Dh-Ph,ow*Sw+kw*Dw-Pw] * weight[co,ci,kh,kw]``.

    Parameters
    ----------
    input : float32 array (N, Ci, H, W)
    weight : float32 array (Co, Ci/groups, kH, kW)
    bias : float32 array (Co,), optional
    stride, padding, dilation : int or (rows, columns)
        The padding may also be "valid", which is none, or at stride 1 "same", with which the output is as large as the
        input; where that takes an odd number of rows or columns of zeros, one more lies at the end, as in PyTorch.
    groups : int
        Channels are divided into this many groups, each a convolution of its own.
    activation : str
        A name in ``ACTIVATIONS`` of helpers.operations.activations, such as relu; gelu is the tanh
        form. The first version has none.
    kernel : str or Kernel, optional
        A version in kernels/conv2d; the best one for this adapter by default.

    Returns
    -------
    float32 array (N, Co, oH, oW)
    """
    check_tensor("conv2d", "input", input, "N Ci H W")
    check_tensor("conv2d", "weight", weight, "Co Ci kH kW")
    if isinstance(padding, str):
        input, padding = padded_by_word(input, padding, weight.shape[2:], stride, dilation)
    shape = _shape("conv2d", input.shape, "weight", weight.shape, stride, padding, dilation, groups, activation)
    if bias is None:
        bias = np.zeros(shape.out_channels, np.float32)
    _require_shape("conv2d", "bias", check_tensor("conv2d", "bias", bias, "Co"), shape)
    return chunks.compute(FORWARD, shape, kernel, input=input, weight=weight, bias=bias)


def conv2d_grad_weight(
    input: Array,
    weight_size: tuple[int, int, int, int],
    grad_output: Array,
    stride: Pair = 1,
    padding: Pair = 0,
    dilation: Pair = 1,
    groups: int = 1,
    *,
    kernel: str | Kernel | None = None,
) -> Array:
    """Gradient of the loss for conv2d's weight: the input correlated with the upstream gradient.

    ``grad_weight[co,ci,kh,kw] = sum over n,oh,ow of grad_output[n,co,oh,ow] * input[n,ci,ih,iw]`` with
    ``ih = oh*Sh+kh*Dh-Ph`` and ``iw = ow*Sw+kw*Dw-Pw`` (the chain rule on conv2d's sum, which is linear in the weight).

    Parameters
    ----------
    input : float32 array (N, Ci, H, W)
    weight_size : (Co, Ci/groups, kH, kW)
    grad_output : float32 array (N, Co, oH, oW)
    stride, padding, dilation : int or (rows, columns)
    groups : int
        Channels are divided into this many groups, each a convolution of its own.
    kernel : str or Kernel, optional
        A version in kernels/conv2d_grad_weight; the best one for this adapter by default.

    Returns
    -------
    float32 array (Co, Ci/groups, kH, kW)
    """
    check_tensor("conv2d_grad_weight", "input", input, "N Ci H W")
    check_tensor("conv2d_grad_weight", "grad_output", grad_output, "N Co oH oW")
    weight_size = check_sizes("weight_size", weight_size, "Co Ci kH kW")
    shape = _shape("conv2d_grad_weight", input.shape, "weight_size", weight_size, stride, padding, dilation, groups)
    _require_shape("conv2d_grad_weight", "grad_output", grad_output, shape)
    return chunks.compute(GRAD_WEIGHT, shape, kernel, grad_output=grad_output, input=input)


def conv2d_grad_input(
    input_size: tuple[int, int, int, int],
    weight: Array,
    grad_output: Array,
    stride: Pair = 1,
    padding: Pair = 0,
    dilation: Pair = 1,
    groups: int = 1,
    *,
    kernel: str | Kernel | None = None,
) -> Array:
    """Gradient of the loss for conv2d's input: what each pixel receives from the outputs to which it contributed.

    ``grad_input[n,ci,ih,iw] = sum over co,kh,kw of grad_output[n,co,oh,ow] * weight[co,ci,kh,kw]`` over those
    kh, kw for which ``oh = (ih+Ph-kh*Dh)/Sh`` and ``ow = (iw+Pw-kw*Dw)/Sw`` are whole and inside the output.

    Parameters
    ----------
    input_size : (N, Ci, H, W)
    weight : float32 array (Co, Ci/groups, kH, kW)
    grad_output : float32 array (N, Co, oH, oW)
    stride, padding, dilation : int or (rows, columns)
    groups : int
        Channels are divided into this many groups, each a convolution of its own.
    kernel : str or Kernel, optional
        A version in kernels/conv2d_grad_input; the best one for this adapter by default.

    Returns
    -------
    float32 array (N, Ci, H, W)
    """
    check_tensor("conv2d_grad_input", "weight", weight, "Co Ci kH kW")
    check_tensor("conv2d_grad_input", "grad_output", grad_output, "N Co oH oW")
    input_size = check_sizes("input_size", input_size, "N Ci H W")
    shape = _shape("conv2d_grad_input", input_size, "weight", weight.shape, stride, padding, dilation, groups)
    _require_shape("conv2d_grad_input", "grad_output", grad_output, shape)
    return chunks.compute(GRAD_INPUT, shape, kernel, grad_output=grad_output, weight=weight)


def conv2d_grad_bias(grad_output: Array, *, kernel: str | Kernel | None = None) -> Array:
    """Gradient of the loss for conv2d's bias: the upstream gradient summed over batch, rows and columns.

    ``grad_bias[co] = sum over n,oh,ow of grad_output[n,co,oh,ow]``

    Parameters
    ----------
    grad_output : float32 array (N, Co, oH, oW)
    kernel : str or Kernel, optional
        A version in kernels/conv2d_grad_bias; the best one for this adapter by default.

    Returns
    -------
    float32 array (Co,)
    """
    n, co, out_h, out_w = check_tensor("conv2d_grad_bias", "grad_output", grad_output, "N Co oH oW").shape
    shape = ConvShape(n, 1, out_h, out_w, co, 1, 1)  # any convolution with this output has the same bias gradient
    return chunks.compute(GRAD_BIAS, shape, kernel, grad_output=grad_output)


# --- Checks -----------------------------------------------------------------------------------------------


def _shape(operation: str, input_size: tuple, name: str, weight_size: tuple, *steps: object) -> ConvShape:
    """The whole problem's sizes, checked; whole numbers that were checked before are not checked again."""
    for step in steps:
        if type(step) not in (int, str):  # a pair is equal to another one that has True in the place of 1
            return _checked_shape(operation, input_size, name, weight_size, *steps)
    return _known_shape(operation, input_size, name, weight_size, *steps)


def _checked_shape(
    operation: str,
    input_size: tuple,
    name: str,
    weight_size: tuple,
    stride: Pair,
    padding: Pair,
    dilation: Pair,
    groups: int,
    activation: str = "none",
) -> ConvShape:
    """The whole problem's sizes, checked against each other; `name` is what the caller calls the weight."""
    n, ci, in_h, in_w = input_size
    co, weight_ci, kernel_h, kernel_w = weight_size
    try:
        shape = ConvShape(n, ci, in_h, in_w, co, kernel_h, kernel_w, stride, padding, dilation, groups, activation)
    except ValueError as error:
        for argument, value in ("stride", stride), ("padding", padding), ("dilation", dilation):
            check_pair(argument, value, PAIRS[argument])
        check_size("groups", as_int(groups))
        check_activation(activation)
        _check_channels(operation, name, weight_ci, ci, as_int(groups))
        mistake = f"{operation}: {name} {tuple(weight_size)} does not fit the input {tuple(input_size)}"
        raise ValueError(f"{mistake}: {error}") from None
    _check_channels(operation, name, weight_ci, ci, shape.groups)
    return shape


_known_shape = lru_cache(maxsize=256)(_checked_shape)


def _check_channels(operation: str, name: str, weight_ci: int, ci: int, groups: int) -> None:
    """Refuse a weight that has other input channels than a group of the input."""
    if ci % groups == 0 and weight_ci * groups != ci:
        mistake = f"{operation}: {name} has Ci/groups = {weight_ci} (axis 1) and groups = {groups}"
        raise ValueError(f"{mistake}, and the input has {ci} channels: they must be {weight_ci * groups}")


def _require_shape(operation: str, name: str, array: Array, s: ConvShape) -> None:
    """Refuse a tensor whose shape is not the one that the other arguments imply."""

    def other_arguments() -> str:
        steps = ", ".join(f"{step} {getattr(s, step)}" for step in STEPS)
        return f"input {s.input}, weight {s.weight}, {steps}"

    check_shape(operation, name, array, s.of(name), other_arguments)
