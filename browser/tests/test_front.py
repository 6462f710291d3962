"""The front page: what it answers is what the live widgets answer, and a kernel runs on the browser's GPU."""

import re
from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from playwright.sync_api import Locator, Page, expect

from browser import paths
from browser.recorder import PHONE, Recording, states_of
from browser.tests.axe import FINDINGS, axe
from browser.tests.pages import WEIGHTS, run_cell, start_lesson
from helpers.grading.prediction import Question
from helpers.lessons.exercises import PUZZLES, QUESTIONS
from helpers.lessons.shared import any_convolution
from helpers.lessons.weight_gradient import explorers
from helpers.pictures.canvas import WIDTH
from helpers.widgets.explorer import Explorer

ON_A_PHONE: dict = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
PUZZLE = PUZZLES["weight_window"]
RIGHT = PUZZLE.solution.text
OUTSIDE = -2, 9  # rows and columns to which a frame may be dragged, and does not go

# Each message goes to the model as `touch.js` sends it; what is seen then is compared with the live widget.
COMPARED = """async expected => {
  const {model, done} = convgradFront, differ = [], parse = html => {
    const parsed = document.createElement('div');
    parsed.innerHTML = html;
    return parsed.innerHTML;
  };
  let number = 0;
  for (const {asked, images, sentence, cells, ticked} of expected) {
    model.set('asked', {...asked, number: ++number});
    model.save_changes();
    await Promise.resolve();
    const seen = [...document.querySelectorAll('#picture .convgrad-layer')].map(layer => layer.innerHTML);
    const told = document.querySelector('#picture .convgrad-sentence').textContent;
    const laid = Object.fromEntries(Object.keys(cells).map(name => [name, model.get(name)]));
    if (model.get('answered') !== number) differ.push({asked, answered: model.get('answered')});
    if (images.some((image, i) => parse(image) !== seen[i])) differ.push({asked, image: told});
    if (told !== sentence) differ.push({asked, told, sentence});
    for (const name in cells) {
      const sorted = JSON.stringify(Object.entries(cells[name]).sort());
      if (sorted !== JSON.stringify(Object.entries(laid[name]).sort())) differ.push({asked, name, laid: laid[name]});
    }
    if (JSON.stringify(done()) !== JSON.stringify(ticked)) differ.push({asked, done: done(), ticked});
  }
  return differ;
}"""


@pytest.fixture
def front(page: Page) -> Page:
    """The front page, whose picture answers."""
    return opened(page)


def opened(page: Page, place: str = "/") -> Page:
    """Open the front page, or a place of it, and wait until its picture answers."""
    page.goto(place)
    page.wait_for_function("() => window.convgradFront")
    return page


# --- Recorded beside live ---------------------------------------------------------------------------------------


def live_picture(width: int, monkeypatch: pytest.MonkeyPatch) -> Explorer:
    """The live widget; its adapter has the name of the one on which it is recorded."""
    adapter = SimpleNamespace(short="the simulator")
    monkeypatch.setattr(any_convolution, "adapter_info", lambda: adapter)
    return explorers.weight_gradient(width)


def answered(explorer: Explorer, asked: dict, number: int) -> dict:
    """What the live widget shows when it is asked."""
    layer = explorer._layer
    layer.asked = {**asked, "number": number}
    assert layer.answered == number
    cells = {"grids": layer.grids, "chosen": layer.chosen, "window": layer.window}
    return {
        "asked": asked,
        "images": [explorer._still.value, explorer._moving.value],
        "sentence": explorer.sentence,
        "cells": cells,
        "ticked": explorer.steps.done,
    }


def touches(explorer: Explorer) -> Iterator[dict]:
    """All that a reader can do in the picture that is shown: look at each cell, choose it, and leave."""
    for i, part in enumerate([*explorer.picture.touchable.values()]):
        rows, columns = part.grid.values.shape
        for place in range(rows * columns):
            row, column = divmod(place, columns)
            yield {"grid": i, "row": row, "column": column, "chosen": False, "numbers": None}
    yield {"grid": -1, "row": 0, "column": 0, "chosen": False, "numbers": None}


def to_state(explorer: Explorer, values: dict) -> dict:
    """The message that drags the frame to a state of this filter."""
    grids = len(explorer._layer.grids)
    return {"grid": grids, "row": values["kh"], "column": values["kw"], "chosen": True, "numbers": None}


