"""A question in the page: no answer before an attempt, the mistake by its name, and every bad input answered."""

import re
from fractions import Fraction
from pathlib import Path

import nbformat
import numpy as np
import pytest
from nbconvert import HTMLExporter
from support.notebook_gate import NOTEBOOKS

import helpers
from helpers.grading import student_files
from helpers.grading.prediction import Question
from helpers.widgets.question import Ask

SIDES = Question("left", {"right": "the other one"}, "left or right", "Which side?", "It is the left one.")
PAIR = Question((2, 3), {(3, 2): "in the other order"}, "rows, then columns", "Which cell?", "Rows come first.")
LAST = Question(2**32 - 1, {-1: "below 0"}, "count the bits")
SUM = Question(576, {25: "the filter"}, "count the outputs", "How many?", "24 · 24 = 576.")


@pytest.fixture(autouse=True)
def my(tmp_path, monkeypatch) -> Path:
    monkeypatch.setenv("CONVGRAD_MY", str(tmp_path / "my"))
    return tmp_path / "my"


@pytest.mark.parametrize(
    ("question", "typed", "outcome", "words"),
    [
        (SUM, "576", "right", "right"),
        (SUM, " 1,152 / 2 ", "not attempted", "is not a number"),
        (SUM, "1152/2", "right", "right"),
        (SUM, " 24 × 24", "right", "right"),
        (SUM, "24*23*", "not attempted", "is not a number"),
        (SUM, "20*20 + 7 * 25 +1e+0", "right", "right"),
        (SUM, "600 - 2*12", "right", "right"),
        (SUM, "- 5", "wrong", "wrong: count"),
        (SUM, "24 x 24 = 576.", "right", "right"),
        (SUM, "24^2", "right", "right"),
        (SUM, "24^", "not attempted", "is not a number"),
        (SUM, "99999^99", "not attempted", "is not a number"),
        (SUM, "0^0" + "*9999^99" * 249, "wrong", "wrong: count the outputs"),
        (SUM, "576 pixels", "not attempted", "`576 pixels` is not a number: write `576`"),
        (LAST, "2**32 - 1", "right", "right"),
        (LAST, "2³² − 1", "right", "right"),
        (LAST, "4,294,967,295", "right", "right"),
        (LAST, "−1", "wrong", "wrong: below 0"),
        (LAST, "-1^2 + 0", "wrong", "wrong: below 0"),
        (SUM, "24+", "not attempted", "is not a number"),
        (SUM, "1e999999999", "not attempted", "`1e999999999` is not a number"),
        (SUM, "1e99" + "*1e99" * 9 + "/7", "not attempted", "is not a number"),
        (SUM, "1/0", "not attempted", "`1/0` is not a number"),
        (SUM, "2*" + " " * 100_000, "not attempted", "your answer has 100,002 characters: write a number"),
        (PAIR, "2, " * 50_000, "not attempted", "your answer has 150,000 characters: write 2 numbers, with commas"),
        (SUM, "25", "wrong", "wrong: the filter"),
        (SUM, "26", "wrong", "wrong: count the outputs"),
        (SUM, "", "not attempted", "write a number first"),
        (SUM, "1,5", "not attempted", "write `1.5`"),
        (SUM, "many", "not attempted", "`many` is not a number"),
        (SIDES, " Left ", "right", "right"),
        (SIDES, "right", "wrong", "the other one"),
        (SIDES, "to the left.", "right", "right"),
        (SIDES, '"Right"', "wrong", "the other one"),
        (SIDES, "no idea", "wrong", "wrong: left or right"),
        (SIDES, "left or right", "wrong", "wrong: left or right"),
        (SIDES, "the side which is left", "right", "right"),
        (SIDES, "not the left side", "wrong", "wrong: left or right"),
        (SIDES, "", "not attempted", "write a word first"),
        (PAIR, "(2, 3)", "right", "right"),
        (PAIR, "3, 2", "wrong", "in the other order"),
        (PAIR, "2", "not attempted", "2 numbers"),
    ],
)
def test_an_answer_gets_its_reply(question, typed, outcome, words):
    made = Ask("q", question)
    assert words in made.give(typed)
    assert made.reply["outcome"] == outcome
    assert student_files.answers() == {"q": typed}


