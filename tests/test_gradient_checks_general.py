"""Layers over the whole signature: every check passes what is right, and notices steps and groups that are mixed up."""

from collections.abc import Callable, Sequence
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from support.problems import conv_shapes
from support.sample import ALL, sample

from helpers import load
from helpers.checks.report import Report
from helpers.convolution import check, reference
from helpers.convolution.shapes import ConvShape
from helpers.gradient_checks.harness import normal, simulated, whole
from wgsl import Kernel

# The axes have different steps; two groups of 2 channels with 3 filters each.
GENERAL = ConvShape(3, 4, 5, 9, 6, 3, 2, (2, 3), (2, 1), (3, 2), 2)
FORWARD, WEIGHT, INPUT = "conv2d/5_direct", "conv2d_grad_weight/7_direct", "conv2d_grad_input/8_direct"
FAULTS = {  # other steps than the layer's, or an edit
    "dilation ignored along the rows": {"DILATION_H": 1},
    "dilation ignored along the columns": {"DILATION_W": 1},
    "dilations swapped": {"DILATION_H": GENERAL.dilation_w, "DILATION_W": GENERAL.dilation_h},
    "strides swapped": {"STRIDE_H": GENERAL.stride_w, "STRIDE_W": GENERAL.stride_h},
    "paddings swapped": {"PADDING_H": GENERAL.padding_w, "PADDING_W": GENERAL.padding_h},
    "groups mixed up": {},
}


def faulty(name: str, fault: str) -> Kernel:
    """A version with a fault; where the groups are mixed up, it takes the channels or the filters of another one."""
    own, other = ("ci / GROUP_IN", "GROUP_OUT") if name == INPUT else ("co / GROUP_OUT", "GROUP_IN")
    if steps := FAULTS[fault]:
        return loaded(name).with_constants(**steps)
    return loaded(name).edit(f"{own} * {other}", f"(GROUPS - 1u - {own}) * {other}")


def some_faults(names: Sequence[str], count: int) -> pytest.MarkDecorator:
    """A test's mark: run it for this many pairs of a version and a fault, or for all of them."""
    return pytest.mark.parametrize(("name", "fault"), sample([*product(names, FAULTS)], count))


def loaded(name: str) -> Kernel:
    """A version by its path."""
    return load(*name.split("/"))


# --- The checks of a convolution --------------------------------------------------------------------------

NAMES = {"input": 0, "weight": 1, "bias": 2, "grad_output": 3}  # and the seeds of their numbers


def drawn(shape: ConvShape, draw: Callable = normal) -> dict[str, np.ndarray]:
    """Random tensors of a layer."""
    return {name: draw(shape.of(name), seed) for name, seed in NAMES.items()}


def judged(name: str, shape: ConvShape, tensors: dict[str, np.ndarray], got: np.ndarray) -> dict[str, Report]:
    """What every check says of an output or a gradient, by the check's name."""
    x, w, b, dy = tensors.values()
    steps, gradient = shape.steps, name.partition("/")[0].removeprefix("conv2d_")
    if gradient == "conv2d":
        return {"reference": check.conv2d(got, x, w, b, **steps)}
    given = (x, dy) if gradient == "grad_weight" else (w, dy)
    return {
        "reference": getattr(check, gradient)(got, *given, **steps),
        "adjoint": check.adjoint(x, w, dy, **steps, **{gradient: got}),
    }


@some_faults([FORWARD, WEIGHT, INPUT], 8)
def test_every_check_passes_the_right_kernel_and_catches_each_fault(name, fault):
    tensors = drawn(GENERAL)
    for run, right in ((loaded(name), True), (faulty(name, fault), False)):
        (got,), _ = simulated(run, GENERAL, tensors)
        for check_name, report in judged(name, GENERAL, tensors, got).items():
            assert bool(report) == right, f"{check_name}: {report}"
            assert right or report.wrong, "caught by its numbers"


@settings(max_examples=40 if ALL else 12)
@given(conv_shapes(6, 3, 3, general=True))
def test_right_results_of_all_layers_pass_every_check(shape):
    tensors, steps = drawn(shape, whole if shape.batch % 2 else normal), shape.steps
    x, w, b, dy = tensors.values()
    right = {
        FORWARD: reference.conv2d(x, w, b, **steps),
        WEIGHT: reference.conv2d_grad_weight(x, w.shape, dy, **steps),
        INPUT: reference.conv2d_grad_input(x.shape, w, dy, **steps),
    }
    for name, answer in right.items():
        for report in judged(name, shape, tensors, np.float32(answer)).values():
            report.require()
    check.adjoint(x, w, dy, **steps, bias=b, grad_bias=np.float32(reference.conv2d_grad_bias(dy))).require()
