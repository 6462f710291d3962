"""`wgsl check --also`: a compiler that is installed is asked, too, and the command says where both differ.

A fake one stands for it: `node`, `naga` or the package `wgpu`, which refuses what a comment in the text names.
"""

import json
import os
import re
import shutil
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from support import wgsl_peers
from support.wgsl_peers import Result

import wgsl
from wgsl.command import main
from wgsl.command.files import Source
from wgsl.command.peers import PEERS, answers

CLEAN = "@compute @workgroup_size(1) fn main() { }\n"
REFUSED = f"{CLEAN}// fake: 1:27 it has no name\n"
POINTER = "var<workgroup> w: u32;\nfn f(p: ptr<workgroup, u32>) -> u32 { return *p; }\n"
POINTER += "@compute @workgroup_size(1) fn main() { _ = f(&w); }\n"
BARRIER = "@compute @workgroup_size(4) fn main(@builtin(local_invocation_index) t: u32) {\n"
BARRIER += "  if (t < 2) { workgroupBarrier(); }\n}\n"
LARGE = CLEAN.replace("1)", "1024)")
ANSWER = r"""
import json, re, sys

def answer(text):
    if "// stops" in text:
        sys.exit(3)
    place = re.search(r"// fake: (\d+):(\d+) (.*)", text)
    return place and [int(place[1]), int(place[2]), place[3]]
"""
SAY = """
out = open(sys.argv[-1], "w")
print("a greeting")
print(json.dumps({"%s": "%s"}), file=out)
"""
NODE = (
    SAY % ("asked", "webgpu 9.8")
    + """
for text in json.load(sys.stdin):
    print(json.dumps(answer(text)), file=out)
"""
)
NAGA = """
if sys.argv[1] == "--version":
    sys.exit(print("naga 9.8"))
if refused := answer(open(sys.argv[1]).read()):
    sys.exit("error: {2}\\n  ┌─ text.wgsl:{0}:{1}\\n  │\\n  = it is wrong\\n  = note: ask".format(*refused))
"""
WGPU = """
from types import SimpleNamespace

class GPUError(Exception): pass

def create_shader_module(code):
    if refused := answer(code):
        raise GPUError("Validation Error\\n\\nCaused by:\\n  In wgpuDeviceCreateShaderModule\\n\\n"
            "Shader '' parsing error: {2}\\n  ┌─ wgsl:{0}:{1}\\n  │\\n1 │ fn\\n".format(*refused))

def request_adapter_sync():
    print("a driver's greeting")
    device = SimpleNamespace(create_shader_module=create_shader_module)
    return SimpleNamespace(features=[], request_device_sync=lambda required_features: device)

__version__ = "9.8"
gpu = SimpleNamespace(request_adapter_sync=request_adapter_sync)
"""


