"""A learner's kernel in a process of its own, where it cannot hang or crash the notebook."""

import faulthandler
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

from helpers.gpu import GpuError
from helpers.grading.verdict import WRONG, Grades, Verdict

SECONDS = 30  # how long a learner's kernel may take in all


def graded_apart(command: Sequence[str], source: str, tests: Sequence[str]) -> Grades:
    """Let `command`, a module that calls `serve` and its arguments, grade a text in a process of its own.

    Raises GpuError where this machine cannot run any kernel; that says nothing about the learner's.
    """
    root = Path(__file__).resolve().parents[2]
    paths = os.pathsep.join(filter(None, [str(root), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "PYTHONPATH": paths, "PYTHONIOENCODING": "utf-8"}
    options = {"cwd": root, "env": environment, "capture_output": True, "encoding": "utf-8", "errors": "replace"}
    try:
        done = subprocess.run([sys.executable, "-m", *command], input=source, timeout=SECONDS, **options)
    except subprocess.TimeoutExpired:
        return Grades.alike(
            tests,
            WRONG,
            f"it did not finish within {SECONDS} s; does every loop end, and does every thread reach each barrier?",
        )
    if done.stdout:
        return _understood(json.loads(done.stdout))
    if done.returncode == 1:  # Python did not come as far as `serve`
        last = (done.stderr.strip() or "no message").splitlines()[-1]
        raise GpuError(f"your kernel could not be run: {last}")
    return Grades.alike(tests, WRONG, "it made the GPU driver crash; look at its loops and its indices")


def _understood(answer: dict) -> Grades:
    """The verdicts in an answer of `serve`, or its error."""
    if "error" in answer:
        raise GpuError(f"your kernel could not be run: {answer['error']}")
    return Grades(Verdict(**verdict) for verdict in answer["verdicts"])


def serve(grade: Callable[[str], Grades]) -> None:
    """What the other process does: read a text, grade it, print the verdicts.

    Nothing else reaches its standard output, whatever a driver prints there.
    """
    faulthandler.dump_traceback_later(SECONDS + 5, exit=True)  # ends also where the first process is gone
    with os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8") as answer:
        os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
        try:
            said = {"verdicts": [asdict(verdict) for verdict in grade(sys.stdin.read())]}
        except GpuError as error:
            said = {"error": str(error)}
        json.dump(said, answer)
