"""Each lesson in the site: it says what is stored, and ends with a download."""

from itertools import chain
from pathlib import Path

import pytest
from playwright.sync_api import Page

from browser.tests.pages import NOTEBOOKS, WEIGHTS, differences, served_cells, start_lesson, words_of


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_lesson_says_what_is_stored(path: Path, page: Page):
    start_lesson(page, path.name)
    assert not differences(page, path)


OUTPUTS = """() => jupyterapp.shell.currentWidget.content.model.sharedModel.toJSON().cells.map(
  cell => cell.outputs || [])"""


def test_run_all_ends_in_a_sentence(page: Page):
    start_lesson(page, "appendix_c_launcher.ipynb")
    page.locator("#jp-MainMenu").get_by_text("Run", exact=True).click()
    page.locator(".lm-Menu").get_by_text("Run All Cells", exact=True).click()
    page.wait_for_function(f"() => ({OUTPUTS})().at(-1).length")
    outputs = page.evaluate(OUTPUTS)
    assert words_of(outputs[-1]) == ["There is nothing to hand in yet: grade a kernel or answer a question first."]
    for output in chain(*outputs):
        assert output["output_type"] != "error"
        assert "stderr" not in str(output)


def test_each_lesson_ends_with_the_download(address: str):
    for path in NOTEBOOKS:
        cells = served_cells(path.name)
        coded = any(cell["cell_type"] == "code" for cell in cells)
        assert ("helpers.hand_in" in cells[-1]["source"]) == coded, path
        assert all(isinstance(cell["source"], str) for cell in cells), "JupyterLab's table of contents needs one text"


def test_reading_changes_nothing_and_asks_nothing_on_leaving(page: Page):
    start_lesson(page, WEIGHTS)
    page.wait_for_function("() => jupyterapp.shell.currentWidget.sessionContext.kernelDisplayStatus === 'idle'")
    assert not page.evaluate("() => jupyterapp.shell.currentWidget.context.model.dirty")