@pytest.fixture
def check(tmp_path, capsys, monkeypatch) -> Callable[..., tuple[int, str]]:
    """A function that checks texts, each in a file of its name, where no compiler is on the PATH."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("NODE_PATH", raising=False)

    def check(line: str, **texts: str) -> tuple[int, str]:
        for name, text in texts.items():
            Path(f"{name}.wgsl").write_text(text, encoding="utf-8")
        try:
            status = main(["check", *line.split()])
        except SystemExit as ended:
            status = ended.code
        return status, "".join(capsys.readouterr())

    return check


def install(name: str, body: str) -> None:
    """Put a program of Python onto the PATH, which is this folder."""
    if os.name == "nt":
        pytest.skip("a program on the PATH has another form on Windows")
    Path(name).write_text(f"#!{sys.executable}\n{ANSWER}{body}", encoding="utf-8")
    Path(name).chmod(0o755)


# --- Where both differ ----------------------------------------------------------------------------------------------


def test_a_refusal_where_nothing_was_found_is_a_problem(check):
    install("node", NODE)
    status, printed = check("text.wgsl --also tint", text=REFUSED)
    assert (status, printed) == (
        1,
        "text.wgsl:1:27: not portable: Tint (webgpu 9.8) refuses the text: it has no name; `wgsl` finds nothing in it "
        f"that Chrome refuses [refused-by-tint]\n  {CLEAN}  {' ' * 26}^\n1 text: 1 problem\n",
    )
    assert check("text.wgsl") == (0, "1 text: no problems\n")
    assert check("text.wgsl --also tint --ignore refused-by-tint") == (0, "1 text: no problems\n")


def test_a_text_that_is_taken_where_something_was_found_is_said_and_does_not_count(check):
    install("node", NODE)
    status, printed = check("text.wgsl --also tint", text=BARRIER)
    assert (status, printed.count(": not portable: "), printed.split("\n")[-2]) == (
        1, 1, "1 text: 1 problem, 1 place not checked",
    )  # fmt: skip
    assert (
        "text.wgsl:2:16: not confirmed: `wgsl` finds here what Chrome refuses (barrier), and Tint (webgpu 9.8) takes "
        "the text [taken-by-tint]\n" in printed
    )
    assert check("text.wgsl --also tint --ignore barrier")[0] == 0
    assert check("text.wgsl --also tint --ignore barrier --strict")[0] == 1


@pytest.mark.parametrize("text", [CLEAN, BARRIER + REFUSED.replace("main", "other"), POINTER, LARGE])
def test_what_both_say_is_said_once(check, text):
    """A pointer as a parameter is for naga alone to refuse, and the limits of adapters are none of a module's."""
    install("node", NODE)
    assert "tint" not in check("text.wgsl --also tint", text=text)[1]


def test_formats_and_comments(check):
    install("node", NODE)
    (problem,) = json.loads(check("text.wgsl --also tint --format json", text=REFUSED)[1])
    assert "it has no name" in problem.pop("message")
    assert problem == {
        "file": "text.wgsl", "line": 1, "column": 27, "length": 1, "level": "error", "kind": "not portable",
        "rule": "refused-by-tint", "refused_by": ["chrome"],
    }  # fmt: skip
    assert "::error file=text.wgsl,line=1,col=27,title=not por" in check("text.wgsl --also tint --format github")[1]
    assert "::notice file=b.wgsl,line=2" in check("b.wgsl --also tint --format github", b=BARRIER)[1]
    (run,) = json.loads(check("b.wgsl --also tint --format sarif")[1])["runs"]
    assert [(result["ruleId"], result["level"]) for result in run["results"]] == [
        ("taken-by-tint", "note"), ("barrier", "error"),
    ]  # fmt: skip


@pytest.mark.parametrize(("verb", "option"), [("wgsl: allow", ""), ("expect:", " --expect")])
def test_a_comment_about_a_compiler_counts_where_that_one_is_asked(check, verb, option):
    install("node", NODE)
    beside = REFUSED.replace(CLEAN, CLEAN.replace("\n", f" // {verb} refused-by-tint\n"))
    clean = beside[: beside.index("// fake")]
    assert check(f"text.wgsl --also tint{option}", text=beside)[0] == 0
    assert check(f"text.wgsl{option}") == (0, "1 text: no problems\n")
    assert check(f"text.wgsl --also tint{option}", text=clean)[0] == 1  # it is about nothing


@pytest.mark.parametrize("place", ["0:0", "9:9", "1:99"])
def test_a_place_outside_of_the_text_is_brought_into_it(check, place):
    install("node", NODE)
    assert check("text.wgsl --also tint", text=f"// fake: {place} why")[0] == 1


def test_an_override_has_no_value_for_a_compiler_of_modules(check):
    install("node", NODE)
    text = CLEAN.replace("size(1)", "size(N)") + "override N: i32 = 1;\n"
    status, printed = check("text.wgsl --also tint -D N=-1", text=text)
    assert (status, "tint" in printed) == (1, False)


