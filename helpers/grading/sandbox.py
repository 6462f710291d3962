"""A learner's kernel in a process of its own."""

import os
import subprocess
import sys
from pathlib import Path

SECONDS = 30  # how long a learner's kernel may take in all


def run_module(module: str, text: str) -> subprocess.CompletedProcess:
    root = Path(__file__).resolve().parents[2]
    paths = os.pathsep.join(filter(None, [str(root), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "PYTHONPATH": paths, "PYTHONIOENCODING": "utf-8"}
    options = {"cwd": root, "env": environment, "capture_output": True, "encoding": "utf-8", "errors": "replace"}
    return subprocess.run([sys.executable, "-m", module], input=text, timeout=SECONDS, **options)
