"""`wgsl.check`: nothing for a right text, whatever the simulator runs of it, and each mistake by kind and place."""

import random

import pytest
from support.mistakes import mutants
from support.wgsl_programs import judged, programs, source

import wgsl
from helpers.kernels import load

WAIT = "if i == 3u { workgroupBarrier(); }"
ENTRY = "@compute @workgroup_size(64)\nfn NAME(@builtin(local_invocation_index) i: u32) { BODY }\n"


def entry(body: str, name: str = "main") -> str:
    return ENTRY.replace("NAME", name).replace("BODY", body)


RIGHT = [
    "",
    "// nothing but a comment",
    "fn helper(x: f32) -> f32 { return x; }",
    entry(""),
    entry("", "one") + entry("", "two"),
    "@group(3) @binding(7) var<storage, read_write> a: array<f32>;\n" + entry("a[i] = 1;"),
    "@group(0) @binding(0) var<uniform> a: u32;\n@group(0) @binding(2) var<uniform> b: u32;\n" + entry("_ = a + b;"),
    "@group(0) @binding(0) var<uniform> a: u32;\n@group(1) @binding(0) var<uniform> b: u32;\n" + entry("_ = a + b;"),
    "override n: u32;\n" + entry("if i < n { return; }"),
    "var<workgroup> a: array<f32, 4000>;\nvar<workgroup> b: array<f32, 4000>;\n"
    + entry("a[i] = 1;", "one")
    + entry("b[i] = 1;", "two"),
]
WRONG = [  # a text, and for each of its problems the kind, the line and words of the message
    ("fn f( {\nlet x = ;", [("does not compile", 1, "a name is expected")]),
    (
        f"fn f() {{\n let x: u32 = 1.5;\n let y: u32 = 2.5;\n}}\nfn g() {{ y(); }}\n{entry(WAIT)}",
        [
            ("does not compile", 2, "`x` is declared as a u32"),
            ("does not compile", 5, "`y`"),
            ("not portable", 7, "browsers refuse it"),
        ],
    ),
    (entry(WAIT, "one") + entry("", "two") + entry(WAIT, "three"), [("not portable", n, "Barrier") for n in (2, 6)]),
    (f"fn f(i: u32) {{ {WAIT} }}\n" + entry("f(i);", "one") + entry("f(i);", "two"), [("not portable", 1, "Barrier")]),
    ("const a = b;\nfn f() -> i32 { return a; }\nfn g() -> i32 { return a; }", [("does not compile", 1, "`b`")]),
    ("@compute @workgroup_size(512) fn main() {}", [("not portable", 1, "512 threads")]),
    ("@compute fn main() {}", [("does not compile", 1, "`@workgroup_size(...)` is missing")]),
    ("@vertex fn v() {}\nfn f() -> u32 { return 1.5; }", [
        ("not supported", 1, "vertex and fragment"), ("does not compile", 2, "`f` returns a u32"),
    ]),
    ("enable f16;\nfn f() {}", [("not supported", 1, "`enable f16`")]),
    ("@group(0) @binding(0) var t: texture_2d<f32>;\nfn f() -> u32 { return 1.5; }", [
        ("not supported", 1, "textures"), ("does not compile", 2, "`f` returns a u32"),
    ]),
    ("override n: u32;\nvar<workgroup> w: array<f32, n>;\n" + entry("w[i] = 1;"), [("not supported", 1, "no value")]),
]  # fmt: skip


@pytest.mark.parametrize("text", RIGHT)
def test_a_right_text_has_no_problem(text):
    assert wgsl.check(text) == ()


@pytest.mark.parametrize(("text", "expected"), WRONG)
def test_each_problem_has_its_kind_and_place(text, expected):
    found = wgsl.check(text)
    assert [(each.kind, each.line) for each in found] == [(kind, line) for kind, line, _ in expected]
    assert all(words in each.message for each, (*_, words) in zip(found, expected, strict=True))
    for each in found:
        assert text.split("\n")[each.line - 1][each.column - 1].strip()
        assert str(each) == f"line {each.line}, column {each.column}: {each.kind}: {each.message}"


def test_a_kernel_brings_the_values_of_its_overrides():
    kernel = wgsl.Kernel(WRONG[-1][0])
    assert wgsl.check(kernel.with_constants(n=64)) == ()
    assert [each.kind for each in wgsl.check(kernel.with_constants(n=5000))] == ["not portable"]


def test_right_and_wrong_programs_are_judged_as_by_a_run():
    for heading, right in (("right", True), ("wrong", False), ("unsupported", False)):
        for line in programs(heading):
            right_here = right or "@group(1)" in line or "TILE - 9" in line  # right, but not run, or not everywhere
            assert ({each.kind for each in wgsl.check(source(line))} <= {"not portable"}) == right_here, line


@pytest.mark.parametrize("heading", ["right", "refused"])
def test_texts_are_judged_as_browsers_judge_them(heading):
    """`test_tint.py` asks a browser."""
    found = {line: wgsl.check(text) for line, text in judged(heading).items()}
    assert len(found) > 100
    assert {line: problems for line, problems in found.items() if bool(problems) != (heading == "refused")} == {}


def test_no_text_raises_an_exception():
    dice, text = random.Random(3), load("gemm_bias_act", "2_tiled").source
    assert wgsl.check(text) == ()
    texts = [text[: dice.randrange(len(text))] + dice.choice("{}()<>@;\0é1 ") + text[dice.randrange(len(text)) :]
             for _ in range(60)]  # fmt: skip
    texts += [*(each for each, _ in mutants(40)), "{" * 500, "fn f() { let x = " + "-" * 900 + "1; }", "\ud800"]
    for broken in texts:
        assert all(each.line >= 1 and each.column >= 1 for each in wgsl.check(broken))
