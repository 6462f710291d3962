"""A lesson in a real browser: JupyterLab over a copy of the project, a page, and the parts of the page that tests name.

Everything waits for what it needs to see, never for a fixed time.
"""

import ast
import base64
import io
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import Locator, Page, WebSocket, expect, sync_playwright
from support.notebook_gate import Cell, Lesson, needed

from helpers.operations.kernels import ROOT
from helpers.set_up.browser import find_browser
from helpers.set_up.jupyterlab import JUPYTERLAB, close_side_bar
from helpers.widgets.explorer import Explorer

TOKEN = "convgrad"
START = 300  # seconds at most until a server that does not end serves
SECONDS = 30  # how long anything may take to show, on a machine that is busy with other tests
RUNS = 120  # how long a cell may compute, as under nbval
SETTINGS = {  # all cells are in the page at once, and nothing stands in the way
    "notebook-extension/tracker": {"windowingMode": "none"},
    "apputils-extension/notification": {"fetchNews": "false"},
    "docmanager-extension/plugin": {"autosave": False},
}
FOLDERS = ["JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"]
FOLDERS += ["JUPYTERLAB_SETTINGS_DIR", "JUPYTERLAB_WORKSPACES_DIR"]
MY = "CONVGRAD_MY"  # the reader's own files
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
FLAGS += ["--disable-sync", "--no-first-run"]
EXPLORER = re.compile(r"explorers\.(?!terms_of_|train\(|rewind\()\w+\(")  # those of a training run take long
KERNEL_ERROR = re.compile(r'"msg_type":\s*"error".*?"evalue":\s*"(.*?)"', re.DOTALL)

# Started before a key is pressed: the milliseconds from that key until the frame that shows a new picture.
STEP = """(image, longest) => {
  window.step = new Promise((done, failed) => {
    let pressed;
    setTimeout(() => failed(Error(`no new picture in ${longest} ms`)), longest);
    const observer = new MutationObserver(() => {
      observer.disconnect();
      requestAnimationFrame(() => done(performance.now() - pressed));
    });
    addEventListener('keydown', () => {
      pressed = performance.now();
      observer.observe(image, {childList: true, subtree: true});
    }, {once: true, capture: true});
  });
  return true;
}"""
MARKS = """(image, svg) => {  // the marks of the picture that is shown, or of `svg` as a browser would write it
  const picture = svg ? Object.assign(document.createElement('div'), {innerHTML: svg}) : image;
  return [...picture.querySelectorAll('svg > *')].map(mark => mark.outerHTML).join();
}"""
# anywidget gives a widget 2 s to load, after which Python's messages to it are lost: a busy machine may take longer.
PATIENT = f"""AbortSignal.timeout = (timeout => wait => timeout(wait === 2000 ? {1000 * SECONDS} : wait))(
  AbortSignal.timeout.bind(AbortSignal)
)"""
OPEN = "path => { jupyterapp.commands.execute('docmanager:open', {path}) }"
OPENED = """path => {
  const panel = jupyterapp.shell.currentWidget;
  return panel?.context?.path === path && panel.sessionContext.session?.kernel?.status === 'idle';
}"""
RUN = """async cells => {  // all at once: whenever another cell becomes the active one, every editor is measured
  const notebook = jupyterapp.shell.currentWidget.content;
  if (cells.length) notebook.activeCellIndex = cells[0];
  notebook.deselectAll();
  cells.forEach(i => notebook.select(notebook.widgets[i]));
  if (cells.length) await jupyterapp.commands.execute('notebook:run-cell');
  notebook.deselectAll();
}"""
RESTORE = """sources => jupyterapp.shell.currentWidget.content.widgets
  .map(cell => cell.model).filter(model => model.type === 'code').forEach((model, i) => {
    if (model.sharedModel.source !== sources[i]) model.sharedModel.setSource(sources[i]);
  })"""
RESTART = "async () => { await jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart() }"
CLOSE = """async () => {
  const panel = jupyterapp.shell.currentWidget;
  await panel.sessionContext.shutdown();
  panel.context.model.dirty = false;  // otherwise JupyterLab asks whether to save it
  panel.close();
}"""
FORGET = "Object.keys(localStorage).forEach(key => key.startsWith('convgrad ') && localStorage.removeItem(key))"
BOXES = "boxes => boxes.map(box => [...[box.value, box.min, box.max].map(Number), box.disabled])"
NUMBERS = "controls => controls.map(control => Number(control.value ?? control.ariaValueText))"
CUT = "boxes => boxes.map(box => box.labels[0]).filter(l => l.scrollWidth > l.clientWidth).map(l => l.innerText)"


