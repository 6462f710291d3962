"""Other programs: the environment that they get, and what they print."""

import os
import re
import subprocess
import sys
import tempfile

from helpers.set_up import paths
from helpers.set_up.stops import DISK_FULL, Failed, Stop

PRINTED_WHEN_FULL = r"No space left|Errno 28\b|WinError 112|Disk quota|not enough space on the disk"
# These keep Python from the project, from .venv or from paths with umlauts, drop the docstrings, stop at a warning, or
# store no byte code.
DROPPED = [
    "HOME",
    "PATH",
    "SAFEPATH",
    "PLATLIBDIR",
    "UTF8",
    "COERCECLOCALE",
    "OPTIMIZE",
    "WARNINGS",
    "DONTWRITEBYTECODE",
]


def say(text: str) -> None:
    """Print a line at once."""
    print(text, flush=True)


def environment() -> dict:
    """The environment for every program started here: the current one without what would affect .venv."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("UV_")}
    env |= {"PYTHONUNBUFFERED": "1", "DEBIAN_FRONTEND": "noninteractive"}
    for name in DROPPED:
        env.pop(f"PYTHON{name}", None)
    if sys.platform == "linux":  # without it, the graphics driver prints a warning where there is no desktop session
        env.setdefault("XDG_RUNTIME_DIR", tempfile.gettempdir())
    return env


def run(command: list, env: dict) -> str:
    """Run a command and return what it prints. A failure raises `Stop` with the reason."""
    streams = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
    done = subprocess.run(command, cwd=paths.ROOT, env=env, text=True, errors="replace", **streams)
    if done.returncode and re.search(PRINTED_WHEN_FULL, done.stdout):
        raise Stop(*DISK_FULL)
    if done.returncode:
        raise Failed(command, done.stdout)
    return done.stdout
