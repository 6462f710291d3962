"""Which oracle catches which wrong kernel: the facts that the lesson builds on, and that the matrix can show others."""

import numpy as np
import pytest
from support.problems import GENERAL_VERSIONS
from support.sample import sample

from helpers import load
from helpers.convolution.shapes import ConvShape
from helpers.operations import OPERATIONS
from helpers.oracles import gradient_oracles, matrix, probes
from helpers.oracles.harness import LARGE, answer, inputs_of
from helpers.oracles.matrix import COLUMNS, POOR, WAYS, Matrix, Row
from helpers.oracles.wrong_kernels import WEIGHT_1, WEIGHT_2, WRONG_KERNELS, WrongKernel

RIGHT = [kernel for kernel in GENERAL_VERSIONS if kernel.name.partition("/")[0] in matrix.OPERATIONS]
EVERY_LAYER = "conv2d_grad_weight/7_direct", "conv2d_grad_input/8_direct", "conv2d_grad_bias/3_two_passes"
THREAD_PER_WEIGHT = load(*WEIGHT_1.split("/"))


INPUT_PROBLEM = gradient_oracles.good("conv2d_grad_input")


def wrong_kernels(operation: str) -> list[WrongKernel]:
    """The rows of an operation in the table of wrong kernels."""
    general = {kernel.name for kernel in RIGHT if kernel.name.startswith(f"{operation}/")}
    return [each for each in WRONG_KERNELS if each.kernel in general]


def row(kernel: str, name: str) -> Row:
    """A row of the matrix."""
    (found,) = (each for each in matrix.matrix(*kernel.split("/")).rows if each.wrong.name == name)
    return found


# --- The matrix -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sample([*(kernel.name for kernel in RIGHT), *EVERY_LAYER], 4))
def test_no_column_accuses_a_right_kernel(name):
    assert matrix.judged(load(*name.split("/"))) == dict.fromkeys(COLUMNS, False)


@pytest.mark.parametrize("operation", ["conv2d_grad_weight", "conv2d_grad_bias"])
def test_each_wrong_kernel_is_caught_by_a_way_to_look(operation):
    found = matrix.matrix(operation)
    assert [each.wrong for each in found.rows] == wrong_kernels(operation)
    assert found.cells[:, : len(WAYS)].any(axis=1).all()
    assert "; at least one of the six catches each." in found.summary


@pytest.mark.parametrize("kernel", sample(EVERY_LAYER, 1))
def test_each_wrong_kernel_of_a_version_that_serves_every_layer_is_caught_by_a_way_to_look(kernel):
    operation, version = kernel.split("/")
    assert version in matrix.versions(operation)
    found = matrix.matrix(operation, version)
    assert [each.wrong for each in found.rows] == [each for each in WRONG_KERNELS if each.kernel == kernel]
    assert found.cells[:, : len(WAYS)].any(axis=1).all()


@pytest.mark.parametrize("wrong", sample(wrong_kernels("conv2d_grad_input"), 9), ids=str)
def test_each_wrong_kernel_of_the_input_gradient_is_caught_by_a_way_to_look(wrong):
    run = gradient_oracles.Simulated(matrix.shrunk(wrong.wrong))
    assert any(matrix.catches(way, run, INPUT_PROBLEM) for way in WAYS.values())  # the first that does is enough


@pytest.mark.parametrize("column", POOR)
def test_poor_data_hide_mistakes_that_good_data_show(column):
    found = matrix.matrix("conv2d_grad_weight")
    assert set(found.missed(column)) > set(found.missed("reference"))


def test_a_guard_is_what_most_mistakes_need():
    missed = {column: len(matrix.matrix("conv2d_grad_weight").missed(column)) for column in POOR}
    assert missed.pop("classroom test") > 20
    assert max(missed, key=missed.get) == "no guard"


