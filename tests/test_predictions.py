"""Questions: each is asked in one lesson, unanswered, and every answer gets the words that help."""

import ast
import re

import numpy as np
import pytest
from support.notebook_gate import NOTEBOOKS, Lesson, lessons_of

import helpers
from helpers.exercises import QUESTIONS
from helpers.grading.prediction import AnswerError, Question, questions
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


def test_each_question_is_asked_once():
    assert sorted(name for _, _, name in ASKED) == sorted(QUESTIONS)


@pytest.mark.parametrize(("lesson", "cell", "name"), ASKED, ids=[f"{at}-{name}" for at, _, name in ASKED])
def test_a_lesson_asks_an_existing_question_and_is_stored_unanswered(lesson, cell, name):
    assignments = {line.targets[0].id: line.value for line in cell.syntax if isinstance(line, ast.Assign)}
    (call,) = (
        node for node in cell.syntax if isinstance(node, ast.Call) and ast.unparse(node.func).endswith("predict")
    )
    assert ast.unparse(assignments[call.args[1].id]) == "None"
    verdict = helpers.predict(name, None)
    assert (verdict.outcome, "in place of None" in verdict.detail) == (NOT_ATTEMPTED, True)
    assert [output.data["text/plain"] for output in cell.outputs] == [repr(verdict)]
    assert str(QUESTIONS[name].right) not in cell.source.replace(name, "")


# --- Answers ------------------------------------------------------------------------------------------------


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
        for odd in (np.nan, 10**400):  # the second is larger than any float
            assert helpers.predict(name, (odd,) * len(right) if isinstance(right, tuple) else odd).outcome == WRONG


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


def test_an_answer_of_another_kind_is_one_line_without_a_traceback():
    with pytest.raises(AnswerError) as raised:
        helpers.predict("global_number", "four")
    assert raised.value._render_traceback_() == ["answer = 'four' is a str: it must be a number"]


def test_a_file_of_questions_that_cannot_be_read_says_its_line(tmp_path):
    (tmp_path / "new.questions").write_text("one: 2 * 2\ncount\n(1, 2): no\n\ntwo: 3\ncount\n4\n")
    with pytest.raises(ValueError, match="'4': a line of questions must be a name or an answer, a colon"):
        questions(tmp_path / "new.py")
    (tmp_path / "new.questions").write_text('one: 2 * 2\ncount: again\n(1, 2): no\n\ntwo: "a"\nguess\n')
    assert questions(tmp_path / "new.py") == {
        "one": Question(4, {(1, 2): "no"}, "count: again"),
        "two": Question("a", {}, "guess"),
    }
