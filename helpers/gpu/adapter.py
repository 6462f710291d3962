"""The adapter in use, the one device of this process, and the limits that it keeps."""

import logging
import os
import sys
import tempfile
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cache, wraps
from threading import RLock
from typing import TypeVar

if sys.platform == "linux":  # else the driver complains on stderr where there is no desktop session
    os.environ.setdefault("XDG_RUNTIME_DIR", tempfile.gettempdir())

with suppress(Exception):  # a Triton that does not work takes nothing from a GPU
    # PyTorch brings Triton, which has a copy of the compiler LLVM, and so has a software driver. PyTorch loads Triton
    # late, for an optimizer; where the driver was loaded before, the process then ends with a segmentation fault.
    import triton  # noqa: F401

import wgpu

from wgsl import MAX_THREADS, MAX_THREADS_Z, MAX_WORKGROUP_BYTES

NATIVE = hasattr(wgpu, "backends")  # in a browser, wgpu is the package in browser/, without a native library
if NATIVE:
    from helpers.gpu import c_types

    c_types.declare_only_used_types()
logging.getLogger("wgpu").setLevel(logging.CRITICAL)  # what it logs of a compile error, the error says better

# What every WebGPU implementation offers. A device made with more would run kernels here that fail elsewhere.
PORTABLE_LIMITS = {
    "max-bind-groups": 4,
    "max-buffer-size": 256 * 2**20,
    "max-storage-buffer-binding-size": 128 * 2**20,
    "max-uniform-buffer-binding-size": 65536,
    "max-storage-buffers-per-shader-stage": 8,
    "max-compute-workgroup-storage-size": MAX_WORKGROUP_BYTES,
    "max-compute-invocations-per-workgroup": MAX_THREADS,
    "max-compute-workgroup-size-x": 256,
    "max-compute-workgroup-size-y": 256,
    "max-compute-workgroup-size-z": MAX_THREADS_Z,
    "max-compute-workgroups-per-dimension": 65535,
}
MAX_WORKGROUPS = PORTABLE_LIMITS["max-compute-workgroups-per-dimension"]
MAX_BINDING = PORTABLE_LIMITS["max-storage-buffer-binding-size"]  # bytes
MAX_BUFFER = PORTABLE_LIMITS["max-buffer-size"]
WGPUS_SUBGROUPS, BROWSERS_SUBGROUPS = "subgroup", "subgroups"  # one feature, and its two names
WANTED = "timestamp-query", WGPUS_SUBGROUPS, BROWSERS_SUBGROUPS  # features that are asked for where they are
# What chooses the adapter: the number of a GPU, a part of a summary, or one of Vulkan, Metal, D3D12 and OpenGL.
SETTINGS = "CONVGRAD_GPU", "WGPUPY_WGPU_ADAPTER_NAME", "WGPU_BACKEND_TYPE"
BACKENDS = "Vulkan", "Metal", "D3D12", "OpenGL"
# A thread holds it while it makes what the whole process shares. wgpu makes its instance without a lock, and what
# belongs to one device ends the process where another device gets it.
MAKING = RLock()
Made = TypeVar("Made")


def made_once(make: Callable[[], Made]) -> Callable[[], Made]:
    """Return the function with its result kept: the first thread makes it, and the others wait for it.

    `functools.cache` calls the function in each thread that comes before there is a result.
    """
    results: list[Made] = []  # none or one

    @wraps(make)
    def made_or_kept() -> Made:
        if not results:
            with MAKING:
                if not results:  # another thread may have made it while this one waited
                    results.append(make())
        return results[0]

    made_or_kept.forget = results.clear
    return made_or_kept


class GpuError(RuntimeError):
    """Something that this adapter cannot do, with what to do about it."""


def reason(error: Exception) -> str:
    """The last line of an error's text: where wgpu says what went wrong."""
    lines = str(error).strip().splitlines()
    if not lines:
        return type(error).__name__
    return lines[-1].strip()


@made_once
def adapter() -> wgpu.GPUAdapter:
    """The adapter in use: the fastest one, or the one that the environment names.

    The variables of SETTINGS are read once, before the first use; with several, the first counts.
    """
    name, value = _setting()
    if name == "CONVGRAD_GPU":
        return _numbered(value)
    if name == "WGPU_BACKEND_TYPE" and value.strip() not in BACKENDS:  # wgpu would ignore it
        raise GpuError(f"{name}={value}: no backend has this name; choose one of {', '.join(BACKENDS)}")
    try:
        return wgpu.gpu.request_adapter_sync(power_preference="high-performance")
    except (RuntimeError, ValueError) as error:
        there = ", ".join(candidate.summary for candidate in adapters()) or "none"
        if name:
            raise GpuError(f"{name}={value}: no adapter matches; this machine has {there}") from error
        raise GpuError(f"no GPU adapter was found; this machine has {there}: run `python3 start.py doctor`") from error


