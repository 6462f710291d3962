"""Appendix A: its detector finds every race and no other, as the simulator does, and its pictures show real runs."""

from itertools import permutations
from math import factorial
from time import process_time

import numpy as np
import pytest
from support.legible import states, written
from support.sample import at_night

import helpers
from helpers.grading.verdict import RIGHT
from helpers.lessons.exercises import PYTHON_PUZZLES, QUESTIONS
from helpers.lessons.simulator import explorers, runs
from helpers.lessons.simulator.detector import Access, found_lines, is_race, note_last, note_several
from helpers.lessons.simulator.exercises import EPOCHS, STOPPED
from helpers.lessons.simulator.random_kernels import COUNT, LINES, THREADS, WORDS, RandomKernel, kernels
from wgsl import simulate

# --- The detector -----------------------------------------------------------------------------------------------


def test_it_finds_a_race_exactly_where_two_accesses_race():
    assert len(kernels()) == COUNT == 200
    for kernel in kernels():
        assert kernel.found(note_several) == kernel.racing.keys()
    assert 400 < sum(len(kernel.racing) for kernel in kernels()) < 1600  # of 2,000 lines
    for kernel in kernels():
        for earlier, later in kernel.racing.values():
            assert is_race(earlier, later)


def test_with_one_name_in_a_note_it_misses_some_and_invents_none():
    assert all(kernel.found(note_last) <= kernel.racing.keys() for kernel in kernels())
    assert any(kernel.found(note_last) < kernel.racing.keys() for kernel in kernels())


def in_wgsl(kernel: RandomKernel) -> str:
    """The same accesses as a kernel: each line of it in one line of WGSL, after two others."""
    lines = ["" for _ in range(LINES)]
    epoch = 0
    for access in kernel.accesses:
        does = (
            f"box[{access.word}] = {10 * access.line + access.thread}u;"
            if access.writes
            else f"got = box[{access.word}];"
        )
        if access.epoch > epoch:
            lines[access.line - 2] = "workgroupBarrier();"
            epoch = access.epoch
        lines[access.line - 1] += f"if (thread == {access.thread}u) {{ {does} }} "
    head = (
        f"var<workgroup> box: array<u32, {WORDS}>; @group(0) @binding(0) var<storage, read_write> unused: array<u32>;"
    )
    main = f"@compute @workgroup_size({THREADS}) fn main(@builtin(local_invocation_index) thread: u32) {{ var got = 0u;"
    return "\n".join([head, main, *lines, "unused[thread] = got; }"])


def agrees(kernel: RandomKernel) -> bool:
    """Return True where the simulator finds the first race in the same line, and none where there is none.

    It keeps one writer of a word, so that a word's later races may escape it.
    """
    trace = simulate(in_wgsl(kernel), [np.zeros(THREADS, np.uint32)], (1, 1, 1))
    found = {finding.line - 2 for finding in trace.findings if finding.kind == "data race"}
    return found <= kernel.racing.keys() and min(found, default=0) == min(kernel.racing, default=0)


def test_the_simulator_finds_the_first_race_of_a_kernel_in_the_same_line():
    assert all(map(agrees, kernels()[:12]))


@at_night
def test_the_simulator_finds_the_first_race_of_all_kernels_in_the_same_line():
    assert all(map(agrees, kernels()))


# --- The puzzles ------------------------------------------------------------------------------------------------


def last_verdict(text: str) -> str:
    """The words of the verdict on the random kernels."""
    return PYTHON_PUZZLES["note_several"].grade(text)[-1].detail


def test_the_verdict_says_in_how_many_kernels_the_notes_are_right_and_what_is_wrong_in_the_first():
    right = sum(kernel.found(note_last) == kernel.racing.keys() for kernel in kernels())
    words = last_verdict("new_who = thread")
    assert f"in {right} of 200 kernels" in words
    assert "they miss one: thread 3 reads word 1 in line 3, and then thread 0 writes word 1 in line 5" in words
    assert "they find one in line" in last_verdict("new_who = -2 if who != thread else thread")
    assert "in 0 of 200" not in last_verdict("new_who = 3")


def test_lines_are_judged_on_all_kernels_within_two_seconds():
    start = process_time()
    verdicts = PYTHON_PUZZLES["note_several"].grade("new_who = -2 if when == epoch and who != thread else thread")
    assert {verdict.outcome for verdict in verdicts} == {RIGHT}
    assert process_time() - start < 2


@pytest.mark.parametrize("text", ["new_who = thread / 0", "new_who = who[0]"])
def test_lines_that_cannot_be_computed_are_refused_there_too(text):
    assert not any(verdict.outcome == RIGHT for verdict in PYTHON_PUZZLES["note_several"].grade(text))


def test_a_barrier_begins_an_epoch_where_all_threads_reach_it_and_stops_where_some_do():
    for case in PYTHON_PUZZLES["barrier"].cases():
        for (epochs, active), right in zip(EPOCHS[case.name], case.right, strict=True):
            size = len(active) // len(epochs)
            for group, epoch in enumerate(epochs):
                here = set(active[group * size : (group + 1) * size])
                assert right[group] == {(1,): epoch + 1, (0,): epoch, (0, 1): STOPPED}[tuple(sorted(here))]


# --- The pictures -----------------------------------------------------------------------------------------------


