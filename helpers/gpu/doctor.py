"""A report on this machine's GPU and packages, to include in a question: `python3 start.py doctor`."""

import platform
import sys
from importlib.metadata import PackageNotFoundError, version

from helpers import gpu
from helpers.gpu import timing
from helpers.gpu.adapter import adapters
from helpers.gpu.passes import counting_pass, loop_cap
from wgsl.output import escape_what_cannot_be_printed

PACKAGES = ("wgpu", "numpy", "jupyterlab", "ipywidgets", "matplotlib")
LIMITS = {  # the limits that kernels reach first: the unit, and the words for it
    "max-compute-invocations-per-workgroup": (1, "threads per workgroup"),
    "max-compute-workgroup-storage-size": (2**10, "KiB workgroup memory"),
    "max-storage-buffers-per-shader-stage": (1, "storage buffers"),
    "max-storage-buffer-binding-size": (2**20, "MiB per binding"),
}


def limits() -> str:
    """The limits that convgrad keeps to, each of what the adapter offers."""
    used = gpu.adapter_info().limits
    offered = gpu.adapter().limits
    parts = []
    for name, (unit, text) in LIMITS.items():
        parts.append(f"{used[name] // unit:,} of {offered[name] // unit:,} {text}")
    return ", ".join(parts)


def clock() -> str:
    """The clock that times a kernel here, by timing one."""
    names = {"timestamps": "the GPU's timestamps", "wall": "wall clock: the GPU has no working timestamps"}
    measured = timing.measure(counting_pass(), repeats=3)
    return names[measured.clock]


def gpu_report() -> str:
    """The adapter as a lesson's first cell shows it, then the loop cap, limits and clock."""
    cap = "none"
    if loop_cap():
        cap = f"this driver stops a thread silently after {loop_cap():,} iterations: longer launches are refused"
    return f"{gpu.adapter_info()!r}\nloop cap {cap}\nlimits   {limits()}\nclock    {clock()}"


def version_of(package: str) -> str:
    """Its installed version, or that it is missing."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "MISSING"


def machine_report() -> str:
    """All that can be told without opening a GPU."""
    try:
        names = "; ".join(adapter.summary for adapter in adapters())
    except Exception:  # the line above says why
        names = ""
    packages = ", ".join(f"{name} {version_of(name)}" for name in PACKAGES)
    system = f"{platform.platform()}, Python {platform.python_version()} ({platform.machine()})"
    return f"adapters {names or 'none'}\nsystem   {system}\npackages {packages}"


def main() -> int:
    """Print the report; 1 where the GPU does not work, and then the reason is part of the report."""
    escape_what_cannot_be_printed()
    broken = False
    try:
        report = gpu_report()
    except Exception as error:  # whatever it is, it belongs in the report
        broken = True
        report = f"BROKEN   {type(error).__name__}: {error}"
    print(f"{report}\n{machine_report()}")
    return int(broken)


if __name__ == "__main__":
    sys.exit(main())
