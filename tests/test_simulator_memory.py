"""The simulator's memory: where each word lies, and which accesses to it race."""

from itertools import combinations, product

import numpy as np
import pytest

from helpers.simulator.access import exchanged, turns
from helpers.simulator.lanes import Dispatch, Lanes, joined
from helpers.simulator.memory import Shadow, Words, as_bits, numbers, of_bits
from helpers.simulator.operators import DTYPES
from helpers.simulator.types.kinds import BOOL, F32, I32, U32, Array, Field, Struct, Vector
from helpers.simulator.types.program import Variable

DISPATCH = Dispatch((2, 1, 2), (3, 2, 1))  # 4 workgroups of 6 invocations


def some(*lanes: int) -> Lanes:
    return Lanes(DISPATCH, np.array(lanes))


# --- Invocations ------------------------------------------------------------------------------------------


def test_invocations_are_numbered_as_webgpu_numbers_them():
    x, y, z = (axis.reshape(2, 2, 2, 3) for axis in DISPATCH.built_in("global_invocation_id"))
    for group_z, group_x, local_y, local_x in np.ndindex(2, 2, 2, 3):
        at = group_z, group_x, local_y, local_x
        assert (x[at], y[at], z[at]) == (group_x * 3 + local_x, local_y, group_z)
    assert DISPATCH.named(17) == ((0, 0, 1), 5)
    assert [int(size) for size in DISPATCH.built_in("num_workgroups")] == [2, 1, 2]
    assert list(DISPATCH.built_in("local_invocation_index")[0][:8]) == [0, 1, 2, 3, 4, 5, 0, 1]


def test_warps_hold_32_neighbors_of_one_workgroup():
    dispatch = Dispatch((2, 1, 1), (40, 1, 1))
    assert list(dispatch.warp_sizes) == [32, 8, 32, 8]
    part = Lanes(dispatch, np.array([0, 33, 41]))
    assert (list(part.warps), part.warp_threads) == ([0, 1, 2], 32 + 8 + 32)


def test_parts_of_a_set_are_joined_in_order_and_a_whole_one_stays_itself():
    whole = some(1, 4, 9, 20)
    low, high = whole.where(np.array([True, False, True, False])), whole.where(np.array([False, True, False, True]))
    assert joined(whole, high, low) is whole
    assert list(joined(whole, some(20), some(1)).index) == [1, 20]
    assert joined(whole, DISPATCH.none, DISPATCH.none).count == 0
    assert whole.where(np.array(True)) is whole
    assert list(whole.take(whole.spread(np.array([5, 6, 7, 8])))) == [5, 6, 7, 8]


# --- Words ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("space", ["storage", "workgroup", "function"])
def test_what_is_stored_is_loaded_again_where_each_space_keeps_it(space):
    words, variable = Words(DISPATCH), Variable("v", Array(F32, 24), space, "read_write", 0)
    if space == "storage":
        words.bind(variable, np.zeros(24, np.float32))
    else:
        words.make(variable)
    values = np.arange(24, dtype=np.float32)
    words.store(variable, np.arange(24), DISPATCH.all, as_bits(values))
    assert (words.load(variable, np.arange(24), DISPATCH.all, F32) == values).all()
    seen = words.load(variable, 1, DISPATCH.all, F32)
    wanted = {"storage": np.ones(24), "workgroup": np.repeat([1, 0, 0, 0], 6), "function": np.arange(24) == 1}[space]
    assert (np.broadcast_to(seen, 24) == wanted).all()


def test_a_loaded_number_does_not_change_when_its_variable_does():
    words, variable = Words(DISPATCH), Variable("v", U32, "function", "read_write", 0)
    words.make(variable)
    before = words.load(variable, 0, DISPATCH.all, U32)
    words.store(variable, 0, DISPATCH.all, np.full(24, 7, np.uint32))
    assert (before == 0).all()


