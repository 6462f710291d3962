"""The launcher: the expected adapter, portable limits, things made once, one submission, clear refusals, timings."""

import os
from dataclasses import replace

import numpy as np
import pytest
import wgpu
from cffi import FFI
from cffi.cparser import Parser
from support.launcher import MADE_ONCE, CallCounter, adder, numbers, python

import helpers
from helpers import gpu
from helpers.convolution.shapes import ConvShape
from helpers.gpu import GpuError, Pass, buffers, c_types, passes, timing
from helpers.gpu.adapter import PORTABLE_LIMITS
from helpers.operations import OPERATIONS
from helpers.wgsl import Kernel, WgslError


@pytest.fixture
def calls(monkeypatch) -> CallCounter:
    return CallCounter(monkeypatch)


# --- The adapter under test -----------------------------------------------------------------------------


def unexpected(environment: dict[str, str], summary: str) -> str | None:
    """What is wrong about the adapter that the tests run on, or None."""
    expected = environment.get("CONVGRAD_EXPECT_ADAPTER")
    if not expected:
        return "CI must say which adapter it expects" if environment.get("CI") else None
    if expected not in summary or not summary.endswith("via Vulkan"):
        return f"CONVGRAD_EXPECT_ADAPTER = {expected!r}, and the tests run on {summary!r}: it needs Vulkan too"
    return None


def test_the_adapter_is_the_expected_one():
    assert unexpected(os.environ, gpu.adapter().summary) is None


@pytest.mark.parametrize(
    ("environment", "summary", "problem"),
    [
        ({}, "Some GPU via Metal", None),
        ({"CI": "true"}, "llvmpipe (CPU) via Vulkan", "CI must say"),
        ({"CONVGRAD_EXPECT_ADAPTER": "llvmpipe"}, "llvmpipe (CPU) via Vulkan", None),
        ({"CONVGRAD_EXPECT_ADAPTER": "llvmpipe"}, "llvmpipe (CPU) via OpenGL", "needs Vulkan"),
        ({"CONVGRAD_EXPECT_ADAPTER": "llvmpipe"}, "Some GPU via Vulkan", "the tests run on 'Some GPU"),
    ],
)
def test_another_adapter_would_be_seen(environment, summary, problem):
    found = unexpected(environment, summary)
    assert found is problem is None or problem in found


def test_an_adapter_that_does_not_exist_is_an_error_that_lists_those_that_do():
    code = "from helpers import gpu\ntry: gpu.adapter()\nexcept gpu.GpuError as error: print(error)"
    printed = python(code, WGPUPY_WGPU_ADAPTER_NAME="nosuch")
    assert printed.startswith("no adapter matches 'nosuch'")
    assert gpu.adapter().summary in printed


def test_adapter_info_has_one_line_for_each_fact():
    info = gpu.adapter_info()
    facts = {"adapter": info.name, "backend": info.backend, "kind": info.kind, "driver": info.driver}
    for line, (key, fact) in zip(repr(info).split("\n"), facts.items(), strict=True):
        assert line.startswith(f"{key:<9}{fact}")
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


TYPES = "A *", "A", "AA[3]", "A **", "AA(*)(A *)", "uint8_t[]", "struct B *", "F", "int"
HEADER = "typedef struct A { int x; } A; typedef A *AA; struct B { AA a; }; typedef AA (*F)(A);"


def test_types_of_c_are_the_same_when_the_parser_is_told_only_the_names_that_occur(monkeypatch):
    told = []

    def read(reading) -> list[str]:
        monkeypatch.setattr(Parser, "_parse", reading)
        ffi = FFI()
        ffi.cdef(HEADER)
        ffi.cdef("".join(f"typedef int unused_{i};" for i in range(1000)))
        told.append(len(ffi._parser._parse("void f(A *);")[0].ext))
        return [ffi.getctype(each) + str(ffi.sizeof(each) if each != "uint8_t[]" else "") for each in TYPES]

    assert Parser._parse is c_types._told_what_occurs  # since wgpu is imported
    assert read(c_types._told_what_occurs) == read(c_types._told_all)
    few, all_names = told
    assert few < 10
    assert all_names > 1000


# --- Portable limits ------------------------------------------------------------------------------------