# --- What is missing ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("--also tint", "--also tint: there is no `node` on the PATH: install Node.js, and `npm install webgpu` in"),
        (
            "--also tint --target naga",
            "--also tint: with --target naga, no refusal by it counts: write --target chr",
        ),
        ("--also naga --target spec", "--also naga: with --target spec, no refusal by it counts: write --target naga"),
        ("--also firefox", "argument --also: invalid choice: 'firefox'"),
    ],
)
def test_what_does_not_fit_is_named(check, line, message):
    status, printed = check(f"text.wgsl {line}", text=BARRIER)
    assert (status, message in printed) == (2, True)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (SAY % ("missing", "webgpu"), "node finds no package `webgpu` from this folder: `npm i"),
        ("sys.exit(4)", "it stopped at a.wgsl (exit status 4), and was not asked about the 1 after it\n"),
        (
            "sys.exit('no memory')",
            "it stopped at a.wgsl (exit status 1), and was not asked about the 1 after it:\nno",
        ),
    ],
)
def test_a_compiler_that_does_not_answer_hides_no_problem(check, body, message):
    install("node", body)
    status, printed = check("a.wgsl b.wgsl --also tint", a=BARRIER, b=CLEAN)
    assert (status, f"wgsl check: --also tint: {message}" in printed) == (2, True)
    assert "2 texts: 1 problem\n" in printed


def test_a_text_that_ends_a_compiler_is_named(check):
    install("node", NODE)
    status, printed = check("a.wgsl b.wgsl --also tint", a=REFUSED, b=f"{CLEAN}// stops\n")
    assert (status, "refused-by-tint" in printed) == (2, True)
    assert printed.endswith("wgsl check: --also tint: it stopped at b.wgsl (exit status 3)\n")


# --- naga -----------------------------------------------------------------------------------------------------------


