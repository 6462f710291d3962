"""Each lesson as a reader meets it: opened, its explorers moved by mouse and keys, its questions and puzzles answered.

One path leads through each lesson. It runs only the cells that the explorers need: that all cells compute what is
stored is nbval's part. What the browser shows is compared with the same explorer in this process.
"""

import json
import re
from collections.abc import Iterator
from statistics import median

import pytest
from playwright.sync_api import Locator, Page, expect
from support import browser
from support.browser import LivePage, Shown, browser_path, filmed, soon, text_of
from support.legible import CONTRAST, contrast
from support.notebook_gate import NOTEBOOKS, texts
from support.sample import ALL, at_night, sample

import helpers
from helpers import gpu
from helpers.course.lessons import lessons
from helpers.exercises import ALL_PUZZLES, MATCHINGS, PUZZLES, QUESTIONS
from helpers.grading import student_files
from helpers.moved import MOVED
from helpers.pictures.canvas import number
from helpers.speed import recorded
from helpers.widgets import WAKE
from helpers.widgets.explorer import Explorer
from start import FIRST as FIRST_PAGE

LESSONS = sorted(NOTEBOOKS.glob("[0-9]*.ipynb"))
LESSONS += [NOTEBOOKS / "appendix_c_launcher.ipynb", NOTEBOOKS / "appendix_e_order_of_a_sum.ipynb"]
LESSONS.append(LESSONS.pop(2))  # lesson 02 comes last and stays open: the other tests look at it
MAP = NOTEBOOKS / FIRST_PAGE
LESSONS.insert(0, MAP)
LESSONS = LESSONS if ALL else LESSONS[-1:]
FIRST, BIG = "explorers.weight_gradient(", "explorers.any_weight_gradient()"  # of lesson 02
CARD = "WGSL on one screen"

SIZES = """images => Promise.all(images.map(async image => {
  await image.decode();
  return [image.naturalWidth, image.getBoundingClientRect().width];
}))"""
LINES = "step => Math.round(step.querySelector('p').clientHeight / (1.35 * 13))"  # of text
# The sliders of a convolution that are moved, one after the other, to numbers that are typed. A slider whose limits
# change comes after the one that changes them, and some numbers are out of range.
MOVES = "padding 2, stride 3, H 1, dilation 99, kH 5, groups 2, Co 3, co 2, Ci -5, W 99, N 99, n 99, kW 3"
SOLVED = {  # puzzles that are solved
    "00": ["map", "repair"],
    "01": ["output_window"],
    "02": ["conv2d_grad_weight"],
    "03": ["pixel_window", "strided_grad_input"],
    "04": ["tree_step", "arg_max_tree"],
    "05": ["catch_them_all", "check_grad_input"],
    "06": ["product", "transposed_product"],
    "08": ["register_tile"],
    "09": ["split_batch", "combine_gradients"],
    "c": ["raw_launch", "second_launch"],
    "e": ["kahan_sum", "fixed_point_sum"],
}


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[browser.Lab]:
    """One JupyterLab and one browser for all lessons."""
    with browser.lab(tmp_path_factory.mktemp("jupyterlab")) as running:
        yield running


@pytest.fixture
def lesson(request: pytest.FixtureRequest, lab: browser.Lab, monkeypatch: pytest.MonkeyPatch) -> Iterator[LivePage]:
    """The page of a lesson; no test may leave an error in the page or in the kernel."""
    monkeypatch.setattr(recorded, "own", lambda: None)  # the copy of the project has no results of `bench`
    monkeypatch.setenv(browser.MY, str(lab.my))
    lab.forget()
    page = lab.lesson(request.param, new=request.function is test_a_path_through_a_lesson)
    yield page
    assert page.troubles == []


# --- One path through each lesson ------------------------------------------------------------------------------


@pytest.mark.parametrize("lesson", LESSONS, indirect=True, ids=lambda path: path.stem)
def test_a_path_through_a_lesson(lesson, monkeypatch):
    number = lesson.lesson.path.name.removeprefix("appendix_").split("_")[0]
    everything_stored_shows(lesson)
    touched = [*sample(lesson.explorers, 2), *(cell for cell in lesson.explorers if "explorers.any_" in cell.source)]
    for cell, shown in zip(lesson.explorers, lesson.make(lesson.explorers), strict=True):
        stored = "\n".join(text for output in cell.outputs for text in texts(output))
        assert shown.words.inner_text() in stored or "explorers.mistakes(" in cell.source  # here nothing was trained
        all_is_seen_together(shown)
        controls_are_named(shown.unfold())
        if cell not in touched or not shown.names:
            continue
        with monkeypatch.context() as here:
            as_it_raced(shown, here)
            same = lesson.same(cell.source)
        a_key_moves(shown, same)
        for name, value in sample((move.split() for move in MOVES.split(",") if "explorers.any_" in cell.source), 6):
            if shown.box(name).is_enabled():  # its limits may be equal at present
                shown.type(name, int(value))
                same.set(**{name: int(value)})
                shown.shows(same)
    for kind in ("error", "stderr"):
        expect(lesson.page.locator(f"[data-mime-type='application/vnd.jupyter.{kind}']")).to_have_count(0)
    for name in SOLVED.get(number, []):
        solved(lesson, name)
    MORE.get(number, lambda lesson: None)(lesson)


def everything_stored_shows(lesson: LivePage) -> None:
    """Before anything runs."""
    outputs = [output for _, output in lesson.lesson.outputs]
    pictures = lesson.page.locator(".jp-OutputArea img")
    expect(lesson.page.locator(".jp-OutputArea-output")).to_have_count(len(outputs))
    expect(pictures).to_have_count(sum("image/png" in output.get("data", {}) for output in outputs))
    assert all(natural >= width > 0 for natural, width in pictures.evaluate_all(SIZES))
    expect(lesson.page.get_by_text(re.compile("(Error displaying|Loading) widget"))).to_have_count(0)


def as_it_raced(shown: Shown, here: pytest.MonkeyPatch) -> None:
    """A data race may count otherwise each time: here the launch returns what the browser's kernel counted."""
    for said in re.findall(r"threads added 1 at once: ([\d,]+) arrived", shown.drawn()):
        count = int(said.replace(",", ""))
        assert 0 < count <= 65_536
        here.setattr(gpu, "launch", lambda *given, count=count: [count])


def controls_are_named(shown: Shown) -> None:
    """A screen reader finds every control by its name, and no name is cut."""
    names = shown.names
    assert names or shown.cell.get_by_role("spinbutton").count()  # in the picture itself
    assert all(names)
    assert len({*names}) == len(names)
    snapshots = "\n".join(control.aria_snapshot() for control in shown.controls.all())
    found = re.findall('- (spinbutton|slider)(?: "(.*?)")?', snapshots)
    assert sorted(found) == sorted((role, name) for name in names for role in ("spinbutton", "slider"))
    expect(shown.image).to_have_count(1)
    expect(shown.words).to_have_attribute("aria-live", "polite")
    assert shown.boxes.evaluate_all(browser.CUT) == []


