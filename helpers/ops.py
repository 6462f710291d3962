"""The public functions, in two layers: NumPy in and out, and launches on buffers that stay on the GPU.

A public function checks its arguments, uploads, launches and reads back. `launch` takes resident buffers in
binding order and reads nothing, so that launches can follow each other without a copy.
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import prod

import numpy as np
import wgpu
from numpy.typing import DTypeLike

from helpers import gpu, plans
from helpers.arguments import as_int, check_buffers, check_dtype, check_size, check_sizes, check_tensor
from helpers.shapes import ConvShape
from helpers.wgsl import Kernel, candidates

ENOUGH_WORKGROUPS = 256  # of 256 threads each: as many keep a large GPU of today busy


@dataclass(frozen=True)
class Operation:
    """One kernel folder: its tensors in binding order, its uniform parameters, and how each rung is dispatched."""

    tensors: tuple[str, ...]  # the last one is written
    plans: dict[str, Callable[[ConvShape, Kernel], plans.Plan]]
    params: Callable[[ConvShape], tuple[int, ...]] = ConvShape.params


OPERATIONS = {
    "conv2d": Operation(
        ("input", "weight", "bias", "output"),
        {"1_thread_per_output": plans.thread_per_output},
    ),
    "conv2d_grad_weight": Operation(
        ("grad_output", "input", "grad_weight"),
        {"1_thread_per_weight": plans.thread_per_weight, "2_workgroup_per_weight": plans.workgroup_per_weight},
    ),
    "conv2d_grad_input": Operation(
        ("grad_output", "weight", "grad_input"),
        {"1_gather": plans.gather, "2_shared_weights": plans.shared_weights},
    ),
    "conv2d_grad_bias": Operation(
        ("grad_output", "grad_bias"),
        {"1_thread_per_channel": plans.thread_per_channel, "2_workgroup_per_channel": plans.workgroup_per_channel},
        params=lambda shape: shape.output,
    ),
}

# --- On the GPU -----------------------------------------------------------------------------------------


def choose(
    operation: str, shape: ConvShape, kernel: str | Kernel | None = None, buffers: tuple[wgpu.GPUBuffer, ...] = ()
) -> gpu.Pass:
    """The pass that computes `operation`, with the given kernel or the best rung that this adapter can run.

    One thread per element is best where there are enough elements to fill a GPU; with fewer, the last rung is, which
    spends more threads on each. A CPU that imitates a GPU pays dearly for every barrier, so there the first rung is.
    A `Kernel` (a rung with other constants, or with an edited text) is dispatched as the rung whose name it bears.

    Raises
    ------
    ValueError
        There is no such rung.
    GpuError
        No rung (or not the one named) can run here, and why.
    """
    _known(operation)
    passes = []
    for candidate in candidates(operation, kernel):
        workgroups, loops = OPERATIONS[operation].plans[candidate.rung](shape, candidate)
        passes.append(gpu.Pass(candidate, buffers, workgroups, loops))
    if gpu.banner().kind == "hardware" and prod(passes[0].workgroups) < ENOUGH_WORKGROUPS:
        passes.reverse()
    possible = [each for each in passes if each.problem() is None]
    return possible[0] if possible else passes[0].refuse()


def _known(operation: str) -> None:
    if operation not in OPERATIONS:
        raise ValueError(f"operation = {operation!r}: it must be one of {', '.join(OPERATIONS)}")


def prepare(
    operation: str,
    buffers: tuple[wgpu.GPUBuffer, ...],
    shape: ConvShape,
    *,
    kernel: str | Kernel | None = None,
    dtype: DTypeLike = "float32",
) -> gpu.Pass:
    """The pass of one convolution operation over resident buffers, to run alone, with others, or to measure.

    Parameters
    ----------
    operation : str
        A folder of kernels: conv2d, conv2d_grad_weight, conv2d_grad_input or conv2d_grad_bias.
    buffers : tuple of GPUBuffer
        The tensors in binding order, without the parameters; the last one is written.
    shape : ConvShape
        Sizes of the whole problem.
    kernel : str or Kernel, optional
        A rung; the best one for this adapter by default.
    dtype : dtype
        float32, the only one there is.

    Raises
    ------
    TypeError
        `dtype` is not float32.
    ValueError
        An unknown operation or rung, or a buffer too small for its tensor.
    GpuError
        This adapter cannot run it.
    """
    _known(operation)
    check_dtype(operation, dtype)
    check_buffers(operation, {name: shape.of(name) for name in OPERATIONS[operation].tensors}, buffers)
    params = gpu.uniform(OPERATIONS[operation].params(shape))
    return choose(operation, shape, kernel, (*buffers, params))


def launch(operation: str, buffers: tuple[wgpu.GPUBuffer, ...], shape: ConvShape, **options) -> None:
    """Launch one operation on resident buffers and read nothing back; arguments and errors are those of `prepare`."""
    gpu.run(prepare(operation, buffers, shape, **options))


def compute(operation: str, shape: ConvShape, kernel: str | Kernel | None, **tensors: np.ndarray) -> np.ndarray:
    """Upload, launch, read: the tensor of `operation` that is not among those given."""
    *inputs, output = OPERATIONS[operation].tensors
    choose(operation, shape, kernel)  # this and the next lines refuse before anything is uploaded
    for name in (*inputs, output):
        gpu.check_room(4 * prod(shape.of(name)), name)
    result = gpu.empty(4 * prod(shape.of(output)), output)
    buffers = [gpu.upload(tensors[name], name) for name in inputs]
    launch(operation, (*buffers, result), shape, kernel=kernel)
    return gpu.read(result, shape.of(output))


# --- NumPy in, NumPy out --------------------------------------------------------------------------------


def conv2d(
    input: np.ndarray,
    weight: np.ndarray,
    bias: np.ndarray | None = None,
    stride: int = 1,
    padding: int | tuple[int, int] = 0,
) -> np.ndarray:
    """Convolution as deep learning means it: cross-correlation, without a flip.

    ``output[n,co,oh,ow] = bias[co] + sum over ci,kh,kw of input[n,ci,oh*S+kh-Ph,ow*S+kw-Pw] * weight[co,ci,kh,kw]``

    Parameters
    ----------
    input : float32 array (N, Ci, H, W)
    weight : float32 array (Co, Ci, kH, kW)
    bias : float32 array (Co,), optional
    stride : int
    padding : int or (Ph, Pw)

    Returns
    -------
    float32 array (N, Co, oH, oW)

    Raises
    ------
    TypeError, ValueError
        An argument breaks a rule; names it, its value and the rule.
    GpuError
        This adapter cannot run it, and what to do.
    """
    check_tensor("conv2d", "input", input, "N Ci H W")
    check_tensor("conv2d", "weight", weight, "Co Ci kH kW")
    shape = _shape(input.shape, "weight", weight.shape, stride, padding)
    if bias is None:
        bias = np.zeros(shape.out_channels, np.float32)
    _agree("bias", check_tensor("conv2d", "bias", bias, "Co"), shape)
    return compute("conv2d", shape, None, input=input, weight=weight, bias=bias)


def conv2d_grad_weight(
    input: np.ndarray,
    weight_size: tuple[int, int, int, int],
    grad_output: np.ndarray,
    stride: int = 1,
    padding: int | tuple[int, int] = 0,
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
        A rung of kernels/conv2d_grad_weight; the best one for this adapter by default.

    Returns
    -------
    float32 array (Co, Ci, kH, kW)

    Raises
    ------
    TypeError, ValueError
        An argument breaks a rule; names it, its value and the rule.
    GpuError
        This adapter cannot run it, and what to do.
    """
    check_tensor("conv2d_grad_weight", "input", input, "N Ci H W")
    check_tensor("conv2d_grad_weight", "grad_output", grad_output, "N Co oH oW")
    weight_size = check_sizes("weight_size", weight_size, "Co Ci kH kW")
    shape = _shape(input.shape, "weight_size", weight_size, stride, padding)
    _agree("grad_output", grad_output, shape)
    return compute("conv2d_grad_weight", shape, kernel, grad_output=grad_output, input=input)


