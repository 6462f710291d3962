"""A page of the site in a browser: open a lesson, run its cells, and read what is said."""

import json
import re
from pathlib import Path

from playwright.sync_api import Page, expect

from browser import paths
from helpers.lessons.many_gpus.training import IN_A_BROWSER

NOTEBOOKS = sorted((paths.ROOT / "notebooks").glob("*.ipynb"))
SERVED = paths.SITE / "files" / "notebooks"
LESSON, WEIGHTS = "00_meet_the_gpu.ipynb", "02_weight_gradient.ipynb"
PYTHON = re.compile(r"/pyodide/pyodide-\w{12}\.js$")  # the script with which it begins
ELSEWHERE = "lessons.test"  # a name of this machine that is not known to be safe
FLAGS = [
    "--enable-unsafe-webgpu",
    "--use-webgpu-adapter=swiftshader",
    "--enable-features=Vulkan",
    "--no-sandbox",
    f"--host-resolver-rules=MAP {ELSEWHERE} 127.0.0.1",
]
LONGEST = 900  # seconds that a cell may take: training, on two processor cores that are busy
LOADED = "() => window.jupyterapp?.shell.currentWidget?.content?.model?.cells?.length > 1"
READY = """async longest => {
  const late = new Promise((_, fail) => setTimeout(() => fail(Error('Python does not come')), longest * 1000));
  window.convgrad.start();
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
TYPED = """(code) => {
  const content = jupyterapp.shell.currentWidget.content;
  content.model.sharedModel.insertCell(0, {cell_type: 'code', source: code});
}"""
PATH = "() => new URLSearchParams(location.search).get('path').slice('notebooks/'.length)"
CELLS = "() => jupyterapp.shell.currentWidget.content.model.sharedModel.toJSON().cells.map(cell => cell.source)"
SAVE = "async () => { await jupyterapp.shell.currentWidget.context.save() }"
EDITED = "([i, text]) => jupyterapp.shell.currentWidget.content.model.sharedModel.getCell(i).setSource(text)"
SAVED_CELL = """async i => {
  const path = new URLSearchParams(location.search).get('path');
  return (await jupyterapp.serviceManager.contents.get(path, {content: true})).content.cells[i];
}"""
SAVED = """async text => {
  const {content, context} = jupyterapp.shell.currentWidget;
  content.model.sharedModel.insertCell(0, {cell_type: 'code', source: text});
  context.save();
}"""
LINES = "#convgrad-lines > div > span"  # what the page says above the lesson
GRADED = """import helpers
from helpers.grading import student_files
from helpers.lessons import exercises
official = exercises.PUZZLES["map"].official.source
print(helpers.grade("map", official))
student_files.keep_answer("changed_numbers", exercises.QUESTIONS["changed_numbers"].right)
helpers.hand_in("Ada")
"""
KEPT = """from helpers.lessons import exercises
exercises.last_attempt("map") == exercises.PUZZLES["map"].official.source
"""


def open_lesson(page: Page, lesson: str = LESSON, address: str = "") -> None:
    """Open a lesson; of the site at another address, if one is given."""
    page.goto(f"{address}/notebooks/index.html?path=notebooks/{lesson}")
    page.wait_for_function(LOADED)


def start_lesson(page: Page, lesson: str = LESSON, address: str = "") -> None:
    """Open a lesson, and wait for its Python."""
    open_lesson(page, lesson, address)
    page.evaluate(READY, LONGEST)


def without_python(page: Page) -> None:
    """Let Python load for ever, for a test that only reads."""
    script = {"body": "self.loadPyodide = () => new Promise(() => {})", "content_type": "text/javascript"}
    page.context.route(PYTHON, lambda route: route.fulfill(**script))


def begin_with(page: Page, code: str) -> None:
    """Run this JavaScript in the worker before Python starts there."""
    (script,) = (paths.SITE / "pyodide").glob("pyodide-????????????.js")
    script = code + script.read_text(encoding="utf-8")
    page.context.route(PYTHON, lambda route: route.fulfill(body=script, content_type="text/javascript"))


def expect_shown(page: Page, lesson: str) -> None:
    """Wait until this lesson is shown, alone."""
    page.wait_for_function(f"name => ({PATH})() === name && ({LOADED})()", arg=lesson)
    heading = re.search(r"^# +(.+)", served_cells(lesson)[0]["source"], re.MULTILINE)
    expect(page).to_have_title(heading[1])
    expect(page.locator(".jp-DirListing, .jp-Launcher")).to_have_count(0)
    assert page.locator(".jp-Notebook").bounding_box()["width"] > 1100
    assert len(page.context.pages) == 1


def served_cells(lesson: str) -> list[dict]:
    """The cells of a lesson as it is served now."""
    return json.loads((SERVED / lesson).read_bytes())["cells"]


def cell_of(lesson: str, code: str) -> int:
    """The place of the first code cell with this text, among all cells of a lesson."""
    for i, cell in enumerate(served_cells(lesson)):
        if cell["cell_type"] == "code" and code in cell["source"]:
            return i
    raise LookupError(f"{lesson} has no code cell with {code!r}")


def run_cell(page: Page, cell: int | str, longest: float = LONGEST) -> list[str]:
    """Run a cell, given by its number or, in lesson 02, by a part of its code; the words that it says."""
    place = cell if isinstance(cell, int) else cell_of(WEIGHTS, cell)
    return words_of(page.evaluate(RUN, [place, longest]))


def run_code(page: Page, code: str, longest: float = LONGEST) -> str:
    """Run a new cell before all others; the text that it prints."""
    page.evaluate(TYPED, code)
    return "".join(run_cell(page, 0, longest))


def words_of(outputs: list[dict]) -> list[str]:
    """The words that cells say, which are the same on every adapter."""
    texts = []
    for output in outputs:
        data = output.get("data", {})
        text = data.get("text/plain") or data.get("text/markdown") or output.get("text") or output.get("evalue", "")
        texts.append("".join(text))
    return texts


def differences(page: Page, path: Path) -> dict[int, tuple]:
    """The cells of a lesson that say something else than what is stored: their text, and what they say."""
    other = {}
    for i, cell in enumerate(json.loads(path.read_bytes())["cells"]):
        if cell["cell_type"] == "code":
            words = run_cell(page, i)
            right = words_of(cell["outputs"])
            without_workers = bool(words) and words[-1].endswith(IN_A_BROWSER)  # lesson 09 says why there are none
            ignored = "nbval-ignore-output" in cell["metadata"].get("tags", [])
            if words != right and not without_workers and not ignored:
                other[i] = "".join(cell["source"]), words
    return other


def download(page: Page, folder: Path) -> dict:
    """The file behind the link in a cell's output, as the teacher gets it."""
    with page.expect_download() as expected:
        page.locator("a[download]").first.click()
    path = folder / expected.value.suggested_filename
    expected.value.save_as(path)
    return json.loads(path.read_bytes())


def restart_kernel(page: Page) -> None:
    """Restart Python as a reader does: Kernel > Restart Kernel."""
    page.locator("#jp-MainMenu").get_by_text("Kernel", exact=True).click()
    page.locator(".lm-Menu").get_by_text("Restart Kernel…", exact=True).click()
    page.get_by_label("Confirm Kernel Restart").click()
