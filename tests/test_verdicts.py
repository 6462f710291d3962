"""Verdicts: what a right number does not show is found and named with its line, none depends on luck, each has a cure.

Races, missed barriers, indices past an array and loops that do not end are found by the simulator: no such kernel
reaches the adapter.
"""

import re
from itertools import product

import numpy as np
import pytest
from support.grading import MISTAKES, edited, graded, only, outcomes, planted, quoted_wrong, simulate_once  # noqa: F401
from support.launcher import CallCounter
from support.messages import every
from support.sample import ALL, sample
from support.speakers import handed_in

from helpers import gpu
from helpers.grading import grader, mistakes, test_run
from helpers.grading.grader import grade
from helpers.grading.sandbox import Worker
from helpers.grading.test_run import simulated
from helpers.grading.verdict import NO_COMPILE, NOT_YET, RIGHT, UNSAFE, WRONG, Grades
from helpers.grading.words.runs import COUNTS
from helpers.lessons.exercises import PUZZLES
from wgsl import Kernel
from wgsl.simulator.work import Work

# --- Edits of official kernels --------------------------------------------------------------------------------

WAIT = "    workgroupBarrier();\n"
TOTAL = "if (thread == 0u) { total[0] = partial[0]; }"
MISSED = "of the 256 threads of a workgroup reach"
WEIGHT, BIAS = "conv2d_grad_weight", "conv2d_grad_bias"


@pytest.fixture
def submissions(monkeypatch) -> CallCounter:
    """A count of what is submitted to the adapter."""
    return CallCounter(monkeypatch).on(gpu.device().queue, "submit", "write_buffer")


def says(grades: Grades, parts: str) -> bool:
    """Return True where these parts of sentences, with … between them, come in this order."""
    details = "\n".join(verdict.detail for verdict in grades)
    return bool(re.search(".*".join(map(re.escape, parts.split("…"))), details, re.IGNORECASE))


@every("verdicts")
def test_an_edited_kernel_gets_its_verdict_with_the_line_that_is_to_blame(family, heading, text, message, submissions):
    """It is stored; and what is not surely safe never reaches the adapter."""
    source = handed_in(heading, text)
    grades = grade(PUZZLES[heading], source)
    seen = {*outcomes(grades)}
    assert str(grades) == message
    assert bool(submissions) == (RIGHT in seen)
    assert NO_COMPILE in seen or not [quote for quote in quoted_wrong(source, grades) if "''" not in quote]
    if len(seen) == 1 and (seen == {UNSAFE} or "was not run" in message):
        assert "`" not in repr(grades).partition("\n")[2]  # what is said of all tests is said once


IDLE = [
    "{ }",
    "{ ; }",
    "{ let q = 1u; }",
    "{ return; }",
    "{ } fn f() { $ }",
    "{ if (false) { $ } }",
]  # the body of main


def output_of(name: str) -> str:
    """The binding of a puzzle's results."""
    return PUZZLES[name].official.bindings[len(PUZZLES[name].cases()[0].inputs)].name


@pytest.mark.parametrize("name", sample(PUZZLES, 12))
def test_a_text_that_never_stores_a_result_is_wrong_and_told_so(name):
    text = PUZZLES[name].solution.text
    last = PUZZLES[name].entry_points[-1]
    head = text[: text.index("{", text.index(f"fn {last}"))]
    stores = f"{output_of(name)}[0] = {output_of(name)}[0];"  # a number, or four
    for idle in (*IDLE, "{ } const k = 1;"):
        grades = grade(PUZZLES[name], head + idle.replace("$", stores))
        assert only(grades) == WRONG
        where = f"which line of `{last}` should store your result there?"
        assert grades[0].detail == f"no line stores to `{output_of(name)}`: {where}"
    counts = simulated(Kernel(head + IDLE[0]), PUZZLES[name].cases()[0]).counts
    assert counts["results"] == 0
    if last == "main":
        assert counts["steps"] == 0


