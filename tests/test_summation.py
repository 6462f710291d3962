"""Lesson 04: its pictures show what the kernels do, they are legible, and its numbers are computed here again."""

import re

import numpy as np
import pytest
from support.legible import illegible, states
from support.lesson_04 import BY_HAND, LESSON, NUMBERS, TREE, of_the_lesson, simulated, tree_of_16

from helpers import gpu
from helpers.convolution import explorers as convolution_explorers
from helpers.convolution import reference as convolution
from helpers.convolution.exercises import BIAS_QUESTIONS, bias_differences
from helpers.summation import check, explorers, indices, operations, reference
from helpers.summation.error_picture import STYLES
from helpers.summation.exercises import QUESTIONS
from helpers.summation.pictures import TwoPassesPicture

# --- The sum ------------------------------------------------------------------------------------------------


def test_the_loop_and_the_vectorized_sum_agree_and_the_check_refuses_a_total_without_one_number():
    assert reference.total(NUMBERS) == reference.total_loops(NUMBERS) == [NUMBERS.sum(dtype=float)]
    right = operations.total(NUMBERS)
    assert check.total(right, NUMBERS)
    assert not check.total(right - NUMBERS[0], NUMBERS)


# --- Who does what ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [2, 3, 6, 8, 12, 16, 17])
def test_a_tree_loses_sums_unless_its_threads_are_a_power_of_two(threads):
    numbers = np.random.default_rng(threads).integers(1, 100, threads).astype(np.float32)
    (total,) = gpu.launch(TREE.with_constants(THREADS=threads), [numbers, np.zeros(1, np.float32), (threads,)])
    assert total == indices.tree_steps(numbers.tolist())[-1][0]
    assert (total == numbers.sum()) == (threads in (2, 8, 16))


@pytest.mark.parametrize("pairing", range(3))
@pytest.mark.parametrize("step", range(1, 6))
def test_each_step_of_a_tree_adds_every_sum_that_is_left_once(pairing, step):
    left = list(range(32))
    for earlier in range(1, step + 1):
        work = indices.additions(32, pairing, earlier)
        assert sorted(place for each in work for place in (each.place, each.other)) == left
        left = sorted(each.place for each in work)
    assert len({each.thread for each in work}) == len(work) == 32 >> step


@pytest.mark.parametrize(("name", "pairing"), [("interleaved", 0), ("distant", 1)])
def test_the_lessons_kernels_pair_as_drawn(name, pairing):
    """After each step, what the partial sums are; a kernel with fewer steps shows them."""
    kernel = of_the_lesson("interleaved = ", "distant = ")[name].with_constants(THREADS=32)
    shown = "workgroupBarrier();\n  total[thread] = partial[thread];"
    kernel = kernel.edit("if (thread == 0u) {\n    total[0] = partial[0];\n  }", shown)
    sums = np.arange(1.0, 33)
    for step in range(1, 6):
        for _, place, other in indices.additions(32, pairing, step):
            sums[place] += sums[other]
        stopped = kernel.edit("apart < THREADS", f"apart < {1 << step}u")
        total = gpu.launch(stopped, [np.arange(1, 33, dtype=np.float32), np.zeros(32, np.float32), (32,)])
        assert total.tolist() == sums.tolist()


def test_groups_and_banks_are_counted_as_the_lesson_says():
    steps = [[indices.additions(32, pairing, step) for step in range(1, 6)] for pairing in range(3)]
    busy = [[indices.groups_at_work(work, 8) for work in works] for works in steps]
    assert busy == [[4, 4, 4, 2, 1], *[[2, 1, 1, 1, 1]] * 2]
    worst = [[indices.worst_conflict(work, 8) for work in works] for works in steps]
    assert worst == [[1] * 5, [2, 4, 4, 2, 1], [1] * 5]


