"""Mark the cells: the right ones are those that the number depends on, and they lie on their picture.

`messages/pages.txt` has the answers to marks, and what is kept of them.
"""

import numpy as np
import pytest
from support.legible import faults

import helpers
from helpers.grading.prediction import LONGEST_ANSWER, AnswerError
from helpers.grading.verdict import RIGHT, WRONG
from helpers.lessons.exercises import MARKINGS
from helpers.operations.convolution import reference
from helpers.operations.convolution.shapes import ConvShape

SMALL = ConvShape(1, 1, 5, 5, 1, 3, 3)
STRIDED = ConvShape(1, 1, 5, 5, 1, 3, 3, 2)
PADDED = ConvShape(1, 1, 4, 6, 1, 3, 3, padding=1)
every_marking = pytest.mark.parametrize("name", MARKINGS)
OUTPUT, WEIGHT, STRIDE_2, INNER, PIXEL = MARKINGS


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
    cells = [np.argwhere(image)[0, 2:].tolist() for image in alone if number(image)]
    assert MARKINGS[name].right == set(map(tuple, cells))


@every_marking
def test_the_right_cells_and_each_likely_mistake_get_their_own_words(name):
    marking = MARKINGS[name]
    assert marking.grade(name, marking.written(marking.right)).outcome == RIGHT
    assert len({*marking.mistakes.values()}) == len(marking.mistakes) >= 5
    for cells, question in marking.mistakes.items():
        verdict = marking.grade(name, marking.written(cells))
        assert (verdict.outcome, verdict.detail) == (WRONG, question)
        assert "?" in question


OTHERS = [
    (OUTPUT, "g h i l m n", "these cells belong to output [1,1]; how far is it from there to [2,1]"),
    (WEIGHT, "c d e h i j m n o", "these cells belong to dW[0,2]; how far is it from there to [0,1]"),
    (INNER, "J K L M N O", "these cells belong to dX[3,2]; how far is it from there to [1,2]"),
    (INNER, "G H", "you left out 4; which windows contain this pixel?"),  # which belong to dX[0,1], and are right
    (PIXEL, "0,0 0,1 0,2 1,0 1,1 1,2", "these cells belong to dX[0,1]; how far is it from there to [0,2]"),
]


@pytest.mark.parametrize(("name", "cells", "words"), OTHERS)
def test_the_cells_of_another_element_are_said_to_be_its_own(name, cells, words):
    verdict = MARKINGS[name].grade(name, cells)
    assert (verdict.outcome, verdict.detail[: len(words)]) == (WRONG, words)


@every_marking
def test_an_answer_of_another_kind_or_too_long_a_one_is_not_read(name):
    marking = MARKINGS[name]
    for answer in 3, None, next(iter(marking.right)):
        with pytest.raises(AnswerError, match=rf" is a {type(answer).__name__}: it must be text, as in "):
            marking.grade(name, answer)
    longest = marking.written(marking.right).rjust(LONGEST_ANSWER)
    assert marking.grade(name, longest).outcome == RIGHT
    verdict = marking.grade(name, f" {longest}")
    assert (verdict.outcome, verdict.detail.partition(";")[0]) == (WRONG, "your answer has 2,001 characters")


# --- The widget ---------------------------------------------------------------------------------------------


@every_marking
def test_the_cells_lie_on_the_lessons_picture_row_by_row(name):
    made = helpers.mark(name)
    marking = MARKINGS[name]
    picture = made._picture
    grid = picture.window_grid
    assert [cell["name"] for cell in made.cells] == [*marking.names.values()] == [*made.sheet["places"]]
    numbers = [value for value in grid.values.flat if not np.isnan(value)]
    boxes = [box for box, value in zip(grid.boxes, grid.values.flat, strict=True) if not np.isnan(value)]
    assert [*picture.cards.values()] == boxes
    assert len(numbers) == len(marking.names)
    assert not [*faults(picture)]
    assert picture.sentence.endswith("] is framed.")
    data, _ = made._repr_mimebundle_()
    assert data["text/plain"] == f"{marking.asked} {made.sheet['sentence']}"
    assert {"image/png"} == data.keys() & {"image/png", "text/html"}


def test_cells_that_are_left_out_are_shown_from_the_second_wrong_answer_on():
    made = helpers.mark(WEIGHT)
    right = MARKINGS[WEIGHT].written(MARKINGS[WEIGHT].right)
    made.give("a b")
    assert made.reply["cells"] == {"a": "wrong", "b": "right"}
    made.give("a b")
    assert made.reply["cells"] == {"a": "wrong", "b": "right"} | dict.fromkeys(right.split()[1:], "missed")
    made.give(right)
    assert made.reply["cells"] == dict.fromkeys(right.split(), "right")