def all_is_seen_together(shown: Shown) -> None:
    """What to try, up to four controls, picture and sentence fit a window of 1280 x 720, beside JupyterLab's files."""
    window = shown.page.locator(".jp-WindowedPanel-outer").bounding_box()
    image, output = shown.image.bounding_box(), shown.output.bounding_box()
    assert image["x"] + image["width"] <= output["x"] + output["width"]
    assert output["height"] <= window["height"], shown.names
    assert len(shown.names) <= 4
    for name in ("more settings", "numbers"):
        for fold in shown.fold(name).all():
            expect(fold).to_have_attribute("aria-expanded", "false")
    for step in shown.steps.all():
        assert step.evaluate(LINES) <= 2, step.inner_text()


def a_key_moves(shown: Shown, same: Explorer) -> None:
    """A key on the last slider that can be moved changes the picture in the browser as in this process."""
    name, image = next(name for name in reversed(same.values) if shown.box(name).is_enabled()), shown.drawn()
    at_end = shown.values[name] == float(shown.handle(name).get_attribute("aria-valuemax"))
    shown.handle(name).press("ArrowLeft" if at_end else "ArrowRight")
    same.set(**{name: same.values[name] + (-1 if at_end else 1)})
    shown.shows(same)
    assert shown.drawn() != image, name


def answered(lesson: LivePage, code: str, said: str) -> None:
    cell = lesson.code_cell(code.split(",")[0])
    lesson.retype(cell, code)
    expect(cell).to_contain_text(said)


def written(cell: Locator, name: str) -> None:
    """In an editor, the skeleton is no attempt, and the official kernel passes all tests."""
    area, tests = cell.get_by_role("textbox", name=re.compile(f"your .* for {name}$")), len(ALL_PUZZLES[name].tests)
    expect(area).to_have_value(helpers.skeleton(name))
    area.press("Control+Enter")
    expect(cell.locator(".convgrad-headline")).to_have_text("not attempted (all tests)")
    area.fill(ALL_PUZZLES[name].solution.text)
    area.press("Control+Enter")
    expect(cell.locator(".convgrad-state")).to_have_text(f"{tests} of {tests} tests pass")


def solved(lesson: LivePage, name: str) -> None:
    """The skeleton is no attempt, and the official kernel passes all tests."""
    if any(cell.source.endswith(editor := f'helpers.write("{name}")') for cell in lesson.lesson.code):
        lesson.prepare([lesson.source(editor)])
        return written(lesson.code_cell(editor), name)
    cell, tests = lesson.code_cell(f'helpers.grade("{name}"'), len(ALL_PUZZLES[name].tests)
    expect(cell).to_contain_text(f"0 of {tests} tests pass")
    expect(cell.get_by_text("not attempted").first).to_be_attached()
    answered(
        lesson, f'helpers.grade("{name}", {json.dumps(ALL_PUZZLES[name].solution.text)})', f"{tests} of {tests} tests"
    )


def the_card_fits_one_screen(lesson: LivePage) -> None:
    card = lesson.cells.filter(has=lesson.page.get_by_role("heading", name=CARD))
    tables = lesson.cells.filter(has_text="name, declare")
    for cell in (card, tables):
        expect(cell).to_have_count(1)
    window = lesson.page.locator(".jp-WindowedPanel-outer").bounding_box()
    assert sum(cell.bounding_box()["height"] for cell in (card, tables)) <= window["height"]
    for part in (card.locator("pre"), tables.locator("table")):
        assert part.evaluate("part => part.scrollWidth <= part.parentElement.clientWidth")
    assert card.locator("pre").evaluate("pre => pre.clientHeight / pre.textContent.trim().split('\\n').length") < 24


def a_race_is_drawn(lesson: LivePage) -> None:
    """The first lesson's end: without its barrier, a kernel is right by luck, and both accesses are to be seen."""
    name = "reverse_in_workgroup"
    cell = lesson.code_cell(f'helpers.write("{name}")')
    solved(lesson, name)
    area = cell.get_by_role("textbox", name=re.compile(f"your .* for {name}$"))
    area.fill(PUZZLES[name].solution.text.replace("  workgroupBarrier();\n", ""))
    area.press("Control+Enter")
    expect(cell.locator(".convgrad-headline")).to_have_text("unsafe (all tests)")
    caption = "Thread 3 writes box[3] in line 12; thread 0 reads box[3] in line 15: nothing says which of the two comes"
    expect(cell.get_by_text(caption)).to_be_visible()
    expect(cell.locator("figure svg")).to_be_visible()
    the_card_fits_one_screen(lesson)


def weights_are_clicked(lesson: LivePage) -> None:
    """The digit and the output are drawn, and the last picture begins with the filter that was clicked in the first."""
    first, last = lesson.explorers[0], lesson.source("helpers.your_convolution(")
    (shown,) = lesson.make([first])
    images = shown.image.locator("image")
    expect(images).to_have_count(4)  # the digit, the output, and two in the legend
    assert all(width > 9 for _, width in images.evaluate_all(SIZES))
    before = shown.words.inner_text()
    shown.cell.get_by_role("spinbutton", name="weight, row 0, column 0", exact=True).press("2")
    expect(shown.words).not_to_have_text(before)
    (again,) = lesson.make([last])
    expect(again.words).to_contain_text(shown.words.inner_text().partition(" output[")[0])


