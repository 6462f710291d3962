"""Lesson 00 in a browser: what any lesson is asked, its explorers, a question, and a puzzle solved by hand."""

import pytest
from playwright.sync_api import expect
from support.browser import EveryLesson, LivePage

from helpers.exercises import PUZZLES
from helpers.threads import explorers
from helpers.threads.exercises import QUESTIONS

LESSON = "00_meet_the_gpu.ipynb"  # what the fixture `opened` opens
pytestmark = pytest.mark.usefixtures("no_trouble")
CARD = "WGSL on one screen"


class TestLesson(EveryLesson):
    pass


def test_fewer_workgroups_take_the_thread_along(lesson: LivePage) -> None:
    shown, same = lesson.explorer("explorers.dispatch()"), explorers.dispatch()
    shown.handle("thread").press("ArrowRight")
    same.set(thread=10)
    shown.shows(same)
    for name, value in (("length", 10), ("groups", 2), ("size", 3)):
        shown.type(name, value)
        same.set(**{name: value})
        shown.shows(same)


def test_a_thread_moves_through_two_dimensions(lesson: LivePage) -> None:
    shown, same = lesson.explorer("explorers.dispatch_2d()"), explorers.dispatch_2d()
    for name, value in (("y", 5), ("x", 7), ("y", 4), ("size_x", 2), ("cols", 8), ("rows", 1)):
        shown.type(name, value)
        same.set(**{name: value})
        shown.shows(same)


def test_each_thread_of_a_kernel_without_its_barrier_collides(lesson: LivePage) -> None:
    shown = lesson.explorer("explorers.steps(without")
    for thread in range(4):
        shown.type("thread", thread)
        expect(shown.words).to_contain_text(f"Data race: thread {thread} reads box[{3 - thread}], which thread")


def test_a_question_is_answered_and_a_puzzle_solved(lesson: LivePage) -> None:
    cell = lesson.code_cell('helpers.predict("idle_threads"')
    lesson.retype(cell, 'helpers.predict("idle_threads", 40)')
    expect(cell).to_contain_text(QUESTIONS["idle_threads"].mistakes[40])
    cell = lesson.code_cell('helpers.grade("map"')
    lesson.retype(cell, f'my_map = """\n{PUZZLES["map"].solution.text}\n"""\nhelpers.grade("map", my_map)')
    expect(cell).to_contain_text("2 of 2 tests pass")


def test_the_card_fits_one_screen_below_its_heading(lesson: LivePage) -> None:
    card = lesson.cells.filter(has=lesson.page.get_by_role("heading", name=CARD))
    expect(card).to_have_count(1)
    window = lesson.page.locator(".jp-WindowedPanel-outer").bounding_box()
    assert card.bounding_box()["height"] <= window["height"]
    for part in card.locator("table, pre").all():
        assert part.evaluate("part => part.scrollWidth <= part.parentElement.clientWidth")
    assert card.locator("pre").evaluate("pre => pre.clientHeight / pre.textContent.trim().split('\\n').length") < 24
