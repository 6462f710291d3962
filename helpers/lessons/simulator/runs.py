"""Small kernels that the pictures show, and what each step of their runs does."""

from collections.abc import Iterator
from functools import cache
from itertools import chain
from typing import NamedTuple

import numpy as np

from helpers.lessons.simulator.detector import Access
from wgsl import Trace, simulate

# --- Lanes ------------------------------------------------------------------------------------------------------

LANES = 8
COUNTING = """@group(0) @binding(0) var<storage, read_write> counts: array<u32>;

@compute @workgroup_size(8)
fn main(@builtin(local_invocation_index) thread: u32) {
  var n = thread + 1u;
  var steps = 0u;
  while (n > 1u) {
    if (n % 2u == 0u) {
      n = n / 2u;
    } else {
      n = n - 1u;
    }
    steps += 1u;
  }
  counts[thread] = steps;
}
"""
COUNTING_BODY = (4, 15)  # its lines that a picture shows: the first, and the one after the last, counted from 0
NOT_YET = -1  # in the place of a variable that has no value


class LanesStep(NamedTuple):
    """A statement of a run in lockstep: its line, the lanes that run it, and n and steps of all lanes after it."""

    line: int
    active: tuple[int, ...]
    n: tuple[int, ...]
    steps: tuple[int, ...]


@cache
def counting() -> tuple[LanesStep, ...]:
    """Return the run of COUNTING, as the simulator makes it."""
    trace = simulate(COUNTING, [np.zeros(LANES, np.uint32)], (1, 1, 1), watch=["n", "steps"])
    values = {name: [NOT_YET] * LANES for name in ("n", "steps")}
    run = []
    for number, step in enumerate(trace.steps):
        for name, held in values.items():
            for row in trace.watched[name]:
                if row["step"] == number:
                    held[row["invocation"]] = int(row["value"])
        run.append(LanesStep(step.line, tuple(step.active.tolist()), tuple(values["n"]), tuple(values["steps"])))
    return tuple(run)


# --- A sum ------------------------------------------------------------------------------------------------------

NUMBERS = 2, 5, 7, 4
SUM = """@group(0) @binding(0) var<storage, read> input: array<u32, 4>;
@group(0) @binding(1) var<storage, read_write> total: array<u32, 1>;
var<workgroup> partial: array<u32, 4>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) thread: u32) {
  partial[thread] = input[thread];
  for (var half = 2u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (thread < half) {
      partial[thread] += partial[thread + half];
    }
  }
  if (thread == 0u) { total[0] = partial[0]; }
}
"""
NEIGHBORS = """@group(0) @binding(0) var<storage, read> input: array<u32, 4>;
var<workgroup> box: array<u32, 4>;

@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) thread: u32) {
  box[thread] = input[thread];
  workgroupBarrier();
  box[thread] = box[(thread + 1u) % 4u] + box[thread];
}
"""
BARRIER = "workgroupBarrier();"
STORE, WAIT, ADD, TAKE = 0, 2, 4, 7  # of SUM_BODY, as counted in it
SUM_BODY = (6, 14)
LOCKSTEP, FIRST_TO_LAST, LAST_TO_FIRST = range(3)
ORDERS = "in lockstep", "thread 0 first", "thread 3 first"


class SumStep(NamedTuple):
    """A statement of a sum: its line, the threads that run it, what memory holds after it, and the value of half."""

    line: int
    threads: tuple[int, ...]
    partial: tuple[int, ...]
    total: int | None
    half: int = 0


class _Statement(NamedTuple):
    line: int
    half: int = 0


def _statements(thread: int) -> list[list[_Statement]]:
    """The statements of a thread that use memory, in lists between which it passes a barrier."""
    between = [[_Statement(STORE)]]
    for half in (2, 1):
        adds = [_Statement(ADD, half)] if thread < half else []
        between.append(adds)
    if thread == 0:
        between[-1].append(_Statement(TAKE))
    return between


def sum_in_order(barrier: bool, order: int) -> tuple[SumStep, ...]:
    """Return the run of a sum, with its barrier or without, in lockstep or one thread after the other."""
    threads = range(len(NUMBERS))
    parts = [_statements(thread) for thread in threads]
    if not barrier:
        parts = [[list(chain.from_iterable(part))] for part in parts]
    partial = [0] * len(NUMBERS)
    total = None
    run = []
    for number, epoch in enumerate(zip(*parts, strict=True)):
        if number:
            run.append(SumStep(WAIT, tuple(threads), tuple(partial), total))
        for statement, active in _turns(epoch, order):
            if statement.line == TAKE:
                total = partial[0]
            _use(statement, active, partial)
            run.append(SumStep(statement.line, active, tuple(partial), total, statement.half))
    return tuple(run)


def _turns(epoch: tuple[list[_Statement], ...], order: int) -> Iterator[tuple[_Statement, tuple[int, ...]]]:
    """Yield the statements of an epoch, by the thread, each with the threads that run it at once."""
    if order == LOCKSTEP:
        for statement in dict.fromkeys(epoch[0]):  # thread 0 has all of them
            yield statement, tuple(thread for thread, own in enumerate(epoch) if statement in own)
        return
    threads = range(len(epoch)) if order == FIRST_TO_LAST else reversed(range(len(epoch)))
    for thread in threads:
        for statement in epoch[thread]:
            yield statement, (thread,)


def _use(statement: _Statement, active: tuple[int, ...], partial: list[int]) -> None:
    """Do what a statement does to the memory: all threads read before any of them writes."""
    before = list(partial)
    for thread in active:
        if statement.line == STORE:
            partial[thread] = NUMBERS[thread]
        elif statement.line == ADD:
            partial[thread] = before[thread] + before[thread + statement.half]


# --- Accesses ---------------------------------------------------------------------------------------------------


class WatchedKernel(NamedTuple):
    """A kernel with four words in workgroup memory, and the lines of it that a picture shows."""

    name: str
    variable: str
    text: str
    body: tuple[int, int]


WATCHED = (
    WatchedKernel("with barriers", "partial", SUM, SUM_BODY),
    WatchedKernel("without barriers", "partial", SUM.replace(f"    {BARRIER}\n", ""), (6, 13)),
    WatchedKernel("neighbors", "box", NEIGHBORS, (5, 8)),
)


class MemoryStep(NamedTuple):
    """A barrier, or an access with the value that was read or written."""

    line: int
    epoch: int
    access: Access | None = None
    value: int = 0


@cache
def accesses(kernel: WatchedKernel) -> tuple[MemoryStep, ...]:
    """Return what a kernel does with its workgroup memory, access by access, as the simulator makes it."""
    trace = _run(kernel)
    steps = []
    epoch = 0
    lines = kernel.text.split("\n")
    for number, step in enumerate(trace.steps):
        if BARRIER in lines[step.line - 1]:
            epoch += 1
            steps.append(MemoryStep(step.line, epoch))
        for row in trace.accesses[trace.accesses["step"] == number]:
            if row["space"] == "workgroup":
                thread, word = int(row["invocation"]), int(row["index"])
                access = Access(thread, word, bool(row["write"]), epoch, step.line)
                steps.append(MemoryStep(step.line, epoch, access, int(row["value"])))
    return tuple(steps)


def _run(kernel: WatchedKernel) -> Trace:
    buffers = [np.array(NUMBERS, np.uint32)]
    if "total" in kernel.text:
        buffers.append(np.zeros(1, np.uint32))
    return simulate(kernel.text, buffers, (1, 1, 1))
