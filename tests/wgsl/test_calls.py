"""Calls: the parts of each in the program, and the refusal of one that cannot stand where it stands."""

import pytest
from support.wgsl_programs import source
from support.wgsl_texts import checked

from wgsl.diagnostics import NotWgsl
from wgsl.types import calls, expressions
from wgsl.types.kinds import BOOL, U32, Struct
from wgsl.types.program import ArrayLength, AtomicCall, Bitcast, Call, Constant, Evaluate, Expression, Root, UniformLoad

# --- Atomic functions -----------------------------------------------------------------------------------------------


def atomic_call(name: str) -> str:
    """The text of a call of an atomic function, with the numbers 5 and 6 after the pointer, or fewer of them."""
    arguments = ["&counter", "5", "6"]
    return f"{name}({', '.join(arguments[: 1 + calls.ATOMICS[name]])})"


def evaluated(call: str) -> tuple[str, Expression]:
    """The text of a kernel, and the call that it ends with."""
    text = source(f"{call};")
    statement = checked(text).entry.body[-1]
    assert isinstance(statement, Evaluate)
    return text, statement.value


@pytest.mark.parametrize("name", calls.ATOMICS)
def test_an_atomic_call_has_its_type_place_name_pointer_and_arguments(name: str):
    text, call = evaluated(atomic_call(name))
    assert isinstance(call, AtomicCall)
    assert text[call.at : call.end] == atomic_call(name)
    assert call.name == name
    assert isinstance(call.reference, Root)
    assert call.reference.variable.name == "counter"
    assert [argument.type for argument in call.arguments] == [U32] * calls.ATOMICS[name]
    assert [argument.leaves for argument in call.arguments] == [(5 + i,) for i in range(calls.ATOMICS[name])]


def test_the_result_of_an_atomic_call_is_the_old_value_or_nothing():
    types = {}
    for name in calls.ATOMICS:
        _, call = evaluated(atomic_call(name))
        types[name] = call.type
    assert types.pop("atomicStore") is None
    exchanged = types.pop("atomicCompareExchangeWeak")
    assert isinstance(exchanged, Struct)
    members = [(field.name, field.type, field.offset) for field in exchanged.fields]
    assert members == [("old_value", U32, 0), ("exchanged", BOOL, 1)]
    assert {*types.values()} == {U32}


# --- Other functions of pointers ------------------------------------------------------------------------------------

OF_POINTERS = [
    ("arrayLength(&output)", ArrayLength, "u32"),
    ("workgroupUniformLoad(&tile)", UniformLoad, "array<f32, 64>"),
    ("workgroupUniformLoad(&counter)", UniformLoad, "u32"),
]


@pytest.mark.parametrize(("written", "kind", "type"), OF_POINTERS)
def test_a_call_with_a_pointer_has_its_type_and_place(written: str, kind: type, type: str):
    text = source(f"let x = {written};")
    call = checked(text).entry.body[-1].value
    assert isinstance(call, kind)
    assert (str(call.type), text[call.at : call.end]) == (type, written)


WRONG_POINTERS = [
    ("arrayLength(&tile)", "length", "&tile"),
    ("arrayLength(i)", "length", "i"),
    ("workgroupUniformLoad(&output[0])", "pointer to workgroup memory", "&output[0]"),
    ("atomicLoad(&tile[0])", "pointer to an atomic", "&tile[0]"),
]


@pytest.mark.parametrize(("call", "kind", "place"), WRONG_POINTERS)
def test_a_pointer_to_something_else_is_refused(call: str, kind: str, place: str):
    assert refusal(source(f"let x = {call};")) == (kind, place)


def refusal(text: str) -> tuple[str, str]:
    """The kind of the refusal of a text, and the piece that is to blame."""
    with pytest.raises(NotWgsl) as caught:
        checked(text)
    return caught.value.kind, text[caught.value.at :][: caught.value.length]


# --- Functions of the text ------------------------------------------------------------------------------------------

