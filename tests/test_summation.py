"""Lesson 04: its pictures show what the kernels do, they are legible, and its numbers are computed here again."""

import re

import numpy as np
import pytest
from support import convolution_explorers
from support.legible import different, illegible, states, written
from support.lesson_04 import HARD, TREE, totals
from support.notebook_gate import NOTEBOOKS, Lesson, texts

import helpers
from helpers import gpu
from helpers.grading.test_run import simulated
from helpers.grading.verdict import UNSAFE
from helpers.lessons.bias_gradient import explorers
from helpers.lessons.bias_gradient.pictures.loads import SHARE
from helpers.lessons.exercises import PUZZLES
from helpers.lessons.shared import sums as indices
from helpers.lessons.shared.classroom_tests import differences
from helpers.operations.convolution import reference as convolution
from helpers.operations.kernels import load
from helpers.operations.summation import check, operations, reference
from helpers.operations.summation.shapes import SumShape
from helpers.pictures.canvas import number

LESSON = Lesson.read(NOTEBOOKS / "04_bias_gradient.ipynb")
NUMBERS = np.random.default_rng(0).integers(-9, 10, 10_000).astype(np.float32)

# --- The sum ------------------------------------------------------------------------------------------------


def test_the_loop_and_the_vectorized_sum_agree_and_the_check_refuses_a_total_without_one_number():
    assert reference.total(NUMBERS) == reference.total_loops(NUMBERS) == [NUMBERS.sum(dtype=float)]
    right = operations.total(NUMBERS)
    assert check.total(right, NUMBERS)
    assert not check.total(right - NUMBERS[0], NUMBERS)


def test_every_version_dispatches_what_a_thousand_numbers_need():
    """A loop of n iterations counts n + 1: with the test that ends it. A tree of 256 threads has 8 steps."""
    steps = {}
    for version, schedule in operations.SUM.versions.items():
        planned = schedule(SumShape(1_000), load("sum", version))
        steps[version] = [(step.entry_point, step.workgroups, step.iterations) for step in planned.steps]
        assert dict(planned.scratch) == ({"parts": 16} if version == "3_two_passes" else {})
    assert steps == {
        "1_one_thread": [("main", (1, 1, 1), 1_001)],
        "2_tree": [("main", (1, 1, 1), (4 + 1) + (8 + 1))],
        "3_two_passes": [
            ("sum_shares", (4, 1, 1), (1 + 1) + (8 + 1)),
            ("sum_parts", (1, 1, 1), (1 + 1) + (8 + 1)),
        ],
    }


@pytest.mark.parametrize("threads", [2, 3, 6, 8, 12, 16, 17])
def test_a_tree_loses_sums_unless_its_threads_are_a_power_of_two(threads):
    numbers = np.random.default_rng(threads).integers(1, 100, threads).astype(np.float32)
    (total,) = gpu.launch(TREE.with_constants(THREADS=threads), [numbers, np.zeros(1, np.float32), (threads,)])
    assert total == indices.tree_steps(numbers.tolist())[-1][0]
    assert (total == numbers.sum()) == (threads in (2, 8, 16))


# --- The race ------------------------------------------------------------------------------------------------


def test_no_more_arrives_than_was_added():
    (arrived,) = re.findall(r": ([\d,]+) arrived", " ".join(written(explorers.race().picture)))
    assert int(arrived.replace(",", "")) <= 65_536


def test_orders_are_clicked_turn_by_turn_and_the_list_keeps_the_six():
    explorer, orders = explorers.race(), indices.schedules()
    assert explorer._rules["order"] == len(orders) == 6  # a slider has as many places as the text names orders
    for count, order in enumerate(indices.schedules(), 1):
        for turn, thread in enumerate(order):
            explorer.set(**explorer.picture.touchable[f"thread {thread}"].values_at((0, 0)))
            assert explorer.values["turn"] == turn + 1
            assert orders[explorer.values["order"]][: turn + 1] == order[: turn + 1]
        again = explorer.values
        assert orders[again["order"]] == order
        (both,) = {thread for thread in (0, 1) if order[:2].count(thread) == 2} or {None}
        total = indices.run_schedule(order)[-1][1]
        assert (total == 2) == (both is not None)  # only where one thread is done before the other begins
        assert f"The total is {total}" in explorer.sentence
        assert len(explorer.picture.found_orders) == count
        listed = explorer.picture.touchable["orders found"]
        assert listed.grid.values[count - 1].tolist() == [*order, total]
        assert listed.values_at((count - 1, 0)) == again
        assert listed.values_at((count, 0)) == {}
    assert explorer.steps.done == [True, True, True]


def test_the_picture_and_the_question_follow_the_same_rules():
    assert totals(1, 1) == {1, 2}
    assert sorted(totals(3, 3)) == [2, 3, 4, 5, 6]  # and never 1


# --- The tree, and who loads what -----------------------------------------------------------------------------


