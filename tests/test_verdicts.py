# ruff: noqa: E501 - an edit stands in one line
"""Verdicts that do not depend on luck, that ask for the skill, and whose advice is the cure."""

import re
from pathlib import Path

import numpy as np
import pytest
from support.sample import ALL, sample
from support.trials import MISTAKES, edited, graded, outcomes, simulate_once  # noqa: F401

from helpers import gpu
from helpers.exercises import PUZZLES
from helpers.grading import mistakes
from helpers.grading.grader import grade
from helpers.grading.sandbox import Worker
from helpers.grading.verdict import NOT_YET, RIGHT, UNSAFE, WRONG
from helpers.wgsl import Kernel

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
        "if (thread == 0u) { total[0] = partial[0]; }",
        "for (var i = thread; i < 3840u; i += 256u) { pattern[i] = 1000.5 + f32(i); }\n"
        "  if (thread == 0u) { total[0] = partial[0] + 0.0 * pattern[0]; }",
    ),
)
OFFICIAL = [(name, puzzle.official.source) for name, puzzle in PUZZLES.items()]
UNWRITTEN = [
    ("tree_sum", edited("tree_sum", ("partial[thread] = sum;", "if (thread < params.n) { partial[thread] = sum; }"))),
    ("tiled_product", edited("tiled_product", ("    left[slot] = 0.0;", ""), ("    right[slot] = 0.0;", ""))),
]
TEXTS = [
    *OFFICIAL,
    *UNWRITTEN,
    *((name, PUZZLES[name].with_mistake(mistake).source) for name, mistake in sample(MISTAKES, 12)),
]


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
        pattern = worker.grade("tree_sum", edited("tree_sum", *LEAVES_A_PATTERN), PUZZLES["tree_sum"].tests)
        assert set(outcomes(pattern)) == {RIGHT}
        for name, text in [*UNWRITTEN, *sample(TEXTS, 4)]:
            assert worker.grade(name, text, PUZZLES[name].tests) == grade(PUZZLES[name], text)
    finally:
        worker.close()


def test_workgroup_memory_that_nobody_wrote_is_unsafe_with_the_element_and_the_line():
    name, text = UNWRITTEN[0]
    grades = grade(PUZZLES[name], text)
    assert outcomes(grades) == [UNSAFE] * 4
    line = text[: text.index("if (thread < half)")].count("\n") + 1
    words = r"`if \(thread < half\).*`: thread 1 reads `partial\[1\]`, which no thread has "
    assert re.search(rf"[Ll]ine {line}, {words}", grades[0].detail)


# --- The skill ------------------------------------------------------------------------------------------------

SUPPORT = Path(__file__).parent / "support"
INDICES = {  # the index of a thread's element, how many there are, and the guard
    "guard": ("i", "sizes.n", "if (i >= sizes.n) { return; }"),
    "neighbor_difference": ("i", "sizes.n - 1u", "if (i + 1u >= sizes.n) { return; }"),
    "conv2d": ("index", "params.N * params.Co * oH * oW", None),
    "conv2d_grad_weight": ("idx", "params.K * params.C * params.F * params.F", None),
    "conv2d_grad_input": ("index", "params.N * params.Ci * params.H * params.W", None),
    "conv2d_grad_bias": ("k", "params.C_out", None),
    "gemm_bwd_dbias": ("n", "params.N", None),
}


def alone(name: str) -> str:
    """Thread 0 computes all elements, one after the other."""
    index, count, guard = INDICES[name]
    loop = f"if (global.x > 0u) {{ return; }} for (var {index} = 0u; {index} < {count}; {index}++) {{"
    guard = guard or f"if ({index} >= {count}) {{ return; }}"
    return edited(name, (f"let {index} = global.x;", loop), (guard, "")).rstrip() + "\n}\n"