def test_the_device_has_the_portable_limits_and_no_more():
    assert {name: gpu.device().limits[name] for name in PORTABLE_LIMITS} == PORTABLE_LIMITS


@pytest.mark.parametrize(
    ("head", "operand", "found"),
    [
        ("const SIZE: u32 = 512u;", "1.0", "512 threads"),
        ("override SIZE: u32 = 512u;", "1.0", "512 threads"),
        ("const SIZE: u32 = 64u; var<workgroup> big: array<f32, 4352>;", "big[i]", "17,408 bytes"),
        ("const SIZE = 64u; var<workgroup> big: array<array<vec4f, SIZE>, 17u>;", "big[0][i].x", "17,408 bytes"),
    ],
)
def test_a_workgroup_over_the_limits_is_refused(head, operand, found):
    source = adder(1).source.replace("size(64)", "size(SIZE)").replace("1.0", operand)
    with pytest.raises(WgslError, match=f"{found} .*which every adapter offers"):
        passes.pipeline(Kernel(f"{head}\n{source}"), "main")


@pytest.mark.parametrize("buffers", [0, 2])
def test_a_wrong_number_of_buffers_is_refused(buffers):
    with pytest.raises(GpuError, match=f"adder/1 has 1 bindings .*, and {buffers} buffers"):
        gpu.run(Pass(adder(1), (numbers(),) * buffers, (1, 1, 1)))


def test_a_buffer_of_another_kind_is_refused():
    with pytest.raises(GpuError, match="adder/1: its buffers do not fit its bindings"):
        gpu.run(Pass(adder(1), (gpu.uniform((1, 2, 3, 4)),), (1, 1, 1)))


def test_a_binding_over_128_mib_is_refused_before_it_is_made(calls):
    calls.on(gpu.device(), "create_buffer")
    with pytest.raises(GpuError, match=r"huge takes 128\.0 MiB, more than the 128 MiB .* split the batch"):
        gpu.empty(128 * 2**20 + 4, "huge")
    large = np.broadcast_to(np.float32(1), (1, 1, 6000, 6000))  # 137 MiB that take 4 bytes
    with pytest.raises(
        GpuError, match=r"one channel of an output, \(6000, 6000\), takes 137\.3 MiB, more than the 128 "
    ):
        helpers.conv2d_grad_bias(large)
    with pytest.raises(GpuError, match=r"grad_output takes 137\.3 MiB, .* split the batch"):
        OPERATIONS["conv2d_grad_bias"].plan(ConvShape(1, 1, 3000, 3000, 4, 1, 1))
    assert calls["create_buffer"] == 0


def test_a_full_adapter_is_reported(monkeypatch):
    def refuse(**_):
        raise wgpu.GPUOutOfMemoryError("Not enough memory left.")

    monkeypatch.setattr(gpu.device(), "create_buffer", refuse)
    with pytest.raises(GpuError, match=r"weight: the adapter refuses 1\.0 MiB more: Not enough memory left"):
        gpu.empty(2**20, "weight")


def test_more_workgroups_than_a_dispatch_may_have_are_refused():
    with pytest.raises(GpuError, match=r"adder/1: \(1, 65536, 1\) workgroups: each number may be at most 65,535"):
        gpu.run(Pass(adder(1), (numbers(),), (1, 65_536, 1)))


def test_only_a_launch_over_the_loop_cap_asks_whether_there_is_one(monkeypatch):
    data = numbers()
    monkeypatch.setattr(passes, "loop_cap", lambda: pytest.fail("the cap was looked for"))
    gpu.run(Pass(adder(1), (data,), (1, 1, 1), iterations=65_535))
    monkeypatch.setattr(passes, "loop_cap", lambda: None)
    gpu.run(Pass(adder(1), (data,), (1, 1, 1), iterations=10**9))
    monkeypatch.setattr(passes, "loop_cap", lambda: 65_535)
    with pytest.raises(
        GpuError, match=r"adder/1: a thread may loop 65,536 times, and this adapter's driver \(.*\) stops"
    ):
        gpu.run(Pass(adder(1), (data,), (1, 1, 1), iterations=65_536))


# --- Made once, submitted once --------------------------------------------------------------------------


