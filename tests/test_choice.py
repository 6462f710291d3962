"""The rule that chooses a version, held against the table that was measured on a real GPU."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import helpers.convolution.choice as rule
from helpers import gpu
from helpers.convolution.schedules import register_windows
from helpers.convolution.shapes import ConvShape
from helpers.operations import OPERATIONS
from helpers.speed.layers import SHAPES

RECORDED = json.loads((Path(rule.__file__).parents[1] / "speed" / "recorded" / "nvidia_h200.json").read_text())
HARDWARE = replace(gpu.adapter_info(), kind="hardware")
SLACK = 1.25  # the chosen version may take so many times as long as the fastest one: a rule of a few thresholds


def measured() -> dict[tuple[str, str], dict[str, float]]:
    """Microseconds of each version, for each operation and layer."""
    return {
        (operation, layer): {name: took for name, took in times.items() if name in OPERATIONS[operation].versions}
        for operation, layers in RECORDED["versions"].items()
        for layer, times in layers.items()
    }


def chosen(operation: str, layer: str, times: dict[str, float]) -> str:
    """The first choice that could run on the layer when it was measured."""
    choices = OPERATIONS[operation].choose(SHAPES[layer], HARDWARE)
    return next(each.version for each in choices if each.version in times)


@pytest.mark.parametrize(("operation", "layer"), measured(), ids=str)
def test_on_every_measured_layer_the_choice_is_about_the_fastest(operation, layer):
    times = measured()[operation, layer]
    taken = chosen(operation, layer, times)
    assert times[taken] <= SLACK * min(times.values()), f"{taken}: {times}"


def test_a_wrong_threshold_is_noticed(monkeypatch):
    monkeypatch.setattr(rule, "WINOGRAD_CHANNELS", 10_000)
    slow = [key for key, times in measured().items() if times[chosen(*key, times)] > SLACK * min(times.values())]
    assert len(slow) >= 5


def test_a_gpu_gets_small_tiles_of_windows(monkeypatch):
    """A driver takes minutes to compile the text of a tile that is right for a software adapter."""
    layer, operation = ConvShape(32, 256, 14, 14, 256, 3, 3, 1, 1), OPERATIONS["conv2d"]
    sums = {}
    for kind in ("software", "hardware"):
        monkeypatch.setattr(register_windows, "adapter_info", lambda kind=kind: replace(HARDWARE, kind=kind))
        sizes = register_windows.forward(layer, operation.kernel("4_register_windows")).constants
        sums[kind] = sizes["CHANNELS"] * sizes["ROWS"] * sizes["QUADS"]
    assert sums["hardware"] == 2 < sums["software"]


def test_more_sums_than_threads_to_write_them_are_refused():
    layer, operation = ConvShape(1, 1, 5, 5, 1, 3, 3), OPERATIONS["conv2d_grad_weight"]
    assert operation.scheduled(layer, operation.kernel("7_direct").with_constants(THREADS=4))[1].constants["TAPS"] == 3
    refused = operation.problem(layer, operation.kernel("7_direct").with_constants(THREADS=4, TAPS=5))
    assert refused == (
        "conv2d_grad_weight/7_direct: TAPS = 5: a thread writes each sum, so it may be at most THREADS = 4"
    )
