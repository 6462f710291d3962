"""The reason why a text is refused, by the kind of the refusal, and what the simulator does not run.

A sentence is a template of the facts, or a function of them. What `wgsl.suggestions` knows of a text takes its place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from wgsl.words import graphics
from wgsl.words.not_everywhere import NOT_EVERYWHERE

Sentence = str | Callable[..., str]


class Typed(Protocol):
    """A value, or a place in memory, of a type."""

    type: object


class Named(Typed, Protocol):
    """A parameter."""

    name: str


class Function(Protocol):
    """A function, with the type that it returns, or None."""

    name: str
    result: object


def reason(kind: str, facts: Mapping[str, Any]) -> str:
    """Return why a text is refused."""
    return filled(REASONS[kind], facts)


def feature(kind: str, facts: Mapping[str, Any]) -> str:
    """Return the name of what the simulator does not run."""
    return filled(FEATURES[kind], facts)


def filled(sentence: Sentence, facts: Mapping[str, Any]) -> str:
    """Return a sentence with the facts in their places, of which long texts are cut."""
    facts = {name: _cut(fact) for name, fact in facts.items()}
    return sentence.format(**facts) if isinstance(sentence, str) else sentence(**facts)


LONGEST = 300  # letters of a fact that are shown


def _cut(fact: Any) -> Any:
    is_long = isinstance(fact, str) and len(fact) > LONGEST
    return f"{fact[:60]}..." if is_long else fact


ABSTRACT = {  # numbers without a suffix, whose type is settled by what is beside them
    "abstract i32": "a whole number",
    "abstract f32": "a number with a point",
}


def a(type: object) -> str:
    """Return a type with its article."""
    if type is None:
        return "nothing"
    name = str(type)
    article = "an" if name[0] in "aif" else "a"
    return ABSTRACT.get(getattr(type, "name", name), f"{article} {name}")


def write(cure: str | None) -> str:
    """Return the end of a sentence that says what to write, if that is known."""
    return f": write `{cure}`" if cure else ""


# --- What is expected ---------------------------------------------------------------------------------------------

PHRASES = {  # by what belongs there; a sign or a word of WGSL stands for itself
    "declaration": "declaration or the end of the file",
    "begin of a loop": "a declaration, an assignment or i++",
    "case": "`case`, `default` or `}`",
    "step of a loop": "an assignment, i++ or a call",
    "variable": "a variable, or a part of one,",
    "assignment": "assignment or i++",
    "name": "a name",
    "statement": "statement",
}


def phrase(what: str) -> str:
    """Return what belongs at a place."""
    return PHRASES.get(what, f"`{what}`")


def expected(what: str) -> str:
    """Something stands where something else belongs."""
    return f"{phrase(what)} is expected here"


# --- Sentences that are made of types, or that have several forms -----------------------------------------------------


def clash(inner: str, sign: str, chain: bool, **_: object) -> str:
    """Two operators that need parentheses between them."""
    if chain:
        return f"comparisons form no chain: write `a {inner} b && b {sign} c`"
    if "^" in (inner, sign):
        return f"`{inner}` and `{sign}` need parentheses, and `^` is for the bits of whole numbers, not for a power"
    return f"`{inner}` and `{sign}` stand side by side: put what belongs together in parentheses"


def count(name: str, wanted: int, given: int) -> str:
    """Too few or too many arguments."""
    values = "value" if wanted == 1 else "values"
    return f"`{name}` takes {wanted} {values}, and {given} are given"


def argument(name: str, i: int, arguments: tuple[Typed, ...], **_: object) -> str:
    """An argument that a built-in function does not take."""
    return f"`{name}` does not take {a(arguments[i].type)} here"


def fit(value: Typed, wanted: object) -> str:
    """A value in a place of another type."""
    return f"{a(wanted)} belongs here, and this is {a(value.type)}"


def bits(value: Typed, type: object) -> str:
    """A `bitcast` between types of different sizes."""
    return f"{a(value.type)} has not the bits of {a(type)}"


def unary(sign: str, operand: Typed) -> str:
    """An operator before a value that it does not take."""
    needs = {"-": "an f32 or i32", "!": "a condition", "~": "a u32 or i32"}[sign]
    return f"`{sign}` needs {needs}, and this is {a(operand.type)}"


def operands(sign: str, left: Typed, right: Typed) -> str:
    """An operator between values that do not go together."""
    return f"`{sign}` does not work with {a(left.type)} and {a(right.type)}"


def joined(sign: str, value: Typed) -> str:
    """A value beside `&&` or `||` that is no condition."""
    return f"`{sign}` joins two conditions, and this is {a(value.type)}"


def assigned(target: Typed, value: Typed) -> str:
    """A value that cannot be stored where it should be."""
    return f"{a(value.type)} does not fit {a(target.type)}"


def declared(node: Any, value: Typed, wanted: object) -> str:
    """A variable whose value is not of its declared type."""
    return f"`{node.name}` is declared as {a(wanted)}, and its value is {a(value.type)}"


def called(parameter: Named, value: Typed, **_: object) -> str:
    """An argument of the text's own function of the wrong type."""
    return f"`{parameter.name}` is {a(parameter.type)}, and this is {a(value.type)}"


