"""Each lesson as a reader meets it: opened, its explorers moved by mouse and keys, its questions and puzzles answered.

One path leads through each lesson. It runs only the cells that the explorers need: that all cells compute what is
stored is nbval's part. What the browser shows is compared with the same explorer in this process.
"""

import json
import re
from collections.abc import Iterator
from itertools import chain, product
from statistics import median

import pytest
from playwright.sync_api import Locator, expect
from support import browser
from support.browser import LivePage, Shown, browser_path, filmed, soon
from support.legible import CONTRAST, contrast
from support.notebook_gate import FOR_CUDA, NOTEBOOKS, texts
from support.notebook_gate import Cell as StoredCell
from support.paths import PATHS, Cell
from support.sample import ALL, at_night, sample

from helpers import gpu
from helpers.grading import student_files
from helpers.lessons.exercises import ALL_PUZZLES, PUZZLES
from helpers.lessons.shared.course import lessons
from helpers.set_up.jupyterlab import FIRST as FIRST_PAGE
from helpers.widgets.explorer import Explorer

LESSONS = sorted(NOTEBOOKS.glob("[0-9]*.ipynb"))
LESSONS += [NOTEBOOKS / f"appendix_{name}.ipynb" for name in ("c_launcher", "d_past_the_library", "e_order_of_a_sum")]
LESSONS.append(FOR_CUDA)
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
DIRTY = "jupyterapp.shell.currentWidget.context.model.dirty"  # JupyterLab marks it as not saved
LINES = "step => Math.round(step.querySelector('p').clientHeight / (1.35 * 13))"  # of text
# The sliders of a convolution that are moved, one after the other, to numbers that are typed. A slider whose limits
# change comes after the one that changes them, and some numbers are out of range.
MOVES = "padding 2, stride 3, H 1, dilation 99, kH 5, groups 2, Co 3, co 2, Ci -5, W 99, N 99, n 99, kW 3"
SOLVED = {  # puzzles that are solved
    "00": ["map", "repair", "reverse_in_workgroup", "own_launch"],
    "01": ["output_window", "dilated_output"],
    "02": ["conv2d_grad_weight"],
    "03": ["pixel_window", "strided_grad_input"],
    "04": ["tree_step", "arg_max_tree"],
    "05": ["catch_them_all", "check_grad_input"],
    "06": ["product", "gemm_bwd_db", "transposed_product"],
    "08": ["two_results", "register_tile_4x2"],
    "09": ["split_batch", "place_in_buffer", "combine_gradients"],
    "c": ["raw_launch", "second_launch"],
    "d": ["implicit_address", "winograd_f23"],
    "e": ["kahan_sum", "fixed_point_sum", "subgroup_sum"],
    "if": ["add_bias"],
}


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory) -> Iterator[browser.Lab]:
    """One JupyterLab and one browser for all lessons."""
    with browser.lab(tmp_path_factory.mktemp("jupyterlab")) as running:
        yield running


@pytest.fixture
def lesson(request: pytest.FixtureRequest, lab: browser.Lab, monkeypatch: pytest.MonkeyPatch) -> Iterator[LivePage]:
    """The page of a lesson; no test may leave an error in the page or in the kernel."""
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
    touched = sample(lesson.explorers, 2)
    touched += [cell for cell in lesson.explorers if "explorers.any_" in cell.source]
    for cell, shown in zip(lesson.explorers, lesson.make(lesson.explorers), strict=True):
        if "explorers.mistakes(" not in cell.source:  # here nothing was trained
            stored = chain.from_iterable(map(texts, cell.outputs))
            assert shown.words.inner_text() in "\n".join(stored)
        all_is_seen_together(shown)
        controls_are_named(shown.unfold())
        if cell in touched and shown.names:
            follows_keys_and_numbers(lesson, cell, shown, monkeypatch)
    for kind in ("error", "stderr"):
        expect(lesson.page.locator(f"[data-mime-type='application/vnd.jupyter.{kind}']")).to_have_count(0)
    for name in SOLVED.get(number, []):
        solved(lesson, name)
    for path in PATHS:
        if path.startswith(f"{number}: "):
            Cell(lesson, lesson.cells).follow(path)
    if number in MORE:
        MORE[number](lesson)