@pytest.mark.parametrize(("name", "neighbors"), [("tree", 1), ("in_a_row", 4)])
def test_each_way_to_share_loads_every_number_once(name, neighbors):
    trace = simulated(of_the_lesson("in_a_row = ")[name].with_constants(THREADS=16), np.ones(64, np.float32))
    loads = trace.accesses[trace.accesses["variable"] == trace.variables.index("input")]["index"].astype(int)
    assert sorted(loads) == list(range(64))
    assert {*np.diff(loads.reshape(4, 16)).ravel()} == {neighbors}


@pytest.mark.parametrize("count", [3, 16, 32, 45])
def test_each_number_goes_into_the_part_that_is_drawn(count):
    for i in range(count):
        probe = np.eye(1, count, i, dtype=np.float32)[0]
        parts = explorers.two_passes(probe).picture.parts
        sizes = count, len(parts), TwoPassesPicture.THREADS
        mine = [i in indices.numbers_of_workgroup(*sizes, group) for group in range(len(parts))]
        assert mine == [part == 1 for part in parts]


# --- The pictures --------------------------------------------------------------------------------------------

LENGTHS = 2 ** np.arange(4, 16)
SMALL = np.random.default_rng(3).integers(-4, 6, (2, 3, 3, 4)).astype(np.float32)
GROWING = np.geomspace(1e-9, 1e-5, len(LENGTHS))
ORDERS = {  # errors and bounds; the last two are equal
    name: (GROWING / 3**i, LENGTHS) for i, name in enumerate(("one thread", "tree of 256 threads", "pairwise", "Kahan"))
} | {"as written": (GROWING, None)}


EXPLORERS = {
    "bias": lambda: convolution_explorers.bias_gradient(SMALL),
    "race": explorers.race,
    "addressing": explorers.addressing,
    "two passes": lambda: explorers.two_passes(np.arange(1, 33, dtype=np.float32)),
    "errors": lambda: explorers.errors(LENGTHS, ORDERS),
}


@pytest.mark.parametrize("name", EXPLORERS)
def test_every_state_is_legible_and_says_something_of_its_own(name):
    explorer = EXPLORERS[name]()
    said = [explorer.set(**values) for values in states(explorer)]
    assert len(set(said)) == len(said) > 1
    assert not illegible(explorer)


def test_the_thread_whose_update_is_lost_is_named():
    ends = {explorers.race().set(order=order).split("The total is ")[1] for order in range(6)}
    assert ends == {"7, as it should be.", "4: what thread 0 added is lost.", "3: what thread 1 added is lost."}


def test_the_sum_of_a_channel_is_said():
    explorer = convolution_explorers.bias_gradient(SMALL)
    for co, total in enumerate(convolution.conv2d_grad_bias(SMALL).astype(int).tolist()):
        written = str(total).replace("-", "\N{MINUS SIGN}")
        assert explorer.set(co=co).endswith(f"= {written}. The GPU returned {written}.")


@pytest.mark.parametrize(
    ("errors", "bound", "said"),
    [
        (GROWING, None, "Its line is that of one thread."),
        (2 * GROWING, None, "Its line is that of no other order."),
        (0 * GROWING + 1e-7, LENGTHS, "Yes."),
        (0 * GROWING + 1e-5, LENGTHS, "No."),
    ],
)
def test_lines_that_lie_on_each_other_are_said_and_errors_above_their_bounds(errors, bound, said):
    assert explorers.errors(LENGTHS, ORDERS | {"as written": (errors, bound)}).set(order=4).endswith(said)


def test_no_two_orders_look_alike():
    assert all(len({*looks}) == len(ORDERS) for looks in zip(*STYLES, strict=True))


# --- What the lesson measures -----------------------------------------------------------------------------------