def each_lesson_can_be_pointed_at_and_opened(lesson):
    """What was right before is ticked; lessons are pointed at and chosen by finger and keys, and opened by a link."""
    for name in ("map", "conv2d_grad_weight", "strided_grad_input"):
        student_files.keep(name, PUZZLES[name].official.source)
    student_files.keep("guard", PUZZLES["guard"].skeleton.replace("}", "} //"))
    lesson.restart()
    (cell,) = lesson.explorers
    (shown,) = lesson.make([cell])
    link = shown.cell.locator(".jp-RenderedMarkdown")
    for each in lessons():
        shown.cell_of(each.name, 0, 0).hover(position={"x": 20, "y": 20})
        expect(shown.words).to_contain_text(f"{each.name}, {each.minutes} minutes")
        expect(link).to_contain_text(f"Open {each.name}")
        right = [name for name in ("map", "conv2d_grad_weight", "strided_grad_input") if name in each.puzzles]
        if right:
            expect(link).to_contain_text(f"{len(right)} of {len(each.puzzles)} right: {', '.join(right)}")
    window = lesson.page.locator(".jp-WindowedPanel-outer")
    window.evaluate("window => window.scrollTop = 0")
    ends = [part.bounding_box() for part in (shown.cell_of("02 the weight gradient", 0, 0), window)]
    assert ends[0]["y"] + ends[0]["height"] <= ends[1]["y"] + ends[1]["height"], "the first screen cuts the map"
    for paper in "Dark", "Light":
        theme(lesson, paper)
        tapped(lesson.page, shown.cell_of("06 a fused layer, backward", 0, 0))
        expect(shown.words).to_contain_text("06 a fused layer, backward, ")
        for name, key in ("08 the speed ladder", "Enter"), ("A how a simulator works", "Space"):
            tab_to(shown.cell_of(name, 0, 0))
            lesson.page.keyboard.press(key)
            expect(link).to_contain_text(f"Open {name}")
    shown.cell_of("03 the input gradient", 0, 0).click()
    expect(shown.steps.nth(2).get_by_role("img", name="done", exact=True)).to_be_visible()
    link.get_by_role("link", name="Open 03 the input gradient").press("Enter")
    lesson.page.wait_for_function(browser.OPENED, arg="notebooks/03_input_gradient.ipynb")  # with its kernel
    lesson.page.evaluate(browser.CLOSE)
    for old, new in MOVED.items():  # where a link has an old name
        lesson.page.evaluate(browser.OPEN, f"notebooks/{old}")
        lesson.page.get_by_role("link", name=f"Open {new}").click()
        lesson.page.wait_for_function(browser.OPENED, arg=f"notebooks/{new}")
        lesson.page.evaluate(browser.CLOSE)
        lesson.page.evaluate(browser.CLOSE)
    lesson.page.mouse.move(0, 0)  # off the pictures of the lesson that is next


def fields_are_uncovered(lesson: LivePage) -> None:
    """By a click and by a key; a test that lets wrong kernels through names one, and a line is found."""
    (shown,) = lesson.make(lesson.explorers[:1])
    field = "fields, row {}, column 2".format
    for row in range(6):
        field_of_row = shown.cell.get_by_role("spinbutton", name=field(row), exact=True)
        field_of_row.click() if row % 2 else field_of_row.press("1")
        expect(shown.words).to_contain_text(f"{row + 1} of 30 fields are open: {row + 1} caught")
    expect(shown.words).to_contain_text("“fractions” catches all 6 faults")
    expect(shown.steps.get_by_role("img", name="done", exact=True)).to_have_count(2)
    cell = lesson.code_cell('helpers.write("catch_them_all")')
    area = cell.get_by_role("textbox", name=re.compile("your .* for catch_them_all$"))
    area.fill("test = shape(1, 1, 5, 5, 1, 3, 3), ones()")
    area.press("Control+Enter")
    expect(cell.locator(".convgrad-headline")).to_have_text("wrong (13 of 40 tests)")
    expect(cell).to_contain_text("“batch not summed” escapes your test")
    answered(lesson, 'helpers.find_fault("fault_in_max_pooling", 46)', "line found")


MORE = {
    "00": a_race_is_drawn,
    "01": weights_are_clicked,
    "05": fields_are_uncovered,
    "start": each_lesson_can_be_pointed_at_and_opened,
}


# --- What one lesson shows for all ------------------------------------------------------------------------------


MARK = 'helpers.mark("pixels_of_dW[0,1]")'
WEIGHTS = pytest.mark.parametrize("lesson", LESSONS[-1:], indirect=True, ids=["02"])


@WEIGHTS
@at_night
def test_the_mouse_moves_the_picture_and_one_that_stands_still_is_noticed(lesson):
    shown, same = lesson.explorer(BIG).unfold(), lesson.same(BIG)
    shown.handle("kw").hover()
    lesson.page.mouse.down()
    lesson.page.mouse.move(1200, 400, steps=4)  # far to the right of the slider's end
    lesson.page.mouse.up()
    same.set(kw=2)
    shown.shows(same)
    shown.image.evaluate("image => image.replaceWith(image.cloneNode(true))")
    shown.handle("kh").press("ArrowRight")
    same.set(kh=1)
    with pytest.raises(AssertionError, match="the picture"):
        shown.shows(same, seconds=1)


@WEIGHTS
@at_night
def test_a_cell_is_looked_at_chosen_dragged_to_and_reached_by_keys(lesson, record_property):
    shown, same, mouse = lesson.explorer(FIRST).unfold(), lesson.same(FIRST), lesson.page.mouse
    count, chosen = lesson.cells.count(), shown.values
    shown.cell_of("grad_weight", 2, 1).hover()
    expect(shown.words).to_have_text(same.set(kh=2, kw=1))
    shown.words.hover()
    expect(shown.words).to_have_text(same.set(**chosen))
    soon(lesson.page, "sliders, which follow who looks at a cell, and go back", lambda: shown.values, chosen)
    shown.cell_of("grad_weight", 1, 0).click()
    same.set(kh=1, kw=0)
    shown.shows(same)
    for key, place in (("ArrowRight", (1, 1)), ("ArrowDown", (2, 1)), ("ArrowDown", (2, 1)), ("ArrowLeft", (2, 0))):
        lesson.page.keyboard.press(key)
        expect(shown.cell_of("grad_weight", *place)).to_be_focused()
    same.set(kh=2, kw=0)
    shown.shows(same)
    mouse.down()  # a drag, far faster than pictures are drawn
    for row, column in [divmod(i * 7 % 9, 3) for i in range(60)] + [(0, 2)]:
        shown.cell_of("grad_weight", row, column).hover()
    mouse.up()
    same.set(kh=0, kw=2)
    shown.shows(same)
    assert lesson.cells.count() == count
    times = sorted(shown.look("grad_weight", i % 3, (i + 1) % 3) for i in range(40))
    told = f"from pointer to new picture, of 40: median {median(times):.0f} ms, 95 % within {times[37]:.0f} ms"
    record_property("told", told)


@at_night
@WEIGHTS
def test_a_window_is_dragged_as_a_whole_and_steps_are_ticked(lesson):
    shown, same, mouse = lesson.explorer(FIRST).unfold(), lesson.same(FIRST), lesson.page.mouse
    drawn, frame = shown.drawn(), shown.cell.locator(".convgrad-touch-frame")
    expect(shown.steps).to_have_count(3)
    frame.hover()
    assert frame.evaluate("frame => getComputedStyle(frame).cursor") == "grab"
    box = frame.bounding_box()
    x, y, across, down = box["x"] + 20, box["y"] + 20, box["width"] / 3, box["height"] / 3
    mouse.move(x, y)
    mouse.down()
    for rows, columns in ((0.4, 0.4), (0, 0.6), (1.2, 1.1), (9, 0.3)):
        mouse.move(x + columns * across, y + rows * down, steps=7)
        words = same.set(kh=round(rows), kw=round(columns))  # far below: clamped
        expect(shown.words).to_have_text(words)
    ticked(shown, False, False, False)
    mouse.move(x, y - 9 * down)
    mouse.move(x + 9 * across, y - 9 * down)
    same.set(kh=0, kw=2)
    shown.shows(same)
    mouse.up()
    ticked(shown, False, True, False)
    mouse.move(x + 2 * across, y + 1.6 * down)  # within the frame, but nothing is held any more: a pixel is looked at
    expect(shown.words).to_have_text(same.picture.show(0, 2, product=7).sentence)
    shown.words.hover()
    same.set()
    shown.shows(same)
    shown.cell_of("grad_weight", 2, 2).hover()  # only looked at
    ticked(shown, True, True, False)
    shown.cell_of("grad_weight", 0, 0).click()
    ticked(shown, True, True, False)
    same.set(kh=0, kw=0)
    shown.shows(same)
    assert shown.drawn() == drawn