def follows_keys_and_numbers(lesson: LivePage, cell: StoredCell, shown: Shown, monkeypatch: pytest.MonkeyPatch) -> None:
    """Require the same picture in the browser as in this process, after a key and after each number that is typed."""
    with monkeypatch.context() as here:
        as_it_raced(shown, here)
        same = lesson.same(cell.source)
    a_key_moves(shown, same)
    if "explorers.any_" not in cell.source:
        return
    for move in sample(MOVES.split(", "), 6):
        name, value = move.split()
        if shown.box(name).is_enabled():  # its limits may be equal at present
            shown.type(name, int(value))
            same.set(**{name: int(value)})
            shown.shows(same)


def everything_stored_shows(lesson: LivePage) -> None:
    """Require each stored output and picture, before anything runs, and a notebook in which nothing has changed."""
    outputs = [output for _, output in lesson.lesson.outputs]
    pictures = lesson.page.locator(".jp-OutputArea img")
    expect(lesson.page.locator(".jp-OutputArea-output")).to_have_count(len(outputs))
    expect(pictures).to_have_count(sum("image/png" in output.get("data", {}) for output in outputs))
    assert all(natural >= width > 0 for natural, width in pictures.evaluate_all(SIZES))
    expect(lesson.page.get_by_text(re.compile("(Error displaying|Loading) widget"))).to_have_count(0)
    assert not lesson.page.evaluate(DIRTY)


def as_it_raced(shown: Shown, here: pytest.MonkeyPatch) -> None:
    """A data race may count otherwise each time: here the launch returns what the browser's kernel counted."""
    for digits in re.findall(r"threads added 1 at once: ([\d,]+) arrived", shown.drawn()):
        count = int(digits.replace(",", ""))
        assert 0 < count <= 65_536
        here.setattr(gpu, "launch", lambda *arguments, count=count: [count])


def controls_are_named(shown: Shown) -> None:
    """A screen reader finds every control by its name, and no name is cut."""
    names = shown.names
    others = shown.cell.get_by_role("spinbutton").or_(shown.cell.get_by_role("combobox"))
    assert names or others.count()  # in the picture itself, or lists of names
    assert all(names)
    assert len({*names}) == len(names)
    snapshots = "\n".join(control.aria_snapshot() for control in shown.controls.all())
    roles_and_names = re.findall('- (spinbutton|slider)(?: "(.*?)")?', snapshots)
    assert sorted(roles_and_names) == sorted(product(("spinbutton", "slider"), names))
    expect(shown.image).to_have_count(1)
    expect(shown.words).to_have_attribute("aria-live", "polite")
    assert shown.boxes.evaluate_all(browser.CUT) == []


def all_is_seen_together(shown: Shown) -> None:
    """The suggested steps, up to four controls, picture and sentence fit 1280 x 720, beside JupyterLab's files."""
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
    image = shown.drawn()
    seen = shown.names  # a list of names has no box
    name = next(name for name in reversed(same.values) if name in seen and shown.box(name).is_enabled())
    key, change = "ArrowRight", 1
    if shown.values[name] == float(shown.handle(name).get_attribute("aria-valuemax")):
        key, change = "ArrowLeft", -1
    shown.handle(name).press(key)
    same.set(**{name: same.values[name] + change})
    shown.shows(same)
    assert shown.drawn() != image, name


