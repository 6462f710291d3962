"""The simulator's memory: how invocations are numbered, which accesses race, and who goes first at an atomic."""

from itertools import combinations, product

import numpy as np
from support.sample import sample

from wgsl.simulator.lanes import Dispatch, Lanes
from wgsl.simulator.memory import Shadow

DISPATCH = Dispatch((2, 1, 2), (3, 2, 1))  # 4 workgroups of 6 invocations


def some(*lanes: int) -> Lanes:
    return Lanes(DISPATCH, np.array(lanes))


# --- Races ------------------------------------------------------------------------------------------------


def is_racy(history: list[tuple[int, int, bool]]) -> bool:
    """Return True where two accesses, each a (lane, epoch, write), are unordered and one of them is a write."""
    groups = DISPATCH.groups
    return any(
        a[0] != b[0] and (a[2] or b[2]) and (groups[a[0]] != groups[b[0]] or a[1] == b[1])
        for a, b in combinations(history, 2)
    )


SETS = [some(0), some(1), some(6), some(0, 1), some(0, 6), some(1, 6), some(0, 1, 6)]  # 0 and 1 are neighbors


def test_the_shadow_finds_a_race_wherever_one_is():
    """Every course of three statements in which some of three invocations read or write one word.

    Between the statements, workgroup 0 passes a barrier or does not.
    """
    for statements in sample(list(product(product(SETS, (False, True)), repeat=3)), 700):
        if not any(write for _, write in statements):
            continue
        for passed in ((0, 0, 0), (0, 0, 1), (0, 1, 1)):
            shadow = Shadow(1, DISPATCH.groups)
            history = []
            raced = False
            for (lanes, write), barriers in zip(statements, passed, strict=True):
                where, epoch = np.zeros(lanes.count, int), np.where(lanes.groups == 0, barriers, 0)
                bits = np.zeros(lanes.count, np.uint32)
                note = shadow.write(where, lanes, epoch, 0, bits) if write else shadow.read(where, lanes, epoch, 0)
                raced |= bool(note)
                history += [(lane, at, write) for lane, at in zip(lanes.index, epoch, strict=True)]
            assert raced == is_racy(history), (statements, passed)