def test_the_tree_is_drawn_as_the_kernel_adds():
    explorer = explorers.tree()
    kernel = TREE.with_constants(THREADS=8)
    trace = helpers.simulate(kernel, [np.float32(indices.EIGHT), np.zeros(1, np.float32), np.uint32([8])], (1, 1, 1))
    notes = trace.accesses[trace.accesses["variable"] == trace.variables.index("partial")]
    read = {(int(note["invocation"]), int(note["index"])) for note in notes}
    for step, left in ((1, 4), (2, 2), (3, 1)):
        for thread in range(left):
            words = explorer.set(step=step, thread=thread)
            before = explorer.picture.steps[step - 1]
            one, other = before[thread], before[thread + left]
            shown = f"{number(one)} + {number(other)}" if other >= 0 else f"{number(one)} + ({number(other)})"
            assert f"adds the sum {left} place" in words
            assert f", {shown} = {number(one + other)}; " in words
            assert explorer.picture.steps[step][thread] == one + other
            assert (thread, thread + left) in read
    assert explorer.sentence.endswith(f"the kernel wrote {sum(indices.EIGHT)}.")


@pytest.mark.parametrize("way", [0, 1])
def test_loads_are_drawn_as_the_simulator_sees_them(way):
    kernel = TREE.with_constants(THREADS=16)
    if way:
        old = "for (var i = thread; i < params.count; i += THREADS)"
        kernel = kernel.edit(old, "for (var i = 4u * thread; i < 4u * thread + 4u; i++)")
    trace = helpers.simulate(kernel, [np.ones(64, np.float32), np.zeros(1, np.float32), np.uint32([64])], (1, 1, 1))
    loads = trace.accesses[trace.accesses["variable"] == trace.variables.index("input")]["index"].reshape(SHARE, 16)
    assert loads.tolist() == [indices.loaded(way, 16, SHARE, iteration) for iteration in range(SHARE)]
    explorer = explorers.loads()
    for iteration, numbers in enumerate(loads.tolist()):
        words = explorer.set(iteration=iteration, thread=5)
        sectors = {number // 8 for number in numbers}
        assert f"number {numbers[5]}" in words
        assert f"{len(sectors)} sectors for 16 loads" in words
        part = explorer.picture.touchable[indices.WAYS[way]]
        assert part.values_at(divmod(numbers[5], 8)) == explorer.values


EXPLORERS = {
    "bias": convolution_explorers.bias_gradient,
    "race": explorers.race,
    "tree": explorers.tree,
    "loads": explorers.loads,
}


@pytest.mark.parametrize("name", EXPLORERS)
def test_every_state_is_legible_and_says_something_of_its_own(name):
    explorer = EXPLORERS[name]()
    sentences = {explorer.set(**values) for values in states(explorer)}
    assert len(sentences) == len(different(states(explorer), indices.schedules())) > 1
    assert not illegible(explorer)


# --- The questions and the exercises ------------------------------------------------------------------------------


def test_the_first_test_of_a_step_has_the_numbers_of_the_picture():
    first = PUZZLES["tree_step"].cases()[0]
    assert first.inputs[0].tolist() == explorers.tree().picture.steps[0]
    assert [row[: 4 >> i].tolist() for i, row in enumerate(first.expected)] == explorers.tree().picture.steps[1:]


def test_the_blank_page_states_the_counts_by_which_it_is_judged():
    puzzle = PUZZLES["arg_max_tree"]
    ours = simulated(puzzle.official, puzzle.cases()[-1]).counts
    most = {f"{factor * ours[key]:,}" for key, factor in puzzle.skill.limits.items()}
    assert {*re.findall(r"[\d,]*\d", puzzle.skeleton.partition("counts")[2])} == most | {"2,100", "32"}


def test_the_hard_case_of_the_planted_edit_is_the_lessons():
    (cell,) = (cell.source for cell in LESSON.code if "bias_tree):" in cell.source)
    sizes = [", ".join(map(str, size)) for size in (HARD.input, HARD.output, HARD.weight, HARD.padding)]
    assert re.findall(r"\((\d+(?:, \d+)+)\)", cell) == sizes


def test_without_its_barrier_the_readers_sum_is_right_and_unsafe():
    text = PUZZLES["tree_sum"].solution.text.replace("workgroupBarrier();", "")
    assert {verdict.outcome for verdict in helpers.grade("tree_sum", text)} == {UNSAFE}
    printed, finding = (texts(output)[0] for output in LESSON.code[-3].outputs)
    total, wanted = re.fullmatch(r"total (\S+), and it should be (\S+)\n", printed).groups()
    assert total == wanted
    assert "data race" in finding


def test_finite_differences_and_the_formula_agree():
    input = np.ones((2, 1, 5, 6))
    grad_output = np.random.default_rng(2).integers(-4, 5, (2, 3, 4, 4)).astype(float)
    assert np.array_equal(differences("bias", input, grad_output), convolution.conv2d_grad_bias(grad_output))
