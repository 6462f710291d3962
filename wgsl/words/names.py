"""The sentence of each suggestion about a name: what it may stand for, what parts it has, and what may not change."""

from __future__ import annotations

from collections.abc import Sequence

from wgsl.words.errors import in_line
from wgsl.words.refusals import REASONS, Sentence, a, write


def meant(near: str | None) -> str:
    """Return the question for a name that is spelled almost like the one that is there, if there is one."""
    return f"; do you mean `{near}`?" if near else ""


def ended(name: str, line: int | None) -> str:
    """A name that is declared in a block that has ended."""
    return f"`{name}` is not known here: it is declared {in_line(line)}, and only inside the braces there"


def later(name: str, line: int | None) -> str:
    """A name that is declared further down."""
    return f"`{name}` is not known yet: it is declared only {in_line(line)}"


def undeclared(name: str, cure: str, near: str | None, may_change: bool) -> str:
    """A variable that is given its first value as in Python."""
    other = ""
    if near:
        other = f", or do you mean `{near}`?"
    elif may_change:
        other = ", or with `var` if it changes later"
    return f"`{name}` is not declared{write(cure)}{other}"


def builtin(name: str, builtin: str | None, parameter: str | None, cure: str) -> str:
    """The id of a thread, by the name that another language has for it; `parameter` is one that the kernel has."""
    must = f"is WGSL's `{builtin}`" if builtin else "must be a parameter"
    here = f"here it is `{parameter}`" if parameter else f"add `{cure}` to the parameters of `fn`"
    return f"`{name}` {must}: {here}"


def builtin_of_kernel(name: str, builtin: str | None, **_: object) -> str:
    """The id of a thread in a function that is no kernel."""
    must = f"is WGSL's `{builtin}`" if builtin else "must be a parameter"
    return f"`{name}` {must}: only a kernel has it, and gives it to this function as an argument"


def field(value: str, name: str, fields: Sequence[str], near: str | None) -> str:
    """A field that a struct does not have."""
    return f"`{value}` has no field `{name}`, only {', '.join(fields)}{meant(near)}"


def part_of_vector(value: str, type: object, name: str, parts: Sequence[str]) -> str:
    """A part that a vector does not have."""
    return f"`{value}` is {a(type)} and has no part `{name}`, only {', '.join(parts)}"


def constant(name: str, keyword: str, line: int | None, cure: str | None) -> str:
    """A change of what is no `var`."""
    there = f": write `var` there: `{cure}`" if cure else ""
    return f"`{name}` is a `{keyword}`, declared {in_line(line)}, and never changes{there}"


def type_of_c(wanted: str) -> str:
    """A type of another language; a whole number of C is often one that is never below 0."""
    if wanted == "i32":
        return "a whole number is an `i32` in WGSL, or a `u32` if it is never below 0, as an id or a size"
    return f"WGSL's type is `{wanted}`"


def counted_in_loop(name: str, sign: str, value: str, line: int | None) -> str:
    """`++` of the variable of a loop that begins with a fraction."""
    return f"`{name}` is an f32, and `{sign}` counts only u32 and i32; it begins as `{value}` {in_line(line)}"


def read_only(name: str, line: int | None, is_uniform: bool, output: str | None) -> str:
    """A store into what can only be read."""
    memory = "a uniform" if is_uniform else "`var<storage, read>`"
    where = f"; the result belongs in `{output}`" if output else ""
    return f"`{name}` can only be read: it is declared {in_line(line)} as {memory}{where}"


PLACES = {  # of attributes
    **dict.fromkeys(("size", "align"), "a member of a struct"),
    **dict.fromkeys(("group", "binding"), "a `var` outside of every function"),
    **dict.fromkeys(("compute", "workgroup_size", "must_use"), "`fn`"),
    "builtin": "a parameter of a kernel",
    "id": "`override`",
}


def attribute_elsewhere(name: str) -> str:
    """An attribute in a place where WGSL has others."""
    return (
        f"`@{name}` belongs before {PLACES[name]}, and not here" if name in PLACES else f"`@{name}` has no place here"
    )


