"""Names that the text does not declare, parts that a value does not have, and what may not be written to."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import get_close_matches
from itertools import chain

from wgsl.facts import Edit, Mark, Suggestion
from wgsl.suggestions.context import Context, commas, signed
from wgsl.suggestions.foreign_names import (
    ADDRESS_SPACES,
    BARRIERS_OF_OTHERS,
    C_TYPES,
    FUNCTIONS,
    LARGEST_F32,
    NO_NAN,
    NOTHING,
    VALUES,
    WORKGROUP_SIZES,
)
from wgsl.suggestions.thread_ids import builtin
from wgsl.suggestions.tongues import CLOSED, translated
from wgsl.suggestions.trial import first_that_holds
from wgsl.syntax import tree
from wgsl.types.calls import BARRIERS, POINTER_FUNCTIONS
from wgsl.types.kinds import ABSTRACT_FLOAT, F32, I32, U32, Array, Matrix, Scalar, Struct, Vector
from wgsl.types.program import Part, Variable
from wgsl.types.signatures import SIGNATURES

OTHER_LANGUAGES = {  # words of CUDA, Metal, Python or C, and the kinds of the suggestions for them
    **dict.fromkeys(WORKGROUP_SIZES, "size of a workgroup"),
    **dict.fromkeys(NOTHING, "nothing"),
    **dict.fromkeys(NO_NAN, "no NaN"),
    **dict.fromkeys(("print", "printf", "println"), "print"),
    "not": "not",
    "len": "len",
    "range": "range",
    "sum": "sum",
    "size": "len",
    "sizeof": "sizeof",
    "assert": "assert",
    "isnan": "isnan",
    "isNaN": "isnan",
}
WAITS = {"threadgroup_barrier", "__syncthreads", *BARRIERS_OF_OTHERS}  # calls that are meant as a barrier
KEYWORDS = """
let var const if else for while loop return break continue switch true false u32 i32 f32 bool array
""".split()  # noqa: SIM905 (the rule's list has one name a line)
LONGEST_NAME = 100  # letters of a name that is compared with others
NOWHERE = Mark(None)


def unknown(context: Context, name: str) -> Suggestion:
    """A name that is not declared where it is used."""
    explanations = (
        _known_elsewhere, _undeclared, _result, builtin, _part, _memory, _call, _other_language, _field, _misspelled
    )  # fmt: skip
    suggestion = None
    if len(name) <= LONGEST_NAME:
        suggestion = first_that_holds(context, (explain(name, context) for explain in explanations))
    return suggestion or Suggestion(_kind_of_unknown(name, context), {"name": name})


def _renamed(name: str, context: Context, wanted: str) -> tuple[Edit, ...]:
    """The edit that writes another name in the place of this one."""
    return (Edit(context.at, context.at + len(name), wanted),)


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
    edits = (Edit(statement.at, statement.end, cure[:-1]),)
    return Suggestion("undeclared", {"name": name, "cure": cure, "near": near, "may_change": not again}, edits=edits)


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


def _result(name: str, context: Context) -> Suggestion | None:
    """The result of a function that returns nothing."""
    arrow = re.search(r"\s*->\s*$", context.code[: context.at])
    if not arrow or name not in NOTHING:
        return None
    begin, end = arrow.start(), context.at + len(name)
    return Suggestion("result that is nothing", {"name": name}, Mark(context.at, len(name)), (Edit(begin, end, ""),))


def _part(name: str, context: Context) -> Suggestion | None:
    """A part of a vector or a struct, with another sign than the point before it."""
    for variable, part in ((name[:i], name[i:].removeprefix("_")) for i in range(1, len(name))):
        type = context.type_named(variable)
        parts = [field.name for field in getattr(type, "fields", ())]
        if isinstance(type, Vector):
            parts = [*"xyzw"[: type.size]]
        if part in parts:
            cure = f"{variable}.{part}"
            facts = {"variable": variable, "field": part}
            return Suggestion("field without point", facts, edits=_renamed(name, context, cure))
    return None


def _memory(name: str, context: Context) -> Suggestion | None:
    """A kind of memory, by the name that another language has for it."""
    wanted = ADDRESS_SPACES.get(name)
    if not wanted or not re.search(r"\bvar\s*<\s*$", context.code[: context.at]):
        return None
    return Suggestion("written", {"name": name, "cure": wanted}, edits=_renamed(name, context, wanted))


def _call(name: str, context: Context) -> Suggestion | None:
    """A function of another language, or one that WGSL has without its f."""
    end = context.at + len(name)
    call = re.match(rf"\s*\((?P<arguments>{CLOSED})\)", context.code[end:])
    if not _is_called(name, context):
        return None
    if name in WAITS:
        edits = (Edit(context.at, end + call.end(), "workgroupBarrier()"),) if call else ()
        return Suggestion("waits", {"name": name}, edits=edits)
    wanted = FUNCTIONS.get(name) or _without_f(name)
    if wanted is None or "{" not in wanted:
        return wanted and Suggestion("written", {"name": name, "cure": wanted}, edits=_renamed(name, context, wanted))
    cure = translated(name, commas(call["arguments"])) if call else None
    if not cure:
        return None
    end += call.end()
    is_whole = re.search(r"[=(,\[]\s*$|\breturn\s*$", context.code[: context.at])
    is_whole = is_whole and re.match(r"\s*[;),\]]", context.code[end:])
    cure = cure if is_whole else f"({cure})"
    kind = "remainder" if name in ("mod", "remainder") else "written"
    return Suggestion(kind, {"name": f"{name}(...)", "cure": cure}, edits=(Edit(context.at, end, cure),))


def _without_f(name: str) -> str | None:
    """The function that C's library has for float, with an f before or behind its name."""
    if "f" not in (name[0], name[-1]):
        return None
    return next((shorter for shorter in (name[:-1], name[1:], name[1:-1]) if shorter in SIGNATURES), None)