def test_a_second_launch_makes_nothing_anew(calls):
    kernel, data = adder(1001), numbers()  # a source that no other test has compiled
    calls.on(gpu.device(), *MADE_ONCE)
    gpu.run(Pass(kernel, (data,), (1, 1, 1)))
    assert calls["create_shader_module"] == calls["create_compute_pipeline"] == 1
    first = dict(calls)
    gpu.run(Pass(kernel, (data,), (1, 1, 1)))
    gpu.run(Pass(replace(kernel, name="another name"), (numbers(),), (1, 1, 1)))
    assert calls == first
    assert (gpu.read(data, (64,)) == 2002).all()


def test_other_constants_make_another_pipeline_of_the_same_module(calls):
    kernel = Kernel("override EXTRA: f32 = 1.0;\n" + adder(1).source.replace("1.0;\n}", "EXTRA;\n}"))
    data = numbers()
    calls.on(gpu.device(), *MADE_ONCE)
    for extra in (5, 5, 7):
        gpu.run(Pass(replace(kernel, constants=(("EXTRA", extra),)), (data,), (1, 1, 1)))
    assert (calls["create_shader_module"], calls["create_compute_pipeline"]) == (1, 2)
    assert (gpu.read(data, (64,)) == 17).all()


def test_passes_without_labels_are_one_compute_pass_over_one_bind_group(calls):
    data, double = numbers(), Kernel(adder(1).source.replace("+= 1.0", "*= 2.0"), "doubler")
    encoder = type(gpu.device().create_command_encoder())
    calls.on(gpu.device(), "create_command_encoder", "create_bind_group").on(gpu.device().queue, "submit")
    calls.on(encoder, "begin_compute_pass")
    gpu.run(*(Pass(kernel, (data,), (1, 1, 1)) for kernel in (adder(3), double, adder(1), double)))
    assert set(calls.values()) == {1}
    assert len(calls) == 4
    assert (gpu.read(data, (64,)) == 14).all()  # each pass saw what the one before it wrote


def test_a_prepared_pass_only_encodes_and_submits(calls):
    step = Pass(adder(3), (numbers(),), (1, 1, 1))
    gpu.run(step)
    encoder = gpu.device().create_command_encoder().begin_compute_pass()
    encoder.end()
    calls.on(gpu.device(), *MADE_ONCE, "create_bind_group", "create_buffer")
    calls.on(type(encoder), "set_pipeline", "set_bind_group", "dispatch_workgroups")
    gpu.run(step, step)
    assert calls == {"set_pipeline": 1, "set_bind_group": 1, "dispatch_workgroups": 2}


def test_a_bind_group_lives_as_long_as_its_passes():
    step = Pass(adder(3), (numbers(),), (1, 1, 1))
    gpu.run(step)
    before = len(passes._bind_groups)
    del step
    assert len(passes._bind_groups) == before - 1


def test_a_labelled_pass_is_a_compute_pass_of_its_own(monkeypatch):
    labels = []
    encoder = type(gpu.device().create_command_encoder())
    begin = encoder.begin_compute_pass
    monkeypatch.setattr(
        encoder, "begin_compute_pass", lambda self, **kw: labels.append(kw["label"]) or begin(self, **kw)
    )
    plain, named = Pass(adder(3), (numbers(),), (1, 1, 1)), Pass(adder(4), (numbers(),), (1, 1, 1), label="add four")
    gpu.run(plain, plain, named, named, plain)
    assert labels == ["", "add four", "add four", ""]


def test_a_kernel_that_does_not_compile_leaves_the_launcher_usable():
    data, wrong = numbers(), Kernel(adder(1).source.replace("1.0", "one"))
    with pytest.raises(WgslError):
        gpu.run(Pass(adder(1), (data,), (1, 1, 1)), Pass(wrong, (data,), (1, 1, 1)))
    gpu.run(Pass(adder(2), (data,), (1, 1, 1)))
    assert (gpu.read(data, (64,)) == 2).all()


def test_an_upload_is_row_major_and_a_uniform_is_padded_and_shared():
    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    assert np.array_equal(gpu.read(gpu.upload(array.T, "t"), (4, 3)), array.T)


