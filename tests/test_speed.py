"""The speed ladder: its counts are the simulator's, its pictures are legible, and what is recorded says how."""

import re
from dataclasses import replace
from itertools import chain, product

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view
from support.legible import faults, written
from support.notebook_gate import NOTEBOOKS
from support.sample import at_night

from helpers.bench import recorded, report
from helpers.bench.candidates import Row
from helpers.bench.gpu_limits import H200, MACHINES
from helpers.bench.ladder import STEPS, WINOGRAD_BYTES, Step
from helpers.bench.layers import SHAPES, multiply_adds
from helpers.bench.recorded import Recorded
from helpers.bench.tile_sizes import TileSizes
from helpers.lessons.the_speed_ladder import explorers
from helpers.lessons.the_speed_ladder.indices import slice_of, taps_of_class
from helpers.lessons.the_speed_ladder.pictures.roofline import APART, DOT, RIGHT, RooflinePicture
from helpers.lessons.the_speed_ladder.traffic import Traffic, traffic
from helpers.operations.convolution.indices import taps_of_pixel
from helpers.operations.convolution.schedules import conv2d_grad_weight
from helpers.operations.convolution.shapes import ConvShape
from helpers.operations.gemm.indices import gemm_terms
from helpers.operations.harness import drawn, ones, operation_of, simulated
from helpers.operations.kernels import load
from helpers.operations.registry import OPERATIONS
from wgsl import Kernel
from wgsl.simulator.trace import Trace

TILED = load("gemm_bias_act", "2_tiled")
IN_REGISTERS = load("gemm_bias_act", "4_vec4_tiles").with_constants(TILE_M=64, TILE_N=64, TILE_K=4)

LESSON = (NOTEBOOKS / "08_the_speed_ladder.ipynb").read_text(encoding="utf-8")

# --- Who loads what -----------------------------------------------------------------------------------------


def wrong(seen: Traffic) -> list[str]:
    """The mistakes in the traffic of a product in tiles."""
    whole = {**seen.loaded, "results": seen.written}
    mistakes = [name for name, lists in whole.items() if sorted(chain(*lists)) != list(np.ndindex(seen.sizes[name]))]
    sizes = *seen.sizes["a"], seen.sizes["b"][1]
    for thread, cells in enumerate(seen.written):
        terms = [*chain.from_iterable(gemm_terms("pre", sizes, *cell) for cell in cells)]
        right = {"a": {term.left for term in terms}, "b": {term.right for term in terms}}
        for name in "ab":
            if seen.multiplied[name][thread] != right[name]:
                mistakes.append(f"thread {thread} reads other cells of {name}")
    return mistakes


TILES = {  # kernels, and the sizes of their tiles
    "one result": (TILED, TileSizes(16, 16, 16, 1)),
    "8 x 8 threads": (TILED.with_constants(TILE=8), TileSizes(8, 8, 8, 1)),
    "8 x 8 results": (IN_REGISTERS, TileSizes(64, 64, 4, 8)),
}


@pytest.mark.parametrize(("kernel", "sizes"), TILES.values(), ids=TILES)
def test_a_thread_reads_the_terms_of_its_results_each_number_is_loaded_once_and_that_is_what_tiles_cost(kernel, sizes):
    seen = traffic(kernel, sizes.rows, sizes.columns, sizes.depth)
    assert not wrong(seen)
    counted = seen.threads, seen.loads, seen.reads, seen.counts["multiply_adds"]
    assert counted == (sizes.threads, sizes.loads_a_turn, sizes.reads_a_turn, sizes.multiply_adds_a_turn)
    unused = 16 * kernel.value("PAD") * kernel.value("TILE_K") if "PAD" in kernel.code else 0  # behind a tile's rows
    assert kernel.workgroup_bytes - unused == sizes.workgroup_bytes


@pytest.mark.parametrize(
    ("old", "new", "mistake"),
    [
        ("left[row * TILE + i]", "left[column * TILE + i]", "reads other cells of a"),
        ("read_a(item, m, first + local.x)", "read_a(item, m, first)", "'a'"),
    ],
)
def test_other_traffic_would_be_seen(old, new, mistake):
    assert mistake in str(wrong(traffic(TILED.edit(old, new), 16, 16, 16)))


def test_bank_conflicts_are_as_many_as_the_lesson_says():
    counts = [explorers.who_loads(step=step).picture.shown[step - 1][1]().counts["bank_conflicts"] for step in (3, 4)]
    assert f"step 3 has {counts[0]:.0f} bank conflicts in a turn, and step 4 none." in LESSON
    assert counts[1] == 0


