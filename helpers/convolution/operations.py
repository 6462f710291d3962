"""Convolution and its three gradients on the GPU: the public functions, and their versions.

Each public function takes and returns NumPy float32 arrays. An argument that breaks a rule is a TypeError or
ValueError that names it, its value and the rule, before anything is launched; what this adapter cannot run is a
GpuError that says what to do. For buffers that stay on the GPU, use `prepare` and `launch` of the OPERATIONS below.

Everywhere, ``oh*S + kh - Ph`` is the input row under filter row kh at output row oh, and columns likewise.
"""

from dataclasses import replace

import numpy as np

from helpers.arguments import as_int, check_shape, check_size, check_sizes, check_tensor
from helpers.convolution import choice
from helpers.convolution.schedules import (
    bias,
    filter_rows,
    implicit_gemm,
    register_windows,
    register_windows_grad_weight,
    teaching,
    winograd,
)
from helpers.convolution.shapes import ConvShape
from helpers.gpu.operation import Operation
from helpers.wgsl import Kernel

Padding = int | tuple[int, int]

# --- The operations and their versions -----------------------------------------------------------------------

GRAD_WEIGHT = Operation(
    name="conv2d_grad_weight",
    tensors=("grad_output", "input", "grad_weight"),
    outputs=("grad_weight",),
    versions={
        "1_thread_per_weight": teaching.thread_per_weight,
        "2_workgroup_per_weight": teaching.workgroup_per_weight,
        "3_split_k": implicit_gemm.grad_weight,
        "4_winograd": winograd.grad_weight,
        "5_register_windows": register_windows_grad_weight.grad_weight,
        "6_filter_rows": filter_rows.grad_weight,
    },
    choose=choice.grad_weight,
)
GRAD_INPUT = Operation(
    name="conv2d_grad_input",
    tensors=("grad_output", "weight", "grad_input"),
    outputs=("grad_input",),
    versions={
        "1_gather": teaching.gather,
        "2_shared_weights": teaching.shared_weights,
        "3_implicit_gemm": implicit_gemm.grad_input,
        "4_residue_classes": implicit_gemm.residue_classes,
        "5_winograd": winograd.grad_input,
        "6_register_windows": register_windows.grad_input,
        "7_split_channels": register_windows.split_channels,
    },
    choose=choice.grad_input,
)
GRAD_BIAS = Operation(
    name="conv2d_grad_bias",
    tensors=("grad_output", "grad_bias"),
    outputs=("grad_bias",),
    versions={
        "1_thread_per_channel": teaching.thread_per_channel,
        "2_workgroup_per_channel": teaching.workgroup_per_channel,
        "3_two_passes": bias.two_passes,
    },
    choose=choice.grad_bias,
    params=lambda shape: shape.output,
)
FORWARD = Operation(
    name="conv2d",
    tensors=("input", "weight", "bias", "output"),
    outputs=("output",),
    versions={
        "1_thread_per_output": teaching.thread_per_output,
        "2_implicit_gemm": implicit_gemm.forward,
        "3_winograd": winograd.forward,
        "4_register_windows": register_windows.forward,
    },
    choose=choice.forward,
)
OPERATIONS = {operation.name: operation for operation in (FORWARD, GRAD_WEIGHT, GRAD_INPUT, GRAD_BIAS)}

# --- NumPy in, NumPy out ----------------------------------------------------------------------------------


def conv2d(
    input: np.ndarray,
    weight: np.ndarray,
    bias: np.ndarray | None = None,
    stride: int = 1,
    padding: Padding = 0,
    *,
    activation: str = "none",
    kernel: str | Kernel | None = None,
) -> np.ndarray:
    """Convolution as deep learning means it: cross-correlation, without a flip; then an activation.

    ``output[n,co,oh,ow] = act(pre)``, where `pre` is
    ``bias[co] + sum over ci,kh,kw of input[n,ci,oh*S+kh-Ph,ow*S+kw-Pw] * weight[co,ci,kh,kw]``.

    Parameters
    ----------
    input : float32 array (N, Ci, H, W)
    weight : float32 array (Co, Ci, kH, kW)
    bias : float32 array (Co,), optional
    stride : int
    padding : int or (Ph, Pw)
    activation : str
        One of none, relu, gelu (the tanh form), silu, sigmoid, tanh. The first version has none.
    kernel : str or Kernel, optional
        A version in kernels/conv2d; the best one for this adapter by default.

    Returns
    -------
    float32 array (N, Co, oH, oW)
    """
    check_tensor("conv2d", "input", input, "N Ci H W")
    check_tensor("conv2d", "weight", weight, "Co Ci kH kW")
    shape = replace(_shape("conv2d", input.shape, "weight", weight.shape, stride, padding), activation=activation)
    if bias is None:
        bias = np.zeros(shape.out_channels, np.float32)
    _require_shape("conv2d", "bias", check_tensor("conv2d", "bias", bias, "Co"), shape)
    return FORWARD.compute(shape, kernel, input=input, weight=weight, bias=bias)[0]