@pytest.mark.parametrize("most", [0, 100])
def test_buffers_that_are_read_together_keep_their_order_and_shapes(most, monkeypatch):
    monkeypatch.setattr(buffers, "MAX_BUFFER", most)  # with 0, one after the other
    arrays = [
        np.arange(size, size + 6, dtype=np.float32).reshape(2, 3)[:, :columns] for size, columns in ((1, 3), (9, 1))
    ]
    wanted = [(gpu.upload(array, "t"), array.shape) for array in arrays]
    for got, right in zip(buffers.read_together(wanted), arrays, strict=True):
        assert np.array_equal(got, right)
        assert got.shape == right.shape
    assert gpu.uniform((1, 2, 3, 4, 5)).size == 32
    assert gpu.uniform((1, 2, 3, 4, 5)) is gpu.uniform((1, 2, 3, 4, 5))
    for dtype in ("float64", ">f4", "bool"):
        with pytest.raises(TypeError, match=f"t has dtype {dtype}: it must be float32, int32 or uint32"):
            gpu.upload(np.ones(3, dtype), "t")
    with pytest.raises(ValueError, match="no axis may be 0"):
        gpu.upload(np.ones((3, 0), np.float32), "t")


# --- Timings: no test asks how long anything took ---------------------------------------------------------


@pytest.fixture
def step(monkeypatch) -> Pass:
    monkeypatch.setattr(timing, "AWAKE", 0.01)
    return Pass(adder(1), (numbers(),), (1, 1, 1))


def test_a_measurement_has_a_positive_time_for_each_repeat(step):
    taken = timing.measure(step, replace(step, kernel=adder(2)), repeats=3)
    assert taken.clock in ("timestamps", "wall")
    assert len(taken.nanoseconds) == 3
    assert min(taken.nanoseconds) > 0
    assert repr(taken).endswith(f"ms, median of 3 ({taken.clock}, {gpu.adapter_info().name})")


def test_a_gpu_works_until_it_is_awake_before_it_is_timed(step, monkeypatch):
    monkeypatch.setattr(timing, "AWAKE", 0.1)
    timing.measure(step, repeats=1)
    assert gpu.read(step.buffers[0], (64,))[0] > 20


def test_ticks_become_nanoseconds(step, monkeypatch):
    ticks = iter([30, 10, 20])
    monkeypatch.setattr(timing, "_timestamps", lambda _: next(ticks))
    monkeypatch.setattr(timing, "_nanoseconds_per_tick", lambda: 2.5)
    monkeypatch.setattr(type(gpu.device()), "features", {"timestamp-query"})
    taken = timing.measure(step, repeats=3)
    assert taken == timing.Timing((75.0, 25.0, 50.0), "timestamps")
    assert taken.median == 50.0


@pytest.mark.parametrize("features", [set(), {"timestamp-query"}])
def test_a_clock_that_is_missing_or_stands_still_gives_way_to_the_wall(features, step, monkeypatch):
    monkeypatch.setattr(type(gpu.device()), "features", features)
    monkeypatch.setattr(timing, "_timestamps", lambda _: 0)
    taken = timing.measure(step, repeats=2)
    assert taken.clock == "wall"
    assert min(taken.nanoseconds) > 0


def test_an_empty_measurement_is_refused(step):
    for steps, repeats in ((), 3), ((step,), 0):
        with pytest.raises(ValueError, match="at least one of each"):
            timing.measure(*steps, repeats=repeats)


def test_a_stopwatch_leaves_no_gap_between_its_laps():
    watch = timing.Stopwatch()
    for name in ("open the door", "wait"):
        watch.lap(name)
    (first, start, lasted), (second, then, _) = watch.spans
    assert (first, second, start) == ("open the door", "wait", 0)
    assert then == pytest.approx(lasted)
    assert "the longest step: " in repr(watch)


def test_a_compile_error_says_nothing_on_the_side():
    """wgpu would log "Access sub-type Scalar(Scalar { kind: Float, width: 4 })" beside its message."""
    two_indices = "@group(0) @binding(0) var<storage, read_write> o: array<f32>;\n"
    two_indices += "@compute @workgroup_size(1) fn main() { let i = 1u; o[i][i] = 1.0; }"
    code = (
        "import contextlib, io; from helpers.gpu.passes import pipeline; from helpers.wgsl import Kernel, WgslError\n"
    )
    code += "with contextlib.redirect_stderr(io.StringIO()) as said, contextlib.suppress(WgslError):\n"
    code += f"    pipeline(Kernel({two_indices!r}), 'main')\nprint(repr(said.getvalue()))"
    assert python(code) == "''\n"