def ticked(shown: Shown, *done: bool) -> None:
    """Assert that these steps have their ticks, as sign and in words, where a screen reader hears of a change."""
    expect(shown.steps).to_have_text([re.compile(f"^{i + 1}{'✓' * tick}[A-Z]") for i, tick in enumerate(done)])
    for step, tick in zip(shown.steps.all(), done, strict=True):
        expect(step).to_have_attribute("aria-live", "polite")
        expect(step.get_by_role("img")).to_have_attribute("aria-label", "done" if tick else "not done yet")


@WEIGHTS
def test_the_keyboard_alone_is_enough_and_opens_settings_and_numbers_in_place(lesson):
    shown, keyboard = lesson.explorer(BIG), lesson.page.keyboard
    words, count = shown.words.inner_text(), lesson.cells.count()
    tab_to(shown.box("co"))  # from the cell, which is selected, in command mode
    keyboard.press("Control+a")
    keyboard.type("dd00xab1")  # in command mode these would delete, restart, cut and insert
    keyboard.press("Enter")
    expect(shown.handle("co")).to_have_attribute("aria-valuetext", "1")
    expect(shown.words).not_to_have_text(words)
    assert lesson.cells.count() == count
    keyboard.press("ArrowDown")
    for name in ("more settings", "numbers"):
        fold = shown.fold(name)
        tab_to(fold)
        keyboard.press("Space")
        expect(fold).to_have_attribute("aria-expanded", "true")
        if name == "more settings":
            assert shown.box("dilation").is_visible(), "a fold is said to be open before it is"
            assert shown.box("dilation").bounding_box()["y"] > shown.image.bounding_box()["y"]
            keyboard.press("Space")
            expect(shown.boxes).to_have_count(4)
    table = shown.cell.get_by_role("table", name="grad_output, n = 0, co = 0")
    expect(table.get_by_role("columnheader")).to_have_count(5)
    first = lesson.same(BIG).picture.lefts[0, :, 0, 0]
    expect(table.get_by_role("cell").nth(1)).to_have_text(number(first[0]))
    shown.type("co", 2)
    table = shown.cell.get_by_role("table", name="grad_output, n = 0, co = 2")
    expect(table.get_by_role("cell").nth(1)).to_have_text(number(first[2]))
    shown.fold("numbers").click()
    expect(shown.cell.get_by_role("table")).to_have_count(0)


def tab_to(control: Locator) -> None:
    for _ in range(30):
        control.page.keyboard.press("Tab")
        if control.evaluate("control => control === document.activeElement"):
            return
    pytest.fail(f"Tab does not reach {control}")


def steady(shown: Shown) -> list[float]:
    """Assert that ten steps of a slider move nothing on the page, and that no painted frame lacks the picture.

    Returns the milliseconds that each step took.
    """
    shown.handle("kh").focus()
    before, times = layout(shown), []
    with filmed(shown.page) as frames:
        for i in range(10):
            times.append(shown.step("ArrowLeft" if i % 2 else "ArrowRight"))
            soon(shown.page, "a frame of each step", lambda i=i: len(frames) > i, True)
            assert layout(shown) == before, "the page jumps"
    image = before[-1]
    rows = slice(max(0, round(image["y"])), round(image["y"] + image["height"]))  # the view may cut it off below
    columns = slice(round(image["x"]), round(image["x"] + image["width"]))
    ink = [(frame[rows, columns] < 128).mean() for frame in frames]
    assert min(ink) > max(ink) / 2, "the picture flickers"
    return times


def layout(shown: Shown) -> tuple[float, dict, dict]:
    """How far the page is scrolled, and where the output and its picture are, in CSS pixels."""
    scrolled = shown.page.locator(".jp-WindowedPanel-outer").evaluate("panel => panel.scrollTop")
    return scrolled, shown.output.bounding_box(), shown.image.bounding_box()


HIDE = "image.style.visibility = image.style.visibility ? '' : 'hidden'"  # at every second key
GROW = "image.style.height = image.clientHeight + 1 + 'px'"


@WEIGHTS
@at_night
def test_nothing_jumps_or_flickers_and_it_would_be_noticed(lesson, record_property):
    """How fast a picture follows its slider is only told, and never judged: a busy machine is no mistake."""
    times = steady(lesson.explorer(BIG).unfold())
    record_property("told", f"from key to new picture, median of 10: {median(times):.0f} ms (most {max(times):.0f})")
    for fault, found in ((HIDE, "flickers"), (GROW, "jumps")):
        shown = lesson.explorer(FIRST).unfold()
        shown.image.evaluate(f"image => addEventListener('keydown', window.fault = () => {{ {fault} }}, true)")
        with pytest.raises(AssertionError, match=found):
            steady(shown)
        lesson.page.evaluate("removeEventListener('keydown', window.fault, true)")


