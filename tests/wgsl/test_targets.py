"""The specification, Chrome and naga: each of them takes texts that another one refuses."""

import pytest

import wgsl
from helpers.gpu import compiled
from wgsl import Kernel, WgslError

HEAD = """
@group(0) @binding(0) var<storage, read_write> y: array<u32>;
var<workgroup> w: array<u32, 4>;
fn add(a: ptr<function, u32>, b: ptr<function, u32>) { *a += *b; }
"""
MAIN = "@compute @workgroup_size(4) fn main(@builtin(local_invocation_index) t: u32) { BODY y[t] = 1u; }"
TEXTS = {  # what Tint, the compiler of Chrome, says of them was asked once, with the package `webgpu` of npm
    "barrier": (HEAD + MAIN.replace("BODY", "if (t < 2u) { workgroupBarrier(); }"), {"spec", "chrome"}),
    "aliased-pointers": (HEAD + MAIN.replace("BODY", "var a = 1u; add(&a, &a);"), {"spec", "chrome"}),
    "pointer-parameter": (
        HEAD + "fn f(p: ptr<workgroup, array<u32, 4>>) -> u32 { return (*p)[0]; }" + MAIN.replace("BODY", "_ = f(&w);"),
        {"naga"},
    ),
    "too-many-threads": (HEAD + MAIN.replace("BODY", "").replace("size(4)", "size(4096)"), {"chrome", "naga"}),
    "unknown": (HEAD + MAIN.replace("BODY", "y[0] = nothing;"), {"spec", "chrome", "naga"}),
    "numbers-of-64-bits": (HEAD + MAIN.replace("BODY", "") + "var<private> x: f64;", set()),
}


@pytest.mark.parametrize("rule", TEXTS)
def test_a_problem_has_a_rule_and_says_who_refuses_the_text(rule):
    text, refused_by = TEXTS[rule]
    (problem,) = wgsl.check(text)
    assert (problem.rule, problem.refused_by) == (rule, refused_by)
    kinds = {0: "not supported", 3: "does not compile"}
    assert problem.kind == kinds.get(len(refused_by), "not portable")


@pytest.mark.parametrize("rule", [rule for rule, (_, refused_by) in TEXTS.items() if refused_by])
def test_naga_refuses_what_it_is_said_to_refuse(rule):
    text, refused_by = TEXTS[rule]
    refused = False
    try:
        compiled.pipeline(Kernel(text), "main")
    except WgslError:
        refused = True
    assert refused == ("naga" in refused_by)


def test_a_problem_has_the_length_of_its_piece_of_the_text():
    (problem,) = wgsl.check(TEXTS["unknown"][0])
    assert problem.length == len("nothing")
