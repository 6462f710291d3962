"""A learner's own work: graded, kept, and downloaded where the browser keeps nothing."""

import re
from pathlib import Path

from playwright.sync_api import Page

from browser.tests.pages import GRADED, KEPT, LINES, download, run_code, start_lesson
from helpers.classroom import gradebook
from helpers.lessons import exercises


def test_an_own_kernel_is_graded_and_kept_and_the_teacher_reads_it(page: Page, tmp_path: Path, capsys):
    start_lesson(page)
    assert "2 of 2 tests pass" in run_code(page, GRADED)
    assert download(page, tmp_path).keys() == {"format", "student", "kernels", "answers"}
    assert gradebook.main([str(tmp_path)]) == 0
    assert re.search(r"hand_in_Ada.json +Ada +right +1/", capsys.readouterr().out)
    start_lesson(page)
    assert run_code(page, KEPT) == "True"


PYTHON = """import helpers
from helpers.lessons.exercises import PYTHON_PUZZLES
print([helpers.grade(name, puzzle.solution.text).passed for name, puzzle in PYTHON_PUZZLES.items()])
deep = "-" * 196, "(" * 97, "not " * 196, "[" * 197, "1 if 1 else " * 39, "10**10**", "lambda: " * 90, "x." * 98
print({helpers.grade("is_race", f"race = {sign}10").passed < 8 for sign in deep})
"""


def test_lines_of_python_are_judged_and_deep_ones_end_in_a_sentence(page: Page):
    start_lesson(page)
    tests = [len(puzzle.tests) for puzzle in exercises.PYTHON_PUZZLES.values()]
    assert run_code(page, PYTHON).split("\n") == [str(tests), "{True}", ""]


def test_a_full_storage_is_said_and_the_work_can_be_downloaded(page: Page, address: str, tmp_path: Path):
    start_lesson(page)
    page.context.new_cdp_session(page).send("Storage.overrideQuotaForOrigin", {"origin": address, "quotaSize": 1})
    page.wait_for_timeout(31_000)  # Chromium looks again at the free space only after 30 seconds
    assert "2 of 2 tests pass" in run_code(page, GRADED)
    assert "could not keep what you wrote" in page.locator(LINES).inner_text()
    work = download(page, tmp_path)
    assert work["kernels"].keys() == {"map"}
    assert work["answers"] == {"changed_numbers": exercises.QUESTIONS["changed_numbers"].right}


BLOCKED = """const refuse = {get() { throw new DOMException('blocked', 'SecurityError'); }};
Object.defineProperty(window, 'indexedDB', refuse);
Object.defineProperty(window, 'localStorage', refuse);
Object.defineProperty(Navigator.prototype, 'serviceWorker', {get() { return undefined; }});"""


def test_a_blocked_storage_is_said_and_the_work_can_be_downloaded(page: Page, tmp_path: Path):
    page.add_init_script(BLOCKED)
    start_lesson(page)
    assert "What you write is kept only until you close this page" in page.locator(LINES).inner_text()
    run_code(page, "import helpers\nhelpers.write('map')")
    page.locator("textarea.convgrad-text").fill("// mine\nfn f() {}")
    page.get_by_text("kept until you close this page").wait_for()
    assert "1 kernel" in run_code(page, "helpers.hand_in('Ada')")
    assert download(page, tmp_path)["kernels"] == {"map": "// mine\nfn f() {}"}
