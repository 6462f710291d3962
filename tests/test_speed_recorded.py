"""The ladder's steps are versions that are timed, what is recorded says how, and the roofline shows all of it."""

import json
import re
from dataclasses import asdict
from math import prod

import numpy as np
import pytest
from support.legible import faults, written

from helpers.bench.contender import Row
from helpers.bench.layers import LAYERS
from helpers.convolution.shapes import ConvShape
from helpers.operations import OPERATIONS
from helpers.simulator.run import simulate
from helpers.speed import recorded
from helpers.speed.ladder import STEPS, WINOGRAD_BYTES, Step
from helpers.speed.machine import H200, MACHINES
from helpers.speed.pictures.roofline import APART, DOT, RooflinePicture
from helpers.speed.recorded import Recorded
from helpers.wgsl import load, versions

# --- The steps ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_a_step_is_a_version_of_an_operation_on_a_layer_of_the_benchmark(step):
    assert step.version in versions(step.operation)
    assert step.before in ("", *versions(step.operation))
    assert step.limit in ("", "bytes", "arithmetic", "latency", "occupancy")
    (layer,) = (layer for layer in LAYERS if layer.name == step.layer)
    assert (layer.name, layer.shape) == step.layer_and_shape
    operation = OPERATIONS[step.operation]
    assert operation.name in layer.operations
    assert operation.versions[step.version](layer.shape, operation.kernel(step.version)).refused is None


def test_the_tiles_of_a_step_are_those_of_its_kernel_on_its_layer():
    assert [step.tile.side for step in STEPS] == [1, 1, *[8] * 8]
    assert load("gemm_bias_act", "2_tiled").value("TILE") == STEPS[1].tile.rows
    for step in STEPS[2:]:
        operation = OPERATIONS[step.operation]
        kernel, _ = operation.scheduled(step.layer_and_shape[1], operation.kernel(step.version))
        assert (step.tile.rows, step.tile.columns) == (kernel.value("TILE_M"), kernel.value("TILE_N"))
        assert step.tile.threads == kernel.threads(
            re.search(r"fn multiply_\w+(?=\()|fn main(?=\()", kernel.code)[0][3:]
        )