@pytest.mark.parametrize(
    ("kernel", "name", "missed"),
    [
        (WEIGHT_1, "batch not summed", {"simulator", "batch 1", "classroom test"}),
        (WEIGHT_1, "filter flipped", {"simulator", "symmetric data"}),
        (WEIGHT_1, "one padding for both axes", {"simulator", "square image", "classroom test"}),
        (WEIGHT_1, "writes past the end", {"no guard", "classroom test"}),
        (WEIGHT_1, "added to what was there", {"simulator", "no guard", "classroom test"}),
        (WEIGHT_1, "sum cut to a whole number", {"one-hot probes", "simulator", "whole numbers"}),
        (WEIGHT_1, "loop over the batch never ends", set()),
        (WEIGHT_2, "tree stops at two", {"one-hot probes", "simulator"}),
        (WEIGHT_2, "no barrier in the tree", {*COLUMNS} - {"simulator"}),
    ],
)
def test_what_misses_a_mistake(kernel, name, missed):
    assert {column for column, caught in row(kernel, name).caught.items() if not caught} == missed


def test_only_the_simulator_sees_that_a_race_with_right_numbers_is_one(monkeypatch):
    (race,) = (each for each in WRONG_KERNELS if (each.kernel, each.name) == (WEIGHT_2, "no barrier in the tree"))
    monkeypatch.setitem(WAYS, "simulator", lambda run, problem: True)
    blind = Matrix((Row(race, matrix.judged(race.wrong)),))
    assert not blind.cells.any()
    assert "; all six miss 1." in blind.summary


def test_a_matrix_is_shown_line_by_line_and_in_words():
    found = matrix.matrix("conv2d_grad_bias")
    head, *lines, summary = repr(found).split("\n")
    assert head.startswith("columns: reference, central differences, ")
    assert len(lines) == len(found.rows) == len({*lines})
    assert "1  batch not summed                          ●●●●●○  ●●●○●●○" in lines
    assert summary.startswith(f"Of {len(found.rows)} wrong kernels, ")
    assert f"{len(found.missed('simulator'))} by the simulator;" in summary
    assert f"{len(found.missed('classroom test'))} with the classroom test." in summary


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("sum",), "operation = 'sum': it must be one of conv2d_grad_weight, conv2d_grad_input, conv2d_grad_bias"),
        (("conv2d_grad_input", "5_winograd"), "version = '5_winograd': .* has 1_gather, 2_shared_weights, 8_direct"),
        (("conv2d_grad_bias", "3_x"), "version = '3_x': conv2d_grad_bias has 1_thread_per_channel, 2_work"),
    ],
)
def test_what_has_no_matrix_is_refused(arguments, problem):
    with pytest.raises(ValueError, match=problem):
        matrix.matrix(*arguments)


# --- Problems and runs ------------------------------------------------------------------------------------


def test_a_guard_shows_in_the_numbers_what_is_0_without_it():
    run = gradient_oracles.Simulated(THREAD_PER_WEIGHT.edit("n < params.batch", "n <= params.batch"))
    guarded = gradient_oracles.good("conv2d_grad_weight")
    bare = gradient_oracles.no_guard(guarded)
    assert abs(run(guarded)).max() > LARGE
    assert np.array_equal(run(bare), gradient_oracles.Simulated(THREAD_PER_WEIGHT)(bare))
    assert run.findings(bare)
    assert not any("past" in found for found in run.findings(guarded))


every_layer = pytest.mark.parametrize(
    "shape", [gradient_oracles.GOOD, gradient_oracles.GENERAL], ids=["simple", "general"]
)


@every_layer
@pytest.mark.parametrize("operation", matrix.OPERATIONS)
def test_all_data_are_added_up_exactly(operation, shape):
    problem = gradient_oracles.good(operation, shape)
    magnitudes = {name: abs(array) for name, array in gradient_oracles.symmetric(problem).tensors.items()}
    (total,) = answer(OPERATIONS[operation], problem.shape, magnitudes)
    assert total.max() * 64 ** len(inputs_of(OPERATIONS[operation])) <= 2**24
    assert all((64 * array % 1 == 0).all() and (array % 1).any() for array in problem.tensors.values())


