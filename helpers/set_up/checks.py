"""Checks before anything is done: the folder, Python's own parts, the disk, and the port."""

import importlib.util
import os
import shutil
import socket

from helpers.set_up import paths, system_packages
from helpers.set_up.stops import AGAIN, DISK_FULL, Stop

SPACE = 1_500_000_000  # bytes: the packages take 0.7 GB, and about as much again while they are unpacked


def check_folder() -> None:
    """Stop at a path that Python's venv refuses. Where this account may not write, the stamp raises an error."""
    if os.pathsep in str(paths.VENV):
        why = f"Python cannot make .venv in a folder whose path contains {os.pathsep!r}: {paths.ROOT}"
        raise Stop(why, f"rename or move the folder, {AGAIN}")
    paths.VENV.mkdir(exist_ok=True)
    paths.STAMP.touch()
    paths.STAMP.unlink()


def check_venv_module() -> None:
    """Stop where this Python is incomplete.

    Debian and Ubuntu leave out `ensurepip`, which installs pip into a new .venv, and some systems `venv` itself.
    """
    if importlib.util.find_spec("venv") and importlib.util.find_spec("ensurepip"):
        return
    todo = "install a complete Python"
    if shutil.which("apt-get"):
        todo = f"run `{system_packages.SUDO}apt-get install python3-venv`"
    raise Stop("this Python has no venv module", f"{todo}, {AGAIN}")


def check_free_space() -> None:
    """Stop if the packages do not fit. What .venv takes now counts as free, because it is cleared first."""
    cleared = sum(path.lstat().st_size for path in paths.VENV.rglob("*"))
    free = shutil.disk_usage(paths.VENV if paths.VENV.exists() else paths.ROOT).free + cleared
    if free < SPACE:
        raise Stop(f"the disk is almost full: {free / 1e9:.1f} GB are free in {paths.ROOT}", DISK_FULL[1])


def check_port(port: int) -> None:
    """Stop if another program uses this port, or if an ordinary user may not open it."""
    with socket.socket() as client:
        client.settimeout(1)
        if not 1024 <= port <= 65535 or client.connect_ex(("127.0.0.1", port)) == 0:
            todo = "choose another --port from 1024 to 65535, or leave it out to use a free one"
            raise Stop(f"port {port} is in use or out of range", todo)
