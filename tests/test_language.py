"""What WGSL says where one compiler is more or less strict: constants, short circuits, refusals, built-in functions.

Each expected value or refusal is the specification's (chapters "Const-expressions", "Conversion expressions",
"Logical expressions", "Behavior analysis" and "Built-in functions").
"""

import numpy as np
import pytest

import helpers
from helpers import WgslError

DTYPES = {"f32": np.float32, "i32": np.int32, "u32": np.uint32}


def run(
    body: str, kind: str = "f32", size: int = 1, above: str = "", constants: dict | None = None, threads: str = "1"
):
    """The numbers in the buffer `y` after the statements have run."""
    text = f"""{above}
    @group(0) @binding(0) var<storage, read_write> y: array<{kind}>;
    @compute @workgroup_size({threads}) fn main(@builtin(local_invocation_index) t: u32) {{ {body} }}"""
    y = np.zeros(size, DTYPES[kind[5:8] if "<" in kind else kind])
    trace = helpers.simulate(text, [y], (1, 1, 1), constants=constants, outputs=())
    return trace.buffers[0], trace.findings


@pytest.mark.parametrize(
    ("operator", "kind", "values"),
    [
        *((operator, "vec4<f32>", "1.0, 2.0, 4, 8.0") for operator in ("+", "-", "*", "/", "%")),
        *((operator, "vec4<u32>", "1, 2, 4, 8") for operator in ("+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>")),
    ],
)
def test_a_vector_of_plain_numbers_goes_with_every_compound_operator(operator, kind, values):
    scalar = kind[5:8]
    begun = f"var v = {kind}(7, 7, 7, 7); v {operator}= vec4({values});"
    long, _ = run(f"{begun} y[0] = v; y[0] {operator}= vec4({values});", kind, 4)
    plain = f"({kind}(7, 7, 7, 7) {operator} vec4<{scalar if operator not in ('<<', '>>') else 'u32'}>({values}))"
    short, _ = run(f"y[0] = {plain} {operator} vec4({values});", kind, 4)
    np.testing.assert_array_equal(long, short)
    assert short.any()


OVERRIDES = "override a = false; override zero = 0; override low = 2.0; override count = 40u;"


@pytest.mark.parametrize(
    "text",
    [
        "y[0] = select(1.0, 2.0, a && (1 / zero) == 0);",
        "y[0] = select(1.0, 2.0, a && (1i << (count - 1u)) == 0);",
        "y[0] = 1.0; } fn never() -> f32 { return clamp(1.0, low, 1.0);",
        "y[0] = 1.0; } fn never() -> u32 { return insertBits(0u, 1u, count, 1u);",
        "y[0] = 1.0; } fn never() -> f32 { return smoothstep(low, 2.0, 1.0);",
        "y[0] = 1.0; } fn never() -> i32 { return 1 / zero;",
    ],
)
def test_a_rule_about_overrides_holds_where_the_value_is_used(text):
    given, findings = run(text, above=OVERRIDES)
    assert given[0] == 1
    assert not findings
    with pytest.raises(WgslError):
        run(text.replace("a &&", "!a &&").replace("1.0; } fn never", "f32(never()); } fn never"), above=OVERRIDES)


def test_vectors_whose_parts_are_written_by_two_invocations_are_a_race():
    above = "var<workgroup> v: array<vec4f, 4>;"
    alone, findings = run("v[t].x = 1.0; v[t][3] = 2.0; y[t] = v[t].x;", size=4, above=above, threads="4")
    assert not findings
    assert alone.all()
    for store in ("v[0][t] = 1.0 + f32(t);", "if (t == 0u) { v[0].x = 1.0; } else if (t == 1u) { v[0].y = 2.0; }"):
        _, findings = run(store, size=4, above=above, threads="4")
        assert [each.kind for each in findings] == ["data race"], store
    _, findings = run("if (t == 0u) { v[0].x = 1.0; } else { y[t] = v[0].y; }", size=4, above=above, threads="4")
    assert "data race" in [each.kind for each in findings]
    _, findings = run("y[0][t] = f32(t);", "vec4<f32>", 4, threads="4")
    assert [each.kind for each in findings] == ["data race"]


FUNCTIONS = {
    "modf(-2.75).fract": -0.75,
    "modf(-2.75).whole": -2.0,
    "modf(vec3(1.5, 2.25, -0.5)).fract.y": 0.25,
    "frexp(6.0).fract": 0.75,
    "f32(frexp(6.0).exp)": 3.0,
    "f32(frexp(vec2(0.25, -8.0)).exp.y)": 4.0,
    "reflect(vec2(1.0, -2.0), vec2(0.0, 1.0)).y": 2.0,
    "refract(vec2(0.0, -1.0), vec2(0.0, 1.0), 0.5).y": -1.0,
    "refract(vec2(0.6, -0.8), vec2(0.0, 1.0), 4.0).y": 0.0,  # total reflection
    "faceForward(vec2(1.0, 2.0), vec2(0.0, 1.0), vec2(0.0, 1.0)).y": -2.0,
    "f32(dot4I8Packed(0xff020304u, 0x01010101u))": -1.0 + 2 + 3 + 4,
    "f32(dot4U8Packed(0xff020304u, 0x01010101u))": 255.0 + 2 + 3 + 4,
}


@pytest.mark.parametrize("text", FUNCTIONS)
def test_functions_in_a_run_and_known_before(text):
    known, _ = run(f"const v = {text}; y[0] = v;")
    variables = text.replace("vec2(", "vec2f(one * ", 1).replace("vec3(", "vec3f(one * ", 1)
    if variables == text:
        variables = text.replace("(", "(one * ", 1) if "Packed" not in text else text.replace("0xff", "u32(one) * 0xff")
    if text.startswith("f32(frexp(6"):
        variables = text.replace("frexp(", "frexp(one * ")
    late, findings = run(f"var one = 1.0; y[0] = {variables};")
    assert known[0] == late[0] == np.float32(FUNCTIONS[text])
    assert not findings


@pytest.mark.parametrize(("line", "name"), [("mat2x2h()", "16 bits"), ("textureLoad()", "textureLoad")])
def test_what_is_not_run_is_named(line, name):
    with pytest.raises(helpers.UnsupportedWgsl, match=name):
        run(f"var m = {line};")
