"""Lesson 02 as a reader meets it: opened, run, moved by mouse and keys, and its exercise solved in the browser.

The tests share one page and run in this order: the first one sees the lesson before anything ran. What the browser
shows is compared with the same explorer in this process.
"""

import re
from statistics import median

import pytest
from playwright.sync_api import expect
from support.browser import EveryLesson, LivePage, Shown, browser_path, filmed

from helpers.convolution import explorers
from helpers.convolution.exercises import GRAD_WEIGHT
from helpers.convolution.shapes import ConvShape

LESSON = "02_weight_gradient.ipynb"  # what the fixture `opened` opens
pytestmark = pytest.mark.usefixtures("no_trouble")
FIRST, BIG = "explorers.weight_gradient(", "explorers.any_weight_gradient()"
SIZES = "N Ci H W Co kH kW stride padding dilation groups"  # as ConvShape takes them


class TestLesson(EveryLesson):
    pass


def test_keys_mouse_and_typing_move_the_same_picture(lesson: LivePage) -> None:
    shown = lesson.explorer(BIG)
    same = explorers.any_weight_gradient()
    shown.handle("kh").press("ArrowRight")
    same.set(kh=1)
    shown.shows(same)
    shown.handle("kw").hover()
    lesson.page.mouse.down()
    lesson.page.mouse.move(1200, 400, steps=4)  # far to the right of the slider's end
    lesson.page.mouse.up()
    same.set(kw=2)
    shown.shows(same)
    shown.type("co", 1)
    same.set(co=1)
    shown.shows(same)


def test_the_keyboard_alone_is_enough(lesson: LivePage) -> None:
    shown, keyboard = lesson.explorer(FIRST), lesson.page.keyboard  # its cell is selected, in command mode
    cells, words = (lesson.cells.count(), lesson.code_cells.count()), shown.words.inner_text()
    tab_to(shown, "kh")
    keyboard.press("ArrowUp")
    expect(shown.box("kh")).to_have_value("1")
    expect(shown.words).not_to_have_text(words)
    tab_to(shown, "kw")
    keyboard.press("Control+a")
    keyboard.type("dd00xab2")  # in command mode these would delete, restart, cut and insert
    keyboard.press("Enter")
    expect(shown.handle("kw")).to_have_attribute("aria-valuetext", "2")
    assert (lesson.cells.count(), lesson.code_cells.count()) == cells
    expect(lesson.page.get_by_role("dialog")).to_have_count(0)


def tab_to(shown: Shown, name: str) -> None:
    for _ in range(12):
        shown.page.keyboard.press("Tab")
        if shown.box(name).evaluate("box => box === document.activeElement"):
            return
    pytest.fail(f"Tab does not reach the number box {name}")


def test_no_extreme_leads_to_an_invalid_state(lesson: LivePage) -> None:
    shown = lesson.explorer(BIG)
    same = explorers.any_weight_gradient()
    for extreme in (-5, 99):
        for name in same.values:
            if not shown.box(name).is_enabled():  # its limits are equal at present
                continue
            shown.type(name, extreme)
            same.set(**{name: extreme})
            shown.shows(same)
            now = shown.values
            shape = ConvShape(*(now[size] for size in SIZES.split()))  # raises where there is no such convolution
            for index, size in zip(("n", "co", "ci", "kh", "kw"), (shape.batch, *shape.weight), strict=True):
                assert 0 <= now[index] < size


def steady(shown: Shown) -> None:
    """Assert that ten steps of a slider move nothing on the page, and that no painted frame lacks the picture."""
    shown.handle("kh").focus()
    before = layout(shown)
    with filmed(shown.page) as frames:
        for i in range(10):
            shown.step("ArrowLeft" if i % 2 else "ArrowRight")
            assert layout(shown) == before, "the page jumps"
    assert len(frames) > 5
    image = before[-1]
    rows = slice(max(0, round(image["y"])), round(image["y"] + image["height"]))  # the view may cut it off below
    columns = slice(round(image["x"]), round(image["x"] + image["width"]))
    ink = [(frame[rows, columns] < 128).mean() for frame in frames]
    assert min(ink) > max(ink) / 2, "the picture flickers"


def layout(shown: Shown) -> tuple[float, dict, dict]:
    """How far the page is scrolled, and where the output and its picture are, in CSS pixels."""
    scrolled = shown.page.locator(".jp-WindowedPanel-outer").evaluate("panel => panel.scrollTop")
    return scrolled, shown.output.bounding_box(), shown.image.bounding_box()


