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

from helpers.widgets import turns

DRIVE = Path("/drive/notebooks")  # the browser's storage, which JupyterLite shows beside the lessons


def _one_at_a_time() -> None:
    """Let messages, cells and slices of training take turns."""
    manager, turn, run = get_comm_manager(), asyncio.Lock(), PyodideKernel.run

    async def in_turn(work: Callable[..., object], message: tuple) -> None:
        async with turn:
            work(*message)

    def put_off(work: Callable[..., object]) -> Callable[..., None]:
        return lambda *message: _keep(asyncio.ensure_future(in_turn(work, message)))

    async def run_in_turn(kernel: PyodideKernel, code: str) -> dict:
        async with turn:
            return await run(kernel, code)

    manager.comm_msg = put_off(manager.comm_msg)
    PyodideKernel.run = run_in_turn
    turns.take = put_off(lambda work: work())


_waiting: set[asyncio.Future] = set()


def _keep(task: asyncio.Future) -> None:
    """Keep a task until it has ended."""
    _waiting.add(task)
    task.add_done_callback(_waiting.discard)


logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)  # it says that it looks for fonts
_one_at_a_time()
if DRIVE.is_dir():
    os.environ.setdefault("CONVGRAD_MY", str(DRIVE / "my"))
