# ruff: noqa: E501 - an edit stands in one line
"""Verdicts: what a right number does not show is found and named with its line, none depends on luck, each has a cure.

Races, missed barriers, indices past an array and loops that do not end are found by the simulator: no such kernel
reaches the adapter.
"""

import re
from pathlib import Path

import numpy as np
import pytest
from IPython.core.formatters import DisplayFormatter
from support.grading import MISTAKES, edited, graded, only, outcomes, quoted_wrong, simulate_once  # noqa: F401
from support.launcher import CallCounter
from support.sample import ALL, sample

from helpers import gpu
from helpers.exercises import PUZZLES
from helpers.grading import grader, mistakes, test_run
from helpers.grading.grader import WORDS, grade
from helpers.grading.sandbox import Worker
from helpers.grading.test_run import simulated
from helpers.grading.verdict import NO_COMPILE, NOT_YET, RIGHT, UNSAFE, WRONG, Grades, Verdict
from wgsl import Kernel
from wgsl.output import COLUMNS, in_lines
from wgsl.simulator.work import Work

# --- Edits of official kernels --------------------------------------------------------------------------------

WAIT = "    workgroupBarrier();\n"
STEP = "    if (thread < half) { partial[thread] += partial[thread + half]; }"
TOTAL = "if (thread == 0u) { total[0] = partial[0]; }"
INIT = "var sum = 0.0;"
OWN_BARRIER = f"{INIT} workgroupBarrier();"
LUCK = "; the numbers of this run are right only by luck"
APART = f"and no workgroupBarrier() stands between the two…{LUCK}"
MISSED = "of the 256 threads of a workgroup reach"
STORE = "grad_weight[index] = sum;"
SUM = "sum += grad_output[grad_at] * input[input_at];"
GUARD = "if (index >= params.Co * params.Ci * params.F * params.F) { return; }"
PAST = f"`{STORE}`: thread 9 writes `grad_weight[index]` with index 9, but `grad_weight` has 9 elements…{LUCK}"
NOT_OURS = "is not the skeleton's; copy all bindings, and the struct, from there"
ENDLESS = "…`: this loop has not ended after …"
OWN_SUM = "add up in a variable of your own, such as `var sum = 0.0;`, and store it once, after the loops"
TREE = "2,100 loads, 1 store, 511 loads and 511 stores of workgroup memory,"
TILES = "6,440 loads, 513 stores, 163,840 loads and 16,680 stores of workgroup memory,"
WEIGHT, BIAS = "conv2d_grad_weight", "conv2d_grad_bias"