def solved(lesson: LivePage, name: str) -> None:
    """The skeleton is no attempt, and the official kernel passes all tests."""
    editor = f'helpers.write("{name}")'
    if any(cell.source.endswith(editor) for cell in lesson.lesson.code):
        lesson.prepare([lesson.source(editor)])
        here = Cell(lesson, lesson.code_cell(editor))
        here.about(name)
        return here.follow("part: the skeleton is no attempt, and ours passes all tests")
    cell = lesson.code_cell(f'helpers.grade("{name}"')
    tests = len(ALL_PUZZLES[name].tests)
    expect(cell).to_contain_text(f"0 of {tests} tests pass")
    expect(cell.get_by_text("not attempted").first).to_be_attached()
    lesson.retype(cell, f'helpers.grade("{name}", {json.dumps(ALL_PUZZLES[name].solution.text)})')
    expect(cell).to_contain_text(f"{tests} of {tests} tests")


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


def each_lesson_can_be_pointed_at_and_opened(lesson):
    """Exercises done before are ticked; lessons are pointed at and chosen by finger and keys, and opened by a link."""
    done = ("map", "conv2d_grad_weight", "strided_grad_input")
    for name in done:
        student_files.keep(name, PUZZLES[name].official.source)
    student_files.keep("guard", PUZZLES["guard"].skeleton.replace("}", "} //"))
    lesson.restart()
    (cell,) = lesson.explorers
    (shown,) = lesson.make([cell])
    link = shown.cell.locator(".jp-RenderedMarkdown")
    for listed in lessons():
        shown.cell_of(listed.name, 0, 0).hover(position={"x": 20, "y": 20})
        expect(shown.words).to_contain_text(f"{listed.name}, {listed.minutes} minutes")
        expect(link).to_contain_text(f"Open {listed.name}")
        right = [name for name in done if name in listed.puzzles]
        if right:
            expect(link).to_contain_text(f"{len(right)} of {len(listed.puzzles)} right: {', '.join(right)}")
    window = lesson.page.locator(".jp-WindowedPanel-outer")
    window.evaluate("window => window.scrollTop = 0")
    assert lower_edge(shown.cell_of("02 the weight gradient", 0, 0)) <= lower_edge(window), "the first screen cuts it"
    it_fills_its_column_in_a_larger_window(shown)
    shown.cell_of("03 the input gradient", 0, 0).click()
    link.get_by_role("link", name="Open 03 the input gradient").press("Enter")
    lesson.page.wait_for_function(browser.OPENED, arg="notebooks/03_input_gradient.ipynb")  # with its kernel
    lesson.page.evaluate(browser.CLOSE)
    lesson.page.mouse.move(0, 0)  # off the pictures of the lesson that is next


def it_fills_its_column_in_a_larger_window(shown: Shown) -> None:
    """A picture is as wide as its column, up to 1,100 pixels, where the window is high enough for it."""
    small = shown.page.viewport_size
    shown.page.set_viewport_size({"width": 1600, "height": 1200})
    soon(shown.page, "the width of the picture", lambda: shown.image.bounding_box()["width"], 1100)
    shown.page.set_viewport_size(small)
    soon(shown.page, "the width of the picture", lambda: shown.image.bounding_box()["width"], shown_width(shown))


def shown_width(shown: Shown) -> float:
    """The width of a picture's sheet, in CSS pixels."""
    return float(shown.image.locator("svg").first.get_attribute("viewBox").split()[2])


def lower_edge(part: Locator) -> float:
    """The y of a part's lower edge, in CSS pixels."""
    box = part.bounding_box()
    return box["y"] + box["height"]


MORE = {
    "00": the_card_fits_one_screen,
    "start": each_lesson_can_be_pointed_at_and_opened,
}


# --- What one lesson shows for all ------------------------------------------------------------------------------

MARK = 'helpers.mark("pixels_of_dW[0,1]")'
WEIGHTS = pytest.mark.parametrize("lesson", LESSONS[-1:], indirect=True, ids=["02"])
IN_A_CELL = []
for name in PATHS:
    if name.startswith("at night"):
        IN_A_CELL.append(pytest.param(name, marks=at_night))
    elif not re.match(r"(part|\w\w|start): ", name):
        IN_A_CELL.append(name)


