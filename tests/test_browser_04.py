"""Lesson 04 in a browser: what any lesson is asked, its own sliders, a prediction and its exercises."""

import json

import numpy as np
import pytest
from playwright.sync_api import expect
from support.browser import EveryLesson, LivePage

import helpers
from helpers.exercises import PUZZLES
from helpers.summation import explorers

LESSON = "04_bias_gradient.ipynb"  # what the fixture `opened` opens
pytestmark = pytest.mark.usefixtures("no_trouble")


class TestLesson(EveryLesson):
    pass


def test_the_orders_of_a_race_are_drawn(lesson: LivePage) -> None:
    shown, same = lesson.explorer("sum_explorers.race("), explorers.race()
    for order in (1, 4, 5):
        shown.type("order", order)
        same.set(order=order)
        shown.shows(same)


def test_a_tree_of_six_loses_a_sum(lesson: LivePage) -> None:
    six, words = helpers.load("sum", "2_tree").with_constants(THREADS=6), ("Barrier", "partial[")
    shown = lesson.explorer("sum_explorers.steps(six")
    same = explorers.steps(six, np.arange(1, 7, dtype=np.float32), only=words)
    for step in (2, 5):
        shown.type("step", step)
        same.set(step=step)
        shown.shows(same)


def test_an_answer_is_judged(lesson: LivePage) -> None:
    cell = lesson.code_cell('predict("tree_of_6"')
    lesson.retype(cell, 'helpers.predict("tree_of_6", 21)')
    expect(cell).to_contain_text("half is 3 in the first step")
    lesson.retype(cell, 'helpers.predict("tree_of_6", 12)')
    expect(cell).to_contain_text("right")


@pytest.mark.parametrize(("puzzle", "tests"), [("conv2d_grad_bias", 5), ("tree_sum", 4)])
def test_the_exercises_can_be_solved(lesson: LivePage, puzzle: str, tests: int) -> None:
    cell = lesson.code_cell(f'grade("{puzzle}", my_kernel)')
    expect(cell).to_contain_text(f"0 of {tests} tests pass")
    source = json.dumps(PUZZLES[puzzle].solution.text)
    lesson.retype(cell, f'my_kernel = {source}\nhelpers.grade("{puzzle}", my_kernel)')
    expect(cell).to_contain_text(f"{tests} of {tests} tests pass")
