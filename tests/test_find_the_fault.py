"""Find the fault: the tests notice it, a line and a correction are graded, and any right kernel is right."""

import re

import pytest

import helpers
from helpers.exercises import FAULTS
from helpers.grading.fault import LINE_FOUND
from helpers.grading.grader import grade
from helpers.grading.prediction import AnswerError
from helpers.grading.verdict import NO_COMPILE, NOT_ATTEMPTED, RIGHT, UNSAFE, WRONG
from helpers.output import FENCED

every_fault = pytest.mark.parametrize("name", FAULTS)
INPUT, WEIGHT, BIAS = FAULTS
TREE = "  for (var half = THREADS / 2u; half > 0u; half /= 2u) {"


def line_of(name: str, text: str) -> int:
    """The number of the only line of a wrong kernel that contains a text."""
    (number,) = (i for i, line in enumerate(FAULTS[name].faulty.source.split("\n"), 1) if text in line)
    return number


@every_fault
def test_the_tests_notice_the_fault_and_pass_the_right_kernel(name):
    fault = FAULTS[name]
    assert [verdict.test for verdict in fault.symptom] == list(fault.tests)
    assert fault.symptom.passed < len(fault.tests)
    assert grade(fault, fault.kernel.source).passed == len(fault.tests)


def test_the_symptoms_grow_more_difficult():
    outcomes = [[verdict.outcome for verdict in FAULTS[name].symptom] for name in (INPUT, WEIGHT, BIAS)]
    assert outcomes == [[RIGHT, RIGHT, WRONG], [UNSAFE] * 2, [UNSAFE] * 3]
    assert "two_images" in repr(FAULTS[INPUT].symptom[2])
    assert "with index 24, but `grad_output` has 24 elements" in FAULTS[WEIGHT].symptom[0].detail
    assert "no workgroupBarrier() stands between the two" in FAULTS[BIAS].symptom[0].detail


def test_the_symptom_is_that_of_a_kernel_that_is_not_the_learners():
    assert repr(FAULTS[INPUT].symptom).splitlines()[0].split() == ["one_image", "right"]
    assert FAULTS[INPUT].symptom[2].detail.endswith("iw = 0: it returns 1, right is -6")
    for name in FAULTS:
        assert not {"yours", "ours", "your"} & {*re.findall(r"\w+", repr(FAULTS[name].symptom))}
    shown = helpers.find_fault(INPUT, line_of(INPUT, "let grad_plane"), "let grad_plane = 0u;")
    assert "yours is" in repr(shown.grades)  # that one is


@every_fault
def test_the_wrong_lines_are_those_that_differ(name):
    fault = FAULTS[name]
    wrong, right = (kernel.source.split("\n") for kernel in (fault.faulty, fault.kernel))
    if name == BIAS:  # the barrier is missing between two lines
        assert [wrong[number - 1].split()[0] for number in fault.lines] == ["for", "if"]
        assert right[fault.lines[0]].strip().startswith("workgroupBarrier();")
    else:
        changed = [i for i, (a, b) in enumerate(zip(wrong, right, strict=True), 1) if a != b]
        assert changed == list(fault.lines)


@every_fault
def test_it_is_shown_with_its_line_numbers_and_stored_as_not_attempted(name):
    shown, fault = helpers.find_fault(name), FAULTS[name]
    assert shown.outcome == NOT_ATTEMPTED
    assert shown.verdict.test == name
    lines = fault.faulty.source.rstrip().split("\n")
    for text in (repr(shown), shown._repr_markdown_()):
        assert f"{name:<34}not attempted: write the number of the wrong line" in text
        assert "What the tests say about the kernel below:" in text
        listed = dict(re.findall(r"^ *(\d+)  (.*)$", text.partition("@group")[2], re.MULTILINE))
        assert all(lines[int(number) - 1] == line for number, line in listed.items())
        assert {*map(str, fault.lines)} <= {*listed}
        assert "barriers  " not in text  # the header would give it away
    said = shown._repr_markdown_().partition("```rust")[0]
    assert max(map(len, said.splitlines())) <= FENCED


@every_fault
def test_another_line_gets_a_question_and_the_right_one_another(name):
    fault = FAULTS[name]
    for number in (fault.listing.first_line, max(fault.lines) + 1):
        shown = helpers.find_fault(name, number)
        assert (shown.outcome, shown.detail) == (WRONG, f"the fault is not in line {number}: {fault.question}")
    for number in fault.lines:
        shown = helpers.find_fault(name, number)
        assert shown.outcome == LINE_FOUND
        assert f"line {number}" in shown.detail
        assert shown.detail.endswith(fault.cure)
    assert "?" in fault.question
    assert "?" in fault.cure