# --- Who sums what ------------------------------------------------------------------------------------------


def traces_of(kernel: Kernel, shape: ConvShape) -> list[Trace]:
    """A simulated run of each pass of a version."""
    operation = operation_of(kernel)
    return simulated(kernel, shape, drawn(operation, shape, ones), before=0)[1]


def test_slices_are_those_that_the_workgroups_of_split_k_read():
    shape, splits = ConvShape(1, 4, 9, 8, 64, 3, 3, 1, 1), 3
    trace, _ = traces_of(load("conv2d_grad_weight", "3_split_k").with_constants(SPLITS=splits), shape)
    read = trace.accesses[(trace.accesses["binding"] == 0) & ~trace.accesses["write"]]
    for split in range(splits):
        places = read["index"][read["workgroup"][:, 2] == split] % (9 * 8)
        assert {*(places // 16).tolist()} == {*slice_of(split, splits, -(-9 * 8 // 16))}


def test_the_kernel_takes_as_many_slices_as_the_lesson_says():
    (shape,) = (step.shape for step in STEPS if step.name == "split-K")
    splits = conv2d_grad_weight.split_k(shape, load("conv2d_grad_weight", "3_split_k")).constants["SPLITS"]
    workgroups = 9 * splits / H200.multiprocessors
    assert f"the kernel takes {splits} slices on this layer, which makes {workgroups:.0f} workgroups" in LESSON


@pytest.mark.parametrize(("kernel", "stride", "padding"), [(3, 2, 1), (5, 3, 2), (1, 2, 0)])
def test_the_taps_of_a_class_are_those_that_reach_its_pixels(kernel, stride, padding):
    shape = ConvShape(1, 1, 24, 24, 1, kernel, kernel, stride, padding)
    for ih, iw in product(range(6, 14), repeat=2):  # far from the edges
        rows, columns = (taps_of_class((i + padding) % stride, kernel, stride) for i in (ih, iw))
        reached = {(tap.kh, tap.kw) for tap in taps_of_pixel(shape, ih, iw)}
        assert reached == set(product(rows, columns))


def test_a_pixel_has_the_letter_of_the_taps_that_reach_it():
    """A pixel of an odd row and an odd column, counted with the padding of 1, is in class D."""
    picture = explorers.residue_classes().picture
    letters = [text for text in written(picture) if text in "ABCD"]
    rows = ["DCDCDCDC", "BABABABA"] * 4
    assert "".join(letters[:64]) == "".join(rows)


def test_winograds_outputs_are_those_of_the_direct_way():
    picture = explorers.winograd().picture
    windows = sliding_window_view(picture.grids["pixels"].values, (3, 3))
    np.testing.assert_allclose(picture.outputs, (windows * picture.grids["filter"].values).sum(axis=(2, 3)))


# --- The steps ----------------------------------------------------------------------------------------------


def test_the_tiles_of_a_step_are_those_of_its_kernel_on_its_layer():
    assert [step.tile.side for step in STEPS] == [1, 1, *[8] * 8]
    assert TILED.value("TILE") == STEPS[1].tile.rows
    for step in STEPS[2:]:
        operation = OPERATIONS[step.operation]
        kernel, _ = operation.scheduled(step.shape, operation.kernel(step.version))
        assert (step.tile.rows, step.tile.columns) == (kernel.value("TILE_M"), kernel.value("TILE_N"))
        assert step.tile.threads == kernel.threads(re.search(r"fn (multiply_\w+|main)\(", kernel.code)[1])


@at_night
def test_the_bytes_of_winograd_are_about_those_that_the_simulator_counts():
    """Without what does not grow with the images, and without the last pass."""
    kernel = load("conv2d_grad_weight", "4_winograd").with_constants(PARTS=1)

    def bytes_of(batch: int) -> int:
        *traces, _ = traces_of(kernel, ConvShape(batch, 64, 8, 8, 64, 3, 3, 1, 1))
        return sum(trace.counts.total["bytes_storage"] for trace in traces)

    few, many = bytes_of(4), bytes_of(8)
    assert (many - few) / 4 / (8 * 8 * 64 * 64 * 9) == pytest.approx(WINOGRAD_BYTES, rel=0.1)


# --- What is recorded -----------------------------------------------------------------------------------------

RATES = 3.1, 7.5, 31, 43, 45.7, 35.2, 31.6, 25.3, 58.7, 48.0  # TFLOP/s
METADATA = {"adapter": H200.name, "driver": "580.159.04", "date": "2026-11-22T05:00:00", "clock": "timestamps"}
METADATA |= {"command": "python -m helpers.bench", "commit": "abc", "library": "PyTorch CUDA", "ratios": []}


def row(step: Step, tflops: float, layer: str = "", name: str = "", kind: str = "version") -> Row:
    """A row as the benchmark has it."""
    layer = layer or step.layer
    microseconds = multiply_adds(step.operation, SHAPES[layer]) / tflops / 5e5
    return Row(step.operation, layer, name or step.version, kind, checked=step.checked, kernel_us=microseconds)


def run(*rows: Row, **metadata: str) -> Recorded:
    """These rows as the benchmark keeps them."""
    return Recorded(report.summary(METADATA | metadata, rows))


def ladder(share: float = 1) -> list[Row]:
    """All steps at a part of their rates, and the library on the layer of the first."""
    steps = [row(step, rate * share) for step, rate in zip(STEPS, RATES, strict=True)]
    return [*steps, row(STEPS[0], 50, name="PyTorch CUDA", kind="library")]


RUN = run(*ladder())


def test_every_step_is_recorded_on_a_machine_that_is_known():
    for recorded_run in recorded.recorded():
        assert recorded_run.adapter in MACHINES
        assert [point.step for point in recorded_run.points] == [*STEPS]


@pytest.mark.parametrize("name", [*recorded.METADATA, "library", "versions", "libraries"])
def test_a_run_that_does_not_say_how_it_was_measured_is_refused(name):
    with pytest.raises(ValueError, match=f"has no {name}: write it with"):
        Recorded({key: value for key, value in RUN.table.items() if key != name})


def test_a_point_has_its_step_its_speed_and_that_of_the_library(tmp_path):
    untimed = replace(row(STEPS[1], 1), kernel_us=None)
    report.write(tmp_path, METADATA, [*ladder(), untimed, row(STEPS[2], 1, kind="copy")])
    points = Recorded.read(tmp_path / "table.json").points
    assert [point.number for point in points] == list(range(1, 11))
    assert [point.tflops for point in points] == pytest.approx(RATES, rel=1e-4)
    assert points[0].ratio == pytest.approx(3.1 / 50, rel=1e-4)
    assert points[5].ratio is None
    assert run(*ladder()[2:3]).points[0].number == 3


def test_a_run_on_other_layers_has_no_points_of_the_ladder_but_nearest_ones():
    elsewhere = run(*(row(STEPS[0], rate, layer) for layer, rate in {"GEMM 256": 0.01, "GEMM 512": 0.02}.items()))
    assert [point.tflops for point in elsewhere.nearest] == pytest.approx([0.02], rel=1e-4)
    with pytest.raises(ValueError, match="no step of the ladder is recorded"):
        RooflinePicture(elsewhere)


@pytest.mark.parametrize("share", [None, 1e-3, 0.2])
def test_the_roofline_is_legible_and_every_number_stands_apart(share):
    """The reader's machine is measured or not, and has a share of the rates."""
    yours = run(*ladder(share), adapter="llvmpipe") if share else None
    picture = RooflinePicture(RUN, yours)
    for step in range(1, 11):
        assert not list(faults(picture.show(step))), step
    places = np.array([place for _, place in picture.placed])
    distances = np.hypot(*(places[:, None] - places[None]).T)
    assert distances[~np.eye(len(places), dtype=bool)].min() >= APART - 1
    assert ("yours" in written(picture)) == bool(share)


def test_the_roof_rises_with_the_memory_to_the_arithmetic():
    (x, low), *_, (right, high) = RooflinePicture(RUN).roofs
    assert (right, high) == (pytest.approx(RIGHT), RooflinePicture(RUN).y(H200.tflops))
    assert x < right
    assert low > high + 100  # CSS pixels point down


def test_each_number_of_the_recorded_run_is_nearest_to_its_own_point():
    picture = RooflinePicture(recorded.recorded()[-1])
    points = np.array([picture.place(point) for point, _ in picture.placed])
    for point, (_, number) in zip(points, picture.placed, strict=True):
        others = points[np.hypot(*(points - point).T) > DOT]  # not those that it covers
        assert np.hypot(*(others - number).T).min() > np.hypot(*(point - number))
