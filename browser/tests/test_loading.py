"""The start of Python: what is shown meanwhile, how soon it is there, and how much is sent."""

import gzip
import re
import time
from pathlib import Path

from playwright.sync_api import Page, expect

from browser import paths
from browser.packages import PACKED
from browser.tests.pages import (
    LINES,
    LONGEST,
    READY,
    WEIGHTS,
    begin_with,
    open_lesson,
    run_cell,
    run_code,
    start_lesson,
    without_python,
)
from browser.tests.server import Quiet

PROBE = """() => { window.gone = 0; setInterval(() => {
  gone += !document.querySelector('.jp-CodeCell .jp-OutputArea :is(img, svg, canvas)');
}, 20); }"""


def test_the_stored_picture_stays_until_python_has_computed_it_and_a_line_says_how_far_it_is(page: Page):
    open_lesson(page, WEIGHTS)
    page.locator(".jp-CodeCell .jp-OutputArea img").first.wait_for()
    page.evaluate(PROBE)
    page.locator(".jp-CodeCell .cm-content").first.click()
    page.keyboard.press("Shift+Enter")
    for words in (
        "Python is loading",
        re.compile(r"Python is loading: \d+ of \d\d MB are here"),
        "Python runs your cell",
    ):
        page.locator(LINES, has_text=words).wait_for()
    page.locator(".jp-CodeCell .convgrad-touch-frame").first.wait_for()
    expect(page.locator(LINES)).to_have_count(0, timeout=LONGEST * 1000)
    expect(page.locator(".convgrad-kept")).to_have_count(0)
    assert page.evaluate("() => gone") == 0


def test_each_tab_says_how_far_its_own_python_is(page: Page):
    without_python(page)
    open_lesson(page, WEIGHTS)
    page.locator(".jp-CodeCell .cm-content").first.click()
    page.wait_for_function("() => jupyterapp.shell.currentWidget.sessionContext.session?.kernel")
    page.keyboard.press("Shift+Enter")
    page.locator(LINES, has_text="Python is loading.").wait_for()
    page.context.unroute_all()
    second = page.context.new_page()
    start_lesson(second, WEIGHTS)
    run_code(second, "1")
    expect(page.locator(LINES)).to_have_text(re.compile(r"^Python is loading\. "))


STEP = """import time
explorer, begin = explorers.any_weight_gradient(), time.perf_counter()
for i in range(10):
    explorer.set(stride=1 + i % 2)
print(100 * (time.perf_counter() - begin))
"""


def sizes_sent() -> dict[Path, int]:
    """The bytes of each file that the server sent."""
    return {path: path.stat().st_size for path in Quiet.sent if path.is_file()}


def seconds_to_open(page: Page) -> tuple[float, float]:
    """The seconds until the page of lesson 02 and until its first picture are there."""
    begin = time.monotonic()
    start_lesson(page, WEIGHTS)
    opening = time.monotonic() - begin
    assert "The kernel wrote 15." in run_cell(page, 1)[-1]
    return opening, time.monotonic() - begin


def seconds_to_open_again(page: Page) -> tuple[float, float]:
    """The same on a second visit, in which the page is there before Python is."""
    begin = time.monotonic()
    open_lesson(page, WEIGHTS)
    opening = time.monotonic() - begin
    page.evaluate(READY, LONGEST)
    run_cell(page, 1)
    return opening, time.monotonic() - begin


def test_how_soon_the_first_picture_is_there(page: Page, capsys):
    Quiet.sent.clear()
    opening, first = seconds_to_open(page)
    sizes = sizes_sent()
    sent = sum(sizes.values())
    large = [path for path in Quiet.sent if sizes.get(path, 0) > 200_000]
    assert len(large) == len({*large}), "fetched twice"
    compressed = sum(len(gzip.compress(path.read_bytes())) for path in sizes)
    assert sent < 1.1 * compressed, "what could be compressed came as it is"
    Quiet.sent.clear()
    again, warm = seconds_to_open_again(page)
    sent_again = sum(path.stat().st_size for path in Quiet.sent if path.is_file())
    assert sent_again < 0.02 * sent, "a second visit fetches again what the browser has"
    step = float(run_code(page, STEP))  # last: a new cell is saved within seconds, and moves the others
    with capsys.disabled():
        print(f"\nThe page took {opening:.0f} s and the first picture {first:.0f} s; ", end="")
        print(f"{sent / 1e6:.1f} MB were sent ({compressed / 1e6:.1f} if all is compressed).")
        print(f"Again, the page took {again:.0f} s and the picture {warm:.0f} s; {sent_again / 1e6:.1f} MB were sent.")
        print(f"A picture's step that runs a kernel takes {step:.0f} ms.")


def test_a_browser_that_opens_no_compressed_files_gets_them_as_they_are(page: Page):
    page.add_init_script("delete window.DecompressionStream")
    begin_with(page, "delete self.DecompressionStream;")
    Quiet.sent.clear()
    start_lesson(page)
    assert run_code(page, "print(6 * 7)") == "42\n"
    names = {path.relative_to(paths.SITE).as_posix() for path in Quiet.sent}
    assert {f"pyodide/{name}" for name in PACKED} <= names
    assert not [name for name in names if re.match(r"(build|extensions)/.*\.packed", name)]