HIDE = "image.style.visibility = 'hidden'; setTimeout(() => image.style.visibility = '', 30)"
GROW = "image.style.height = image.clientHeight + 1 + 'px'"


def test_nothing_jumps_or_flickers_and_it_would_be_noticed(lesson: LivePage) -> None:
    steady(lesson.explorer(BIG))
    for fault, found in ((HIDE, "flickers"), (GROW, "jumps")):
        shown = lesson.explorer(FIRST)
        shown.image.evaluate(f"image => addEventListener('keydown', window.fault = () => {{ {fault} }}, true)")
        with pytest.raises(AssertionError, match=found):
            steady(shown)
        lesson.page.evaluate("removeEventListener('keydown', window.fault, true)")


def test_a_picture_that_stands_still_is_noticed(lesson: LivePage) -> None:
    shown = lesson.explorer(BIG)
    same = explorers.any_weight_gradient()
    shown.shows(same)
    shown.image.evaluate("image => image.replaceWith(image.cloneNode(true))")
    shown.handle("kh").press("ArrowRight")
    same.set(kh=1)
    with pytest.raises(AssertionError, match="the picture"):
        shown.shows(same, seconds=1)


def test_how_fast_a_picture_follows_its_slider(lesson: LivePage, record_property) -> None:
    """Only told, at the end of the run, and never judged: a busy machine is no mistake."""
    said = []
    for words in (FIRST, BIG):
        shown = lesson.explorer(words)
        shown.handle("kh").focus()
        times = [shown.step("ArrowLeft" if i % 2 else "ArrowRight") for i in range(20)]
        said.append(f"{words.strip('()')} {median(times):.0f} ms (longest {max(times):.0f})")
    record_property("told", f"from key to new picture, median of 20: {', '.join(said)}")


def test_the_exercise_can_be_solved(lesson: LivePage) -> None:
    grading = 'helpers.grade("conv2d_grad_weight", my_kernel)'
    cell, tests = lesson.code_cell(grading), len(GRAD_WEIGHT.tests)
    expect(cell).to_contain_text(f"0 of {tests} tests pass")
    lesson.retype(cell, f'my_kernel = """\n{GRAD_WEIGHT.solution.text}\n"""\n{grading}')
    expect(cell).to_contain_text(f"{tests} of {tests} tests pass")


def test_a_prediction_is_judged_and_the_picture_then_confirms_it(lesson: LivePage) -> None:
    asked = lesson.code_cell('helpers.predict("sum_after_a_step"')
    expect(asked).to_contain_text("not attempted")
    for answer, outcome in ((8, "wrong: thread 2 does not add the sum of its neighbor"), (4, "right")):
        lesson.retype(asked, f'my_answer = {answer}\nhelpers.predict("sum_after_a_step", my_answer)')
        expect(asked).to_contain_text(outcome)


def test_cells_are_marked_by_mouse_keys_and_typing(lesson: LivePage) -> None:
    cell = lesson.run(lesson.code_cell('helpers.mark("pixels_of_dW[0,1]"'))
    words, keyboard = cell.get_by_role("status"), lesson.page.keyboard
    expect(words).to_contain_text("not attempted")
    count = lesson.cells.count()
    cell.get_by_role("button", name="b", exact=True).click()
    for key, name in (("Space", "c"), ("Enter", "d")):
        keyboard.press("Tab")
        keyboard.press(key)
        expect(cell.get_by_role("button", name=f"✓ {name}", exact=True)).to_be_focused()
    expect(words).to_have_text("wrong: this is only the first row of outputs; how many rows are there?")
    box = cell.get_by_label("marked")
    expect(box).to_have_value("b c d")
    box.fill("b c d g h i l m n")
    box.press("Enter")
    expect(words).to_have_text("right")
    expect(cell.get_by_role("button", name=re.compile("✓"))).to_have_count(9)
    lesson.run(cell)  # as after a restart: what was marked is still there
    expect(cell.get_by_role("button", name=re.compile("✓"))).to_have_count(9)
    assert lesson.cells.count() == count


def test_a_missing_browser_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CONVGRAD_BROWSER", raising=False)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(pytest.fail.Exception, match=r"run `python3 start.py test`, which installs one"):
        browser_path()
