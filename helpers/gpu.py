"""The GPU: find an adapter, make kernels ready, run them, read results.

Everything that is slow to make is made once: the device, and by their own keys the modules (source, constants),
bind group layouts (shape of layout) and pipelines (module, entry point, layout).
"""

import os
import sys
import tempfile
from dataclasses import dataclass, field
from functools import cache
from math import prod
from typing import NoReturn

import numpy as np

if sys.platform == "linux":  # else the driver complains on stderr where there is no desktop session
    os.environ.setdefault("XDG_RUNTIME_DIR", tempfile.gettempdir())

import wgpu

from helpers.wgsl import Kernel, WgslError, load, locate

OWNER = os.getpid()  # a GPU opened before a fork hangs in the child

# What every WebGPU implementation offers. A device made with more would run kernels here that fail elsewhere.
PORTABLE_LIMITS = {
    "max-bind-groups": 4,
    "max-buffer-size": 256 * 2**20,
    "max-storage-buffer-binding-size": 128 * 2**20,
    "max-uniform-buffer-binding-size": 65536,
    "max-storage-buffers-per-shader-stage": 8,
    "max-compute-workgroup-storage-size": 16384,
    "max-compute-invocations-per-workgroup": 256,
    "max-compute-workgroup-size-x": 256,
    "max-compute-workgroup-size-y": 256,
    "max-compute-workgroup-size-z": 64,
    "max-compute-workgroups-per-dimension": 65535,
}
MAX_WORKGROUPS = PORTABLE_LIMITS["max-compute-workgroups-per-dimension"]
MAX_BINDING = PORTABLE_LIMITS["max-storage-buffer-binding-size"]


class GpuError(RuntimeError):
    """Something that this adapter cannot do, with what to do about it."""


def last_line(error: Exception) -> str:
    """The last line of an error's text, which in wgpu's says the reason."""
    return (str(error).strip().splitlines() or [type(error).__name__])[-1].strip()


# --- Adapter and device ---------------------------------------------------------------------------------


@cache
def adapter() -> wgpu.GPUAdapter:
    """The adapter in use: the fastest one, or the one that the environment names.

    WGPUPY_WGPU_ADAPTER_NAME takes a part of an adapter's summary, WGPU_BACKEND_TYPE one of Vulkan, Metal,
    D3D12 or OpenGL; both are read once, before the first use.
    """
    try:
        return wgpu.gpu.request_adapter_sync(power_preference="high-performance")
    except (RuntimeError, ValueError) as error:
        there = [a.summary for a in wgpu.gpu.enumerate_adapters_sync()]
        wanted = os.environ.get("WGPUPY_WGPU_ADAPTER_NAME") or os.environ.get("WGPU_BACKEND_TYPE")
        raise GpuError(
            (f"no adapter matches {wanted!r}" if wanted else "no GPU adapter was found")
            + f"; this machine has {', '.join(there) or 'none'}: run `python3 start.py doctor`"
        ) from error


@cache
def _device() -> wgpu.GPUDevice:
    features = ["timestamp-query"] if "timestamp-query" in adapter().features else []
    try:
        return adapter().request_device_sync(required_features=features, required_limits=PORTABLE_LIMITS)
    except (RuntimeError, wgpu.GPUError) as error:
        raise GpuError(
            f"{adapter().summary} does not offer what every WebGPU adapter should: {last_line(error)}; choose another "
            "adapter (see README, Choosing a GPU)"
        ) from error


def device() -> wgpu.GPUDevice:
    """The one device of this process, with WebGPU's portable limits for all that a kernel uses."""
    if os.getpid() != OWNER:
        raise GpuError(
            "this process was forked from one that had loaded the GPU driver: start it with multiprocessing's 'spawn'"
        )
    return _device()


@cache
def loop_cap() -> int | None:
    """How many loop iterations one thread may run in all before the driver stops it silently, or None.

    Mesa before 23 stops a software shader after 65,535 iterations and returns what it has: a wrong sum and no
    error. So a kernel counts to 300,000 once, and what it says is believed instead of a version number.
    """
    counter = load("loop_cap", "1_count")
    counted = empty(4, "counted")
    submit((Pass(counter, (counted,), (1, 1, 1)),))
    return None if read(counted, (1,), np.uint32)[0] == 300_000 else 65_535


@dataclass(frozen=True)
class Banner:
    """What a lesson's first cell says about the GPU in use."""

    name: str
    backend: str
    kind: str  # "hardware" or "software"
    driver: str
    faults: tuple[str, ...]
    limits: dict[str, int] = field(repr=False)

    @property
    def summary(self) -> str:
        """One line: name, backend and kind."""
        return f"{self.name} via {self.backend} ({self.kind})"

    def __repr__(self) -> str:
        note = "" if self.kind == "hardware" else ": results are right, but its speed says nothing about a GPU"
        rows = [("adapter", self.name), ("backend", self.backend), ("kind", self.kind + note)]
        rows += [("driver", self.driver)] + [("fault", fault) for fault in self.faults]
        return "\n".join(f"{key:<9}{text}" for key, text in rows)