def conv2d_grad_weight(
    input: np.ndarray,
    weight_size: tuple[int, int, int, int],
    grad_output: np.ndarray,
    stride: int = 1,
    padding: Padding = 0,
    *,
    kernel: str | Kernel | None = None,
) -> np.ndarray:
    """Gradient of the loss for conv2d's weight: the input correlated with the upstream gradient.

    ``grad_weight[co,ci,kh,kw] = sum over n,oh,ow of grad_output[n,co,oh,ow] * input[n,ci,oh*S+kh-Ph,ow*S+kw-Pw]``
    (the chain rule on conv2d's sum, which is linear in the weight).

    Parameters
    ----------
    input : float32 array (N, Ci, H, W)
    weight_size : (Co, Ci, kH, kW)
    grad_output : float32 array (N, Co, oH, oW)
    stride : int
    padding : int or (Ph, Pw)
    kernel : str or Kernel, optional
        A version in kernels/conv2d_grad_weight; the best one for this adapter by default.

    Returns
    -------
    float32 array (Co, Ci, kH, kW)
    """
    check_tensor("conv2d_grad_weight", "input", input, "N Ci H W")
    check_tensor("conv2d_grad_weight", "grad_output", grad_output, "N Co oH oW")
    weight_size = check_sizes("weight_size", weight_size, "Co Ci kH kW")
    shape = _shape("conv2d_grad_weight", input.shape, "weight_size", weight_size, stride, padding)
    _require_shape("conv2d_grad_weight", "grad_output", grad_output, shape)
    return GRAD_WEIGHT.compute(shape, kernel, grad_output=grad_output, input=input)[0]


def conv2d_grad_input(
    input_size: tuple[int, int, int, int],
    weight: np.ndarray,
    grad_output: np.ndarray,
    stride: int = 1,
    padding: Padding = 0,
    *,
    kernel: str | Kernel | None = None,
) -> np.ndarray:
    """Gradient of the loss for conv2d's input: what each pixel receives from the outputs to which it contributed.

    ``grad_input[n,ci,ih,iw] = sum over co,kh,kw of grad_output[n,co,oh,ow] * weight[co,ci,kh,kw]`` over those
    kh, kw for which ``oh = (ih+Ph-kh)/S`` and ``ow = (iw+Pw-kw)/S`` are whole and inside the output.

    Parameters
    ----------
    input_size : (N, Ci, H, W)
    weight : float32 array (Co, Ci, kH, kW)
    grad_output : float32 array (N, Co, oH, oW)
    stride : int
    padding : int or (Ph, Pw)
    kernel : str or Kernel, optional
        A version in kernels/conv2d_grad_input; the best one for this adapter by default.

    Returns
    -------
    float32 array (N, Ci, H, W)
    """
    check_tensor("conv2d_grad_input", "weight", weight, "Co Ci kH kW")
    check_tensor("conv2d_grad_input", "grad_output", grad_output, "N Co oH oW")
    input_size = check_sizes("input_size", input_size, "N Ci H W")
    shape = _shape("conv2d_grad_input", input_size, "weight", weight.shape, stride, padding)
    _require_shape("conv2d_grad_input", "grad_output", grad_output, shape)
    return GRAD_INPUT.compute(shape, kernel, grad_output=grad_output, weight=weight)[0]


def conv2d_grad_bias(grad_output: np.ndarray, *, kernel: str | Kernel | None = None) -> np.ndarray:
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
    return GRAD_BIAS.compute(shape, kernel, grad_output=grad_output)[0]


# --- Checks -----------------------------------------------------------------------------------------------


def _shape(
    operation: str, input_size: tuple, name: str, weight_size: tuple, stride: int, padding: Padding
) -> ConvShape:
    """The whole problem's sizes, checked against each other; `name` is what the caller calls the weight."""
    n, ci, in_h, in_w = input_size
    co, weight_ci, kernel_h, kernel_w = weight_size
    if weight_ci != ci:
        found = f"{operation}: {name} has Ci = {weight_ci} (axis 1)"
        raise ValueError(f"{found}, and the input has {ci} channels: they must be equal")
    pair = padding if isinstance(padding, tuple | list) else (padding, padding)
    if len(pair) != 2:
        raise ValueError(f"{operation}: padding = {padding!r}: it must be one int or two, (Ph, Pw)")
    stride, padding_h, padding_w = as_int(stride), as_int(pair[0]), as_int(pair[1])
    check_size("stride", stride)
    check_size("padding", padding_h, smallest=0)
    check_size("padding", padding_w, smallest=0)
    try:
        return ConvShape(n, ci, in_h, in_w, co, kernel_h, kernel_w, stride, padding_h, padding_w)
    except ValueError as error:
        found = f"{operation}: {name} {tuple(weight_size)} does not fit the input {tuple(input_size)}"
        raise ValueError(f"{found}: {error}") from None


def _require_shape(operation: str, name: str, array: np.ndarray, s: ConvShape) -> None:
    """Refuse a tensor whose shape is not the one that the other arguments imply."""
    steps = f"stride {s.stride} and padding {s.padding_h, s.padding_w}"
    check_shape(operation, name, array, s.of(name), f"input {s.input}, weight {s.weight}, {steps}")
