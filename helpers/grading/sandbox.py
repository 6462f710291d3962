"""A learner's kernel in a process of its own, where it cannot hang the notebook and no mistake goes unnoticed."""

import faulthandler
import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import asdict
from math import prod
from pathlib import Path
from typing import NamedTuple

import numpy as np

from helpers import gpu
from helpers.grading.loops import counted
from helpers.grading.verdict import WRONG, Grades, Verdict
from helpers.wgsl import Kernel

SECONDS = 30  # how long a learner's kernel may take in all
UNTOUCHED = np.float32(-99999.5)  # stands in an output wherever a kernel has not written; not a right answer

# --- The other process --------------------------------------------------------------------------------------


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


class Run(NamedTuple):
    """What a kernel wrote into its output, and what it did that luck alone may have kept from showing, or ""."""

    output: np.ndarray
    unsafe: str


def guarded(array: np.ndarray, guard: float) -> np.ndarray:
    """A flat copy with as many guards behind it as it has elements, and 64 more.

    A driver answers a read past the end of a buffer with 0, which may go unnoticed; a guard does not.
    """
    return np.concatenate([np.ravel(array), np.full(array.size + 64, guard)]).astype(np.float32)


def run_guarded(
    kernel: Kernel,
    inputs: Sequence[np.ndarray],
    shape: tuple[int, ...],
    params: Sequence[int],
    workgroups: tuple[int, int, int],
    guard: float,
) -> Run:
    """Run a kernel's counting copy twice, with a number and with NaN as guards behind its inputs.

    The bindings are the inputs, the output of this shape and the parameters, if there are any, in this order. Behind
    the output there is room for one number from each thread.
    """
    room = prod(shape) + prod(workgroups) * kernel.threads("main")
    (written, endless), (with_nan, _) = (
        _run_once(kernel, inputs, room, params, workgroups, g) for g in (guard, np.nan)
    )
    output, with_nan = written[: prod(shape)], with_nan[: prod(shape)]
    unsafe = endless
    if not endless and (np.isnan(with_nan) & ~np.isnan(output)).any():
        unsafe = "it reads past the end of an input; check the loop limits and the offsets"
    elif not endless and (written[prod(shape) :] != UNTOUCHED).any():
        unsafe = "a thread without an element wrote past the last one; return where there is no such element"
    return Run(output.reshape(shape), unsafe)


def _run_once(
    kernel: Kernel, inputs: Sequence, room: int, params: Sequence[int], workgroups: tuple, guard: float
) -> tuple[np.ndarray, str]:
    """The whole output buffer, and the loop that seems endless, if there is one."""
    copy = counted(kernel)
    output = gpu.upload(np.full(room, UNTOUCHED), "output")
    counts = gpu.empty(copy.nbytes, "counts")
    tensors = [gpu.upload(guarded(array, guard), "input") for array in inputs]
    sizes = [gpu.uniform(tuple(params))] if params else []
    gpu.run(gpu.Pass(copy.kernel, (*tensors, output, *sizes, counts), workgroups))
    line, endless = copy.endless_line(gpu.read(counts, (copy.nbytes // 4,), np.uint32)), ""
    if line:
        stopped = f"stopped after {copy.budget:,} iterations"
        endless = f"the loop in line {line} seems endless ({stopped}); does its counter reach the limit?"
    return gpu.read(output, (room,)), endless