def soon(page: Page, what: str, read: Callable[[], object], wanted: object, seconds: float = SECONDS) -> None:
    """Assert that what is read is soon what is wanted."""
    end = time.monotonic() + seconds
    while (found := read()) != wanted and time.monotonic() < end:
        page.wait_for_timeout(20)
    assert found == wanted, f"{what}: {found!s:.200} instead of {wanted!s:.200}"


def touched(part: Locator, to: Locator | None = None) -> None:
    """Put a finger on a part and lift it, there or on another part: it is tall, and the page must not scroll instead.

    A new theme comes behind a curtain, which lies over the page for a moment longer and takes what touches it. (Who
    touches a text, and then selects all of it by keys, gets the browser's menu.)
    """
    part.click(trial=True)  # waits until the part is still, and uncovered
    session, boxes = part.page.context.new_cdp_session(part.page), [each.bounding_box() for each in (part, to or part)]
    (x, y), (to_x, to_y) = ((box["x"] + box["width"] / 2, box["y"] + box["height"] / 2) for box in boxes)
    for i in range(9 if to else 1):
        place = {"x": x + (to_x - x) * i / 8, "y": y + (to_y - y) * i / 8}
        session.send("Input.dispatchTouchEvent", {"type": "touchMove" if i else "touchStart", "touchPoints": [place]})
    session.send("Input.dispatchTouchEvent", {"type": "touchEnd", "touchPoints": []})
    session.detach()


# --- Server and page ------------------------------------------------------------------------------------------


@contextmanager
def jupyterlab(home: Path) -> Iterator[str]:
    """Serve a copy of the project from the empty folder `home`; gives the address of its folder of notebooks.

    Neither the project nor the reader's own JupyterLab changes, whatever a test does.
    """
    ignore = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints")
    for folder in ("notebooks", "helpers", "wgsl", "kernels", "tests"):
        shutil.copytree(ROOT / folder, home / "project" / folder, ignore=ignore)
    for name, values in SETTINGS.items():
        file = home / "JUPYTERLAB_SETTINGS_DIR" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(values))
    close_side_bar(home / "JUPYTERLAB_WORKSPACES_DIR")
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, *JUPYTERLAB, "--no-browser", "--allow-root", f"--IdentityProvider.token={TOKEN}"]
    command += [f"--ServerApp.port={port}", "--ServerApp.port_retries=0", "--LabApp.expose_app_in_browser=True"]
    env, log = os.environ | {name: str(home / name) for name in (*FOLDERS, MY)}, home / "jupyterlab.log"
    with log.open("w") as output:
        server = subprocess.Popen(command, cwd=home / "project", env=env, stdout=output, stderr=subprocess.STDOUT)
    try:
        wait_for_port(server, port, log)
        yield f"http://127.0.0.1:{port}/lab/tree/notebooks?token={TOKEN}"
    finally:
        server.terminate()  # it ends its kernels too
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()


def wait_for_port(server: subprocess.Popen, port: int, log: Path) -> None:
    end = time.monotonic() + START
    while server.poll() is None and time.monotonic() < end:
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    pytest.fail(f"JupyterLab did not start; it said:\n{log.read_text()[-2000:]}")


def browser_path() -> str:
    """The browser that start.py found, or one on the PATH. Without one the tests fail: they skip nothing."""
    path = os.environ.get("CONVGRAD_BROWSER") or find_browser()
    if not path or not Path(path).exists():
        pytest.fail(f"no browser to test with ({path}): run `python3 start.py test`, which installs one", pytrace=False)
    return path


def text_of(frame: str | bytes) -> str:
    """A message between page and kernel."""
    return frame if isinstance(frame, str) else frame.decode(errors="replace")


# --- A lesson and its explorers -----------------------------------------------------------------------------------


class Lab:
    """A running JupyterLab over a copy of the project, in a browser as large as a small laptop's."""

    def __init__(self, page: Page, my: Path) -> None:
        self.page, self.my, self.open = page, my, None

    def forget(self) -> None:
        """Put away what a reader has written and answered, in the folder and in the page."""
        shutil.rmtree(self.my, ignore_errors=True)
        self.page.evaluate(FORGET)

    def lesson(self, path: Path, new: bool = False) -> "LivePage":
        """A lesson, with its own cells: the one that is open, or one that is opened in its place and has not run."""
        if self.open is None or self.open.lesson.path != path or (new and self.open.asked):
            if self.open:
                self.page.evaluate(CLOSE)
            self.open = LivePage(self.page, path)
        self.page.evaluate(RESTORE, [cell.source for cell in self.open.lesson.code])
        return self.open


