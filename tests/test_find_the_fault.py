"""Find the fault: the tests notice it, a line and a correction are graded, and any right kernel is right."""

import ast
import re

import pytest
from support.grading import outcomes
from support.messages import every, said, stored

import helpers
from helpers.exercises import FAULTS
from helpers.grading.grader import grade
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


@every("answers")
def test_an_answer_is_graded_with_what_helps_next_and_what_the_tests_say(family, heading, text, message):
    assert said(family, heading, text) == message


def test_what_is_refused_before_it_is_compiled_would_not_compile_and_what_is_shown_has_its_verdicts():
    for _, _, text, message in stored("answers"):
        if "find_fault" in text and "AnswerError" not in message:
            name, line, correction = ast.literal_eval(text.partition("find_fault")[2])
            if "replaces line" in message:
                assert {*outcomes(grade(FAULTS[name], FAULTS[name].corrected(line, correction)))} == {NO_COMPILE}
            elif "right: " in message.splitlines()[0]:
                shown = helpers.find_fault(name, line, correction)
                assert repr(shown.grades).splitlines()[-1] in shown._repr_markdown_()


def test_two_barriers_correct_the_tree():
    fault = FAULTS[BIAS]
    kernel = fault.faulty
    for old, new in fault.halves:
        kernel = kernel.edit(old, new)
    assert grade(fault, kernel.source).passed == len(fault.tests)
