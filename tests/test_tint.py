"""Every kernel in a browser's own compiler: Tint, in Chromium without a window.

wgpu's compiler, naga, takes some texts that browsers refuse.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace

import pytest
from playwright.sync_api import Page, sync_playwright
from support import subgroup_texts, texture_texts
from support.lab_server import browser_path
from support.problems import EVERY_VERSION
from support.wgsl_programs import judged, judged_halves
from support.wgsl_verdicts import KINDS, texts

from browser.tests.pages import FLAGS
from helpers import Network, gpu
from helpers.bench.layers import LAYERS
from helpers.gpu.compiled import module
from helpers.operations import operation
from helpers.operations.convolution.schedules import shared
from helpers.operations.kernels import load
from helpers.operations.registry import OPERATIONS

HARDWARE = replace(gpu.adapter_info(), kind="hardware")
COMPILED = """async texts => {
  const adapter = await navigator.gpu?.requestAdapter();
  const requiredFeatures = [...adapter?.features ?? []].filter(name => ['subgroups', 'shader-f16'].includes(name));
  const device = await adapter?.requestDevice({requiredFeatures});
  return device && Promise.all(texts.map(async code =>
    (await device.createShaderModule({code}).getCompilationInfo()).messages
      .filter(each => each.type !== 'info').map(each => [each.lineNum, each.message])
  ));
}"""


@pytest.fixture(scope="module")
def page() -> Iterator[Page]:
    """An empty page with WebGPU, which browsers offer at addresses with https."""
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=browser_path(), args=FLAGS)
        page = chromium.new_page()
        page.route("**/*", lambda route: route.fulfill(content_type="text/html", body=""))
        page.goto("https://convgrad.test/")
        yield page
        chromium.close()


def messages(page: Page, texts: Mapping[str, str]) -> list[str]:
    """The compiler's messages about texts, warnings too: the name of the text, the line and the message."""
    compiled = page.evaluate(COMPILED, [*texts.values()])
    if compiled is None:
        pytest.fail("this browser has no WebGPU, so that nothing was compiled: take another Chromium", pytrace=False)
    lines = []
    for name, pairs in zip(texts, compiled, strict=True):
        lines += [f"{name}:{line}: {message}" for line, message in pairs]
    return lines


def test_every_kernel_file_compiles(page):
    assert messages(page, {f"kernels/{kernel.name}.wgsl": kernel.source for kernel in EVERY_VERSION}) == []


def written_out() -> dict[str, str]:
    """The texts that a GPU is given for the layers that are timed and for those of LeNet."""
    problems = []
    for layer in LAYERS:
        problems += [(name, layer.problem(name)) for name in layer.operations]
    problems += [(step.operation.name, step.shape) for step in Network().workspace(32).steps]
    texts = {}
    for name, shape in problems:
        chosen = OPERATIONS[name].choose(shape, HARDWARE)[0].version
        kernel, schedule = OPERATIONS[name].scheduled(shape, OPERATIONS[name].kernel(chosen))
        if schedule.constants:
            texts[f"{kernel.name} for {shape}"] = kernel.source
    return texts


def test_every_text_that_is_written_out_for_a_layer_compiles(page, monkeypatch):
    for using in (shared, operation):
        monkeypatch.setattr(using, "adapter_info", lambda: HARDWARE)
    texts = written_out()
    assert len(texts) > 70
    assert messages(page, texts) == []


def test_it_judges_the_small_texts_as_we_say(page):
    """The others that compare `wgsl.check` with them rely on it."""
    assert messages(page, judged("right")) == []
    texts = {str(i): text for i, text in enumerate(judged("refused").values())}
    refused = {message.split(":")[0] for message in messages(page, texts)}
    assert refused == {*texts}


def test_it_judges_the_texts_with_subgroups_as_we_say(page):
    if messages(page, {"": "enable subgroups;"}):
        pytest.skip("this browser's adapter has no subgroups")
    right = {name: text for name, text in subgroup_texts.judged("right").items() if "(warning" not in text}
    assert messages(page, right) == []
    texts = {str(i): text for i, text in enumerate(subgroup_texts.judged("refused").values())}
    assert {message.split(":")[0] for message in messages(page, texts)} == {*texts}


def test_it_judges_the_texts_that_enable_f16_as_we_say(page):
    if messages(page, {"": "enable f16;"}):
        pytest.skip("this browser's adapter has no numbers of 16 bits")
    assert messages(page, judged_halves("right")) == []
    texts = {str(i): text for i, text in enumerate(judged_halves("refused").values())}
    assert {message.split(":")[0] for message in messages(page, texts)} == {*texts}


def test_it_judges_the_texts_with_textures_and_shaders_as_we_say(page):
    """Those that enable something need an adapter with all of it."""
    plain = {heading: texture_texts.judged(heading) for heading in ("right", "refused")}
    plain = {heading: [text for text in texts.values() if "enable " not in text] for heading, texts in plain.items()}
    assert min(map(len, plain.values())) > 150
    right = [text for text in plain["right"] if "diagnostic(" not in text]
    assert messages(page, dict(enumerate(right))) == []
    refused = messages(page, {str(i): text for i, text in enumerate(plain["refused"])})
    assert {message.split(":")[0] for message in refused} == {str(i) for i in range(len(plain["refused"]))}


def test_it_judges_the_texts_on_one_rule_each_as_we_say(page):
    """The texts that only newer browsers take, or only the adapter's compiler, are left out."""
    of_kind = {kind: {str(i): text.text for i, text in enumerate(texts()) if text.kind == kind} for kind in KINDS}
    assert messages(page, of_kind["right"]) == []
    refused = {message.split(":")[0] for message in messages(page, of_kind["does not compile"])}
    assert refused == {*of_kind["does not compile"]}


def test_what_only_browsers_refuse_is_found(page):
    wrong = load("sum", "2_tree").edit("workgroupBarrier();", "if (thread == 0u) { workgroupBarrier(); }")
    assert module(wrong.source)
    line = wrong.source[: wrong.source.index("if (thread == 0u) { w")].count("\n") + 1
    (message,) = messages(page, {"2_tree.wgsl": wrong.source})
    assert message.startswith(f"2_tree.wgsl:{line}: 'workgroupBarrier' must only be called from uniform control flow")


def test_a_browser_without_webgpu_is_a_failure(page):
    page.goto("about:blank")
    with pytest.raises(pytest.fail.Exception, match="this browser has no WebGPU"):
        messages(page, {})
