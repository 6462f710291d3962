"""A lesson in a real browser: JupyterLab over a copy of the project, a page, and the parts of the page that tests name.

Everything waits for what it needs to see, never for a fixed time.
"""

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
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urljoin

import nbformat
import numpy as np
import pytest
from PIL import Image
from playwright.sync_api import BrowserContext, Locator, Page, expect, sync_playwright
from support.notebook_gate import texts

from helpers.pictures.explorer import Explorer
from start import JUPYTERLAB, find_browser

PROJECT = Path(__file__).resolve().parents[2]
TOKEN = "convgrad"
SECONDS = 30  # how long anything may take to show, on a machine that is busy with other tests
SETTINGS = {  # all cells are in the page at once, and nothing stands in the way
    "notebook-extension/tracker": {"windowingMode": "none"},
    "apputils-extension/notification": {"fetchNews": "false"},
    "docmanager-extension/plugin": {"autosave": False},
}
FOLDERS = ["JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "IPYTHONDIR"]
FOLDERS += ["JUPYTERLAB_SETTINGS_DIR", "JUPYTERLAB_WORKSPACES_DIR"]
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-background-networking", "--disable-component-update"]
FLAGS += ["--disable-sync", "--no-first-run"]
KERNEL_ERROR = re.compile(r'"msg_type":\s*"error".*?"evalue":\s*"(.*?)"', re.DOTALL)

# Started before a key is pressed: the milliseconds from that key until the frame that shows a new picture.
STEP = """(image, longest) => {
  window.step = new Promise((done, failed) => {
    let pressed;
    setTimeout(() => failed(Error(`no new picture in ${longest} ms`)), longest);
    addEventListener('keydown', () => pressed = performance.now(), {once: true, capture: true});
    const observer = new MutationObserver(() => {
      observer.disconnect();
      requestAnimationFrame(() => done(performance.now() - pressed));
    });
    observer.observe(image, {childList: true, subtree: true});
  });
  return true;
}"""
MARKS = """(image, svg) => {  // the marks of the picture that is shown, or of `svg` as a browser would write it
  const picture = svg ? Object.assign(document.createElement('div'), {innerHTML: svg}) : image;
  return [...picture.querySelectorAll('svg > *')].map(mark => mark.outerHTML).join();
}"""
NUMBERS = "controls => controls.map(control => Number(control.value ?? control.ariaValueText))"
CUT = "boxes => boxes.map(box => box.labels[0]).filter(l => l.scrollWidth > l.clientWidth).map(l => l.innerText)"


# --- Server and page ------------------------------------------------------------------------------------------


@contextmanager
def jupyterlab(home: Path) -> Iterator[str]:
    """Serve a copy of the project from the empty folder `home`; gives the address of its notebooks.

    Neither the project nor the reader's own JupyterLab changes, whatever a test does.
    """
    ignore = shutil.ignore_patterns("__pycache__", ".ipynb_checkpoints")
    for folder in ("notebooks", "helpers", "kernels", "tests"):
        shutil.copytree(PROJECT / folder, home / "project" / folder, ignore=ignore)
    for name, values in SETTINGS.items():
        file = home / "JUPYTERLAB_SETTINGS_DIR" / "@jupyterlab" / f"{name}.jupyterlab-settings"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(json.dumps(values))
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = [sys.executable, *JUPYTERLAB, "--no-browser", "--allow-root", f"--IdentityProvider.token={TOKEN}"]
    command += [f"--ServerApp.port={port}", "--ServerApp.port_retries=0"]
    env, log = os.environ | {name: str(home / name) for name in FOLDERS}, home / "jupyterlab.log"
    with log.open("w") as output:
        server = subprocess.Popen(command, cwd=home / "project", env=env, stdout=output, stderr=subprocess.STDOUT)
    try:
        wait_for_port(server, port, log)
        yield f"http://127.0.0.1:{port}/lab/tree/notebooks"
    finally:
        server.terminate()  # it ends its kernels too
        try:
            server.wait(10)
        except subprocess.TimeoutExpired:
            server.kill()


def wait_for_port(server: subprocess.Popen, port: int, log: Path) -> None:
    end = time.monotonic() + SECONDS
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


# --- A lesson and its explorers -----------------------------------------------------------------------------------


class Lab(NamedTuple):
    """A running JupyterLab over a copy of the project, and a browser as large as a small laptop's."""

    address: str
    browser: BrowserContext

    @contextmanager
    def opened(self, name: str) -> Iterator["LivePage"]:
        """A lesson, not yet run; in the end its kernel is shut down, and JupyterLab serves the next."""
        page = self.browser.new_page()
        yield LivePage(page, self.address, name)
        page.close()
        kernels = urljoin(self.address, "/api/kernels")
        headers = {"Authorization": f"token {TOKEN}"}
        for kernel in self.browser.request.get(kernels, headers=headers).json():
            assert self.browser.request.delete(f"{kernels}/{kernel['id']}", headers=headers).ok


@contextmanager
def lab(home: Path) -> Iterator[Lab]:
    """Start both in the empty folder `home`."""
    path = browser_path()
    with jupyterlab(home) as address, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=path, args=FLAGS)
        yield Lab(address, browser.new_context(viewport={"width": 1280, "height": 720}))
        browser.close()


