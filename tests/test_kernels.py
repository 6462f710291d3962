"""Every version of every operation, against the float64 reference and its own contract."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.headers import header
from support.problem_lists import listed, problems
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
from support.sample import ALL, at_night, sample

from helpers.gpu import passes
from helpers.operations import dispatch
from helpers.operations.activations import SMOOTH
from helpers.operations.convolution.schedules import conv2d_grad_input
from helpers.operations.convolution.shapes import ConvShape
from helpers.operations.gemm.shapes import GemmShape
from helpers.operations.harness import drawn, launched, ones, operation_of
from helpers.operations.kernels import load
from helpers.operations.network.shapes import ElementShape, PoolShape, UpdateShape
from helpers.operations.operation import Shape
from wgsl import Kernel

# --- Right for every shape ------------------------------------------------------------------------------


def require_right(kernel: Kernel, data: st.DataObject) -> None:
    """Raise AssertionError unless random numbers come out within the tolerance, and whole ones exactly if they can."""
    shape = data.draw(shapes_of(kernel))
    require_close(kernel, shape)
    if getattr(shape, "activation", "none") not in SMOOTH:
        require_exact(kernel, shape)


test_whole_and_random_numbers_come_out_right = every_general_version(given(data=st.data())(require_right))
# A driver compiles such a text for each problem. By day, its random numbers are those of its case, below.
few = settings(max_examples=2)
test_a_specialized_version_is_right_too = at_night(every_specialized_version(few(given(data=st.data())(require_right))))


CASES = problems("kernels")


FLAGS = "ALIGNED", "PAD", "GROUPS", "PIECES", "KEPT", "B_STRIDE", "D_B_STRIDE"  # constants that choose between parts


def branch(kernel: Kernel, shape: Shape) -> tuple:
    """The passes and the parts of its text that a specialized version runs for a problem, in one workgroup or many."""
    schedule = operation_of(kernel).versions[kernel.version](shape, kernel)
    many = schedule.steps[0].workgroups[0] > 1
    passes = [step.entry_point for step in schedule.steps]
    flags = [min(2, schedule.constants.get(name, 0)) for name in FLAGS]
    return many, *passes, *flags


def cases_of(kernel: Kernel) -> list[Shape]:
    """The cases that a version takes; of a specialized one, which a driver compiles anew, one of each branch."""
    taken = [shape for shape in CASES if type(shape) is kind_of(kernel) and not refused(kernel, shape)]
    if ALL or not kernel.specialized:
        return taken
    one_of_each_branch = {branch(kernel, shape): shape for shape in taken}
    return list(one_of_each_branch.values())


@every_version
def test_a_case_comes_out_exactly_and_with_random_numbers_within_the_tolerance(kernel):
    for shape in sample(cases_of(kernel), 1):
        require_exact(kernel, shape)
        require_close(kernel, shape)


@every_version
def test_a_refusal_names_the_version_and_says_what_to_do(kernel):
    reasons = [refused(kernel, shape) for shape in CASES if type(shape) is kind_of(kernel)]
    assert None in reasons
    assert all(kernel.name in reason and ":" in reason for reason in reasons if reason)


every_grad_input = parametrized(general_versions_of("conv2d_grad_input"))


@every_grad_input
def test_grad_input_serves_more_planes_than_a_dispatch_has_layers(kernel, monkeypatch):
    for module in conv2d_grad_input, dispatch, passes:
        monkeypatch.setattr(module, "MAX_WORKGROUPS", 4)
    require_exact(kernel, ConvShape(5, 2, 1, 2, 1, 1, 2, 1, (0, 1)))


@pytest.mark.parametrize(
    ("name", "shape", "most", "rows"),
    listed("rows of workgroups"),  # as if no dispatch could be wider than 3
)
def test_elements_that_one_row_of_workgroups_has_no_threads_for_are_computed(name, shape, most, rows, monkeypatch):
    """Sums of one product make each an outer product."""
    monkeypatch.setattr(dispatch, "MAX_WORKGROUPS", most)
    kernel = load(name)
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
# Every number contributes to a sum, to a loss, and, if it is NaN, to a maximum. Where a header says that padding is
# multiplied, 0 * NaN is NaN.
WHOLLY = "sum", "cross_entropy", "max_pool2d", "max_pool2d_backward", "initialize"
PARTLY = [
    kernel
    for kernel in EVERY_VERSION
    if operation_of(kernel).name not in WHOLLY and "NaN" not in header(kernel)["limits"]
]


@pytest.mark.parametrize("poison", [np.nan, np.inf])
@parametrized(PARTLY)
def test_a_number_changes_nothing_that_it_does_not_contribute_to(kernel, poison):
    """Replace one number at a time: outputs without a contribution from it must stay as they were."""
    operation = operation_of(kernel)
    shape = fitted(kernel, APART_OF[kind_of(kernel)])
    clean = drawn(operation, shape)
    all_ones = drawn(operation, shape, ones)
    want = launched(kernel, shape, clean)
    counts = operation.right(shape, all_ones)
    spared = 0
    for name, tensor in clean.items():
        for place in np.ndindex(tensor.shape):
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
