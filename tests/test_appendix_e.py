"""Appendix E: its sums are those of the kernels, its pictures are legible, and its numbers are computed here again."""

import re

import numpy as np
import pytest
from support.legible import different, states, written

import helpers
from helpers import gpu
from helpers.grading import drawn, grader
from helpers.grading.puzzle import Puzzle
from helpers.grading.test_run import simulated
from helpers.grading.verdict import NOT_YET, RIGHT
from helpers.lessons.exercises import PUZZLES, QUESTIONS
from helpers.lessons.order_of_a_sum import explorers
from helpers.lessons.order_of_a_sum.pictures.ones import BLOCK
from helpers.lessons.order_of_a_sum.pictures.subgroups import SIZES, after_trades
from helpers.lessons.shared import sums as indices
from helpers.lessons.shared.sums import ADDENDS, EXACT
from helpers.operations.summation import operations
from wgsl.simulator.subgroups import SIZES as ALL_SIZES

ORDERS = {"1_one_thread": indices.add_one_by_one, "3_two_passes": indices.add_in_tree}  # as many threads as numbers
KAHAN = PUZZLES["kahan_sum"].solution.text


@pytest.mark.parametrize("kernel", ORDERS)
@pytest.mark.parametrize("count", [256, 4096])
def test_the_sums_of_the_picture_are_those_of_the_kernels(kernel, count):
    """To the last digit: this adapter rounds to the nearest number, as NumPy does."""
    numbers = np.random.default_rng(count).random((count, 2), np.float32)
    got = [operations.total(column.copy(), kernel=kernel)[0] for column in numbers.T]
    assert got == ORDERS[kernel](numbers).tolist()


def test_kahans_sum_is_that_of_the_exercise_and_as_good_as_one_rounding():
    numbers = np.random.default_rng(1).random((1000, 2), np.float32)
    got = [gpu.launch(KAHAN, [column.copy(), np.zeros(1, np.float32), (1000, 0)])[0] for column in numbers.T]
    exact = numbers.sum(axis=0, dtype=float)
    assert got == indices.add_with_compensation(numbers).tolist()
    assert (abs(got - exact) <= 2.0**-23 * exact).all()
    assert (abs(indices.add_one_by_one(numbers) - exact) > 2.0**-23 * exact).any()