@cache
def banner() -> Banner:
    """Name, backend, kind, driver and known faults of the adapter in use."""
    info = adapter().info
    faults = []
    if loop_cap():
        faults.append(
            f"stops a thread silently after {loop_cap():,} loop iterations: a launch that would pass this is "
            "refused (Mesa 23 or newer has no such cap)"
        )
    if info["backend_type"].startswith("OpenGL"):
        faults.append(
            "OpenGL is in use, to which wgpu falls back where it finds no Vulkan driver (see README, Choosing a GPU)"
        )
    return Banner(
        name=info["device"],
        backend=info["backend_type"],
        kind="software" if info["adapter_type"] == "CPU" else "hardware",
        driver=info["description"] or "unnamed",
        faults=tuple(faults),
        limits={name: device().limits[name] for name in PORTABLE_LIMITS},
    )


# --- Buffers --------------------------------------------------------------------------------------------

STORAGE = wgpu.BufferUsage.STORAGE | wgpu.BufferUsage.COPY_SRC | wgpu.BufferUsage.COPY_DST


def check_room(nbytes: int, name: str) -> None:
    """Refuse a tensor that is too large for one binding."""
    if nbytes > MAX_BINDING:
        raise GpuError(
            f"{name} takes {nbytes / 2**20:.1f} MiB, more than the {MAX_BINDING >> 20} MiB that one binding may hold: "
            "split the batch (gradients of weights and biases add up, those of inputs stand side by side)"
        )


def empty(nbytes: int, name: str) -> wgpu.GPUBuffer:
    """A storage buffer of `nbytes` zeros; `name` is what an error calls it."""
    check_room(nbytes, name)
    try:
        return device().create_buffer(label=name, size=nbytes, usage=STORAGE)
    except wgpu.GPUError as error:
        raise GpuError(f"{name}: the adapter refuses {nbytes / 2**20:.1f} MiB more: {last_line(error)}") from error


def upload(array: np.ndarray, name: str) -> wgpu.GPUBuffer:
    """A storage buffer that holds `array`, row-major (a strided array is copied in that order).

    Raises TypeError where its elements are not 4 bytes long, as all of WGSL's numbers are.
    """
    if array.itemsize != 4:
        raise TypeError(f"{name} has dtype {array.dtype}: it must be float32, int32 or uint32")
    buffer = empty(array.nbytes, name)
    device().queue.write_buffer(buffer, 0, np.ascontiguousarray(array))
    return buffer


def read(buffer: wgpu.GPUBuffer, shape: tuple[int, ...], dtype: type = np.float32) -> np.ndarray:
    """Wait for all that was submitted, then copy the first elements of `buffer` into an array of `shape`.

    A kernel that never ends is waited for without end.
    """
    return np.frombuffer(
        device().queue.read_buffer(buffer, size=np.dtype(dtype).itemsize * prod(shape)), dtype
    ).reshape(shape)