@at_night
@WEIGHTS
def test_cells_of_the_picture_are_marked_by_finger_mouse_keys_and_typing_in_both_themes(lesson):
    theme(lesson, "Dark")
    cell = lesson.code_cell(MARK)
    in_a_new_kernel(lesson, cell, MARK)
    reply, box, keyboard = cell.get_by_role("status"), cell.get_by_role("textbox", name="marked"), lesson.page.keyboard
    pixels, legend = cell.get_by_role("gridcell"), cell.locator(".convgrad-legend")
    expect(pixels).to_have_count(25)
    pixel = dict(zip("abcdefghijklmnopqrstuvwxy", pixels.all(), strict=True))
    expect(cell.get_by_role("grid")).to_have_attribute("aria-label", re.compile("cells. The picture shows input"))
    dragged_by_finger(lesson.page, pixel["a"], pixel["e"])
    expect(box).to_have_value("a b c d e")
    expect(pixel["a"]).to_be_focused()
    before = as_it_is(lesson)
    for key in ("ArrowDown", "Space", "m", "b", "Enter", "e", "x", "d", "d", "ArrowLeft", "PageDown", "Control+b"):
        keyboard.press(key)
    expect(box).to_have_value("a b c d f m x")
    pixel["f"].drag_to(pixel["h"])  # the first one is marked: the drag takes marks off
    expect(box).to_have_value("a b c d m x")
    assert as_it_is(lesson) == before
    cell.get_by_role("button", name="Check").click()
    expect(reply).to_contain_text("wrong: you marked 2 cells too many and left out 5; ")
    expect(legend).to_have_text("✓ right    ✗ marked, but wrong    ○ left out")
    for name, words, line in (
        ("a", "marked, but wrong", "solid"),
        ("b", "right", "solid"),
        ("g", "left out", "dashed"),
    ):
        expect(pixel[name]).to_have_attribute("aria-label", re.compile(f"^{name}, row ., column ., {words}$"))
        assert pixel[name].evaluate("cell => getComputedStyle(cell).borderTopStyle") == line
    for ink in (["rgb(232, 232, 232)", "rgb(124, 196, 255)"], ["rgb(26, 26, 26)", "rgb(0, 90, 156)"]):
        assert [pixel[name].evaluate("cell => getComputedStyle(cell).borderTopColor") for name in "ag"] == ink
        theme(lesson, "Light")
    dragged_by_finger(lesson.page, pixel["a"], pixel["e"])
    expect(box).to_have_value("m x")
    box.fill("b c d g h i l m n")
    expect(cell.get_by_role("gridcell", selected=True)).to_have_count(9)
    expect(legend).to_have_text("")
    box.press("Enter")
    expect(reply).to_have_text("right")
    sent = []
    lesson.socket.on("framesent", lambda frame: sent.append('"whole"' in text_of(frame)))
    box.blur()
    lesson.page.wait_for_timeout(100)
    assert not any(sent), "the reply is cleared by who leaves the box"
    lesson.restart()
    pixel["b"].click()
    expect(reply).to_contain_text("Python does not answer yet")
    in_a_new_kernel(lesson, cell, MARK)
    expect(box).to_have_value("c d g h i l m n")
    soon(lesson.page, "what is kept", student_files.answers, {"pixels_of_dW[0,1]": "c d g h i l m n"})


FIVE_PARTS = """from helpers.convolution import explorers
from helpers.network.explorers import loss_of_logits
from IPython.display import display
kernel = helpers.load("conv2d_grad_weight", "1_thread_per_weight")
parts = explorers.own_filter(), loss_of_logits(), explorers.weight_gradient(), explorers.weight_steps(kernel)
for part in *parts, helpers.ask("pixels_of_a_weight"):
    display(part)"""
PAPER = "svg => getComputedStyle(svg.querySelector('rect')).fill"


@WEIGHTS
@at_night
def test_numbers_bars_a_frame_and_a_stepper_follow_finger_and_keys_in_both_themes(lesson):
    """And keys that are typed in a part change no cell and scroll nothing."""
    theme(lesson, "Dark")
    cell, page = lesson.code_cell(MARK), lesson.page
    in_a_new_kernel(lesson, cell, FIVE_PARTS)
    expect(cell.locator(".convgrad-touch")).to_have_count(4)
    *_, weights, steps = (cell.locator(".convgrad-explorer").nth(i) for i in range(4))
    weight = cell.get_by_role("spinbutton", name="weight, row 1, column 1")
    bar = cell.get_by_role("spinbutton", name="logits, 3")
    frame, thread = weights.locator(".convgrad-touch-frame"), "threads, row 0, column {}".format
    stop = steps.get_by_label("stop when")
    has = lambda part, words: expect(part.get_by_role("status")).to_contain_text(words)  # noqa: E731
    now = lambda number, value: expect(number).to_have_attribute("aria-valuenow", value)  # noqa: E731
    for paper, told in ("rgb(17, 17, 17)", "stop 1 of 1"), ("rgb(255, 255, 255)", "No stop comes after step 7"):
        assert {*cell.locator(".convgrad-svg:has(> rect)").evaluate_all(f"all => all.map({PAPER})")} >= {paper}
        tapped(page, weight)
        now(weight, "2" if "17" in paper else "0")  # from 1, and later from -1
        dragged_by_finger(page, bar, cell.locator(".convgrad-steps").nth(1))  # far above: the largest
        now(bar, bar.get_attribute("aria-valuemax"))
        dragged_by_finger(page, frame, weights.get_by_role("gridcell", name="input, row 4, column 4"))
        has(weights, "dW[2,2]")
        tapped(page, steps.get_by_role("gridcell", name=thread(2)))
        has(steps, "Thread 2 ")
        for touched, keys in (
            (weight, "ArrowUp Enter ArrowDown - 1 ArrowUp ArrowDown"),
            (bar, "Home PageUp ArrowUp ArrowDown Control+b"),
            (frame, "ArrowUp ArrowLeft ArrowLeft"),
            (steps.get_by_role("gridcell", name=thread(2)), "ArrowRight ArrowLeft ArrowLeft"),
            *(
                (cell.locator(other).first, "End a")
                for other in (".widget-play button", ".convgrad-fold", ".convgrad-send")
            ),
        ):
            touched.focus()
            before = as_it_is(lesson)
            for key in ("m", "b", "x", "d", "d", "PageDown", *keys.split()):
                page.keyboard.press(key)
            assert as_it_is(lesson) == before, keys
        now(weight, "-1")
        now(bar, "-4")
        has(weights, "dW[1,0]")
        has(steps, "Thread 1 ")
        stop.fill("n is 1")
        stop.press("Enter")
        steps.get_by_role("button", name="next stop").press("Enter")
        expect(steps.locator(".convgrad-stop")).to_contain_text(told)
        theme(lesson, "Light")
    lesson.restart()
    weight.press("ArrowUp")
    steps.get_by_role("slider").first.press("ArrowLeft")
    for silence in (cell.get_by_role("alert").first, steps.get_by_role("alert")):
        expect(silence).to_contain_text("Python does not answer")


def as_it_is(lesson: LivePage) -> tuple:
    """How far the notebook is scrolled, and its cells' kinds and texts: what keys in a part do not change."""
    cells = """() => jupyterapp.shell.currentWidget.content.widgets.map(
      cell => [cell.model.type, cell.model.sharedModel.source].join())"""
    scrolled = lesson.page.locator(".jp-WindowedPanel-outer").evaluate("panel => panel.scrollTop")
    return scrolled, lesson.page.evaluate(cells)


THEME = """async theme => {  // the command is done before the page has its colors
  const paper = () => getComputedStyle(document.documentElement).getPropertyValue('--jp-layout-color0');
  await jupyterapp.commands.execute('apputils:change-theme', {theme: `JupyterLab ${theme}`});
  for (let i = 0; i < 1500 && paper() !== (theme === 'Dark' ? '#111' : 'white'); i++)
    await new Promise(done => setTimeout(done, 20));
}"""


