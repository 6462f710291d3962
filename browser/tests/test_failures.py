"""Python when something goes wrong: the GPU is lost, or a cell has no end."""

from playwright.sync_api import Page

from browser.tests.pages import GRADED, KEPT, LINES, restart_kernel, run_code, start_lesson
from helpers.lessons import exercises

LOST = """from helpers import gpu
gpu.device()._internal.destroy()
helpers.conv2d(np.ones((1, 1, 3, 3), np.float32), np.ones((1, 1, 3, 3), np.float32))
"""

SILENT = """import wgpu.objects
from pyodide.code import run_js
wgpu.objects.LONGEST = 1
gpu.device().settle(run_js("new Promise(() => {})"))
"""

ENDLESS = """end = official.rindex("}")
helpers.grade("map", official[:end] + "  loop { output[0] = 1.0; if (output[0] > 9.0) { break; } }\\n}")
"""

LOCKED = """import asyncio
from convgrad_browser import with_lock
from pyodide.code import run_js
from pyodide.ffi import run_sync
log = []
def work():
    log.append("begin")
    run_sync(run_js("new Promise(done => setTimeout(done, 4000))"))
    log.append("end")
asyncio.get_running_loop().call_later(0.5, lambda: with_lock(work))
"""

OFFICIAL = exercises.PUZZLES["map"].official.source

AGAIN = "choose Kernel > Restart Kernel, and run the cells again; what you wrote is kept"
AGAIN += " (where that does not help, close the browser first)"


def test_python_says_what_went_wrong_and_starts_again(page: Page):
    start_lesson(page)
    run_code(page, f"import numpy as np\n{GRADED}")
    endless = " ".join(run_code(page, ENDLESS).split())
    assert "this loop is still running after 1,512 iterations of one thread" in endless
    assert run_code(page, LOST) == f"the browser took the GPU away (Device was destroyed): {AGAIN}"
    run_code(page, "helpers.write('map')")
    page.locator("textarea.convgrad-text").fill(OFFICIAL)
    page.get_by_role("button", name="Run the tests").click()
    page.locator(".convgrad-state", has_text="the browser took the GPU away").wait_for()
    restart_kernel(page)
    assert run_code(page, KEPT) == "True"
    assert "2 of 2 tests pass" in run_code(page, GRADED)
    assert run_code(page, f"from helpers import gpu\n{SILENT}") == f"the GPU did not answer within 1 seconds: {AGAIN}"


def test_training_between_the_cells_waits_for_the_lock(page: Page):
    start_lesson(page)
    run_code(page, "import helpers")
    run_code(page, LOCKED)
    page.wait_for_timeout(2000)  # it is at work
    assert run_code(page, "log.append('cell'); log") == "['begin', 'end', 'cell']"


def test_a_cell_that_does_not_end_is_ended_by_a_restart(page: Page):
    start_lesson(page)
    run_code(page, GRADED)
    run_code(page, "while True: pass", 1)
    page.locator(LINES, has_text="Kernel > Restart Kernel").wait_for()
    restart_kernel(page)
    assert run_code(page, KEPT) == "True"
    page.locator(LINES).wait_for(state="detached")
