"""Workgroups that do the same are watched once: the races and the counts are those of a watch over each of them."""

import random

import numpy as np
import pytest

from wgsl.simulator.alike import AlikeShadow
from wgsl.simulator.counts import bank_conflicts, sectors
from wgsl.simulator.lanes import Dispatch, Lanes
from wgsl.simulator.memory import Conflicts, Shadow

GROUPS, THREADS, WORDS = 3, 4, 5  # the words of each workgroup


def plain(conflicts: list[Conflicts]) -> list[dict[str, list]]:
    """Races as numbers that can be compared."""
    return [{name: field.tolist() for name, field in vars(conflict).items()} for conflict in conflicts]


def accesses(seed: int, alike: float):
    """Yield accesses: where, by whom, after how many barriers, the bits, and whether it is a write."""
    rng = random.Random(seed)
    dispatch = Dispatch((GROUPS, 1, 1), (THREADS, 1, 1))
    epochs = np.zeros(GROUPS, np.int32)
    for _ in range(12):
        local = np.array(sorted(rng.sample(range(THREADS), rng.randint(1, THREADS))))
        words = np.array([rng.randrange(WORDS) for _ in local])
        index = np.concatenate([local + THREADS * group for group in range(GROUPS)])
        where = np.concatenate([words + WORDS * group for group in range(GROUPS)])
        if rng.random() > alike:
            kept = np.array([rng.random() < 0.7 for _ in index])
            index, where = index[kept], where[kept]
        if len(index):
            lanes = Lanes(dispatch, index)
            bits = np.array([rng.randrange(2) for _ in index], np.uint32)
            yield where, lanes, epochs[lanes.groups], bits, rng.random() < 0.5
        epochs += 1 if rng.random() < 0.6 else np.arange(GROUPS) % 2 if rng.random() > alike else 0


@pytest.mark.parametrize("alike", [1.0, 0.9, 0.5])
def test_the_races_are_those_of_a_watch_over_each_workgroup(alike):
    raced = 0
    for seed in range(150):
        groups = Dispatch((GROUPS, 1, 1), (THREADS, 1, 1))
        together = AlikeShadow(GROUPS * WORDS, groups)
        each = Shadow(GROUPS * WORDS, groups.groups)
        for at, (where, lanes, epoch, bits, write) in enumerate(accesses(seed, alike)):
            if write:
                got, want = (shadow.write(where, lanes, epoch, at, bits) for shadow in (together, each))
            else:
                got, want = (shadow.read(where, lanes, epoch, at) for shadow in (together, each))
            assert plain(got) == plain(want)
            raced += len(want) > 0
    assert raced > 100


def test_a_set_of_invocations_knows_whether_all_workgroups_have_the_same():
    dispatch = Dispatch((2, 1, 1), (4, 1, 1))
    assert Lanes(dispatch, np.array([1, 2, 5, 6])).first.index.tolist() == [1, 2]
    assert dispatch.all.first.index.tolist() == [0, 1, 2, 3]
    assert Lanes(dispatch, np.array([1, 2, 5, 7])).first is None
    assert Lanes(dispatch, np.array([3, 4])).first is None
    assert dispatch.none.first is None
    assert Dispatch((1, 1, 1), (4, 1, 1)).all.first is None


@pytest.mark.parametrize("threads", [64, 40])
def test_counts_are_those_of_each_warp_by_itself(threads):
    rng = np.random.default_rng(0)
    dispatch = Dispatch((2, 1, 1), (threads, 1, 1))
    local = rng.integers(0, 99, (3, threads))
    for index in (np.concatenate([local, local], axis=1), rng.integers(0, 99, (3, 2 * threads))):
        touched = conflicts = 0
        for warp in range(dispatch.warps[-1] + 1):
            words = np.unique(index[:, dispatch.warps == warp])
            touched += len(np.unique(words // 8))
            banks = np.bincount(words % 32, minlength=32)
            conflicts += banks.max() - -(-len(words) // 32)
        assert sectors(index, dispatch.all) == touched
        assert bank_conflicts(index, dispatch.all) == conflicts
