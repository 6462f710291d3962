"""What a right number does not show: races, missed barriers, indices past an array, loops that do not end.

The grader names each with its lines, and lets no such kernel reach the adapter.
"""

import re

import numpy as np
import pytest
from support.launcher import CallCounter
from support.sample import sample
from support.trials import edited, first_tests, graded, outcomes, simulate_once  # noqa: F401

from helpers import gpu
from helpers.exercises import PUZZLES
from helpers.grading import grader, trial
from helpers.grading.grader import grade
from helpers.grading.verdict import RIGHT, UNSAFE, WRONG

WAIT = "    workgroupBarrier();\n"
STEP = "    if (thread < half) { partial[thread] += partial[thread + half]; }"
TOTAL = "if (thread == 0u) { total[0] = partial[0]; }"
LUCK = "; the numbers of this run are right only by luck"


@pytest.fixture
def submissions(monkeypatch) -> CallCounter:
    """How often something is submitted to the adapter."""
    return CallCounter(monkeypatch).on(gpu.device().queue, "submit", "write_buffer")


def lines_of(source: str, *texts: str) -> list[int]:
    """The lines of a cell, counted from its first one, `my_kernel = ...`."""
    return [source[: source.index(text)].count("\n") + 1 for text in texts]


# --- Endless loops --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "old", "new", "loop", "cause"),
    [
        ("map", "output[i] =", "while (true) {}\n  output[i] =", "while", "has not ended"),
        ("conv2d_grad_bias", "var b = 0u; b < params.batch; b++", "var b = 1u; b >= 0u; b--", "var b", "below 0"),
        ("conv2d_grad_weight", "ow < out_w; ow++", "ow < out_w; oh++", "var ow", "`ow`, on which its end depends,"),
        ("conv2d_grad_bias", "var sum = 0.0;", "var sum = 0.0; loop { continuing { sum += 1.0; } }", "loop {", "ended"),
    ],
)
def test_an_endless_loop_is_wrong_everywhere_and_never_reaches_the_adapter(name, old, new, loop, cause, submissions):
    source = edited(name, (old, new))
    grades = grade(PUZZLES[name], source)
    assert outcomes(grades) == [WRONG] * len(PUZZLES[name].tests)
    assert grades[0].detail.startswith(f"it is not run: line {lines_of(source, loop)[0]}, `")
    assert "`: this loop has not ended after " in grades[0].detail
    assert cause in grades[0].detail
    assert repr(grades).splitlines()[1].endswith("wrong: the same")
    assert not grades[0].drawing  # its numbers mean nothing
    assert not submissions


def test_a_right_kernel_does_reach_the_adapter(submissions):
    assert set(outcomes(grade(PUZZLES["map"], PUZZLES["map"].solution.text))) == {RIGHT}
    assert submissions["submit"] >= 2


def test_a_loop_that_ends_in_other_tests_is_found_before_anything_is_run(submissions):
    grades = graded("tree_sum", ("i += 256u", "i += 256u * u32(params.n != 256u)"))
    assert outcomes(grades) == [WRONG] * 4
    assert "it is not run: in the test tree_256_numbers, line " in grades[0].detail
    assert not submissions


