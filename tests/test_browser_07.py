"""Lesson 07 in a browser: what any lesson is asked, every slider of its explorers, its exercise and a prediction."""

import json

import pytest
from playwright.sync_api import Locator, expect
from support.browser import EveryLesson, LivePage
from support.notebook_gate import NOTEBOOKS, Lesson

from helpers.exercises import PUZZLES
from helpers.grading.mistakes import Mistake
from helpers.speed import explorers, recorded

LESSON = "07_the_speed_ladder.ipynb"  # what the fixture `opened` opens
GRADE = 'helpers.grade("register_tile", my_kernel)'
PUZZLE = PUZZLES["register_tile"]
pytestmark = pytest.mark.usefixtures("no_trouble")


class TestLesson(EveryLesson):
    pass


MOVES = {  # numbers that are typed one after the other; a slider whose limits change comes after the one that does it
    "who_loads": [("step", 2), ("thread", 255), ("step", 4), ("thread", 9)],
    "tile_sizes": [("rows", 6), ("columns", 6), ("side", 3), ("columns", 7), ("rows", 7), ("depth", 5)],
    "split_k": [("slices", 15), ("workgroup", 134), ("slices", 2)],
    "residue_classes": [("ih", 7), ("iw", 6)],
    "winograd": [("row", 0), ("column", 5)],
    "roofline": [("step", 9), ("step", 2)],
}


@pytest.mark.parametrize("name", MOVES)
def test_every_slider_changes_its_picture(lesson: LivePage, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Picture, sentence, boxes and handles are those of an explorer in this process; `no_trouble` sees an error."""
    monkeypatch.setattr(recorded, "own", lambda: None)  # the copy of the project has no results of `bench`
    shown, same = lesson.explorer(f"explorers.{name}("), getattr(explorers, name)()
    assert {slider for slider, _ in MOVES[name]} == {*same.values}
    for slider, value in MOVES[name]:
        before = shown.drawn()
        shown.type(slider, value)
        same.set(**{slider: value})
        shown.shows(same)
        assert shown.drawn() != before, (slider, value)


def exercise(lesson: LivePage) -> Locator:
    """Its cell, by its place in the file: of a long text, the editor holds only the lines in sight."""
    cells = Lesson.read(NOTEBOOKS / LESSON).code
    return lesson.code_cells.nth(next(i for i, cell in enumerate(cells) if GRADE in cell.source))


def hand_in(lesson: LivePage, source: str) -> Locator:
    cell = exercise(lesson)
    lesson.retype(cell, f"my_kernel = {json.dumps(source)}\n{GRADE}")
    return cell


def test_the_skeleton_is_no_attempt(lesson: LivePage) -> None:
    expect(exercise(lesson)).to_contain_text("0 of 4 tests pass")
    expect(exercise(lesson).get_by_text("not attempted").first).to_be_visible()


def test_the_official_kernel_passes_every_test(lesson: LivePage) -> None:
    expect(hand_in(lesson, PUZZLE.solution.text)).to_contain_text("4 of 4 tests pass")


@pytest.mark.parametrize("mistake", [PUZZLE.mistakes[0], PUZZLE.mistakes[2]], ids=["wasteful", "wrong numbers"])
def test_a_mistake_fails_every_test_and_is_named(lesson: LivePage, mistake: Mistake) -> None:
    cell = hand_in(lesson, PUZZLE.with_mistake(mistake).source)
    expect(cell).to_contain_text("0 of 4 tests pass")
    expect(cell).to_contain_text(mistake.question)


def test_predictions_are_judged(lesson: LivePage) -> None:
    for answer, said in (("0.5", "how many products does it make of them"), ("1 / 4", "right")):
        cell = lesson.code_cell('predict("reads_of_8_by_8"')
        lesson.retype(cell, f'helpers.predict("reads_of_8_by_8", {answer})')
        expect(cell).to_contain_text(said)