SENTENCES: dict[str, Sentence] = {
    # Names
    "unknown": "nothing is called `{name}` here: declare it before its first use, with `let` or `var`",
    "unknown outside": "nothing is called `{name}` here: declare it before its first use, with `const`",
    "unknown function": (
        "nothing is called `{name}` here: WGSL has no function of that name, and this text declares none"
    ),
    "block has ended": ended,
    "declared later": later,
    "undeclared in a loop": "`{name}` is not declared: write `{cure}`",
    "undeclared total": "`{name}` is not declared: declare it before, and before the loop around it: `{cure}`",
    "undeclared": undeclared,
    "builtin": builtin,
    "builtin of a kernel": builtin_of_kernel,
    "attribute elsewhere": attribute_elsewhere,
    "no address space": "a variable outside of every function lies in a kind of memory: write `{cure}`",
    "discard": "`discard` belongs to fragment shaders; a thread of a kernel ends with `return;`",
    "largest": "WGSL has no `{name}`: the largest f32 is `{cure}`",
    "remainder": "WGSL writes `{cure}` for `{name}`; the sign is that of the first value",
    "written": "WGSL writes `{cure}` for `{name}`",
    "result that is nothing": "a function that returns nothing has no `->`: leave out `-> {name}`",
    "waits": "WGSL writes `workgroupBarrier()` for `{name}()`: the threads of a workgroup wait there for one another",
    "type of C": type_of_c,
    "size of a workgroup": "WGSL has no `{name}`: write the number in `@workgroup_size(...)`, or a `const` for it",
    "nothing": "WGSL has no `{name}`: each variable has a value, which is 0 until another one is stored",
    "no NaN": "WGSL has no constant for NaN",
    "isnan": "WGSL has no `{name}`, and a compiler may assume that no value is NaN",
    "sizeof": "WGSL has no `sizeof`: the length of a buffer is written `arrayLength(&name)`",
    "assert": "WGSL has no `assert` for values of a run; `const_assert` is for those that are known before it",
    "not": "WGSL writes `!` for `not`",
    "print": "a kernel cannot print: write the value to the output and look at it there",
    "len": "WGSL writes `arrayLength(&name)` for the length of a buffer",
    "range": "WGSL has no `range`: write `for (var i = 0u; i < n; i++) {{`",
    "sum": "WGSL has no `sum` of its own: declare it, `var sum = 0.0;`, and add in a loop",
    "field": "`{name}` is a field of `{variable}`: write `{variable}.{name}`",
    "field without point": "a point is missing: write `{variable}.{field}`",
    "keyword": "`{name}` is a word of WGSL's own, and not a value",
    "capitals": "nothing is called `{name}`; do you mean `{near}`? Capital and small letters differ",
    "misspelled": "nothing is called `{name}`; do you mean `{near}`?",
    "type": "`{type}` is a type; the variable of this type is `{variable}`",
    "called array": "`{name}` is no function; an array's element is `{name}[...]`",
    "called value": "a variable is not a function; is an operator such as `*` missing here?",
    "whole array": "`{name}` is a whole array; is an index like [i] missing?",
    "entry_point": REASONS["entry_point"],
    "name of the kernel": "the kernel must be called `{wanted}`, not `{name}`",
    "no_bindings": REASONS["no_bindings"],
    # Parts, and what may not change
    "no field": field,
    "length of an array": "`{value}` is an array and has no `{name}`: its length is `arrayLength(&{value})`",
    "part of a matrix": "`{value}` is a matrix and has no part `{name}`: take a column, with an index in [ ]",
    "part of an array": "`{value}` is an array and has no `{name}`: take one element, with an index in [ ]",
    "part of a number": "`{value}` is a single number ({type}) and has no part `{name}`",
    "part of a vector": part_of_vector,
    "part": "`{value}` has no part `{name}`",
    "parameter": "`{name}` is a parameter and never changes: copy it first, `var my_{name} = {name};`",
    "constant": constant,
    "counted": "`{name}` is an f32, and `{sign}` counts only u32 and i32: write `{cure}`",
    "counted in a loop": counted_in_loop,
    "too_late": "write `{cure}`: a `const` must be known before the kernel runs",
    "too late, outside": "write `{cure}` inside of the function: a `const` must be known before the kernel runs",
    "read_only": read_only,
}
