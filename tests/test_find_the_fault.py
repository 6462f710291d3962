"""Find the fault: the tests notice it, a line and a correction are graded, and any right kernel is right."""

import re

import pytest
from support.grading import outcomes

import helpers
from helpers.exercises import FAULTS
from helpers.grading.fault import LINE_FOUND
from helpers.grading.grader import grade
from helpers.grading.prediction import AnswerError
from helpers.grading.verdict import NO_COMPILE, RIGHT, UNSAFE, WRONG

every_fault = pytest.mark.parametrize("name", FAULTS)
INPUT, WEIGHT, BIAS = FAULTS
SYMPTOMS = {  # they grow more difficult
    INPUT: ([RIGHT, RIGHT, WRONG], "two_images", "iw = 0: it returns 1, right is -6"),
    WEIGHT: ([UNSAFE] * 2, "with index 24, but `grad_output` has 24 elements"),
    BIAS: ([UNSAFE] * 3, "no workgroupBarrier() stands between the two"),
}


def in_one_line(shown: object) -> str:
    return " ".join(repr(shown).split())


@every_fault
def test_the_tests_notice_the_fault_and_pass_the_right_kernel(name):
    fault, (wanted, *words) = FAULTS[name], SYMPTOMS[name]
    assert grade(fault, fault.kernel.source).passed == len(fault.tests)
    assert [verdict.test for verdict in fault.symptom] == list(fault.tests)
    assert outcomes(fault.symptom) == wanted
    assert all(part in in_one_line(fault.symptom) for part in words)
    assert not {"yours", "ours", "your"} & {*re.findall(r"\w+", repr(fault.symptom))}  # the learner did not write it
    assert repr(fault.symptom).splitlines()[0].rstrip().endswith("right") == (wanted[0] == RIGHT)  # without counts


@every_fault
def test_the_wrong_lines_are_those_that_differ(name):
    fault = FAULTS[name]
    wrong, right = (kernel.source.split("\n") for kernel in (fault.faulty, fault.kernel))
    if name == BIAS:  # the barrier is missing between two lines
        assert [wrong[number - 1].split()[0] for number in fault.lines] == ["for", "if"]
        assert right[fault.lines[0]].strip().startswith("workgroupBarrier();")
    else:
        assert [i for i, (a, b) in enumerate(zip(wrong, right, strict=True), 1) if a != b] == list(fault.lines)


TREE = "  for (var half = THREADS / 2u; half > 0u; half /= 2u) {"
PLANE, LOOP = "let grad_plane", "n <= params.batch"
ORIGINAL = "What the tests say about the kernel below:"
MINE = "What the tests say about your corrected kernel:"
MINE_LONGER = "What the tests say about your corrected kernel (its lines below yours are numbered 1 higher):"
LOST = "a block, and yours does not; if a line is missing, write both, with \\n between them or in triple quotes"
HALF = "a barrier there is not enough, but one at another place is: CURE"
MISSING = "A line is missing: write it and the line that follows it, with \\n between them or in triple quotes"
ASKED = "A line is missing: give the number of the line that should follow it"
IN_LINE, IN_LINES = (f"look at the place in your line{s} that is shown below" for s in ("", "s"))