def test_the_bytes_of_winograd_are_about_those_that_the_simulator_counts():
    """Without what does not grow with the images, and without the last pass."""
    operation, version = OPERATIONS["conv2d_grad_weight"], "4_winograd"
    bytes = dict.fromkeys((4, 8), 0)
    for batch in bytes:
        shape = ConvShape(batch, 64, 8, 8, 64, 3, 3, 1, 1)
        kernel = operation.kernel(version).with_constants(PARTS=1)
        kernel, schedule = operation.scheduled(shape, kernel)
        sizes = [*(prod(shape.of(name)) for name in operation.tensors), *(n // 4 for n in schedule.scratch.values())]
        buffers = [np.zeros(size, np.float32) for size in sizes]
        for step in schedule.steps[:-1]:
            trace = simulate(kernel, buffers, step.workgroups, entry_point=step.entry_point, outputs=[])
            bytes[batch] += trace.counts.total["bytes_storage"]
    per_image = (bytes[8] - bytes[4]) / 4
    assert per_image / (8 * 8 * 64 * 64 * 9) == pytest.approx(WINOGRAD_BYTES, rel=0.1)


# --- What is recorded -----------------------------------------------------------------------------------------


def row(step: Step, tflops: float, **other: object) -> dict[str, object]:
    """A row as the benchmark writes it."""
    found = asdict(Row(step.operation, step.layer, step.version, "version", checked=step.checked))
    return found | {"kernel_us": 1e3 / tflops, "rate": 1e3 * tflops, "unit": "GFLOP/s"} | other


RATES = 3.1, 7.5, 31, 43, 45.7, 35.2, 31.6, 25.3, 58.7, 48.0
LIBRARY = {"kernel_us": 20.0, "name": "PyTorch CUDA", "kind": "library"}
ROWS = [row(step, rate) for step, rate in zip(STEPS, RATES, strict=True)] + [row(STEPS[0], 1, **LIBRARY)]
ABOUT = {"adapter": H200.name, "driver": "580.159.04", "date": "2026-11-22T05:00:00", "clock": "1980 MHz"}
RUN = ABOUT | {"command": "python -m helpers.bench", "library": "PyTorch CUDA", "rows": ROWS}


def test_what_is_recorded_can_be_read_and_says_how_it_was_measured():
    for found in recorded.recorded():
        assert found.points
        assert found.adapter in MACHINES
        assert all(point.microseconds > 0 < point.tflops for point in found.points)


@pytest.mark.parametrize("name", [*recorded.ABOUT, "rows"])
def test_a_run_that_does_not_say_how_it_was_measured_is_refused(name):
    with pytest.raises(ValueError, match=f"recorded has no {name}: write it with python -m helpers.bench"):
        Recorded({key: value for key, value in RUN.items() if key != name})


def test_a_row_without_a_time_is_refused_and_one_without_a_measurement_left_out():
    with pytest.raises(ValueError, match="recorded has no rows: kernel_us"):
        Recorded(RUN | {"rows": [{key: value for key, value in ROWS[0].items() if key != "kernel_us"}]})
    assert [p.number for p in Recorded(RUN | {"rows": [ROWS[0] | {"kernel_us": None}, ROWS[2]]}).points] == [3]


def test_a_point_has_its_step_its_speed_and_that_of_the_library(tmp_path):
    path = tmp_path / "run.json"
    path.write_text(json.dumps(RUN))
    found = Recorded.read(path)
    assert [point.number for point in found.points] == list(range(1, 11))
    assert found.points[0].ratio == pytest.approx(20 * 3.1 / 1e3)
    assert found.points[5].ratio is None
    assert found.points[9].tflops == 48.0  # without checks, and not step 5's


def test_a_run_on_other_layers_has_no_points_of_the_ladder_but_nearest_ones():
    rows = [row(STEPS[0], rate, layer=layer) for layer, rate in {"GEMM 128": 0.01, "GEMM 512": 0.02}.items()]
    found = Recorded(RUN | {"rows": rows})
    assert found.points == []
    assert [point.tflops for point in found.nearest] == [0.02]


@pytest.mark.parametrize("own", [None, 1e-3, 0.2])
def test_the_roofline_is_legible_and_every_number_stands_apart(own):
    other = own and Recorded(
        RUN | {"adapter": "llvmpipe", "rows": [each | {"rate": each["rate"] * own} for each in ROWS]}
    )
    picture = RooflinePicture(Recorded(RUN), other)
    for step in range(1, 11):
        assert not list(faults(picture.show(step))), step
    places = np.array(picture._placed([*picture.points, *picture.others]))
    distances = np.hypot(*(places[:, None] - places[None]).T)
    assert distances[~np.eye(len(places), dtype=bool)].min() >= APART - 1
    assert ("yours" in written(picture)) == bool(own)


def test_each_number_of_the_recorded_run_is_nearest_to_its_own_point():
    picture = RooflinePicture(recorded.recorded()[-1])
    points = np.array([picture._place(point) for point, _ in picture.placed])
    for own, (_, number) in zip(points, picture.placed, strict=True):
        others = points[np.hypot(*(points - own).T) > DOT]  # not those that it covers
        assert np.hypot(*(others - number).T).min() > np.hypot(*(own - number))


def test_a_step_is_said_with_what_limited_the_step_before():
    picture = RooflinePicture(Recorded(RUN))
    assert picture.show(3).sentence == (
        "Step 3, register tile: 16 operations for each byte loaded, 46 % of the recorded GPU's arithmetic. "
        "What limited 2_tiled: bytes. Two reads of workgroup memory for each multiply-add."
    )
    assert picture.show(1).sentence == (
        "Step 1, naive: 0.2 operations for each byte loaded, 5 % of the recorded GPU's arithmetic."
    )


def test_a_picture_of_nothing_is_refused():
    with pytest.raises(ValueError, match="no step of the ladder is recorded"):
        RooflinePicture(Recorded(RUN | {"rows": []}))


# --- What the lesson says of a step ---------------------------------------------------------------------------


def test_a_step_is_compared_with_the_hardware_the_step_before_and_the_library(monkeypatch):
    monkeypatch.setattr(recorded, "recorded", lambda: [Recorded(RUN)])
    peak = 100 / H200.tflops
    assert repr(recorded.measured("naive")) == (
        f"step 1, naive (GEMM 4096)\n  {3.1 * peak:.1f} % of the arithmetic\n  the library takes 0.06 times as long"
    )
    assert repr(recorded.measured("checks off")) == (
        f"step 10, checks off (GEMM 4096)\n  {48 * peak:.0f} % of the arithmetic\n  1.05 times as fast as 5_prefetch\n"
        "  the library takes 0.96 times as long"
    )
    assert recorded.measured("implicit GEMM").gain is None
    assert recorded.measured("Winograd").gain == pytest.approx(58.7 / 31.6)


def test_a_step_that_is_not_recorded_is_refused(monkeypatch):
    monkeypatch.setattr(recorded, "recorded", list)
    with pytest.raises(ValueError, match="name = 'naive': nothing is recorded; the steps are naive, shared tile"):
        recorded.measured("naive")


@pytest.mark.parametrize("step", STEPS, ids=lambda step: step.name)
def test_every_step_is_recorded(step):
    assert recorded.measured(step.name).share > 0