@pytest.mark.parametrize("correction", ["", "  ", "let grad_plane  = co*params.out_h;  // mine"])
def test_a_correction_that_changes_nothing_is_none(correction):
    shown = helpers.find_fault(INPUT, line_of(INPUT, "let grad_plane"), correction)
    assert (shown.outcome, shown.grades) == (LINE_FOUND, None)


@pytest.mark.parametrize(
    ("name", "text", "correction"),
    [
        (INPUT, "let grad_plane", "let grad_plane = (n * params.out_channels + co) * params.out_h;"),
        (INPUT, "let grad_plane", "let grad_plane = params.out_h * (co + params.out_channels * n);  // mine"),
        (WEIGHT, "n <= params.batch", "for (var n = 0u; n < params.batch; n++) {"),
        (WEIGHT, "n <= params.batch", "for (var n = 0u; n + 1u <= params.batch; n += 1u) {"),
        (BIAS, "half > 0u", f"{TREE} workgroupBarrier();"),
        (BIAS, "if (thread < half)", "workgroupBarrier();\nif (thread < half) {"),
    ],
)
def test_any_right_kernel_is_right(name, text, correction):
    shown = helpers.find_fault(name, line_of(name, text), correction)
    assert shown.outcome == RIGHT, str(shown)
    assert shown.grades.passed == len(FAULTS[name].tests)
    added = correction.count("\n")
    where = f" (its lines below yours are numbered {added} higher)" if added else ""
    assert f"What the tests say about your corrected kernel{where}:" in repr(shown)


def test_a_correction_that_does_not_compile_shows_its_place():
    number = line_of(BIAS, "half > 0u")  # 55
    shown = helpers.find_fault(BIAS, number, TREE.replace("half > 0u", "hal > 0u"))
    assert shown.outcome == NO_COMPILE
    assert f"line {number}, column 33: nothing is called `hal`" in " ".join(repr(shown).split())
    assert "^^^" in shown._repr_markdown_()
    assert shown.detail == "look at the place in your line that is shown below"
    shown = helpers.find_fault(BIAS, number, f"workgroupBarrier()\n{TREE}")
    assert shown.detail == "look at the place in your lines that is shown below"


def test_an_error_in_another_line_or_without_a_place_is_not_looked_for_in_the_learners():
    shown = helpers.find_fault(INPUT, line_of(INPUT, "let grad_plane"), "let plane = co * params.out_h;")  # 73
    assert (shown.outcome, shown.grades[0].detail.partition(",")[0]) == (NO_COMPILE, "line 74")
    assert shown.detail == "the compiler stopped at the place below; the cause is in your line"
    shown = helpers.find_fault(BIAS, line_of(BIAS, "@workgroup_size"), "@compute @workgroup_size(1)")
    assert shown.detail == "the reason is below, and its cause is in your line"
    assert shown.grades[0].detail == "its workgroups have 1 thread; write @workgroup_size(256)"
    shown = helpers.find_fault(BIAS, line_of(BIAS, "@workgroup_size"), "@compute @workgroup_size(1, 2)")
    assert shown.grades[0].detail == "its workgroups have 1 x 2 threads; write @workgroup_size(256)"


@pytest.mark.parametrize(
    ("line", "correction", "words"),
    [
        (55, "workgroupBarrier();", "line 55, `for (var half = THREADS / 2u; half > 0u; half /= 2u) {`, which opens"),
        (56, "workgroupBarrier(); // {", "line 56, `if (thread < half) {`, which opens"),
        (56, "if (thread < half)", "line 56, `if (thread < half) {`, which opens"),
        (58, "workgroupBarrier();", "line 58, `}`, which closes"),
    ],
)
def test_a_text_in_place_of_a_brace_is_refused_before_it_is_compiled(line, correction, words):
    shown = helpers.find_fault(BIAS, line, correction)
    assert (shown.outcome, shown.grades) == (NO_COMPILE, None)
    assert shown.detail == (
        f"your text replaces {words} a block, and yours does not; "
        "if a line is missing, write both, with \\n between them or in triple quotes"
    )
    assert {v.outcome for v in grade(FAULTS[BIAS], FAULTS[BIAS].corrected(line, correction))} == {NO_COMPILE}


