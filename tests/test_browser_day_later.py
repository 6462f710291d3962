"""Lesson 02 a day later: each part shows what is stored until it runs, and runs before any other cell."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Locator, expect
from support import browser
from support.browser import LivePage
from support.notebook_gate import NOTEBOOKS
from support.sample import at_night
from support.shown import soon

from helpers.lessons.exercises import PUZZLES
from helpers.widgets import ALONE, WAKE, stands_alone

LESSON = NOTEBOOKS / "02_weight_gradient.ipynb"
DIRTY = "jupyterapp.shell.currentWidget.context.model.dirty"
WRITE = 'helpers.write("strided_grad_weight")'
FIRST, BIG = "explorers.weight_gradient(", "explorers.any_weight_gradient()"
SAVE = "async () => { await jupyterapp.shell.currentWidget.context.save() }"


@pytest.fixture
def lab(tmp_path: Path) -> Iterator[browser.Lab]:
    """A JupyterLab and a browser of its own, whose copy of the lesson is written."""
    with browser.lab(tmp_path) as running:
        yield running


@at_night
def test_a_day_later_each_part_shows_what_is_stored_until_it_runs(lab):
    """Saved, closed with its kernel, and opened again."""
    file = lab.my.parent / "project" / "notebooks" / LESSON.name
    stored = file.read_bytes()
    run_and_save(lab.lesson(LESSON, new=True))
    saved = file.read_bytes()
    assert saved != stored
    assert b"widget-view" not in saved
    lab.page.evaluate(browser.CLOSE)
    lesson = LivePage(lab.page, LESSON)
    shows_what_is_stored(lesson)
    alone = lesson.run(lesson.code_cell('helpers.write("strided_grad_weight")'))  # before any other cell
    expect(alone.locator(".convgrad-text")).to_be_visible()
    lesson.explorer(FIRST)
    assert lesson.troubles == []


@at_night
def test_ctrl_s_in_an_editor_saves_both_files_and_a_day_later_text_and_verdict_are_seen_at_once(lab):
    """Seen in the saved notebook, before anything runs, and beside the text when its cell has run."""
    puzzle = PUZZLES["strided_grad_weight"]
    written = f"{puzzle.solution.text}// mine, & <yours>"
    here = lab.lesson(LESSON, new=True).run(lab.open.code_cell(WRITE))
    assert lab.page.evaluate(DIRTY)
    save_text(lab, here, written)
    here = a_day_later(lab, "yours: not tried yet", written)
    expect(here.locator(".convgrad-headline")).to_have_count(0)
    here.locator(".convgrad-text").press("Control+Enter")
    expect(here.locator(".convgrad-headline")).to_have_text("right (all tests)")
    save_text(lab, here, written)
    judged = f"yours: right, {len(puzzle.tests)} of {len(puzzle.tests)} tests"
    here = a_day_later(lab, judged, written)
    expect(here.locator(".convgrad-headline")).to_have_text(judged)
    expect(here.get_by_role("button", name="Compare with ours")).to_be_visible()


def save_text(lab: browser.Lab, here: Locator, written: str) -> None:
    """Write a text, and press Ctrl+S in it."""
    area = here.locator(".convgrad-text")
    if area.input_value() != written:
        area.fill(written)
    area.press("Control+s")
    soon(lab.page, "the notebook is saved", lambda: lab.page.evaluate(DIRTY), False)
    file = lab.my / "strided_grad_weight.wgsl"
    soon(lab.page, "the learner's file", lambda: file.exists() and file.read_text(), written)


def a_day_later(lab: browser.Lab, judged: str, written: str) -> Locator:
    """Close and open the lesson, require text and verdict before anything runs, and run the editor's cell."""
    assert lab.open.troubles == []
    lab.page.evaluate(browser.CLOSE)
    lab.open = LivePage(lab.page, LESSON)
    here = lab.open.code_cell(WRITE)
    stored = here.locator(".jp-OutputArea")
    expect(stored).to_contain_text(judged)
    stored.get_by_text("What you wrote").click()
    expect(stored.get_by_text("// mine, & <yours>")).to_be_visible()
    lab.open.run(here)
    expect(here.locator(".convgrad-text")).to_have_value(written)
    return here


def run_and_save(lesson: LivePage) -> None:
    """Run a cell with each kind of widget, and save the lesson."""
    parts = (FIRST, "helpers.ask(", "helpers.mark(", "helpers.write(")
    lesson.page.evaluate(browser.RUN, [lesson.source(words).number - 1 for words in parts])
    lesson._hear(len(parts))
    for words in parts:
        expect(lesson.code_cell(words).locator("[class*=convgrad-]").first).to_be_visible()
    lesson.page.evaluate(SAVE)


def shows_what_is_stored(lesson: LivePage) -> None:
    """Require a picture or words in the place of each widget that does not run."""
    expect(lesson.code_cells.locator("[class*=convgrad-]")).to_have_count(0)
    for words in (FIRST, "helpers.mark(", BIG):
        expect(lesson.code_cell(words).locator("img")).to_have_count(1)
    for words in ("helpers.ask(", "helpers.write("):  # in a picture, as of `mark`, it is drawn
        asked = ALONE if stands_alone(lesson.source(words).source) else WAKE
        expect(lesson.code_cell(words).locator(".jp-OutputArea")).to_contain_text(asked)
    expect(lesson.page.get_by_text(re.compile("(Error displaying|Loading) widget"))).to_have_count(0)