def _setting() -> tuple[str, str]:
    """Return the variable of SETTINGS that counts and its value, or two empty texts."""
    for name in SETTINGS:
        value = os.environ.get(name)
        if value:
            return name, value
    return "", ""


@made_once
def adapters() -> list[wgpu.GPUAdapter]:
    """All adapters of this machine.

    They are kept: to let one of OpenGL go while another thread makes one ends the process.

    Raises GpuError where the path of wgpu's library has a letter that the locale's encoding lacks.
    """
    try:
        return wgpu.gpu.enumerate_adapters_sync()
    except UnicodeEncodeError:
        folder = os.fsencode(os.path.dirname(wgpu.__file__)).decode(errors="replace")
        raise GpuError(
            f"this process cannot read the name of the folder {folder}, as the encoding of its locale is "
            f"{sys.getfilesystemencoding()}: set the environment variable PYTHONUTF8=1, then start Python again"
        ) from None


def gpus() -> list[wgpu.GPUAdapter]:
    """The adapters that CONVGRAD_GPU counts from 0: with Vulkan, in the order of nvidia-smi."""
    return [candidate for candidate in adapters() if candidate.info["backend_type"] == "Vulkan"]


def _numbered(number: str) -> wgpu.GPUAdapter:
    """The GPU that CONVGRAD_GPU names by its number."""
    for i, candidate in enumerate(gpus()):
        if number == str(i):
            return candidate
    known = ", ".join(f"{i}: {candidate.summary}" for i, candidate in enumerate(gpus())) or "no GPU with Vulkan"
    raise GpuError(f"{SETTINGS[0]}={number}: no GPU has this number; this machine has {known}")


@made_once
def device() -> wgpu.GPUDevice:
    """The one device of this process, with WebGPU's portable limits for all that a kernel uses, and WANTED features."""
    if _forked:
        raise GpuError(
            "this process was forked from one that had loaded the GPU driver: start it with multiprocessing's 'spawn'"
        )
    features = [name for name in WANTED if name in adapter().features]
    try:
        return adapter().request_device_sync(required_features=features, required_limits=PORTABLE_LIMITS)
    except (RuntimeError, wgpu.GPUError) as error:
        raise GpuError(
            f"{adapter().summary} does not offer what every WebGPU adapter should: {reason(error)}; choose another "
            "adapter (see README, Choosing a GPU)"
        ) from error


_forked = False  # a GPU opened before a fork hangs in the child


def _forget_device() -> None:
    global _forked
    _forked = True
    device.forget()
    MAKING.release()


if hasattr(os, "register_at_fork"):  # a lock that another thread holds at a fork is never released in the child
    os.register_at_fork(before=MAKING.acquire, after_in_parent=MAKING.release, after_in_child=_forget_device)


@dataclass(frozen=True)
class AdapterInfo:
    """The GPU in use, as a lesson's first cell shows it."""

    name: str
    backend: str
    kind: str  # "hardware" or "software"
    driver: str
    limits: dict[str, int] = field(repr=False, hash=False)

    @property
    def summary(self) -> str:
        """One line: name, backend and kind. A second one where a browser uses no GPU: why."""
        line = f"{self.name} via {self.backend} ({self.kind})"
        if self.compiles_slowly:
            return f"{line}\ndriver   {self.driver}"
        return line

    @property
    def short(self) -> str:
        """The name alone, as a picture's frame has room for it."""
        return self.name.partition(" (")[0]

    @property
    def compiles_slowly(self) -> bool:
        """Is it a browser's software adapter, which loses the device over a text with loops written out?

        The simulator, which takes long to read such a text, counts as one.
        """
        return self.kind == "software" and self.backend.startswith("WebGPU")

    @property
    def simulated(self) -> bool:
        """Is it the simulator, which takes the place of an adapter in a browser without a GPU?"""
        return "simulated" in self.backend

    @property
    def few_threads(self) -> bool:
        """Does it run few threads at once, as a software driver does? The simulator runs thousands of them in step."""
        return self.kind == "software" and not self.simulated

    def __repr__(self) -> str:
        kind = self.kind
        if kind != "hardware":
            kind = "software: its results are right, its speed is not a GPU's"
        backend = self.backend
        if backend.startswith("OpenGL"):
            backend += ": wgpu found no Vulkan driver and fell back to OpenGL (see README, Choosing a GPU)"
        return f"adapter  {self.name}\nbackend  {backend}\nkind     {kind}\ndriver   {self.driver}"


@cache
def adapter_info() -> AdapterInfo:
    """Name, backend, kind, driver and limits of the adapter in use."""
    info = adapter().info
    return AdapterInfo(
        name=info["device"],
        backend=info["backend_type"],
        kind="software" if info["adapter_type"] == "CPU" else "hardware",
        driver=info["description"] or "unnamed",
        limits=dict(PORTABLE_LIMITS),
    )
