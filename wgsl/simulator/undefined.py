"""Finds the values that WGSL does not define, made by subgroups, on which the results of a run depend.

A scan takes such values and then drops them, as in ``if lane >= step { sum += up; }``: that is no mistake. So the run
is made again with other numbers in place of those of one function, and what counts is whether a buffer changes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from wgsl.simulator.subgroups import Fill, Subgroups
from wgsl.simulator.watch import Watch

FILLS = (0x7E7E7B7B, 0xFEFEFBFB)  # large floats of 32 and of 16 bits; integers that are large, and negative or larger
MOST_PLACES = 8  # of a text that are tried
Again = Callable[[Fill | None], Sequence[np.ndarray] | None]  # the words of the buffers; None where a run does not end


def report(observer: Watch, subgroups: Subgroups, again: Again) -> None:
    """Report the undefined values on which the buffers depend, of those that a run has noted."""
    if not subgroups.undefined:
        return
    before = again(None)
    for at in [*subgroups.undefined][:MOST_PLACES]:
        if any(_differ(before, again(Fill(at, bits))) for bits in FILLS):
            lanes = np.flatnonzero(subgroups.lanes[at])
            observer.collector.add("undefined lane", at, lanes, subgroups.undefined[at])


def _differ(before: Sequence[np.ndarray] | None, after: Sequence[np.ndarray] | None) -> bool:
    if before is None or after is None:
        return before is not after
    return any(not np.array_equal(one, other) for one, other in zip(before, after, strict=True))
