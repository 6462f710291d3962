"""A pytest plugin: a notebook whose kernel dies or hangs fails in seconds, and none runs with another `helpers`.

nbval waits for a cell's whole timeout, even for a kernel process that is gone, and lets every cell after a hung one
wait as long again. Here it looks at the process once a second, and a kernel that hung once is stopped. A reader who
keeps their files in a folder of their own gets the outputs that are stored.
"""

import os
import sys
import time
from collections.abc import Generator
from importlib.machinery import PathFinder
from pathlib import Path
from queue import Empty

if "rfc3987_syntax" not in sys.modules:  # it makes 38 parsers, in 2 s of each process, to check addresses: no
    sys.modules["rfc3987_syntax"] = None  # notebook has one that is checked, and jsonschema does without it

import pytest
from nbval.kernel import RunningKernel
from nbval.plugin import IPyNbCell
from support.default_folder import as_by_default

LOOK_EVERY = 1.0  # seconds

ROOT = Path(__file__).resolve().parents[2]


def pytest_configure() -> None:
    """Refuse a PYTHONPATH that hides the project's packages from a notebook's kernel, which looks there first."""
    folders = [folder for folder in os.environ.get("PYTHONPATH", "").split(os.pathsep) if folder]
    for name in ("helpers", "wgsl"):
        spec = PathFinder.find_spec(name, folders)
        if spec and spec.origin and ROOT not in Path(spec.origin).resolve().parents:
            raise pytest.UsageError(
                f"your PYTHONPATH has another package `{name}`, {spec.origin}, which hides the one of the lessons, "
                f"{ROOT / name}: take its folder out of PYTHONPATH"
            )


_wait_for_message = RunningKernel.get_message


class KernelDied(RuntimeError):
    """The kernel's process ended while a cell was running."""


def get_message(kernel: RunningKernel, stream: str, timeout: float) -> dict:
    """The kernel's next message: nbval's own getter, called in short slices between looks at the process.

    Raises
    ------
    Empty
        No message came within `timeout` seconds.
    KernelDied
        None will ever come.
    """
    deadline = time.monotonic() + timeout
    while True:
        left = max(0.0, deadline - time.monotonic())
        try:
            return _wait_for_message(kernel, stream, min(left, LOOK_EVERY))
        except Empty:
            if not kernel.is_alive():
                code = kernel.km.provisioner.process.returncode
                raise KernelDied(f"the kernel process died (exit code {code}) while running this cell") from None
            if left <= LOOK_EVERY:
                raise


RunningKernel.get_message = get_message
_sanitize = IPyNbCell.sanitize
IPyNbCell.sanitize = lambda cell, output: _sanitize(cell, as_by_default(output) if isinstance(output, str) else output)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, object, object]:
    """Report a death with the cell's source, and stop a kernel that hung: it would hang again."""
    try:
        return (yield)
    except KernelDied as death:
        item.raise_cell_error(str(death))
    finally:
        if isinstance(item, IPyNbCell) and item.parent.timed_out and item.parent.kernel.is_alive():
            item.parent.kernel.stop()
