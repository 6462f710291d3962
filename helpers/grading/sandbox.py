"""A learner's kernel in a process of its own, where it cannot hang the notebook and no mistake goes unnoticed."""

import faulthandler
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path

import numpy as np

from helpers import gpu
from helpers.grading.loops import counted
from helpers.grading.verdict import WRONG, Grades, Verdict
from helpers.wgsl import Kernel

SECONDS = 30  # how long a learner's kernel may take in all
UNTOUCHED = np.float32(-99999.5)  # stands in an output wherever a kernel has not written; not a right answer

# --- The other process --------------------------------------------------------------------------------------


def graded_apart(module: str, source: str, tests: Sequence[str]) -> Grades:
    """Let `module`, which calls `serve`, grade a text in a process of its own.

    Raises GpuError where this machine cannot run any kernel; that says nothing about the learner's.
    """
    root = Path(__file__).resolve().parents[2]
    paths = os.pathsep.join(filter(None, [str(root), os.environ.get("PYTHONPATH")]))
    environment = {**os.environ, "PYTHONPATH": paths, "PYTHONIOENCODING": "utf-8"}
    options = {"cwd": root, "env": environment, "capture_output": True, "encoding": "utf-8", "errors": "replace"}
    try:
        done = subprocess.run([sys.executable, "-m", module], input=source, timeout=SECONDS, **options)
    except subprocess.TimeoutExpired:
        return Grades.alike(tests, WRONG, f"it did not finish within {SECONDS} s")
    if done.returncode == 0:
        return Grades(Verdict(**verdict) for verdict in json.loads(done.stdout.splitlines()[-1]))
    last = (done.stderr.strip() or "no message").splitlines()[-1]
    if done.returncode == 1:  # Python's own error, such as a missing adapter
        raise gpu.GpuError(f"your kernel could not be run: {last}")
    return Grades.alike(tests, WRONG, f"it made the GPU driver crash ({last})")


def serve(grade: Callable[[str], Grades]) -> None:
    """What the other process does: read a text, grade it, print the verdicts."""
    faulthandler.dump_traceback_later(SECONDS + 5, exit=True)  # ends also where the first process is gone
    print(json.dumps([asdict(verdict) for verdict in grade(sys.stdin.read())]))


# --- One run ------------------------------------------------------------------------------------------------


class EndlessLoop(Exception):
    """A loop seems endless; the message names its line."""


def guarded(array: np.ndarray, guard: float) -> np.ndarray:
    """A flat copy with as many guards behind it as it has elements, and 64 more.

    A driver answers a read past the end of a buffer with 0, which may go unnoticed; a guard does not.
    """
    return np.concatenate([np.ravel(array), np.full(array.size + 64, guard)]).astype(np.float32)


def run_guarded(
    kernel: Kernel, inputs: Sequence[np.ndarray], room: int, params: Sequence[int], workgroups: int, guard: float
) -> np.ndarray:
    """What a kernel writes into an output of `room` elements, with guards behind its inputs.

    Only its counting copy is run. The bindings are the inputs, the output and the parameters, in this order.

    Raises EndlessLoop where an invocation exceeds its budget of iterations.
    """
    copy = counted(kernel)
    output = gpu.upload(np.full(room, UNTOUCHED), "output")
    counts = gpu.empty(copy.nbytes, "counts")
    tensors = [gpu.upload(guarded(array, guard), "input") for array in inputs]
    gpu.run(gpu.Pass(copy.kernel, (*tensors, output, gpu.uniform(tuple(params)), counts), (workgroups, 1, 1)))
    line = copy.endless_line(gpu.read(counts, (copy.nbytes // 4,), np.uint32))
    if line:
        stopped = f"stopped after {copy.budget:,} iterations"
        raise EndlessLoop(f"the loop in line {line} seems endless ({stopped}); does its counter reach the limit?")
    return gpu.read(output, (room,))