def test_one_thread_stops_where_the_picture_says_and_the_tree_does_not():
    ones = np.ones(EXACT + 1000, np.float32)
    assert indices.add_one_by_one(ones) == EXACT
    assert indices.tree_steps([np.float32(12 * BLOCK // 256)] * 256)[-1][0] == 12 * BLOCK
    explorer = explorers.ones()
    sentence = explorer.set(blocks=8, near=3)
    explorer.steps.tick(explorer.values, "point")
    assert explorer.steps.done == [False, True]
    assert "one thread makes 16,777,216, and the tree 33,554,432" in sentence
    assert sentence.endswith("33,554,431 is none: a sum of 33,554,431 becomes 33,554,432.")
    assert any(re.search(r"in one thread on .+: 16,777,216$", text) for text in written(explorer.picture))


def test_four_threads_leave_what_float32_makes_of_their_order():
    explorer = explorers.four_numbers()
    calls = indices.calls()
    for order in calls:
        for turn, thread in enumerate(order):
            explorer.set(**explorer.picture.touchable[f"thread {thread}"].values_at((0, 0)))
            assert explorer.values["turn"] == turn + 1
            assert calls[explorer.values["order"]][: turn + 1] == order[: turn + 1]
        total = np.float32(0)
        for thread in order:
            total += np.float32(ADDENDS[thread])
        conclusion = "as it should be" if total == 2 else "and it should be"
        assert f"The total is {total:.0f}, {conclusion}" in explorer.sentence
    assert explorer.picture.found_totals == {0, 1, 2}
    assert explorer.steps.done == [True, True, True]


@pytest.mark.parametrize("name", ["ones", "four_numbers", "errors", "subgroups"])
def test_every_state_says_something_of_its_own(name):
    """That their words can be read is tried in the states of tests/messages/explorers.txt."""
    explorer = getattr(explorers, name)()
    sentences = {explorer.set(**values) for values in states(explorer)}
    assert len(sentences) == len(different(states(explorer), indices.calls())) > 1


SHUFFLES = """enable subgroups;
@group(0) @binding(0) var<storage, read> input: array<f32>;
@group(0) @binding(1) var<storage, read_write> sums: array<f32>;
@compute @workgroup_size(16) fn main(@builtin(local_invocation_index) i: u32) {
  var sum = input[i];
  for (var away = 1u; away < AWAY; away *= 2u) { sum += subgroupShuffleXor(sum, away); }
  sums[i] = sum;
}
"""


@pytest.mark.parametrize("size", SIZES)
def test_the_trades_of_the_picture_are_those_of_subgroup_shuffle_xor(size):
    numbers = np.arange(1, 17, dtype=np.float32) ** 2
    for trade, sums in enumerate(after_trades(numbers.tolist(), size)):
        text = SHUFFLES.replace("AWAY", f"{2**trade}u")
        trace = helpers.simulate(text, [numbers, np.zeros(16, np.float32)], (1, 1, 1), subgroup_size=size)
        assert trace.buffers[1].tolist() == sums
        assert not trace.findings
    assert sums == [numbers[i : i + size].sum() for i in range(0, 16, size) for _ in range(size)]


def test_a_subgroup_that_adds_leaves_one_barrier_of_eight():
    tree, subgroups = (PUZZLES[name] for name in ("tree_sum", "subgroup_sum"))
    barriers = [simulated(puzzle.official, puzzle.cases()[0]).counts["barriers"] for puzzle in (tree, subgroups)]
    assert barriers == [8, 1]


def drawn_sizes(puzzle: Puzzle) -> list[drawn.Sizes]:
    """The sizes of the problems on which a right text must be tried."""
    numbers, _ = drawn.chosen(puzzle, puzzle.official.code, None)
    return [drawn.drawn_problem(puzzle, puzzle.official.code, None, number)[0] for number in numbers]


def test_a_sum_is_tried_with_every_size_of_a_subgroup_and_drawn_ones_with_several():
    assert sorted(case.subgroup_size for case in PUZZLES["subgroup_sum"].cases()) == sorted(ALL_SIZES)
    drawn_ones = {sizes["size"] for sizes in drawn_sizes(PUZZLES["subgroup_sum"])}
    assert len(drawn_ones) > 2
    assert drawn_ones <= {*ALL_SIZES}


def test_what_an_adapter_does_with_its_own_size_changes_no_verdict(monkeypatch):
    """One assumes 32 lanes, and is right in the test with 32, whatever this adapter has."""
    puzzle = PUZZLES["subgroup_sum"]
    text = puzzle.solution.text
    assumes = grader.grade(puzzle, text.replace("k += size", "k += 32u"))
    assert [verdict.test for verdict in assumes if verdict.outcome != RIGHT] == ["subgroups_of_4", "subgroups_of_8"]
    monkeypatch.setattr(type(gpu.device()), "features", set())
    simulated_alone = grader.grade(puzzle, text)
    assert {verdict.outcome for verdict in simulated_alone} == {RIGHT}
    assert "it was run in the simulator alone, as " in simulated_alone[0].detail


@pytest.mark.parametrize("case", PUZZLES["kahan_sum"].cases(), ids=lambda case: case.name)
def test_no_plain_order_has_the_total_of_a_test_and_float32_has_it(case):
    column = case.inputs[0][:, None]
    even = np.append(column, np.zeros((-len(column) % 4, 1), np.float32), axis=0)
    assert np.float32(case.expected) == case.expected == case.inputs[0].sum(dtype=float)
    assert indices.add_one_by_one(column) != case.expected
    assert indices.add_in_tree(even) != case.expected or len(column) < 4


def test_the_last_tests_of_fixed_point_need_its_steps_and_its_rounding():
    *_, small, tenths = PUZZLES["fixed_point_sum"].cases()
    assert indices.add_one_by_one(small.inputs[0]) == 2048 != small.expected
    assert tenths.expected != tenths.inputs[0].sum(dtype=float)


def test_the_usual_signs_are_not_yet_there_whatever_a_compiler_makes_of_them():
    puzzle = PUZZLES["kahan_sum"]
    (mistake,) = (mistake for mistake in puzzle.mistakes if mistake.name.startswith("+ and"))
    text = puzzle.with_mistake(mistake).source
    assert {verdict.outcome for verdict in helpers.grade("kahan_sum", text)} == {NOT_YET}


# --- The questions ------------------------------------------------------------------------------------------------


def three_digits(value: float) -> float:
    """A number with three decimal digits."""
    return float(f"{value:.3g}")


def kahan_by_hand(total: float, number: float, times: int) -> float:
    """The excess after some additions of the same number."""
    excess = 0.0
    for _ in range(times):
        corrected = number - excess
        new_total = three_digits(total + corrected)
        excess = new_total - total - corrected
        total = new_total
    return excess


def fixed_point(total: int) -> int:
    """A whole total in steps of 1/65,536, as an i32 wraps it."""
    return (total * 65_536 + 2**31) % 2**32 - 2**31


ASSUMES_32 = """enable subgroups;
@group(0) @binding(0) var<storage, read_write> total: array<f32>;
var<workgroup> sums: array<f32, 6>;
@compute @workgroup_size(192) fn main(@builtin(local_invocation_index) thread: u32) {
  let sum = subgroupAdd(1.0);
  if (thread % 32u == 0u) { sums[thread / 32u] = sum; }
  workgroupBarrier();
  if (thread == 0u) { total[0] = sums[0] + sums[1] + sums[2] + sums[3] + sums[4] + sums[5]; }
}
"""


def total_of_ones(size: int) -> float:
    """The total of 192 ones by a kernel that takes 32 for the size of a subgroup."""
    trace = helpers.simulate(ASSUMES_32, [np.zeros(1, np.float32)], (1, 1, 1), subgroup_size=size)
    return trace.buffers[0].item()


COMPUTED = {
    "grown_by_fives": lambda: np.cumsum(np.float32([2**26, *[5] * 6]))[-1] - 2**26,
    "pairs_by_hand": lambda: three_digits(three_digits(1000 + 4) + three_digits(4 + 4)),
    "additions_of_pairwise": lambda: len(indices.tree_steps([0.0] * 1_048_576)) - 1,
    "excess_by_hand": lambda: kahan_by_hand(20_000, 30, 2),
    "ones_of_32": lambda: total_of_ones(16),
    "fixed_point_limit": lambda: next(n for n in range(1, 2**16) if fixed_point(n) < 0),
}


@pytest.mark.parametrize("name", COMPUTED)
def test_the_right_answer_is_what_is_computed(name):
    assert QUESTIONS[name].right == COMPUTED[name]()


def test_likely_wrong_answers_are_what_they_are_said_to_be():
    assert "from left to right" in QUESTIONS["pairs_by_hand"].mistakes[three_digits(three_digits(1004) + 4)]
    assert "first addition" in QUESTIONS["excess_by_hand"].mistakes[kahan_by_hand(20_000, 30, 1)]
    of_32 = QUESTIONS["ones_of_32"].mistakes
    assert "64 threads" in of_32[int(total_of_ones(64))]
    assert "32 threads" in of_32[int(total_of_ones(32))]
    fives = np.cumsum(np.float32([2**25, *[5] * 6]))[-1] - 2**25
    assert "every fourth" in QUESTIONS["grown_by_fives"].mistakes[int(fives)]
    once = int(np.float32(2**26 + 30)) - 2**26
    assert "rounded once" in QUESTIONS["grown_by_fives"].mistakes[once]