def test_naga_is_asked_through_the_package(check, monkeypatch):
    Path("wgpu.py").write_text(ANSWER + WGPU, encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", os.getcwd())
    status, printed = check("text.wgsl --also naga", text=REFUSED)
    assert (status, "text.wgsl:1:27: not portable: naga (wgpu 9.8) refuses the text: it has no name; " in printed) == (
        1, True,
    )  # fmt: skip
    assert (
        "not confirmed: `wgsl` finds here what naga refuses (pointer-parameter), and naga (wgpu 9.8) takes"
        in check("text.wgsl --also naga", text=POINTER)[1]
    )


def test_naga_is_asked_through_the_command_where_the_package_has_no_adapter(check, monkeypatch):
    Path("wgpu.py").write_text("", encoding="utf-8")
    monkeypatch.setenv("PYTHONPATH", os.getcwd())
    status, printed = check("text.wgsl --also naga", text=REFUSED)
    assert (status, "--also naga: its package is installed, and finds no adapter: install a driver" in printed) == (
        2, True,
    )  # fmt: skip
    install("naga", NAGA)
    status, printed = check("text.wgsl --also naga", text=REFUSED)
    assert (status, "naga (naga 9.8) refuses the text: it has no name: it is wrong; `wgsl`" in printed) == (1, True)
    assert check("text.wgsl --also naga", text=CLEAN)[0] == 0


# --- Those that are here --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("option", PEERS)
def test_a_compiler_that_is_installed_says_what_it_should(option):
    sources = [Source(name, text) for name, text in (("clean", CLEAN), ("wrong", "fn f() {\n  let x: u32 = 1.5;\n}"))]
    said = answers(option, sources)
    if said.problem:
        pytest.skip(said.problem)
    clean, wrong = said.by_name.values()
    assert (clean, wrong.line) == (None, 2)
    assert "u32" in wrong.message


PACKAGE = """
const compiled = code => ({ getCompilationInfo: async () => ({ messages: [
  { type: 'warning', lineNum: 1, linePos: 1, message: 'a warning' },
  ...(code.includes('fake') ? [{ type: 'error', lineNum: 1, linePos: 27, message: 'it has no name' }] : []),
] }) });
const device = { createShaderModule: ({ code }) => compiled(code), pushErrorScope() {}, async popErrorScope() {} };
export const globals = {};
const adapter = { features: new Set(), requestDevice: async () => device };
export const create = () => ({ requestAdapter: async () => adapter });
"""
NODE_FOLDER = os.path.dirname(shutil.which("node") or "")


@pytest.mark.skipif(not NODE_FOLDER, reason="Node.js is not here")
@pytest.mark.parametrize("folder", [".", "elsewhere"])
def test_node_finds_the_package_from_the_working_folder_or_by_its_variable(check, monkeypatch, folder):
    monkeypatch.setenv("PATH", NODE_FOLDER)
    assert "node finds no package `webgpu` from this folder" in check("text.wgsl --also tint", text=REFUSED)[1]
    package = Path(folder, "node_modules", "webgpu")
    package.mkdir(parents=True)
    (package / "package.json").write_text('{"version": "9.8", "type": "module", "main": "index.js"}')
    (package / "index.js").write_text(PACKAGE)
    monkeypatch.setenv("NODE_PATH", str(Path("elsewhere", "node_modules").absolute()))
    status, printed = check("text.wgsl --also tint", text=REFUSED)
    assert (status, "1:27: not portable: Tint (webgpu 9.8) refuses the text: it has no name;" in printed) == (1, True)
    assert check("text.wgsl --also tint", text=CLEAN) == (0, "1 text: no problems\n")


# --- The command that measures them -----------------------------------------------------------------------------------


def result(reported: str, texts: str = "") -> Result:
    """A result that reports these kinds, one a run ("-" stands for none, "?" for a broken run), and refuses texts."""
    runs = [None if kind == "?" else {kind} - {"-"} for kind in reported.split()]
    return Result("", {int(number) for number in texts.split()}, 1.5, reported=runs)


def test_the_table_in_the_readme_has_the_rows_that_the_command_writes():
    runs, texts = wgsl_peers.runs(), wgsl_peers.texts()
    every = [result("- " * len(runs))] * 2
    rows = [*wgsl_peers.verdict_rows(every, texts), *wgsl_peers.run_rows(every, runs)]
    readme = Path(wgsl.__file__).with_name("README.md").read_text(encoding="utf-8")
    table = readme.partition("## Beside other tools")[2].partition("\n##")[0]
    labels = re.findall(r"^\| (\S.*?) \|", table, re.MULTILINE)
    assert [re.sub(r"\d+", "N", label) for label in labels] == [re.sub(r"\d+", "N", row[0]) for row in rows]


def test_what_is_counted_of_runs():
    """An error will do for any kind but a race; a run that breaks off reports none."""
    due = ["data race", "data race", "endless loop", "endless loop", "", ""]
    runs = [wgsl_peers.Run("", (1, 1, 1), [], [], {kind} - {""}, {}) for kind in due]
    some = result("race error error ? race -")
    rows = {label: cells for label, *cells in wgsl_peers.run_rows([some, result("")], runs)}
    assert rows["of 2 runs with: data race, reports it in"] == ["1", "–"]
    assert rows["of 2 runs with: endless loop, reports it in"] == ["1", "–"]
    assert rows["of 2 right runs, reports something in"] == ["1", "–"]
    assert rows["of all 6 runs, breaks off with an error of its own"] == ["1", "–"]


def test_what_is_counted_of_texts():
    texts = [wgsl_peers.Text("", "")] * 5
    rows = {label: cells for label, *cells in wgsl_peers.verdict_rows([result("", "0 1 3"), result("", "0 2")], texts)}
    assert rows["of 3 texts that Tint takes, takes"] == ["1", "3"]
    assert rows["of 2 texts that Tint refuses, refuses"] == ["1", "2"]


def test_right_runs_have_the_same_values_by_hand():
    """The larger run is a product of matrices."""
    left, right, _ = wgsl_peers.product().buffers
    (*_, numbers) = wgsl_peers.simulated(wgsl_peers.product()).buffers
    assert numbers.reshape(32, 32).tolist() == (left.reshape(32, 32) @ right.reshape(32, 32)).tolist()