def theme(lesson: LivePage, name: str) -> None:
    lesson.page.evaluate(THEME, name)


LENGTHS = """area => {
  window.lengths = [];
  area.addEventListener("input", () => window.lengths.push(area.value.length));
}"""


def in_a_new_kernel(lesson: LivePage, cell: Locator, code: str) -> None:
    lesson.retype(cell, f"import helpers\n{code}")


@WEIGHTS
def test_a_kernel_is_written_in_the_page_and_outlives_its_python(lesson):
    cell, keyboard = lesson.code_cell(MARK), lesson.page.keyboard
    code = 'helpers.write("map")'
    lesson.page.evaluate("localStorage.setItem('convgrad map', 'typed in an older page')")
    in_a_new_kernel(lesson, cell, code)
    area, state = cell.get_by_role("textbox", name="your kernel for map"), cell.locator(".convgrad-state")
    expect(area).to_have_value("typed in an older page")
    cell.get_by_role("button", name="take the file's").click()
    expect(area).to_have_value(helpers.skeleton("map"))
    solution = PUZZLES["map"].solution.text
    broken, whole = solution.rsplit(";", 1)[0], len(PUZZLES["map"].tests)
    area.click()
    keyboard.press("Control+a")
    keyboard.press("Tab")
    expect(area).to_have_value(re.sub("^(?=.)", "  ", helpers.skeleton("map"), flags=re.MULTILINE))
    keyboard.press("Shift+Tab")
    expect(area).to_have_value(helpers.skeleton("map"))
    keyboard.press("Control+a")
    keyboard.insert_text(broken)
    keyboard.press("Control+Enter")
    expect(cell.locator(".convgrad-headline")).to_have_text("does not compile (all tests)")
    expect(cell.locator(".convgrad-marked")).to_have_attribute("data-line", str(broken.count("\n") + 1))
    ours = cell.get_by_role("region", name="our kernel")
    expect(ours).to_be_hidden()
    keyboard.press("Escape")  # and so out of the text
    keyboard.press("Shift+Tab")
    expect(cell.get_by_role("button", name="Start over")).to_be_focused()
    expect(cell.get_by_role("button", name="Compare with ours")).to_be_hidden()
    area.focus()
    keyboard.press("Control+a")
    keyboard.insert_text(solution.replace("* input[i]", "* input[0]"))
    place = cell.get_by_role("button", name="Start over").bounding_box()
    keyboard.press("Control+Enter")
    caption = "For output[1], your thread reads input element 0; it should read element 1."
    expect(cell.get_by_role("figure", name=caption).locator("svg")).to_be_visible()
    keyboard.press("Escape")
    keyboard.press("Shift+Tab")
    expect(cell.get_by_role("button", name="Compare with ours")).to_be_focused()
    assert cell.get_by_role("button", name="Start over").bounding_box() == place
    keyboard.press("Enter")
    assert "\n".join(ours.locator(".convgrad-line").all_inner_texts()).split() == solution.split()
    expect(ours.locator("..")).to_contain_text("A bar marks what only one of the two has.")
    for text, index in ((ours, "[i]"), (cell.locator(".convgrad-copy"), "[0]")):
        expect(text.locator(".convgrad-differs")).to_have_text(re.compile(re.escape(f"* input{index}")))
    keyboard.press("Enter")
    expect(ours).to_be_hidden()
    area.focus()
    keyboard.press("Control+a")
    keyboard.insert_text(solution)
    keyboard.press("Control+Enter")
    expect(cell.locator(".convgrad-headline")).to_have_text("right (all tests)")
    expect(cell.get_by_role("figure")).to_have_count(0)
    expect(state).to_have_text(f"{whole} of {whole} tests pass")
    expect(cell.locator(".convgrad-marked")).to_have_count(0)
    area.evaluate(LENGTHS)
    for letter in "// typed":  # each comes just after those before have been sent
        with lesson.socket.expect_event("framesent", lambda frame: '"keep"' in text_of(frame)):
            keyboard.type(letter)
    expect(state).to_contain_text("kept in")
    keyboard.press("Control+Enter")
    expect(state).to_have_text(f"{whole} of {whole} tests pass")
    lengths = lesson.page.evaluate("window.lengths")
    assert lengths == sorted(lengths)  # those did not come back over it
    written = area.input_value()
    assert student_files.read("map") == written
    keyboard.press("Control+z")
    expect(area).not_to_have_value(written)
    keyboard.press("Control+Shift+z")
    expect(area).to_have_value(written)

    lesson.restart()
    area.click()
    keyboard.press("Control+End")
    keyboard.type("// typed in vain?")
    expect(state).to_contain_text("Python does not answer, and this page keeps your text")
    in_a_new_kernel(lesson, cell, code)
    expect(area).to_have_value(f"{written}// typed in vain?")
    expect(state).to_contain_text("this page kept this text, and the file has another: which should stay?")
    assert student_files.read("map") == written
    cell.get_by_role("button", name="keep this text").click()
    expect(state).to_contain_text("kept in")
    assert student_files.read("map") == f"{written}// typed in vain?"


SAME_LINES = "area => area.scrollHeight === area.parentElement.querySelector('.convgrad-copy').offsetHeight"
BESIDE = "area => area.closest('.convgrad-write').scrollWidth - area.closest('.convgrad-write').clientWidth"
INKS = """write => [...write.querySelectorAll('.convgrad-line, [class^=wgsl-]')].map(part =>
  [part, write].map((of, i) => getComputedStyle(of)[i ? 'backgroundColor' : 'color'].match(/[0-9]+/g).slice(0, 3)
    .map(light => Number(light).toString(16).padStart(2, '0')).join('')))"""


