"""Every kernel of the repository, run by the simulator: the numbers of the adapter, and nothing to find."""

from collections.abc import Iterator
from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.problem_lists import listed
from support.problems import (
    EVERY_VERSION,
    every_general_version,
    every_version,
    findings,
    fitted,
    general,
    kind_of,
    parametrized,
    require_exact,
    shapes_of,
    with_its,
)
from support.sample import ALL, at_night, sample

from helpers.checks.report import compare
from helpers.grading import test_run
from helpers.grading.puzzle import Case, Puzzle
from helpers.lessons.exercises import PUZZLES
from helpers.operations.convolution.schedules import conv2d_grad_input
from helpers.operations.convolution.shapes import ConvShape
from helpers.operations.gemm.shapes import ACTIVATIONS, GemmShape, bias_alone
from helpers.operations.harness import EXTREMES, Tensors, drawn, launched, normal, operation_of, reports, simulated
from helpers.operations.kernels import load
from helpers.operations.operation import Shape
from helpers.operations.summation.shapes import SumShape
from wgsl import Kernel


def require_same_as_adapter(kernel: Kernel, shape: Shape) -> None:
    """Raise AssertionError unless simulator and adapter make the same bits of whole numbers, with nothing to find.

    Winograd's transforms round, and an adapter may fuse a product and a sum; quotients and exponentials have errors
    that adapters choose: there, within what can be proven.
    """
    operation = operation_of(kernel)
    tensors = drawn(operation, shape)
    if any(word in kernel.name for word in ("winograd", "avg_pool2d", "cross_entropy")):
        return require_close(kernel, shape, tensors)
    outputs, traces = simulated(kernel, shape, tensors)
    assert not findings(traces)
    for name, got, want in zip(operation.outputs, outputs, launched(kernel, shape, tensors), strict=True):
        assert got.tobytes() == want.tobytes(), compare(name, got, want, 0.0)


def require_close(kernel: Kernel, shape: Shape, tensors: Tensors) -> None:
    """Raise AssertionError unless the simulator's float32 stays within what can be proven, with nothing to find."""
    outputs, traces = simulated(kernel, shape, tensors)
    assert not findings(traces)
    for report in reports(kernel, shape, tensors, outputs):
        report.require()


# --- Every version, every entry point ---------------------------------------------------------------------------


@every_general_version
@settings(max_examples=5 if ALL else 2)
@given(data=st.data())
def test_whole_numbers_come_out_as_on_the_adapter(kernel, data):
    require_same_as_adapter(kernel, data.draw(shapes_of(kernel, exact=True)))


@every_general_version
@settings(max_examples=3 if ALL else 1)
@given(data=st.data())
def test_random_numbers_come_out_within_the_proven_tolerance(kernel, data):
    shape = data.draw(shapes_of(kernel))
    require_close(kernel, shape, drawn(operation_of(kernel), shape, normal))


@parametrized(sample([kernel for kernel in EVERY_VERSION if kernel.specialized], 2))
@settings(max_examples=1)
@given(data=st.data())
def test_a_specialized_version_comes_out_as_on_the_adapter(kernel, data):
    require_same_as_adapter(kernel, data.draw(shapes_of(kernel, exact=True)))


GEMMS = [kernel for kernel in EVERY_VERSION if kind_of(kernel) is GemmShape and not kernel.specialized]


@pytest.mark.parametrize("activation", ACTIVATIONS)
@parametrized(GEMMS)
def test_an_activation_comes_out_within_the_proven_tolerance_up_to_the_ends_of_float32(kernel, activation):
    require_close(kernel, *bias_alone(EXTREMES, activation))


CASES = {name: case for name, *case in listed("simulated")}  # a problem, and constants
EVERY_LAYER = dict(listed("simulated, any layer"))  # for the versions that serve every layer
TILED = "groups of 5 channels with 3 filters"  # the only one for versions with tiles: their threads are many


def layers() -> Iterator[tuple]:
    """The layers over the whole signature, with each of the versions that serve every layer."""
    for kernel, (name, shape) in product(EVERY_VERSION, EVERY_LAYER.items()):
        if general(kernel) and (name == TILED or "TILE" not in kernel.code):
            yield pytest.param(kernel, shape, id=f"{kernel.name}: {name}")


@pytest.mark.parametrize(("kernel", "shape"), sample(layers(), 3))
def test_a_layer_over_the_whole_signature_comes_out_right_and_as_on_the_adapter(kernel, shape):
    require_exact(kernel, shape)
    require_same_as_adapter(kernel, shape)


def named_cases() -> Iterator[tuple]:
    """The cases that have names, with each of the versions that take them."""
    for kernel, (name, (shape, constants)) in product(EVERY_VERSION, CASES.items()):
        if type(shape) is not kind_of(kernel) or kernel.specialized:
            continue
        if kernel.version == "1_one_thread" and shape.count > 300:  # one number an iteration: 257 are enough
            continue
        yield pytest.param(with_its(kernel, constants), shape, id=f"{kernel.name}: {name}")


@pytest.mark.parametrize(("kernel", "shape"), sample(named_cases(), 18))
def test_a_named_case_comes_out_as_on_the_adapter(kernel, shape):
    require_same_as_adapter(kernel, shape)


@at_night
def test_a_filter_over_4096_weights_is_loaded_in_pieces():
    require_same_as_adapter(
        load("conv2d_grad_input", "2_shared_weights"), ConvShape(1, 1, 1, 1, 1, 65, 64, 1, (64, 63))
    )


def test_a_workgroup_that_serves_several_planes(monkeypatch):
    monkeypatch.setattr(conv2d_grad_input, "MAX_WORKGROUPS", 4)
    shape = ConvShape(2, 3, 5, 6, 2, 3, 2, 2, (1, 2))  # six planes
    require_same_as_adapter(load("conv2d_grad_input", "2_shared_weights").with_constants(TILE=4), shape)


ONES = ConvShape(1, 1, 2, 2, 1, 1, 1)
SMALLEST = {SumShape: [SumShape(3)], GemmShape: [GemmShape(1, 2, 3)], ConvShape: [ONES]}
SMALLEST |= {type(shape): [shape] for shape, _ in CASES.values() if type(shape) not in SMALLEST}
SEVERAL_PARTS = ConvShape(2, 3, 18, 20, 2, 3, 3), ConvShape(1, 80, 4, 4, 3, 3, 3), ConvShape(1, 3, 5, 5, 80, 3, 3, 2)


@every_version
def test_every_entry_point_of_a_file_is_run(kernel):
    """A schedule that leaves one out for the smallest problem, runs it for one whose sums are shared."""
    shapes = [*SMALLEST[kind_of(kernel)]]
    if kind_of(kernel) is ConvShape:
        shapes += SEVERAL_PARTS
    run = set()
    for shape in shapes:
        steps = operation_of(kernel).plan(fitted(kernel, shape), kernel).passes
        run |= {step.entry_point for step in steps}
    assert run == {*kernel.entry_points}


# --- The official solutions of the puzzles ----------------------------------------------------------------------


def puzzle_cases() -> Iterator[tuple[Puzzle, Case]]:
    """The cases of all puzzles."""
    for puzzle in PUZZLES.values():
        for case in puzzle.cases():
            yield puzzle, case


@pytest.mark.parametrize(("puzzle", "case"), sample(puzzle_cases(), 15))
def test_an_official_solution_is_right_and_clean(puzzle, case):
    run = test_run.simulated(puzzle.official, case)
    assert (run.findings, run.wrong.any()) == ((), False)