def _other_language(name: str, context: Context) -> Suggestion | None:
    """A type, a value or a word of Python, C or CUDA."""
    wanted = C_TYPES.get(name, name)
    if wanted not in ("", name):
        is_type = _is_called(name, context) or re.search(r"(?::|->|[<,(])\s*$", context.code[: context.at])
        edits = _renamed(name, context, wanted) if is_type else ()
        return Suggestion("type of C", {"wanted": wanted}, edits=edits)
    if name in VALUES:
        cure = VALUES[name]
        kind = "largest" if cure == LARGEST_F32 else "written"
        return Suggestion(kind, {"name": name, "cure": cure}, edits=_renamed(name, context, cure))
    return Suggestion(OTHER_LANGUAGES[name], {"name": name}) if name in OTHER_LANGUAGES else None


def _field(name: str, context: Context) -> Suggestion | None:
    """A field that is written without the uniform that holds it, or without the point between them."""
    if not context.depth(context.at):
        return None
    for variable in context.variables:
        for field in getattr(variable.type, "fields", ()) if variable.space == "uniform" else ():
            if name == field.name:
                edits = _renamed(name, context, f"{variable.name}.{field.name}")
                return Suggestion("field", {"name": name, "variable": variable.name}, edits=edits)
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
    return Suggestion(kind, {"name": name, "near": near}, edits=_renamed(name, context, near))


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
        case Matrix():
            return Suggestion("part of a matrix", facts)
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
            edits = (Edit(declared.at, declared.end, cure),) if cure else ()
            return Suggestion("constant", facts, Mark(context.at, len(name), line), edits)
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
        cure = f"{name} {sign[0]}= 1.0"
        return Suggestion(
            "counted", {**facts, "cure": cure}, mark, (Edit(target.place.at, target.place.end + 2, cure),)
        )
    line = context.reader_line(context.line(declared))
    return Suggestion("counted in a loop", {**facts, "value": context.text(declared.value), "line": line}, mark)


def too_late(context: Context, node: tree.Declaration | None = None) -> Suggestion | None:
    """A `const` whose value is known only while the kernel runs."""
    if node is None:
        return None
    cure = re.sub(r"^const", "let", context.written(node))
    mark = Mark(node.at, len("const"))
    if context.depth(node.at):
        return Suggestion("too_late", {"cure": cure}, mark, (Edit(node.at, node.end, cure),))
    return Suggestion("too late, outside", {"cure": cure}, mark)


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
