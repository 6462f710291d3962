"""The first import of `helpers` in a browser: it makes clicks wait for the event loop's lock.

A message of a widget reaches Python by a call that cannot wait for the GPU. So each is put off until the event loop
has time for it, where Python may wait, and holds a lock, so that neither a cell nor another message is at work then.
The slices of a training that goes on between the cells hold the lock, too.
"""

import asyncio
import logging
import os
from collections.abc import Callable
from pathlib import Path

from comm import get_comm_manager
from pyodide_kernel.kernel import PyodideKernel

DRIVE = Path("/drive/notebooks")  # the browser's storage, which JupyterLite shows beside the lessons


_lock = asyncio.Lock()  # held by the cell, the message or the slice of training that is at work
_waiting: set[asyncio.Future] = set()


def _put_off(work: Callable[..., object]) -> Callable[..., None]:
    """The same work, to be done when the lock is free."""

    async def locked(*arguments: object) -> None:
        async with _lock:
            work(*arguments)

    def begin(*arguments: object) -> None:
        task = asyncio.ensure_future(locked(*arguments))
        _waiting.add(task)  # which keeps it until it has ended
        task.add_done_callback(_waiting.discard)

    return begin


with_lock = _put_off(lambda work: work())  # one slice of a training


def _one_at_a_time() -> None:
    """Let messages and cells wait for the lock, too."""
    manager, run = get_comm_manager(), PyodideKernel.run

    async def run_locked(kernel: PyodideKernel, code: str) -> dict:
        async with _lock:
            return await run(kernel, code)

    manager.comm_msg = _put_off(manager.comm_msg)
    PyodideKernel.run = run_locked


logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)  # it says that it looks for fonts
_one_at_a_time()
if DRIVE.is_dir():
    os.environ.setdefault("CONVGRAD_MY", str(DRIVE / "my"))
else:  # an address without https, or a storage that is blocked
    os.environ["CONVGRAD_KEPT"] = "kept until you close this page"
