"""The way through the rooms: text and buffers in, a trace out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from helpers.simulator import launch
from helpers.simulator.execution import nan
from helpers.simulator.execution.access import Access
from helpers.simulator.execution.machine import Machine
from helpers.simulator.execution.watch import Watch
from helpers.simulator.findings.trace import Trace
from helpers.simulator.lanes import Dispatch
from helpers.simulator.memory.words import Words
from helpers.wgsl import Kernel

MAX_STEPS = 65_536


def simulate(
    kernel: str | Kernel,
    buffers: Sequence[np.ndarray],
    workgroups: tuple[int, int, int],
    *,
    entry_point: str = "main",
    constants: Mapping[str, float] | None = None,
    outputs: Sequence[int] | None = None,
    max_steps: int | None = None,
) -> Trace:
    """Run a WGSL compute kernel without a GPU, and watch what it does.

    Parameters
    ----------
    kernel : str or Kernel
        The text. A Kernel brings the values of its `override` constants.
    buffers : sequence of ndarray
        One array of float32, int32 or uint32 for each binding of group 0, in order, of exactly the size that counts; a
        uniform struct is the uint32 words that it is made of. They are not changed.
    workgroups : (x, y, z)
        The size of the dispatch.
    entry_point : str
        The function to run.
    constants : mapping, optional
        Values of `override` constants by name.
    outputs : sequence of int, optional
        The bindings that must be written whole; by default those that the entry point can store to.
    max_steps : int, optional
        How many loop rounds an invocation may make, in all its loops together; 65,536 by default. Past it the loop is
        called endless, and the run ends.

    Returns
    -------
    Trace
        The buffers afterwards, the findings (none for a right kernel), the counts and the accesses.

    Raises
    ------
    WgslError
        The text does not compile; the message has the line and the column.
    UnsupportedWgsl
        The text has a feature of WGSL that the simulator does not run.
    ValueError, TypeError
        An argument does not fit, or asks for more than the simulator holds (about a million invocations, 32 MiB of
        workgroup memory, some minutes of work); the message names it, its value and the rule.
    """
    kernel = launch.kernel_of(kernel)
    program = launch.compiled(kernel, entry_point, constants)
    arrays = launch.checked_buffers(program, buffers)
    dispatch = Dispatch(launch.checked_workgroups(program, workgroups), program.workgroup_size)
    wanted = launch.checked_outputs(program, outputs)
    rounds = launch.checked_steps(MAX_STEPS if max_steps is None else max_steps)

    words = Words(dispatch)
    for variable, array in zip(program.bindings, arrays, strict=True):
        words.bind(variable, nan.plain(array))
    for variable in program.workgroup:
        words.make(variable)
    watch = Watch(kernel.source, dispatch, words, program.written, launch.are_finite(arrays))
    ended = Machine(program, dispatch, words, watch, Access(words, watch), rounds).run()
    if ended:
        for variable in wanted:
            watch.unwritten(variable)
    return Trace(
        kernel,
        entry_point,
        dispatch.workgroups,
        dispatch.size,
        tuple(launch.like(array, words.arrays[v]) for v, array in zip(program.bindings, arrays, strict=True)),
        watch.collector.findings(),
        watch.counter.counts(watch.line),
        watch.log,
    )
