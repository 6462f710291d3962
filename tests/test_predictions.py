"""Questions: each is asked in one lesson, unanswered, and every answer gets the words that help."""

import ast
import re

import numpy as np
import pytest
from support.notebook_gate import NOTEBOOKS, Lesson, lessons_of

import helpers
from helpers.exercises import QUESTIONS
from helpers.grading.prediction import AnswerError, Question
from helpers.grading.verdict import NOT_ATTEMPTED, RIGHT, WRONG

LESSONS = [Lesson.read(path) for path in lessons_of(NOTEBOOKS)]
ASKED = [
    (lesson.path.stem, cell, name)
    for lesson in LESSONS
    for cell in lesson.code
    for name in re.findall(r'helpers\.predict\("([^"]+)"', cell.source)
]
every_question = pytest.mark.parametrize("name", QUESTIONS)


# --- In the lessons -----------------------------------------------------------------------------------------


@every_question
def test_a_question_is_asked_once(name):
    assert [asked for _, _, asked in ASKED].count(name) == 1


def test_the_questions_come_in_the_order_of_the_lessons():
    assert [name for _, _, name in ASKED if name in QUESTIONS] == [
        name for lesson in LESSONS for name in QUESTIONS if (lesson.path.stem, name) in {(at, n) for at, _, n in ASKED}
    ]


@pytest.mark.parametrize(("lesson", "cell", "name"), ASKED, ids=[f"{at}-{name}" for at, _, name in ASKED])
def test_a_lesson_asks_an_existing_question_and_is_stored_unanswered(lesson, cell, name):
    assert name in QUESTIONS
    assignments = {line.targets[0].id: line.value for line in cell.syntax if isinstance(line, ast.Assign)}
    (call,) = (
        node for node in cell.syntax if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("predict")
    )
    assert ast.unparse(assignments[call.args[1].id]) == "None"
    assert [output.data["text/plain"] for output in cell.outputs] == [repr(helpers.predict(name, None))]
    assert str(QUESTIONS[name].right) not in cell.source.replace(name, "")


# --- Answers ------------------------------------------------------------------------------------------------


@every_question
def test_no_answer_is_not_attempted(name):
    verdict = helpers.predict(name, None)
    assert (verdict.test, verdict.outcome) == (name, NOT_ATTEMPTED)
    assert "in place of None" in verdict.detail


@every_question
def test_the_right_answer_is_right(name):
    right = QUESTIONS[name].right
    forms = [right]
    if isinstance(right, str):
        assert right == right.strip().lower()
        forms += [f" {right.upper()} "]
    elif isinstance(right, tuple):
        forms += [list(right), tuple(np.float64(right)), np.array(right)]
    else:
        forms += [float(right), np.float64(right), np.array(right)]
    for answer in forms:
        verdict = helpers.predict(name, answer)
        assert (verdict.outcome, verdict.detail) == (RIGHT, "")


@every_question
def test_a_likely_mistake_is_wrong_with_its_own_words(name):
    question = QUESTIONS[name]
    assert question.right not in question.mistakes
    for answer, words in question.mistakes.items():
        verdict = helpers.predict(name, answer)
        assert (verdict.outcome, verdict.detail) == (WRONG, words)
        assert words.strip()


@every_question
def test_any_other_answer_gets_advice(name):
    right = QUESTIONS[name].right
    other = "zebra" if isinstance(right, str) else (-12345,) * len(right) if isinstance(right, tuple) else -12345
    verdict = helpers.predict(name, other)
    assert (verdict.outcome, verdict.detail) == (WRONG, QUESTIONS[name].advice)
    assert len(verdict.detail.split()) > 2
    if not isinstance(right, str):
        assert helpers.predict(name, (np.nan,) * len(right) if isinstance(right, tuple) else np.nan).outcome == WRONG


