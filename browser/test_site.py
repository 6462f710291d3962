"""The site in a headless Chromium, with WebGPU on SwiftShader: `python3 start.py test --site`."""

import base64
import functools
import http.server
import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page, sync_playwright

from browser import site
from helpers import gradebook
from start import find_browser

NOTEBOOKS = sorted((site.ROOT / "notebooks").glob("*.ipynb"))
FLAGS = ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader", "--enable-features=Vulkan", "--no-sandbox"]
INSECURE = "lessons.example"  # a name of this machine that has no https
FLAGS += [f"--host-resolver-rules=MAP {INSECURE} 127.0.0.1"]
LONGEST = 300  # seconds that a cell may take: training, on two processor cores
LOADED = "() => window.jupyterapp?.shell.currentWidget?.content?.model?.cells?.length > 2"
READY = "async () => { await jupyterapp.shell.currentWidget.sessionContext.ready }"
RUN = """async ([i, longest]) => {
  const panel = jupyterapp.shell.currentWidget;
  panel.content.activeCellIndex = i;
  const late = new Promise(done => setTimeout(() => done('late'), longest * 1000));
  const how = await Promise.race([late, jupyterapp.commands.execute('notebook:run-cell')]);
  await new Promise(done => setTimeout(done, 50));  // what the cell printed last may follow
  return how === 'late' ? [{output_type: 'error', ename: 'late', evalue: ''}]
    : panel.content.model.cells.get(i).toJSON().outputs;
}"""


class Quiet(http.server.SimpleHTTPRequestHandler):
    """A web server that says nothing."""

    def log_message(self, *_: object) -> None:
        """Say nothing."""


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    """The site, made anew and served."""
    site.main()
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Quiet, directory=site.SITE))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()


@pytest.fixture
def page() -> Iterator[Page]:
    """A page of a browser that has stored nothing."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=find_browser(), args=FLAGS)
        page = chromium.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(2 * LONGEST * 1000)
        yield page
        chromium.close()


def opened(page: Page, address: str, lesson: str) -> None:
    """Open a lesson, and wait for its Python."""
    page.goto(f"{address}/lab/index.html?path=notebooks/{lesson}")
    page.wait_for_function(LOADED)
    page.evaluate(READY)


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


def typed(page: Page, code: str) -> str:
    """What a new cell before all others prints."""
    page.evaluate(TYPED, code)
    return "".join(said(page.evaluate(RUN, [0, LONGEST])))


def differences(page: Page, path: Path) -> dict[int, tuple]:
    """The cells of a lesson that say something else than what is stored: their text, and what they say."""
    other = {}
    for i, cell in enumerate(json.loads(path.read_text(encoding="utf-8"))["cells"]):
        if cell["cell_type"] == "code":
            found, source = said(page.evaluate(RUN, [i, LONGEST])), "".join(cell["source"])
            if found != said(cell["outputs"]) and "NBVAL_IGNORE_OUTPUT" not in source:
                other[i] = source, found
    return other


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_lesson_says_what_is_stored(path: Path, page: Page, address: str):
    opened(page, address, path.name)
    assert not differences(page, path)


# --- Without a GPU that Python can use ------------------------------------------------------------------

NO_JSPI = "delete WebAssembly.Suspending; delete WebAssembly.promising;"
WITHOUT = {  # JavaScript with which Python's worker begins, and what the adapter then says
    "WebGPU": ("delete WorkerNavigator.prototype.gpu;", "this browser has no WebGPU, or it is switched off: "),
    "adapter": ("GPU.prototype.requestAdapter = async () => null;", "this browser finds no GPU, or does not use it "),
    "JSPI": (NO_JSPI, "in this browser, Python cannot wait for a GPU: "),
}
ADAPTER = "import convgrad_browser, helpers\nprint(helpers.adapter_info())"


def begin_with(page: Page, code: str) -> None:
    """Run this JavaScript in the worker before Python starts there."""
    script = code + (site.SITE / "pyodide" / "pyodide.js").read_text(encoding="utf-8")
    page.context.route("**/pyodide.js", lambda route: route.fulfill(body=script, content_type="text/javascript"))


@pytest.mark.parametrize("missing", WITHOUT)
def test_without_a_gpu_the_adapter_is_the_simulator_and_says_why(missing: str, page: Page, address: str):
    code, why = WITHOUT[missing]
    begin_with(page, code)
    opened(page, address, NOTEBOOKS[0].name)
    assert f"none: {why}" in typed(page, ADAPTER)


def test_without_https_the_adapter_is_the_simulator_and_says_why(page: Page, address: str):
    opened(page, address.replace("127.0.0.1", INSECURE), NOTEBOOKS[0].name)
    assert "none: this address has no https" in typed(page, ADAPTER)


def test_on_software_the_first_cell_warns(page: Page, address: str):
    opened(page, address, NOTEBOOKS[0].name)
    assert "the browser uses no GPU" in typed(page, ADAPTER)


def test_without_jspi_a_lesson_says_what_is_stored(page: Page, address: str):
    begin_with(page, NO_JSPI)
    opened(page, address, NOTEBOOKS[0].name)
    assert not differences(page, NOTEBOOKS[0])


# --- A learner's own kernel -----------------------------------------------------------------------------

STORED = "async path => (await jupyterapp.serviceManager.contents.get(path, {content: true})).content"
GRADED = """import convgrad_browser
import helpers
from helpers import exercises
print(helpers.grade("map", exercises.PUZZLES["map"].official.source))
exercises.hand_in("Ada")
"""
KEPT = """import convgrad_browser
from helpers import exercises
exercises.last_attempt("map") == exercises.PUZZLES["map"].official.source
"""


def test_an_own_kernel_is_graded_and_kept_and_the_teacher_reads_it(page: Page, address: str, tmp_path: Path, capsys):
    opened(page, address, NOTEBOOKS[0].name)
    assert "2 of 2 tests pass" in typed(page, GRADED)
    stored = page.evaluate(STORED, "notebooks/my/hand_in_Ada.json")
    (tmp_path / "hand_in_Ada.json").write_bytes(base64.b64decode(stored))
    assert gradebook.main([str(tmp_path)]) == 0
    assert "Ada" in capsys.readouterr().out
    opened(page, address, NOTEBOOKS[0].name)
    assert typed(page, KEPT) == "True"
