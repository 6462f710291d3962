"""`wgsl.check` of texts with textures and shaders: each is judged as Tint, the compiler of Chromium, has judged it."""

import pytest
from support.sample import sample
from support.texture_texts import judged

import wgsl
from wgsl.types.textures import FORMATS, is_everywhere

MAIN = "@compute @workgroup_size(1) fn main() { }\n"
SHADED = "@group(0) @binding(0) var t: texture_2d<f32>; @group(0) @binding(1) var s: sampler;\n"


@pytest.mark.parametrize("heading", ["right", "refused"])
def test_texts_are_judged_as_tint_judges_them(heading):
    texts = judged(heading)
    assert len(texts) > 160
    problems = {name: wgsl.check(texts[name]) for name in sample(texts, 80)}
    refused = {name for name, found in problems.items() if any("chrome" in problem.refused_by for problem in found)}
    wrong = {name: found for name, found in problems.items() if (name in refused) != (heading == "refused")}
    assert wrong == {}


def only(text: str) -> wgsl.Problem:
    (problem,) = wgsl.check(text)
    return problem


@pytest.mark.parametrize("access", ["read", "write", "read_write"])
def test_what_only_some_adapters_take_is_not_portable(access):
    for format in sorted(FORMATS):
        found = wgsl.check(f"@group(0) @binding(0) var t: texture_storage_2d<{format}, {access}>;")
        assert [problem.kind for problem in found] == ["not portable"] * (not is_everywhere(format, access))


def test_a_shader_that_is_wrong_is_told_beside_a_kernel():
    problem = only(MAIN + "@fragment fn f() -> @location(0) vec4f { return 1.0; }")
    assert (problem.line, problem.kind) == (2, "does not compile")


def test_all_fragments_must_come_to_a_derivative():
    text = SHADED + "@fragment fn f(@location(0) uv: vec2f) -> @location(0) vec4f {\n%s\n return vec4f(); }"
    problem = only(text % "if uv.x > 0.0 { return textureSample(t, s, uv); }")
    assert (problem.line, problem.kind, problem.rule) == (3, "not portable", "derivative")
    assert "all fragments come to this `textureSample`" in problem.message
    assert wgsl.check(text % "if textureSample(t, s, uv).a > 0.5 { discard; }") == ()
    assert wgsl.check(text % "if uv.x > 0.0 { return textureSampleLevel(t, s, uv, 0.0); }") == ()
    filtered = "@diagnostic(off, derivative_uniformity) if uv.x > 0.0 { return textureSample(t, s, uv); }"
    assert wgsl.check(text % filtered) == ()


def test_a_store_to_a_parameter_is_not_taken_by_every_compiler():
    text = "fn f(t: texture_storage_2d<r32uint, write>) { textureStore(t, vec2u(), vec4u()); }"
    problem = only(text)
    assert (problem.kind, problem.refused_by) == ("not portable", {"naga"})
