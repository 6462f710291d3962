"""A collection of wrong kernels that look right: the judges of the kernel tests catch each, and accuse no right one."""

import numpy as np
import pytest
from support.faults import BACK_1, BACK_2, FAULTS, INPUT_2, STRIDE_1, WEIGHT_1, Fault
from support.problems import EVERY_VERSION, EXTREMES, answer, bias_alone, drawn, launched, require_close, require_exact

from helpers import wgsl
from helpers.convolution import operations
from helpers.convolution.shapes import ConvShape
from helpers.gpu.operation import Shape
from helpers.wgsl import Kernel


def require_right(kernel: Kernel, shape: Shape | str) -> None:
    """The judge: whole numbers, then random ones; or an activation alone."""
    if isinstance(shape, str):
        return require_close(kernel, *bias_alone(EXTREMES, shape))
    require_exact(kernel, shape)
    return require_close(kernel, shape)


@pytest.mark.parametrize("fault", FAULTS, ids=str)
def test_a_planted_fault_is_caught(fault):
    """Bring the right kernel, then the wrong one, before the judge."""
    right = wgsl.load(*fault.kernel.split("/"))
    require_right(right, fault.shape)
    with pytest.raises(AssertionError):
        require_right(right.edit(fault.old, fault.new), fault.shape)


def test_every_version_has_a_planted_fault():
    assert {fault.kernel for fault in FAULTS} == {kernel.name for kernel in EVERY_VERSION}


def test_only_a_guard_shows_a_read_past_the_end_of_an_input():
    kernel = wgsl.load(*WEIGHT_1.split("/")).edit("n < params.batch", "n <= params.batch")
    tensors = drawn(operations.GRAD_WEIGHT, STRIDE_1)
    (right,) = answer(operations.GRAD_WEIGHT, STRIDE_1, tensors)
    (unseen,) = launched(kernel, STRIDE_1, tensors, guard=0)
    assert np.array_equal(unseen, right)


def test_planes_beyond_the_last_layer_of_a_dispatch_are_missed_if_skipped(monkeypatch):
    monkeypatch.setattr(operations, "MAX_WORKGROUPS", 4)  # 65,535 would take a second
    shape = ConvShape(2, 3, 8, 9, 4, 3, 2, 2, 1, 2)  # no other test plans this one
    test_a_planted_fault_is_caught(Fault(INPUT_2, "planes skipped", shape, "plane += grid.z", "plane += 100u"))


# --- What only shows where a number is not finite -----------------------------------------------------------


@pytest.mark.parametrize("bits", ["0x7f800000u", "0xff800000u", "0x7fc00000u"], ids=["inf", "-inf", "nan"])
@pytest.mark.parametrize("version", [BACK_1, BACK_2])
def test_a_derivative_that_is_not_finite_counts_as_zero(version, bits):
    """Adapters differ in whether one arises: some take the NaN of inf - inf for a number. So one is put there."""
    kernel, (shape, tensors) = wgsl.load(*version.split("/")), bias_alone(np.zeros(1), "none")
    infinite = kernel.edit("finite_or_0(derivative(", f"finite_or_0(bitcast<f32>({bits} + params.unused) * (")
    unguarded = infinite.edit("select(0.0, x, finite)", "x")
    assert launched(infinite, shape, tensors)[2] == 0
    assert not np.isfinite(launched(unguarded, shape, tensors)[2])
