"""Questions: each is asked in one lesson, unanswered, and every answer gets the words that help."""

import re
from fractions import Fraction
from itertools import chain

import numpy as np
import pytest
from support.notebook_gate import FOR_CUDA, NOTEBOOKS, Lesson, lessons_of

from helpers.grading.prediction import LONGEST_ANSWER, AnswerError, Question
from helpers.grading.verdict import RIGHT, WRONG
from helpers.lessons.exercises import QUESTIONS
from helpers.widgets.question import Ask

every_question = pytest.mark.parametrize("name", QUESTIONS)
in_words = pytest.mark.parametrize("name", [name for name, question in QUESTIONS.items() if question.asked])


def test_each_question_is_asked_once_and_its_cell_does_not_give_the_answer():
    cells = []
    for path in lessons_of(NOTEBOOKS):
        cells += [cell.source for cell in Lesson.read(path).code]
    beside = [cell.source for cell in Lesson.read(FOR_CUDA).code]  # it asks some of the lessons' questions again
    for name, question in QUESTIONS.items():
        asks = re.compile(rf'helpers\.ask\("{re.escape(name)}"')
        asking = [cell for cell in cells if asks.search(cell)] or [cell for cell in beside if asks.search(cell)]
        assert len(asking) == 1, name
        assert str(question.right) not in "".join(asking).replace(name, "")


def forms(right):
    """A right answer as learners may give it, answers of another kind, and the rule for those."""
    if isinstance(right, str):
        return [right, f" {right.upper()} "], [3, ("a",), True], "text, in quotes"
    if isinstance(right, tuple):
        wrong = [3, "3, 4", (*right, 1), ("a",) * len(right)]
        return [list(right), tuple(np.float64(right)), np.array(right)], wrong, f"{len(right)} numbers, in parentheses"
    wrong = ["seven", "4x", "", "1/", "nan", "1,00", "__import__", (right,), True, np.True_, np.array([right])]
    return [right, float(right), np.float64(right), np.array(right)], wrong, "a number"


@every_question
def test_the_right_answer_is_right_in_every_form_and_another_kind_is_refused(name):
    right, wrong, rule = forms(QUESTIONS[name].right)
    for answer in right:
        verdict = QUESTIONS[name].grade(name, answer)
        assert (verdict.outcome, verdict.detail) == (RIGHT, "")
    for answer in wrong:
        plain = answer.tolist() if isinstance(answer, np.ndarray | np.generic) else answer
        with pytest.raises(AnswerError) as caught:
            QUESTIONS[name].grade(name, answer)
        message = f"answer = {plain!r} is a {type(plain).__name__}: it must be {rule}"
        assert caught.value._render_traceback_() == [message]  # a notebook shows this line alone


@every_question
def test_a_likely_mistake_gets_its_own_words_and_any_other_answer_advice(name):
    question = QUESTIONS[name]
    others = ["zebra"] if isinstance(question.right, str) else [-12345, np.nan, 10**400]  # larger than any float
    if isinstance(question.right, tuple):
        others = [(other,) * len(question.right) for other in others]
    for answer, words in [*question.mistakes.items(), *((other, question.advice) for other in others)]:
        verdict = QUESTIONS[name].grade(name, answer)
        assert (verdict.outcome, verdict.detail) == (WRONG, words)
        assert re.match(r"[a-z]|[A-Z]+\b|\d", words), words  # it goes on behind the verdict, or begins with a name
        assert not words.endswith("."), words
    if isinstance(question.right, int) and question.right > 9:
        assert str(question.right) not in re.findall(r"\d+", question.advice.replace(",", ""))


@every_question
def test_an_answer_that_is_empty_or_too_long_is_not_read(name):
    question = QUESTIONS[name]
    for blanks in "", " \n":
        with pytest.raises(AnswerError, match=rf"^write {question.hint} first$"):
            question.typed(blanks)
    longest = str(question.right).rjust(LONGEST_ANSWER)
    assert question.grade(name, question.typed(longest)).outcome == RIGHT
    with pytest.raises(AnswerError, match=rf"^your answer has 2,001 characters: write {question.hint}$"):
        question.typed(f" {longest}")


