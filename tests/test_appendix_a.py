"""The appendix on a simulator: its simulator finds every race, and agrees with the real one."""

import linecache
from contextlib import redirect_stdout
from functools import cache
from io import StringIO
from itertools import product
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest
from support.notebook_gate import NOTEBOOKS, Lesson

import helpers
from helpers.lessons.exercises import QUESTIONS
from wgsl import Kernel

LESSON = Lesson.read(NOTEBOOKS / "appendix_a_simulator.ipynb")
REPAIR = "Touches.note = note_several"


@cache
def lesson(without: str = "") -> SimpleNamespace:
    """All names that the lesson defines; the cells that contain `without` are left out."""
    names = {}
    for cell in LESSON.code:
        if not without or without not in cell.source:
            run_text(cell.source, f"<cell {cell.number}>", names)
    return SimpleNamespace(**names)


def run_text(source: str, name: str, names: dict) -> None:
    """Run a text as a cell is run: Python can find its lines again."""
    linecache.cache[name] = len(source), None, source.splitlines(keepends=True), name
    with redirect_stdout(StringIO()):
        exec(compile(source, name, "exec"), names)


def findings(names: SimpleNamespace, kernel, count: int, **arrays) -> dict[int, str]:
    """The findings of the lesson's simulator, by line."""
    lanes = names.Lanes(count, kernel)
    memories = {name: names.WatchedMemory(lanes, name, words) for name, words in arrays.items()}
    kernel(lanes, names.Variables(lanes), **memories)
    return lanes.findings


# --- What it finds ----------------------------------------------------------------------------------------------

THREADS, WORDS = 4, 3


class Access(NamedTuple):
    """The read or write of a word by a thread; a barrier begins a new epoch."""

    word: int
    thread: int
    is_write: bool
    epoch: int


def random_kernel(seed: int) -> tuple[str, set[int]]:
    """A kernel of reads, writes and barriers, and the lines whose accesses race with earlier ones or each other."""
    random = np.random.default_rng(seed)
    text = ["def kernel(lanes, v, box):"]
    earlier = []
    racing = set()
    epoch = 0
    for line in range(2, 12):
        if random.random() < 0.15:
            text.append("    barrier(lanes)")
            epoch += 1
            continue
        write = random.random() < 0.4
        index = random.integers(0, WORDS, THREADS)
        active = random.random(THREADS) < 0.4
        access = f"box[np.array({index.tolist()})]"
        if write:
            access += " = 1"
        text.append(f"    with where(lanes, np.array({active.tolist()})): {access}")
        accesses = [Access(index[t], t, write, epoch) for t in range(THREADS) if active[t]]
        if any(race(a, b) for a, b in product(accesses, earlier + accesses)):
            racing.add(line)
        earlier += accesses
    return "\n".join(text), racing


def race(a: Access, b: Access) -> bool:
    """The definition: the same word, two threads, a write, one epoch."""
    if a.word != b.word or a.thread == b.thread:
        return False
    return (a.is_write or b.is_write) and a.epoch == b.epoch


def found_in_text(names: SimpleNamespace, text: str, threads: int) -> dict[int, str]:
    """The findings of the lesson's simulator in the text of a kernel, by line."""
    scope = vars(names) | {"__name__": "kernel"}
    run_text(text, f"<{text}>", scope)
    return findings(names, scope["kernel"], threads, box=np.zeros(WORDS, int))


def outcomes(names: SimpleNamespace) -> list[tuple[set[int], set[int]]]:
    """The lines in which the simulator finds a race of random kernels, and those that have one."""
    kernels = [random_kernel(seed) for seed in range(200)]
    return [(set(found_in_text(names, text, THREADS)), racing) for text, racing in kernels]


def test_it_finds_a_race_exactly_where_two_accesses_race():
    lines = outcomes(lesson())
    assert all(reported == racing for reported, racing in lines)
    assert 400 < sum(len(racing) for _, racing in lines) < 1600  # of 2,000 lines