def uniform(values: tuple[int, ...]) -> wgpu.GPUBuffer:
    """A uniform buffer of u32, padded to the 16 bytes that WGSL rounds a struct up to."""
    data = np.zeros(-(-len(values) // 4) * 4, np.uint32)
    data[: len(values)] = values
    return device().create_buffer_with_data(label="params", data=data, usage=wgpu.BufferUsage.UNIFORM)


# --- Kernels, made once ---------------------------------------------------------------------------------


@cache
def module(source: str, constants: tuple[tuple[str, float], ...]) -> wgpu.GPUShaderModule:
    """The compiled module of a source with its constants."""
    return device().create_shader_module(code=source)


@cache
def bind_group_layout(kinds: tuple[str, ...]) -> wgpu.GPUBindGroupLayout:
    """The layout of one bind group: buffers of these kinds at bindings 0, 1, 2, ..."""
    entries = [
        {"binding": i, "visibility": wgpu.ShaderStage.COMPUTE, "buffer": {"type": kind}} for i, kind in enumerate(kinds)
    ]
    return device().create_bind_group_layout(entries=entries)


@cache
def _pipeline(source: str, constants: tuple, entry_point: str, kinds: tuple[str, ...]) -> wgpu.GPUComputePipeline:
    return device().create_compute_pipeline(
        layout=device().create_pipeline_layout(bind_group_layouts=[bind_group_layout(kinds)]),
        compute={
            "module": module(source, constants),
            "entry_point": entry_point,
            "constants": dict(constants),
        },
    )


@cache
def pipeline(kernel: Kernel, entry_point: str) -> wgpu.GPUComputePipeline:
    """The pipeline of one entry point of a kernel.

    Raises
    ------
    WgslError
        The kernel does not compile (says where, and what the compiler expected), or takes more than every WebGPU
        adapter offers.
    """
    try:
        module(kernel.source, kernel.constants)  # first: the compiler explains a mistake best
        _check_limits(kernel, entry_point)
        return _pipeline(kernel.source, kernel.constants, entry_point, kernel.bindings)
    except wgpu.GPUError as error:
        raise WgslError(locate(kernel, str(error))) from None


def _check_limits(kernel: Kernel, entry_point: str) -> None:
    """Refuse what wgpu lets pass where the size comes from an `override`, and what then hangs a real GPU."""
    threads, held = kernel.threads(entry_point), kernel.workgroup_bytes
    most, room = (
        PORTABLE_LIMITS[f"max-compute-{name}"] for name in ("invocations-per-workgroup", "workgroup-storage-size")
    )
    if threads > most:
        raise WgslError(f"{kernel.name}: {threads} threads in a workgroup: every adapter offers {most} and no more")
    if held > room:
        raise WgslError(f"{kernel.name}: {held:,} bytes of workgroup memory: every adapter offers {room:,} and no more")


# --- Running --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pass:
    """One dispatch: a kernel over its buffers (in binding order), so many workgroups in x, y and z.

    `loops` is an upper bound on the loop iterations of one thread, for the adapters that cap them.
    """

    kernel: Kernel
    buffers: tuple[wgpu.GPUBuffer, ...]
    workgroups: tuple[int, int, int]
    loops: int = 0
    entry_point: str = "main"
    label: str = ""  # what a GPU debugger calls this pass; the kernel's name by default

    def problem(self) -> str | None:
        """Why this pass cannot run on the adapter in use, or None."""
        name = " ".join(filter(None, [self.kernel.name, self.label]))
        if max(self.workgroups) > MAX_WORKGROUPS:
            return f"{name}: {self.workgroups} workgroups: each may be at most {MAX_WORKGROUPS:,}"
        if loop_cap() and self.loops > loop_cap():
            return (
                f"{name}: a thread may loop {self.loops:,} times, and this adapter ({banner().name}, "
                f"{banner().driver}) stops it silently after {loop_cap():,}"
            )
        return None

    def refuse(self) -> NoReturn:
        """Raise what `problem` says, with what to do."""
        raise GpuError(f"{self.problem()}: choose another kernel, a smaller problem or another adapter")


def run(*passes: Pass) -> None:
    """Record the passes in one encoder and submit it once; a later pass sees what an earlier one wrote.

    Raises
    ------
    GpuError
        A pass asks for more than this adapter can do, or for buffers that do not fit; nothing was launched.
    WgslError
        A kernel does not compile.
    """
    for each in passes:
        if each.problem():
            each.refuse()
    submit(passes)


def submit(passes: tuple[Pass, ...], clock: wgpu.GPUQuerySet | None = None) -> None:
    """Encode and submit; with a `clock`, write its ticks 0 and 1 at the first begin and the last end."""
    encoder = device().create_command_encoder()
    bind_groups = {}
    for i, each in enumerate(passes):
        marks = {"beginning_of_pass_write_index": 0} if i == 0 else {}
        if i == len(passes) - 1:
            marks["end_of_pass_write_index"] = 1
        writes = {"query_set": clock, **marks} if clock and marks else None
        ready = pipeline(each.kernel, each.entry_point)
        bound = each.kernel.bindings, each.buffers
        if bound not in bind_groups:
            bind_groups[bound] = _bind_group(each.kernel.name, *bound)
        compute = encoder.begin_compute_pass(label=each.label or each.kernel.name, timestamp_writes=writes)
        compute.set_pipeline(ready)
        compute.set_bind_group(0, bind_groups[bound])
        compute.dispatch_workgroups(*each.workgroups)
        compute.end()
    try:
        device().queue.submit([encoder.finish()])
    except wgpu.GPUError as error:
        raise GpuError(f"{', '.join(each.kernel.name for each in passes)}: {last_line(error)}") from error


def _bind_group(name: str, kinds: tuple[str, ...], buffers: tuple[wgpu.GPUBuffer, ...]) -> wgpu.GPUBindGroup:
    if len(buffers) != len(kinds):
        raise GpuError(f"{name} has {len(kinds)} bindings ({', '.join(kinds)}), and {len(buffers)} buffers were given")
    entries = [{"binding": i, "resource": {"buffer": buffer}} for i, buffer in enumerate(buffers)]
    try:
        return device().create_bind_group(layout=bind_group_layout(kinds), entries=entries)
    except wgpu.GPUError as error:
        raise GpuError(f"{name}: its buffers do not fit its bindings: {last_line(error)}") from error
