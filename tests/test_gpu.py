"""The launcher: the expected adapter, portable limits, things made once, one submission, clear refusals, clocks."""

import os
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import wgpu

import helpers
from helpers import gpu, ops, reference
from helpers.gpu import GpuError, Pass
from helpers.shapes import ConvShape
from helpers.wgsl import Kernel, WgslError

ROOT = Path(__file__).resolve().parents[1]


def python(code: str, **environment: str) -> subprocess.CompletedProcess:
    """Run `code` in a fresh process, where no GPU was opened yet."""
    return subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=60,
    )


class Spy(Counter):
    """Counts calls to methods of wgpu's objects, and lets them through."""

    def __init__(self, patch: pytest.MonkeyPatch):
        super().__init__()
        self.patch = patch

    def on(self, target: object, *names: str) -> "Spy":
        for name in names:
            self.patch.setattr(target, name, self._counting(name, getattr(target, name)))
        return self

    def _counting(self, name: str, method):
        def counted(*args, **kwargs):
            self[name] += 1
            return method(*args, **kwargs)

        return counted


@pytest.fixture
def spy(monkeypatch) -> Spy:
    return Spy(monkeypatch)


def adder(amount: int) -> Kernel:
    """A kernel that adds `amount` to each of 64 numbers."""
    return Kernel(
        "@group(0) @binding(0) var<storage, read_write> data: array<f32>;  // (64)\n"
        "@compute @workgroup_size(64)\n"
        "fn main(@builtin(local_invocation_index) i: u32) {\n"
        f"  data[i] += {amount}.0;\n"
        "}\n",
        f"adder/{amount}",
    )


def numbers() -> wgpu.GPUBuffer:
    return gpu.upload(np.zeros(64, np.float32), "numbers")


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
    told = python(code, WGPUPY_WGPU_ADAPTER_NAME="nosuch").stdout
    assert told.startswith("no adapter matches 'nosuch'; this machine has ")
    assert gpu.adapter().summary in told
    assert "start.py doctor" in told


def test_the_banner_has_one_line_for_each_fact():
    banner = gpu.banner()
    facts = [("adapter", banner.name), ("backend", banner.backend), ("kind", banner.kind), ("driver", banner.driver)]
    facts += [("fault", fault) for fault in banner.faults]
    for line, (key, fact) in zip(repr(banner).split("\n"), facts, strict=True):
        assert line.startswith(f"{key:<9}{fact}")
    assert banner.name in gpu.adapter().summary
    assert banner.summary == f"{banner.name} via {banner.backend} ({banner.kind})"


def test_the_banner_warns_of_software_and_of_faults():
    hardware = replace(gpu.banner(), kind="hardware", faults=())
    software = replace(hardware, kind="software", faults=("stops early", "is slow"))
    assert repr(hardware).split("\n")[2] == "kind     hardware"
    assert "its speed says nothing about a GPU" in repr(software)
    assert repr(software).endswith("fault    stops early\nfault    is slow")


def test_the_banner_tells_of_the_loop_cap():
    assert any("loop iterations" in fault for fault in gpu.banner().faults) == bool(gpu.loop_cap())


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_is_told_to_spawn():
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
    assert "start it with multiprocessing's 'spawn'" in python(code).stdout


# --- Portable limits ------------------------------------------------------------------------------------


def test_the_device_has_the_portable_limits_and_no_more():
    assert gpu.banner().limits == gpu.PORTABLE_LIMITS


def test_a_workgroup_of_512_threads_is_refused():
    kernel = Kernel(adder(1).source.replace("size(64)", "size(512)"))
    with pytest.raises(WgslError, match="512 threads in a workgroup: every adapter offers 256"):
        gpu.pipeline(kernel, "main")