ANSWERS = {  # the line or a text in it, the correction, the outcome, and what is said in this order, with … between
    INPUT: [
        (PLANE, "", LINE_FOUND, f"the fault is in line 52; now correct it: CURE…{ORIGINAL}"),
        (PLANE, "  ", LINE_FOUND, ORIGINAL),
        (PLANE, "let grad_plane  = co*params.out_h;  // mine", LINE_FOUND, ORIGINAL),
        (53, "", WRONG, f"the fault is not in line 53: QUESTION…{ORIGINAL}"),
        (PLANE, "let grad_plane = (n * params.out_channels + co) * params.out_h;", RIGHT, MINE),
        (PLANE, "let grad_plane = params.out_h * (co + params.out_channels * n);  // mine", RIGHT, MINE),
        (PLANE, "let grad_plane = (n + co) * params.out_h;", WRONG, "but not corrected: CURE"),
        (PLANE, "let grad_plane = 0u;", WRONG, "but not corrected: CURE…yours is "),
        (
            *(PLANE, "let plane = co * params.out_h;", NO_COMPILE),
            "the compiler stopped at the place below; the cause is in your line…does not compile: line 53,",
        ),
        ("let iw", "let iw = 0u; while (true) {}", WRONG, "your loop does not end; see below why"),
    ],
    WEIGHT: [
        (LOOP, "", LINE_FOUND, "now correct it: CURE"),
        ("let iw", "", WRONG, "the fault is not in line 54: QUESTION"),
        (LOOP, "for (var n = 0u; n < params.batch; n++) {", RIGHT, "your kernel passes every test"),
        (LOOP, "for (var n = 0u; n + 1u <= params.batch; n += 1u) {", RIGHT, MINE),
        (LOOP, "for (var n = 0u; n < 1u; n++) {", WRONG, "but not corrected: the images are"),
        (
            *("let iw", "let iw = 0u; oh = 0u;", WRONG),
            "with your text in line 54, a loop does not end; see below which one",
        ),
    ],
    BIAS: [
        (3, "", WRONG, "there is no line 3; the listing has lines 20 to 70"),
        (71, "", WRONG, "there is no line 71"),
        (20, "", WRONG, f"the fault is not in line 20: QUESTION…{ORIGINAL}"),
        (39, "", WRONG, f"the fault is not in line 39: …{ASKED}"),
        (44, "", LINE_FOUND, "the fault is in line 44, or beside it; now correct it: CURE"),
        (45, "", LINE_FOUND, f"the fault is in line 45, or beside it; now correct it: …{MISSING}"),
        ("half > 0u", f"{TREE} workgroupBarrier();", RIGHT, MINE),
        ("if (thread < half)", "workgroupBarrier();\nif (thread < half) {", RIGHT, MINE_LONGER),
        (
            *("half > 0u", TREE.replace("half > 0u", "hal > 0u"), NO_COMPILE),
            f"{IN_LINE} {MINE}…line 44, column 33: nothing is called `hal`…^^^",
        ),
        ("half > 0u", f"workgroupBarrier()\n{TREE}", NO_COMPILE, IN_LINES),
        (
            *("@workgroup_size", "@compute @workgroup_size(1)", NO_COMPILE),
            "the reason is below, and its cause is in your line…have 1 thread; write @workgroup_size(256)",
        ),
        ("@workgroup_size", "@compute @workgroup_size(1, 2)", NO_COMPILE, "have 1 x 2 threads; write @workgroup_size("),
        (44, "workgroupBarrier();", NO_COMPILE, f"replaces line 44, `{TREE.strip()}`, which opens {LOST} {ORIGINAL}"),
        (45, "workgroupBarrier(); // {", NO_COMPILE, f"line 45, `if (thread < half) {{`, which opens {LOST}"),
        (45, "if (thread < half)", NO_COMPILE, f"line 45, `if (thread < half) {{`, which opens {LOST}"),
        (47, "workgroupBarrier();", NO_COMPILE, f"line 47, `}}`, which closes {LOST}"),
        (44, f"{TREE} {{", NO_COMPILE, MINE),  # other braces that do not match are left to the compiler
        (46, "{", NO_COMPILE, MINE),
        (46, "}", NO_COMPILE, MINE),
        (47, "}}", NO_COMPILE, MINE),
        (41, "partial[thread] = sum;\nworkgroupBarrier();", UNSAFE, HALF),
        (42, "workgroupBarrier();", UNSAFE, HALF),
        (44, f"workgroupBarrier();\n{TREE}", UNSAFE, HALF),
        (47, "}\nworkgroupBarrier();", UNSAFE, HALF),
        (48, "workgroupBarrier();\n}", UNSAFE, HALF),
        (35, "var sum = 0.0; workgroupBarrier();", UNSAFE, "the fault is not in line 35: QUESTION"),
        (47, "workgroupBarrier();\n}", UNSAFE, "the fault is not in line 47: QUESTION"),
        (
            *("half > 0u", TREE.replace("half > 0u", "half >= 0u"), WRONG),
            "your loop does not end; see below why…`half >= 0u` always holds",
        ),
        ("if (thread < half)", "if (thread < half) { workgroupBarrier();", UNSAFE, "but not corrected: CURE"),
        ("partial[thread] = sum", "partial[thread] = 0.0;", WRONG, "the fault is not in line 41: QUESTION"),
        (41, "workgroupBarrier();\npartial[thread] = sum;", UNSAFE, "the fault is not in line 41: QUESTION"),
    ],
}


@pytest.mark.parametrize(("name", "row"), [(name, row) for name, rows in ANSWERS.items() for row in rows])
def test_an_answer_is_graded_with_what_helps_next_and_what_the_tests_say(name, row):
    fault, (line, correction, outcome, words) = FAULTS[name], row
    if isinstance(line, str):
        (line,) = (i for i, text in enumerate(fault.faulty.source.split("\n"), 1) if line in text)
    shown = helpers.find_fault(name, line, correction)
    assert shown.outcome == outcome
    words = words.replace("CURE", fault.cure).replace("QUESTION", fault.question)
    assert re.search(".*".join(map(re.escape, words.split("…"))), in_one_line(shown)), str(shown)
    if LOST in words:  # it is refused before it is compiled, and would not compile
        assert {*outcomes(grade(fault, fault.corrected(line, correction)))} == {NO_COMPILE}
    if shown.grades:
        assert (shown.grades.passed == len(fault.tests)) == (outcome == RIGHT)
        assert repr(shown.grades).splitlines()[-1] in shown._repr_markdown_()


def test_two_barriers_correct_the_tree():
    fault = FAULTS[BIAS]
    kernel = fault.faulty
    for old, new in fault.halves:
        kernel = kernel.edit(old, new)
    assert grade(fault, kernel.source).passed == len(fault.tests)


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        ((BIAS, "55"), "^line = '55' is text: write it without quotes, as 55$"),
        ((BIAS, "five"), "it must be the number of a line"),
        ((BIAS, 5.0), "it must be the number of a line"),
        ((BIAS, True), "it must be the number of a line"),
        ((BIAS, 55, None), "it must be the corrected line, in quotes"),
    ],
)
def test_answers_of_another_kind_are_refused(answer, words):
    with pytest.raises(AnswerError, match=words):
        helpers.find_fault(*answer)
