"""Mark the cells: the right ones are those that the number depends on, and clicking and typing are the same."""

import numpy as np
import pytest

import helpers
from helpers.convolution import reference
from helpers.convolution.exercises.marking import MARKINGS, PADDED, SMALL, STRIDED
from helpers.convolution.shapes import ConvShape
from helpers.grading.mark_cells import MarkCells
from helpers.grading.marking import Cells, Marking
from helpers.grading.prediction import AnswerError
from helpers.grading.verdict import NOT_ATTEMPTED, RIGHT, WRONG
from helpers.output import COLUMNS

every_marking = pytest.mark.parametrize("name", MARKINGS)
WEIGHT, PIXEL = "pixels_of_dW[0,1]", "outputs_of_a_pixel_at_the_edge"


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("CONVGRAD_ATTEMPTS", str(tmp_path))


# --- The cells ----------------------------------------------------------------------------------------------


def needed(shape: ConvShape, tensor: str, number) -> Cells:
    """The cells of a tensor on which a number depends: those for which it is not 0 if all others are 0."""
    found = set()
    for cell in np.ndindex(shape.of(tensor)):
        alone = np.zeros(shape.of(tensor), np.float32)
        alone[cell] = 1
        if number(alone):
            found.add(cell[2:])
    return frozenset(found)


def ones(shape: ConvShape, tensor: str) -> np.ndarray:
    return np.ones(shape.of(tensor), np.float32)


def grad_weight(shape: ConvShape, kh: int, kw: int) -> Cells:
    dy = ones(shape, "output")
    return needed(
        shape, "input", lambda x: reference.conv2d_grad_weight(x, shape.weight, dy, shape.stride)[0, 0, kh, kw]
    )


def test_the_right_cells_are_those_on_which_the_number_depends():
    weight = ones(SMALL, "weight")
    assert MARKINGS["pixels_of_an_output"].right == needed(
        SMALL, "input", lambda x: reference.conv2d(x, weight)[0, 0, 1, 2]
    )
    assert MARKINGS[WEIGHT].right == grad_weight(SMALL, 0, 1)
    assert MARKINGS["pixels_of_dW[1,0]_with_stride_2"].right == grad_weight(STRIDED, 1, 0)
    assert MARKINGS[PIXEL].right == needed(
        PADDED,
        "output",
        lambda dy: reference.conv2d_grad_input(PADDED.input, weight, dy, PADDED.stride, (1, 1))[0, 0, 0, 2],
    )


@every_marking
def test_the_right_cells_and_each_likely_mistake_get_their_own_words(name):
    marking = MARKINGS[name]
    assert marking.grade(name, marking.written(marking.right)).outcome == RIGHT
    assert len(marking.mistakes) >= 5
    assert len({*marking.mistakes.values()}) == len(marking.mistakes)
    for cells, question in marking.mistakes.items():
        verdict = marking.grade(name, marking.written(cells))
        assert (verdict.outcome, verdict.detail) == (WRONG, question)
        assert cells != marking.right
        assert "?" in question


@pytest.mark.parametrize(
    ("name", "cells", "words"),
    [
        (WEIGHT, "l m n q r s v w x", "flipped"),
        (WEIGHT, "f g h k l m p q r", "swapped"),
        (WEIGHT, "a b c f g h", "padding of 1"),
        (WEIGHT, "b c d", "only the first row"),
        ("pixels_of_dW[1,0]_with_stride_2", "f g k l", "how far does the filter move"),
        ("pixels_of_dW[1,0]_with_stride_2", "f g h k l m p q r", "stride 1"),
        ("pixels_of_an_output", "b c d g h i l m n", "with its middle"),
        (PIXEL, "(0, 0) (0, 1) (0, 2)", "padding is left out"),
        (PIXEL, "(1,0) (1,1) (2,0) (2,1) (3,0) (3,1)", "swapped"),
        (WEIGHT, "a b", "you marked 1 cell too many and left out 8; this weight"),
        (WEIGHT, "a y", "you marked 2 cells too many and left out 9; "),
        (WEIGHT, "b c d g h i l m n y", "you marked 1 cell too many; "),
        (WEIGHT, "b c d g h", "you left out 4; "),
    ],
)
def test_a_wrong_set_is_named(name, cells, words):
    verdict = helpers.mark(name, cells).verdict
    assert verdict.outcome == WRONG
    assert words in verdict.detail


# --- What is typed ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("answer", ["b c y", "bcy", " y,c; b\nb", "(0, 1) (0, 2), (4, 4)", [(0, 1), [0, 2], (4, 4)]])
def test_letters_and_pairs_are_read(answer):
    assert MARKINGS[WEIGHT].read(answer) == {(0, 1), (0, 2), (4, 4)}


@pytest.mark.parametrize(
    ("name", "answer", "words"),
    [
        (WEIGHT, "b z", "'z' names no cell; the cells are a to y; write them as in 'a y'"),
        (WEIGHT, "G", "'G' names no cell"),
        (WEIGHT, [(0, 5)], "(0, 5) names no cell"),
        (PIXEL, "0 1", "'0 1' names no cell; the cells are (0, 0) to (3, 5); write them as in '(0, 0) (3, 5)'"),
        (PIXEL, "(0, 1) b", "'b' names no cell"),
        (PIXEL, "(4, 0)", "(4, 0) names no cell"),
        (PIXEL, [(1, 2, 3)], "(1, 2, 3) names no cell"),
        (PIXEL, [[0, [1]]], "(0, [1]) names no cell"),
        (PIXEL, "9" * 5000 + ", 1", "'999"),
    ],
)
def test_what_names_no_cell_is_wrong_and_says_how_to_write(name, answer, words):
    verdict = helpers.mark(name, answer).verdict
    assert verdict.outcome == WRONG
    assert verdict.detail.startswith(words)


