"""Mark the cells: the right ones are those that the number depends on, and clicking and typing are the same."""

from dataclasses import replace

import numpy as np
import pytest
from support.legible import faults

import helpers
from helpers.convolution import reference
from helpers.convolution.exercises.marking import MARKINGS, PADDED, SMALL, STRIDED
from helpers.grading import student_files
from helpers.grading.marking_question import Marking
from helpers.grading.verdict import NOT_ATTEMPTED, RIGHT, WRONG
from helpers.widgets.marking import MarkCells

every_marking = pytest.mark.parametrize("name", MARKINGS)
OUTPUT, WEIGHT, STRIDE_2, INNER, PIXEL = MARKINGS


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("CONVGRAD_MY", str(tmp_path))


# --- The cells ----------------------------------------------------------------------------------------------

FILTER = np.ones((1, 1, 3, 3), np.float32)
NUMBERS = {  # the tensor with the cells, and the number that depends on some of them
    OUTPUT: (SMALL.input, lambda x: reference.conv2d(x, FILTER[:, :, :2])[0, 0, 2, 1]),
    WEIGHT: (SMALL.input, lambda x: reference.conv2d_grad_weight(x, SMALL.weight, np.ones(SMALL.output))[0, 0, 0, 1]),
    STRIDE_2: (
        STRIDED.input,
        lambda x: reference.conv2d_grad_weight(x, STRIDED.weight, np.ones(STRIDED.output), 2)[0, 0, 1, 0],
    ),
    INNER: (SMALL.output, lambda dy: reference.conv2d_grad_input(SMALL.input, FILTER, dy)[0, 0, 1, 2]),
    PIXEL: (PADDED.output, lambda dy: reference.conv2d_grad_input(PADDED.input, FILTER, dy, 1, 1)[0, 0, 0, 2]),
}


@every_marking
def test_the_right_cells_are_those_on_which_the_number_depends(name):
    size, number = NUMBERS[name]
    alone = np.eye(np.prod(size), dtype=np.float32).reshape(-1, *size)  # 1 in one cell and 0 in all others
    assert MARKINGS[name].right == {tuple(map(int, np.argwhere(one)[0, 2:])) for one in alone if number(one)}


@every_marking
def test_the_right_cells_and_each_likely_mistake_get_their_own_words(name):
    marking = MARKINGS[name]
    assert marking.grade(name, marking.written(marking.right)).outcome == RIGHT
    assert len({*marking.mistakes.values()}) == len(marking.mistakes) >= 5
    for cells, question in marking.mistakes.items():
        verdict = marking.grade(name, marking.written(cells))
        assert (verdict.outcome, verdict.detail) == (WRONG, question)
        assert "?" in question


@pytest.mark.parametrize("answer", ["b c y", "bcy", " y,c; b\nb", "(0, 1) (0, 2), (4, 4)", [(0, 1), [0, 2], (4, 4)]])
def test_letters_and_pairs_are_read(answer):
    assert helpers.mark(WEIGHT, answer).marked == {(0, 1), (0, 2), (4, 4)}


# --- The widget ---------------------------------------------------------------------------------------------


def told(made: MarkCells, answer: str, whole: bool = True) -> dict:
    """What the page sends, and what is then said."""
    made._told(made, {"answer": answer, "whole": whole, "number": 7}, [])
    assert made.heard == 7
    return made.reply


@every_marking
def test_the_cells_lie_on_the_lessons_picture_row_by_row(name):
    made, marking = helpers.mark(name), MARKINGS[name]
    picture = made._picture
    grid = picture.window_grid
    assert [cell["name"] for cell in made.cells] == [*marking.names.values()] == [*made.sheet["places"]]
    numbers = [value for value in grid.values.flat if not np.isnan(value)]
    boxes = [box for box, value in zip(grid.boxes, grid.values.flat, strict=True) if not np.isnan(value)]
    assert [*picture.cards.values()] == boxes
    assert len(numbers) == marking.rows * marking.columns
    assert not [*faults(picture)]
    assert picture.sentence.endswith("] is framed.")
    data, _ = made._repr_mimebundle_()
    assert data["text/plain"] == f"{marking.asked} {made.sheet['sentence']}"
    assert {"image/png"} == data.keys() & {"image/png", "text/html"}


