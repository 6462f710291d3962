"""Find the fault: the tests notice it, a line and a correction are graded, and any right kernel is right."""

import ast
import re

import pytest
from support.grading import outcomes
from support.messages import every, said, stored

import helpers
from helpers.grading.grader import grade
from helpers.grading.verdict import NO_COMPILE
from helpers.lessons.exercises import FAULTS

every_fault = pytest.mark.parametrize("name", FAULTS)


@every_fault
def test_the_tests_pass_the_right_kernel_and_do_not_call_the_wrong_one_the_learners(name):
    """The words in which they report the fault are stored."""
    fault = FAULTS[name]
    assert grade(fault, fault.kernel.source).passed == len(fault.tests)
    assert not {"yours", "ours", "your"} & {*re.findall(r"\w+", repr(fault.symptom))}


@every_fault
def test_the_wrong_line_is_the_one_that_differs_and_no_pass_is_named(name):
    fault = FAULTS[name]
    wrong, right = (kernel.source.split("\n") for kernel in (fault.faulty, fault.kernel))
    assert [i for i, (a, b) in enumerate(zip(wrong, right, strict=True), 1) if a != b] == [fault.line]
    assert "they come from" not in repr(fault.symptom)


@every("answers")
def test_an_answer_is_graded_with_what_helps_next_and_what_the_tests_say(family, heading, text, message):
    assert said(family, heading, text) == message


def test_what_is_refused_before_it_is_compiled_would_not_compile_and_what_is_shown_has_its_verdicts():
    for _, _, text, message in stored("answers"):
        if "find_fault" in text and "AnswerError" not in message:
            name, line, correction = ast.literal_eval(text.partition("find_fault")[2])
            if "replaces line" in message:
                corrected = FAULTS[name].corrected(line, correction)
                assert set(outcomes(grade(FAULTS[name], corrected))) == {NO_COMPILE}
            elif "right: " in message.splitlines()[0]:
                shown = helpers.find_fault(name, line, correction)
                assert repr(shown.grades).splitlines()[-1] in shown._repr_markdown_()
