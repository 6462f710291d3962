"""A second visit, after the lesson was corrected."""

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
    SAVE,
    SAVED,
    SERVED,
    cell_of,
    open_lesson,
    served_cells,
    without_python,
)

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
