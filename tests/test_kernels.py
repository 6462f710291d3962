"""Every version of every operation, against the float64 reference and its own contract."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.headers import header
from support.problems import (
    EVERY_VERSION,
    every_general_version,
    every_specialized_version,
    every_version,
    fitted,
    general_versions_of,
    kind_of,
    parametrized,
    refused,
    require_close,
    require_exact,
    shapes_of,
)
from support.sample import ALL

from helpers.activations import SMOOTH
from helpers.convolution.shapes import ConvShape
from helpers.gemm.shapes import GemmShape
from helpers.gpu import operation
from helpers.gpu.operation import Shape
from helpers.gradient_checks.harness import drawn, launched, ones, operation_of
from helpers.kernels import load
from helpers.network.shapes import ElementShape, LossShape, PoolShape, StartShape, UpdateShape
from helpers.summation.shapes import SumShape
from wgsl import Kernel

# --- Right for every shape ------------------------------------------------------------------------------


def require_right(kernel: Kernel, data: st.DataObject) -> None:
    """Raise AssertionError unless random numbers come out within the tolerance, and whole ones exactly if they can."""
    shape = data.draw(shapes_of(kernel))
    require_close(kernel, shape)
    if getattr(shape, "activation", "none") not in SMOOTH:
        require_exact(kernel, shape)


test_whole_and_random_numbers_come_out_right = every_general_version(given(data=st.data())(require_right))
few = settings(max_examples=2 if ALL else 1)
test_a_specialized_version_is_right_too = every_specialized_version(few(given(data=st.data())(require_right)))


CASES = [
    ConvShape(1, 1, 1, 1, 1, 1, 1),  # one of everything
    ConvShape(2, 3, 35, 18, 2, 3, 4, 2, (1, 2)),  # more pixels than one 16x16 tile
    ConvShape(3, 2, 20, 19, 2, 2, 3),  # more products than 256 threads
    ConvShape(1, 20, 4, 5, 19, 2, 2),  # more weights than 256 threads
    ConvShape(2, 2, 11, 12, 2, 9, 8, 1, (3, 4)),  # filter over 7x7
    ConvShape(1, 2, 20, 18, 2, 17, 16),  # filter over 256 weights
    ConvShape(1, 1, 66, 66, 2, 65, 64),  # filter over 4,096 weights
    ConvShape(3, 5, 13, 18, 7, 3, 3, 1, (1, 2)),  # 3x3, more than a tile of each
    ConvShape(2, 3, 1, 1, 2, 3, 3, 1, 1),  # 3x3 on one pixel
    ConvShape(2, 70, 6, 5, 67, 3, 3, 1, (0, 1), activation="relu"),  # many channels with an activation
    ConvShape(2, 3, 7, 8, 2, 3, 3, (2, 1)),  # two strides, and below dilation alone, and groups alone
    ConvShape(2, 2, 3, 4, 3, 2, 3, 1, (8, 9), (11, 7)),  # dilation over the image
    ConvShape(3, 4, 9, 8, 6, 3, 3, 1, 1, groups=2),  # two groups
    ConvShape(3, 6, 3, 4, 12, 2, 2, (4, 3), (5, 7), (1, 2), 6),  # depthwise, stride and padding over the filter
    ConvShape(2, 70, 6, 5, 134, 3, 3, 1, (0, 1), (2, 1), 2),  # groups that fill no tile
    ConvShape(2, 32, 9, 10, 32, 3, 2, (2, 1), (1, 2), (1, 3), 2),  # groups that fill a step
    ConvShape(2, 1, 70, 66, 2, 2, 1),  # outputs that fill no slice
    ConvShape(5, 6, 13, 15, 4, 3, 2, (3, 2), (2, 1), (2, 4), 2),  # all unequal
    ConvShape(2, 2, 11, 13, 3, 2, 1, 4),  # stride over filter
    ConvShape(2, 2, 3, 2, 2, 2, 3, 2, (5, 7)),  # padding over filter
    GemmShape(16, 16, 16, 2, "relu"),  # exactly one tile
    GemmShape(130, 36, 132, 2, "relu"),  # more than a tile of 128, in fours
    GemmShape(17, 33, 49, 3, "none", True, True),  # one past full tiles, b per item
    GemmShape(64, 16, 64, 1, "relu"),  # full tiles in one product only
    GemmShape(20, 12, 24, 3, "relu", b_per_item=True),  # b per item, one d_b
    GemmShape(2, 5000, 3, 2, "relu"),  # K of thousands
    GemmShape(3000, 2, 3, 2),  # M of thousands
    GemmShape(2, 3, 1030, 2),  # N over 256 and over 1,024
    SumShape(257),  # one number past a workgroup
    SumShape(33_000),  # more numbers than 128 workgroups
    GemmShape(1, 2, 3, 3000, "relu"),  # thousands of items
    GemmShape(1, 2, 3, 3000, "none", True, True),  # thousands of items with their own b
    PoolShape(1, 1, 1, 1, 1),  # one of everything
    PoolShape(2, 3, 11, 13, 2),  # a last row and column in no window
    PoolShape(2, 3, 9, 8, 3, 2, 1),  # windows that overlap, and padding
    PoolShape(1, 2, 17, 19, (5, 4), (3, 6), (2, 0)),  # all unequal, stride over window
    PoolShape(1, 2, 3, 2, 4, 1, 2),  # a window larger than the image
    PoolShape(70, 3, 4, 5, (1, 2), 1),  # many images
    *map(ElementShape, (1, 256, 70_000)),
    LossShape(1, 1),
    LossShape(65, 10),  # one row past a workgroup
    LossShape(3, 2000),  # classes of thousands
    UpdateShape(257, 0.5, 0.25),  # one parameter past a workgroup
    UpdateShape(70_000, 0.01, 0.9),
    StartShape(257, 0.25, 2**32 - 1, 3),
]


FLAGS = "ALIGNED", "PAD", "GROUPS", "PIECES", "KEPT", "B_STRIDE", "D_B_STRIDE"  # constants that choose between parts


def branch(kernel: Kernel, shape: Shape) -> tuple:
    """Which passes and parts of its text a specialized version runs for a problem; is it one workgroup, or many?"""
    schedule = operation_of(kernel).versions[kernel.version](shape, kernel)
    values = (min(2, schedule.constants.get(name, 0)) for name in FLAGS)
    return schedule.steps[0].workgroups[0] > 1, *(step.entry_point for step in schedule.steps), *values


def cases_of(kernel: Kernel) -> list[Shape]:
    """The cases that a version takes; of a specialized one, which a driver compiles anew, one of each branch."""
    taken = [shape for shape in CASES if type(shape) is kind_of(kernel) and not refused(kernel, shape)]
    return taken if ALL or not kernel.specialized else [*{branch(kernel, shape): shape for shape in taken}.values()]


@pytest.mark.parametrize(
    ("kernel", "shape"),
    [(kernel, shape) for kernel in EVERY_VERSION for shape in cases_of(kernel)],
    ids=lambda value: getattr(value, "name", str(value)),
)
def test_a_case_comes_out_exactly(kernel, shape):
    require_exact(kernel, shape)


@every_version
def test_a_refusal_names_the_version_and_says_what_to_do(kernel):
    reasons = [refused(kernel, shape) for shape in CASES if type(shape) is kind_of(kernel)]
    assert None in reasons
    assert all(kernel.name in reason and ":" in reason for reason in reasons if reason)


every_grad_input = parametrized(general_versions_of("conv2d_grad_input"))


@every_grad_input
def test_grad_input_serves_more_planes_than_a_dispatch_has_layers(kernel):
    require_exact(kernel, ConvShape(32_769, 2, 1, 2, 1, 1, 2, 1, (0, 1)))


@pytest.mark.parametrize(
    ("name", "shape", "most", "rows"),
    [  # in rows of 3 workgroups, as if no dispatch could be wider; 16.8 million elements in rows of what WebGPU allows
        ("conv2d/1_thread_per_output", ConvShape(47, 1, 1, 1, 46, 1, 1), 3, 3),
        ("conv2d_grad_weight/1_thread_per_weight", ConvShape(1, 46, 1, 1, 47, 1, 1), 3, 3),
        ("conv2d_grad_input/1_gather", ConvShape(47, 46, 1, 1, 1, 1, 1), 3, 3),
        ("gemm_bias_act/1_thread_per_element", GemmShape(47, 1, 46), 3, 3),
        ("gemm_bias_act/1_thread_per_element", GemmShape(4097, 1, 4096), operation.MAX_WORKGROUPS, 2),
    ],
)
def test_elements_that_one_row_of_workgroups_has_no_threads_for_are_computed(name, shape, most, rows, monkeypatch):
    """Sums of one product make each an outer product."""
    monkeypatch.setattr(operation, "MAX_WORKGROUPS", most)
    kernel = load(*name.split("/"))
    (step,) = operation_of(kernel).versions[kernel.version](shape, kernel).steps
    assert step.workgroups[1] == rows
    tensors = drawn(operation_of(kernel), shape)
    (got,) = launched(kernel, shape, tensors)
    left, right, *bias = tensors.values()
    assert np.array_equal(got.reshape(left.size, right.size), np.outer(left, right) + sum(bias))


# --- Nothing from where nothing was contributed ----------------------------------------------------------


# The stride skips the pixels of rows 2 and 5, the windows at both ends lie in the padding, and so do the weights
# left and right of the only column.
SPARSE = ConvShape(1, 1, 6, 1, 2, 2, 3, 3, (3, 1))
APART = GemmShape(3, 5, 4, 2, "none", True, True)
APART_OF = {ConvShape: SPARSE, GemmShape: APART, PoolShape: PoolShape(2, 1, 4, 3, 2, (3, 1), (1, 0))}
APART_OF |= {ElementShape: ElementShape(5), UpdateShape: UpdateShape(5, 0.5, 0.5)}
# Every number contributes to a sum. Where a header says that padding is multiplied, 0 * NaN is NaN; with a NaN, it may
# also say, there is no maximum.
PARTLY = [k for k in EVERY_VERSION if kind_of(k) not in (SumShape, StartShape) and "NaN" not in header(k)["limits"]]


@pytest.mark.parametrize("poison", [np.nan, np.inf])
@parametrized(PARTLY)
def test_a_number_changes_nothing_that_it_does_not_contribute_to(kernel, poison):
    """Replace one number at a time: outputs without a contribution from it must stay as they were."""
    operation, shape = operation_of(kernel), fitted(kernel, APART_OF[kind_of(kernel)])
    clean, all_ones = drawn(operation, shape), drawn(operation, shape, ones)
    want, counts, spared = launched(kernel, shape, clean), operation.right(shape, all_ones), 0
    for name, place in ((name, place) for name, tensor in clean.items() for place in np.ndindex(tensor.shape)):
        got = launched(kernel, shape, _with(clean, name, place, poison))
        fewer = operation.right(shape, _with(all_ones, name, place, 0))
        for before, after, count, without in zip(want, got, counts, fewer, strict=True):
            same = count == without
            assert np.array_equal(after[same], before[same])
            spared += same.sum()
    assert spared


def _with(tensors: dict, name: str, place: tuple[int, ...], value: float) -> dict:
    """The same tensors with one number replaced."""
    changed = tensors[name].copy()
    changed[place] = value
    return tensors | {name: changed}


@every_grad_input
def test_a_pixel_that_no_window_covers_has_gradient_zero(kernel):
    """Even where every number is NaN."""
    shape = ConvShape(2, 2, 9, 10, 3, 2, 1, 4)  # windows cover rows 0, 1, 4, 5 and columns 0, 4, 8
    nothing_but_nan = drawn(operation_of(kernel), shape, lambda size, _: np.full(size, np.nan, np.float32))
    (got,) = launched(kernel, shape, nothing_but_nan)
    got[:, :, [[0], [1], [4], [5]], [0, 4, 8]] = 0
    assert (got == 0).all()
