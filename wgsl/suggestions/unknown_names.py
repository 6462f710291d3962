"""Names that the text does not declare, parts that a value does not have, and what may not be written to."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from itertools import chain

from wgsl.facts import Mark, Suggestion
from wgsl.suggestions.context import Context, signed
from wgsl.suggestions.habits import C_TYPES
from wgsl.syntax import tree
from wgsl.types.calls import BARRIERS, POINTER_FUNCTIONS
from wgsl.types.declarations import INPUTS
from wgsl.types.kinds import ABSTRACT_FLOAT, F32, I32, U32, Array, Scalar, Struct, Vector
from wgsl.types.program import Part, Variable
from wgsl.types.signatures import SIGNATURES

OTHER_LANGUAGES = {  # names of CUDA, Metal, Python or C, and the kinds of the suggestions for them
    "blockDim": "blockDim",
    "True": "true",
    "False": "false",
    "not": "not",
    "print": "print",
    "len": "len",
    "range": "range",
    "sum": "sum",
    "__syncthreads": "__syncthreads",
    "threadgroup_barrier": "threadgroup_barrier",
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
NOWHERE = Mark(None)


def unknown(context: Context, name: str) -> Suggestion:
    """A name that is not declared where it is used."""
    explanations = (_known_elsewhere, _undeclared, _builtin, _other_language, _field, _misspelled)
    suggestion = next(filter(None, (explain(name, context) for explain in explanations)), None)
    return suggestion or Suggestion(_kind_of_unknown(name, context), {"name": name})


def _kind_of_unknown(name: str, context: Context) -> str:
    """The kind of the suggestion for a name of which nothing is known: where it is used decides."""
    if _is_called(name, context):
        return "unknown function"
    return "unknown" if context.depth(context.at) else "unknown outside"


def _is_called(name: str, context: Context) -> bool:
    """Return True where a parenthesis follows the name."""
    return context.code[context.at + len(name) :].lstrip().startswith("(")


def _known_elsewhere(name: str, context: Context) -> Suggestion | None:
    """A name that is declared, but further down, or in a block that has ended, or in another function."""
    structs = [node for node in context.nodes if isinstance(node, tree.Struct)]
    fields = [*chain.from_iterable(struct.members for struct in structs)]
    declarations = [node for node in context.nodes if isinstance(node, tree.Declaration | tree.Parameter)]
    named = [node for node in declarations if node.name == name]
    places = [node for node in named if context.depth(node.at) and node not in fields]
    if not places:
        return None
    first = context.line(places[0].name)
    last = context.line(places[-1].name)
    if places[-1].at < context.at:
        return Suggestion("block has ended", {"name": name, "line": context.reader_line(last)})
    if places[0].at > context.at and first != context.place(context.at)[0]:
        return Suggestion("declared later", {"name": name, "line": context.reader_line(first)})
    return None


def _undeclared(name: str, context: Context) -> Suggestion | None:
    """A variable that is given its first value as in Python."""
    statement = context.refused.statement
    match statement:
        case tree.Assignment(target=tree.Name(at=context.at), operator=operator, value=value):
            loop = context.loop(statement)
        case _:
            return None
    if loop:
        return _undeclared_in_loop(name, context, value, loop)
    near = _near(name, context.scope.names()) if len(name) > 3 else None
    if operator != "=":
        return None if near else _undeclared_total(name, context, value)
    again = re.search(rf"\b{name}\s*(?:[-+*/%]?=(?!=)|\+\+|--)", context.code[value.end :])
    keyword = "var" if again else "let"
    cure = f"{keyword} {name} = {context.text(value)};"
    return Suggestion("undeclared", {"name": name, "cure": cure, "near": near, "may_change": not again})


def _undeclared_in_loop(name: str, context: Context, value: tree.Node, loop: tree.For) -> Suggestion:
    """The variable of a loop that is not declared."""
    text = context.text(value)
    uses = context.code[value.end : loop.end].partition(";")[2]
    if text.isdigit() and not signed(name, uses):
        text = f"{text}u"
    return Suggestion("undeclared in a loop", {"name": name, "cure": f"for (var {name} = {text};"})


def _undeclared_total(name: str, context: Context, value: tree.Node) -> Suggestion:
    """A variable that is added to, and that is not declared."""
    zero = {F32: "0.0", ABSTRACT_FLOAT: "0.0", U32: "0u", I32: "0"}.get(context.type_of(value), "...")
    return Suggestion("undeclared total", {"name": name, "cure": f"var {name} = {zero};"})


def _builtin(name: str, context: Context) -> Suggestion | None:
    """The id of a thread, by the name that another language has for it."""
    is_part_taken = re.match(r"\s*\.[xyz]\b", context.code[context.at + len(name) :])
    short = SHORT.get(name) if is_part_taken else None
    builtin = BUILTINS.get(name, name if name in INPUTS else short)
    if not builtin:
        return None
    known = (context.declared(visible) for visible in context.scope.names())
    attributes = ((node, tree.attribute(node, "builtin")) for node in known)
    parameters = {attribute.arguments[0].name: node.name for node, attribute in attributes if attribute}
    parameter = parameters.get(builtin)
    is_own_name = name == builtin or (short and not parameter)
    facts = {
        "name": name,
        "builtin": None if is_own_name else builtin,
        "parameter": parameter,
        "cure": f"@builtin({builtin}) {name if short else 'name'}: {INPUTS[builtin]}",
    }
    return Suggestion("builtin", facts)


def _other_language(name: str, context: Context) -> Suggestion | None:
    """A word of Python, C or CUDA, or a function of theirs that WGSL has without its f."""
    is_called = _is_called(name, context)
    bare = next((shorter for shorter in (name[:-1], name[1:], name[1:-1]) if shorter in SIGNATURES), None)
    if is_called and bare and "f" in (name[0], name[-1]):
        return Suggestion("function without f", {"wanted": bare})
    if is_called and name in WAITS:
        return Suggestion("waits", {"name": name})
    if vector := re.fullmatch(r"(float|uint|int)([234])", name):
        return Suggestion("type of C", {"wanted": f"vec{vector[2]}{name[0]}"})
    wanted = C_TYPES.get(name, name)
    if wanted not in ("", name):
        return Suggestion("type of C", {"wanted": wanted})
    return Suggestion(OTHER_LANGUAGES[name]) if name in OTHER_LANGUAGES else None


def _field(name: str, context: Context) -> Suggestion | None:
    """A field that is written without the uniform that holds it, or without the point between them."""
    if not context.depth(context.at):
        return None
    for variable in context.variables:
        for field in getattr(variable.type, "fields", ()) if variable.space == "uniform" else ():
            if name == field.name:
                return Suggestion("field", {"name": name, "variable": variable.name})
            if name == variable.name + field.name:
                return Suggestion("field without point", {"variable": variable.name, "field": field.name})
    return None


def _misspelled(name: str, context: Context) -> Suggestion | None:
    """A known name that is spelled almost like this one."""
    known = [*context.scope.names(), *SIGNATURES, *POINTER_FUNCTIONS, *BARRIERS, *KEYWORDS]
    if name in known:
        return Suggestion("keyword", {"name": name})
    near = _near(name, known)
    if not near:
        return None
    kind = "capitals" if near.lower() == name.lower() else "misspelled"
    return Suggestion(kind, {"name": name, "near": near})


def _near(name: str, names: Iterable[str]) -> str | None:
    """The name that differs in capitals, in the order of its letters, or in a letter or two where it has some more."""
    known = list(names)
    alike = [candidate for candidate in known if candidate.lower() == name.lower()]
    if len(name) > 2:
        alike += [candidate for candidate in known if sorted(candidate) == sorted(name)]
        alike += get_close_matches(name, known, 1, 0.75)
    return alike[0] if alike else None


def type(context: Context, meaning: object, **_: object) -> Suggestion | None:
    """The name of a type where a value must stand."""
    values = [variable.name for variable in context.variables if variable.type == meaning]
    return Suggestion("type", {"type": meaning, "variable": values[0]}) if len(values) == 1 else None


def called_value(context: Context, meaning: object, **_: object) -> Suggestion:
    """A value that is called like a function."""
    if isinstance(getattr(meaning, "type", None), Array):
        return Suggestion("called array", {"name": meaning.name})
    return Suggestion("called value")


def whole(context: Context, part: Part) -> Suggestion | None:
    """An array without an index."""
    if not isinstance(part.type, Array):
        return None
    text = context.text(part)
    before = context.before(context.at)
    if before == "(" and context.before(before.at) == "length":
        return Suggestion("length of a buffer", {"pointer": f"&{text}"})
    return Suggestion("whole array", {"name": text})


def entry_point(context: Context, wanted: str) -> Suggestion:
    """A kernel that has another name than the one that is launched."""
    others = [node for node in context.module.declarations if tree.attribute(node, "compute")]
    if len(others) != 1:
        return Suggestion("entry_point", {"wanted": wanted}, NOWHERE)
    name = others[0].name
    return Suggestion("name of the kernel", {"wanted": wanted, "name": name}, Mark(name.at, len(name)))


def no_bindings(context: Context) -> Suggestion:
    """A text without buffers, which is nowhere in it."""
    return Suggestion("no_bindings", mark=NOWHERE)


# --- Parts --------------------------------------------------------------------------------------------------------


def part(context: Context, base: Part, name: str) -> Suggestion:
    """``value.part`` where the value has no such part."""
    facts = {"value": context.text(base), "name": name}
    match base.type:
        case Struct(fields=fields):
            names = tuple(field.name for field in fields)
            return Suggestion("no field", {**facts, "fields": names, "near": _near(name, names)})
        case Array():
            kind = "length of an array" if name in ("length", "size", "shape", "len") else "part of an array"
            return Suggestion(kind, facts)
        case Scalar():
            return Suggestion("part of a number", {**facts, "type": base.type})
        case Vector(size):
            return Suggestion("part of a vector", {**facts, "type": base.type, "parts": tuple("xyzw"[:size])})
    return Suggestion("part", facts)


# --- What may not change ------------------------------------------------------------------------------------------


def constant(context: Context, target: Part, **_: object) -> Suggestion | None:
    """An assignment or ++ to what is not a `var`."""
    name = context.base(target.place)
    match context.declared(name):
        case tree.Parameter():
            return Suggestion("parameter", {"name": name}, Mark(context.at, len(name)))
        case tree.Declaration(kind=keyword) as declared:
            line = context.line(declared.name)
            cure = re.sub("^let", "var", context.written(declared)) if keyword == "let" else None
            facts = {"name": name, "keyword": keyword, "line": context.reader_line(line), "cure": cure}
            return Suggestion("constant", facts, Mark(context.at, len(name), line))
    return None


def counted(context: Context, target: Part, sign: str) -> Suggestion | None:
    """``++`` of what is not a whole number."""
    name = context.text(target)
    declared = context.declared(name)
    if target.type != F32 or not isinstance(declared, tree.Declaration):
        return None
    facts = {"name": name, "sign": sign}
    mark = Mark(context.at, len(name))
    if not context.loop(declared):
        return Suggestion("counted", {**facts, "cure": f"{name} {sign[0]}= 1.0"}, mark)
    line = context.reader_line(context.line(declared))
    return Suggestion("counted in a loop", {**facts, "value": context.text(declared.value), "line": line}, mark)


def too_late(context: Context, node: tree.Declaration | None = None) -> Suggestion | None:
    """A `const` whose value is known only while the kernel runs."""
    if node is None:
        return None
    cure = re.sub(r"^const", "let", context.written(node))
    kind = "too_late" if context.depth(node.at) else "too late, outside"
    return Suggestion(kind, {"cure": cure}, Mark(node.at, len("const")))


def read_only(context: Context, target: Part) -> Suggestion | None:
    """A store into what can only be read."""
    variable = context.find(context.base(target.place))
    if not isinstance(variable, Variable):
        return None
    line = context.line(variable)
    facts = {
        "name": variable.name,
        "line": context.reader_line(line),
        "is_uniform": variable.space == "uniform",
        "output": context.outputs[0].name if len(context.outputs) == 1 else None,
    }
    return Suggestion("read_only", facts, Mark(context.at, context.refused.length, line))