EDITS = {  # the puzzle and the outcome of all its tests: old and new text, and parts of what is said, with … between them
    (WEIGHT, WRONG): [
        (STORE, f"if (kw > 0u) {{ {STORE} }}", "first at co = 0, ci = 0, kh = 0, kw = 0: nothing was written"),
        (
            STORE,
            f"if (kw > 0u) {{ {STORE} }} else if (index == 0u) {{ grad_weight[0] = 7.5; }}",
            "kw = 0: yours is 7.5",
        ),
        (
            STORE,
            "grad_weight[index] = 0.0 * sum / 0.0;",
            "right is 26; also, line 38, `…`: `0.0 * sum / 0.0` gives NaN",
        ),
        (STORE, "grad_weight[index + 1u] = sum;", "`: thread 8 writes `grad_weight[index + 1u]` with index 9, "),
        (
            *("ow < out_w; ow++", "ow < out_w; oh++"),
            f"it is not run: line …, `for (var ow{ENDLESS}`ow`, on which its end depends,",
        ),
        (SUM, SUM.replace("sum +=", "grad_weight[index] ="), STORE, "", f"`grad_weight[index] =…{OWN_SUM}"),
    ],
    (WEIGHT, NO_COMPILE): [
        ("let kw =", "et kw =", "column 6"),
        ("@binding(3)", "@binding(4)", "none with the number 3"),
        ("@group(0) @binding(3)", "@group(1) @binding(3)", "`params` is in group 1"),
        ("var<storage, read> input", "var<storage, read_write> input", f"its binding 1 {NOT_OURS}"),
        ("F: u32 }", "F: u32, G: u32 }", f"its binding 3 {NOT_OURS}"),
        ("@workgroup_size(256)", "@workgroup_size(512)", "512"),
        ("@workgroup_size(256)", "@workgroup_size(64)", "have 64 threads; write @workgroup_size(256)"),
        ("@workgroup_size(256)", "@workgroup_size(16, 16)", "have 16 x 16 threads; write @workgroup_size(256)"),
        ("fn main", "fn mine", "main"),
        (f"  {STORE}\n}}", f"  {STORE}", "}"),
        (edited(WEIGHT), "", ""),
        (edited(WEIGHT), "hello", ""),
        (edited(WEIGHT), "\n// nothing\n", ""),
    ],
    (WEIGHT, UNSAFE): [
        (GUARD, "", PAST),
        (GUARD, GUARD.replace(">=", ">"), PAST),
        ("n < params.N", "n <= params.N", f"`sum += …reads `grad_output[grad_at]` with index 9, but…{LUCK}"),
        (
            "sum += g",
            "sum += 0.0 * input[ci - 1u - co] + g",
            f"the index of `input[ci - 1u - co]` left the range of…{LUCK}",
        ),
        (
            *("sum = 0.0", "sum = select(input[index + 9999u], 0.0, index < 9999u)"),
            f"`var sum…`: …`input` has 25 elements…{LUCK}",
        ),
        (STORE, "grad_weight[index] += sum;", "it adds to what was in the output before…write `=`, not `+=`"),
        (STORE, "grad_weight[index] = sum + 0.5 * grad_weight[index];", "it uses what was in the output before"),
        (STORE, "grad_weight[index] = sum + 0.0 * grad_weight[index];", "it uses what was in the output before"),
        (STORE, "grad_weight[index] = max(sum, grad_weight[index] - 1e9);", "it uses what was in the output before"),
        (SUM, SUM.replace("sum +=", "grad_weight[index] +="), STORE, "", f"`grad_weight[index] +=…{OWN_SUM}"),
    ],
    ("map", WRONG): [("output[i] =", "while (true) {}\n  output[i] =", f"it is not run: line …, `while{ENDLESS}")],
    ("map", RIGHT): [
        (
            *("3.0 * input[i]", "2.0 * input[i] + input[i]"),
            "512 loads, 256 stores, no barriers; ours: 256 loads",
        )
    ],
    ("map", NOT_YET): [
        (
            *("@compute", "@vertex fn seen() -> @builtin(position) vec4f { return vec4f(); }\n@compute"),
            "it is not judged yet, as each kernel must run in our simulator before it runs on a GPU: line …, column 1: "
            "the simulator has no vertex and fragment shaders; write it in another way",
        )
    ],
    (BIAS, WRONG): [
        (
            "var n = 0u; n < params.N; n++",
            "var n = 1u; n >= 0u; n--",
            f"it is not run: …`for (var n{ENDLESS}below 0",
        ),
        (INIT, f"{INIT} while (true) {{ sum += 1.0; }}", f"it is not run: line …while (true) {ENDLESS}"),
    ],
    (BIAS, NO_COMPILE): [(INIT, f"{INIT} loop {{ continuing {{ sum += 1.0; }} }}", "this `loop` has no exit")],
    ("tree_sum", WRONG): [
        ("i += 256u", "i += 256u * u32(params.n != 256u)", "it is not run: in the test tree_256_numbers, line "),
    ],
    ("tree_sum", UNSAFE): [  # in the tests that are too small for a race, too
        (WAIT, "", f"`{STEP.strip()}`: thread … in line …, `partial[thread] = sum;`, {APART}"),
        (WAIT + STEP, f"{STEP}\n{WAIT}", f"`{STEP.strip()}`: thread … in line …, `partial[thread] = sum;`, {APART}"),
        (TOTAL, TOTAL.replace("0u", "1u"), f"total[0] = … in line …, `{STEP.strip()}`, {APART}"),
        (TOTAL, "total[0] = partial[0];", f"`total[0] = … in line …, `{STEP.strip()}`, {APART}"),
        ("thread < half", "thread <= half", f"thread 128 reads `partial[thread + half]` with index 256…{LUCK}"),
        (
            *("partial[thread] = sum;", "if (thread < params.n) { partial[thread] = sum; }"),
            f"`{STEP.strip()}`: thread 1 reads `partial[1]`, which no thread has …a `workgroupBarrier()` before another thread reads it",
        ),
        (WAIT + STEP, f"    if (thread < half) {{ workgroupBarrier();\n{STEP} }}", MISSED),
        (WAIT + STEP, f"    if (thread >= half) {{ continue; }}\n{WAIT}{STEP}", MISSED),
        (STEP, f"    if (thread >= half) {{ break; }}\n{STEP}", MISSED),
        (WAIT + STEP, f"var i = 0u; let at = &i; *at = thread; if (i < half) {{ {WAIT}{STEP} }}", MISSED),
    ],
    ("tree_sum", RIGHT): [
        (INIT, "var sum = 0.0 * 2.0;", f"{TREE} 8 barriers"),
        (INIT, OWN_BARRIER, f"{TREE} 9 barriers; ours: 8 barriers"),
        (WAIT, "    wait();\n", "@compute", "fn wait() { workgroupBarrier ( ); }\n@compute", ""),
        (WAIT, f"    let own = partial[thread] + sum * 0.0;\n{WAIT}", ""),  # its own number
        (WAIT, f"    if (params.n > 0u) {{ {WAIT} }}\n", ""),
        (WAIT, f"    if (half > params.n + 999u) {{ continue; }}\n{WAIT}", ""),
    ],
    ("tiled_product", RIGHT): [
        (INIT, OWN_BARRIER, f"{TILES} 11 barriers in each workgroup; ours: 10 barriers in each workgroup"),
    ],
    ("tiled_product", UNSAFE): [(f"{WAIT}    for", f"    if (m < params.M) {{ {WAIT} }}\n    for", MISSED)],
    ("gemm_bwd_da", UNSAFE): [
        (f"{WAIT}    // 4", "    // 4", f"`sum += left… in line …, `left[local.y * TILE + local.x] = …{APART}"),
    ],
}
ROWS = [(*key, *row) for key, rows in EDITS.items() for row in rows]


