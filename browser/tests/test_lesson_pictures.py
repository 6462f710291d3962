"""The small pictures of a lesson answer before Python is there, and stay as they are when it comes."""

import re
from importlib import import_module

import pytest
from playwright.sync_api import Locator, Page, expect

from browser.lesson_pictures import RECORDED
from browser.recorder import states_of
from browser.tests.pages import WEIGHTS, open_lesson, run_cell, start_lesson, without_python
from helpers.gpu import adapter_info

CELL = "explorers.weight_gradient()"
WATCH = """() => {  // each sentence below the picture that a reader sees, until the test asks
  window.seen = [];
  const look = () => {
    const all = [...document.querySelectorAll('.convgrad-explorer [role=status]')];
    const words = all.filter(each => each.checkVisibility({visibilityProperty: true})).map(each => each.textContent);
    const shown = words.filter(each => each.startsWith('dW['));
    if (JSON.stringify(window.seen.at(-1)) !== JSON.stringify(shown)) window.seen.push(shown);
    requestAnimationFrame(look);
  };
  look();
}"""


def recorded(page: Page) -> Locator:
    """The recorded picture of the first screen."""
    return page.locator(".convgrad-recorded").first


def choose(page: Page) -> None:
    """Choose a weight in the recorded picture by a click, and do its first step."""
    cell = recorded(page).get_by_role("gridcell", name="grad_weight, row 2, column 2")
    cell.click()
    expect(recorded(page).get_by_role("status")).to_contain_text("dW[2,2] = ")
    expect(recorded(page).get_by_label("done", exact=True)).to_have_count(1)
    page.mouse.move(5, 5)  # so that nothing is pointed at
    expect(recorded(page).get_by_role("status")).to_contain_text("dW[2,2] = ")


def in_its_cell(explorer: Locator) -> list[float]:
    """The place of the picture in its cell, and its width."""
    cell = explorer.locator("xpath=ancestor::*[contains(@class, 'jp-CodeCell')]").bounding_box()
    box = explorer.locator(".convgrad-picture").bounding_box()
    return [box["x"] - cell["x"], box["y"] - cell["y"], box["width"]]


def test_a_picture_answers_without_python(page: Page):
    without_python(page)
    open_lesson(page, WEIGHTS)
    choose(page)
    recorded(page).get_by_role("gridcell", name="grad_output, row 0, column 2").hover(timeout=10_000)
    expect(recorded(page).get_by_role("status")).to_contain_text("multiplies")
    expect(page.locator(".jp-RenderedImage > img").first).to_be_hidden()


@pytest.mark.parametrize("first", ["before", "after"])
def test_python_takes_over_without_a_jump_and_what_was_chosen_stays(first: str, page: Page):
    """The cell is run before or after Python is there."""
    if first == "after":
        start_lesson(page, WEIGHTS)
    else:
        open_lesson(page, WEIGHTS)
    choose(page)
    place = in_its_cell(recorded(page))
    page.evaluate(WATCH)
    run_cell(page, CELL)
    live = page.locator(".convgrad-explorer").first
    expect(live).not_to_have_class(re.compile("convgrad-recorded"), timeout=30_000)
    expect(live.locator("[aria-label='done']")).to_have_count(1)
    seen = page.evaluate("() => window.seen")
    assert all(len(shown) == 1 and shown[0].startswith("dW[2,2] = ") for shown in seen), seen
    assert in_its_cell(live) == pytest.approx(place, abs=4)
    live.get_by_role("gridcell", name="grad_weight, row 1, column 2").click(timeout=10_000)
    expect(live.get_by_role("status").first).to_contain_text("dW[1,2] = ")


MOUNTED = """async ([name, expected]) => {
  const {picture} = await import('/front/recorded.js'), {default: touch} = await import('/front/touch.js');
  const recording = await (await fetch(`/recorded/${name}.json`)).json(), el = document.createElement('div');
  document.body.append(el);
  const made = picture(el, recording, touch), differ = [], parse = html => {
    const parsed = document.createElement('div');
    parsed.innerHTML = html;
    return parsed.innerHTML;
  };
  for (const {values, images, sentence, chosen, window} of expected) {
    made.reach(values);
    const seen = [...el.querySelectorAll('.convgrad-layer')].map(layer => layer.innerHTML);
    if (images.some((image, i) => parse(image) !== seen[i])) differ.push({values, image: true});
    if (el.querySelector('.convgrad-sentence').textContent !== sentence) differ.push({values, sentence});
    if (JSON.stringify(made.model.get('chosen')) !== JSON.stringify(chosen)) differ.push({values, chosen});
    if (JSON.stringify(made.model.get('window')) !== JSON.stringify(window)) differ.push({values, window});
  }
  return [expected.length, differ];
}"""
PICTURES = [(lesson, name) for lesson, names in RECORDED.items() for name in names]


@pytest.mark.parametrize(("lesson", "name"), PICTURES)
def test_every_recorded_state_of_a_lesson_is_that_of_its_widget(lesson: str, name: str, page: Page):
    page.goto("/?embed")
    explorer = getattr(import_module(f"helpers.lessons.{lesson}.explorers"), name)()
    here, expected = adapter_info().short, []
    for values in states_of(explorer):
        explorer.set(**values)
        texts = [image.replace(f"on {here}", "on the simulator") for image in explorer.picture.svg()]
        state = {"values": values, "images": texts, "sentence": explorer.sentence.replace(here, "the simulator")}
        expected.append(state | {"chosen": explorer._layer.chosen, "window": explorer._layer.window})
    count, differ = page.evaluate(MOUNTED, [f"{lesson}.{name}", expected])
    assert count > 1
    assert differ == []