@WEIGHTS
@at_night
def test_long_lines_are_wrapped_commented_undone_by_words_and_legible_in_both_themes(lesson):
    theme(lesson, "Dark")
    cell, keyboard = lesson.code_cell('helpers.mark("pixels_of_dW[0,1]"'), lesson.page.keyboard
    in_a_new_kernel(lesson, cell, 'helpers.write("weight_window")')
    area, marked = cell.get_by_role("textbox", name="your kernel for weight_window"), cell.locator(".convgrad-marked")
    kernel = PUZZLES["weight_window"].solution.text
    long = kernel.replace(
        "* pixel;", "* input[(oh + kh) * params.W + ow + kw]; // one product of the sum in my equation"
    )
    area.click()
    keyboard.press("Control+a")
    keyboard.insert_text(long)
    assert area.evaluate(SAME_LINES)
    assert area.evaluate(BESIDE) == 0  # nothing is cut
    rows = cell.locator(".convgrad-copy .convgrad-line").evaluate_all(
        "lines => lines.map(line => line.offsetHeight / 18)"
    )
    assert {*rows} == {1, 2}
    keyboard.press("Control+Home")
    keyboard.press("Control+/")
    expect(area).to_have_value(f"// {long}")
    keyboard.press("Control+/")
    expect(area).to_have_value(long)
    keyboard.press("Control+End")
    keyboard.type("// two words.")
    keyboard.press("Control+z")
    expect(area).to_have_value(f"{long}// two ")
    keyboard.press("Control+z")
    expect(area).to_have_value(f"{long}// ")
    for key in ("Control+Shift+z", "Control+y"):
        keyboard.press(key)
    expect(area).to_have_value(f"{long}// two words.")
    for _ in range(4):
        keyboard.press("Backspace")
    keyboard.press("Control+z")
    expect(area).to_have_value(f"{long}// two words.")
    for step in ("ow++", "oh++"):  # without it, the loop does not end
        above, below = kernel.split(step)
        keyboard.press("Control+a")
        keyboard.insert_text(above + below)
        keyboard.press("Control+Enter")
        expect(marked).to_have_attribute("data-line", str(above.count("\n") + 1))
        expect(cell.locator(".convgrad-mark")).to_contain_text(above.split("\n")[-1].strip())
    for _ in range(2):
        inks = cell.locator(".convgrad-write").evaluate(INKS)
        assert min(contrast(f"#{ink}", f"#{paper}") for ink, paper in inks) >= CONTRAST
        theme(lesson, "Light")


@WEIGHTS
@at_night
def test_a_step_a_kernel_from_a_blank_page_and_lines_of_python_are_written_in_the_page(lesson):
    cell = lesson.code_cell(MARK)
    for name in ("weight_index", "strided_grad_weight", "central_difference"):
        in_a_new_kernel(lesson, cell, f'helpers.write("{name}")')
        written(cell, name)
    expect(cell.get_by_role("textbox", name="your lines of Python for central_difference")).to_be_visible()
    comments = [line for line in helpers.skeleton("central_difference").split("\n") if line]
    expect(cell.locator(".convgrad-copy .wgsl-comment")).to_have_text(comments)
    expect(cell.locator(".convgrad-state")).to_have_text("4 of 4 tests pass")


@WEIGHTS
def test_a_question_shows_no_answer_before_an_attempt(lesson):
    cell = lesson.code_cell(MARK)
    in_a_new_kernel(lesson, cell, 'helpers.ask("pixels_of_a_weight")')
    box, why, reply = cell.locator(".convgrad-answer"), cell.locator(".convgrad-why"), cell.get_by_role("status")
    question = QUESTIONS["pixels_of_a_weight"]
    assert question.why.replace("`", "") not in lesson.page.content()
    for typed, said in (("", "write a number first"), ("1,5", "write 1.5"), ("25", "wrong: "), ("576", "right")):
        expect(why).to_be_hidden()
        box.fill(typed)
        box.press("Enter")
        expect(reply).to_contain_text(said)
    expect(why).to_contain_text(question.why.replace("`", ""))


WRITTEN = """from IPython.display import display
display(helpers.ask("pixels_of_a_weight"))
for puzzle in "grad_bias_two_passes", "central_difference":
    display(helpers.write(puzzle))"""


@WEIGHTS
@at_night
def test_a_question_a_kernel_of_two_passes_and_lines_of_python_take_finger_and_keys_in_both_themes(lesson):
    cell, page = lesson.code_cell(MARK), lesson.page
    in_a_new_kernel(lesson, cell, WRITTEN)
    box, reply = (cell.locator(f".convgrad-question {part}") for part in (".convgrad-answer", "[role=status]"))
    for paper, answer, said in ("Dark", "25", "wrong: "), ("Light", "576", "right"):
        theme(lesson, paper)
        tapped(page, box)
        expect(box).to_be_focused()
        before = as_it_is(lesson)
        for key in ("m", "b", "x", "d", "d", "Home"):
            page.keyboard.press(key)
        assert as_it_is(lesson) == before
        box.fill(answer)
        if paper == "Dark":
            send = cell.locator(".convgrad-send")
            tapped(page, send)
        else:
            page.keyboard.press("Enter")
        expect(reply).to_contain_text(said)
        for i, name in enumerate(("grad_bias_two_passes", "central_difference")):
            editor, text = cell.locator(".convgrad-editor").nth(i), ALL_PUZZLES[name].solution.text
            area, run = editor.get_by_role("textbox"), editor.get_by_role("button", name="Run the tests")
            tapped(page, area)
            expect(area).to_be_focused()
            typed = text if paper == "Light" else text.replace(" + ", " - ", 1)
            area.fill(typed)
            expect(editor.locator(".convgrad-state")).to_contain_text("kept in")
            tapped(page, run) if paper == "Dark" else page.keyboard.press("Control+Enter")
            expect(editor.locator(".convgrad-headline")).to_have_text(
                re.compile("right" if paper == "Light" else "wrong")
            )


FOUR = 'helpers.match("four_curves")'


def tapped(page: Page, part: Locator) -> None:
    """Touch a part for a moment. (Who touches a text, and then selects all of it by keys, gets the browser's menu.)

    A new theme comes behind a curtain, which lies over the page for a moment longer and takes what touches it.
    """
    part.click(trial=True)  # waits until the part is still, and uncovered
    box, session = part.bounding_box(), page.context.new_cdp_session(page)
    place = {"x": box["x"] + box["width"] / 2, "y": box["y"] + box["height"] / 2}
    for kind, points in ("touchStart", [place]), ("touchEnd", []):
        session.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})
    session.detach()