@pytest.fixture
def submissions(monkeypatch) -> CallCounter:
    """How often something is submitted to the adapter."""
    return CallCounter(monkeypatch).on(gpu.device().queue, "submit", "write_buffer")


def says(grades: Grades, parts: str) -> bool:
    """Whether these parts of sentences, with … between them, come in this order."""
    said = "\n".join(verdict.detail for verdict in grades)
    return bool(re.search(".*".join(map(re.escape, parts.split("…"))), said, re.IGNORECASE))


@pytest.mark.parametrize("row", sample(ROWS, 72), ids=lambda row: "-".join(row[:2]))
def test_an_edited_kernel_gets_its_verdict_with_the_line_that_is_to_blame(row, submissions):
    name, outcome, *edits, words = row
    source = edited(name, *zip(edits[::2], edits[1::2], strict=True))
    grades = grade(PUZZLES[name], source)
    assert only(grades) == outcome, str(grades)
    assert says(grades, words), str(grades)
    assert outcome == NO_COMPILE or not quoted_wrong(source, grades)
    assert bool(submissions) == (outcome == RIGHT)
    if outcome != WRONG or says(grades, "it is not run"):
        assert "`" not in repr(grades).partition("\n")[2]  # what is said of all tests is said once


IDLE = [
    "{ }",
    "{ ; }",
    "{ let q = 1u; }",
    "{ return; }",
    "{ } fn f() { $ }",
    "{ if (false) { $ } }",
]  # the body of main


@pytest.mark.parametrize("name", PUZZLES)
def test_a_text_that_never_stores_a_result_is_wrong_and_told_so(name):
    text = PUZZLES[name].solution.text
    head = text[: text.index("{", text.index("fn main"))]
    (output,) = (each.name for each in PUZZLES[name].official.bindings if each.space == "storage,read_write")
    for idle in (*IDLE, "{ } const k = 1;"):
        grades = grade(PUZZLES[name], head + idle.replace("$", f"{output}[0] = 1.0;"))
        assert only(grades) == WRONG
        assert grades[0].detail == f"no line stores to `{output}`: which line of `main` should store your result there?"
    assert simulated(Kernel(head + IDLE[0]), PUZZLES[name].cases()[0]).counts["steps"] == 0


