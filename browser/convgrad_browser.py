"""What `import helpers` does before all else in a browser: it makes clicks wait for their turn.

A message of a widget reaches Python by a call that cannot wait for the GPU. So each is put off until the event loop
has time for it, where Python may wait, and neither a cell nor another message is at work then. The slices of a training
that goes on between the cells take their turns, too.
"""

import asyncio
import logging
import os
from collections.abc import Callable
from pathlib import Path

from comm import get_comm_manager
from pyodide_kernel.kernel import PyodideKernel

DRIVE = Path("/drive/notebooks")  # the browser's storage, which JupyterLite shows beside the lessons


_turn = asyncio.Lock()  # held by the cell, the message or the slice of training that is at work
_waiting: set[asyncio.Future] = set()


def _put_off(work: Callable[..., object]) -> Callable[..., None]:
    """The same work, to be done when it is its turn."""

    async def in_turn(*given: object) -> None:
        async with _turn:
            work(*given)

    def begin(*given: object) -> None:
        task = asyncio.ensure_future(in_turn(*given))
        _waiting.add(task)  # which keeps it until it has ended
        task.add_done_callback(_waiting.discard)

    return begin


take = _put_off(lambda work: work())  # one slice of a training


def _one_at_a_time() -> None:
    """Let messages and cells take turns, too."""
    manager, run = get_comm_manager(), PyodideKernel.run

    async def run_in_turn(kernel: PyodideKernel, code: str) -> dict:
        async with _turn:
            return await run(kernel, code)

    manager.comm_msg = _put_off(manager.comm_msg)
    PyodideKernel.run = run_in_turn


logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)  # it says that it looks for fonts
_one_at_a_time()
if DRIVE.is_dir():
    os.environ.setdefault("CONVGRAD_MY", str(DRIVE / "my"))