@pytest.mark.parametrize("name", sample(list(PUZZLES), 7))
def test_every_official_kernel_may_go_round_nine_times_as_often_in_the_largest_test(name, monkeypatch):
    case = max(PUZZLES[name].cases(), key=lambda case: sum(array.size for array in case.inputs))
    monkeypatch.setattr(trial, "MOST_ROUNDS", trial.MOST_ROUNDS // 9)
    assert not trial.simulated(PUZZLES[name].official, case).endless


# --- Races and barriers ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "old", "new", "line", "other"),  # the texts of both lines
    [
        ("tree_sum", WAIT, "", STEP, "partial[thread] = sum"),
        ("tree_sum", WAIT + STEP, f"{STEP}\n{WAIT}", STEP, "partial[thread] = sum"),
        ("tree_sum", TOTAL, TOTAL.replace("0u", "1u"), "total[0] =", STEP),
        ("tree_sum", TOTAL, "total[0] = partial[0];", "total[0] =", STEP),  # every thread writes the total
        ("gemm_bwd_da", f"{WAIT}    // 4", "    // 4", "sum += left", "left[local.y * TILE + local.x] ="),
    ],
)
def test_a_race_with_right_numbers_is_unsafe_and_names_both_lines(name, old, new, line, other, submissions):
    source = edited(name, (old, new))
    grades = grade(PUZZLES[name], source)
    assert outcomes(grades) == [UNSAFE] * len(grades)  # in the tests that are too small for a race, too
    mine, theirs = lines_of(source, line, other)
    named = next(verdict.detail for verdict in grades if verdict.detail)
    assert named.endswith(LUCK)
    quoted, other = (re.escape(source.split("\n")[number - 1].strip()) for number in (mine, theirs))
    assert re.search(rf"[Ll]ine {mine}, `{quoted}`: thread ", named)
    assert re.search(rf" in line {theirs}, `{other}`, and no workgroupBarrier\(\) stands between the two", named)
    assert not submissions


def test_a_thread_too_many_in_the_tree_is_unsafe():
    """No run shows it: nobody uses what thread `half` adds, beside the thread that is added to."""
    grades = graded("tree_sum", ("thread < half", "thread <= half"))
    assert outcomes(grades) == [UNSAFE] * 4
    assert "thread 128 reads `partial[thread + half]` with index 256" in grades[0].detail


def test_a_number_that_several_threads_write_is_unsafe_although_they_write_the_same():
    loop = "for (var j = 0u; j < 64u; j++) { output[j] = 3.0 * input[j] + 1.0; }"
    grades = graded("map", ("output[i] = 3.0 * input[i] + 1.0;", loop))
    assert outcomes(grades) == [UNSAFE, WRONG]
    assert "both write `output[0]`, with the same value" in grades[0].detail
    assert grades[1].detail.startswith("this is what comes out when only elements 0 to 63 are computed")


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("tree_sum", WAIT + STEP, f"    if (thread < half) {{ workgroupBarrier();\n{STEP} }}"),
        ("tree_sum", WAIT + STEP, f"    if (thread >= half) {{ continue; }}\n{WAIT}{STEP}"),
        ("tree_sum", STEP, f"    if (thread >= half) {{ break; }}\n{STEP}"),
        ("tree_sum", "  for (var half", "  if (thread >= params.n) { return; }\n  for (var half"),
        (
            "tree_sum",
            WAIT + STEP,
            f"var i = 0u; let at = &i; *at = thread; if (i < half) {{ {WAIT}{STEP} }}",
        ),
        ("tiled_product", f"{WAIT}    for", f"    if (m < params.M) {{ {WAIT} }}\n    for"),
        ("gemm_bwd_da", "  var sum", "  if (m >= params.M) { return; }\n  var sum"),
    ],
)
def test_a_barrier_that_some_threads_miss_is_unsafe_in_every_test_and_named_first(name, old, new, submissions):
    source = edited(name, (old, new))
    grades = grade(PUZZLES[name], source)
    assert RIGHT not in outcomes(grades)
    line = source.split("\n").index(next(text for text in source.split("\n") if "workgroupBarrier();" in text)) + 1
    first = grades[0].detail
    words = r"only \d+ of the 256 threads of a workgroup reach\w* workgroupBarrier\(\)"
    assert re.match(rf"line {line}, `[^`]*`: {words}", first)
    assert not submissions  # the others may wait for ever


@pytest.mark.parametrize(
    "new",  # in the place of the barrier
    [
        "    wait();\n",
        f"    let own = partial[thread] + sum * 0.0;\n{WAIT}",  # its own number
        f"    if (params.n > 0u) {{ {WAIT} }}\n",
        f"    if (half > params.n + 999u) {{ continue; }}\n{WAIT}",
    ],
)
def test_right_barriers_in_another_manner_are_right(new):
    source = f"{edited('tree_sum', (WAIT, new))}\nfn wait() {{ workgroupBarrier ( ); }}"
    assert set(outcomes(grade(PUZZLES["tree_sum"], source))) == {RIGHT}