def iterations(n: int) -> int:
    """The number of times that a number is halved, or made smaller by 1, until it is 1."""
    count = 0
    while n > 1:
        n = n // 2 if n % 2 == 0 else n - 1
        count += 1
    return count


def test_the_lanes_show_the_run_of_the_kernel():
    run = runs.counting()
    assert run[-1].n == (1,) * runs.LANES
    assert run[-1].steps == tuple(iterations(thread + 1) for thread in range(runs.LANES))
    explorer = explorers.lanes()
    used = sum(len(step.active) for step in run)
    assert f"{used} of {runs.LANES * len(run)} slots are used" in explorer.set(step=len(run) - 1)
    alone = next(i for i, step in enumerate(run) if len(step.active) == 1)
    explorer.set(step=alone)
    explorer.steps.tick(explorer.values | {"lane": 0}, "point")
    assert explorer.steps.done == [False, True, True]


def total_in_order(order: tuple[int, ...]) -> int:
    """The total of the tree without its barrier, where the threads run one after the other."""
    partial, total = [0] * 4, 0
    for thread in order:
        partial[thread] = runs.NUMBERS[thread]
        for half in (2, 1):
            if thread < half:
                partial[thread] += partial[thread + half]
        if thread == 0:
            total = partial[0]
    return total


def test_the_orders_give_what_such_runs_give():
    totals = [[runs.sum_in_order(bool(barrier), order)[-1].total for order in range(3)] for barrier in (0, 1)]
    assert totals == [[18, 2, 18], [18, 18, 18]]
    assert [total_in_order(order) for order in ((0, 1, 2, 3), (3, 2, 1, 0))] == totals[0][1:]
    trace = simulate(runs.SUM, [np.array(runs.NUMBERS, np.uint32), np.zeros(1, np.uint32)], (1, 1, 1))
    assert trace.buffers[1] == totals[1][0] == sum(runs.NUMBERS)
    assert len({total_in_order(order) for order in permutations(range(4))}) > 2


def test_each_order_of_the_picture_ends_as_it_is_said():
    explorer = explorers.orders()
    assert explorer.set(barrier=0, order=1, step=3) == (
        "Thread 0 writes the total, with thread 0 first: 2, and it should be 18."
    )
    explorer.set(barrier=1, step=99)
    assert explorer.steps.done == [False, True, True]


def test_the_shadow_memory_finds_the_race_of_the_tree_and_misses_that_of_neighbors():
    found = {}
    for kernel in runs.WATCHED:
        accesses = [step.access for step in runs.accesses(kernel) if step.access]
        real = {finding.line for finding in runs._run(kernel).findings if finding.kind == "data race"}
        assert found_lines(accesses, 4, note_several) == real
        found[kernel.name] = found_lines(accesses, 4, note_last)
    assert found == {"with barriers": set(), "without barriers": {10}, "neighbors": set()}
    explorer = explorers.shadow()
    assert "Thread 0 reads partial[2], which thread 2 has used in this epoch: a race." in explorer.set(kernel=1, step=6)
    assert "no race is found" in explorer.set(kernel=2, step=99)
    assert explorer.steps.done == [False, True, True]


@pytest.mark.parametrize("name", ["lanes", "orders", "shadow"])
def test_every_state_says_something_of_its_own(name):
    """That their words can be read is tried in the states of tests/messages/explorers.txt."""
    explorer = getattr(explorers, name)()
    assert len({explorer.set(**values) for values in states(explorer)}) > 3
    assert written(explorer.picture)


# --- What the lesson says ---------------------------------------------------------------------------------------


def orders_of(*accesses: int) -> int:
    """The number of orders of the threads' accesses, each of which keeps its own."""
    orders = factorial(sum(accesses))
    for count in accesses:
        orders //= factorial(count)
    return orders


def test_there_are_so_many_orders():
    counts = [0] * 4
    for step in runs.accesses(runs.WATCHED[1]):
        counts[step.access.thread] += 1
    assert (sum(counts), orders_of(*counts)) == (14, 90_090)
    assert orders_of(11, 7, 4, 4, 1, 1, 1, 1) > 10**18


def epochs(threads: int) -> int:
    """The epochs of a tree with so many threads."""
    return len(bin(threads)) - 2


COMPUTED = {"thread_0_first": lambda: total_in_order((0, 1, 2, 3)), "epochs_of_tree": lambda: epochs(32)}


@pytest.mark.parametrize("name", COMPUTED)
def test_the_right_answer_is_what_is_computed(name):
    assert QUESTIONS[name].right == COMPUTED[name]()


def test_the_epochs_are_those_of_the_run():
    last = runs.accesses(runs.WATCHED[0])[-1]
    assert last.epoch + 1 == epochs(4)


def test_the_simulator_finds_the_race_of_lesson_04s_tree():
    racing = helpers.load("sum", "2_tree").edit("workgroupBarrier();", "")
    arrays = np.float32(runs.NUMBERS), np.zeros(1, np.float32), np.uint32([4])
    trace = helpers.simulate(racing, arrays, (1, 1, 1), constants={"THREADS": 4}, max_steps=2000)
    assert trace.buffers[1] == 18
    assert [finding.kind for finding in trace.findings] == ["data race"]


def test_an_access_has_a_thread_a_word_and_an_epoch():
    assert not is_race(Access(0, 0, True, 0, 1), Access(0, 0, True, 0, 2))
    assert is_race(Access(0, 0, True, 0, 1), Access(1, 0, False, 0, 2))
