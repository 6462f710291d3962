"""The grader: the official kernel passes, wrong ones fail where they should, and no learner's text breaks anything."""

import os
import subprocess

import nbformat
import numpy as np
import pytest

from helpers import gpu
from helpers.convolution import exercise
from helpers.grading import sandbox
from helpers.grading.verdict import NO_COMPILE, NOT_ATTEMPTED, RIGHT, WRONG, Grades
from helpers.wgsl import KERNELS

SOLUTION = exercise.solution().text
NAMES = [
    "conv_bw_tiny_3x3",
    "conv_bw_numerical_gradient_check",
    "conv_bw_lenet_conv1",
    "conv_bw_lenet_conv2",
    "conv_bw_rectangular_batch",
]


def graded(source: str) -> Grades:
    """Grade in this process, which is quicker; the other process has tests of its own."""
    return exercise._grade_here(source)


def edited(old: str, new: str) -> str:
    assert SOLUTION.count(old) == 1
    return SOLUTION.replace(old, new)


def outcomes(grades: Grades) -> list[str]:
    return [verdict.outcome for verdict in grades]


def test_the_official_kernel_passes_in_its_own_process(monkeypatch):
    monkeypatch.setenv("PYTHONSAFEPATH", "1")
    monkeypatch.setenv("LC_ALL", "C")
    grades = exercise.grade(f"// 写 × ≤\n{SOLUTION}")  # letters of any alphabet reach it
    assert [verdict.test for verdict in grades] == NAMES
    assert outcomes(grades) == [RIGHT] * 5
    assert repr(grades).endswith("5 of 5 tests pass")


def test_the_notebook_holds_the_skeleton():
    lesson = nbformat.read(KERNELS.parent / "notebooks" / "02_weight_gradient.ipynb", 4)
    (cell,) = (cell for cell in lesson.cells if cell.source.startswith("my_kernel ="))
    assert cell.source == f'my_kernel = """\n{exercise.skeleton()}\n"""'


def test_the_skeleton_is_not_attempted_even_with_other_blanks_and_comments():
    assert outcomes(exercise.grade(exercise.skeleton().replace("// 1.", "\n   // my first"))) == [NOT_ATTEMPTED] * 5


@pytest.mark.parametrize(
    ("old", "new", "seen"),  # by so many of the five tests
    [
        ("b < params.batch", "b < 1u", 1),  # what the four classroom tests miss
        ("idx % params.F;", "idx / params.F % params.F;", 5),
        ("params.H + oh + fh", "params.H + oh + fw", 5),
        ("c) * params.H + oh", "c) * params.W + oh", 1),  # only a rectangular image shows it
        ("((b * params.K + k) * out_h", "((b * params.C + k) * out_h", 1),
        ("oh < out_h", "oh < out_h - 1u", 5),
        ("grad_output[grad_at]", "1.0", 5),
        ("idx / (params.F * params.F) % params.C", "0u", 2),
        ("var sum = 0.0", "var sum = 1.0", 5),
    ],
)
def test_a_wrong_kernel_fails(old, new, seen):
    grades = graded(edited(old, new))
    assert outcomes(grades).count(WRONG) >= seen
    assert grades[4].outcome == WRONG  # ours catches every one
    assert "at k = " in grades[4].detail


