"""The rule that chooses a version, held against the table that was measured on a real GPU."""

import json
from dataclasses import replace
from functools import cache
from itertools import product

import pytest
from support.problem_lists import by_name, listed
from support.problems import every_specialized_version, kind_for, kind_of, refused, require_close

import helpers.operations.convolution.choice as rule
import helpers.operations.gemm.choice as gemm_rule
from helpers import gpu
from helpers.bench import recorded
from helpers.bench.layers import SHAPES
from helpers.gpu import GpuError, passes
from helpers.operations import operation as launcher
from helpers.operations.convolution.schedules import conv2d, shared
from helpers.operations.convolution.shapes import ConvShape
from helpers.operations.gemm.schedules.gemm_bias_act_backward import registers_only
from helpers.operations.gemm.shapes import GemmShape
from helpers.operations.harness import operation_of
from helpers.operations.registry import OPERATIONS
from wgsl import specialize
from wgsl.specialize import MOST_CHARACTERS

RECORDED = json.loads((recorded.FOLDER / "nvidia_h200.json").read_text())
HARDWARE = replace(gpu.adapter_info(), kind="hardware")
IN_A_BROWSER = replace(gpu.adapter_info(), kind="software", backend="WebGPU in this browser")
WINDOWS = "4_register_windows"
LARGE = ConvShape(32, 256, 14, 14, 256, 3, 3, 1, 1)
SLACK = 1.25  # the chosen version may take this many times as long as the fastest one: a rule of a few thresholds


def of_versions(operation: str, times: dict[str, float]) -> dict[str, float]:
    """The times of the versions that there still are."""
    return {name: time for name, time in times.items() if name in OPERATIONS[operation].versions}


MEASURED = {}  # microseconds of each version, for each operation and layer
for operation, layers in RECORDED["versions"].items():
    for layer, times in layers.items():
        MEASURED[operation, layer] = of_versions(operation, times)


def slowdown(operation: str, layer: str) -> float:
    """The time of the choice, as a multiple of the fastest version's.

    The choice is the first one that could run when the layer was measured.
    """
    times = MEASURED[operation, layer]
    choices = OPERATIONS[operation].choose(SHAPES[layer], HARDWARE)
    chosen = next(times[choice.version] for choice in choices if choice.version in times)
    return chosen / min(times.values())


@pytest.mark.parametrize(("operation", "layer"), MEASURED, ids=str)
def test_on_every_measured_layer_the_choice_is_about_the_fastest(operation, layer):
    assert slowdown(operation, layer) <= SLACK


SMALL_LAYERS = ConvShape(2, 3, 9, 8, 4, 3, 3, 1, 1), ConvShape(2, 3, 9, 8, 4, 3, 3, 2, 1), GemmShape(20, 12, 24)


@every_specialized_version
def test_a_software_adapter_in_a_browser_gets_the_sizes_but_no_loop_written_out(kernel, monkeypatch):
    monkeypatch.setattr(launcher, "adapter_info", lambda: IN_A_BROWSER)
    monkeypatch.setattr(launcher, "_planned", launcher._planned.__wrapped__)  # nothing is cached
    layer = next(s for s in SMALL_LAYERS if isinstance(s, kind_of(kernel)) and not refused(kernel, s))
    text, schedule = operation_of(kernel).scheduled(layer, kernel)
    assert text.code.count("for (") == kernel.code.count("for (")
    assert {name: text.value(name) for name in schedule.constants} == schedule.constants
    require_close(kernel, layer)


# --- What the choice refuses --------------------------------------------------------------------------------

LARGE_PROBLEMS = by_name("large problems")
ADAPTERS = {
    "hardware": HARDWARE,
    "software": replace(HARDWARE, kind="software"),
    "simulated": replace(HARDWARE, kind="software", backend="WebGPU, simulated"),
}


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("adapter", ADAPTERS)
@pytest.mark.parametrize("cap", [None, passes.CAP], ids=["no cap", "cap"])
def test_a_call_is_refused_only_if_every_version_refuses_it(operation, adapter, cap, monkeypatch):
    operation, adapter = OPERATIONS[operation], ADAPTERS[adapter]
    monkeypatch.setattr(passes, "loop_cap", lambda: cap)
    monkeypatch.setattr(launcher, "adapter_info", lambda: adapter)
    monkeypatch.setattr(shared, "adapter_info", lambda: adapter)
    monkeypatch.setattr(launcher, "_planned", cache(launcher._planned.__wrapped__))  # of this adapter and this cap
    monkeypatch.setattr(launcher, "_chosen", launcher._chosen.__wrapped__)
    for shape in LARGE_PROBLEMS.get(kind_for(operation).__name__, operation.examples):
        able = [version for version in operation.versions if operation.problem(shape, version) is None]
        if able:
            assert operation.plan(shape).passes[0].kernel.version in able, shape
            assert operation.explain_choice(shape)
        else:
            with pytest.raises(GpuError):
                operation.plan(shape)


