"""The sentence of each suggestion: what is wrong in a text, and what to write instead.

A sentence is a template of the facts, or a function of them. Those about names are in `wgsl.words.names`, and those of
texts that break off in `wgsl.words.unfinished`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from wgsl.facts import Cure, DeclareF32, Described, Misfit, NoCondition, Origin, Write, WriteUnsigned
from wgsl.words import names, unfinished
from wgsl.words.errors import in_line, not_simulated, quoted
from wgsl.words.refusals import Sentence, a, feature, filled, write

UNCLEAR = "the compiler refuses this, and gives no reason in plain words"


def sentence(kind: str, facts: Mapping[str, object]) -> str:
    """Return what is wrong and what to write, by the kind of the suggestion."""
    return filled(SENTENCES[kind], facts)


# --- Pieces of a sentence -----------------------------------------------------------------------------------------


def origin(declared: Origin) -> str:
    """Return where a value is declared, and how."""
    return f"declared {in_line(declared.line)} by `{declared.declaration}`"


def described(value: Described) -> str:
    """Return a value with its type, and where the type comes from."""
    typed = f"`{value.text}` is {a(value.type)}"
    if value.origin is None:
        return typed
    if value.origin.name != value.text:
        typed = f"{typed}, as is `{value.origin.name}`"
    return f"{typed}, {origin(value.origin)}"


def pair(first: Described, second: Described) -> str:
    """Return two values with their types."""
    return f"`{first.text}` is {a(first.type)}, `{second.text}` {a(second.type)}"


def misfit(value: Misfit) -> str:
    """Return which value does not fit its place, and what to write."""
    if value.no_type:
        return f"{described(value.value)}, which no {value.no_type} can hold"
    return f"{described(value.value)}{write(value.cure)}"


def no_condition(value: NoCondition) -> str:
    """Return which value is not true or false, and what to compare it with."""
    if value.zero is None:
        return described(value.value)
    return f"{described(value.value)}: compare it, as in `{value.value.text} != {value.zero}`"


def cured(cure: Cure) -> str:
    """Return what to write where two types do not go together."""
    if isinstance(cure, DeclareF32):
        return f"declare `{cure.name}` as f32, as in `{cure.declaration};`"
    if isinstance(cure, Write):
        return f"write {quoted(cure.texts)}"
    return unsigned(cure)


def unsigned(cure: WriteUnsigned) -> str:
    """Return what to write for a u32 in the place of an i32."""
    written = quoted(cure.texts)
    if cure.leave_out:
        return f"leave out the `i32(...)`: write {written}"
    return f"write {written}"


# --- Types that do not go together --------------------------------------------------------------------------------


def bits(sign: str, value: Described) -> str:
    """An operator for bits beside an f32."""
    return f"`{sign}` is for the bits of whole numbers, and {described(value)}"


def fraction(number: Described, other: Described, conversion: str | None, whole: str | None) -> str:
    """A number with a point beside a whole number."""
    both = f"{described(number)}, and {described(other)}"
    if conversion is None:
        return f"{both}{write(whole)}"
    if whole is None:
        return f"{both}{write(conversion)}"
    return f"{both}{write(conversion)}, or `{whole}` for whole numbers"


def vector_operand(value: Described) -> str:
    """A vector beside a number."""
    return f"{described(value)}: write `{value.text}.x` for its first number"


def two_types(sign: str, left: Described, right: Described) -> str:
    """Two operands of types that no call converts."""
    return f"{described(left)} and {described(right)}: the two sides of `{sign}` must be of one type"


def mixed(value: Described, other: Described, cure: Cure) -> str:
    """Two values of different types, and what to write."""
    return f"{described(value)}, and {described(other)}: {cured(cure)}"


def power(product: str | None) -> str:
    """A power that is written with `^`."""
    cure = f"`{product}`" if product else "the product, or `pow(a, b)` for f32"
    return f"WGSL has no sign for a power, and `^` is for the bits of whole numbers: write {cure}"


def power_of_python(product: str | None) -> str:
    """A power that is written with `**`."""
    cure = f"write `{product}`" if product else "write the product, or `pow(a, b)` for f32"
    return f"WGSL has no `**`: {cure}"


def assigned(target: Described, value: Misfit) -> str:
    """A value of one type, stored where another one belongs."""
    return f"{described(target)}, and {misfit(value)}"


def declared(name: str, type: object, value: Misfit, cure: str | None) -> str:
    """A variable whose value is not of its declared type."""
    return f"`{name}` is declared as {a(type)}, and {misfit(value)}{write(cure)}"


# --- Values in a place that takes another type --------------------------------------------------------------------


def index_vector(value: Described) -> str:
    """An index that is a vector."""
    return f"{described(value)}, and an index is one number: take a part of it, such as `{value.text}.x`"


def index_converted(value: Described, cure: str) -> str:
    """An index that is converted to an f32."""
    return f"{described(value)}, and an index is a whole number{write(cure)}"


def index(value: Described, cure: str | None) -> str:
    """An index that is not a whole number."""
    return f"{described(value)}, and an index must be a whole number, u32 or i32{write(cure)}"


def condition(value: NoCondition) -> str:
    """A condition that is not true or false."""
    return f"a condition is true or false, and {no_condition(value)}"


def joined(sign: str, value: NoCondition) -> str:
    """A number beside `&&` or `||`."""
    return f"`{sign}` joins two conditions, and {no_condition(value)}"


def joined_literal(sign: str, value: Described) -> str:
    """A number that is written beside `&&` or `||`."""
    cure = f"write a whole comparison on each side, as in `i == {value.text}`"
    return f"`{sign}` joins two conditions, and {described(value)}: {cure}"


def argument(name: str, value: Described) -> str:
    """An argument of a type that a built-in function does not take."""
    return f"`{name}` does not take {a(value.type)} like `{value.text}`"


def argument_f32(name: str, value: Described, cure: str) -> str:
    """A whole number where a built-in function takes f32."""
    return f"`{name}` takes f32, and {described(value)}{write(cure)}"


def arguments_of_one_type(name: str, first: Described, other: Described, cure: str | None) -> str:
    """Two arguments of different types."""
    return f"`{name}` takes values of one type, and {pair(first, other)}{write(cure)}"


def select_condition(value: Described) -> str:
    """A `select` whose last value is no condition."""
    return f"the last value of `select` is its condition, and {described(value)}"


def select_types(first: Described, second: Described) -> str:
    """A `select` between values of two types."""
    return f"the first two values of `select` must be of one type, and {pair(first, second)}"


def called(value: Described, function: Origin, cure: str | None) -> str:
    """An argument of the text's own function of the wrong type."""
    where = f"declared {in_line(function.line)} as `{function.declaration}`"
    return f"{described(value)}, and `{function.name}` is {where}{write(cure)}"