class LivePage:
    """One lesson open in JupyterLab, and what went wrong in the page or in the kernel so far (`troubles`)."""

    def __init__(self, page: Page, address: str, name: str) -> None:
        self.page, self.troubles = page, []
        self.cells, self.code_cells = page.locator(".jp-Cell"), page.locator(".jp-CodeCell")
        cells = nbformat.read(PROJECT / "notebooks" / name, as_version=4).cells
        self.outputs = [output for cell in cells for output in cell.get("outputs", [])]  # as the file stores them
        page.set_default_timeout(1000 * SECONDS)
        expect.set_options(timeout=1000 * SECONDS)
        page.on("pageerror", lambda error: self.troubles.append(f"in the page: {error}"))
        page.on("websocket", lambda socket: socket.on("framereceived", self._read))
        page.goto(f"{address}/{name}?token={TOKEN}&reset")
        expect(self.cells).to_have_count(len(cells))
        page.get_by_text("| Idle").wait_for()  # the status bar; the circle above is idle before there is a kernel

    def _read(self, frame: str | bytes) -> None:
        """Keep the kernel's errors, also those after a slider moved, which JupyterLab shows nowhere."""
        text = frame if isinstance(frame, str) else frame.decode(errors="replace")
        self.troubles += [f"in the kernel: {message}" for message in KERNEL_ERROR.findall(text)]

    def code_cell(self, words: str | re.Pattern) -> Locator:
        """The code cells whose source contains `words`."""
        return self.code_cells.filter(has=self.page.locator(".cm-content", has_text=words))

    @property
    def explorers(self) -> list["Shown"]:
        """All explorers as they stand."""
        return [Shown(self.page, cell) for cell in self.code_cell(re.compile(r"explorers\.")).all()]

    def explorer(self, words: str) -> "Shown":
        """The explorer that a cell with these words makes: a new one, with its sliders where they start."""
        return Shown(self.page, self.run(self.code_cell(words)))

    def run(self, cell: Locator) -> Locator:
        """Run one cell and wait for its end; it is then selected, in command mode."""
        prompt = cell.locator(".jp-InputPrompt")
        before = prompt.inner_text()
        cell.locator(".cm-content").click()
        self.page.keyboard.press("Control+Enter")
        expect(prompt).not_to_have_text(before)
        expect(prompt).to_have_text(re.compile(r"\d"))
        return cell

    def retype(self, cell: Locator, text: str) -> None:
        """Replace the source of a cell, and run it."""
        cell.locator(".cm-content").click()
        self.page.keyboard.press("Control+a")
        self.page.keyboard.insert_text(text)
        self.run(cell)

    def run_all(self) -> None:
        self.page.get_by_role("menuitem", name="Run", exact=True).click()
        self.page.get_by_role("menuitem", name="Run All Cells", exact=True).click()
        waiting = self.page.locator(".jp-InputPrompt", has_text="[*]")
        waiting.first.wait_for()
        expect(waiting).to_have_count(0, timeout=120_000)


