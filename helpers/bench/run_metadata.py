"""The place and time of a run, and the folder for its results."""

import os
import platform
import subprocess
import sys
from contextlib import suppress
from datetime import UTC, datetime
from importlib.metadata import distributions

from helpers import gpu
from helpers.gpu import timing
from helpers.gpu.passes import counting_pass
from helpers.operations.kernels import ROOT

OUTPUT = ROOT / "measurements"
PACKAGES = ("wgpu", "numpy", "torch")


def run_metadata(module: str) -> dict[str, object]:
    """The date, the machine and the command of a run: that of a module."""
    info = gpu.adapter_info()
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commit": _commit(),
        "adapter": info.name,
        "backend": info.backend,
        "kind": info.kind,
        "driver": info.driver,
        "clock": timing.measure(counting_pass(), repeats=1, awake=0).clock,
        "system": f"{platform.platform()}, Python {platform.python_version()}, {os.cpu_count()} cores",
        "packages": {package.name: package.version for package in distributions() if package.name in PACKAGES},
        "command": " ".join(["python -m", module, *sys.argv[1:]]),
    }


def _commit() -> str:
    """The commit of this project, or "" where git does not say."""
    command = ["git", "rev-parse", "--short", "HEAD"]
    with suppress(OSError, subprocess.CalledProcessError):
        return subprocess.check_output(command, cwd=ROOT, stderr=subprocess.DEVNULL, text=True).strip()
    return ""
