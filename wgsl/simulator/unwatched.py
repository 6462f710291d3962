"""A stand-in for the watch, in a run of which only the results are wanted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import MappingProxyType

import numpy as np

from wgsl.simulator.lanes import Lanes
from wgsl.types.program import Loop, Part

Held = list[tuple[Callable[[np.ndarray], None], Lanes]]  # what reads did wrong: reports it of those that are kept


class Unwatched:
    """Takes the place of a watch and of its parts where only the results of a run are wanted: it sees nothing."""

    sees, watched = False, MappingProxyType({})

    def __init__(self) -> None:
        self.counter = self.log = self.births = self.collector = self.waits = self
        self.held: Held | None = None

    def step(self, *_: object, **__: object) -> None:
        """See nothing."""

    access = add = atomic = barrier = builtin = enter = faults = operation = operator = release = source = step
    texel = step

    def stop(self, loop: Loop) -> bool:
        """Return False: no loop is known to wait."""
        return False

    def marked(self, part: Part, result: np.ndarray, operands: Sequence[np.ndarray]) -> np.ndarray:
        """The result as it is."""
        return result
