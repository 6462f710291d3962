"""Before Python is there: a run is kept, a cell is saved with what it had, and a page that is only read loads none."""

import pytest
from playwright.sync_api import Page, expect

from browser import paths
from browser.tests.pages import LINES, LONGEST, SAVE, SAVED_CELL, WEIGHTS, cell_of, open_lesson, without_python
from browser.tests.server import Quiet

CELL = "explorers.weight_gradient()"
STAY = "source", "outputs", "execution_count"
PRESS = """async i => {  // Shift+Enter as soon as the cell is shown
  while (!document.querySelector('.jp-CodeCell .jp-OutputArea img')) await new Promise(requestAnimationFrame);
  const {content, sessionContext} = jupyterapp.shell.currentWidget;
  content.activeCellIndex = i;
  const session = Boolean(sessionContext.session);
  jupyterapp.commands.execute('notebook:run-cell');
  return session;
}"""


def place_of(page: Page) -> int:
    """Open lesson 02; the place of its first picture's cell."""
    open_lesson(page, WEIGHTS)
    return cell_of(WEIGHTS, CELL)


def test_a_cell_that_is_run_before_the_session_is_run_when_it_is_there(page: Page):
    assert page.evaluate(PRESS, place_of(page)) is False
    page.locator(LINES, has_text="Python is loading").wait_for(timeout=20_000)
    expect(page.locator(".jp-CodeCell .jp-OutputArea :is(img, svg)").first).to_be_attached()
    page.locator(".jp-CodeCell .convgrad-touch-frame:not(.convgrad-recorded *)").first.wait_for(timeout=LONGEST * 1000)


@pytest.mark.parametrize("session", ["no session", "a session"])
def test_a_cell_is_saved_with_what_it_had_until_its_run_is_finished(session: str, page: Page):
    without_python(page)
    i = place_of(page)
    before = page.evaluate(SAVED_CELL, i)
    assert before["outputs"]
    if session == "a session":
        page.locator(".jp-CodeCell .cm-content").first.click()
        page.wait_for_function("() => jupyterapp.shell.currentWidget.sessionContext.session?.kernel")
    page.evaluate(PRESS, i)
    page.wait_for_timeout(1000)
    page.evaluate(SAVE)
    after = page.evaluate(SAVED_CELL, i)
    assert [after[part] for part in STAY] == [before[part] for part in STAY]
    page.reload()
    page.locator(".jp-CodeCell .jp-OutputArea img").first.wait_for(state="attached", timeout=20_000)


def test_a_page_that_is_only_read_has_words_at_once_and_never_loads_python(page: Page):
    Quiet.sent.clear()
    page.route("**/config-utils.js*", lambda route: route.abort())
    page.goto(f"/notebooks/index.html?path=notebooks/{WEIGHTS}")
    expect(page.get_by_text("The lesson is loading.")).to_be_visible()
    page.unroute_all()
    open_lesson(page, WEIGHTS)
    page.locator(".convgrad-recorded").first.wait_for()
    page.locator(".jp-MarkdownCell p").first.click()
    page.keyboard.press("PageDown")
    page.wait_for_timeout(3000)
    assert not [path for path in Quiet.sent if "pyodide" in path.relative_to(paths.SITE).parts]
    page.locator(".jp-CodeCell .cm-content").first.click()
    page.wait_for_function("() => jupyterapp.shell.currentWidget.sessionContext.session?.kernel")
