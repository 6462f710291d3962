"""A lesson in a real browser: a page of JupyterLab, its cells, and what went wrong there.

Everything waits for what it needs to see, never for a fixed time.
"""

import ast
import base64
import io
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from PIL import Image
from playwright.sync_api import Locator, Page, WebSocket, expect, sync_playwright
from support.lab_server import MY, browser_path, jupyterlab
from support.notebook_gate import Cell, Lesson, needed
from support.shown import SECONDS, Shown, soon

from helpers.widgets.explorer import Explorer

RUNS = 120  # how long a cell may compute, as under nbval
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
FLAGS += ["--disable-sync", "--no-first-run"]
EXPLORER = re.compile(r"explorers\.(?!terms_of_|train\(|rewind\()\w+\(")  # those of a training run take long
KERNEL_ERROR = re.compile(r'"msg_type":\s*"error".*?"evalue":\s*"(.*?)"', re.DOTALL)

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
CUT = "boxes => boxes.map(box => box.labels[0]).filter(l => l.scrollWidth > l.clientWidth).map(l => l.innerText)"
FORGET = "Object.keys(localStorage).forEach(key => key.startsWith('convgrad ') && localStorage.removeItem(key))"


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

    def explorer(self, words: str) -> Shown:
        """The explorer that a cell with these words makes: a new one, with its sliders where they start."""
        wanted = self.source(words)
        self.make([wanted])
        return Shown(self.page, self.run(self.at(wanted))).ready()

    def at(self, cell: Cell) -> Locator:
        """The place of a code cell in the browser."""
        return self.code_cells.nth(self.lesson.code.index(cell))

    def make(self, wanted: list[Cell]) -> list[Shown]:
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
        for cell in new:
            exec(compile(cell.source, words, "exec"), self.names)
        exec(compile(ast.Module(lines, []), words, "exec"), self.names)
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