@contextmanager
def lab(home: Path) -> Iterator[Lab]:
    """Start both in the empty folder `home`."""
    path = browser_path()
    with jupyterlab(home) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        page = browser.new_page(viewport={"width": 1280, "height": 720})
        page.set_default_timeout(1000 * SECONDS)
        expect.set_options(timeout=1000 * SECONDS)
        page.add_init_script(PATIENT)
        page.goto(address)
        page.add_style_tag(content="* { overflow-anchor: none }")  # what grows above does not scroll, but keys would
        page.wait_for_function("window.jupyterapp?.shell.currentWidget")
        expect(page.locator("#jp-left-stack")).to_be_hidden()
        page.evaluate("jupyterapp.commands.execute('application:toggle-left-area')")  # all must fit beside it, too
        yield Lab(page, home / MY)
        browser.close()


class LivePage:
    """One lesson open in JupyterLab, and what went wrong in the page or in the kernel so far (`troubles`).

    A cell runs when a test asks for it, and before it the cells that make what it uses. The same cells can be run in
    this process (`same`), so that a test can compare what the browser shows.
    """

    def __init__(self, page: Page, path: Path) -> None:
        self.page, self.troubles, self.lesson = page, [], Lesson.read(path)
        self.panel = page.locator(".jp-NotebookPanel")
        self.cells, self.code_cells = self.panel.locator(".jp-Cell"), self.panel.locator(".jp-CodeCell")
        self.ran, self.socket = [], None  # cells that `make` ran; to the kernel
        self.asked = self.replies = 0  # runs of a cell, and those that have ended
        self.ran_here, self.names = [], {}  # cells that `same` ran, and what they made
        page.on("pageerror", lambda error: self.troubles.append(f"in the page: {error}"))
        page.on("websocket", self._listen)
        page.evaluate(OPEN, f"notebooks/{path.name}")
        expect(self.cells).to_have_count(len(self.lesson.cells))
        page.wait_for_function(OPENED, arg=f"notebooks/{path.name}")

    def _listen(self, socket: WebSocket) -> None:
        socket.on("framereceived", self._read)
        if "/channels" in socket.url:
            self.socket = socket

    def _read(self, frame: str | bytes) -> None:
        """Keep the kernel's errors, also those after a slider moved, which JupyterLab shows nowhere."""
        text = text_of(frame)
        self.replies += "execute_reply" in text
        self.troubles += [f"in the kernel: {message}" for message in KERNEL_ERROR.findall(text)]

    def source(self, words: str) -> Cell:
        """The first code cell with these words in the file; the editor may hold only the lines in sight."""
        return next(cell for cell in self.lesson.code if words in cell.source)

    def code_cell(self, words: str) -> Locator:
        """The same cell in the browser."""
        return self.at(self.source(words))

    @property
    def explorers(self) -> list[Cell]:
        """The cells that make one."""
        return [cell for cell in self.lesson.code if EXPLORER.search(cell.source)]

    def explorer(self, words: str) -> "Shown":
        """The explorer that a cell with these words makes: a new one, with its sliders where they start."""
        wanted = self.source(words)
        self.make([wanted])
        return Shown(self.page, self.run(self.at(wanted))).ready()

    def at(self, cell: Cell) -> Locator:
        """The place of a code cell in the browser."""
        return self.code_cells.nth(self.lesson.code.index(cell))

    def make(self, wanted: list[Cell]) -> list["Shown"]:
        """Run cells that make explorers, and those before them that they need, but each only once."""
        self.prepare(wanted)
        return [Shown(self.page, self.at(cell)).ready() for cell in wanted]

    def prepare(self, wanted: list[Cell]) -> None:
        """Run cells, and those before them that they need, but each only once."""
        new = [cell.number - 1 for cell in needed(self.lesson, wanted) if cell.number - 1 not in self.ran]
        self.page.evaluate(RUN, new)
        self.ran += new
        self._hear(len(new))

    def same(self, words: str) -> Explorer:
        """The same explorer in this process; the cells that it needs run here only once."""
        *before, wanted = needed(self.lesson, [self.source(words)])
        *lines, last = ast.parse(wanted.source).body
        new = [cell for cell in before if cell not in self.ran_here]
        self.ran_here += new
        for code in (*(ast.parse(cell.source) for cell in new), ast.Module(lines, [])):
            exec(compile(code, words, "exec"), self.names)
        return eval(compile(ast.Expression(last.value), words, "eval"), self.names)

    def run(self, cell: Locator) -> Locator:
        """Run one cell and wait for its end; it is then selected, in command mode."""
        cell.locator(".cm-content").click()
        self.page.keyboard.press("Control+Enter")
        self._hear(1)  # the count beside the cell may be as it was stored
        expect(cell.locator(".jp-InputPrompt")).to_have_text(re.compile(r"\d"))
        return cell

    def _hear(self, runs: int) -> None:
        """Wait for the ends of these runs, which may come later than the page has them, and of those before."""
        self.asked += runs
        soon(self.page, "runs that have ended", lambda: self.replies, self.asked, RUNS)

    def restart(self) -> None:
        """Begin again with a new kernel, in which nothing has run."""
        self.page.evaluate(RESTART)
        self.ran = []

    def retype(self, cell: Locator, text: str) -> None:
        """Replace the source of a cell, and run it."""
        cell.locator(".cm-content").click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(text)
        self.run(cell)


