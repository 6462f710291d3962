"""The launcher: the expected adapter, portable limits, passes in their order, clear refusals, timings."""

import os
import sys
from dataclasses import replace
from itertools import count

import numpy as np
import pytest
import wgpu
from support.launcher import adder, numbers, python

import helpers
from helpers import gpu
from helpers.gpu import GpuError, Pass, buffers, timing
from helpers.gpu.adapter import PORTABLE_LIMITS, SETTINGS, AdapterInfo
from helpers.gpu.zeros import with_zeros
from wgsl import Kernel, WgslError

ONE = (1, 1, 1)  # workgroup


def adding(amount: int, data: wgpu.GPUBuffer | None = None, **more: object) -> Pass:
    """A pass that adds an amount to 64 numbers."""
    return Pass(adder(amount), (data or numbers(),), ONE, **more)


def values(data: wgpu.GPUBuffer) -> set[float]:
    """The different ones among 64 numbers."""
    return {*gpu.read(data, (64,)).tolist()}


# --- Beside PyTorch -----------------------------------------------------------------------------------------

TRITON = {
    "import sys\nprint('Triton, wgpu' if 'wgpu' in sys.modules else 'Triton')": "Triton\nadapter\n",
    "raise OSError('a library is missing')": "adapter\n",
}


@pytest.mark.parametrize(("text", "printed"), TRITON.items(), ids=["right", "broken"])
def test_triton_is_loaded_before_any_driver_and_may_be_broken(tmp_path, text, printed):
    """Loaded after a software driver, it ends the process; that a real one is not is shown in `test_torch.py`."""
    (tmp_path / "triton.py").write_text(text, encoding="utf-8")
    code = "from helpers import gpu; gpu.adapter(); print('adapter')"
    assert python(code, PYTHONPATH=str(tmp_path)) == printed


# --- The adapter --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("backend", "kind", "expected"),
    [
        ("Vulkan", "hardware", set()),
        ("Vulkan", "software", {"few_threads"}),
        ("WebGPU", "hardware", set()),
        ("WebGPU", "software", {"few_threads", "compiles_slowly"}),
        ("WebGPU, simulated", "software", {"compiles_slowly", "simulated"}),
    ],
)
def test_what_is_known_of_an_adapter_follows_from_its_backend_and_its_kind(backend, kind, expected):
    adapter = AdapterInfo("an adapter", backend, kind, "its driver", {})
    assert {name for name in ("few_threads", "compiles_slowly", "simulated") if getattr(adapter, name)} == expected
    assert ("its driver" in adapter.summary) == adapter.compiles_slowly


# --- A var without a value ------------------------------------------------------------------------------

WITHOUT_VALUE = {  # in a loop over i, each of these begins with 0 every time
    "a number": "var s: f32; s += 1.0; output[i] = s;",
    "the variable of an inner loop": "for (var j: u32; j < 3u; j++) { output[i] += 1.0; }",
    "an array, in other words": "var j = 0; while (j < 2) { j++; var <function> a: /* all */ array<f32, N>  // of N\n;"
    " a[N - 1u] += 1.0; output[i] = a[N - 1u]; }",
    "a struct in a block": "if (i < 9u) { var two: Two; two.y.x += 1.0; output[i] = two.y.x; }",
    "a truth": "var was: bool; if (!was) { output[i] = 1.0; } was = true;",
    "a number in a function": "output[i] = one();",
}


@pytest.mark.parametrize("what", WITHOUT_VALUE)
def test_a_var_without_a_value_is_0_in_each_iteration(what):
    text = f"""struct Two {{ x: f32, y: vec2f }}
const N = 2u;
@group(0) @binding(0) var<storage, read_write> output: array<f32>;
fn one() -> f32 {{ var s: f32; s += 1.0; return s; }}
@compute @workgroup_size(1) fn main() {{
  for (var i = 0u; i < 4u; i++) {{ {WITHOUT_VALUE[what]} }}
}}"""
    before = [np.zeros(4, np.float32)]
    assert np.array_equal(gpu.launch(text, before), helpers.simulate(text, before, ONE).buffers[0])
    assert with_zeros(text).count("\n") == text.count("\n")
    assert (with_zeros(text) == text) == (what == "a number in a function")


def test_a_text_that_cannot_be_read_goes_to_the_adapter_as_it_is():
    for text in ("for (;;) { var s: f32; }", "fn main() { loop { var s: f32; s = @; } }"):
        assert with_zeros(text) == text


# --- The adapter under test -----------------------------------------------------------------------------


def test_the_adapter_is_the_expected_one():
    expected = os.environ.get("CONVGRAD_EXPECT_ADAPTER", "")
    if not expected:
        assert not os.environ.get("CI"), "CI must say which adapter it expects"
        return
    summary = gpu.adapter().summary
    assert expected in summary
    assert summary.endswith("via Vulkan")


