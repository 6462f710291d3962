"""A zoo of wrong kernels that look right: the kernel tests catch each one, and accuse no right one."""

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from problems import EVERY_RUNG, require_close, require_exact

from helpers import gpu, wgsl
from helpers.shapes import ConvShape
from helpers.wgsl import Kernel

# The smallest problems that do catch: batch, channels, rows and columns all differ, and so do both paddings.
ODD = ConvShape(2, 3, 7, 9, 4, 3, 2, 2, 1, 2)
STRIDE_1 = ConvShape(2, 3, 5, 7, 4, 3, 2, 1, 1, 2)
WIDE = ConvShape(1, 2, 18, 17, 2, 17, 16)  # more weights than 256 threads
HUGE = ConvShape(1, 1, 66, 65, 1, 65, 64)  # more weights than fit into workgroup memory
MANY_OUTPUTS = ConvShape(2, 1, 17, 18, 3, 1, 1)  # more products than 256 threads


@dataclass(frozen=True)
class Fault:
    """`old` becomes `new` in one kernel; a launch with `shape` shows that the answer is wrong."""

    name: str
    kernel: str
    shape: ConvShape
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.kernel}: {self.name}"


FORWARD = "conv2d/1_thread_per_output"
WEIGHT_1, WEIGHT_2 = "conv2d_grad_weight/1_thread_per_weight", "conv2d_grad_weight/2_workgroup_per_weight"
INPUT_1, INPUT_2 = "conv2d_grad_input/1_gather", "conv2d_grad_input/2_shared_weights"
BIAS_1, BIAS_2 = "conv2d_grad_bias/1_thread_per_channel", "conv2d_grad_bias/2_workgroup_per_channel"

FAULTS = [
    Fault("bias forgotten", FORWARD, ODD, "var sum = bias[co];", "var sum = 0.0;"),
    Fault("every image is image 0", FORWARD, ODD, "(n * params.in_channels + ci)", "ci"),
    Fault("padding added", FORWARD, ODD, "+ kh - params.padding_h", "+ kh + params.padding_h"),
    Fault("kernel sides swapped", FORWARD, ODD, "+ kh) * params.kernel_w", "+ kh) * params.kernel_h"),
    Fault("batch not summed", WEIGHT_1, ODD, "n < params.batch", "n < 1u"),
    Fault("stride forgotten", WEIGHT_1, ODD, "ow * params.stride", "ow"),
    Fault("one padding for both axes", WEIGHT_1, ODD, "- params.padding_w", "- params.padding_h"),
    Fault("kernel flipped", WEIGHT_1, STRIDE_1, "+ kh - params", "+ (params.kernel_h - 1u - kh) - params"),
    Fault("index decoded by rows", WEIGHT_1, ODD, "index % params.kernel_w", "index % params.kernel_h"),
    Fault("padding read as data", WEIGHT_1, ODD, "if (iw < params.in_w)", "if (true)"),
    Fault("last element left out", WEIGHT_1, ODD, "if (index >= ", "if (index + 1u >= "),
    Fault("writes past the end", WEIGHT_1, ODD, "if (index >= ", "if (index > "),
    Fault("only the last product", WEIGHT_1, ODD, "sum += grad_output", "sum = grad_output"),
    Fault("tree stops at two", WEIGHT_2, ODD, "half > 0u", "half > 1u"),
    Fault("tree drops a half", WEIGHT_2, ODD, "thread + half]", "thread + half / 2u]"),
    Fault("one product per thread", WEIGHT_2, MANY_OUTPUTS, "i < products;", "i < min(products, THREADS);"),
    Fault("channel decoded by rows", WEIGHT_2, ODD, "x / params.kernel_w", "x / params.kernel_h"),
    Fault("columns of padding read", WEIGHT_2, ODD, " && iw < params.in_w", ""),
    Fault("stride divides badly", INPUT_1, ODD, "row % params.stride != 0u || ", ""),
    Fault("one output row too many", INPUT_1, STRIDE_1, "oh >= params.out_h", "oh > params.out_h"),
    Fault("channels swapped", INPUT_1, ODD, "(co * params.in_channels + ci)", "(ci * params.out_channels + co)"),
    Fault("correlated, not flipped", INPUT_1, STRIDE_1, "params.padding_h - kh", "kh - params.padding_h"),
    Fault("weights over 256 not loaded", INPUT_2, WIDE, "i < count; i += TILE", "i < min(count, 256u); i += TILE"),
    Fault("room for 7x7 weights", INPUT_2, WIDE, "array<f32, CHUNK>", "array<f32, 49>"),
    Fault("only the first chunk", INPUT_2, HUGE, "first < taps;", "first < min(taps, CHUNK);"),
    Fault("column wraps at the wrong side", INPUT_2, ODD, "kw == params.kernel_w", "kw == params.kernel_h"),
    Fault("stride 1 everywhere", INPUT_2, ODD, "params.stride != 1u", "false"),
    Fault("batch not summed", BIAS_1, ODD, "n < params.batch", "n < 1u"),
    Fault("planes overlap", BIAS_1, ODD, "* params.out_channels + co", "+ co"),
    Fault("one element per thread", BIAS_2, MANY_OUTPUTS, "i += THREADS", "i += params.batch * pixels"),
    Fault("every image is image 0", BIAS_2, ODD, "(n * params.out_channels + co)", "co"),
]


def accused(fault: Fault, require_right: Callable[[Kernel, ConvShape], None]) -> None:
    """Bring the right kernel, then the wrong one, before the judge of the kernel tests."""
    right = wgsl.load(*fault.kernel.split("/"))
    require_right(right, fault.shape)
    with pytest.raises(AssertionError, match=fault.kernel):
        require_right(right.edit(fault.old, fault.new), fault.shape)


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_whole_numbers_catch_a_planted_fault(fault):
    accused(fault, require_exact)


@pytest.mark.parametrize("fault", [fault for fault in FAULTS if fault.shape in (ODD, STRIDE_1)], ids=str)
def test_random_numbers_catch_a_planted_fault_too(fault):
    accused(fault, require_close)


def test_planes_beyond_the_last_layer_of_a_dispatch_are_missed_if_skipped(monkeypatch):
    monkeypatch.setattr(gpu, "MAX_WORKGROUPS", 4)  # 65,535 would take a second
    accused(Fault("planes skipped", INPUT_2, ODD, "plane += grid.z", "plane += 100u"), require_exact)


def test_every_rung_has_a_planted_fault():
    assert {fault.kernel for fault in FAULTS} == {kernel.name for kernel in EVERY_RUNG}