GUARD = "if (idx >= params.K * params.C * params.F * params.F) { return; }"
COUNT_DOWN = "for (var b = params.batch - 1u; b >= 0u; b--)"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (GUARD, "", "wrote past the last one (step 1)"),
        ("grad_weights[idx] = sum", "grad_weights[idx] += sum", "write =, not +="),
        ("grad_weights[idx] = sum;", "if (fw > 0u) { grad_weights[idx] = sum; }", "nothing was written"),
        (
            "b < params.batch",
            "b <= params.batch",
            "reads past the end of an input; check the loop limits and the offsets",
        ),
        ("for (var b = 0u; b < params.batch; b++)", COUNT_DOWN, "the loop in line 23 seems endless"),
        ("  var sum = 0.0;", "  var sum = 0.0;\n  while (true) { sum += 1.0; }", "the loop in line 20 seems endless"),
        (
            "  var sum = 0.0;",
            "  var sum = 0.0; loop { continuing { sum += 1.0; } }",
            "the loop in line 19 seems endless",
        ),
    ],
)
def test_a_mistake_that_most_drivers_hide_is_named(old, new, words):
    grades = graded(edited(old, new))
    assert outcomes(grades)[:3] == [WRONG] * 3
    assert words in grades[0].detail


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("let fw =", "et fw =", "line 14, column 6"),
        ("@binding(3)", "@binding(4)", "they must be 0, 1, 2"),
        ("var<storage, read> input", "var<storage, read_write> input", "differ from the skeleton's four"),
        ("@workgroup_size(256)", "@workgroup_size(512)", "512"),
        ("@workgroup_size(256)", "@workgroup_size(64)", "64 threads; write @workgroup_size(256)"),
        ("grad_weights[idx] = sum", "grad_weights = sum", "is an index like [i] missing?"),
        ("let idx = global.x", "let idx = global", "can't work with vec3<u32> and u32"),
        ("  grad_weights[idx] = sum;\n}", "  grad_weights[idx] = sum;", "is a } missing?"),
        ("fn main", "fn mine", "main"),
    ],
)
def test_a_kernel_that_does_not_compile_says_why_once(old, new, words):
    grades = graded(edited(old, new))
    assert outcomes(grades) == [NO_COMPILE] * 5
    assert words in grades[0].detail
    assert not grades[1].detail


@pytest.mark.skipif(os.name == "nt", reason="runs a shell command as the other process")
@pytest.mark.parametrize(
    ("command", "seconds", "words"),
    [("exec sleep 60", 0.2, "did not finish within 0.2 s"), ("kill -SEGV $$", 5, "made the GPU driver crash")],
)
def test_a_process_that_hangs_or_crashes_is_reported(command, seconds, words, monkeypatch):
    real = subprocess.run
    monkeypatch.setattr(sandbox, "SECONDS", seconds)
    monkeypatch.setattr(sandbox.subprocess, "run", lambda _, **options: real(["sh", "-c", command], **options))
    grades = exercise.grade(SOLUTION)
    assert outcomes(grades) == [WRONG] * 5
    assert words in grades[0].detail


def test_a_machine_without_an_adapter_is_not_a_wrong_kernel(monkeypatch):
    monkeypatch.setenv("WGPUPY_WGPU_ADAPTER_NAME", "no such adapter")
    with pytest.raises(gpu.GpuError, match=r"could not be run.*no such adapter"):
        exercise.grade(SOLUTION)


IMAGE = np.array([[1, 2, 3], [3, 1, 4], [0, 4, 1]], np.float32)[None, None]
UPSTREAM = np.array([[2, 1], [-1, 3]], np.float32)[None, None]


@pytest.mark.parametrize(
    ("answer", "outcome", "words"),
    [
        (None, NOT_ATTEMPTED, "in place of None"),
        (2 * 2 + 1 * 3 - 1 * 1 + 3 * 4, RIGHT, ""),
        (3 * 2 - 1 * 3 + 1 * 1 + 2 * 4, WRONG, "no flip"),
        (2 * 2 - 1 * 3 + 1 * 1 + 3 * 4, WRONG, "transposed"),
        (2 * 2 + 1 * 3 + 1 * 1 + 3 * 4, WRONG, "minus signs"),
        (2 * 3 + 1 * 1 - 1 * 0 + 3 * 4, WRONG, "is dW[1,0]"),
        (100, WRONG, "corner on the pixel at row 0, column 1"),
    ],
)
def test_a_prediction_is_judged_and_the_mistake_named(answer, outcome, words):
    verdict = exercise.predict(answer, IMAGE, UPSTREAM, 0, 1)
    assert (verdict.test, verdict.outcome) == ("dW[0,1]", outcome)
    assert words in verdict.detail


def test_other_types_are_refused():
    with pytest.raises(TypeError, match="source is a int"):
        exercise.grade(3)
    with pytest.raises(TypeError, match="answer = '5' is a str"):
        exercise.predict("5", IMAGE, UPSTREAM, 0, 1)