@WEIGHTS
@pytest.mark.parametrize("path", IN_A_CELL)
def test_a_path_in_a_cell(lesson, path):
    """Each path of `support/paths.toml` that is not a part of another one, nor of one lesson."""
    here = Cell(lesson, lesson.code_cell(MARK))
    here.theme("Light")
    here.follow(path)


@WEIGHTS
@at_night
def test_a_picture_that_stands_still_is_noticed(lesson):
    shown, same = lesson.explorer(BIG), lesson.same(BIG)
    shown.image.evaluate("image => image.replaceWith(image.cloneNode(true))")
    shown.handle("co").press("ArrowRight")
    same.set(co=1)
    with pytest.raises(AssertionError, match="the picture"):
        shown.shows(same, seconds=1)


@WEIGHTS
@at_night
def test_how_soon_a_picture_follows_the_pointer_is_told(lesson, record_property):
    shown = lesson.explorer(FIRST)
    times = sorted(shown.look("grad_weight", i % 3, (i + 1) % 3) for i in range(40))
    times_of_40 = f"median {median(times):.0f} ms, 95 % within {times[37]:.0f} ms"
    record_property("told", f"from pointer to new picture, of 40: {times_of_40}")


def steady(shown: Shown) -> list[float]:
    """Assert that ten steps of a slider move nothing on the page, and that no painted frame lacks the picture.

    Returns the milliseconds that each step took.
    """
    shown.handle("kh").focus()
    before = layout(shown)
    times = []
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
    """The pixels by which the page is scrolled, and the places of the output and of its picture, in CSS pixels."""
    scrolled = shown.page.locator(".jp-WindowedPanel-outer").evaluate("panel => panel.scrollTop")
    return scrolled, shown.output.bounding_box(), shown.image.bounding_box()


HIDE = "image.style.visibility = image.style.visibility ? '' : 'hidden'"  # at every second key
GROW = "image.style.height = image.clientHeight + 1 + 'px'"


@WEIGHTS
@at_night
def test_nothing_jumps_or_flickers_and_it_would_be_noticed(lesson, record_property):
    """The time that a picture takes is recorded, and never judged: a busy machine is no mistake."""
    times = steady(lesson.explorer(BIG).unfold())
    record_property("told", f"from key to new picture, median of 10: {median(times):.0f} ms (most {max(times):.0f})")
    for fault, message in ((HIDE, "flickers"), (GROW, "jumps")):
        shown = lesson.explorer(FIRST).unfold()
        shown.image.evaluate(f"image => addEventListener('keydown', window.fault = () => {{ {fault} }}, true)")
        with pytest.raises(AssertionError, match=message):
            steady(shown)
        lesson.page.evaluate("removeEventListener('keydown', window.fault, true)")


INKS = """write => [...write.querySelectorAll('.convgrad-line, [class^=wgsl-]')].map(part =>
  [part, write].map((of, i) => getComputedStyle(of)[i ? 'backgroundColor' : 'color'].match(/[0-9]+/g).slice(0, 3)
    .map(light => Number(light).toString(16).padStart(2, '0')).join('')))"""


@WEIGHTS
@at_night
def test_long_lines_are_wrapped_commented_undone_by_words_and_legible_in_both_themes(lesson):
    here = Cell(lesson, lesson.code_cell(MARK))
    here.follow("part: long lines are wrapped and commented, undone by words, and marked")
    for paper in "Dark", "Light":
        here.theme(paper)
        inks = here.part(".convgrad-write").evaluate(INKS)
        assert min(contrast(f"#{ink}", f"#{paper}") for ink, paper in inks) >= CONTRAST


@WEIGHTS
@at_night
def test_training_is_stopped_goes_on_between_cells_is_finished_and_wound_back(lesson):
    Cell(lesson, lesson.code_cell(MARK)).follow("part: training is stopped, goes on between cells, and is finished")
    shown = Shown(lesson.page, lesson.code_cell(FIRST)).ready()
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
