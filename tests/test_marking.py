"""Mark the cells: the right ones are those that the number depends on, and clicking and typing are the same."""

import json

import numpy as np
import pytest

import helpers
from helpers.convolution import reference
from helpers.convolution.exercises.marking import MARKINGS, PADDED, SMALL, STRIDED
from helpers.grading import student_files
from helpers.grading.marking_question import Marking
from helpers.grading.verdict import NOT_ATTEMPTED, RIGHT, WRONG

every_marking = pytest.mark.parametrize("name", MARKINGS)
OUTPUT, WEIGHT, STRIDE_2, INNER, PIXEL = MARKINGS


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("CONVGRAD_MY", str(tmp_path))


# --- The cells ----------------------------------------------------------------------------------------------

FILTER = np.ones((1, 1, 3, 3), np.float32)
NUMBERS = {  # the tensor with the cells, and the number that depends on some of them
    OUTPUT: (SMALL.input, lambda x: reference.conv2d(x, FILTER)[0, 0, 1, 2]),
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


def click(shown, *names: str) -> None:
    """Click the buttons of these cells."""
    for cell, name in shown.marking.names.items():
        if name in names:
            shown._buttons[cell].value ^= True


def test_clicks_and_the_text_box_say_the_same():
    shown = helpers.mark(WEIGHT)
    click(shown, "d", "c", "b")
    assert (shown._box.value, shown.sentence) == ("b c d", "3 cells marked: press Check when you have all")
    shown._check.click()
    assert (shown._box.value, shown.sentence[:32]) == ("b c d", "wrong: this is only the first ro")
    click(shown, "c")
    assert (shown._box.value, shown.sentence[:7]) == ("b d", "2 cells")
    shown._box.value = "ghilmnbcd"
    assert (shown._box.value, shown.sentence) == ("b c d g h i l m n", "right")
    assert shown.marked == MARKINGS[WEIGHT].right
    shown._box.value = "b c <&"  # a text that names no cell leaves the marks
    assert shown.sentence.startswith("wrong: '<' names no cell")
    click(shown, "b")
    assert shown._box.value == "c d g h i l m n"
    click(shown, *"cdghilmn")
    assert (shown._box.value, shown.sentence[:13]) == ("", NOT_ATTEMPTED)
    click(shown, "b")
    shown._box.value = ""
    assert (shown.marked, shown.sentence[:13]) == (frozenset(), NOT_ATTEMPTED)


def test_a_mark_is_a_sign_an_outline_and_a_word():
    shown = helpers.mark(PIXEL, "(0, 1)")
    marked, other = shown._buttons[0, 1], shown._buttons[0, 2]
    assert (marked.description, other.description) == ("✓ (0, 1)", "(0, 2)")
    assert (marked.tooltip, other.tooltip) == ("row 0, column 1, marked", "row 0, column 2, not marked")
    assert (marked.layout.border_top[:3], other.layout.border_top[:3]) == ("3px", "1px")
    assert 'role="status" aria-live="polite"' in shown._words.value


def test_marks_come_back_after_a_restart_but_typed_text_comes_first(tmp_path, monkeypatch):
    click(helpers.mark(WEIGHT), "c", "b")
    again = helpers.mark(WEIGHT)
    assert again.marked == {(0, 1), (0, 2)}
    assert again.sentence.startswith("2 cells marked")
    assert "left out 7" in again.check()
    assert again.verdict.outcome == NOT_ATTEMPTED  # what is stored does not depend on what was clicked before
    for typed, cells in {"y": {(4, 4)}, "B C": set()}.items():
        shown = helpers.mark(WEIGHT, typed)
        assert (shown.marked, shown.sentence) == (cells, f"wrong: {shown.verdict.detail}")
        click(shown, *"y" * len(cells))
        assert shown.sentence.startswith(NOT_ATTEMPTED) == bool(cells)
        helpers.mark(WEIGHT, typed)
    assert helpers.mark(PIXEL).marked == frozenset()
    monkeypatch.setattr("os.replace", lambda *paths: (tmp_path / "none").stat())  # it cannot be written whole
    click(again, "d")
    assert json.loads((tmp_path / "answers.json").read_bytes()) == {WEIGHT: "y"}
    assert student_files.answers() == {WEIGHT: "b c d"}  # in memory


@pytest.mark.parametrize("kept", [b'{"pixels_of_dW[0,1]": "no cells!"}', b"[1]", b"\xff", None])
def test_marks_that_cannot_be_read_or_kept_are_no_trouble(kept, tmp_path, monkeypatch):
    if kept is None:
        monkeypatch.setenv("CONVGRAD_MY", str(tmp_path / "file" / "folder"))
    (tmp_path / ("answers.json" if kept else "file")).write_bytes(kept or b"")
    shown = helpers.mark(WEIGHT)
    assert shown.marked == frozenset()
    click(shown, "a")
    assert shown.marked == {(0, 0)}


def test_marks_of_an_older_copy_are_shown(tmp_path):
    (tmp_path / "attempts").mkdir()
    (tmp_path / "attempts" / "pixels_of_dW_0_1.txt").write_text("b c")
    assert helpers.mark(WEIGHT).marked == {(0, 1), (0, 2)}
    click(helpers.mark(WEIGHT), "d")
    assert helpers.mark(WEIGHT).marked == {(0, 1), (0, 2), (0, 3)}


def test_a_mistake_that_is_right_is_right():
    cells = frozenset({(0, 0)})
    assert Marking("Mark a.", 1, 1, cells, {cells: "is it a?"}, letters="a").grade("a", "a").outcome == RIGHT


def test_check_reads_the_text_box_also_where_it_names_no_cells():
    shown = helpers.mark(WEIGHT)
    shown.set(MARKINGS[WEIGHT].right)
    shown._box.value = "z1, 9"
    assert "'z' names no cell" in shown.check()
    assert shown._box.value == "z1, 9"
    assert shown.marked == MARKINGS[WEIGHT].right