def conv2d_grad_input(
    input_size: tuple[int, int, int, int],
    weight: np.ndarray,
    grad_output: np.ndarray,
    stride: int = 1,
    padding: int | tuple[int, int] = 0,
    *,
    kernel: str | Kernel | None = None,
) -> np.ndarray:
    """Gradient of the loss for conv2d's input: what each pixel's outputs send back to it.

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
        A rung of kernels/conv2d_grad_input; the best one for this adapter by default.

    Returns
    -------
    float32 array (N, Ci, H, W)

    Raises
    ------
    TypeError, ValueError
        An argument breaks a rule; names it, its value and the rule.
    GpuError
        This adapter cannot run it, and what to do.
    """
    check_tensor("conv2d_grad_input", "weight", weight, "Co Ci kH kW")
    check_tensor("conv2d_grad_input", "grad_output", grad_output, "N Co oH oW")
    shape = _shape(check_sizes("input_size", input_size, "N Ci H W"), "weight", weight.shape, stride, padding)
    _agree("grad_output", grad_output, shape)
    return compute("conv2d_grad_input", shape, kernel, grad_output=grad_output, weight=weight)


def conv2d_grad_bias(grad_output: np.ndarray, *, kernel: str | Kernel | None = None) -> np.ndarray:
    """Gradient of the loss for conv2d's bias: the upstream gradient summed over batch, rows and columns.

    ``grad_bias[co] = sum over n,oh,ow of grad_output[n,co,oh,ow]``

    Parameters
    ----------
    grad_output : float32 array (N, Co, oH, oW)
    kernel : str or Kernel, optional
        A rung of kernels/conv2d_grad_bias; the best one for this adapter by default.

    Returns
    -------
    float32 array (Co,)

    Raises
    ------
    TypeError, ValueError
        An argument breaks a rule; names it, its value and the rule.
    GpuError
        This adapter cannot run it, and what to do.
    """
    n, co, out_h, out_w = check_tensor("conv2d_grad_bias", "grad_output", grad_output, "N Co oH oW").shape
    shape = ConvShape(n, 1, out_h, out_w, co, 1, 1)  # any convolution with this output: the bias sees no more
    return compute("conv2d_grad_bias", shape, kernel, grad_output=grad_output)