@pytest.mark.parametrize(("line", "correction"), [(55, f"{TREE} {{"), (57, "{"), (57, "}"), (58, "}}")])
def test_other_braces_that_do_not_match_are_left_to_the_compiler(line, correction):
    shown = helpers.find_fault(BIAS, line, correction)
    assert (shown.outcome, shown.grades.passed) == (NO_COMPILE, 0)


def test_a_missing_line_is_called_so_and_the_hints_say_how_to_enter_it():
    wrong, found = (helpers.find_fault(BIAS, number).detail for number in (50, 56))
    assert wrong.endswith("A line is missing: give the number of the line that should follow it")
    assert found.endswith(
        "A line is missing: write it and the line that follows it, with \\n between them or in triple quotes"
    )


def test_two_barriers_correct_the_tree_and_each_of_them_alone_is_half_of_the_cure():
    fault = FAULTS[BIAS]
    kernel = fault.faulty
    for old, new in fault.halves:
        kernel = kernel.edit(old, new)
    assert grade(fault, kernel.source).passed == len(fault.tests)
    for line, correction in (
        (52, "partial[thread] = sum;\nworkgroupBarrier();"),
        (53, "workgroupBarrier();"),
        (55, f"workgroupBarrier();\n{TREE}"),
        (58, "}\nworkgroupBarrier();"),
        (59, "workgroupBarrier();\n}"),
    ):
        shown = helpers.find_fault(BIAS, line, correction)
        assert shown.outcome == UNSAFE
        assert shown.detail == f"a barrier there is not enough, but one at another place is: {fault.cure}"
    for line, correction in ((46, "var sum = 0.0; workgroupBarrier();"), (58, "workgroupBarrier();\n}")):
        assert f"the fault is not in line {line}" in helpers.find_fault(BIAS, line, correction).detail


def test_a_loop_that_does_not_end_is_told_first():
    line = line_of(BIAS, "half > 0u")
    shown = helpers.find_fault(BIAS, line, TREE.replace("half > 0u", "half >= 0u"))
    assert (shown.outcome, shown.detail) == (WRONG, "your loop does not end; see below why")
    assert "`half >= 0u` always holds" in shown.grades[0].detail
    shown = helpers.find_fault(INPUT, line_of(INPUT, "let iw"), "let iw = 0u; for (;;) {}")
    assert shown.detail == "your loop does not end; see below why"
    shown = helpers.find_fault(WEIGHT, line_of(WEIGHT, "let iw"), "let iw = 0u; oh = 0u;")
    assert shown.detail == "with your text in line 75, a loop does not end; see below which one"


@pytest.mark.parametrize(
    ("name", "text", "correction", "outcome", "words"),
    [
        (WEIGHT, "n <= params.batch", "for (var n = 0u; n < 1u; n++) {", WRONG, "but not corrected: the images are"),
        (BIAS, "if (thread < half)", "if (thread < half) { workgroupBarrier();", UNSAFE, "but not corrected: a step"),
        (BIAS, "partial[thread] = sum", "partial[thread] = 0.0;", WRONG, "the fault is not in line"),
        (BIAS, "partial[thread] = sum", "workgroupBarrier();\npartial[thread] = sum;", UNSAFE, "not in line 52"),
        (
            INPUT,
            "let grad_plane",
            "let grad_plane = (n + co) * params.out_h;",
            WRONG,
            "but not corrected: grad_output is",
        ),
    ],
)
def test_a_correction_that_is_still_wrong_is_answered_with_what_the_tests_say(name, text, correction, outcome, words):
    shown = helpers.find_fault(name, line_of(name, text), correction)
    assert shown.outcome == outcome
    assert words in shown.detail
    assert shown.grades.passed < len(FAULTS[name].tests)
    assert repr(shown.grades).splitlines()[-1] in repr(shown)


def test_answers_of_another_kind_are_refused():
    assert helpers.find_fault(BIAS, 3).detail == "there is no line 3; the listing has lines 27 to 65"
    with pytest.raises(AnswerError, match=r"^line = '55' is text: write it without quotes, as 55$"):
        helpers.find_fault(BIAS, "55")
    for line in ("five", 5.0, True):
        with pytest.raises(AnswerError, match="it must be the number of a line"):
            helpers.find_fault(BIAS, line)
    with pytest.raises(AnswerError, match="it must be the corrected line, in quotes"):
        helpers.find_fault(BIAS, 55, None)
    for name in ("fault", ["fault"], None):
        with pytest.raises(ValueError, match="it must be one of fault_in_the_input_gradient, "):
            helpers.find_fault(name)