def test_an_adapter_that_does_not_exist_is_an_error_that_lists_those_that_do():
    code = "from helpers import gpu\ntry: gpu.adapter()\nexcept gpu.GpuError as error: print(error)"
    printed = python(code, WGPUPY_WGPU_ADAPTER_NAME="nosuch")
    assert printed.startswith("WGPUPY_WGPU_ADAPTER_NAME=nosuch: no adapter matches; this machine has ")
    assert gpu.adapter().summary in printed


NO_SUCH_NAME = "no backend has this name; choose one of Vulkan, Metal, D3D12, OpenGL"
OF_ANOTHER_SYSTEM = "D3D12" if sys.platform == "linux" else "OpenGL"


@pytest.mark.parametrize(
    ("backend", "reason"),
    [
        ("Vulkn", NO_SUCH_NAME),
        ("vulkan", NO_SUCH_NAME),
        (OF_ANOTHER_SYSTEM, "no adapter matches; this machine has .+ via "),
    ],
)
def test_a_backend_that_does_not_exist_is_refused(backend, reason, monkeypatch):
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("WGPU_BACKEND_TYPE", backend)
    with pytest.raises(gpu.GpuError, match=f"^WGPU_BACKEND_TYPE={backend}: {reason}"):
        gpu.adapter.__wrapped__()


def test_adapter_info_has_one_line_for_each_fact():
    info = gpu.adapter_info()
    assert [line.split()[0] for line in repr(info).split("\n")] == ["adapter", "backend", "kind", "driver"]
    assert info.summary == f"{info.name} via {info.backend} ({info.kind})"
    assert "not a GPU's" in repr(replace(info, kind="software"))
    assert "fell back" in repr(replace(info, backend="OpenGL"))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_is_asked_to_spawn():
    code = """
import os
from helpers import gpu
gpu.device()
child = os.fork()
if child == 0:
    try: gpu.device()
    except gpu.GpuError as error: print(error, flush=True)
    os._exit(0)
os.waitpid(child, 0)
"""
    assert "multiprocessing's 'spawn'" in python(code)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_process_that_is_forked_while_another_thread_opens_the_gpu_does_not_hang():
    code = """
import os, threading, time
from helpers import gpu
from helpers.gpu.adapter import MAKING
begun = threading.Event()
def open_gpu():
    with MAKING:
        begun.set()
        time.sleep(0.2)
threading.Thread(target=open_gpu).start()
begun.wait()
child = os.fork()
if child == 0:
    try: gpu.device()
    except gpu.GpuError as error: print(error, flush=True)
    os._exit(0)
end = time.monotonic() + 20
while os.waitpid(child, os.WNOHANG) == (0, 0):
    if time.monotonic() > end: os.kill(child, 9)
    time.sleep(0.01)
gpu.device()
"""
    assert "multiprocessing's 'spawn'" in python(code)


# --- Portable limits ------------------------------------------------------------------------------------


def test_the_device_has_the_portable_limits_and_no_more():
    assert {name: gpu.device().limits[name] for name in PORTABLE_LIMITS} == PORTABLE_LIMITS


def test_a_full_adapter_is_reported(monkeypatch):
    def refuse(**_):
        raise wgpu.GPUOutOfMemoryError("Not enough memory left.")

    monkeypatch.setattr(gpu.device(), "create_buffer", refuse)
    with pytest.raises(GpuError, match=r"weight: the adapter refuses 1\.0 MiB more: Not enough memory left"):
        gpu.empty(2**20, "weight")


# --- Passes --------------------------------------------------------------------------


def test_other_constants_make_another_pipeline():
    data = numbers()
    text = adder(1).source.replace("1.0;\n}", "EXTRA;\n}")
    kernel = Kernel("override EXTRA: f32 = 1.0;\n" + text)
    five, seven = (Pass(replace(kernel, constants=(("EXTRA", n),)), (data,), ONE) for n in (5, 7))
    gpu.run(five, seven, five)
    assert values(data) == {17}


def test_each_pass_sees_what_the_one_before_it_wrote():
    data = numbers()
    doubler = Kernel(adder(1).source.replace("+= 1.0", "*= 2.0"), "doubler")
    doubled = Pass(doubler, (data,), ONE)
    gpu.run(adding(3, data), doubled, adding(1, data), doubled)
    assert values(data) == {14}


def test_a_kernel_that_does_not_compile_leaves_the_launcher_usable():
    data = numbers()
    wrong = Kernel(adder(1).source.replace("1.0", "one"))
    with pytest.raises(WgslError):
        gpu.run(adding(1, data), Pass(wrong, (data,), ONE))
    gpu.run(adding(2, data))
    assert values(data) == {2}


