"""The front page: what it answers is what the live widgets answer, and a kernel runs on the browser's GPU."""

from collections.abc import Iterator
from types import SimpleNamespace

import pytest
from playwright.sync_api import Page, expect

from browser import paths
from browser.front_answers import PHONE
from browser.recorder import Recording, states_of
from browser.tests.axe import FINDINGS, axe
from browser.tests.front import RIGHT, opened, run, sentence
from helpers.grading.prediction import Question
from helpers.lessons.exercises import QUESTIONS
from helpers.lessons.shared import any_convolution
from helpers.lessons.weight_gradient import explorers
from helpers.pictures.canvas import WIDTH
from helpers.widgets.explorer import Explorer

ON_A_PHONE: dict = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}
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


# --- Recorded beside live ---------------------------------------------------------------------------------------


def live_picture(width: int, monkeypatch: pytest.MonkeyPatch) -> Explorer:
    """The live widget; its adapter has the name of the one on which it is recorded."""
    adapter = SimpleNamespace(short="the simulator")
    monkeypatch.setattr(any_convolution, "adapter_info", lambda: adapter)
    return explorers.weight_gradient(width)


def answered(explorer: Explorer, asked: dict, number: int) -> dict:
    """The live widget after it is asked, as a reader sees it."""
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
        with pytest.raises(ValueError, match=r"450 states|changes numbers"):
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


# --- Its link, its frame, its keys --------------------------------------------------------------------------------


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
    expect(inside.get_by_text("A network sees")).to_be_hidden()
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