@pytest.mark.parametrize("width", [WIDTH, PHONE])
def test_every_recorded_state_is_that_of_the_live_widget(width: int, page: Page, monkeypatch: pytest.MonkeyPatch):
    page.set_viewport_size({"width": 390 if width == PHONE else 1280, "height": 844})
    opened(page)
    explorer = live_picture(width, monkeypatch)
    states = states_of(explorer)
    assert len(states) == 13
    number = 0
    for filter in (3, 2):
        explorer.set(filter=filter)
        page.evaluate("filter => convgradFront.reach({filter})", filter)
        expected = []
        moves = [to_state(explorer, values) for values in states if values["filter"] == filter]
        moves += [{**moves[0], "row": row, "column": column} for row in OUTSIDE for column in OUTSIDE]
        for move in moves:
            for asked in (move, *touches(explorer), {**move, "grid": 0, "row": 1, "column": 0}):
                number += 1
                expected.append(answered(explorer, asked, number))
        assert page.evaluate(COMPARED, expected) == []


def test_a_recording_that_differs_is_noticed(front: Page, monkeypatch: pytest.MonkeyPatch):
    explorer = live_picture(WIDTH, monkeypatch)
    expected = answered(explorer, to_state(explorer, {"kh": 1, "kw": 2}), 1)
    wrong = {
        "image": {"images": [expected["images"][0], expected["images"][1].replace("G·h", "G·i")]},
        "sentence": {"sentence": "dW[1,2] = 7"},
        "cells": {"cells": expected["cells"] | {"chosen": [[0, 0, 0]]}},
        "ticked": {"ticked": [True, False, False]},
    }
    for name, other in wrong.items():
        assert front.evaluate(COMPARED, [expected | other]), name


def test_a_picture_with_many_states_or_numbers_to_change_is_not_recorded():
    from helpers.lessons.convolution_as_correlation.explorers import own_filter
    from helpers.lessons.fused_gemm_backward.explorers import tiles

    for explorer in (own_filter(), tiles()):
        with pytest.raises(ValueError, match=r"400 states|changes numbers"):
            Recording(explorer).data()


def test_each_number_gets_the_reply_of_the_bank(front: Page):
    asked: Question = QUESTIONS["pixels_of_a_weight"]
    box = front.locator("#question input")
    texts = [*map(str, [asked.right, *asked.mistakes]), "24 * 24", "24 × 24", "1,024", "3 + 4", "", "many", " 25 "]
    for text in texts:
        box.fill(text)
        box.press("Enter")
        try:
            verdict = asked.grade("pixels_of_a_weight", asked.typed(text))
            words = verdict.sentence
        except TypeError as error:
            words = str(error)
        expect(front.locator("#question .convgrad-reply")).to_have_text(words.replace("`", ""))


# --- The exercise -----------------------------------------------------------------------------------------------


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
    expect(said).to_contain_text("Are they right by luck? The lesson checks that")
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


# --- Its link, its frame, its keys --------------------------------------------------------------------------------


def sentence(page: Page) -> Locator:
    """The sentence below the picture."""
    return page.locator("#picture .convgrad-sentence")


def test_a_link_keeps_the_state(page: Page):
    expect(sentence(opened(page, "/#w=1,2"))).to_contain_text("dW[1,2] = ")
    page.locator("[data-cell='0 2 0']").click()
    assert page.url.endswith("#w=2,0")
    page.get_by_role("slider").press("ArrowLeft")
    assert page.url.endswith("#w=1,0&filter=2")
    page.reload()
    page.wait_for_function("() => window.convgradFront")
    expect(sentence(page)).to_contain_text("dW[1,0] = ")
    for spoiled in ("/#w=7,-1", "/#w=x", "/#w=1", "/#filter=99", "/#w=1e9,NaN&filter=a"):
        page.goto("about:blank")
        expect(sentence(opened(page, spoiled))).to_contain_text("dW[")


def test_embedded_the_picture_is_alone_and_tells_its_height(page: Page, address: str):
    frame = f"<iframe src='{address}/?embed#w=2,1' width='800'></iframe>"
    listen = "<script>addEventListener('message', event => { window.told = event.data.convgrad.height })</script>"
    page.route("**/around", lambda route: route.fulfill(content_type="text/html", body=listen + frame))
    page.goto("/around")
    inside = page.frame_locator("iframe")
    expect(inside.locator("#picture .convgrad-sentence")).to_contain_text("dW[2,1] = ")
    expect(inside.get_by_text("A network looks")).to_be_hidden()
    page.wait_for_function("() => 250 < window.told && window.told < 700")
    expect(inside.get_by_role("link", name="convgrad")).to_be_visible()