@pytest.mark.parametrize("answer", [None, 3, [1, 2]])
def test_an_answer_of_another_kind_is_refused_in_one_line(answer):
    with pytest.raises(AnswerError, match="it must be text, as in 'a y'"):
        helpers.mark(WEIGHT, answer)


def test_an_unknown_exercise_is_refused():
    for name in ("cells", ["cells"], None):
        with pytest.raises(ValueError, match=r"it must be one of pixels_of_an_output, pixels_of_dW\[0,1\]"):
            helpers.mark(name)


# --- The widget ---------------------------------------------------------------------------------------------


@every_marking
def test_no_cells_are_not_attempted_and_the_stored_text_says_so_in_one_line(name):
    shown = helpers.mark(name)
    assert shown.verdict.outcome == NOT_ATTEMPTED
    assert shown._repr_mimebundle_()["text/plain"] == repr(shown) == repr(shown.verdict)
    assert len(repr(shown)) <= COLUMNS
    assert shown.sentence == "not attempted: click the cells, or write their names"


def button(shown: MarkCells, name: str):
    return next(each for each in shown._buttons.values() if each.description.removeprefix("✓ ") == name)


def test_clicks_and_the_text_box_say_the_same():
    shown = helpers.mark(WEIGHT)
    for letter in "dcb":
        button(shown, letter).value = True
    assert (shown._box.value, shown.sentence[:32]) == ("b c d", "wrong: this is only the first ro")
    button(shown, "c").value = False
    assert shown._box.value == "b d"
    shown._box.value = "ghilmnbcd"
    assert (shown._box.value, shown.sentence) == ("b c d g h i l m n", "right")
    assert shown.marked == MARKINGS[WEIGHT].right
    shown._box.value = ""
    assert (shown.marked, shown.sentence[:13]) == (frozenset(), "not attempted")


def test_a_text_that_names_no_cell_leaves_the_marks():
    shown = helpers.mark(WEIGHT, "b c")
    shown._box.value = "b c ?"
    assert shown.sentence.startswith("wrong: '?' names no cell")
    assert shown.marked == {(0, 1), (0, 2)}
    button(shown, "d").value = True
    assert shown._box.value == "b c d"


def test_a_mark_is_a_sign_an_outline_and_a_word():
    shown = helpers.mark(PIXEL, "(0, 1)")
    marked, other = shown._buttons[0, 1], shown._buttons[0, 2]
    assert (marked.description, other.description) == ("✓ (0, 1)", "(0, 2)")
    assert (marked.tooltip, other.tooltip) == ("row 0, column 1, marked", "row 0, column 2, not marked")
    assert (marked.layout.border_top[:3], other.layout.border_top[:3]) == ("3px", "1px")
    assert 'role="status" aria-live="polite"' in shown._words.value


def test_marks_come_back_after_a_restart_but_typed_text_comes_first(tmp_path):
    shown = helpers.mark(WEIGHT)
    for letter in "cb":
        button(shown, letter).value = True
    shown.set("c ?")
    (file,) = tmp_path.iterdir()
    assert file.read_text() == "b c"
    again = helpers.mark(WEIGHT)
    assert again.marked == {(0, 1), (0, 2)}
    assert "left out 7" in again.sentence
    assert again.verdict.outcome == NOT_ATTEMPTED  # what is stored does not depend on what was clicked before
    assert helpers.mark(WEIGHT, "y").marked == {(4, 4)}
    assert file.read_text() == "b c"
    assert helpers.mark(PIXEL).marked == frozenset()


def test_a_typed_text_that_names_no_cell_comes_before_kept_marks():
    helpers.mark(WEIGHT).set("b c d g h i l m n")
    again = helpers.mark(WEIGHT, "B C")
    assert again.marked == frozenset()
    assert again.verdict.outcome == WRONG
    assert again.sentence == f"wrong: {again.verdict.detail}"


def test_the_sentence_has_the_signs_that_the_learner_typed():
    shown = helpers.mark(WEIGHT)
    assert shown.set("<b> & c").startswith("wrong: '<' names no cell")
    shown.marking = Marking("", 1, 1, frozenset(), advice="is a <b> here, or & there?", letters="a")
    assert shown.set("a").endswith("is a <b> here, or & there?")


def test_marks_that_cannot_be_written_whole_leave_those_that_were_kept(tmp_path, monkeypatch):
    shown = helpers.mark(WEIGHT)
    shown.set("b")

    def fail(*paths: object) -> None:
        raise OSError("no room")

    monkeypatch.setattr("os.replace", fail)
    shown.set("b c")
    (file,) = tmp_path.iterdir()
    assert file.read_text() == "b"


@pytest.mark.parametrize("found", [b"no cells!", b"\xff", None])
def test_marks_that_cannot_be_read_or_kept_are_no_trouble(found, tmp_path, monkeypatch):
    if found is None:
        monkeypatch.setenv("CONVGRAD_ATTEMPTS", str(tmp_path / "file" / "folder"))
        (tmp_path / "file").touch()
    else:
        (tmp_path / "pixels_of_dW_0_1.txt").write_bytes(found)
    shown = helpers.mark(WEIGHT)
    assert shown.marked == frozenset()
    button(shown, "a").value = True
    assert shown.marked == {(0, 0)}


def test_a_mistake_that_is_right_would_be_seen():
    same = Marking("Mark a.", 1, 1, frozenset({(0, 0)}), {frozenset({(0, 0)}): "is it a?"}, letters="a")
    assert same.grade("a", "a").outcome == RIGHT
