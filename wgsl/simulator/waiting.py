"""The loops of a run that wait for other invocations.

WGSL does not promise that an invocation runs while another one waits for it: such a loop may be endless, and it is
reported, even where in this run the others have come first.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from wgsl.simulator.lanes import Dispatch, Lanes
from wgsl.types.program import Loop, Program, Variable
from wgsl.types.waiting import waiting_loops


class Waits:
    """The invocations that have entered such loops, and those that have written the variables they wait for."""

    def __init__(self, program: Program, dispatch: Dispatch) -> None:
        self._dispatch = dispatch
        self._awaited = waiting_loops(program.entry) if dispatch.lanes > 1 else {}
        self._entered: dict[int, tuple[Loop, np.ndarray]] = {}
        self._writers: dict[Variable, np.ndarray] = {}
        self._stopped: Loop | None = None

    def enter(self, loop: Loop, lanes: Lanes) -> None:
        """Note that these invocations come to a loop."""
        if id(loop) in self._awaited:
            _, entered = self._entered.setdefault(id(loop), (loop, np.zeros(self._dispatch.lanes, bool)))
            entered[lanes.index] = True

    def write(self, variable: Variable, lanes: Lanes) -> None:
        """Note that these invocations write an atomic variable."""
        if variable in self._awaited.values():
            writers = self._writers.setdefault(variable, np.zeros(self._dispatch.lanes, bool))
            writers[lanes.index] = True

    def stop(self, loop: Loop) -> bool:
        """Return True for a loop that waits; the run is stopped in it."""
        if id(loop) not in self._awaited:
            return False
        self._stopped = loop
        return True

    def found(self) -> Iterator[tuple[Loop, np.ndarray, Variable]]:
        """Yield the loops in which somebody has waited for somebody else, or might have, and for which variable."""
        for loop, entered in self._entered.values():
            variable = self._awaited[id(loop)]
            writers = self._writers.get(variable, np.zeros(self._dispatch.lanes, bool))
            alone = writers.sum() == 1 and np.array_equal(writers, entered)
            if loop is self._stopped or (writers.any() and not alone):
                yield loop, np.flatnonzero(entered), variable