def dragged_by_finger(page: Page, word: Locator, card: Locator) -> None:
    """Put a finger on a word, and take it to a card: it is tall, and the page must not scroll instead."""
    word.click(trial=True)
    session, ends = page.context.new_cdp_session(page), [word.bounding_box(), card.bounding_box()]
    (x, y), (to_x, to_y) = ((box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in ends)
    points = [(x + (to_x - x) * part / 8, y + (to_y - y) * part / 8) for part in range(9)]
    for i, (left, top) in enumerate(points):
        finger = {"type": "touchMove" if i else "touchStart", "touchPoints": [{"x": left, "y": top}]}
        session.send("Input.dispatchTouchEvent", finger)
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    session.detach()


@WEIGHTS
@at_night
def test_words_are_laid_on_cards_by_finger_mouse_and_keys_and_outlive_their_python(lesson):
    theme(lesson, "Dark")
    cell, keyboard = lesson.code_cell(MARK), lesson.page.keyboard
    in_a_new_kernel(lesson, cell, FOUR)
    expect(cell.locator(".convgrad-svg rect")).to_have_css("fill", "rgb(17, 17, 17)")
    count, reply, why = lesson.cells.count(), cell.get_by_role("status"), cell.locator(".convgrad-why")
    named = lambda text: cell.get_by_role("button", name=text, exact=True)  # noqa: E731
    expect(cell.get_by_role("group", name="cards")).to_have_attribute("aria-label", re.compile("Curve B: the loss be"))
    dragged_by_finger(lesson.page, named("relu"), named("Curve A: no word yet"))
    expect(named("relu, on Curve A")).to_be_visible()
    named("batch").drag_to(named("Curve B: no word yet"))
    expect(named("Curve B: batch")).to_be_visible()
    named("sign").click()
    named("Curve C: no word yet").click()
    named("bias").focus()
    for key in "mbdd":  # in command mode these would change cells
        keyboard.press(key)
    keyboard.press("Enter")
    expect(named("Curve D: no word yet")).to_be_focused()
    keyboard.press("Enter")
    expect(named("Answer")).to_be_focused()
    keyboard.press("Enter")
    expect(reply).to_contain_text("wrong: A and B are exchanged")
    expect(why).to_be_hidden()
    theme(lesson, "Light")
    expect(cell.locator(".convgrad-svg rect")).to_have_css("fill", "rgb(255, 255, 255)")
    named("Curve A: relu").focus()
    for key in ("Space", "ArrowRight", "Space"):
        keyboard.press(key)
    expect(named("Curve B: relu")).to_be_visible()
    expect(reply).to_have_text("")  # it was about the words as they lay before
    named("Answer").click()
    expect(reply).to_have_text("right")
    expect(why).to_contain_text(MATCHINGS["four_curves"].why.replace("`", ""))
    assert student_files.answers() == {"four_curves": "batch, relu, sign, bias"}

    lesson.restart()
    named("Curve D: bias").focus()
    keyboard.press("Delete")
    expect(named("Curve D: no word yet")).to_be_visible()
    expect(reply).to_contain_text("Python does not answer yet")
    in_a_new_kernel(lesson, cell, FOUR)
    expect(named("Curve D: no word yet")).to_be_visible()
    expect(named("Curve C: sign")).to_be_visible()
    soon(lesson.page, "what is kept", student_files.answers, {"four_curves": "batch, relu, sign, "})
    assert lesson.cells.count() == count


PARTS = "ask", "mark", "write"
SAVE = "async () => { await jupyterapp.shell.currentWidget.context.save() }"


@at_night
def test_a_day_later_each_part_shows_what_is_stored_until_it_runs(lab):
    """Saved, closed with its kernel, and opened again; the copy of the lesson is then as it was."""
    path = NOTEBOOKS / "02_weight_gradient.ipynb"
    file, parts = lab.my.parent / "project" / "notebooks" / path.name, (FIRST, *map("helpers.{}(".format, PARTS))
    stored = file.read_bytes()
    lab.forget()
    lesson = lab.lesson(path, new=True)
    lesson.page.evaluate(browser.RUN, [lesson.source(words).number - 1 for words in parts])
    lesson._hear(len(parts))
    for words in parts:
        expect(lesson.code_cell(words).locator("[class*=convgrad-]").first).to_be_visible()
    lesson.page.evaluate(SAVE)
    saved = file.read_bytes()
    assert saved != stored
    assert b"widget-view" not in saved
    lab.page.evaluate(browser.CLOSE)
    lab.open = lesson = LivePage(lab.page, path)
    page = lesson.code_cells
    expect(page.locator("[class*=convgrad-]")).to_have_count(0)
    for words in (FIRST, "helpers.mark(", BIG):
        assert page.nth(lesson.lesson.code.index(lesson.source(words))).locator("img").count() == 1
    for words in (words for words in parts[1:] if words != "helpers.mark("):  # in a picture, it is drawn
        expect(lesson.code_cell(words).locator(".jp-OutputArea")).to_contain_text(WAKE)
    expect(lab.page.get_by_text(re.compile("(Error displaying|Loading) widget"))).to_have_count(0)
    alone = lesson.run(lesson.code_cell('helpers.write("strided_grad_weight")'))  # before any other cell
    expect(alone.locator(".convgrad-text")).to_be_visible()
    lesson.explorer(FIRST)
    file.write_bytes(stored)
    assert lesson.troubles == []


TRAIN = """from helpers.data.digits import seen_and_unseen
from helpers.network import explorers
from helpers.network.layers import Conv2d, Linear
from helpers.network.network import Network
from helpers.network.training import Training
images, labels, *_ = seen_and_unseen()
small = Conv2d("conv1", 6, 5, stride=4), Linear("fc", 10, activation="none")
training = Training(Network(small), images[:320], labels[:320], batch=4)
live = explorers.train(training, 1_000_000)
live"""


@WEIGHTS
@at_night
def test_training_is_stopped_goes_on_between_cells_is_finished_and_wound_back(lesson):
    cell, other = lesson.code_cell(MARK), lesson.code_cells.nth(0)
    lesson.run(lesson.at(lesson.lesson.code[0]))
    lesson.retype(cell, TRAIN)
    words, picture = cell.get_by_role("status"), cell.locator(".convgrad-picture")
    cell.get_by_role("button", name="Stop").click()
    expect(words).to_contain_text("Stopped:")
    stopped = words.inner_text(), picture.inner_html()
    lesson.retype(other, "training.step < live.until")
    expect(other.locator(".jp-OutputArea")).to_contain_text("True")
    assert (words.inner_text(), picture.inner_html()) == stopped
    rate = cell.get_by_role("spinbutton", name="learning rate")
    rate.fill("0.01")
    rate.press("Enter")
    cell.get_by_role("button", name="Go on").click()
    lesson.retype(other, "print(f'step {training.step}'); training.learning_rate")
    expect(other.locator(".jp-OutputArea")).to_contain_text("0.01")
    expect(cell.get_by_role("button", name="Stop")).to_be_visible()  # it trains on
    # few steps are left, so that the end is near
    lesson.retype(other, "live.until = training.step + 40; live.finish(); explorers.rewind(training)")
    expect(words).to_contain_text("Done:")
    expect(cell.get_by_role("button", name="Done")).to_be_disabled()
    shown = Shown(lesson.page, other).ready()
    assert shown.names == ["step"]
    controls_are_named(shown)
    all_is_seen_together(shown)
    shown.type("step", 30)
    expect(shown.words).to_contain_text("In step 30 (of 0 to")
    shown.cell.get_by_role("button", name="Play").or_(shown.cell.locator(".widget-play button").first).first.click()
    expect(shown.words).not_to_contain_text("In step 30")


def test_a_missing_browser_is_a_failure(monkeypatch):
    monkeypatch.delenv("CONVGRAD_BROWSER", raising=False)
    monkeypatch.setenv("PATH", "")
    with pytest.raises(pytest.fail.Exception, match=r"run `python3 start.py test`, which installs one"):
        browser_path()