def test_marks_are_kept_at_once_and_graded_only_when_asked_for():
    made = helpers.mark(WEIGHT)
    assert (made.answer, made.reply) == ("", {})
    assert told(made, "b c d", whole=False) == {}
    assert student_files.answers() == {WEIGHT: "b c d"}
    row, rest = dict.fromkeys("bcd", "right"), dict.fromkeys("ghilmn", "missed")
    reply = told(made, "b c d y")
    assert (reply["outcome"], reply["cells"]) == (WRONG, row | rest | {"y": "wrong"})
    assert told(made, "b c d", whole=False) == {}, "the drawing was of the old marks"
    assert told(made, "ghilmnbcd") == {"outcome": RIGHT, "text": "right", "cells": dict.fromkeys("ghilmnbcd", "right")}
    assert made.marked == MARKINGS[WEIGHT].right
    reply = told(made, "b c <&")  # a text that names no cell is kept as it is
    assert (reply["text"][:32], reply["cells"]) == ("wrong: '<' names no cell; the ce", {})
    assert (made.answer, student_files.answers()) == ("b c <&", {WEIGHT: "b c <&"})
    reply = told(made, "")
    assert (reply["outcome"], reply["cells"]) == (NOT_ATTEMPTED, {})
    reply = told(made, "b" * 5000)
    assert reply["text"] == "wrong: your answer has 5,000 characters; write it as in 'a y'"
    assert (made.answer, reply["cells"]) == ("b" * 5000, {})


def test_marks_come_back_after_a_restart_but_given_text_comes_first():
    told(helpers.mark(WEIGHT), "c b", whole=False)
    again = helpers.mark(WEIGHT)
    assert (again.answer, again.marked, again.reply) == ("c b", {(0, 1), (0, 2)}, {})
    assert again.verdict.outcome == NOT_ATTEMPTED  # what is stored does not depend on what was marked before
    for given, kept in {"y": "y", "B C": "B C", ((0, 1), (4, 4)): "b y"}.items():
        made = helpers.mark(WEIGHT, given)
        assert (made.answer, made.reply["text"]) == (kept, f"wrong: {made.verdict.detail}")
        assert repr(made) == repr(made.verdict)
    assert helpers.mark(PIXEL).marked == frozenset()
    other, here = helpers.mark(WEIGHT), helpers.mark(WEIGHT)  # in two pages
    told(other, "d", whole=False)
    assert told(here, "e", whole=False)["text"] == "Elsewhere you had answered `d`; this answer takes its place."


def test_a_picture_that_is_gone_is_said_and_the_cells_can_be_marked(monkeypatch):
    def gone() -> None:
        raise FileNotFoundError("input")

    monkeypatch.setitem(MARKINGS, WEIGHT, replace(MARKINGS[WEIGHT], picture=gone))
    made = helpers.mark(WEIGHT)
    assert made.lost == "The picture of these cells is not here (FileNotFoundError: input). Their names are."
    assert (made.sheet, len(made.cells)) == ({}, 25)
    assert told(made, "bcdghilmn")["outcome"] == RIGHT
    assert made._repr_mimebundle_()[0]["text/html"].startswith(f"<p>{MARKINGS[WEIGHT].asked}</p>")


@pytest.mark.parametrize("kept", [b'{"pixels_of_dW[0,1]": "no cells!"}', b"[1]", b"\xff", None])
def test_marks_that_cannot_be_read_or_kept_are_no_trouble(kept, tmp_path, monkeypatch):
    if kept is None:
        monkeypatch.setenv("CONVGRAD_MY", str(tmp_path / "file" / "folder"))
    (tmp_path / ("answers.json" if kept else "file")).write_bytes(kept or b"")
    made = helpers.mark(WEIGHT)
    assert made.marked == frozenset()
    told(made, "a", whole=False)
    assert made.marked == {(0, 0)}


def test_marks_of_an_older_copy_are_shown(tmp_path):
    (tmp_path / "attempts").mkdir()
    (tmp_path / "attempts" / "pixels_of_dW_0_1.txt").write_text("b c")
    assert helpers.mark(WEIGHT).marked == {(0, 1), (0, 2)}
    told(helpers.mark(WEIGHT), "b c d", whole=False)
    assert helpers.mark(WEIGHT).marked == {(0, 1), (0, 2), (0, 3)}


def test_a_mistake_that_is_right_is_right():
    cells = frozenset({(0, 0)})
    assert Marking("Mark a.", 1, 1, cells, {cells: "is it a?"}, letters="a").grade("a", "a").outcome == RIGHT