@pytest.mark.parametrize(
    ("head", "operand", "said"),
    [
        ("override SIZE: u32 = 512u;", "1.0", "512 threads"),
        ("const SIZE: u32 = 64u; var<workgroup> big: array<f32, 4352>;", "big[i]", "17,408 bytes"),
        ("const SIZE = 64u; var<workgroup> big: array<array<vec4f, SIZE>, 17u>;", "big[0][i].x", "17,408 bytes"),
    ],
)
def test_what_wgpu_itself_lets_pass_is_refused(head, operand, said):
    source = adder(1).source.replace("size(64)", "size(SIZE)").replace("1.0", operand)
    with pytest.raises(WgslError, match=f"{said} .*every adapter offers"):
        gpu.pipeline(Kernel(f"{head}\n{source}"), "main")


ONE = np.ones((1, 1, 1, 1), np.float32)


def test_a_constant_may_not_ask_for_more_threads():
    kernel = helpers.load("conv2d_grad_weight", "2_workgroup_per_weight").with_constants(THREADS=512)
    with pytest.raises(WgslError, match="512 threads"):
        helpers.conv2d_grad_weight(ONE, (1, 1, 1, 1), ONE, kernel=kernel)


@pytest.mark.parametrize("buffers", [0, 2])
def test_a_wrong_number_of_buffers_is_refused(buffers):
    with pytest.raises(GpuError, match=f"adder/1 has 1 bindings .*, and {buffers} buffers"):
        gpu.run(Pass(adder(1), (numbers(),) * buffers, (1, 1, 1)))


def test_a_buffer_of_another_kind_is_refused():
    with pytest.raises(GpuError, match="adder/1: its buffers do not fit its bindings"):
        gpu.run(Pass(adder(1), (gpu.uniform((1, 2, 3, 4)),), (1, 1, 1)))


def test_a_binding_over_128_mib_is_refused_before_it_is_made(spy):
    spy.on(gpu.device(), "create_buffer")
    with pytest.raises(GpuError, match=r"huge takes 128\.0 MiB, more than the 128 MiB .* split the batch"):
        gpu.empty(128 * 2**20 + 4, "huge")
    nothing = np.broadcast_to(np.float32(1), (1, 4, 3000, 3000))  # 137 MiB that take 4 bytes
    with pytest.raises(GpuError, match=r"grad_output takes 137\.3 MiB"):
        helpers.conv2d_grad_bias(nothing, kernel="2_workgroup_per_channel")
    assert spy["create_buffer"] == 0


def test_a_full_adapter_says_so(monkeypatch):
    def no_room(**_):
        raise wgpu.GPUOutOfMemoryError("Not enough memory left.")

    monkeypatch.setattr(gpu.device(), "create_buffer", no_room)
    with pytest.raises(GpuError, match=r"weight: the adapter refuses 1\.0 MiB more: Not enough memory left"):
        gpu.empty(2**20, "weight")


def test_more_workgroups_than_a_dispatch_may_have_are_refused():
    with pytest.raises(GpuError, match=r"adder/1: \(1, 65536, 1\) workgroups: each may be at most 65,535"):
        gpu.run(Pass(adder(1), (numbers(),), (1, 65_536, 1)))


# --- Made once, submitted once --------------------------------------------------------------------------

MADE_ONCE = ["create_shader_module", "create_bind_group_layout", "create_pipeline_layout", "create_compute_pipeline"]


def test_a_second_launch_makes_nothing_anew(spy):
    spy.on(gpu.device(), *MADE_ONCE)
    kernel, data = adder(1001), numbers()  # a source that no other test has compiled
    gpu.run(Pass(kernel, (data,), (1, 1, 1)))
    assert spy["create_shader_module"] == spy["create_compute_pipeline"] == 1
    first = Counter(spy)
    gpu.run(Pass(kernel, (data,), (1, 1, 1)))
    gpu.run(Pass(replace(kernel, name="the same text under another name"), (numbers(),), (1, 1, 1)))
    assert spy == first
    assert (gpu.read(data, (64,)) == 2002).all()


def test_a_public_function_makes_nothing_anew_for_another_shape(spy):
    def solve(height: int) -> None:
        helpers.conv2d_grad_bias(np.ones((1, 1, height, 2), np.float32), kernel="1_thread_per_channel")

    solve(3)
    spy.on(gpu.device(), *MADE_ONCE)
    solve(4)
    assert not spy


