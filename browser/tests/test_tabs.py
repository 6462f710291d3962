"""The lines above a lesson: on a browser that lacks something, and on other tabs."""

from playwright.sync_api import Page, expect

from browser.tests.pages import ELSEWHERE, LINES, SAVED, open_lesson, start_lesson, without_python


def test_the_page_says_what_the_browser_lacks(page: Page, address: str):
    page.goto("/notebooks/index.html")
    page.wait_for_function("() => window.jupyterapp")
    assert page.locator(LINES).all_inner_texts() == []
    page.goto(f"{address.replace('127.0.0.1', ELSEWHERE)}/notebooks/index.html")
    assert (
        "is kept only until you close it, but the last cell of each lesson downloads it"
        in page.locator(LINES).inner_text()
    )
    page.add_init_script("delete WebAssembly.Suspending")
    page.goto("/notebooks/index.html")
    assert "Chrome or Edge 137, Firefox 153 (on Linux" in page.locator(LINES).inner_text()
    page.keyboard.press("Tab")
    while page.evaluate("() => document.activeElement.textContent") != "Close":
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.locator(LINES).count() == 0


def test_a_second_tab_is_warned_and_overwrites_nothing_in_silence(page: Page):
    start_lesson(page)
    second = page.context.new_page()
    start_lesson(second)
    assert "open in another tab" in second.locator(LINES).inner_text()
    assert page.locator(LINES).count() == 0
    second.evaluate(SAVED, "# second")
    second.wait_for_function("() => !jupyterapp.shell.currentWidget.context.model.dirty")
    page.evaluate(SAVED, "# first")
    assert "has changed on disk" in page.get_by_role("dialog").inner_text()
    page.close()
    second.locator(LINES).wait_for(state="detached")


def test_a_third_lesson_says_what_memory_each_takes(page: Page):
    without_python(page)
    tabs = [page, page.context.new_page(), page.context.new_page()]
    for tab in tabs:
        open_lesson(tab)
        tab.wait_for_timeout(2000)  # it asks for the others after one
    memory = "This is the 3rd open lesson. Each keeps a Python of its own"
    tabs[2].locator(LINES, has_text=memory).wait_for()
    expect(tabs[1].locator(LINES)).to_have_count(1)
    tabs[0].close()
    tabs[2].locator(LINES, has_text=memory).wait_for(state="detached")
