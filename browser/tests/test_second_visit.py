"""A second visit: what was written is shown, and no cell must be run first; and after the lesson was corrected."""

import json
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Page, expect

from browser.notebooks import stamped
from browser.tests.pages import (
    CELLS,
    EDITED,
    LESSON,
    LINES,
    LOADED,
    LONGEST,
    READY,
    SAVE,
    SAVED,
    SAVED_CELL,
    SERVED,
    WEIGHTS,
    cell_of,
    open_lesson,
    run_cell,
    served_cells,
    start_lesson,
    without_python,
)
from browser.tests.server import Quiet

CHOICES = ["My copy", "The corrected lesson, with my texts"]


@pytest.fixture
def correct(page: Page) -> Iterator[Callable[[], None]]:
    """A function that corrects lesson 00 in its first two cells and its first cell with code, and opens it again."""
    path = SERVED / LESSON
    before = path.read_bytes()

    def corrected() -> None:
        notebook = json.loads(path.read_bytes())
        for i in 0, 1, cell_of(LESSON, "adapter_info"):
            cell = notebook["cells"][i]
            cell["source"] += "\n# corrected"
            cell["id"] = f"corrected-{i}"  # ids are made of texts
        path.write_bytes(stamped(notebook))
        open_lesson(page)

    yield corrected
    path.write_bytes(before)


def test_who_edited_nothing_gets_a_corrected_lesson_in_silence(page: Page, correct: Callable):
    without_python(page)
    open_lesson(page)
    page.evaluate(SAVE)  # as where a cell was run
    open_lesson(page)
    correct()
    assert [text.endswith("# corrected") for text in page.evaluate(CELLS)[:3]] == [True, True, False]
    expect(page.locator(LINES)).to_have_count(0)


@pytest.mark.parametrize("choice", CHOICES)
def test_who_edited_a_lesson_is_asked_once_and_keeps_their_texts(choice: str, page: Page, correct: Callable):
    without_python(page)
    open_lesson(page)
    count = len(page.evaluate(CELLS))
    page.evaluate(EDITED, [1, "# mine"])
    page.evaluate(EDITED, [cell_of(LESSON, "adapter_info"), "# mine, too"])
    page.evaluate(SAVED, "# a cell of mine")
    page.wait_for_function("() => !jupyterapp.shell.currentWidget.context.model.dirty")
    correct()
    expect(page.locator(LINES)).to_contain_text("This lesson was corrected after you changed it.")
    page.get_by_role("button", name=choice).click()
    expect(page.locator(LINES)).to_have_count(0)
    page.wait_for_function("() => !jupyterapp.shell.currentWidget.context.model.dirty")
    for _ in range(2):
        cells = page.evaluate(CELLS)
        new = sum(text.endswith("# corrected") for text in cells)
        assert (new, len(cells) - count) == ((3, 3) if choice == CHOICES[1] else (0, 1))
        assert {"# a cell of mine", "# mine", "# mine, too"} < {*cells}
        open_lesson(page)
        expect(page.locator(LINES)).to_have_count(0)


DELETED = "i => jupyterapp.shell.currentWidget.content.model.sharedModel.deleteCell(i)"


@pytest.mark.parametrize("edits", [[[4, "mine"], [1, "mine, too"]], []])
def test_where_the_lesson_was_corrected_elsewhere_a_text_stays_in_its_place_and_a_deleted_cell_stays_away(
    edits: list, page: Page, correct: Callable
):
    without_python(page)
    open_lesson(page)
    for edit in edits:
        page.evaluate(EDITED, edit)
    page.evaluate(DELETED, 6)
    page.evaluate(SAVE)
    correct()
    page.get_by_role("button", name=CHOICES[1]).click()
    page.wait_for_function(f"() => ({CELLS})()[0].endsWith('# corrected')")
    right = [cell["source"] for cell in served_cells(LESSON)]
    del right[6]
    if edits:
        right[4] = "mine"
        right.insert(2, "mine, too")  # it stands below the corrected cell
    assert page.evaluate(CELLS) == right


EDITOR = 'helpers.write("weight_window")'


def test_the_first_cell_that_is_run_knows_helpers_and_a_saved_editor_shows_what_was_written(page: Page):
    start_lesson(page, WEIGHTS)
    assert run_cell(page, EDITOR)[0].startswith("weight_window: write the kernel here\n")
    page.locator("textarea.convgrad-text").fill("// mine\nfn f() {}")
    page.get_by_role("button", name="Run the tests").click()
    page.locator(".convgrad-headline").wait_for()
    page.wait_for_timeout(1000)
    page.wait_for_function("() => !jupyterapp.shell.currentWidget.context.model.dirty")  # saved by itself
    without_python(page)
    open_lesson(page, WEIGHTS)
    cell = page.evaluate(SAVED_CELL, cell_of(WEIGHTS, EDITOR))
    html = "".join(cell["outputs"][0]["data"]["text/html"])
    assert "// mine\nfn f() {}" in html
    assert "yours: not right yet, 0 of 3 tests" in html
    assert "any editor" not in html


def test_without_a_network_a_lesson_is_opened_again_and_runs(page: Page, monkeypatch: pytest.MonkeyPatch):
    start_lesson(page, WEIGHTS)
    assert "The kernel wrote 15." in run_cell(page, 1)[-1]
    page.reload()  # by now, the page has its worker
    page.wait_for_function(LOADED)
    monkeypatch.setattr(Quiet, "is_away", True)
    page.reload()
    page.wait_for_function(LOADED)
    page.evaluate(READY, LONGEST)
    assert "The kernel wrote 15." in run_cell(page, 1)[-1]
