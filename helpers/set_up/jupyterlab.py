"""JupyterLab: its first window, and how it is started."""

import json
import os
import signal
import subprocess
import tempfile
from pathlib import Path

from helpers.set_up import paths, system_packages
from helpers.set_up.programs import say

FIRST = "start_here.ipynb"  # the map
# Sliders answer sooner with a connection that holds no message back.
JUPYTERLAB = [
    "-m",
    "jupyterlab",
    "--ServerApp.kernel_websocket_connection_class=helpers.widgets.websocket.PromptConnection",
]
WORKSPACE = "default-37a8.jupyterlab-workspace"  # JupyterLab's name for the workspace of its first window
WORKSPACES = "JUPYTERLAB_WORKSPACES_DIR"


def disable_news() -> None:
    """Keep JupyterLab from asking, in the first window, whether it may fetch news."""
    settings = paths.VENV / "share" / "jupyter" / "lab" / "settings"
    settings.mkdir(parents=True, exist_ok=True)
    news = {"@jupyterlab/apputils-extension:notification": {"fetchNews": "false", "checkForUpdates": False}}
    (settings / "overrides.json").write_text(json.dumps(news), encoding="utf-8")


def close_side_bar(folder: Path) -> None:
    """Begin with JupyterLab's side bar closed, so that a lesson has the whole window; what a reader changes stays."""
    folder.mkdir(parents=True, exist_ok=True)
    areas = {"main": {"dock": {"type": "tab-area", "currentIndex": 0, "widgets": []}}, "left": {"collapsed": True}}
    first = {"data": {"layout-restorer:data": areas}, "metadata": {"id": "default"}}
    if not (folder / WORKSPACE).exists():
        (folder / WORKSPACE).write_text(json.dumps(first), encoding="utf-8")


def options(port: int | None, no_browser: bool) -> list[str]:
    """The options of JupyterLab for these options of start.py."""
    words = [f"--ServerApp.root_dir={paths.ROOT}", f"--LabApp.default_url=/lab/tree/notebooks/{FIRST}"]
    words.append("--log-level=WARN")  # prints only the address and problems
    if port:
        words += [f"--ServerApp.port={port}", "--ServerApp.port_retries=0"]
    if no_browser:
        words.append("--no-browser")
    if system_packages.IS_ROOT:
        words.append("--allow-root")
    return words


def serve(words: list[str], env: dict) -> int:
    """Start JupyterLab with these options, and wait until it is stopped; its exit status."""
    with tempfile.TemporaryDirectory() as temporary:
        if WORKSPACES not in env:
            # Another account may have made .venv, or the folder may be on a disk that can only be read.
            settings = paths.VENV if os.access(paths.VENV, os.W_OK) else Path(temporary)
            env[WORKSPACES] = str(settings / "share" / "jupyter" / "lab" / "workspaces")
            close_side_bar(Path(env[WORKSPACES]))
        say(f"Opening {FIRST} in JupyterLab. To stop it, press Ctrl-C twice here.")
        server = subprocess.Popen([paths.PYTHON, *JUPYTERLAB, *words], cwd=paths.ROOT, env=env)
        signal.signal(signal.SIGINT, lambda *_: None)  # Ctrl-C reaches JupyterLab too, which asks before it stops
        signal.signal(signal.SIGTERM, lambda *_: server.terminate())
        return server.wait()
