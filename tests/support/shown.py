"""An explorer as the browser shows it: its parts by their names, and how soon they follow a pointer and keys.

Everything waits for what it needs to see, never for a fixed time.
"""

import time
from collections.abc import Callable

from playwright.sync_api import Locator, Page, expect

from helpers.widgets.explorer import Explorer

SECONDS = 30  # how long anything may take to show, on a machine that is busy with other tests

# Started before a key is pressed: the milliseconds from that key until the frame that shows a new picture.
STEP = """(image, longest) => {
  window.step = new Promise((done, failed) => {
    let pressed;
    setTimeout(() => failed(Error(`no new picture in ${longest} ms`)), longest);
    const observer = new MutationObserver(() => {
      observer.disconnect();
      requestAnimationFrame(() => done(performance.now() - pressed));
    });
    addEventListener('keydown', () => {
      pressed = performance.now();
      observer.observe(image, {childList: true, subtree: true});
    }, {once: true, capture: true});
  });
  return true;
}"""
MARKS = """(image, svg) => {  // the marks of the picture that is shown, or of `svg` as a browser would write it
  const picture = svg ? Object.assign(document.createElement('div'), {innerHTML: svg}) : image;
  return [...picture.querySelectorAll('svg > *')].map(mark => mark.outerHTML).join();
}"""
BOXES = "boxes => boxes.map(box => [...[box.value, box.min, box.max].map(Number), box.disabled])"
NUMBERS = "controls => controls.map(control => Number(control.value ?? control.ariaValueText))"


def soon(page: Page, what: str, read: Callable[[], object], wanted: object, seconds: float = SECONDS) -> None:
    """Assert that what is read is soon what is wanted."""
    end = time.monotonic() + seconds
    got = read()
    while got != wanted and time.monotonic() < end:
        page.wait_for_timeout(20)
        got = read()
    assert got == wanted, f"{what}: {got!s:.200} instead of {wanted!s:.200}"


def touched(part: Locator, to: Locator | None = None) -> None:
    """Put a finger on a part and lift it, there or on another part: it is tall, and the page must not scroll instead.

    A new theme comes behind a curtain, which lies over the page for a moment longer and takes what touches it. (Who
    touches a text, and then selects all of it by keys, gets the browser's menu.)
    """
    part.click(trial=True)  # waits until the part is still, and uncovered
    session = part.page.context.new_cdp_session(part.page)
    x, y = middle(part)
    to_x, to_y = middle(to or part)
    for i in range(9 if to else 1):
        place = {"x": x + (to_x - x) * i / 8, "y": y + (to_y - y) * i / 8}
        session.send("Input.dispatchTouchEvent", {"type": "touchMove" if i else "touchStart", "touchPoints": [place]})
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    session.detach()


def middle(part: Locator) -> tuple[float, float]:
    """The middle of a part of the page."""
    box = part.bounding_box()
    return box["x"] + box["width"] / 2, box["y"] + box["height"] / 2


class Shown:
    """An explorer as the browser shows it."""

    def __init__(self, page: Page, cell: Locator) -> None:
        self.page, self.cell = page, cell
        self.output = cell.locator(".jp-Cell-outputArea")
        self.image, self.words = cell.locator(".convgrad-picture"), cell.get_by_role("status")
        self.controls = cell.locator(".convgrad-control")
        self.boxes, self.handles = self.controls.get_by_role("spinbutton"), self.controls.get_by_role("slider")

    def fold(self, name: str) -> Locator:
        """The button that opens something in place: "more settings" or "numbers"."""
        return self.cell.get_by_role("button", name=name, exact=True)

    def ready(self) -> "Shown":
        """Wait until all is there: the picture with its cells to point at, and the names of the sliders."""
        expect(self.image.locator(".convgrad-touch")).to_have_count(1)
        expect(self.cell.locator("[role=slider]:not([aria-label])")).to_have_count(0)
        return self

    def unfold(self) -> "Shown":
        """Open what is behind "more settings", if anything is: all controls are then seen."""
        if self.fold("more settings").count():
            self.fold("more settings").click()
            expect(self.fold("more settings")).to_have_attribute("aria-expanded", "true")
        expect(self.boxes).to_have_count(self.controls.count())
        return self

    @property
    def steps(self) -> Locator:
        """The list of things to try."""
        return self.cell.get_by_role("list").get_by_role("listitem")

    def box(self, name: str) -> Locator:
        return self.cell.get_by_role("spinbutton", name=name, exact=True)

    def handle(self, name: str) -> Locator:
        """The slider of that name, as a screen reader finds it."""
        return self.cell.get_by_role("slider", name=name, exact=True)

    def cell_of(self, tensor: str, row: int, column: int) -> Locator:
        """A cell of a tensor's grid in the picture, as a screen reader finds it."""
        return self.cell.get_by_role("gridcell", name=f"{tensor}, row {row}, column {column}", exact=True)

    @property
    def names(self) -> list[str]:
        """The labels of the number boxes that are seen; "" for a box without one."""
        return self.boxes.evaluate_all("boxes => boxes.map(box => box.labels[0]?.innerText ?? '')")

    @property
    def values(self) -> dict[str, int]:
        return dict(zip(self.names, self.boxes.evaluate_all(NUMBERS), strict=True))

    def type(self, name: str, value: int) -> None:
        self.box(name).fill(str(value))
        self.box(name).press("Enter")

    def drawn(self) -> str:
        """The marks of the picture."""
        return self.image.evaluate(MARKS)

    def shows(self, same: Explorer, seconds: float = SECONDS) -> None:
        """Assert that words, number boxes, sliders and picture soon are those of an explorer in this process.

        The picture, which Python sends first, may take this many seconds more.
        """
        boxes = [same._controls[name][0] for name in self.names]
        numbers = [[box.value, box.min, box.max, box.disabled] for box in boxes]
        soon(self.page, "words", self.words.inner_text, same.sentence)
        soon(self.page, "number boxes", lambda: self.boxes.evaluate_all(BOXES), numbers)
        soon(self.page, "sliders", lambda: self.handles.evaluate_all(NUMBERS), [box.value for box in boxes])
        picture = self.image.evaluate(MARKS, "".join(same.picture.svg()))
        soon(self.page, "the picture", self.drawn, picture, seconds)

    def look(self, tensor: str, row: int, column: int) -> float:
        """Point at another cell; milliseconds until the frame that shows the new picture."""
        self.image.evaluate(STEP.replace("keydown", "pointerover"), 1000 * SECONDS)
        self.cell_of(tensor, row, column).hover()
        return self.page.evaluate("window.step")

    def step(self, key: str) -> float:
        """Press a key that moves the focused slider; milliseconds until the frame that shows the new picture."""
        self.image.evaluate(STEP, 1000 * SECONDS)
        self.page.keyboard.press(key)
        return self.page.evaluate("window.step")