def test_each_order_is_a_right_sum_and_the_guard_keeps_kahans_compensation():
    names = of_the_lesson("pairwise = ", "large_first = ", "kahan = ", "interleaved = ", "in_a_row = ")
    whole = np.resize(NUMBERS, 2**15)  # as many as the lesson's longest list
    for order in ("pairwise", "guarded", "kahan", "interleaved", "in_a_row"):
        assert check.total(operations.total(whole, kernel=names[order]), whole).require()
    exact = names["large_first"].sum(dtype=np.float64)
    assert operations.total(names["large_first"], kernel=names["guarded"]) == exact
    assert operations.total(names["large_first"], kernel=names["alone"]) < exact


def test_the_table_of_the_pairwise_sum_is_what_its_kernel_does():
    """Each number is a bit of its own, so a sum's bits are the numbers that went into it."""
    kernel = of_the_lesson("pairwise = ")["pairwise"].edit("total[0] = sum;", "")
    kernel = kernel.edit("waiting[size] = sum;", "waiting[size] = sum;\n    total[i / 2u] = sum;")
    sums = gpu.launch(kernel, [2 ** np.arange(8, dtype=np.float32), np.zeros(4, np.float32), (8,)])
    (table,) = (cell.source for cell in LESSON.prose if "sums that wait afterwards" in cell.source)
    rows = re.findall(r"^\| (\d) and (\d) \| (.+) \| (of .+) \| ([01]+) \|$", table, re.MULTILINE)
    for i, (row, bits) in enumerate(zip(rows, sums.astype(int).tolist(), strict=True)):
        added, waiting = ([int(size) for size in re.findall(r"\d+", text)] for text in row[2:4])
        assert (row[:2], row[4]) == ((f"{2 * i}", f"{2 * i + 1}"), f"{i + 1:b}")
        assert bits.bit_count() == waiting[-1] == 2 + sum(added)
        assert sum(waiting) == 2 * (i + 1)


def test_atomics_lose_nothing_where_the_race_may():
    names = of_the_lesson("racing = ", "loads_first = ", "compare_exchange = ", "fixed_point = ")
    launch, whole = names["launch"], abs(NUMBERS)
    assert launch(names["compare_exchange"], whole, 40) == whole.sum()
    assert launch(names["fixed_point"], whole[:1000], 4, np.int32) == 65_536 * whole[:1000].sum()
    assert launch(names["racing"], whole, 40) <= whole.sum()
    assert launch(names["loads_first"], whole[:256], 1) in whole[:256]


# --- The questions ------------------------------------------------------------------------------------------------


def test_the_simulated_run_holds_the_sums_of_the_tree():
    sixteen = of_the_lesson("sixteen = ")["sixteen"]
    replay = explorers.steps(TREE.with_constants(THREADS=16), sixteen, only=("partial[",)).picture.replay
    partial = next(memory for memory in replay.memories if memory.name == "partial")
    for event, sums in zip(replay.events[:-1], tree_of_16(), strict=True):  # the last one writes the total
        assert replay.values(partial, event)[0][: len(sums)].tolist() == sums


def test_the_case_by_hand_is_the_questions():
    assert all(f"`{image.tolist()}`" in BIAS_QUESTIONS["grad_bias_by_hand"].asked for image in BY_HAND)


def test_a_mistake_of_the_tree_is_a_sum_that_a_reader_sees():
    own, first, second, *_ = tree_of_16()
    question = QUESTIONS["sum_after_a_step"]
    assert question.mistakes.keys() == {own[2], own[2] + own[3], own[2] - own[10], second[2]}
    assert first[2] == own[2] + own[10]
    shown = [int(number.replace("\N{MINUS SIGN}", "-")) for number in re.findall(r"\N{MINUS SIGN}?\d+", question.asked)]
    assert shown[:16] == own


# --- The exercises ------------------------------------------------------------------------------------------------


def test_finite_differences_and_the_formula_agree():
    input, grad_output = np.ones((2, 1, 5, 6)), np.random.default_rng(2).integers(-4, 5, (2, 3, 4, 4)).astype(float)
    assert np.array_equal(bias_differences(input, grad_output), convolution.conv2d_grad_bias(grad_output))