# --- Checks ---------------------------------------------------------------------------------------------


def _shape(input_size: tuple, name: str, weight_size: tuple, stride: int, padding: int | tuple) -> ConvShape:
    """The whole problem's sizes, checked against each other; `name` is what the caller calls the weight."""
    n, ci, in_h, in_w = input_size
    co, weight_ci, kernel_h, kernel_w = weight_size
    if weight_ci != ci:
        raise ValueError(f"{name} has Ci = {weight_ci} (axis 1), and the input has {ci} channels: they must agree")
    pair = padding if isinstance(padding, tuple | list) else (padding, padding)
    if len(pair) != 2:
        raise ValueError(f"padding = {padding!r}: it must be one int or two, (Ph, Pw)")
    stride, padding_h, padding_w = as_int(stride), as_int(pair[0]), as_int(pair[1])
    check_size("stride", stride)
    check_size("padding", padding_h, smallest=0)
    check_size("padding", padding_w, smallest=0)
    try:
        return ConvShape(n, ci, in_h, in_w, co, kernel_h, kernel_w, stride, padding_h, padding_w)
    except ValueError as error:
        raise ValueError(f"{name} {tuple(weight_size)} does not fit the input {tuple(input_size)}: {error}") from None


def _agree(name: str, array: np.ndarray, shape: ConvShape) -> None:
    """Refuse a tensor whose shape is not the one that the other arguments imply."""
    if array.shape != shape.of(name):
        raise ValueError(
            f"{name} has shape {array.shape}: input {shape.input}, weight {shape.weight}, stride {shape.stride} and "
            f"padding {shape.padding_h, shape.padding_w} make it {shape.of(name)}"
        )
