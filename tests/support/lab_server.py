"""JupyterLab over a copy of the project, and the browser that opens it."""

import json
import os
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from helpers.operations.kernels import ROOT
from helpers.set_up.browser import find_browser
from helpers.set_up.jupyterlab import JUPYTERLAB, close_side_bar

TOKEN = "convgrad"
START = 300  # seconds at most until a server that does not end serves
SETTINGS = {  # all cells are in the page at once, and nothing stands in the way
    "notebook-extension/tracker": {"windowingMode": "none"},
    "apputils-extension/notification": {"fetchNews": "false"},
    "docmanager-extension/plugin": {"autosave": False},
}
FOLDERS = ["JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"]
FOLDERS += ["JUPYTERLAB_SETTINGS_DIR", "JUPYTERLAB_WORKSPACES_DIR"]
MY = "CONVGRAD_MY"  # the reader's own files


@contextmanager
def jupyterlab(home: Path) -> Iterator[str]:
    """Serve a copy of the project from the empty folder `home`; gives the address of its folder of notebooks.

    Neither the project nor the reader's own JupyterLab changes, whatever a test does.
    """
    prepare(home)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, *JUPYTERLAB, "--no-browser", "--allow-root", f"--IdentityProvider.token={TOKEN}"]
    command += [f"--ServerApp.port={port}", "--ServerApp.port_retries=0", "--LabApp.expose_app_in_browser=True"]
    env = os.environ | {name: str(home / name) for name in (*FOLDERS, MY)}
    log = home / "jupyterlab.log"
    with log.open("w") as output:
        server = subprocess.Popen(command, cwd=home / "project", env=env, stdout=output, stderr=subprocess.STDOUT)
    try:
        wait_for_port(server, port, log)
        yield f"http://127.0.0.1:{port}/lab/tree/notebooks?token={TOKEN}"
    finally:
        server.terminate()  # it ends its kernels too
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()


def prepare(home: Path) -> None:
    """Copy the project to the empty folder `home`, and write JupyterLab's settings there."""
    ignore = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints")
    for folder in ("notebooks", "helpers", "wgsl", "kernels", "tests"):
        shutil.copytree(ROOT / folder, home / "project" / folder, ignore=ignore)
    for name, values in SETTINGS.items():
        file = home / "JUPYTERLAB_SETTINGS_DIR" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(values))
    close_side_bar(home / "JUPYTERLAB_WORKSPACES_DIR")


def wait_for_port(server: subprocess.Popen, port: int, log: Path) -> None:
    end = time.monotonic() + START
    while server.poll() is None and time.monotonic() < end:
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    pytest.fail(f"JupyterLab did not start; it said:\n{log.read_text()[-2000:]}")


def browser_path() -> str:
    """The browser that start.py found, or one on the PATH. Without one the tests fail: they skip nothing."""
    path = os.environ.get("CONVGRAD_BROWSER") or find_browser()
    if not path or not Path(path).exists():
        pytest.fail(f"no browser to test with ({path}): run `python3 start.py test`, which installs one", pytrace=False)
    return path
