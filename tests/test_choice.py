"""The rule that chooses a version, held against the table that was measured on a real GPU."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

import helpers.convolution.choice as rule
from helpers import gpu, specialize
from helpers.convolution.schedules import conv2d
from helpers.convolution.shapes import ConvShape
from helpers.gemm.shapes import GemmShape
from helpers.gpu.operation import Choice
from helpers.operations import OPERATIONS
from helpers.specialize import MOST_CHARACTERS
from helpers.speed.layers import SHAPES

RECORDED = json.loads((Path(rule.__file__).parents[1] / "speed" / "recorded" / "nvidia_h200.json").read_text())
HARDWARE = replace(gpu.adapter_info(), kind="hardware")
WINDOWS, LARGE = "4_register_windows", ConvShape(32, 256, 14, 14, 256, 3, 3, 1, 1)
SLACK = 1.25  # the chosen version may take this many times as long as the fastest one: a rule of a few thresholds


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


def test_a_gpu_gets_small_tiles_of_windows():
    """A driver takes minutes to compile the text of a tile that is right for a software adapter."""
    kernel, sums = OPERATIONS["conv2d"].kernel(WINDOWS), {}
    for kind in ("software", "hardware"):
        sizes = conv2d.register_windows(LARGE, kernel, replace(HARDWARE, kind=kind)).constants
        sums[kind] = sizes["CHANNELS"] * sizes["ROWS"] * sizes["QUADS"]
    assert sums["hardware"] == 2 < sums["software"]


@pytest.mark.parametrize("name", ["conv2d/4_register_windows", "gemm_bias_act_backward/4_registers_only"])
def test_a_large_layer_gets_the_fastest_tile_of_which_the_text_is_short_enough(name):
    operation, version = OPERATIONS[name.split("/")[0]], name.split("/")[1]
    layer = LARGE if "conv2d" in name else GemmShape(512, 512, 512)
    text, schedule = operation.scheduled(layer, operation.kernel(version))
    assert schedule.refused is None
    assert MOST_CHARACTERS / 2 < len(text.source) <= MOST_CHARACTERS


def test_a_version_refuses_a_layer_for_which_its_text_would_be_too_long_and_the_next_one_is_chosen(monkeypatch):
    wanted = OPERATIONS["conv2d"].kernel(WINDOWS).with_constants(ROWS=14, CHANNELS=8)
    assert "characters: it may have at most 100,000" in OPERATIONS["conv2d"].problem(LARGE, wanted)
    monkeypatch.setattr(specialize, "MOST_CHARACTERS", 8_000)
    choices = [Choice(WINDOWS, "it is fast"), Choice("5_direct", "it is short")]
    operation = replace(OPERATIONS["conv2d"], choose=lambda shape, adapter: choices)
    assert operation.explain_choice(LARGE).startswith(f"conv2d takes 5_direct: it is short ({WINDOWS} comes first, but")


def test_more_sums_than_threads_to_write_them_are_refused():
    layer, operation = ConvShape(1, 1, 5, 5, 1, 3, 3), OPERATIONS["conv2d_grad_weight"]
    assert operation.scheduled(layer, operation.kernel("7_direct").with_constants(THREADS=4))[1].constants["TAPS"] == 3
    refused = operation.problem(layer, operation.kernel("7_direct").with_constants(THREADS=4, TAPS=5))
    assert refused == (
        "conv2d_grad_weight/7_direct: TAPS = 5: a thread writes each sum, so it may be at most THREADS = 4"
    )