def counted(target: Typed, sign: str) -> str:
    """`++` of what is not a whole number."""
    return f"`{sign}` counts only u32 and i32, and this is {a(target.type)}"


def condition(value: Typed) -> str:
    """A condition that is not true or false."""
    return f"a condition is true or false, and this is {a(value.type)}"


def returned(function: Function, **_: object) -> str:
    """A `return` that does not fit its function."""
    return f"`{function.name}` returns {a(function.result)}"


def not_held(scalar: object, number: float) -> str:
    """A number that a type does not have."""
    return f"{a(scalar)} cannot hold `{number}`"


def runtime_sized(space: str) -> str:
    """Return what an array without a length needs; a uniform has none of single numbers with a length, either."""
    if space == "uniform":
        return "only storage has arrays without a length, not uniform; write a struct with a member for each number"
    return f"an array needs a length here, as in `array<f32, 64>`: only storage has arrays without one, not {space}"


def out_of_range(text: str) -> str:
    """A number, as it is written, that its type does not have."""
    shown = text if len(text) <= 40 else f"{text[:40]}..."
    return f"`{shown}` is out of the range of its type"


REASONS: dict[str, Sentence] = {
    **NOT_EVERYWHERE,
    # Text
    "comment": "this comment never ends: `*/` is missing",
    "unknown": "nothing is called `{name}` here",
    "attribute": "WGSL has no attribute `@{name}`, or not here",
    "keyword": "`{name}` is a word of WGSL's own, and not a name",
    "directive": "`{name}` stands before all declarations",
    "break if": "`break if` stands only in `continuing`, as its last line",
    "blocks": "more than {most} blocks stand in each other",
    "expected": expected,
    "clash": clash,
    "malformed number": "`{text}` is no number that WGSL can read",
    "number out of range": out_of_range,
    "attribute of a member": "`@{name}` belongs to a member of a struct",
    "not enabled": (
        "`{written}` needs `enable {extension};` at the top of the text, which not every adapter takes: `f32` always "
        "works"
    ),
    "extension": "`enable` knows no `{name}`",
    "no subgroups": "browsers refuse `{name}` in a text that does not begin with `enable subgroups;`",
    "language feature": "`requires` knows no `{name}`",
    "severity": "a diagnostic is one of {severities}, and not `{severity}`",
    "two severities": "`{of}` says two things of `{warning}`: it is `{severity}` already",
    "invariant": "`@invariant` belongs to a `@builtin(position)`",
    "interpolate": (
        "`@interpolate` stands beside a `@location`, and takes `flat`, `linear` or `perspective`, and how it is sampled"
    ),
    "shadowed word": "`{name}` is declared in this text, and so it does not name memory or an access here",
    "component twice": "`{name}` has a component twice, and each can be assigned once",
    "two immediates": "`{entry}` uses two variables in `immediate` memory, and may use one",
    "array of immediate": "`immediate` memory has no arrays",
    "override in an array": "only workgroup memory has arrays whose length is an override, and not {space}",
    "expression": "this expression has more than {most} levels, and browsers take no more: store parts in variables",
    "attribute out of place": "`@{name}` has no place before `{word}`",
    "attribute twice": "`@{name}` stands here twice",
    # Names and types
    "already declared": "`{name}` is already declared in this block: choose another name, or assign with `=`",
    "uses itself": "`{name}` uses itself, which WGSL does not allow",
    "no type here": "a type must stand here",
    "no type": "`{name}` is no type",
    "takes no types": "`{name}` takes no types in `<` and `>`",
    "needs a type": "`{name}` needs a type behind it, as in `array<f32>` or `vec3<u32>`",
    "too many types": "`{name}` takes no more than {most} in `<` and `>`",
    "too many lengths": "an `array` has one length: 8 rows of 16 numbers are `array<array<f32, 16>, 8>`",
    "pointer to a pointer": "a pointer cannot lead to another pointer (`ptr`)",
    "elements": "an array cannot have elements of type `{element}`",
    "atomic": "WGSL has no `atomic<{element}>`, only `atomic<u32>` and `atomic<i32>`",
    "parts of a vector": "a vector cannot have parts of type `{element}`",
    "parts of a matrix": "a matrix cannot have parts of type `{element}`",
    "address space": "`{name}` is no kind of memory; there are {spaces}",
    "access mode": "only storage takes an access mode, and no more than one",
    "access": "a buffer is `read` or `read_write`",
    "array length": "the length of an array must be a whole number, a u32 or i32",
    "no element": "an array has at least one element",
    "type": "`{name}` is a type or a function, and no value",
    # Variables and memory
    "type of a let": "a `let` cannot be of type `{type}`",
    "space of a local variable": "a `var<{space}>` is declared outside of every function",
    "type of a local variable": "a local variable cannot be of type `{type}`",
    "type of a variable": "a variable cannot be of type `{type}`",
    "type of an override": "an override cannot be of type `{type}`",
    "type of a member": "a member cannot be of type `{type}`",
    "type of a parameter": "a parameter cannot be of type `{type}`",
    "type or value": "`{name}` needs a type or a value",
    "runtime-sized": runtime_sized,
    "bool in a buffer": "a buffer cannot hold a bool: use a u32",
    "memory of atomics": "atomics need workgroup memory, or storage that is read_write, not {space} memory",
    "initial value": "a variable in {space} memory cannot have an initial value",
    "no address space": "the variable `{name}` needs an address space, such as `var<workgroup>` or `var<private>`",
    "needless binding": "only buffers have a binding, and `{name}` is not one",
    "missing binding": "`{name}` needs a `@{missing}(...)` beside it",
    "half of a binding": "`@{given}({number})` needs a `@{missing}(...)` beside it",
    "no_bindings": (
        "it declares no bindings; write one for each buffer, as in "
        "`@group(0) @binding(0) var<storage, read_write> output: array<f32>;`"
    ),
    "group": "`{name}` is in group {group}: write @group(0) for every binding",
    "gap in the bindings": "it has the bindings {listed}, and none with the number {missing}",
    "binding twice": "the binding {number} is declared twice: each variable has a number of its own",
    "empty struct": "the struct `{name}` has no members",
    "last member": "only the last member of a struct may be a runtime-sized array",
    "size": "@size must be at least {least}",
    "align": "@align must be a power of two of at least {least}",
    "numbers of one type": "the numbers of @{name} must be all of type i32, or all u32",
    "whole number": "a whole number belongs here, and none below 0",
    "needs a number": "`@{name}` needs a number",
    "id": "the number of an `@id` is at most 65535, and each override has its own",
    "declared": declared,
    "too_late": "this must be known before the run, in a const context",
    "override in a const": "`{name}` is an `override`, whose value is given at launch, and here a `const` is needed",
    "no value": "the override `{name}` has no value: give it one, or write `override {name} = ...;`",
    **graphics.REASONS,
    # Functions
    "entry_point": "no kernel is called `{wanted}`; is `@compute` or its `fn` missing?",
    "result of a kernel": "a kernel returns nothing",
    "result": "a function cannot return a value of type `{type}`",
    "attribute of a result": "only an entry point's result has attributes",
    "no return": "`{name}` promises a value of type {type}, and no `return` gives one",
    "return on every path": "this function does not return a value on every path: is a `return` missing?",
    "workgroup_size without compute": "`@workgroup_size` belongs to a kernel: is `@compute` missing beside it?",
    "must_use": "`@must_use` belongs to a function that returns a value",
    "attribute of a kernel": "`@{name}` belongs to a kernel: is `@compute` missing above the `fn`?",
    "attribute of a parameter": "`@{name}` has no place at a parameter of an ordinary function: leave it out",
    "type of a builtin": "`{builtin}` is a {type}: write `{name}: {type}`",
    "parameter of a kernel": (
        "each parameter of a kernel needs a `@builtin(...)`, or each member of it: write "
        "`@builtin(global_invocation_id) {name}: vec3u`, or another builtin"
    ),
    "no such builtin": "WGSL has no builtin `{name}`; the usual one is `global_invocation_id`",
    "builtin twice": "`{name}` is there twice",
    "no workgroup_size": "`@workgroup_size(...)` is missing beside `@compute`",
    "workgroup_size": "@workgroup_size takes one to three numbers, each at least 1",
    # Statements
    "const_assert": "const_assert needs a condition, true or false",
    "false const_assert": "this `const_assert` is false",
    "constant": "`{sign}` changes a variable, and this is none",
    "counted": counted,
    "unused value": "the value of this call is not used: store it, as in `let value = ...;`",
    "condition": condition,
    "selector": "a switch needs a u32 or i32",
    "case": "the values of the cases must be of the selector's type",
    "case twice": "the switch has `{case}` twice",
    "no default": "a `switch` needs a `default`",
    "no exit": "this `{word}` has no exit: it needs a condition, a `break`, a `break if` or a `return`",
    "skipped declaration": "a `continue` can leap over the declaration of `{name}`",
    "jump": "`{word}` stands outside of every loop",
    "return in continuing": "`return` cannot stand in a `continuing` block",
    "returned": returned,
    # Parts
    "atomic read": "an atomic is read with `atomicLoad(&...)`",
    "whole read": "a value of type `{part.type}` cannot be read as a whole",
    "atomic write": "an atomic is written with `atomicStore(&..., value)`, or another atomic function",
    "whole write": "a value of type `{part.type}` cannot be written as a whole",
    "address": "`&` needs a variable, or a part of one",
    "address of a component": "`&` does not work with a part of a vector",
    "power": "`*` needs a pointer on its right, and this is none",
    "indexed": "a value of type `{base.type}` takes no index",
    "index": "an index must be a whole number, u32 or i32",
    "part": "a value of type `{base.type}` has no part `{name}`",
    "read_only": "this cannot be written to",
    # Calls and operators
    "called_value": "`{name}` is no function",
    "called entry point": "`{name}` is an entry point, and cannot be called",
    "no value of a call": "this call has no value",
    "bitcast": "`bitcast` needs a type behind it, as in `bitcast<u32>(x)`",
    "bits": bits,
    "count": count,
    "argument": argument,
    "select": argument,
    "called": called,
    "length": "`arrayLength` takes a pointer to a runtime-sized array, as in `arrayLength(&output)`",
    "pointer to workgroup memory": "`workgroupUniformLoad` takes a pointer to workgroup memory, as in `&total`",
    "pointer to an atomic": "atomic functions change an `atomic<u32>` or `atomic<i32>`, and take it with `&`",
    "fit": fit,
    "not constructible": "no value of type `{type}` can be made",
    "one number": "`{type}(...)` takes one number",
    "types in a vector": "the parts of a vector are of one type",
    "components": "`{type}` needs {type.size} components, and {given} are given",
    "values": "`{type}` needs {wanted} values, and {given} are given",
    "unary": unary,
    "operands": operands,
    "joined": joined,
    "assigned": assigned,
    # Values that are known before the run, and that WGSL does not define
    "division by zero": "division by zero",
    "range of an i32": "`{sign}` leaves the range of an i32",
    "shift": "a {scalar} has 32 bits: shift it by less than that",
    "infinite": "the value is infinite or not a number, and is known before the run: WGSL refuses it",
    "overflow": "overflow: a whole number that is known before the run has 64 bits",
    "dropped bits": "`<<` drops bits that belong to the value",
    "negative": "a u32 is never negative, and `{number}` is",
    "not held": not_held,
    "negative index": "an index is never negative; the first element is number 0",
    "index past the end": "this index is past the end of the array",
    "clamp": "the lower end of clamp is above the higher one",
    "smoothstep": "the first two values of smoothstep must differ",
    "ldexp of abstract f32": "the exponent of ldexp may be at most 1024",
    "ldexp of f32": "the exponent of ldexp may be at most 128",
    "ldexp of f16": "the exponent of ldexp may be at most 16",
    "pow": "0 to the power of 0 is not defined",
    "half": "a number of 16 bits is at most 65504",
    "extractBits": "extractBits reads past the 32 bits of a number",
    "insertBits": "insertBits writes past the 32 bits of a number",
    "past the subgroup": "the second argument of `{name}` is a number from 0 to {most}, and here it is {number}",
}

FEATURES: dict[str, Sentence] = {
    "numbers of 64 bits": "`{name}` (numbers of 64 bits)",
    "textures": "`{name}` (textures and samplers)",
    "function in a run": "`{name}` of a `{texture}` in a run, where textures are only loaded and stored",
    "resources": "`{name}` (resources other than buffers)",
    "function": "built-in function `{name}`",
    "nesting": "nesting deeper than {most} levels",
    "stack": "room on Python's stack for a text that is nested this deep",
    "chain of declarations": "circle of more than {most} declarations",
    "large value": "values of more than {most:,} numbers",
}