def test_the_explanation_comes_only_after_the_right_answer_or_two_wrong_ones():
    made = Ask("q", SUM)
    shown = [made.why]
    for typed in ("", "25", "26"):
        made.give(typed)
        shown.append(made.why)
    assert shown == ["", "", "", SUM.why]
    made = Ask("q", SUM)
    made.give("576")
    assert made.why == SUM.why


def test_nothing_that_is_stored_or_sent_says_the_answer_before():
    made = helpers.ask("pixels_of_a_weight")
    assert repr(made) == made.asked
    sent = " ".join(str(value) for name, value in made.get_state().items() if name not in ("_esm", "_css"))
    assert "576" not in sent + made._repr_mimebundle_()[0]["text/plain"]


def test_an_answer_of_an_earlier_run_is_filled_in_and_not_graded(my):
    Ask("q", SUM).give("25")
    Ask("other", PAIR).give("2, 3")
    assert (Ask("q", SUM).answer, Ask("q", SUM).reply) == ("25", {})
    (my / "answers.json").write_text("not JSON")
    assert Ask("q", SUM).answer == ""


def test_an_answer_given_to_predict_is_filled_in():
    helpers.predict("pixels_of_a_weight", 25)
    assert helpers.ask("pixels_of_a_weight").answer == "25"
    student_files.keep_answer("q", (2, 3))
    assert Ask("q", PAIR).answer == "2, 3"


def test_what_is_stored_is_the_question_and_its_explanation_folded():
    """In lesson 02, and as nbconvert shows it; that it comes out again is nbval's part."""
    notebook = nbformat.read(NOTEBOOKS / "02_weight_gradient.ipynb", as_version=4)
    notebook.cells = [cell for cell in notebook.cells if cell.source == 'helpers.ask("pixels_of_a_weight")']
    (output,) = notebook.cells[0].outputs
    question = helpers.ask("pixels_of_a_weight")
    assert output.data["text/plain"] == question.asked
    assert {*output.data} == {"text/plain", "text/html"}
    tags = {"p", "code", "details", "summary"}  # what GitHub keeps
    assert {*re.findall(r"</?(\w+)", output.data["text/html"])} <= tags
    assert re.sub(r"<[^>]*>", "", output.data["text/html"].split("<details>")[1]).startswith("Explanation")
    shown, _ = HTMLExporter().from_notebook_node(notebook)
    assert "<details><summary>Explanation</summary>" in shown


def test_signs_of_html_are_words():
    made = Ask("q", Question(1, asked="Is `a < b` & c?", why="No: `<b>`."))
    html = "<p>Is <code>a &lt; b</code> &amp; c?</p>"
    why = "<details><summary>Explanation</summary><p>No: <code>&lt;b&gt;</code>.</p></details>"
    assert made._repr_mimebundle_()[0]["text/html"] == html + why
    assert "<details>" not in Ask("q", Question(1, asked="a?"))._repr_mimebundle_()[0]["text/html"]


@pytest.mark.parametrize("answer", [Fraction(576), np.float32(576), np.array(576), 576.0])
def test_any_number_that_is_graded_is_kept(answer):
    assert helpers.predict("pixels_of_a_weight", answer).outcome == "right"
    assert student_files.answers() == {"pixels_of_a_weight": 576}


@pytest.mark.parametrize("content", [b"[1]", b"not JSON", b"\xff"])
def test_answers_that_cannot_be_read_are_not_written_over(my, content):
    my.mkdir()
    (my / "answers.json").write_bytes(content)
    student_files.keep_answer("q", "\ud800")
    student_files.keep_answer("r", 2)
    assert student_files.answers() == {"q": "\ud800", "r": 2}
    assert (my / "answers_not_readable.json").read_bytes() == content


def test_only_a_question_in_words_can_be_asked():
    with pytest.raises(ValueError, match=r"question = 'nine': it must be one of .*pixels_of_a_weight"):
        helpers.ask("nine")
