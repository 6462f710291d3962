"""A lesson for everybody: without sight of its pictures, in the dark, on a phone, and without a GPU."""

from playwright.sync_api import Page, expect

from browser.tests.pages import LINES, WEIGHTS, open_lesson, run_cell, start_lesson, without_python
from browser.tests.test_touching import PHONE

ALTS = """() => [...document.querySelectorAll('.jp-RenderedImage > img')].map(image => image.alt)"""
LONGEST_LINE = """() => Math.max(...[...document.querySelectorAll('.jp-RenderedMarkdown > p')].map(paragraph => {
  const range = document.createRange(), walker = document.createTreeWalker(paragraph, NodeFilter.SHOW_TEXT), lines = {};
  for (let text; (text = walker.nextNode());) for (let i = 0; i < text.length; i++) {
    range.setStart(text, i);
    range.setEnd(text, i + 1);
    const line = Math.round(range.getBoundingClientRect().bottom / 10);
    lines[line] = (lines[line] ?? 0) + 1;
  }
  return Math.max(0, ...Object.values(lines));
}))"""
SCROLL = """picture => {  // what scrolls it: the nearest part that is wider than it is shown
  for (let part = picture; part; part = part.parentElement) {
    part.scrollLeft = 300;
    if (part.scrollLeft) return;
  }
}"""


def test_a_stored_picture_has_its_sentence_for_those_who_do_not_see_it(page: Page):
    without_python(page)
    open_lesson(page, WEIGHTS)
    page.locator(".jp-RenderedImage > img").first.wait_for(state="attached")
    page.wait_for_function(f"() => ({ALTS})().length > 1 && ({ALTS})().every(alt => alt.length > 20)", timeout=20_000)
    assert page.evaluate(ALTS)[0].startswith("dW[")


def test_lines_of_prose_are_about_75_characters_long(page: Page):
    without_python(page)
    open_lesson(page, WEIGHTS)
    paragraph = page.locator(".jp-RenderedMarkdown > p").first
    paragraph.wait_for()
    longest = page.evaluate(LONGEST_LINE)
    assert 60 <= longest <= 85


def test_stored_pictures_are_dark_on_a_dark_page(page: Page):
    without_python(page)
    page.emulate_media(color_scheme="dark")
    page.route("**/lesson_pictures.js", lambda route: route.abort())  # so that the stored ones are seen
    open_lesson(page, WEIGHTS)
    picture = page.locator(".jp-RenderedImage > img").first
    expect(picture).to_have_css("filter", "invert(0.933) hue-rotate(180deg)", timeout=20_000)


def test_on_a_phone_only_the_picture_is_scrolled(page: Page, address: str):
    phone = page.context.browser.new_context(base_url=address, **PHONE).new_page()
    without_python(phone)
    open_lesson(phone, WEIGHTS)
    explorer = phone.locator(".convgrad-recorded").first
    parts = [explorer.locator(f".convgrad-{part}").first for part in ("steps", "sentence", "picture")]
    parts[0].wait_for()
    before = [part.bounding_box()["x"] for part in parts]
    explorer.locator(".convgrad-picture").evaluate(SCROLL)
    after = [part.bounding_box()["x"] for part in parts]
    assert after[:2] == before[:2]
    assert after[2] < before[2] - 100
    assert max(part.bounding_box()["width"] for part in parts[:2]) <= 390


def test_where_the_browser_finds_no_gpu_the_page_says_so(page: Page):
    page.add_init_script("GPU.prototype.requestAdapter = async () => null;")
    without_python(page)
    open_lesson(page)
    page.locator(LINES, has_text="This browser finds no GPU").wait_for(timeout=20_000)


def test_a_lesson_is_named_after_its_heading(page: Page):
    without_python(page)
    open_lesson(page, WEIGHTS)
    expect(page).to_have_title("The weight gradient of a convolution")
    assert "conv2d" in page.locator("meta[name=Description]").get_attribute("content")


def test_the_controls_of_a_live_picture_are_named_and_seen_in_forced_colors(page: Page):
    start_lesson(page, WEIGHTS)
    run_cell(page, "explorers.weight_gradient()")
    for name in "play or pause", "back to the start":
        expect(page.get_by_role("button", name=name, exact=True).first).to_be_attached(timeout=20_000)
    page.emulate_media(forced_colors="active")
    for part in ".noUi-target", "button.convgrad-fold":
        expect(page.locator(part).first).to_have_css("border-top-width", "1px")
        expect(page.locator(part).first).to_have_css("border-top-style", "solid")