def test_a_sum_that_doubles_itself_gets_no_false_name():
    """Its total is that of the known mistake `var i = 0u`: 256 times the first sum; the name holds for both."""
    details = " ".join(
        verdict.detail for verdict in graded("tree_sum", ("partial[thread + half]", "partial[2u * thread]"))
    )
    assert "begins with number 0" not in details


# --- Indices and outputs --------------------------------------------------------------------------------------

GUARD = "if (idx >= params.K * params.C * params.F * params.F) { return; }"
WRITE = "thread 9 writes `grad_weights[idx]` with index 9, but `grad_weights` has 9 elements"


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        (GUARD, "", "grad_weights[idx] =", WRITE),
        (GUARD, GUARD.replace(">=", ">"), "grad_weights[idx] =", WRITE),
        ("b < params.batch", "b <= params.batch", "sum +=", "reads `grad_output[grad_at]` with index 9, but"),
        ("sum += g", "sum += input[c - 1u - k] + g", "sum +=", "the index of `input[c - 1u - k]` left the range of"),
        ("sum = 0.0", "sum = select(input[idx + 99u], 0.0, idx < 9999u)", "var sum", "`input` has 25 elements"),
    ],
)
def test_an_index_past_an_array_is_unsafe_and_named_with_its_line(old, new, line, words, submissions):
    source = edited("conv2d_grad_weight", (old, new))
    grades = grade(first_tests("conv2d_grad_weight"), source)
    assert outcomes(grades) == [UNSAFE] * 2
    assert re.search(rf"[Ll]ine {lines_of(source, line)[0]}, `.*`: .*{re.escape(words)}", grades[0].detail)
    assert grades[0].detail.endswith(LUCK)
    assert repr(grades).splitlines()[1].endswith("unsafe: the same")
    assert not submissions


@pytest.mark.parametrize(
    ("new", "words"),
    [
        ("grad_weights[idx] += sum;", "it adds to what was in the output before"),
        ("grad_weights[idx] = sum + 0.5 * grad_weights[idx];", "it uses what was in the output before"),
    ],
)
def test_what_was_in_the_output_before_may_not_matter(new, words):
    grades = grade(first_tests("conv2d_grad_weight"), edited("conv2d_grad_weight", ("grad_weights[idx] = sum;", new)))
    assert outcomes(grades) == [UNSAFE] * 2
    assert words in grades[0].detail


def test_a_number_that_is_right_because_nobody_writes_it_is_unsafe():
    source = edited("gemm_bwd_da", ("if (m < params.M && k", "if (sum != 0.0 && m < params.M && k"))
    grades = grade(first_tests("gemm_bwd_da"), source)
    assert outcomes(grades) == [UNSAFE] * 2
    assert re.fullmatch(rf"\d of the 12 numbers of `d_a` are never written, first number \d+{LUCK}", grades[0].detail)


# --- What the simulator does not run --------------------------------------------------------------------------


def test_what_cannot_be_simulated_is_not_run(submissions):
    source = edited("map", ("let i = global.x;", "let i = global.x;\n  let turned = mat2x2f();"))
    grades = grade(PUZZLES["map"], source)
    assert outcomes(grades) == [UNSAFE] * 2
    why = "the simulator has no matrices; write it in another way"
    line = lines_of(source, "mat2x2f")[0]
    assert grades[0].detail == f"it is not run, because it cannot be simulated first: line {line}, column 16: {why}"
    assert f"{line} │   let turned" in str(grades)
    assert not submissions


def test_an_adapter_that_gives_other_numbers_than_the_simulator_is_named(monkeypatch):
    monkeypatch.setattr(grader, "launched", lambda kernel, case, before: np.full(case.expected.shape, 7.0, np.float32))
    grades = grade(PUZZLES["map"], PUZZLES["map"].solution.text)
    assert outcomes(grades) == [WRONG] * 2
    name = gpu.adapter_info().name
    assert grades[0].detail.startswith(
        f"a simulated run is right, but on {name} 63 of 64 numbers are wrong, first at i = "
    )