def returned(name: str, type: object, value: Described, cure: str | None) -> str:
    """A `return` whose value is not of the type of its function."""
    return f"`{name}` returns {a(type)}, and {described(value)}{write(cure)}"


def whole_id(name: str, type: object, cure: str | None) -> str:
    """A copy of a thread's id with all its parts."""
    return f"`{name}` is {a(type)}, and not one number{write(cure)}"


# --- What an adapter does not have --------------------------------------------------------------------------------


def unsupported(kind: str, facts: Mapping[str, object]) -> str:
    """A feature of WGSL that the simulator does not run."""
    return f"{not_simulated(feature(kind, facts))}; an adapter may run this kernel"


def other_numbers(kind: str, facts: Mapping[str, object]) -> str:
    """Numbers of 16 or 64 bits."""
    return f"not every adapter has {feature(kind, facts)}; numbers are `f32`, `u32` or `i32`"


def early(name: str | None) -> str:
    """A value that the compiler of an adapter does not compute before the run."""
    cure = f"write the number, or give `{name}` a `var`" if name else "write the number"
    return f"WGSL can compute this before the run, but the compiler of this adapter cannot: {cure}"


def compiler(lines: Sequence[str]) -> str:
    """The reasons that a compiler itself gives, if they are in plain words."""
    return "; ".join(lines) or UNCLEAR


SENTENCES: dict[str, Sentence] = {
    **unfinished.SENTENCES,
    **names.SENTENCES,
    # Types that do not go together
    "bits of an f32": bits,
    "fraction beside a whole number": fraction,
    "vector beside a number": vector_operand,
    "two types": two_types,
    "mixed types": mixed,
    "power": power,
    "power of Python": power_of_python,
    "bits before a comparison": "`{equal}` comes before `{sign}`: write `{cure}`",
    "chain of comparisons": "comparisons form no chain: write `{cure}`",
    "assigned": assigned,
    "fit": misfit,
    "declared": declared,
    # Values in a place that takes another type
    "index with parts": index_vector,
    "index converted": index_converted,
    "index": index,
    "index of a struct": "`{name}` is a struct and takes no index: take a field, such as `{name}.{field}`",
    "second index": "`{name}` is a flat array and takes one index: compute it, as in `{name}[row * width + column]`",
    "too many indices": "`{name}` takes {taken} indices, not one more",
    "index of a number": "`{name}` is a single number: no index",
    "condition": condition,
    "joined": joined,
    "joined number": joined_literal,
    "length of a buffer": "`length` is that of a vector: write `arrayLength({pointer})`",
    "argument": argument,
    "argument of type f32": argument_f32,
    "arguments of one type": arguments_of_one_type,
    "condition first": (
        "the condition of `select` comes last, and the value for false first: write `select({no}, {yes}, {condition})`"
    ),
    "condition of select": select_condition,
    "types in select": select_types,
    "called": called,
    "no value returned": "`{name}` returns a value of type {type}: write `return value;`",
    "result of a kernel": "`{name}` returns nothing: write the value to its place in `{output}`, `{output}[i]`",
    "value from a kernel": "`{name}` returns nothing: write `return;`",
    "value from a function": (
        "`{name}` returns nothing: write `return;`, or declare the type behind its parentheses, as in `-> f32`"
    ),
    "returned": returned,
    "length without address": "`arrayLength` takes its array with `&`: write `arrayLength(&{name})`",
    "whole id": whole_id,
    # What an adapter does not have, and what its compiler says
    "not simulated": unsupported,
    "subgroups": (
        "not every adapter offers subgroup functions, so these kernels do without them: share values in workgroup "
        "memory, with a `workgroupBarrier()` before they are read"
    ),
    "other numbers": other_numbers,
    "extension of a device": "the device here has no `{name}`: take `enable {name};` out, and do without it",
    "known too early": early,
    "pointer as a parameter": "`{name}` cannot be a parameter: a function can use every buffer by its own name",
    "compiler": compiler,
}