ONE = "fn one() -> u32 { return 1u; }"
EARLY = [  # declarations, and what of them is refused
    ("override N: u32 = one();", "one()"),
    ("override N: u32 = 2u * one() + 1u;", "one()"),
    ("const N = one() + 1u;", "N"),
    ("var<private> n: array<u32, one()>;", "one()"),
    ("var<private> n: u32 = one() + 1u;", "one()"),
    ("const_assert one() == 1u;", "one()"),
    ("@group(0) @binding(one() + 3u) var<storage> n: u32;", "one()"),
]


@pytest.mark.parametrize(("declaration", "place"), EARLY)
def test_a_function_of_the_text_is_called_in_a_run_alone(declaration: str, place: str):
    assert refusal(source("", f"{ONE} {declaration}")) == ("too_late", place)


def test_an_override_does_not_call_a_function_even_where_its_value_comes_from_outside():
    with pytest.raises(NotWgsl) as caught:
        checked(source("", f"{ONE} override N: u32 = one();"), N=3)
    assert caught.value.kind == "too_late"


def test_a_function_of_the_text_is_called_with_converted_arguments():
    _, call = evaluated("half(2)")
    assert isinstance(call, Call)
    assert (call.function.name, [argument.leaves for argument in call.arguments]) == ("half", [(2.0,)])
    assert expressions.too_late(call).kind == "too_late"


def test_a_function_of_the_text_is_not_called_with_arguments_of_another_type_or_number():
    assert refusal(source("let x = half(i);")) == ("called", "half(i)")
    assert refusal(source("let x = half();")) == ("count", "half")
    assert refusal(source("let x = half(1.0, i);")) == ("count", "i")


# --- Vectors, and bits as another type ------------------------------------------------------------------------------


def constant(text: str) -> Constant:
    value = checked(source(f"let x = {text};")).entry.body[-1].value
    assert isinstance(value, Constant)
    return value


BITS = [  # an abstract whole number has 32 bits, as a u32 has them
    ("bitcast<u32>(4294967295)", "u32", (4294967295,)),
    ("bitcast<u32>(2147483648)", "u32", (2147483648,)),
    ("bitcast<vec2u>(vec2(4294967295, 1))", "vec2u", (4294967295, 1)),
    ("bitcast<i32>(-1)", "i32", (-1,)),
    ("bitcast<f32>(1065353216)", "f32", (1.0,)),
    ("bitcast<vec2i>(vec2u(4294967295u, 1u))", "vec2i", (-1, 1)),
]


@pytest.mark.parametrize(("text", "type", "leaves"), BITS)
def test_bits_are_read_as_another_type(text: str, type: str, leaves: tuple):
    value = constant(text)
    assert (str(value.type), value.leaves) == (type, leaves)


def test_bits_that_are_known_in_a_run_are_read_then():
    text = source("let x = bitcast<f32>(i);")
    value = checked(text).entry.body[-1].value
    assert isinstance(value, Bitcast)
    assert (str(value.type), text[value.at : value.end]) == ("f32", "bitcast<f32>(i)")
    assert refusal(source("let x = bitcast<vec2f>(i);")) == ("bits", "i")
    assert refusal(source("let x = bitcast<f32>(i > 1u);")) == ("bits", "i > 1u")


@pytest.mark.parametrize("text", ["vec2f(1u, 2.0)", "vec3f(vec2u(1, 2), 3.0)", "vec2u(i, 1i)", "vec2i(1.5, 2)"])
def test_a_vector_is_not_made_from_numbers_of_another_type(text: str):
    kind, _ = refusal(source(f"let x = {text};"))
    assert kind == "argument"


MADE = [
    ("vec2f(1, 2.0)", "vec2f", (1.0, 2.0)),
    ("vec3f(vec2(1, 2), 3)", "vec3f", (1.0, 2.0, 3.0)),
    ("vec3u(3)", "vec3u", (3, 3, 3)),
    ("vec2i(vec2f(1.5, -2.5))", "vec2i", (1, -2)),
]


@pytest.mark.parametrize(("text", "type", "leaves"), MADE)
def test_a_vector_is_made_from_what_is_converted_by_itself(text: str, type: str, leaves: tuple):
    value = constant(text)
    assert (str(value.type), value.leaves) == (type, leaves)
    assert all(isinstance(leaf, float if type.endswith("f") else int) for leaf in value.leaves)
