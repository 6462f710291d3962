"""Lesson 01 in a browser: what any lesson is asked, its own sliders, a prediction and its exercise."""

import json

import pytest
from playwright.sync_api import expect
from support.browser import EveryLesson, LivePage

from helpers.convolution import explorers
from helpers.exercises import PUZZLES

LESSON = "01_convolution_as_correlation.ipynb"  # what the fixture `opened` opens
pytestmark = pytest.mark.usefixtures("no_trouble")

MOVES = {"padding": 2, "stride": 3, "H": 1, "kH": 5, "oh": 9, "ci": 1, "Ci": 1, "ow": 2}
MOVES |= {"kW": 3, "dilation": 3, "groups": 2, "Co": 3, "co": 2}


class TestLesson(EveryLesson):
    pass


def test_the_sliders_of_any_convolution_stay_valid(lesson: LivePage) -> None:
    shown, same = lesson.explorer("explorers.any_forward("), explorers.any_forward()
    for name, value in MOVES.items():
        if shown.box(name).is_enabled():
            shown.type(name, value)
            same.set(**{name: value})
            shown.shows(same)


def test_a_digit_is_drawn_live(lesson: LivePage) -> None:
    shown, same = lesson.explorer("explorers.edges("), explorers.edges()
    for name, value in {"digit": 7, "filter": 4, "stride": 2, "padding": 1}.items():
        shown.type(name, value)
        same.set(**{name: value})
        shown.shows(same)
    loaded = "images => images.every(image => image.getBoundingClientRect().width > 9)"
    assert shown.image.locator("image").count() == 4  # the digit, the output, and two in the legend
    assert shown.image.locator("image").evaluate_all(loaded)


def test_an_answer_is_judged(lesson: LivePage) -> None:
    cell = lesson.code_cell('predict("output_by_hand"')
    lesson.retype(cell, 'helpers.predict("output_by_hand", 7)')
    expect(cell).to_contain_text("there is no flip")
    lesson.retype(cell, 'helpers.predict("output_by_hand", 5)')
    expect(cell).to_contain_text("right")


def test_the_exercise_can_be_solved(lesson: LivePage) -> None:
    cell = lesson.code_cell('grade("conv2d", my_kernel)')
    expect(cell).to_contain_text("0 of 6 tests pass")
    source = json.dumps(PUZZLES["conv2d"].solution.text)
    lesson.retype(cell, f'my_kernel = {source}\nhelpers.grade("conv2d", my_kernel)')
    expect(cell).to_contain_text("6 of 6 tests pass")
