"""Lesson 05 in a browser: what any lesson is asked, its sliders, a prediction and its faults."""

import pytest
from playwright.sync_api import expect
from support.browser import EveryLesson, LivePage

from helpers.oracles import explorers

LESSON = "05_trusting_a_gradient.ipynb"  # what the fixture `opened` opens
pytestmark = pytest.mark.usefixtures("no_trouble")


class TestLesson(EveryLesson):
    pass


def test_a_mistake_that_the_data_hide_is_named(lesson: LivePage) -> None:
    shown, same = lesson.explorer("explorers.adjoint("), explorers.adjoint()
    for values in ({"kernel": 1}, {"data": 1}):
        for name, value in values.items():
            shown.type(name, value)
        same.set(**values)
        shown.shows(same)


def test_an_answer_is_judged(lesson: LivePage) -> None:
    cell = lesson.code_cell('predict("wrong_with_ones"')
    lesson.retype(cell, 'helpers.predict("wrong_with_ones", 18)')
    expect(cell).to_contain_text("what does the kernel read")
    lesson.retype(cell, 'helpers.predict("wrong_with_ones", 0)')
    expect(cell).to_contain_text("right")


def test_a_fault_can_be_found_and_corrected(lesson: LivePage) -> None:
    name = "fault_in_the_weight_gradient"
    cell = lesson.code_cell(f'find_fault("{name}"')
    expect(cell).to_contain_text("not attempted")
    lesson.retype(cell, f'helpers.find_fault("{name}", 66)')
    expect(cell).to_contain_text("the fault is")
