"""Texts that all compilers take, that some take, and that none takes: `wgsl.check` says which."""

import pytest
from support.wgsl_verdicts import Text, texts

import wgsl
from helpers.gpu import compiled

TEXTS = texts()
MISSING_IN_NAGA = ("refract", "frexp", "modf")  # of constants


def verdict(text: str | wgsl.Kernel) -> str:
    kinds = {problem.kind for problem in wgsl.check(text)}
    return min(kinds, default="right")  # "does not compile" before "not portable"


@pytest.mark.parametrize("text", TEXTS, ids=str)
def test_a_text_is_judged_by_its_rule(text: Text):
    assert verdict(text.text) == text.kind


def test_every_rule_has_a_text_that_breaks_it_and_most_have_a_right_one():
    kinds = {rule: {text.kind for text in TEXTS if text.rule == rule} for rule in {text.rule for text in TEXTS}}
    assert len(kinds) > 20
    assert {rule for rule, of_rule in kinds.items() if of_rule == {"right"}} == set()
    assert sum("right" in of_rule for of_rule in kinds.values()) > 14


def test_the_adapters_compiler_takes_the_right_texts_and_refuses_the_wrong_ones():
    """`test_tint.py` asks a browser."""
    for text in TEXTS:
        if text.kind == "not portable" or any(name in text.parts for name in MISSING_IN_NAGA):
            continue
        assert (compiler_error(text.text) is None) == (text.kind == "right"), text


def compiler_error(text: str) -> str | None:
    try:
        compiled.module(text)
    except Exception as error:  # wgpu has one kind of its own for each version
        return str(error)
    return None


def test_naga_refuses_the_not_portable_texts_that_it_is_said_to_refuse():
    for text in TEXTS:
        problems = [problem for problem in wgsl.check(text.text) if problem.kind == "not portable"]
        if text.kind != "not portable" or not isinstance(text.text, str) or past_a_limit(problems):
            continue
        refused = any("naga" in problem.refused_by for problem in problems)
        assert (compiler_error(text.text) is not None) == refused, (text, problems)


def past_a_limit(problems: list[wgsl.Problem]) -> bool:
    """True where a pipeline is refused, and not the text."""
    return any(problem.refused_by == {"chrome", "naga"} for problem in problems)


@pytest.mark.parametrize(
    ("type", "value"), [("i32", -3), ("u32", 0), ("f32", 0.5), ("f32", -2), ("bool", True), ("bool", False)]
)
def test_a_kernel_brings_any_number_for_an_override(type, value):
    text = f"override n: {type}; @compute @workgroup_size(1) fn main() {{ let a = n; }}"
    assert verdict(wgsl.Kernel(text).with_constants(n=value)) == "right"


@pytest.mark.parametrize("value", ["3", None, float("nan"), float("inf")])
def test_a_kernel_takes_nothing_else_for_an_override(value):
    with pytest.raises(ValueError, match=r"^n = .*: it must be a finite number$"):
        wgsl.Kernel("override n: f32;").with_constants(n=value)
