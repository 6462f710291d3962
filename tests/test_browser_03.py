"""Lesson 03 in a browser: what any lesson is asked, its own sliders, a prediction and its exercise."""

import json

import numpy as np
import pytest
from playwright.sync_api import expect
from support.browser import EveryLesson, LivePage

from helpers.convolution import explorers
from helpers.convolution.exercises import GRAD_INPUT

LESSON = "03_input_gradient.ipynb"  # what the fixture `opened` opens
pytestmark = pytest.mark.usefixtures("no_trouble")
WEIGHT = np.array([[2, 0, -1], [1, 3, 0], [-2, 1, 1]], np.float32)[None, None]
UPSTREAM = np.array([[1, -1, 2], [0, 3, -1], [2, 1, 0]], np.float32)[None, None]

MOVES = {"padding": 2, "stride": 3, "H": 1, "kH": 5, "ih": 9, "iw": 6, "Co": 2, "co": 1}
MOVES |= {"kH": 3, "dilation": 2, "groups": 3, "ci": 2}


class TestLesson(EveryLesson):
    pass


def test_output_and_pixel_move_apart(lesson: LivePage) -> None:
    shown = lesson.explorer("explorers.scatter_and_gather(")
    same = explorers.scatter_and_gather(WEIGHT, UPSTREAM)
    for name, key, value in ("oh", "ArrowRight", 2), ("iw", "ArrowLeft", 0), ("ih", "ArrowRight", 2):
        shown.handle(name).press(key)
        same.set(**{name: value})
        shown.shows(same)


def test_the_sliders_of_any_input_gradient_stay_valid(lesson: LivePage) -> None:
    shown, same = lesson.explorer("explorers.any_input_gradient()"), explorers.any_input_gradient()
    for name, value in MOVES.items():
        if shown.box(name).is_enabled():
            shown.type(name, value)
            same.set(**{name: value})
            shown.shows(same)


def test_the_steps_of_a_simulated_run(lesson: LivePage) -> None:
    shown = lesson.explorer("explorers.shared_weight_steps(")
    for name, value, said in ("step", 2, "Thread 13 is waiting."), ("thread", 1, "writes shared_weights[17]"):
        shown.type(name, value)
        expect(shown.words).to_contain_text(said)


def test_an_answer_is_judged(lesson: LivePage) -> None:
    cell = lesson.code_cell('predict("dX[1,1]"')
    lesson.retype(cell, 'helpers.predict("dX[1,1]", -1)')
    expect(cell).to_contain_text("the filter is not flipped")
    lesson.retype(cell, 'helpers.predict("dX[1,1]", 13)')
    expect(cell).to_contain_text("right")


def test_the_exercise_can_be_solved(lesson: LivePage) -> None:
    cell = lesson.code_cell('grade("conv2d_grad_input", my_kernel)')
    expect(cell).to_contain_text("0 of 5 tests pass")
    source = json.dumps(GRAD_INPUT.solution.text)
    lesson.retype(cell, f'my_kernel = {source}\nhelpers.grade("conv2d_grad_input", my_kernel)')
    expect(cell).to_contain_text("5 of 5 tests pass")
