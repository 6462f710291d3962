"""The exercise of the front page: a kernel runs on the browser's GPU, and is named by what it computes."""

import re

from playwright.sync_api import Page, expect

from browser import paths
from browser.tests.front import PUZZLE, RIGHT, opened, run
from browser.tests.pages import WEIGHTS, run_cell, start_lesson


def test_each_known_mistake_gets_its_name_and_the_first_wrong_number_is_in_the_picture(front: Page):
    for mistake in PUZZLE.mistakes:
        said = run(front, PUZZLE.with_mistake(mistake).source).inner_text()
        lucky = said.startswith("right numbers") and "once too often" in mistake.name
        assert lucky or f"when {mistake.name}:" in said, (mistake.name, said)
        if not lucky:
            assert mistake.question[1:] in said
        shown = re.search(r"In window_5x5, .* at kh = (\d), kw = (\d): yours is (\S+), right", said)
        assert bool(shown) == front.get_by_text("See the first wrong number in the picture.").is_visible()
        if shown:
            row, column, yours = shown.groups()
            expect(front.locator(".front-yours")).to_have_text(f"yours: {yours}")
            expect(front.locator("#picture .convgrad-sentence")).to_contain_text(f"dW[{row},{column}] = ")


def test_a_right_kernel_is_not_said_to_be_safe_and_the_lesson_has_its_text(front: Page):
    said = run(front, RIGHT)
    expect(said).to_contain_text("right numbers (all tests)")
    expect(said).to_contain_text("Numbers can be right by luck: the lesson checks that")
    front.get_by_role("button", name="Compare with ours").click()
    expect(front.locator(".convgrad-ours")).to_be_visible()


def test_what_was_typed_is_in_the_lesson(front: Page):
    mine = RIGHT.replace("var sum = 0.0;", "var sum = 0.0; // mine")
    run(front, mine)
    front.get_by_role("link", name="Lesson 02").click()
    start_lesson(front, WEIGHTS)
    run_cell(front, 'helpers.mark("pixels_of_dW[0,1]")')  # which imports helpers
    run_cell(front, 'helpers.write("weight_window")')
    expect(front.locator(".convgrad-text")).to_have_value(mine)
    expect(front.locator(".convgrad-state")).to_contain_text("kept in")


ENDED = "a thread made more than 50,000 turns"
REFUSED = {  # texts that are not run, or not to their end, and what is said
    "var sum = 0.0; loop { sum += 1.0; if (sum < 0.0) { break; } }": ENDED,
    "var sum = 0.0; while true { sum += 1.0; }": ENDED,
    "var sum = 0.0; for (var i = 0u; i < 1u; i = 0u) { for (var j = 0u; j < 9u; j++) { sum += 1.0; } }": ENDED,
    "var sum = 0.0; loop { sum += 1.0; }": "Line 20: loop does not exit",
    "var sum = 0.0; sum += ;": "does not compile",
    "var sum = 0.0; " + 1_000_000 * "/": "It has 1,00",
}


def test_an_endless_loop_a_megabyte_and_no_change_get_a_sentence_and_the_page_goes_on(front: Page):
    for line, words in REFUSED.items():
        expect(run(front, PUZZLE.skeleton.replace("var sum = 0.0;", line))).to_contain_text(words)
    expect(run(front, PUZZLE.skeleton)).to_contain_text("This is still the text that you began with")
    other = RIGHT.replace("var<storage, read> input", "var<storage, read_write> input")
    expect(run(front, other)).to_contain_text("the four bindings that it began with")
    expect(run(front, RIGHT)).to_contain_text("right numbers")


LOST = """
const ask = GPUAdapter.prototype.requestDevice;
GPUAdapter.prototype.requestDevice = async function () {
  const device = await ask.call(this);
  setTimeout(() => device.destroy());
  return device;
};
"""
SILENT = "self.addEventListener('message', event => event.stopImmediatePropagation());"


def begin_worker(page: Page, code: str, times: int = 1) -> None:
    """Run this JavaScript before the worker's own, so many times."""
    script = code + (paths.SITE / "front" / "run.js").read_text(encoding="utf-8")
    answer = {"body": script, "content_type": "text/javascript"}
    page.route("**/front/run.js", lambda route: route.fulfill(**answer), times=times)


def test_a_device_that_is_lost_or_silent_is_given_up_and_the_next_run_has_another(page: Page):
    for code, words in ((LOST, "The browser took the GPU away"), (SILENT, "gave no answer for 20 seconds")):
        begin_worker(page, code)
        opened(page)
        expect(run(page, RIGHT.replace("sum = 0.0;", "sum = 0.0; //"))).to_contain_text(words)
        expect(run(page, RIGHT)).to_contain_text("right numbers")


WITHOUT = "delete Navigator.prototype.gpu", "GPU.prototype.requestAdapter = async () => null"


def test_without_a_gpu_the_picture_and_the_guess_work_and_the_exercise_says_what_it_needs(page: Page):
    page.add_init_script("delete Navigator.prototype.gpu")
    opened(page)
    page.locator("[data-cell='0 1 2']").hover()
    expect(page.locator("#picture .convgrad-sentence")).to_contain_text("dW[1,2] = ")
    page.locator("#question input").fill("576")
    page.keyboard.press("Enter")
    expect(page.locator("#question .convgrad-reply")).to_have_text("right")
    said = run(page, RIGHT)
    expect(said).to_contain_text("has no WebGPU")
    expect(said).to_contain_text("Lesson 02 runs it in a simulator")


def test_without_an_adapter_the_exercise_says_so(page: Page):
    begin_worker(page, WITHOUT[1] + ";")
    expect(run(opened(page), RIGHT)).to_contain_text("This browser finds no GPU for the page")


def test_where_nothing_is_stored_and_in_two_tabs_it_is_said(page: Page):
    other = opened(page.context.new_page())
    opened(page)
    run(page, RIGHT)
    run(other, PUZZLE.skeleton + "// other")
    expect(page.locator("#exercise .convgrad-state")).to_have_text(re.compile("changed in another tab"))
    page.add_init_script("Storage.prototype.setItem = () => { throw Error('full') }")
    page.add_init_script("Storage.prototype.getItem = () => null")
    opened(page)
    run(page, RIGHT)
    expect(page.locator("#exercise .convgrad-state")).to_have_text(re.compile("copy your text before you close it"))
