"""Names that the text does not declare, parts that a value does not have, and what may not be written to."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches

from wgsl.diagnostics import Diagnostic
from wgsl.suggestions.context import Context, signed
from wgsl.suggestions.habits import C_TYPES
from wgsl.syntax import tree
from wgsl.types.calls import BARRIERS, POINTER_FUNCTIONS
from wgsl.types.declarations import INPUTS
from wgsl.types.kinds import ABSTRACT_FLOAT, F32, I32, U32, Array, Scalar, Struct, Vector
from wgsl.types.program import Part, Variable
from wgsl.types.signatures import SIGNATURES
from wgsl.words.refusals import a

OTHER_LANGUAGES = {  # a name of CUDA, Python or C, and WGSL's
    "blockDim": "CUDA's `blockDim` is the size in `@workgroup_size(...)`: write that number, or a `const`",
    "True": "WGSL writes `true`",
    "False": "WGSL writes `false`",
    "not": "WGSL writes `!` for `not`",
    "print": "a kernel cannot print: write the value to the output and look at it there",
    "len": "WGSL writes `arrayLength(&name)` for the length of a buffer",
    "range": "WGSL has no `range`: write `for (var i = 0u; i < n; i++) {`",
    "sum": "WGSL has no `sum` of its own: declare it, `var sum = 0.0;`, and add in a loop",
    "__syncthreads": "WGSL writes `workgroupBarrier()` for CUDA's `__syncthreads()`",
    "threadgroup_barrier": "WGSL writes `workgroupBarrier()` for Metal's `threadgroup_barrier()`",
}
WAITS = {"wait", "barrier", "sync", "syncthreads"}  # calls that are meant as a barrier, as GLSL's `barrier()`
BUILTINS = {  # the ids of CUDA and Metal
    "threadIdx": "local_invocation_id",
    "blockIdx": "workgroup_id",
    "gridDim": "num_workgroups",
    "thread_position_in_grid": "global_invocation_id",
    "thread_position_in_threadgroup": "local_invocation_id",
    "threadgroup_position_in_grid": "workgroup_id",
}
SHORT = {  # what kernels call the ids of a thread: its parameter is missing
    **dict.fromkeys(("global", "global_id", "gid", "id"), "global_invocation_id"),
    **dict.fromkeys(("local", "local_id", "lid"), "local_invocation_id"),
    **dict.fromkeys(("group", "group_id", "wid"), "workgroup_id"),
}
KEYWORDS = """
let var const if else for while loop return break continue switch true false u32 i32 f32 bool array
""".split()  # noqa: SIM905 (the rule's list has one name a line)


def unknown(context: Context, name: str) -> str:
    """A name that is not declared where it is used."""
    explanations = (_known_elsewhere, _undeclared, _builtin, _other_language, _field, _misspelled)
    reason = next(filter(None, (explain(name, context) for explain in explanations)), None)
    called = context.code[context.at + len(name) :].lstrip().startswith("(")
    cure = f"declare it before its first use, with {'`let` or `var`' if context.depth(context.at) else '`const`'}"
    cure = "WGSL has no function of that name, and this text declares none" if called else cure
    return reason or f"nothing is called `{name}` here: {cure}"


def _known_elsewhere(name: str, context: Context) -> str | None:
    """A name that is declared, but further down, or in a block that has ended, or in another function."""
    fields = [member for struct in context.nodes if isinstance(struct, tree.Struct) for member in struct.members]
    named = (
        node for node in context.nodes if isinstance(node, tree.Declaration | tree.Parameter) and node.name == name
    )
    places = [node for node in named if context.depth(node.at) and node not in fields]
    if not places:
        return None
    first, last = context.line(places[0].name), context.line(places[-1].name)
    if places[-1].at < context.at:
        return f"`{name}` is not known here: it is declared {context.in_line(last)}, and only inside the braces there"
    if places[0].at > context.at and first != context.place(context.at)[0]:
        return f"`{name}` is not known yet: it is declared only {context.in_line(first)}"
    return None


def _undeclared(name: str, context: Context) -> str | None:
    """A variable that is given its first value as in Python."""
    statement = context.refused.statement
    match statement:
        case tree.Assignment(target=tree.Name(at=context.at), operator=operator, value=value):
            text = context.text(value)
        case _:
            return None
    if loop := context.loop(statement):
        uses = context.code[value.end : loop.end].partition(";")[2]
        text += "u" if text.isdigit() and not signed(name, uses) else ""
        return f"`{name}` is not declared: write `for (var {name} = {text};`"
    near = _near(name, context.scope.names()) if len(name) > 3 else None
    if operator != "=":
        zero = {F32: "0.0", ABSTRACT_FLOAT: "0.0", U32: "0u", I32: "0"}.get(context.type_of(value), "...")
        cure = f"declare it before, and before the loop around it: `var {name} = {zero};`"
        return None if near else f"`{name}` is not declared: {cure}"
    again = re.search(rf"\b{name}\s*(?:[-+*/%]?=(?!=)|\+\+|--)", context.code[value.end :])
    other = f", or do you mean `{near}`?" if near else "" if again else ", or with `var` if it changes later"
    return f"`{name}` is not declared: write `{'var' if again else 'let'} {name} = {text};`{other}"


def _builtin(name: str, context: Context) -> str | None:
    """The id of a thread, by the name that another language has for it."""
    short = SHORT.get(name) if re.match(r"\s*\.[xyz]\b", context.code[context.at + len(name) :]) else None
    wanted = BUILTINS.get(name, name if name in INPUTS else short)
    if not wanted:
        return None
    known = (context.declared(visible) for visible in context.scope.names())
    given = {by.arguments[0].name: node.name for node in known if (by := tree.attribute(node, "builtin"))}
    here = f"add `@builtin({wanted}) {name if short else 'name'}: {INPUTS[wanted]}` to the parameters of `fn`"
    if wanted in given:
        here, short = f"here it is `{given[wanted]}`", None
    what = "must be a parameter" if short or name == wanted else f"is WGSL's `{wanted}`"
    return f"`{name}` {what}: {here}"


def _other_language(name: str, context: Context) -> str | None:
    """A word of Python, C or CUDA, or a function of theirs that WGSL has without its f."""
    calls = context.code[context.at + len(name) :].lstrip().startswith("(")
    bare = next((shorter for shorter in (name[:-1], name[1:], name[1:-1]) if shorter in SIGNATURES), None)
    if calls and bare and "f" in (name[0], name[-1]):
        return f"WGSL's function is `{bare}`"
    if calls and name in WAITS:
        return f"WGSL writes `workgroupBarrier()` for `{name}()`: the threads of a workgroup wait there for one another"
    if vector := re.fullmatch(r"(float|uint|int)([234])", name):
        return f"WGSL's type is `vec{vector[2]}{name[0]}`"
    wanted = C_TYPES.get(name, name)
    return f"WGSL's type is `{wanted}`" if wanted not in ("", name) else OTHER_LANGUAGES.get(name)


def _field(name: str, context: Context) -> str | None:
    """A field that is written without the uniform that holds it, or without the point between them."""
    for variable in context.variables if context.depth(context.at) else ():
        for field in getattr(variable.type, "fields", ()) if variable.space == "uniform" else ():
            if name == field.name:
                return f"`{name}` is a field of `{variable.name}`: write `{variable.name}.{name}`"
            if name == variable.name + field.name:
                return f"a point is missing: write `{variable.name}.{field.name}`"
    return None


def _misspelled(name: str, context: Context) -> str | None:
    """A known name that is spelled almost like this one."""
    known = [*context.scope.names(), *SIGNATURES, *POINTER_FUNCTIONS, *BARRIERS, *KEYWORDS]
    if name in known:
        return f"`{name}` is a word of WGSL's own, and not a value"
    near = _near(name, known)
    if near and near.lower() == name.lower():
        return f"nothing is called `{name}`; do you mean `{near}`? Capital and small letters differ"
    return f"nothing is called `{name}`; do you mean `{near}`?" if near else None


def _near(name: str, names: Iterable[str]) -> str | None:
    """The name that differs in capitals, in the order of its letters, or in a letter or two where it has some more."""
    known = list(names)
    alike = [candidate for candidate in known if candidate.lower() == name.lower()]
    if len(name) > 2:
        alike += [candidate for candidate in known if sorted(candidate) == sorted(name)]
        alike += get_close_matches(name, known, 1, 0.75)
    return alike[0] if alike else None


def type(context: Context, meaning: object, **_: object) -> str | None:
    """The name of a type where a value must stand."""
    values = [variable.name for variable in context.variables if variable.type == meaning]
    return f"`{meaning}` is a type; the variable of this type is `{values[0]}`" if len(values) == 1 else None


def called_value(context: Context, meaning: object, **_: object) -> str:
    """A value that is called like a function."""
    if isinstance(getattr(meaning, "type", None), Array):
        return f"`{meaning.name}` is no function; an array's element is `{meaning.name}[...]`"
    return "a variable is not a function; is an operator such as `*` missing here?"


def whole(context: Context, part: Part) -> str | None:
    """An array without an index."""
    if not isinstance(part.type, Array):
        return None
    if context.before(context.at) == "(" and context.before(context.before(context.at).at) == "length":
        return f"`length` is that of a vector: write `arrayLength(&{context.text(part)})`"
    return f"`{context.text(part)}` is a whole array; is an index like [i] missing?"


def entry_point(context: Context, wanted: str) -> Diagnostic | None:
    """A kernel that has another name than the one that is launched."""
    others = [node for node in context.module.declarations if tree.attribute(node, "compute")]
    if len(others) != 1:
        return Diagnostic(context.refused.reason, None)
    name = others[0].name
    return Diagnostic(f"the kernel must be called `{wanted}`, not `{name}`", name.at, len(name))


def no_bindings(context: Context) -> Diagnostic:
    """A text without buffers, which is nowhere in it."""
    return Diagnostic(context.refused.reason, None)


# --- Parts --------------------------------------------------------------------------------------------------------


def part(context: Context, base: Part, name: str) -> str:
    """``value.part`` where the value has no such part."""
    value = context.text(base)
    match base.type:
        case Struct(fields=fields):
            names = [field.name for field in fields]
            near = _near(name, names)
            meant = f"; do you mean `{near}`?" if near else ""
            return f"`{value}` has no field `{name}`, only {', '.join(names)}{meant}"
        case Array():
            length = f"its length is `arrayLength(&{value})`"
            advice = length if name in ("length", "size", "shape", "len") else "take one element, with an index in [ ]"
            return f"`{value}` is an array and has no `{name}`: {advice}"
        case Scalar():
            return f"`{value}` is a single number ({base.type}) and has no part `{name}`"
        case Vector(size):
            return f"`{value}` is {a(base.type)} and has no part `{name}`, only {', '.join('xyzw'[:size])}"
    return f"`{value}` has no part `{name}`"


# --- What may not change ------------------------------------------------------------------------------------------


def constant(context: Context, target: Part, **_: object) -> Diagnostic | None:
    """An assignment or ++ to what is not a `var`."""
    name = context.base(target.place)
    match context.declared(name):
        case tree.Parameter():
            reason = f"`{name}` is a parameter and never changes: copy it first, `var my_{name} = {name};`"
            return Diagnostic(reason, context.at, len(name))
        case tree.Declaration(kind=kind, name=given) as declared:
            line = context.line(given)
            cure = f": write `var` there: `{re.sub('^let', 'var', context.written(declared))}`" if kind == "let" else ""
            reason = f"`{name}` is a `{kind}`, declared {context.in_line(line)}, and never changes{cure}"
            return Diagnostic(reason, context.at, len(name), line)
    return None


def counted(context: Context, target: Part, sign: str) -> Diagnostic | None:
    """``++`` of what is not a whole number."""
    name, declared = context.text(target), context.declared(context.text(target))
    if target.type != F32 or not isinstance(declared, tree.Declaration):
        return None
    cure = f": write `{name} {sign[0]}= 1.0`"
    if context.loop(declared):
        cure = f"; it begins as `{context.text(declared.value)}` {context.in_line(context.line(declared))}"
    return Diagnostic(f"`{name}` is an f32, and `{sign}` counts only u32 and i32{cure}", context.at, len(name))


def too_late(context: Context, node: tree.Declaration | None = None) -> Diagnostic | None:
    """A `const` whose value is known only while the kernel runs."""
    if node is None:
        return None
    cure = re.sub(r"^const", "let", context.written(node))
    inside = f"write `{cure}`" if context.depth(node.at) else f"write `{cure}` inside of the function"
    return Diagnostic(f"{inside}: a `const` must be known before the kernel runs", node.at, len("const"))


def read_only(context: Context, target: Part) -> Diagnostic | None:
    """A store into what can only be read."""
    variable = context.find(context.base(target.place))
    if not isinstance(variable, Variable):
        return None
    where = f"; the result belongs in `{context.outputs[0].name}`" if len(context.outputs) == 1 else ""
    kind = "a uniform" if variable.space == "uniform" else "`var<storage, read>`"
    line = context.line(variable)
    reason = f"`{variable.name}` can only be read: it is declared {context.in_line(line)} as {kind}{where}"
    return Diagnostic(reason, context.at, context.refused.length, line)