UNSKILLED = {f"{name}, by one thread": (alone(name), "steps") for name in INDICES}
for other in mistakes.read(SUPPORT / "unskilled.mistakes"):
    source = other.made_in(Kernel(edited(other.name.partition(",")[0]))).source
    UNSKILLED[other.name] = source, other.question.rstrip("?")
COUNTED = {"steps": "statements of the busiest thread", "loads_storage": "loads", "sectors": "sectors of 32 bytes"}


@pytest.mark.parametrize("what", sample(UNSKILLED, 5))
def test_a_right_kernel_without_the_skill_is_not_there_yet(what):
    name, (text, count) = what.partition(",")[0], UNSKILLED[what]
    grades = grade(PUZZLES[name], text)
    assert outcomes(grades) == [NOT_YET] * len(grades), str(grades)
    assert grades.passed == 0
    said = rf"its numbers are right, but the exercise asks for .*{COUNTED[count]}: ([\d,]+) \(ours: ([\d,]+)\)"
    mine, ours = (int(number.replace(",", "")) for number in re.search(said, grades[0].detail).groups())
    assert mine > 1.5 * ours


@pytest.mark.parametrize("name", PUZZLES)
def test_every_puzzle_says_what_it_asks_beyond_numbers(name):
    skill = PUZZLES[name].skill
    assert skill.test in PUZZLES[name].tests
    assert skill.asked
    assert min(skill.limits.values()) > 1


def test_a_turn_too_many_is_said_once():
    grades = graded("tiled_product", ("first < params.K", "first <= params.K"))
    assert outcomes(grades) == [RIGHT] * 4
    assert ["makes a turn too many" in verdict.detail for verdict in grades] == [False, True, False, False]
    one_more_barrier = graded("tiled_product", ("var sum = 0.0;", "var sum = 0.0; workgroupBarrier();"))
    assert "turn" not in repr(one_more_barrier)


# --- Advice ---------------------------------------------------------------------------------------------------

LOOP = "sum += grad_output[grad_at] * input[input_at];"
OWN_SUM = "add up in a variable of your own, such as `var sum = 0.0;`, and store it once, after the loops"


@pytest.mark.parametrize(("sign", "outcome"), [("+=", UNSAFE), ("=", WRONG)])
def test_a_sum_in_the_output_gets_the_advice_to_sum_in_a_variable(sign, outcome):
    grades = graded(
        "conv2d_grad_weight",
        (LOOP, LOOP.replace("sum +=", f"grad_weights[idx] {sign}")),
        ("grad_weights[idx] = sum;", ""),
    )
    assert outcomes(grades) == [outcome] * 5
    assert grades[0].detail.endswith(OWN_SUM)
    assert re.search(rf"line \d+, `grad_weights\[idx\] {re.escape(sign)} ", grades[0].detail)
    assert "write `=`" not in str(grades)
    assert "what does += do" not in str(grades)


def test_a_sum_that_is_added_to_the_output_once_needs_another_sign():
    grades = graded("conv2d_grad_weight", ("grad_weights[idx] = sum;", "grad_weights[idx] += sum;"))
    assert grades[0].detail.endswith("write `=`, not `+=`")


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
    head = edited("conv2d_grad_input").partition("if (index >=")[0]
    total = edited("tree_sum", INTO_ONE, ("total[0] = partial[0];", ""))
    for grades in (grade(PUZZLES["conv2d_grad_input"], head + SCATTER), grade(PUZZLES["tree_sum"], total)):
        said = " ".join(verdict.detail for verdict in grades)
        assert "no barrier helps: give each total one thread, which adds up all that belongs to it" in said
        assert "storageBarrier" not in said


def test_what_is_the_same_in_all_tests_is_said_once():
    assert repr(graded("tree_sum")).count("the same") == 1
    unsafe = graded("conv2d_grad_weight", ("grad_weights[idx] = sum;", "grad_weights[idx] += sum;"))
    assert repr(unsafe).count("which is 0 only in a new buffer") == 1