@pytest.mark.parametrize("scalar", [F32, I32, U32, BOOL], ids=str)
def test_numbers_keep_their_bits(scalar):
    values = np.array([0, 1, 1], DTYPES[scalar.name])
    assert (of_bits(as_bits(values), scalar) == values).all()


def test_padding_is_no_number():
    pair = Struct("Pair", (Field("v", Vector(3, F32), 0), Field("n", U32, 4)), 8, 4)
    assert list(numbers(Array(pair, None), 16)) == [0, 1, 2, 4, 8, 9, 10, 12]


# --- Races ------------------------------------------------------------------------------------------------


def is_racy(history: list[tuple[int, int, bool]]) -> bool:
    """Whether any two accesses, each by (lane, epoch, write), are unordered and one is a write."""
    groups = DISPATCH.groups
    return any(
        a[0] != b[0] and (a[2] or b[2]) and (groups[a[0]] != groups[b[0]] or a[1] == b[1])
        for a, b in combinations(history, 2)
    )


SETS = [some(*lanes) for size in (1, 2, 3) for lanes in combinations((0, 1, 6), size)]  # 0 and 1 are neighbors


def test_the_shadow_finds_a_race_wherever_one_is():
    """Every course of three statements in which some of three invocations read or write one word.

    Between the statements, workgroup 0 passes a barrier or does not.
    """
    for statements in product(product(SETS, (False, True)), repeat=3):
        if not any(write for _, write in statements):
            continue
        for passed in ((0, 0, 0), (0, 0, 1), (0, 1, 1)):
            shadow, history, found = Shadow(1, DISPATCH.groups), [], False
            for (lanes, write), barriers in zip(statements, passed, strict=True):
                where, epoch = np.zeros(lanes.count, int), np.where(lanes.groups == 0, barriers, 0)
                bits = np.zeros(lanes.count, np.uint32)
                note = shadow.write(where, lanes, epoch, 0, bits) if write else shadow.read(where, lanes, epoch, 0)
                found |= bool(note)
                history += [(lane, at, write) for lane, at in zip(lanes.index, epoch, strict=True)]
            assert found == is_racy(history), (statements, passed)


def test_a_conflict_says_who_and_where_and_whether_the_values_are_alike():
    shadow, epoch = Shadow(4, DISPATCH.groups), np.zeros(1, int)
    assert shadow.write(np.array([2]), some(3), epoch, 10, np.uint32([5])) == []
    (same,) = shadow.write(np.array([2]), some(4), epoch, 20, np.uint32([5]))
    assert (same.mine, same.other, same.where, same.other_at, same.alike) == ([4], [3], [2], [10], [True])
    (read,) = shadow.read(np.array([2]), some(5), epoch, 30)
    assert (read.other, read.other_at, read.other_wrote, read.alike) == ([4], [20], [True], [False])
    assert shadow.read(np.array([2]), some(4), epoch, 40) == []  # what it wrote itself
    assert shadow.read(np.array([2]), some(5), epoch + 1, 50) == []  # a barrier later


# --- Atomics ----------------------------------------------------------------------------------------------


def test_invocations_that_name_one_word_take_turns():
    where = np.array([3, 1, 3, 3, 1])
    kept = np.array([True, True, False, True, True])
    assert [list(turn) for turn in turns(where, kept)] == [[1, 0], [4, 3]]
    array = np.array([0, 10, 0, 30], np.uint32)
    before, after = exchanged("atomicAdd", array, where, [np.uint32([1, 2, 4, 8, 16])], kept)
    assert (list(array), list(before), list(after)) == ([0, 28, 0, 39], [30, 10, 0, 31, 12], [31, 12, 0, 39, 28])


def test_a_compare_exchange_changes_only_what_it_expects():
    array = np.array([7], np.int32)
    arguments = [np.int32([7, 7]), np.int32([8, 9])]
    before, _ = exchanged("atomicCompareExchangeWeak", array, np.zeros(2, int), arguments, np.ones(2, bool))
    assert (list(array), list(before)) == ([8], [7, 8])