# --- One-hot probes ---------------------------------------------------------------------------------------


DEPTHWISE = ConvShape(2, 3, 5, 6, 6, 2, 3, (1, 2), (3, 0), (4, 2), groups=3)  # two filters for each channel


@pytest.mark.parametrize(
    "shape", [gradient_oracles.GOOD, gradient_oracles.GENERAL, DEPTHWISE], ids=["simple", "general", "depthwise"]
)
@pytest.mark.parametrize("operation", matrix.OPERATIONS)
def test_windows_cut_and_put_are_the_gradients_of_one_hot_gradients(operation, shape):
    tensors = {name: probes.numbered(shape.of(name)) for name in ("input", "weight")}
    for n, oh, ow in np.ndindex(shape.batch, shape.out_h, shape.out_w):
        places = [(n, 0, oh, ow), (0, shape.out_channels - 1, oh, 0)]
        upstream = probes.one_hot(shape.output, *places)
        (right,) = answer(OPERATIONS[operation], shape, tensors | {"grad_output": upstream})
        assert np.array_equal(probes.expected(operation, shape, tensors, places), right)


def test_a_probe_lists_the_pixels_that_a_kernel_reads():
    shape = probes.SHAPE
    right = probes.probe(THREAD_PER_WEIGHT, shape, 1, 2)
    assert right.tolist() == [[[[10, 11], [17, 18], [24, 25]]]]
    assert probes.probe(THREAD_PER_WEIGHT, shape, 0, 1).tolist() == [[[[0, 0], [1, 2], [8, 9]]]]  # 0 is padding


DIRECT = load("conv2d_grad_weight", "7_direct")
SPREAD = ConvShape(1, 4, 4, 6, 4, 2, 3, (1, 2), (1, 0), (3, 2), groups=2)  # channels of 24 pixels, two to a group


def test_a_probe_lists_the_pixels_under_a_dilated_filter_in_the_channels_of_its_group():
    first, last = (probes.probe(DIRECT, SPREAD, 1, 0, co=co) for co in (0, 3))
    assert first[0].tolist() == [[[1, 3, 5], [19, 21, 23]], [[25, 27, 29], [43, 45, 47]]]
    assert np.array_equal(last[3], first[0] + 2 * 24)
    assert not first[1:].any()
    assert not last[:3].any()
    assert probes.probe(DIRECT, SPREAD, 0, 0)[0, 0].tolist() == [[0, 0, 0], [13, 15, 17]]  # 0 is padding


@pytest.mark.parametrize(
    ("old", "new", "read"),
    [
        ("tap % KERNEL_W * DILATION_W", "tap % KERNEL_W", [[49, 50, 51], [67, 68, 69]]),
        ("tap / KERNEL_W * DILATION_H", "tap / KERNEL_W * DILATION_W", [[49, 51, 53], [61, 63, 65]]),
        ("co / GROUP_OUT * GROUP_IN + ci", "ci", [[1, 3, 5], [19, 21, 23]]),
    ],
)
def test_a_probe_shows_what_a_wrong_kernel_reads_for_a_general_layer(old, new, read):
    assert probes.probe(DIRECT, SPREAD, 1, 0, co=3)[3, 0].tolist() == [[49, 51, 53], [67, 69, 71]]
    assert probes.probe(DIRECT.edit(old, new), SPREAD, 1, 0, co=3)[3, 0].tolist() == read


def test_a_probe_of_a_version_that_does_not_take_the_layer_is_refused():
    with pytest.raises(ValueError, match=r"^conv2d_grad_weight/1_thread_per_weight: .*choose another version$"):
        probes.probe(THREAD_PER_WEIGHT, SPREAD, 1, 0)