def test_other_constants_make_another_pipeline(spy):
    kernel = Kernel("override EXTRA: f32 = 1.0;\n" + adder(1).source.replace("1.0;\n}", "EXTRA;\n}"))
    data = numbers()
    spy.on(gpu.device(), *MADE_ONCE)
    for extra in (5, 5, 7):
        gpu.run(Pass(replace(kernel, constants=(("EXTRA", extra),)), (data,), (1, 1, 1)))
    assert spy["create_compute_pipeline"] == 2
    assert (gpu.read(data, (64,)) == 17).all()


def test_several_passes_are_one_submission_over_one_bind_group(spy):
    data = numbers()
    double = Kernel(adder(1).source.replace("+= 1.0", "*= 2.0"), "doubler")
    spy.on(gpu.device(), "create_command_encoder", "create_bind_group").on(gpu.device().queue, "submit")
    gpu.run(*(Pass(kernel, (data,), (1, 1, 1)) for kernel in (adder(3), double, adder(1), double)))
    assert spy == {"create_command_encoder": 1, "create_bind_group": 1, "submit": 1}
    assert (gpu.read(data, (64,)) == 14).all()  # each pass saw what the one before it wrote


def test_launches_follow_each_other_on_the_gpu_without_a_read(spy):
    shape = ConvShape(2, 2, 6, 5, 3, 3, 2, 1, 1, 0)
    rng = np.random.default_rng(0)
    arrays = {name: rng.integers(-3, 4, shape.of(name)).astype(np.float32) for name in ("input", "weight", "bias")}
    resident = {name: gpu.upload(array, name) for name, array in arrays.items()}
    for name in ("output", "grad_weight", "grad_bias"):
        resident[name] = gpu.empty(4 * int(np.prod(shape.of(name))), name)
    spy.on(gpu.device().queue, "read_buffer")
    ops.launch("conv2d", tuple(resident[name] for name in ("input", "weight", "bias", "output")), shape)
    # The loss is half the sum of squares, so that grad_output is the output itself.
    ops.launch("conv2d_grad_weight", tuple(resident[name] for name in ("output", "input", "grad_weight")), shape)
    ops.launch("conv2d_grad_bias", (resident["output"], resident["grad_bias"]), shape)
    assert not spy
    output = reference.conv2d(arrays["input"], arrays["weight"], arrays["bias"], 1, (1, 0))
    want = reference.conv2d_grad_weight(arrays["input"], shape.weight, output, 1, (1, 0))
    assert np.array_equal(gpu.read(resident["grad_weight"], shape.weight), want)
    assert np.array_equal(gpu.read(resident["grad_bias"], (3,)), output.sum((0, 2, 3)))


def test_a_kernel_that_does_not_compile_leaves_the_launcher_usable():
    data, wrong = numbers(), Kernel(adder(1).source.replace("1.0", "one"))
    with pytest.raises(WgslError):
        gpu.run(Pass(adder(1), (data,), (1, 1, 1)), Pass(wrong, (data,), (1, 1, 1)))
    gpu.run(Pass(adder(2), (data,), (1, 1, 1)))
    assert (gpu.read(data, (64,)) == 2).all()


def test_a_debugger_shows_the_kernel_or_the_label(monkeypatch):
    labels = []
    encoder = type(gpu.device().create_command_encoder())
    begin = encoder.begin_compute_pass
    monkeypatch.setattr(
        encoder, "begin_compute_pass", lambda self, **kw: labels.append(kw["label"]) or begin(self, **kw)
    )
    data = numbers()
    gpu.run(Pass(adder(3), (data,), (1, 1, 1)), Pass(adder(4), (data,), (1, 1, 1), label="add four"))
    assert labels == ["adder/3", "add four"]


def test_an_upload_is_row_major_and_a_uniform_is_padded():
    array = np.arange(12, dtype=np.float32).reshape(3, 4)
    assert np.array_equal(gpu.read(gpu.upload(array.T, "t"), (4, 3)), array.T)
    assert gpu.uniform((1, 2, 3, 4, 5)).size == 32
