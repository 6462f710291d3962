"""Parts that are touched, marked and answered, with a mouse, keys and fingers."""

import re

from playwright.sync_api import Locator, Page, expect

from browser.tests.pages import LONGEST, SAVE, WEIGHTS, cell_of, run_cell, start_lesson
from helpers.widgets import WAKE


def wait_for_status(page: Page, words: str) -> None:
    """Wait until the sentence below a picture has these words."""
    page.get_by_role("status").filter(has_text=words).first.wait_for()


def weight(page: Page, row: int, column: int) -> Locator:
    """A weight in the picture of lesson 02."""
    return page.get_by_role("gridcell", name=f"grad_weight, row {row}, column {column}")


def touch_the_weights(page: Page) -> None:
    """Point at weights with the mouse and with the keys; the sentence follows."""
    weight(page, 1, 2).hover()
    wait_for_status(page, "dW[1,2] = ")
    weight(page, 1, 1).click()
    wait_for_status(page, "dW[1,1] = ")
    keys = {"ArrowUp": "dW[0,1]", "ArrowRight": "dW[0,2]", "ArrowDown": "dW[1,2]", "ArrowLeft": "dW[1,1]"}
    for key, name in keys.items():
        page.keyboard.press(key)
        wait_for_status(page, f"{name} = ")


def drag_the_frame(page: Page) -> None:
    """Drag the window over the input by one pixel to the right, and one down."""
    frame = page.locator(".convgrad-touch-frame").first.bounding_box()
    x = frame["x"] + frame["width"] / 2
    y = frame["y"] + frame["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + frame["width"] / 3, y + frame["height"] / 3, steps=5)
    page.mouse.up()
    wait_for_status(page, "dW[2,2] = ")


def mark_and_answer(page: Page) -> None:
    """Mark pixels and answer a question, by the keys."""
    run_cell(page, 'helpers.mark("pixels_of_dW[0,1]")')
    page.get_by_role("textbox", name="marked").fill("b c d g h i l m n")
    page.keyboard.press("Enter")
    page.locator(".convgrad-reply", has_text="right").wait_for()
    run_cell(page, 'helpers.ask("pixels_of_a_weight")')
    page.locator(".convgrad-answer").last.fill("576")
    page.keyboard.press("Enter")
    page.locator(".convgrad-reply", has_text="right").nth(1).wait_for()


def set_the_stride(page: Page) -> None:
    """Type a stride, and move its slider."""
    run_cell(page, "explorers.any_weight_gradient()")
    page.get_by_role("spinbutton", name="stride").fill("2")
    page.keyboard.press("Enter")
    wait_for_status(page, "rows 0 and 2")
    page.get_by_role("slider", name="stride").press("ArrowRight")
    wait_for_status(page, "row 0, columns 0 and 3")


def test_parts_are_touched_and_answered_and_a_day_later_they_show_what_is_stored(page: Page):
    start_lesson(page, WEIGHTS)
    run_cell(page, "explorers.weight_gradient()")
    touch_the_weights(page)
    drag_the_frame(page)
    mark_and_answer(page)
    run_cell(page, 'helpers.write("weight_window")')
    set_the_stride(page)
    page.evaluate(SAVE)
    start_lesson(page, WEIGHTS)
    stored = page.evaluate("() => jupyterapp.shell.currentWidget.content.model.sharedModel.toJSON().cells")
    for code, kind in ("explorers.weight_gradient()", "image/png"), ('helpers.write("weight_window")', "text/html"):
        assert {*stored[cell_of(WEIGHTS, code)]["outputs"][0]["data"]} == {"text/plain", kind}
    assert page.get_by_text(re.compile("(Error displaying|Loading) widget")).count() == 0
    assert page.get_by_text(WAKE).count()
    run_cell(page, 'helpers.mark("pixels_of_dW[0,1]")')
    assert page.get_by_role("textbox", name="marked").input_value() == "b c d g h i l m n"


PHONE: dict = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


def tap_marks_and_an_answer(phone: Page) -> None:
    """Mark pixels and answer a question, with a finger."""
    run_cell(phone, 'helpers.mark("pixels_of_dW[0,1]")')
    for letter in "bcdghilmn":
        phone.locator(".convgrad-cell").nth("abcdefghijklmn".index(letter)).tap()
    expect(phone.get_by_role("textbox", name="marked")).to_have_value(re.compile("b.*n"))
    phone.get_by_role("button", name="Check", exact=True).tap()
    phone.locator(".convgrad-reply", has_text="right").wait_for()
    run_cell(phone, 'helpers.ask("pixels_of_a_weight")')
    phone.locator(".convgrad-answer").last.fill("576")
    phone.get_by_role("button", name="Answer").last.tap()
    phone.locator(".convgrad-reply", has_text="right").nth(1).wait_for()


def test_on_a_phone_a_finger_touches_marks_and_answers_and_an_editor_has_its_verdict_below(page: Page, address: str):
    phone = page.context.browser.new_context(base_url=address, **PHONE).new_page()
    phone.context.set_default_timeout(LONGEST * 1000)
    start_lesson(phone, WEIGHTS)
    run_cell(phone, "explorers.weight_gradient()")
    corner = weight(phone, 2, 2)
    corner.tap()  # which scrolls the picture to it
    wait_for_status(phone, "dW[2,2] = ")
    assert min(corner.bounding_box()[side] for side in ("width", "height")) >= 24
    tap_marks_and_an_answer(phone)
    run_cell(phone, 'helpers.write("weight_window")')
    phone.get_by_role("button", name="Run the tests").tap()
    phone.locator(".convgrad-said .convgrad-headline").wait_for()
    for width, least in (390, 300), (960, 600):
        phone.set_viewport_size({"width": width, "height": 844})
        editor = phone.locator(".convgrad-write").bounding_box()
        verdict = phone.locator(".convgrad-said").bounding_box()
        assert editor["width"] > least
        assert verdict["y"] >= editor["y"] + editor["height"]
    assert phone.get_by_role("link", name="convgrad: the map").is_visible()
