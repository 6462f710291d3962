"""The speed ladder's counts are the simulator's, and what is recorded says how it was measured."""

import re
from dataclasses import replace
from itertools import chain

import numpy as np
import pytest
from support.sample import at_night

from helpers.bench import recorded, report
from helpers.bench.candidates import Row
from helpers.bench.gpu_limits import H200, MACHINES
from helpers.bench.ladder import STEPS, WINOGRAD_BYTES, Step
from helpers.bench.layers import SHAPES, multiply_adds
from helpers.bench.recorded import Recorded
from helpers.bench.tile_sizes import TileSizes
from helpers.lessons.the_speed_ladder.traffic import Traffic, traffic
from helpers.operations.convolution.shapes import ConvShape
from helpers.operations.gemm.indices import gemm_terms
from helpers.operations.harness import drawn, ones, operation_of, simulated
from helpers.operations.kernels import load
from helpers.operations.registry import OPERATIONS
from wgsl import Kernel
from wgsl.simulator.trace import Trace

TILED = load("gemm_bias_act", "2_tiled")
IN_REGISTERS = load("gemm_bias_act", "4_vec4_tiles").with_constants(TILE_M=64, TILE_N=64, TILE_K=4)

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


# --- The steps ----------------------------------------------------------------------------------------------


def test_the_tiles_of_a_step_are_those_of_its_kernel_on_its_layer():
    assert [step.tile.side for step in STEPS] == [1, 1, *[8] * 8]
    assert TILED.value("TILE") == STEPS[1].tile.rows
    for step in STEPS[2:]:
        operation = OPERATIONS[step.operation]
        kernel, _ = operation.scheduled(step.shape, operation.kernel(step.version))
        assert (step.tile.rows, step.tile.columns) == (kernel.value("TILE_M"), kernel.value("TILE_N"))
        assert step.tile.threads == kernel.threads(re.search(r"fn (multiply_\w+|main)\(", kernel.code)[1])


def traces_of(kernel: Kernel, shape: ConvShape) -> list[Trace]:
    """A simulated run of each pass of a version."""
    operation = operation_of(kernel)
    return simulated(kernel, shape, drawn(operation, shape, ones), before=0)[1]


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