def test_where_no_version_takes_a_problem_the_nearest_one_says_why(monkeypatch):
    """One that takes such a layer, and not the first one, which has no activation at any size."""
    too_long = ConvShape(1, 70_000, 1, 1, 1, 1, 1, activation="relu")
    teaching, direct = "1_thread_per_output", "5_direct"
    two = {name: OPERATIONS["conv2d"].versions[name] for name in (teaching, direct)}
    operation = replace(OPERATIONS["conv2d"], versions=two, choose=lambda shape, adapter: [])
    monkeypatch.setattr(passes, "loop_cap", lambda: passes.CAP)
    monkeypatch.setattr(launcher, "_planned", launcher._planned.__wrapped__)
    with pytest.raises(GpuError, match=r"^no version of conv2d can run this here: conv2d/5_direct: a thread may loop"):
        operation.plan(too_long)


# Microseconds on the same GPU, of layers that are not in the record, and of the versions that take them.
FORWARD, BACKWARD = "gemm_bias_act", "gemm_bias_act_backward"
FULLY_CONNECTED = {  # LeNet's, with 32 and with 256 rows, and others
    layer: {FORWARD: forward, BACKWARD: backward} for layer, forward, backward in listed("fully connected layers")
}


def layer_slowdown(operation: str, layer: GemmShape) -> float:
    """The time of the version that is chosen, as a multiple of the fastest one's."""
    times = FULLY_CONNECTED[layer][operation]
    chosen = OPERATIONS[operation].choose(layer, HARDWARE)[0].version
    return times[chosen] / min(times.values())


@pytest.mark.parametrize("operation", [FORWARD, BACKWARD])
@pytest.mark.parametrize("layer", FULLY_CONNECTED, ids=str)
def test_a_fully_connected_layer_gets_its_fastest_version(layer, operation):
    assert layer_slowdown(operation, layer) == 1


@pytest.mark.parametrize("value", [5_000, 300_000])
def test_a_wrong_threshold_of_elements_is_noticed(monkeypatch, value):
    monkeypatch.setattr(gemm_rule, "SMALL", value)
    slowdowns = [layer_slowdown(name, layer) for name, layer in product((FORWARD, BACKWARD), FULLY_CONNECTED)]
    assert sum(slowdown > 1.25 for slowdown in slowdowns) >= 2


def test_a_wrong_threshold_is_noticed(monkeypatch):
    monkeypatch.setattr(rule, "WINOGRAD_CHANNELS", 10_000)
    assert sum(slowdown(*key) > SLACK for key in MEASURED) >= 5


@pytest.mark.parametrize(("kernel_h", "kernel_w", "fits"), [(8, 8, True), (1, 64, True), (5, 13, False)])
def test_windows_in_registers_take_filters_of_up_to_64_weights(kernel_h, kernel_w, fits):
    refusal = shared.windows_rule(ConvShape(1, 1, 70, 70, 1, kernel_h, kernel_w))
    assert (refusal == "") == fits
    assert fits or "= 65 weights" in refusal


def test_a_gpu_gets_small_tiles_of_windows():
    """A driver takes minutes to compile the text of a tile that is right for a software adapter."""
    sums = []
    for kind in ("hardware", "software"):
        adapter = replace(HARDWARE, kind=kind)
        sizes = conv2d.register_windows(LARGE, OPERATIONS["conv2d"].kernel(WINDOWS), adapter).constants
        sums.append(sizes["CHANNELS"] * sizes["ROWS"] * sizes["VEC4S"])
    assert sums[0] == 2 < sums[1]


@pytest.mark.parametrize(
    ("operation", "version", "layer"),
    [("conv2d", WINDOWS, LARGE), ("gemm_bias_act_backward", "4_registers_only", GemmShape(512, 512, 512))],
)
def test_a_large_layer_gets_the_fastest_tile_of_which_the_text_is_short_enough(operation, version, layer):
    kernel = OPERATIONS[operation].kernel(version)
    if version == WINDOWS:
        schedule = conv2d.register_windows(layer, kernel, replace(HARDWARE, kind="software"))
    else:
        schedule = registers_only(layer, kernel)
    assert schedule.refused is None
    text = specialize.specialize(kernel, schedule.constants).source
    assert MOST_CHARACTERS / 2 < len(text) <= MOST_CHARACTERS
