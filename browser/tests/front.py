"""The front page in a browser: open it, run a text in its exercise, and read its sentence."""

from playwright.sync_api import Locator, Page

from helpers.lessons.exercises import PUZZLES

PUZZLE = PUZZLES["weight_window"]
RIGHT = PUZZLE.solution.text


def opened(page: Page, place: str = "/") -> Page:
    """Open the front page, or a place of it, and wait until its picture answers."""
    page.goto(place)
    page.wait_for_function("() => window.convgradFront")
    return page


def run(page: Page, text: str) -> Locator:
    """Run a text as a learner does; what is said."""
    area = page.locator("#exercise textarea")
    area.fill(text)
    area.press("Control+Enter")
    page.wait_for_function(
        "() => !document.querySelector('#exercise .convgrad-changed, #exercise .convgrad-run:disabled')"
        " && document.querySelector('#exercise .convgrad-headline')"
    )
    return page.locator("#exercise .convgrad-said")


def sentence(page: Page) -> Locator:
    """The sentence below the picture."""
    return page.locator("#picture .convgrad-sentence")