class Shown:
    """An explorer as the browser shows it."""

    def __init__(self, page: Page, cell: Locator) -> None:
        self.page, self.cell = page, cell
        self.output = cell.locator(".jp-OutputArea")
        self.image, self.words = cell.locator(".convgrad-picture"), cell.get_by_role("status")
        self.boxes, self.handles = cell.get_by_role("spinbutton"), cell.get_by_role("slider")

    def box(self, name: str) -> Locator:
        return self.cell.get_by_role("spinbutton", name=name, exact=True)

    def handle(self, name: str) -> Locator:
        """The slider of that name, as a screen reader finds it."""
        return self.cell.get_by_role("slider", name=name, exact=True)

    @property
    def names(self) -> list[str]:
        """The labels of the number boxes; "" for a box without one."""
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
        """Assert that words, number boxes, sliders and picture soon are those of an explorer in this process."""
        numbers, picture = [*same.values.values()], self.image.evaluate(MARKS, "".join(same.picture.svg()))
        for what, read, wanted in (
            ("words", self.words.inner_text, same.sentence),
            ("number boxes", lambda: self.boxes.evaluate_all(NUMBERS), numbers),
            ("sliders", lambda: self.handles.evaluate_all(NUMBERS), numbers),
            ("the picture", self.drawn, picture),
        ):
            end = time.monotonic() + seconds
            while (found := read()) != wanted and time.monotonic() < end:
                self.page.wait_for_timeout(20)
            assert found == wanted, f"{what}: {found!s:.200} instead of {wanted!s:.200}"

    def step(self, key: str) -> float:
        """Press a key that moves the focused slider; milliseconds until the frame that shows the new picture."""
        self.image.evaluate(STEP, 1000 * SECONDS)
        self.page.keyboard.press(key)
        return self.page.evaluate("window.step")


class EveryLesson:
    """What any lesson is asked; the first test sees it before anything ran."""

    def test_everything_stored_shows_before_anything_runs(self, opened: LivePage) -> None:
        pictures = opened.page.locator(".jp-OutputArea img")
        expect(opened.page.locator(".jp-OutputArea-output")).to_have_count(len(opened.outputs))
        expect(pictures).to_have_count(sum("image/png" in output.get("data", {}) for output in opened.outputs))
        sizes = pictures.evaluate_all("images => images.map(image => [image.naturalWidth, image.clientWidth])")
        assert all(natural >= width > 0 for natural, width in sizes)
        expect(opened.page.get_by_text(re.compile("(Error displaying|Loading) widget"))).to_have_count(0)

    def test_every_cell_runs_and_says_what_is_stored(self, lesson: LivePage) -> None:
        counts = [f"[{i}]:" for i in range(1, lesson.code_cells.count() + 1)]
        assert lesson.page.locator(".jp-CodeCell .jp-InputPrompt").all_inner_texts() == counts
        for kind in ("error", "stderr"):
            expect(lesson.page.locator(f"[data-mime-type='application/vnd.jupyter.{kind}']")).to_have_count(0)
        stored = "\n".join(text for output in lesson.outputs for text in texts(output))
        sentences = [shown.words.inner_text() for shown in lesson.explorers]
        assert sentences
        assert [words for words in sentences if words not in stored] == []

    def test_a_screen_reader_finds_every_control_by_its_name(self, lesson: LivePage) -> None:
        for shown in lesson.explorers:
            names = shown.names
            assert all(names)
            assert len({*names}) == len(names) == shown.handles.count() > 0
            for control in (shown.image, *map(shown.box, names), *map(shown.handle, names)):
                expect(control).to_have_count(1)
            expect(shown.words).to_have_attribute("aria-live", "polite")

    def test_no_name_of_a_control_is_cut(self, lesson: LivePage) -> None:
        for shown in lesson.explorers:
            assert shown.boxes.evaluate_all(CUT) == []

    def test_a_slider_moves_its_picture(self, lesson: LivePage) -> None:
        for shown in lesson.explorers:
            name, image, words = shown.names[-1], shown.drawn(), shown.words.inner_text()
            at_end = shown.values[name] == float(shown.handle(name).get_attribute("aria-valuemax"))
            shown.handle(name).press("ArrowLeft" if at_end else "ArrowRight")
            expect(shown.words).not_to_have_text(words)
            assert shown.drawn() != image, name

    def test_sliders_picture_and_sentence_are_seen_together(self, lesson: LivePage) -> None:
        """In a window of 1280 x 720, with JupyterLab's file list open as it is at first."""
        window = lesson.page.locator(".jp-WindowedPanel-outer").bounding_box()
        for shown in lesson.explorers:
            image, output = shown.image.bounding_box(), shown.output.bounding_box()
            assert image["x"] + image["width"] <= output["x"] + output["width"]
            assert output["height"] <= window["height"], shown.names


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