@pytest.mark.parametrize("most", [0, 100])
def test_buffers_that_are_read_together_keep_their_order_and_shapes(most, monkeypatch):
    monkeypatch.setattr(buffers, "MAX_BUFFER", most)  # with 0, one after the other
    arrays = [np.arange(6, dtype=np.float32).reshape(2, 3).T, np.float32([[7, 8]])]
    together = buffers.read_together([(gpu.upload(array, "t"), array.shape) for array in arrays])
    assert [array.tolist() for array in together] == [array.tolist() for array in arrays]


# --- Timings: no test asks how long anything took ---------------------------------------------------------


@pytest.fixture
def step(monkeypatch) -> Pass:
    monkeypatch.setattr(timing, "AWAKE", 0.01)
    return adding(1)


def test_a_measurement_has_a_positive_time_for_each_repeat(step):
    taken = timing.measure(step, adding(2), repeats=3)
    assert len(taken.nanoseconds) == 3
    assert min(taken.nanoseconds) > 0
    assert repr(taken).endswith(f"ms, median of 3 ({taken.clock}, {gpu.adapter_info().name})")


def test_a_gpu_works_until_it_is_awake_before_it_is_timed(step):
    timing.measure(step, repeats=1, awake=0.1)
    assert min(values(step.buffers[0])) > 20


@pytest.mark.parametrize(("features", "tick"), [(set(), 10), ({"timestamp-query"}, 0), ({"timestamp-query"}, 10)])
def test_a_clock_that_is_missing_or_stands_still_gives_way_to_the_wall(features, tick, step, monkeypatch):
    ticks = iter([3 * tick, tick, 2 * tick])
    monkeypatch.setattr(timing, "_ticks", lambda *_: [0, next(ticks)])
    monkeypatch.setattr(timing, "_nanoseconds_per_tick", lambda: 2.5)
    monkeypatch.setattr(type(gpu.device()), "features", features)
    taken = timing.measure(step, repeats=3)
    if features and tick:
        assert taken.clock == "timestamps"
        assert taken.nanoseconds == (75, 25, 50)
    else:
        assert taken.clock == "wall"
        assert min(taken.nanoseconds) > 0


@pytest.mark.parametrize(("patience", "runs"), [(3600, 3), (0, 1)])
def test_by_the_wall_clock_all_runs_are_timed_or_the_one_that_patience_allows(patience, runs, step, monkeypatch):
    monkeypatch.setattr(type(gpu.device()), "features", set())  # no timestamps
    monkeypatch.setattr(timing, "PATIENCE", patience)
    taken = timing.measure(step, repeats=3)
    assert (taken.clock, len(taken.nanoseconds)) == ("wall", runs)


def test_a_timeline_has_each_group_in_its_order(step):
    spans = timing.timeline((step, adding(2)), (adding(3),), repeats=3, awake=0)
    if "timestamp-query" not in gpu.device().features:
        assert spans is None
        return
    assert spans.shape == (2, 2)
    assert spans[0, 0] == 0 < spans[1, 1]
    assert (np.diff(spans.ravel()) >= 0).all()


def test_a_timeline_needs_timestamps_that_move(step, monkeypatch):
    """Some drivers return zeros."""
    monkeypatch.setattr(timing, "_ticks", lambda count, _: np.zeros(count, np.int64))
    assert timing.timeline((step,), repeats=3, awake=0) is None


def test_the_host_records_finishes_and_submits(step, monkeypatch):
    """By a clock that shows 0, 1, 4, 9, ...; the first two looks are at the run before, for which it waits."""
    looks = count()
    monkeypatch.setattr(timing.time, "perf_counter_ns", lambda: next(looks) ** 2)
    assert timing.host_times(step, adding(2), repeats=1) == {"record": 5, "finish": 7, "submit": 9}


def test_an_empty_measurement_is_refused(step):
    for steps, repeats in ((), 3), ((step,), 0):
        with pytest.raises(ValueError, match="at least one of each"):
            timing.measure(*steps, repeats=repeats)


def test_a_compile_error_says_nothing_on_the_side():
    """wgpu would log "Access sub-type Scalar(Scalar { kind: Float, width: 4 })" beside its message."""
    code = """
import contextlib, io
from helpers.gpu.passes import pipeline
from wgsl import Kernel, WgslError
from helpers.gpu.zeros import with_zeros
two_indices = '''@group(0) @binding(0) var<storage, read_write> o: array<f32>;
@compute @workgroup_size(1) fn main() { let i = 1u; o[i][i] = 1.0; }'''
with contextlib.redirect_stderr(io.StringIO()) as written, contextlib.suppress(WgslError):
    pipeline(Kernel(two_indices), 'main')
print(repr(written.getvalue()))
"""
    assert python(code) == "''\n"
