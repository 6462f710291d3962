"""The types of expressions, and the values that are known before a run."""

from ast import literal_eval

import pytest
from support.wgsl_programs import source
from support.wgsl_texts import checked

from wgsl.types import program


def value_of(expression: str) -> program.Expression:
    """The value that ``let x = expression`` binds."""
    return checked(source(f"let x = {expression};")).entry.body[-1].value


TYPED = [
    ("1", "i32"),
    ("1u", "u32"),
    ("1.0", "f32"),
    ("1f", "f32"),
    ("0x1p-3", "f32"),
    ("i", "u32"),
    ("i + 1", "u32"),
    ("i < 1", "bool"),
    ("global", "vec3u"),
    ("global.xy", "vec2u"),
    ("global * 2", "vec3u"),
    ("2 * global", "vec3u"),
    ("global == vec3u()", "vec3<bool>"),
    ("vec3f(global)", "vec3f"),
    ("1 << i", "i32"),
    ("1u << i", "u32"),
    ("f32(i) * 2", "f32"),
    ("select(1, 2.5, i > 1)", "f32"),
    ("select(1, 2, i > 1)", "i32"),
    ("max(i, 2)", "u32"),
    ("dot(global, global)", "u32"),
    ("length(vec3f(global))", "f32"),
    ("params", "Params"),
    ("params.shift", "i32"),
    ("tile[i]", "f32"),
    ("tile", "array<f32, 64>"),
    ("&tile", "ptr<workgroup, array<f32, 64>>"),
    ("&output[i]", "ptr<storage, f32>"),
    ("array(1, 2, 3)[i]", "i32"),
    ("vec2(1, 2.5)[i]", "f32"),
    ("array(i, 1)", "array<u32, 2>"),
    ("arrayLength(&output)", "u32"),
    ("bitcast<f32>(i)", "f32"),
    ("any(global < vec3u(1))", "bool"),
    ("atomicLoad(&counter)", "u32"),
    ("half(1)", "f32"),
    ("all(vec2(i > 1, true))", "bool"),
    ("workgroupUniformLoad(&tile[0])", "f32"),
    ("pow(f32(i), 2)", "f32"),
    ("mix(vec2f(f32(i)), vec2f(), 0.5)", "vec2f"),
    ("unpack4x8unorm(i)", "vec4f"),
    ("pack2x16float(vec2f(f32(i)))", "u32"),
    ("extractBits(i, 1, 2)", "u32"),
]
# An expression, its type, and its numbers.
CONSTANTS = [
    ("1 / 2", "i32", "0"),
    ("-7 / 2", "i32", "-3"),
    ("-7 % 3", "i32", "-1"),
    ("7 % -3", "i32", "1"),
    ("1.0 / 4", "f32", "0.25"),
    ("7.5 % 2", "f32", "1.5"),
    ("0.1 + 0.2", "f32", "0.30000001192092896"),
    ("0.1f + 0.2f", "f32", "0.30000001192092896"),
    ("1.0 / 3.0 * 3.0", "f32", "1.0"),
    ("2147483647i + 1i", "i32", "-2147483648"),
    ("0u - 1u", "u32", "4294967295"),
    ("65536u * 65537u", "u32", "65536"),
    ("4294967295 - 4294967294", "i32", "1"),
    ("9007199254740993 - 9007199254740992", "i32", "1"),
    ("16777217 * 1.0f", "f32", "16777216.0"),
    ("f32(16777217)", "f32", "16777216.0"),
    ("u32(1.9)", "u32", "1"),
    ("i32(-1.9)", "i32", "-1"),
    ("u32(-1i)", "u32", "4294967295"),
    ("u32(3000000000)", "u32", "3000000000"),
    ("bool(0.5)", "bool", "True"),
    ("f32(true)", "f32", "1.0"),
    ("bitcast<u32>(1.0)", "u32", "1065353216"),
    ("bitcast<i32>(0xffffffffu)", "i32", "-1"),
    ("~5", "i32", "-6"),
    ("~5u", "u32", "4294967290"),
    ("!true", "bool", "False"),
    ("-(-3)", "i32", "3"),
    ("1 << 4", "i32", "16"),
    ("-8 >> 1", "i32", "-4"),
    ("0xffffffffu >> 28", "u32", "15"),
    ("0x1p-3", "f32", "0.125"),
    ("1e3f", "f32", "1000.0"),
    ("0x1f", "i32", "31"),
    ("0x1.8p1", "f32", "3.0"),
    ("true && (false || true)", "bool", "True"),
    ("1 < 2", "bool", "True"),
    ("6 & 3", "i32", "2"),
    ("vec3(1, 2, 3) * 2.5", "vec3f", "2.5 5.0 7.5"),
    ("vec3(1, 2, 3).zx", "vec2i", "3 1"),
    ("vec2(1, 2) == vec2(1, 3)", "vec2<bool>", "True False"),
    ("vec4(vec2(1), 2, 3.5)", "vec4f", "1 1 2 3.5"),
    ("vec3u(7)", "vec3u", "7 7 7"),
    ("vec3()", "vec3i", "0 0 0"),
    ("vec2() + 0.5", "vec2f", "0.5 0.5"),
    ("array(1, 2.5)[0]", "f32", "1.0"),
    ("array<vec2f, 2>()", "array<vec2f, 2>", "0.0 0.0 0.0 0.0"),
    ("Params(1, 2, 3, -4).shift", "i32", "-4"),
    ("array(vec2(1, 2), vec2(3, 4))[1]", "vec2i", "3 4"),
    ("max(1, 2)", "i32", "2"),
    ("abs(-1.5)", "f32", "1.5"),
    ("clamp(5, 0, 3)", "i32", "3"),
    ("dot(vec2(1, 2), vec2(3, 4))", "i32", "11"),
    ("sqrt(16)", "f32", "4.0"),
    ("select(1, 2.5, false)", "f32", "1.0"),
    ("countOneBits(7)", "i32", "3"),
    ("round(2.5)", "f32", "2.0"),
    ("sqrt(2.0) * sqrt(2.0) == 2.0", "bool", "False"),
    ("exp(1)", "f32", "2.7182817459106445"),
    ("exp(1) - 2.718281828459045", "f32", "0.0"),
    ("1e-46", "f32", "0.0"),
    ("0x80000000u", "u32", "2147483648"),
    ("normalize(vec2(3, 4)).x", "f32", "0.6000000238418579"),
]


@pytest.mark.parametrize("row", [*TYPED, *CONSTANTS])
def test_the_type_of_an_expression_and_the_numbers_of_a_constant(row):
    expression, type, *numbers = row
    value = value_of(expression)
    assert str(value.type) == type
    for leaves in numbers:
        assert value.leaves == tuple(map(literal_eval, leaves.split()))
