"""A question in the page: nothing says the answer before an attempt, and every kind of answer is kept.

`messages/replies.txt` has the reply to every kind of text, and `pages.txt` what follows from one answer to the next.
"""

import re
from fractions import Fraction

import nbformat
import numpy as np
import pytest
from nbconvert import HTMLExporter
from support.notebook_gate import NOTEBOOKS

import helpers
from helpers.grading import student_files


def test_nothing_that_is_stored_or_sent_says_the_answer_before():
    made = helpers.ask("pixels_of_a_weight")
    assert repr(made) == made.asked
    sent = " ".join(str(value) for name, value in made.get_state().items() if name not in ("_esm", "_css"))
    assert not re.search(r"\b576\b", sent + made._repr_mimebundle_()[0]["text/plain"])  # ids may have these digits


def test_what_is_stored_is_the_question_and_its_explanation_folded():
    """In lesson 02, and as nbconvert shows it; that it comes out again is nbval's part."""
    notebook = nbformat.read(NOTEBOOKS / "02_weight_gradient.ipynb", as_version=4)
    notebook.cells = [cell for cell in notebook.cells if cell.source == 'helpers.ask("pixels_of_a_weight")']
    (output,) = notebook.cells[0].outputs
    question = helpers.ask("pixels_of_a_weight")
    assert output.data["text/plain"] == question.asked
    assert {*output.data} == {"text/plain", "text/html"}
    tags = {"p", "i", "code", "details", "summary"}  # what GitHub keeps
    assert {*re.findall(r"</?(\w+)", output.data["text/html"])} <= tags
    assert re.sub(r"<[^>]*>", "", output.data["text/html"].split("<details>")[1]).startswith("Explanation")
    shown, _ = HTMLExporter().from_notebook_node(notebook)
    assert "<details><summary>Explanation</summary>" in shown


@pytest.mark.parametrize("answer", [Fraction(576), np.float32(576), np.array(576), 576.0])
def test_any_number_is_kept(answer):
    student_files.keep_answer("pixels_of_a_weight", answer)
    assert student_files.answers() == {"pixels_of_a_weight": 576}


@pytest.mark.parametrize("content", [b"[1]", b"not JSON", b"\xff"])
def test_a_spoiled_file_costs_no_other_answer_and_is_not_written_over(content):
    my = student_files.my_folder()
    (my / "answers").mkdir(parents=True)
    (my / "answers.json").write_bytes(content)
    (my / "answers/p.txt").write_bytes(content[1:])
    student_files.keep_answer("q", "\ud800")
    student_files.keep_answer("r", 2)
    assert student_files.answers() == {"q": "\ud800", "r": 2}
    assert student_files.typed("p") == ""
    assert (my / "answers.json").read_bytes() == content


def test_an_answer_that_an_older_copy_kept_is_read_until_there_is_a_newer_one():
    my = student_files.my_folder()
    my.mkdir(parents=True)
    (my / "answers.json").write_text('{"q": "1", "r": "2"}')
    assert student_files.typed("q") == "1"
    student_files.keep_answer("q", "3")
    assert student_files.typed("q") == "3"
    assert student_files.answers() == {"q": "3", "r": "2"}


def test_what_could_not_be_written_is_written_with_the_next_answer(monkeypatch):
    my = student_files.my_folder()
    my.parent.mkdir(parents=True, exist_ok=True)
    my.write_text("a file is here")
    student_files.keep_answer("q", 1)
    my.unlink()
    student_files.keep_answer("r", 2)
    monkeypatch.setattr(student_files, "_unwritten_answers", {})
    assert student_files.answers() == {"q": 1, "r": 2}
