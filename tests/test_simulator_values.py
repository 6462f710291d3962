"""The types of expressions, and the values that are known before a run."""

from ast import literal_eval

import pytest
from support.wgsl_programs import rows, source

from helpers.simulator.grammar.parser import parse
from helpers.simulator.types import program
from helpers.simulator.types.checker import check
from helpers.simulator.types.declarations import Declarations
from helpers.simulator.types.kinds import F32, U32, Vector


def value_of(expression: str) -> program.Expression:
    """What `let x = expression` binds."""
    made = check(Declarations(parse(source(f"let x = {expression};")), {}), "main")
    return made.entry.body[-1].value


def values_of(expression: str) -> tuple:
    """Type and leaves of a constant."""
    found = value_of(expression)
    assert isinstance(found, program.Constant), found
    return str(found.type), found.leaves


TYPED = """
1                                 i32
1u                                u32
1.0                               f32
1f                                f32
0x1p-3                            f32
i                                 u32
i + 1                             u32
i < 1                             bool
global                            vec3<u32>
global.xy                         vec2<u32>
global * 2                        vec3<u32>
2 * global                        vec3<u32>
global == vec3u()                 vec3<bool>
vec3f(global)                     vec3<f32>
1 << i                            i32
1u << i                           u32
f32(i) * 2                        f32
select(1, 2.5, i > 1)             f32
select(1, 2, i > 1)               i32
max(i, 2)                         u32
dot(global, global)               u32
length(vec3f(global))             f32
params                            Params
params.shift                      i32
tile[i]                           f32
tile                              array<f32, 64>
&tile                             ptr<workgroup, array<f32, 64>>
&output[i]                        ptr<storage, f32>
array(1, 2, 3)[i]                 i32
vec2(1, 2.5)[i]                   f32
array(i, 1)                       array<u32, 2>
arrayLength(&output)              u32
bitcast<f32>(i)                   f32
any(global < vec3u(1))            bool
atomicLoad(&counter)              u32
half(1)                           f32
all(vec2(i > 1, true))            bool
workgroupUniformLoad(&tile[0])    f32
pow(f32(i), 2)                    f32
mix(vec2f(f32(i)), vec2f(), 0.5)  vec2<f32>
unpack4x8unorm(i)                 vec4<f32>
pack2x16float(vec2f(f32(i)))      u32
extractBits(i, 1, 2)              u32
"""
# An expression, its type, and its numbers.
CONSTANTS = """
1 / 2                                i32                  0
-7 / 2                               i32                  -3
-7 % 3                               i32                  -1
7 % -3                               i32                  1
1.0 / 4                              f32                  0.25
7.5 % 2                              f32                  1.5
0.1 + 0.2                            f32                  0.30000001192092896
0.1f + 0.2f                          f32                  0.30000001192092896
1.0 / 3.0 * 3.0                      f32                  1.0
2147483647i + 1i                     i32                  -2147483648
0u - 1u                              u32                  4294967295
65536u * 65537u                      u32                  65536
4294967295 - 4294967294              i32                  1
9007199254740993 - 9007199254740992  i32                  1
16777217 * 1.0f                      f32                  16777216.0
f32(16777217)                        f32                  16777216.0
u32(1.9)                             u32                  1
i32(-1.9)                            i32                  -1
u32(-1i)                             u32                  4294967295
u32(3000000000)                      u32                  3000000000
bool(0.5)                            bool                 True
f32(true)                            f32                  1.0
bitcast<u32>(1.0)                    u32                  1065353216
bitcast<i32>(0xffffffffu)            i32                  -1
~5                                   i32                  -6
~5u                                  u32                  4294967290
!true                                bool                 False
-(-3)                                i32                  3
1 << 4                               i32                  16
-8 >> 1                              i32                  -4
0xffffffffu >> 28                    u32                  15
0x1p-3                               f32                  0.125
1e3f                                 f32                  1000.0
0x1f                                 i32                  31
0x1.8p1                              f32                  3.0
true && (false || true)              bool                 True
1 < 2                                bool                 True
6 & 3                                i32                  2
vec3(1, 2, 3) * 2.5                  vec3<f32>            2.5 5.0 7.5
vec3(1, 2, 3).zx                     vec2<i32>            3 1
vec2(1, 2) == vec2(1, 3)             vec2<bool>           True False
vec4(vec2(1), 2, 3.5)                vec4<f32>            1 1 2 3.5
vec3u(7)                             vec3<u32>            7 7 7
vec3()                               vec3<i32>            0 0 0
vec2() + 0.5                         vec2<f32>            0.5 0.5
array(1, 2.5)[0]                     f32                  1.0
array<vec2f, 2>()                    array<vec2<f32>, 2>  0.0 0.0 0.0 0.0
Params(1, 2, 3, -4).shift            i32                  -4
array(vec2(1, 2), vec2(3, 4))[1]     vec2<i32>            3 4
max(1, 2)                            i32                  2
abs(-1.5)                            f32                  1.5
clamp(5, 0, 3)                       i32                  3
dot(vec2(1, 2), vec2(3, 4))          i32                  11
sqrt(16)                             f32                  4.0
select(1, 2.5, false)                f32                  1.0
countOneBits(7)                      i32                  3
round(2.5)                           f32                  2.0
sqrt(2.0) * sqrt(2.0) == 2.0         bool                 False
exp(1)                               f32                  2.7182817459106445
exp(1) - 2.718281828459045           f32                  0.0
1e-46                                f32                  0.0
0x80000000u                          u32                  2147483648
normalize(vec2(3, 4)).x              f32                  0.6000000238418579
"""


@pytest.mark.parametrize(("expression", "type"), rows(TYPED))
def test_the_type_of_an_expression(expression, type):
    assert str(value_of(expression).type) == type


@pytest.mark.parametrize(("expression", "type", "leaves"), rows(CONSTANTS))
def test_the_value_of_a_constant(expression, type, leaves):
    assert values_of(expression) == (type, tuple(map(literal_eval, leaves.split())))


def test_what_is_known_is_folded_and_the_rest_is_not():
    found = value_of("f32(i) * (1.0 / 4)")
    assert isinstance(found, program.Binary)
    assert found.right.leaves == (0.25,)
    assert isinstance(value_of("TILE * 2"), program.Constant)
    assert isinstance(value_of("i * 2"), program.Binary)


def test_operands_are_converted_where_the_program_says_so():
    splat, converted = value_of("vec3f(f32(i))"), value_of("vec3f(global)")
    assert isinstance(splat, program.Splat)
    assert isinstance(splat.operand, program.Convert)
    assert isinstance(converted, program.Convert)
    assert isinstance(value_of("bitcast<i32>(i)"), program.Bitcast)
    mixed = value_of("global + 1")
    assert (mixed.left.type, mixed.right.type) == (Vector(3, U32), U32)
    shift = value_of("i << 1")
    assert shift.right.type == U32


def test_logical_operators_are_apart_from_those_of_bits():
    assert isinstance(value_of("i > 1 && i < 3"), program.Logical)
    assert isinstance(value_of("(i > 1) & (i < 3)"), program.Binary)


def test_a_part_of_a_variable_is_a_reference_and_a_part_of_a_value_is_picked():
    load = value_of("params.scale")
    assert isinstance(load, program.Load)
    assert (load.reference.offset, load.reference.base.variable.name) == (2, "params")
    element = value_of("tile[i]").reference
    assert (element.count, element.stride, element.type) == (64, 1, F32)
    assert value_of("output[i]").reference.count is None
    assert value_of("global.zx").picked == (2, 0)
    assert isinstance(value_of("global[i]"), program.Index)