def test_with_one_reader_it_misses_some():
    lines = outcomes(lesson(without=REPAIR))
    assert all(reported <= racing for reported, racing in lines)
    assert any(reported < racing for reported, racing in lines)


def test_it_names_the_line_of_the_earlier_write():
    text = """def kernel(lanes, v, box):
    with where(lanes, v.thread == 0):
        box[0] = 1
    with where(lanes, v.thread == 1):
        box[0] = 2"""
    assert found_in_text(lesson(), text, 2) == {5: "data race with line 3: thread 1 writes box[0]"}


# --- The real simulator -----------------------------------------------------------------------------------------

BOX = """
var<workgroup> box: array<u32, 8>;
@group(0) @binding(0) var<storage, read> values: array<u32>;

@compute @workgroup_size(8)
fn main(@builtin(local_invocation_index) thread: u32) {
  ...
}
"""
SAME = {
    "own_first": "box[thread] = box[thread] + box[(thread + 1u) % 8u];",
    "neighbor_first": "box[thread] = box[(thread + 1u) % 8u] + box[thread];",
    "histogram": "box[values[thread]] += 1u;",
}


@pytest.mark.parametrize("name", SAME)
@pytest.mark.parametrize("equal", [False, True])
def test_the_real_simulator_agrees(name, equal):
    values = np.arange(8, dtype=np.uint32)
    values[2] -= equal
    trace = helpers.simulate(Kernel(BOX.replace("...", SAME[name])), [values], (1, 1, 1))
    arrays = {"box": np.zeros(8, int)}
    if name == "histogram":
        arrays = {"values": values, "bins": np.zeros(8, int)}
    in_the_lesson = findings(lesson(), getattr(lesson(), name), 8, **arrays)
    # The lesson looks for races alone.
    lines = {finding.line for finding in trace.findings if finding.kind != "uninitialized read"}
    assert lines == ({7} if in_the_lesson else set())


@pytest.mark.parametrize("threads", [2, 32])
def test_both_find_the_race_of_the_tree_in_the_same_statement(threads):
    arrays = {"input": np.arange(threads), "partial": np.zeros(threads, int), "total": np.zeros(1, int)}
    buffers = np.ones(threads, np.float32), np.zeros(1, np.float32), np.uint32([threads])
    for kernel, in_python, lines in (
        (helpers.load("sum", "2_tree"), lesson().tree_sum, []),
        (lesson().racing_tree, lesson().racing_sum, [7]),
    ):
        assert list(findings(lesson(), in_python, threads, **arrays)) == lines
        real = helpers.simulate(kernel.with_constants(THREADS=threads), buffers, (1, 1, 1)).findings
        assert [finding.kind for finding in real] == ["data race"] * len(lines)
        assert all("+= partial" in finding.source_line for finding in real)


# --- What the lesson says ---------------------------------------------------------------------------------------


def test_the_answers_are_what_the_simulator_says():
    names = lesson()
    right = {name: question.right for name, question in QUESTIONS.items()}
    threads = names.run(names.one_by_one(range(8)), 8, names.Memory, **names.eight)
    assert right["thread_0_first"] == threads["total"][0]
    lanes = names.Lanes(8, names.tree_sum)
    memories = {name: names.Memory(lanes, name, words) for name, words in names.eight.items()}
    names.tree_sum(lanes, names.Variables(lanes), **memories)
    assert right["epochs_of_tree"] == lanes.epoch + 1
    with_hole = lesson(without=REPAIR)
    assert findings(with_hole, with_hole.own_first, 8, box=np.zeros(8))
    missed = not findings(with_hole, with_hole.neighbor_first, 8, box=np.zeros(8))
    assert right["one_reader"] == ("nothing" if missed else "race")


def test_the_steps_of_collatz_fill_a_third_of_the_places():
    steps = lesson().v.steps
    assert (steps.sum(), steps.max(), len(steps)) == (42, 16, 8)
