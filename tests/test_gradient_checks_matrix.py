"""Which oracle catches which wrong kernel: the facts that the lesson builds on, and that the matrix can show others."""

import importlib
import sys

import numpy as np
import pytest
from support.problems import GENERAL_VERSIONS
from support.sample import sample
from support.wgsl_programs import rows

from helpers import gradient_checks, load
from helpers.convolution.shapes import ConvShape
from helpers.gradient_checks import matrix, methods, probes
from helpers.gradient_checks.matrix import COLUMNS, POOR, WAYS
from helpers.gradient_checks.wrong_kernels import WEIGHT_1, WEIGHT_2, WRONG_KERNELS
from helpers.operations import OPERATIONS

RIGHT = [kernel.name for kernel in GENERAL_VERSIONS if kernel.name.partition("/")[0] in matrix.OPERATIONS]
EVERY_LAYER = "conv2d_grad_weight/7_direct", "conv2d_grad_input/8_direct", "conv2d_grad_bias/3_two_passes"
THREAD_PER_WEIGHT = load(*WEIGHT_1.split("/"))


# --- The matrix -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", sample([*RIGHT, *EVERY_LAYER], 4))
def test_no_column_accuses_a_right_kernel(name):
    assert matrix.judged(load(*name.split("/"))) == dict.fromkeys(COLUMNS, False)


@pytest.mark.parametrize("name", sample(["conv2d_grad_weight", "conv2d_grad_bias", *EVERY_LAYER], 2))
def test_each_wrong_kernel_is_caught_by_a_way_to_look(name):
    """Of an operation, those of the versions whose text is the same for each layer."""
    versions = [name] if "/" in name else [kernel for kernel in RIGHT if kernel.startswith(f"{name}/")]
    shown = matrix.matrix(*name.split("/"))
    assert [row.wrong for row in shown.rows] == [wrong for wrong in WRONG_KERNELS if wrong.kernel in versions]
    assert shown.cells[:, : len(WAYS)].any(axis=1).all()


OF_THE_INPUT = [wrong for wrong in WRONG_KERNELS if wrong.kernel in RIGHT and "grad_input" in wrong.kernel]


@pytest.mark.parametrize("wrong", sample(OF_THE_INPUT, 9), ids=str)
def test_each_wrong_kernel_of_the_input_gradient_is_caught_by_a_way_to_look(wrong):
    run, problem = methods.Simulated(matrix.shrunk(wrong.wrong)), methods.good("conv2d_grad_input")
    assert any(matrix.catches(way, run, problem) for way in WAYS.values())  # the first that does is enough


def test_poor_data_hide_mistakes_that_good_data_show_and_a_guard_is_what_most_mistakes_need():
    shown = matrix.matrix("conv2d_grad_weight")
    missed = {column: {*shown.missed(column)} for column in POOR}
    assert all(names > {*shown.missed("reference")} for names in missed.values())
    assert len(missed.pop("classroom test")) > 20
    assert max(missed, key=lambda column: len(missed[column])) == "no guard"


MISSED = """
1  batch not summed                batch 1, classroom test, simulator
1  filter flipped                  simulator, symmetric data
1  one padding for both axes       classroom test, simulator, square image
1  writes past the end             classroom test, no guard
1  added to what was there         classroom test, no guard, simulator
1  sum cut to a whole number       one-hot probes, simulator, whole numbers
1  loop over the batch never ends  nothing
2  tree stops at two               one-hot probes, simulator
2  no barrier in the tree          all but the simulator
"""


@pytest.mark.parametrize(
    ("kernel", "name", "missed"),
    rows(MISSED),
)
def test_what_misses_a_mistake(kernel, name, missed):
    version = WEIGHT_1 if kernel == "1" else WEIGHT_2
    (row,) = (row for row in matrix.matrix(*version.split("/")).rows if row.wrong.name == name)
    found = sorted(column for column, caught in row.caught.items() if not caught)
    missed = ", ".join(sorted({*COLUMNS} - {"simulator"})) if missed == "all but the simulator" else missed
    assert (", ".join(found) or "nothing") == missed


# --- One-hot probes ---------------------------------------------------------------------------------------


DEPTHWISE = ConvShape(2, 3, 5, 6, 6, 2, 3, (1, 2), (3, 0), (4, 2), groups=3)  # two filters for each channel


@pytest.mark.parametrize("shape", [methods.GOOD, methods.GENERAL, DEPTHWISE], ids=str)
@pytest.mark.parametrize("operation", matrix.OPERATIONS)
def test_windows_cut_and_put_are_the_gradients_of_one_hot_gradients(operation, shape):
    tensors = {name: probes.numbered(shape.of(name)) for name in ("input", "weight")}
    for n, oh, ow in np.ndindex(shape.batch, shape.out_h, shape.out_w):
        places = [(n, 0, oh, ow), (0, shape.out_channels - 1, oh, 0)]
        upstream = probes.one_hot(shape.output, *places)
        (right,) = OPERATIONS[operation].right(shape, tensors | {"grad_output": upstream})
        assert np.array_equal(probes.expected(operation, shape, tensors, places), right)


DIRECT = load("conv2d_grad_weight", "7_direct")
SPREAD = ConvShape(1, 4, 4, 6, 4, 2, 3, (1, 2), (1, 0), (3, 2), groups=2)  # channels of 24 pixels, two to a group


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


def test_what_saved_lessons_import_by_the_old_name_is_there():
    importlib.import_module("helpers.oracles")
    assert importlib.import_module("helpers.oracles.matrix").COLUMNS == COLUMNS
    assert sys.modules["helpers.oracles"] is gradient_checks
