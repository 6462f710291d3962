"""The folder .venv with the locked packages, made once: a stamp file in it records that it was finished."""

import hashlib
import platform
import sys
import time

from helpers.set_up import jupyterlab, packages, paths, programs
from helpers.set_up.checks import check_folder, check_free_space, check_venv_module
from helpers.set_up.programs import say
from helpers.set_up.stops import Stop


def set_up(env: dict) -> None:
    """Make .venv and install the locked packages, unless the stamp shows that this is done."""
    if paths.STAMP.exists() and paths.STAMP.read_text(encoding="utf-8") == fingerprint(env):
        return
    check_folder()
    check_venv_module()
    check_free_space()
    begin = time.monotonic()
    say("Setting up. This takes about a minute, downloads 260 MB and needs 0.7 GB on the disk.")
    say(f"  creating .venv with Python {platform.python_version()}")
    programs.run([sys.executable, "-m", "venv", "--clear", paths.VENV], env)
    say("  installing the packages")
    packages.install(env)
    say("  preparing fonts and settings")
    first_imports = "import matplotlib.pyplot, jupyterlab.labapp, ipykernel.kernelapp, wgpu"
    programs.run([paths.PYTHON, "-c", first_imports], env)
    jupyterlab.disable_news()
    paths.STAMP.write_text(fingerprint(env), encoding="utf-8")
    say(f"  finished in {time.monotonic() - begin:.0f} s")


def fingerprint(env: dict) -> str | None:
    """The content of the stamp: the lock's hash and the version of the Python in .venv; None if that cannot run.

    A changed lock and an upgraded or removed Python are thus noticed. A moved folder keeps its .venv: every program
    is run as `python -m`, which does not depend on the scripts in .venv and the absolute paths in them.
    """
    try:
        version = programs.run([paths.PYTHON, "-c", "import sys; print(sys.version)"], env)
    except (OSError, Stop):
        return None
    return f"{hashlib.sha256(paths.LOCK.read_bytes()).hexdigest()}\n{version}"