@every_question
def test_words_go_on_behind_the_verdict_and_advice_does_not_give_the_answer_away(name):
    question = QUESTIONS[name]
    for words in (question.advice, *question.mistakes.values()):
        assert words[0] == words[0].lower() or re.match(r"[A-Z]+\b|\d", words), words  # a name
        assert not words.endswith("."), words
    if isinstance(question.right, int) and abs(question.right) > 9:
        numbers = re.findall(r"\d+", question.advice.replace(",", ""))
        assert str(question.right) not in numbers


@every_question
def test_an_answer_of_another_kind_is_refused(name):
    right = QUESTIONS[name].right
    if isinstance(right, str):
        wrong, rule = [3, ("a",), True], "it must be text, in quotes"
    elif isinstance(right, tuple):
        wrong, rule = [3, "3, 4", (*right, 1), ("a",) * len(right)], f"it must be {len(right)} numbers, in parentheses"
    else:
        wrong, rule = ["seven", (right,), [right], True, np.True_, np.array([right])], "it must be a number"
    for answer in wrong:
        with pytest.raises(TypeError) as caught:
            helpers.predict(name, answer)
        plain = answer.tolist() if isinstance(answer, np.ndarray | np.generic) else answer
        assert str(caught.value) == f"answer = {plain!r} is a {type(plain).__name__}: {rule}"


@pytest.mark.parametrize(
    ("text", "number"),
    [("1/32", "1/32"), (" 7 ", "7"), ("4,096", "4096"), ("-1,000,000", "-1000000"), ("0.5", "0.5"), ("2e-3", "2e-3")],
)
def test_a_number_in_quotes_is_told_to_leave_them_out(text, number):
    with pytest.raises(AnswerError) as raised:
        helpers.predict("global_number", text)
    assert str(raised.value) == f"answer = {text!r} is text: write it without quotes, as {number}"


@pytest.mark.parametrize("text", ["", "4x", "0,5", "4096 threads", "1/", "nan", "1,00", "__import__"])
def test_a_text_that_is_no_number_is_refused_as_text(text):
    with pytest.raises(AnswerError, match=r" is a str: it must be a number$"):
        helpers.predict("global_number", text)


def test_an_unknown_question_is_refused():
    for name in ("why", ["why"], None):
        with pytest.raises(ValueError, match=rf"question = {re.escape(repr(name))}: it must be one of .*dW\[0,1\]"):
            helpers.predict(name, 42)


def test_the_question_of_lesson_02_is_worked_out_and_its_mistakes_too():
    assert QUESTIONS["dW[0,1]"].right == 2 * 2 + 1 * 3 - 1 * 1 + 3 * 4
    for answer, words in {
        3 * 2 - 1 * 3 + 1 * 1 + 2 * 4: "no flip",
        2 * 2 - 1 * 3 + 1 * 1 + 3 * 4: "transposed",
        2 * 2 + 1 * 3 + 1 * 1 + 3 * 4: "minus signs",
        2 * 3 + 1 * 1 - 1 * 0 + 3 * 4: "is dW[1,0]",
        100: "corner on the pixel at row 0, column 1",
    }.items():
        assert words in helpers.predict("dW[0,1]", answer).detail


def test_a_mistake_that_is_the_right_answer_would_be_seen():
    assert Question(4, {4.0: "it is right"}, "count").grade("x", 4).outcome == RIGHT
    assert 4 in Question(4, {4.0: "it is right"}).mistakes


@every_question
def test_a_number_too_large_for_a_float_is_wrong(name):
    right = QUESTIONS[name].right
    if not isinstance(right, str):
        huge = (10**400,) * len(right) if isinstance(right, tuple) else 10**400
        assert helpers.predict(name, huge).outcome == WRONG


def test_an_answer_of_another_kind_is_one_line_without_a_traceback():
    with pytest.raises(AnswerError) as raised:
        helpers.predict("global_number", "four")
    assert raised.value._render_traceback_() == ["answer = 'four' is a str: it must be a number"]
