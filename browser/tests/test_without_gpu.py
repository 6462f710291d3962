"""The adapter in a browser, and the simulator where Python can use no GPU."""

import re

import pytest
from playwright.sync_api import Page

from browser import paths
from browser.tests.pages import ELSEWHERE, NOTEBOOKS, WEIGHTS, begin_with, differences, run_cell, run_code, start_lesson

NO_JSPI = "delete WebAssembly.Suspending; delete WebAssembly.promising;"

WITHOUT = {  # JavaScript with which Python's worker begins, and what the adapter then says
    "WebGPU": ("delete WorkerNavigator.prototype.gpu;", "this browser has no WebGPU, or it is switched off: "),
    "adapter": ("GPU.prototype.requestAdapter = async () => null;", "this browser finds no GPU, or does not use it "),
    "JSPI": (NO_JSPI, "in this browser, Python cannot wait for a GPU: "),
}

ADAPTER = "import helpers\nprint(helpers.adapter_info())"


@pytest.mark.parametrize("missing", WITHOUT)
def test_without_a_gpu_the_adapter_is_the_simulator_and_says_why(missing: str, page: Page):
    code, why = WITHOUT[missing]
    begin_with(page, code)
    start_lesson(page)
    assert f"none: {why}" in run_code(page, ADAPTER)


def test_without_https_the_adapter_is_the_simulator_and_says_why(page: Page, address: str):
    start_lesson(page, WEIGHTS, address.replace("127.0.0.1", ELSEWHERE))
    assert "none: this address has no https" in run_code(page, ADAPTER)
    sentence = run_cell(page, 2)[-1]
    assert " = 15: " in sentence
    assert "GPU" not in sentence, "the simulator computed"


def test_on_software_the_first_cell_warns(page: Page):
    start_lesson(page)
    printed = run_code(page, ADAPTER)
    warning = r"the browser uses no GPU, but this software; .* \(Chrome/\d+\)"
    assert re.search(warning, printed.replace("\n", " ")), printed
    assert "Mozilla" not in printed


def test_without_jspi_a_lesson_says_what_is_stored(page: Page):
    begin_with(page, NO_JSPI)
    start_lesson(page)
    assert not differences(page, NOTEBOOKS[0])


PROMISES = (paths.HERE / "promises.py").read_text(encoding="utf-8")


def test_the_browser_keeps_what_wgpu_promises(page: Page, capsys: pytest.CaptureFixture):
    exec(PROMISES, {})
    promised = capsys.readouterr().out
    start_lesson(page)
    assert run_code(page, PROMISES) == promised