def test_the_work_of_a_text_counts_both_its_runs_and_what_is_stopped_is_not_run_again(monkeypatch):
    kernel = Kernel(edited("map", ("output[i] =", "output[i] +=")))
    case = PUZZLES["map"].cases()[0]
    work = Work()
    before = work.left
    test_run.traced(kernel, case, work=work)
    once = before - work.left
    runs = CallCounter(monkeypatch).on(test_run, "traced")
    for halves, endless, count in (4, False, 2), (3, True, 2), (1, True, 1):
        runs.clear()
        tried = simulated(kernel, case, work=Work(once * halves // 2))
        assert (tried.endless, sum(runs.values())) == (endless, count)
        assert tried.uses_before != endless


# --- Outcomes that differ between the tests -------------------------------------------------------------------


def test_an_adapter_that_gives_other_numbers_than_the_simulator_is_named(monkeypatch):
    monkeypatch.setattr(grader, "launched", lambda kernel, case: np.full(case.expected.shape, 7.0, np.float32))
    grades = graded("map")
    assert only(grades) == WRONG
    name = gpu.adapter_info().name
    assert says(grades, f"a simulated run is right, but on {name} 63 of 64 numbers are wrong, first at i = ")


# --- Names that fit by accident -------------------------------------------------------------------------------

VALUES = {"0.0": r"0.0", "a large number": r"1e30", "NaN": r"0.0 * (\2) / 0.0"}
SPOILED = [*product(PUZZLES, VALUES)]
ZEROS = {  # mistakes that make all numbers 0
    "max_pool2d_backward": "no pixel gets a gradient",
    "combine_gradients": "the number of images is divided before it is a float",
}


@pytest.mark.parametrize(("name", "value"), sample(SPOILED, 2))
def test_a_kernel_that_stores_one_number_everywhere_gets_no_false_name(name, value):
    output = output_of(name)
    source, count = re.subn(rf"({output}\[[^=;]*\]) = ([^;]*);", rf"\1 = {VALUES[value]};", edited(name))
    assert count
    names = re.findall("this is what (?:comes out|happens) when (.*?):", repr(grade(PUZZLES[name], source)))
    assert names == ([ZEROS[name]] if name in ZEROS and value == "0.0" else [])


# --- One test's numbers ---------------------------------------------------------------------------------------


DRAWN = [
    # The fourth test is wrong, and the last is smaller.
    (WEIGHT, [("n * params.in_channels + ci", "n * params.out_channels + ci")]),
    (WEIGHT, [("sum += g", "sum += f32(ci) * g")]),
    ("conv2d", [("ow * params.S + kw", "ow + kw"), ("kH + kh) * params.kW", "kH + kh) * params.kH")]),
    ("max_pool2d_backward", [("sum += grad_output[grad_at]", "sum += grad_output[grad_at] * f32(params.P + 1u)")]),
]


@pytest.mark.parametrize(("name", "edits"), sample(DRAWN, 1))
def test_the_numbers_that_a_verdict_names_are_those_that_are_drawn(name, edits):
    grades = graded(name, *edits)
    pair = re.compile(r"(?:yours|right) is (-?\d+(?:\.\d+)?)")
    numbers = {v.test: pair.findall(v.detail) for v in grades if v.outcome == WRONG}
    sizes = {case.name: case.expected.size for case in PUZZLES[name].cases()}
    (smallest,) = [test for test in numbers if numbers[test]]
    assert sizes[smallest] == min(sizes[test] for test in numbers)
    (drawn,) = [verdict for verdict in grades if verdict.drawing]
    assert drawn.test == smallest
    assert f"smallest test with wrong numbers is {smallest}." in drawn.drawing
    yours, right = numbers[smallest]
    assert re.search(rf"(?<![\d.-]){re.escape(yours)}\*", drawn.drawing)
    assert re.search(rf"(?<![\d.-]){re.escape(right)}(?![\d.*])", drawn.drawing)


# --- Not by luck ----------------------------------------------------------------------------------------------

TIMES = 10 if ALL else 2
PATTERN = Kernel("""
@group(0) @binding(0) var<storage, read_write> output: array<f32>;
var<workgroup> pattern: array<f32, 4096>;
@compute @workgroup_size(256)
fn main(@builtin(local_invocation_index) thread: u32) {
  for (var i = thread; i < 4096u; i += 256u) { pattern[i] = 1000.5 + f32(i); }
  workgroupBarrier();
  output[thread] = pattern[(thread * 17u) % 4096u];
}
""")
LEAVES_A_PATTERN = (  # a right sum
    ("@compute", "var<workgroup> pattern: array<f32, 3840>;\n@compute"),
    (
        TOTAL,
        "for (var i = thread; i < 3840u; i += 256u) { pattern[i] = 1000.5 + f32(i); }\n"
        "  if (thread == 0u) { total[0] = partial[0] + 0.0 * pattern[0]; }",
    ),
)
UNWRITTEN = [
    ("tree_sum", edited("tree_sum", ("partial[thread] = sum;", "if (thread < params.n) { partial[thread] = sum; }"))),
    ("tiled_product", edited("tiled_product", ("    left[slot] = 0.0;", ""), ("    right[slot] = 0.0;", ""))),
]
TEXTS = [(name, PUZZLES[name].official.source) for name in sample(PUZZLES, 6)] + UNWRITTEN
TEXTS += [(name, PUZZLES[name].with_mistake(mistake).source) for name, mistake in sample(MISTAKES, 3)]


@pytest.mark.parametrize(("name", "text"), TEXTS, ids=[f"{i} {name}" for i, (name, _) in enumerate(TEXTS)])
def test_a_verdict_is_the_same_ten_times_whatever_an_earlier_kernel_left(name, text):
    verdicts = set()
    for i in range(TIMES):
        if i % 2:
            gpu.launch(PATTERN, [np.zeros(256, np.float32)], (64, 1, 1))
        verdicts.add(grade(PUZZLES[name], text))
    assert len(verdicts) == 1


@pytest.mark.parametrize("time", range(TIMES if ALL else 1))
def test_a_verdict_is_the_same_in_a_fresh_process(time):
    worker = Worker("helpers.lessons.exercises")
    try:
        assert only(worker.grade("tree_sum", edited("tree_sum", *LEAVES_A_PATTERN), PUZZLES["tree_sum"].tests)) == RIGHT
        for name, text in [*UNWRITTEN, *sample(TEXTS, 2)]:
            assert worker.grade(name, text, PUZZLES[name].tests) == grade(PUZZLES[name], text)
    finally:
        worker.close()


# --- The skill ------------------------------------------------------------------------------------------------

ONE_ELEMENT = [name for name in PUZZLES if re.search(r"let \w+ = global\.x;(?!.*global\.y)", edited(name), re.DOTALL)]


def shared_out(name: str, count: str) -> str:
    """The official kernel, in which each thread computes this many elements, one after the other."""
    first = f"min(global.x, 4096u) * {count}"
    return in_a_loop(name, f"var i = {first}; i < min(arrayLength(&{output_of(name)}), {first} + {count}); i++")


def strided(name: str, threads: str) -> str:
    """The official kernel, in which this many threads compute all elements, in strides of their number."""
    end = f"i < arrayLength(&{output_of(name)}) && global.x < {threads}u"
    return in_a_loop(name, f"var i = global.x; {end}; i += {threads}u")


def in_a_loop(name: str, loop: str) -> str:
    """The official kernel, in which a thread computes an element in each turn of a loop."""
    calls = rf"\g<0>\n  for ({loop}) {{ one_of_many(vec3u(i, 0u, 0u)); }}\n}}\nfn one_of_many(global: vec3u) {{"
    return re.sub(r"@compute[^{]*\{", calls, edited(name))


def threads_of(name: str) -> str:
    """The threads of a workgroup in a row, as in the text."""
    return re.search(r"@workgroup_size\((\d+)", edited(name))[1]


UNSKILLED = {f"{name}, by one thread": (shared_out(name, "(1u << 16u)"), "results") for name in ONE_ELEMENT}
UNSKILLED |= {f"{name}, three by a thread": (shared_out(name, "3u"), "results") for name in ONE_ELEMENT}
UNSKILLED |= {f"{name}, by 48 threads": (strided(name, "48"), "results") for name in ONE_ELEMENT}
UNSKILLED |= {f"{name}, by the first workgroup": (strided(name, threads_of(name)), "results") for name in ONE_ELEMENT}
for other in planted("unskilled"):
    source = mistakes.edited(Kernel(edited(other.puzzle)), other.edits).source
    UNSKILLED[str(other)] = source, other.count


@pytest.mark.parametrize("what", sample(UNSKILLED, 3))
def test_a_right_kernel_without_the_skill_is_not_there_yet(what):
    text, count = UNSKILLED[what]
    grades = grade(PUZZLES[what.partition(",")[0]], text)
    assert (only(grades), grades.passed) == (NOT_YET, 0), str(grades)
    words = rf"[Ii]ts numbers are right, but.* [Tt]he exercise asks for .*{COUNTS[count]}: ([\d,]+) \(ours: ([\d,]+)\)"
    yours, ours = (int(number.replace(",", "")) for number in re.search(words, grades[0].detail).groups())
    assert yours > 1.5 * ours or ours > 1.5 * yours