class Shown:
    """An explorer as the browser shows it."""

    def __init__(self, page: Page, cell: Locator) -> None:
        self.page, self.cell = page, cell
        self.output = cell.locator(".jp-Cell-outputArea")
        self.image, self.words = cell.locator(".convgrad-picture"), cell.get_by_role("status")
        self.controls = cell.locator(".convgrad-control")
        self.boxes, self.handles = self.controls.get_by_role("spinbutton"), self.controls.get_by_role("slider")

    def fold(self, name: str) -> Locator:
        """The button that opens something in place: "more settings" or "numbers"."""
        return self.cell.get_by_role("button", name=name, exact=True)

    def ready(self) -> "Shown":
        """Wait until all is there: the picture with its cells to point at, and the names of the sliders."""
        expect(self.image.locator(".convgrad-touch")).to_have_count(1)
        expect(self.cell.locator("[role=slider]:not([aria-label])")).to_have_count(0)
        return self

    def unfold(self) -> "Shown":
        """Open what is behind "more settings", if anything is: all controls are then seen."""
        if self.fold("more settings").count():
            self.fold("more settings").click()
            expect(self.fold("more settings")).to_have_attribute("aria-expanded", "true")
        expect(self.boxes).to_have_count(self.controls.count())
        return self

    @property
    def steps(self) -> Locator:
        """What to try."""
        return self.cell.get_by_role("list").get_by_role("listitem")

    def box(self, name: str) -> Locator:
        return self.cell.get_by_role("spinbutton", name=name, exact=True)

    def handle(self, name: str) -> Locator:
        """The slider of that name, as a screen reader finds it."""
        return self.cell.get_by_role("slider", name=name, exact=True)

    def cell_of(self, tensor: str, row: int, column: int) -> Locator:
        """A cell of a tensor's grid in the picture, as a screen reader finds it."""
        return self.cell.get_by_role("gridcell", name=f"{tensor}, row {row}, column {column}", exact=True)

    @property
    def names(self) -> list[str]:
        """The labels of the number boxes that are seen; "" for a box without one."""
        return self.boxes.evaluate_all("boxes => boxes.map(box => box.labels[0]?.innerText ?? '')")

    @property
    def values(self) -> dict[str, int]:
        return dict(zip(self.names, self.boxes.evaluate_all(NUMBERS), strict=True))

    def type(self, name: str, value: int) -> None:
        self.box(name).fill(str(value))
        self.box(name).press("Enter")

    def drawn(self) -> str:
        """The marks of the picture."""
        return self.image.evaluate(MARKS)

    def shows(self, same: Explorer, seconds: float = SECONDS) -> None:
        """Assert that words, number boxes, sliders and picture soon are those of an explorer in this process.

        The picture, which Python sends first, may take this many seconds more.
        """
        boxes = [same._controls[name][0] for name in self.names]
        numbers = [[box.value, box.min, box.max, box.disabled] for box in boxes]
        soon(self.page, "words", self.words.inner_text, same.sentence)
        soon(self.page, "number boxes", lambda: self.boxes.evaluate_all(BOXES), numbers)
        soon(self.page, "sliders", lambda: self.handles.evaluate_all(NUMBERS), [box.value for box in boxes])
        picture = self.image.evaluate(MARKS, "".join(same.picture.svg()))
        soon(self.page, "the picture", self.drawn, picture, seconds)

    def look(self, tensor: str, row: int, column: int) -> float:
        """Point at another cell; milliseconds until the frame that shows the new picture."""
        self.image.evaluate(STEP.replace("keydown", "pointerover"), 1000 * SECONDS)
        self.cell_of(tensor, row, column).hover()
        return self.page.evaluate("window.step")

    def step(self, key: str) -> float:
        """Press a key that moves the focused slider; milliseconds until the frame that shows the new picture."""
        self.image.evaluate(STEP, 1000 * SECONDS)
        self.page.keyboard.press(key)
        return self.page.evaluate("window.step")


@contextmanager
def filmed(page: Page) -> Iterator[list[np.ndarray]]:
    """Collect every frame that the browser paints, as (rows, columns) bytes from black to white."""
    session, frames = page.context.new_cdp_session(page), []

    def keep(event: dict) -> None:
        frames.append(np.asarray(Image.open(io.BytesIO(base64.b64decode(event["data"]))).convert("L")))
        session.send("Page.screencastFrameAck", {"sessionId": event["sessionId"]})

    session.on("Page.screencastFrame", keep)
    session.send("Page.startScreencast", {"format": "jpeg", "quality": 60})
    try:
        yield frames
    finally:
        session.detach()
