"""The way in: addresses, links, a dark page, an icon, and texts that are kept on the way."""

import json
import re
from pathlib import Path

import pytest
from playwright.sync_api import Locator, Page, expect

from browser import paths
from browser.tests.pages import (
    CELLS,
    LESSON,
    NOTEBOOKS,
    PATH,
    WEIGHTS,
    cell_of,
    expect_shown,
    open_lesson,
    run_code,
    start_lesson,
    without_python,
)
from helpers.set_up.jupyterlab import FIRST


def test_a_lesson_is_a_page_that_a_reload_keeps_and_links_lead_on_in_it(page: Page):
    without_python(page)
    for old in "lab/index.html", f"lab/index.html?path=notebooks/{WEIGHTS}", f"?path=notebooks/{WEIGHTS}":
        page.goto(f"/{old}")
        expect_shown(page, WEIGHTS if "path" in old else FIRST)
    page.reload()
    expect_shown(page, WEIGHTS)
    page.get_by_role("link", name="WGSL on one screen").first.click()
    expect_shown(page, LESSON)
    expect(page.get_by_role("heading", name="WGSL on one screen")).to_be_in_viewport()
    page.get_by_role("link", name="convgrad: the map").click()
    expect_shown(page, FIRST)
    page.go_back()
    expect_shown(page, LESSON)


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_the_page_is_dark_where_the_readers_system_is(theme: str, page: Page):
    without_python(page)
    page.emulate_media(color_scheme=theme)
    open_lesson(page, WEIGHTS)
    expect(page.locator("body")).to_have_attribute("data-jp-theme-light", str(theme == "light").lower())
    expect(page.locator(".jp-CodeCell .jp-OutputArea :is(.convgrad-recorded, img)").first).to_be_attached()
    expect(page.locator(".convgrad-recorded .convgrad-layer").first).to_be_visible()


def scrolled_to(page: Page, words: str) -> Locator:
    """The link with these words, after scrolling cell by cell to its cell.

    JupyterLab draws what is near; in idle time, it draws each other cell for one frame, to measure it. That a link is
    there does not say that it stays.
    """
    link = page.get_by_role("link", name=words)
    for i in range(next(i for i, cell in enumerate(page.evaluate(CELLS)) if words in cell) + 1):
        page.evaluate("i => jupyterapp.shell.currentWidget.content.scrollToItem(i)", i)
    expect(link).to_be_in_viewport()
    return link


LINK = re.compile(r"\]\(([^)#\s]+)")


def links_of(path: Path) -> list[str]:
    """The addresses to which the texts of a notebook link."""
    cells = json.loads(path.read_bytes())["cells"]
    texts = ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "markdown"]
    return LINK.findall("\n".join(texts))


def test_no_link_is_dead_and_a_file_of_the_project_is_a_page_of_text(page: Page):
    for path in NOTEBOOKS:
        for link in links_of(path):
            target = f"text/{link[3:]}.html" if link.startswith("../") else f"files/notebooks/{link}"
            assert link.startswith("http") or (paths.SITE / target).is_file(), (path.name, link)
    without_python(page)
    open_lesson(page, "05_trusting_a_gradient.ipynb")
    link = scrolled_to(page, "a report on its mutants")
    with page.expect_popup() as shown:
        link.click()
    expect(shown.value.locator("pre")).to_contain_text("| kernel | mutants |")
    assert not [*(paths.SITE / "files").rglob("*.md")], "a teacher's page has answers"
    assert (paths.SITE / "text" / "notebooks" / "teaching" / f"{NOTEBOOKS[0].stem}.md.html").is_file()


STORED = "async path => (await jupyterapp.serviceManager.contents.get(path, {content: true})).content"

KEPT_TEXT = f"async i => (await ({STORED})('notebooks/' + ({PATH})())).cells[i].source"


def test_what_was_typed_is_saved_on_the_way_to_another_lesson_and_within_seconds(page: Page):
    without_python(page)
    open_lesson(page)
    first = page.locator(".jp-CodeCell .cm-content").first
    first.fill("# mine")
    page.get_by_role("link", name="glossary").first.click()
    expect_shown(page, "glossary.ipynb")
    page.go_back()
    expect_shown(page, LESSON)
    expect(first).to_have_text("# mine")
    first.fill("# saved")
    page.wait_for_function(
        f"async i => await ({KEPT_TEXT})(i) === '# saved'", arg=cell_of(LESSON, ""), timeout=60_000
    )  # JupyterLab's own interval is 120 seconds


def test_a_lesson_has_an_icon_while_python_works_and_after(page: Page):
    start_lesson(page)
    run_code(page, "1")
    for link in page.locator("link[rel*='icon']").all():
        assert page.request.get(link.evaluate("link => link.href")).ok
    page.goto("/text/README.md.html")
    assert page.request.get(page.locator("link[rel='icon']").evaluate("link => link.href")).ok