def test_by_keys_alone_and_while_it_plays(front: Page):
    front.locator("[data-cell='0 0 0']").focus()
    for key, name in {"ArrowDown": "dW[1,0]", "ArrowRight": "dW[1,1]"}.items():
        front.keyboard.press(key)
        expect(sentence(front)).to_contain_text(f"{name} = ")
    front.locator(".convgrad-touch-frame").focus()
    front.keyboard.press("ArrowUp")
    expect(sentence(front)).to_contain_text("dW[0,1] = ")
    front.get_by_role("button", name="Play").press("Enter")
    expect(sentence(front)).to_contain_text("dW[2,2] = ", timeout=12_000)
    expect(front.get_by_role("button", name="Play again")).to_be_visible()
    expect(front.get_by_label("not done yet")).to_have_count(3)


def test_on_a_phone_a_finger_reaches_each_answer_and_nothing_is_wider_than_the_page(page: Page, address: str):
    phone = opened(page.context.browser.new_context(base_url=address, **ON_A_PHONE).new_page())
    for cell in phone.locator("[data-cell^='0 ']").all():
        assert min(cell.bounding_box()[side] for side in ("width", "height")) >= 24
    phone.locator("[data-cell='0 2 2']").tap()
    expect(sentence(phone)).to_contain_text("dW[2,2] = ")
    expect(phone.get_by_label("done", exact=True)).to_have_count(1)
    run(phone, RIGHT)
    assert phone.evaluate("document.documentElement.scrollWidth") == 390


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_axe_finds_nothing(width: int, theme: str, page: Page):
    page.emulate_media(color_scheme=theme, reduced_motion="reduce")
    page.set_viewport_size({"width": width, "height": 844})
    opened(page)
    page.add_script_tag(path=axe())
    run(page, RIGHT.replace("+ ow + kw", "+ ow"))
    assert page.evaluate(FINDINGS) == []
    opened(page, "/?embed")
    page.add_script_tag(path=axe())
    assert page.evaluate(FINDINGS) == []


# --- How soon ---------------------------------------------------------------------------------------------------


def slowed(page: Page) -> list[dict]:
    """Slow the network and the processor as on a phone; the list of what is sent grows."""
    sent, client = [], page.context.new_cdp_session(page)
    client.send("Network.enable")
    client.on("Network.loadingFinished", lambda event: sent.append(event["encodedDataLength"]))
    speed = {"offline": False, "latency": 150, "downloadThroughput": 200_000, "uploadThroughput": 90_000}
    client.send("Network.emulateNetworkConditions", speed)
    client.send("Emulation.setCPUThrottlingRate", {"rate": 4})
    return sent


def test_the_first_answer_is_there_in_three_seconds_with_half_a_megabyte_and_no_other_host(page: Page, address: str):
    hosts = set()
    page.on("request", lambda request: hosts.add(request.url.split("/")[2]))
    sent = slowed(page)
    opened(page)
    soon = page.evaluate("() => Number(document.documentElement.dataset.answers)") / 1000
    before = sum(sent)
    print(f"first answer {soon:.2f} s after opening, {before / 1000:.0f} kB before it")
    assert soon < 3
    assert before < 500_000
    page.locator("[data-cell='0 1 2']").hover()
    expect(sentence(page)).to_contain_text("dW[1,2] = ")
    page.wait_for_selector("#exercise .convgrad-run")
    scripts = sum(path.stat().st_size for path in (paths.SITE / "front").glob("*.js"))
    print(f"all scripts {scripts / 1000:.1f} kB, everything {sum(sent) / 1000:.0f} kB")
    assert scripts <= 60_000
    assert hosts == {address.split("/")[2]}


def test_who_knows_the_lines_has_a_right_verdict_within_a_minute(page: Page):
    slowed(page)
    opened(page)
    said = run(page, RIGHT)
    expect(said).to_contain_text("right numbers")
    seconds = page.evaluate("performance.now()") / 1000
    print(f"right verdict {seconds:.1f} s after opening")
    assert seconds < 60


def test_a_link_preview_has_a_picture_a_title_and_a_description(front: Page):
    for name in ("og:title", "og:description", "og:image", "og:image:alt"):
        assert front.locator(f"meta[property='{name}']").get_attribute("content")
    assert front.request.get(front.locator("meta[property='og:image']").get_attribute("content")).ok
    assert front.locator("meta[name='description']").get_attribute("content")
    expect(front.get_by_text("To cite:")).to_be_visible()
    for link in front.locator("a[href]").all():
        assert front.request.get(link.evaluate("link => link.href")).ok