ROUNDED = Question(4.6, {14.666666666666666: "whole slices"}, "the logarithm", exact=4.605170185988092)
PAIR = Question((2, 5), {(5, 2): "in the other order"}, "rows come first")
FOUR = Question((1, 2, 2, 4), {}, "rows come first")
READ = [
    (ROUNDED, 4.605, ""),
    (ROUNDED, 4.61, ""),
    (ROUNDED, 4.62, "the logarithm"),
    (ROUNDED, 5.0, "the logarithm"),
    (ROUNDED, 14.67, "whole slices"),
    (ROUNDED, 14.7, "whole slices"),
    (ROUNDED, 14.66, "the logarithm"),
    (ROUNDED, 15, "the logarithm"),
    (Question(2, {0.125: "one"}, "count"), 0.1, "count"),
    (Question(23.12, {}, "count", also=(23, 23.1)), 23, ""),
    (Question(23.12, {}, "count", also=(23, 23.1)), 23.1, ""),
    (Question(23.12, {}, "count", also=(23, 23.1)), 24, "count"),
    (PAIR, (5, 2), "in the other order"),
    (PAIR, (2, 6), "your first number is right; rows come first"),
    (PAIR, (3, 5), "your second number is right; rows come first"),
    (PAIR, (3, 6), "rows come first"),
    (FOUR, (1, 2, 3, 4), "your first, second and fourth numbers are right; rows come first"),
]


@pytest.mark.parametrize(("question", "answer", "words"), READ)
def test_a_rounded_number_is_recognized_and_of_several_numbers_the_right_ones_are_named(question, answer, words):
    verdict = question.grade("q", answer)
    assert (verdict.outcome, verdict.detail) == (WRONG if words else RIGHT, words)


def typed(answer) -> list[str]:
    """An answer as readers may type it."""
    if isinstance(answer, str):
        return [answer, f'"{answer.title()}"', f"{answer}."]
    if isinstance(answer, tuple):
        return [", ".join(map(str, answer)), " and ".join(map(str, answer)), " ".join(map(str, answer)), str(answer)]
    fraction = Fraction(float(answer)).limit_denominator(10**6)
    if fraction.denominator > 1:
        return [str(float(answer)), str(fraction)]
    return [f"{fraction.numerator}", f"{fraction.numerator:,}".replace("-", "−"), f"= {fraction.numerator}"]


@in_words
def test_every_answer_that_is_typed_gets_its_reply_and_the_right_one_the_explanation(name):
    question = QUESTIONS[name]
    for answer, words in question.mistakes.items():
        for text in typed(answer):
            made = Ask(name, question)
            assert (made.give(text), made.why) == (f"wrong: {words}", ""), text
    for text in typed(question.right):
        made = Ask(name, question)
        assert (made.give(text), made.why) == ("right", question.why), text


@in_words
def test_a_question_in_words_can_be_answered_and_its_mistakes_lead_on(name):
    question = QUESTIONS[name]
    assert question.asked.endswith("?"), question.asked
    assert re.fullmatch(r"[`(A-Z\d].*[.]", question.why), question.why
    assert len(question.mistakes) >= 2
    for words in question.mistakes.values():
        assert words.endswith("?"), words
    if isinstance(question.right, str):
        assert {question.right, *question.mistakes} <= {*re.findall(r"\w+", question.asked.lower())}
    elif isinstance(question.right, int | float) and question.right > 9:
        in_replies = numbers_of(" ".join([question.advice, *question.mistakes.values()]))
        assert f"{question.right:.10g}" not in in_replies - numbers_of(question.asked)


def numbers_of(text: str) -> set[str]:
    """The numbers in a text, without commas between thousands."""
    return {*re.findall(r"\d+\.?\d*(?<!\.)", re.sub(r"(?<=\d),(?=\d{3})", "", text))}


SUM = re.compile(r"(?<![\w.`^/·*+−-])(?<!ln )([(−\d][-\d ,.()·*+−×/]*) = (−?\d[\d,]*(?:\.\d+)?|\d+ ?/ ?\d+)(?![\d/])")


def sums_in(text: str) -> list[tuple[str, float, float]]:
    """The sums in a text: as they are written, their value, and the result that the text states."""
    plain = str.maketrans({"·": "*", "×": "*", "−": "-", ",": ""})
    return [(left, eval(left.translate(plain)), eval(right.translate(plain))) for left, right in SUM.findall(text)]


def test_the_sums_in_the_explanations_are_right():
    sums = [*chain.from_iterable(sums_in(question.why) for question in QUESTIONS.values())]
    assert len(sums) > 20
    assert [text for text, value, stated in sums if value != stated] == []
    assert sums_in("So 2 · 3 + (−1)·4 = 3 and 1,000 / 8 = 126.") == [("2 · 3 + (−1)·4", 2, 3), ("1,000 / 8", 125, 126)]


@pytest.mark.parametrize("name", QUESTIONS)
def test_no_reply_says_that_a_number_is_an_element_which_may_be_there_by_another_way(name):
    """The element has this number, which is said; how a reader came to it, nobody can see."""
    for reply in QUESTIONS[name].mistakes.values():
        assert not re.search(r"\b(this|it) is (the )?`?\w+\[\d", reply), reply
