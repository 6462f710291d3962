"""Lesson 02 a day later: each part shows what is stored until it runs, and runs before any other cell."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect
from support import browser
from support.browser import LivePage
from support.notebook_gate import NOTEBOOKS
from support.sample import at_night

from helpers.widgets import WAKE

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
    path = NOTEBOOKS / "02_weight_gradient.ipynb"
    file = lab.my.parent / "project" / "notebooks" / path.name
    stored = file.read_bytes()
    run_and_save(lab.lesson(path, new=True))
    saved = file.read_bytes()
    assert saved != stored
    assert b"widget-view" not in saved
    lab.page.evaluate(browser.CLOSE)
    lesson = LivePage(lab.page, path)
    shows_what_is_stored(lesson)
    alone = lesson.run(lesson.code_cell('helpers.write("strided_grad_weight")'))  # before any other cell
    expect(alone.locator(".convgrad-text")).to_be_visible()
    lesson.explorer(FIRST)
    assert lesson.troubles == []


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
        expect(lesson.code_cell(words).locator(".jp-OutputArea")).to_contain_text(WAKE)
    expect(lesson.page.get_by_text(re.compile("(Error displaying|Loading) widget"))).to_have_count(0)