def test_the_work_of_a_text_counts_both_its_runs_and_what_is_stopped_is_not_run_again(monkeypatch):
    kernel, case = Kernel(edited("map", ("output[i] =", "output[i] +="))), PUZZLES["map"].cases()[0]
    once = (work := Work()).left - (test_run.traced(kernel, case, work=work) and work.left)
    runs = CallCounter(monkeypatch).on(test_run, "traced")
    for halves, endless, count in (4, False, 2), (3, True, 2), (1, True, 1):
        runs.clear()
        tried = simulated(kernel, case, work=Work(once * halves // 2))
        assert (tried.endless, sum(runs.values())) == (endless, count)
        assert tried.uses_before != endless


ODD = {  # texts that begin or end as no kernel does, and words of what is said
    "#version 450\nvoid main() {}": "line 1, column 1: a comment begins with `//`; `#` means nothing in WGSL",
    f"\n #version 450{edited('map')}": "line 2, column 2: a comment begins with `//`",
    edited("map", ("3.0", "9" * 5000)): "is out of the range of its type",
}


@pytest.mark.parametrize("text", ODD, ids=range(len(ODD)))
def test_an_odd_text_does_not_compile_and_the_reason_is_plain(text):
    grades = grade(PUZZLES["map"], text)
    assert only(grades) == NO_COMPILE
    assert ODD[text] in grades[0].detail


# --- Outcomes that differ between the tests -------------------------------------------------------------------

SEEN = {  # how many of the five tests see each wrong kernel; the last one, which is not the classroom's, sees all
    ("n < params.N", "n < 1u"): 1,
    ("index % params.F;", "index / params.F % params.F;"): 5,
    ("params.H + oh + kh", "params.H + oh + kw"): 5,
    ("ci) * params.H + oh", "ci) * params.W + oh"): 1,  # only a rectangular image shows it
    ("((n * params.Co + co) * out_h", "((n * params.Ci + co) * out_h"): 1,
    ("oh < out_h", "oh < out_h - 1u"): 5,
    ("grad_output[grad_at]", "1.0"): 5,
    ("index / (params.F * params.F) % params.Ci", "0u"): 2,
    ("var sum = 0.0", "var sum = 1.0"): 5,
}


@pytest.mark.parametrize("edit", SEEN)
def test_a_wrong_kernel_fails(edit):
    grades = graded(WEIGHT, edit)
    assert outcomes(grades).count(WRONG) >= SEEN[edit]
    assert (grades[4].outcome, "at co = " in grades[4].detail) == (WRONG, True)


def test_the_smallest_wrong_output_is_drawn_beside_the_right_one():
    grades = graded(WEIGHT, ("oh + kh) * params.W + ow + kw", "oh + kw) * params.W + ow + kh"))
    assert [bool(verdict.drawing) for verdict in grades] == [True, False, False, False, False]
    assert (
        f"\n{grades[0].drawing}\n"
        == """
The smallest test that fails is conv_bw_tiny_3x3.
(* marks a wrong number)
grad_output     input
-4  -3  -2      0  1  2  3  4
-1   0   1      5  6  0  1  2
 2   3   4      3  4  5  6  0
                1  2  3  4  5
                6  0  1  2  3

right             yours
 26   26    5     26  -16* -16*
-16    5   26     26*   5  -30*
-16  -30  -16      5*  26* -16
"""
    )
    shown = f"{in_lines(repr(grades))}\n\n{grades[0].drawing}"
    assert DisplayFormatter().format(grades)[0] == {"text/plain": shown}  # what a notebook shows


def test_a_long_reason_goes_on_in_the_next_line():
    """JupyterLab would break it within a word."""
    for shown in (
        Grades.alike(["one", "two"], WRONG, "a reason of many words " * 9),
        Verdict("one", WRONG, "word " * 40),
    ):
        lines = DisplayFormatter().format(shown)[0]["text/plain"].splitlines()
        assert max(map(len, lines)) <= COLUMNS < len(repr(shown).splitlines()[0])


def test_a_number_that_several_threads_write_is_unsafe_although_they_write_the_same():
    loop = "for (var j = 0u; j < 64u; j++) { output[j] = 3.0 * input[j] + 1.0; }"
    grades = graded("map", ("output[i] = 3.0 * input[i] + 1.0;", loop))
    assert outcomes(grades) == [UNSAFE, WRONG]
    assert says(grades, "both write `output[0]`, with the same value")
    assert says(grades[1:], "this is what comes out when each thread computes elements 0 to 63")


def test_a_number_that_is_right_because_nobody_writes_it_is_unsafe():
    grades = graded("gemm_bwd_da", ("if (m < params.M && k", "if (sum != 0.0 && m < params.M && k"))
    assert outcomes(grades)[:2] == [UNSAFE] * 2
    assert says(grades, f"of the 12 numbers of `d_a` are never written, first number …{LUCK}")


@pytest.mark.parametrize(
    ("name", "below", "guard"),
    [("tree_sum", "  for (var half", "thread >= params.n"), ("gemm_bwd_da", "  var sum", "m >= params.M")],
)
def test_a_barrier_that_the_threads_past_the_end_miss_is_never_right(name, below, guard):
    grades = graded(name, (below, f"  if ({guard}) {{ return; }}\n{below}"))
    assert RIGHT not in outcomes(grades)
    assert says(grades, MISSED)


def test_a_sum_that_doubles_itself_gets_no_false_name():
    """Its total is that of the known mistake `var i = 0u`: 256 times the first sum; the name holds for both."""
    assert not says(graded("tree_sum", ("partial[thread + half]", "partial[2u * thread]")), "begins with number 0")


def test_what_reads_past_an_array_in_another_place_gets_no_false_name():
    """Its numbers are right, as are those of a known mistake, which writes past the output."""
    assert not says(graded(WEIGHT, ("sum += g", "sum += 0.0 * input[ci - 1u - co] + g")), "this is what happens when")


def test_a_turn_too_many_is_said_once():
    grades = graded("tiled_product", ("first < params.K", "first <= params.K"))
    assert only(grades) == RIGHT
    assert ["makes a turn too many" in verdict.detail for verdict in grades] == [False, True, False, False]
    assert "turn" not in repr(graded("tiled_product", (INIT, OWN_BARRIER)))


def test_an_adapter_that_gives_other_numbers_than_the_simulator_is_named(monkeypatch):
    monkeypatch.setattr(grader, "launched", lambda kernel, case: np.full(case.expected.shape, 7.0, np.float32))
    grades = graded("map")
    assert only(grades) == WRONG
    name = gpu.adapter_info().name
    assert says(grades, f"a simulated run is right, but on {name} 63 of 64 numbers are wrong, first at i = ")


# --- Not by luck ----------------------------------------------------------------------------------------------

TIMES = 10
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
TEXTS = [(name, puzzle.official.source) for name, puzzle in PUZZLES.items()] + UNWRITTEN
TEXTS += [(name, PUZZLES[name].with_mistake(mistake).source) for name, mistake in sample(MISTAKES, 12)]


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
    worker = Worker("helpers.exercises")
    try:
        assert only(worker.grade("tree_sum", edited("tree_sum", *LEAVES_A_PATTERN), PUZZLES["tree_sum"].tests)) == RIGHT
        for name, text in [*UNWRITTEN, *sample(TEXTS, 4)]:
            assert worker.grade(name, text, PUZZLES[name].tests) == grade(PUZZLES[name], text)
    finally:
        worker.close()


# --- The skill ------------------------------------------------------------------------------------------------

INDICES = {  # the index of a thread's element, how many there are, and the guard
    "guard": ("i", "sizes.n", "if (i >= sizes.n) { return; }"),
    "neighbor_difference": ("i", "sizes.n - 1u", "if (i + 1u >= sizes.n) { return; }"),
    "conv2d": ("index", "params.N * params.Co * oH * oW", None),
    "weight_index": ("index", "params.Co * params.Ci * params.kH * params.kW", None),
    "weight_window": ("index", "kH * kW", None),
    "weight_padding": ("index", "params.kH * params.kW", None),
    "strided_grad_weight": ("index", "params.Co * params.Ci * taps", None),
    "conv2d_grad_weight": ("index", "params.Co * params.Ci * params.F * params.F", None),
    "conv2d_grad_input": ("index", "params.N * params.Ci * params.H * params.W", None),
    "conv2d_grad_bias": ("co", "params.Co", None),
    "gemm_bwd_dbias": ("n", "params.N", None),
}


def shared_out(name: str, each: str) -> str:
    """Each thread computes so many elements, one after the other."""
    index, count, guard = INDICES[name]
    first = f"min(global.x, 4096u) * {each}"
    loop = f"for (var {index} = {first}; {index} < min({count}, {first} + {each}); {index}++) {{"
    guard = guard or f"if ({index} >= {count}) {{ return; }}"
    return edited(name, (f"let {index} = global.x;", loop), (guard, "")).rstrip() + "\n}\n"


UNSKILLED = {f"{name}, by one thread": (shared_out(name, "(1u << 16u)"), "steps") for name in INDICES}
UNSKILLED |= {f"{name}, three by a thread": (shared_out(name, "3u"), "results") for name in INDICES}
for other in mistakes.read(Path(__file__).parent / "support/unskilled.mistakes"):
    source = other.made_in(Kernel(edited(other.name.partition(",")[0]))).source
    UNSKILLED[other.name] = source, other.question.rstrip("?")


@pytest.mark.parametrize("what", sample(UNSKILLED, 5))
def test_a_right_kernel_without_the_skill_is_not_there_yet(what):
    text, count = UNSKILLED[what]
    grades = grade(PUZZLES[what.partition(",")[0]], text)
    assert (only(grades), grades.passed) == (NOT_YET, 0), str(grades)
    said = rf"its numbers are right, but the exercise asks for .*{WORDS[count]}: ([\d,]+) \(ours: ([\d,]+)\)"
    mine, ours = (int(number.replace(",", "")) for number in re.search(said, grades[0].detail).groups())
    assert mine > 1.5 * ours


ALONE = ("let i = global.x;", "if (global.x > 0u) { return; } for (var i = 0u; i < arrayLength(&output); i++) {")


@pytest.mark.parametrize(
    ("after", "outcome", "said"),
    [
        ("while (arrayLength(&output) > 64u) { if (output[0] > 1e9) { break; } }", WRONG, "this loop has not ended"),
        (
            "for (var j = 0u; j < 800u; j++) { for (var k = 0u; k < 2u; k++) {} }",
            NOT_YET,
            "in one_workgroup, it is stopped: one thread has made 1,512 iterations in all its loops together",
        ),
    ],
)
def test_a_loop_without_an_end_is_wrong_and_many_loops_that_end_are_not_there_yet(after, outcome, said):
    grades = graded("map", ALONE, ("3.0 * input[i] + 1.0;", f"3.0 * input[i] + 1.0; }} {after}"))
    assert (only(grades), says(grades, said)) == (outcome, True), str(grades)


# --- Advice ---------------------------------------------------------------------------------------------------

SCATTER = """if (index < params.N * params.Co * params.oH * params.oW) {
    let ow = index % params.oW; let oh = index / params.oW % params.oH;
    let co = index / (params.oW * params.oH) % params.Co; let n = index / (params.oW * params.oH * params.Co);
    for (var ci = 0u; ci < params.Ci; ci++) { for (var kh = 0u; kh < params.kH; kh++) { for (var kw = 0u; kw < params.kW; kw++) {
      let ih = oh * params.S + kh - params.Ph; let iw = ow * params.S + kw - params.Pw;
      if (ih >= params.H || iw >= params.W) { continue; }
      grad_input[((n * params.Ci + ci) * params.H + ih) * params.W + iw] += grad_output[index] * weight[((co * params.Ci + ci) * params.kH + kh) * params.kW + kw];
    } } }
  }
}
"""
INTO_ONE = (
    "for (var i = thread; i < params.n; i += 256u) { sum += input[i]; }",
    "if (thread < params.n) { total[0] += input[thread]; }",
)


def test_a_scatter_and_a_total_of_many_threads_are_told_to_give_each_total_one_thread():
    scatter = edited("conv2d_grad_input").partition("if (index >=")[0] + SCATTER
    totals = graded("tree_sum", INTO_ONE, ("total[0] = partial[0];", ""))
    for grades in (grade(PUZZLES["conv2d_grad_input"], scatter), totals):
        assert says(grades, "no barrier helps: give each total one thread, which adds up all that belongs to it")
        assert not says(grades, "storageBarrier")
