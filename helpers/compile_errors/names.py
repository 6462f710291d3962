"""Names that the text does not declare, parts that a value does not have, and what may not be written to."""

import re
from collections.abc import Iterable
from difflib import get_close_matches

from helpers.compile_errors.expressions import FRACTION, signed
from helpers.compile_errors.habits import C_TYPES
from helpers.compile_errors.message import Complaint, Finding
from helpers.compile_errors.text import VECTOR

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
BUILTINS = {  # the ids of CUDA and Metal
    "threadIdx": "local_invocation_id",
    "blockIdx": "workgroup_id",
    "gridDim": "num_workgroups",
    "thread_position_in_grid": "global_invocation_id",
    "thread_position_in_threadgroup": "local_invocation_id",
    "threadgroup_position_in_grid": "workgroup_id",
}
IDS = ("global_invocation_id", "local_invocation_id", "local_invocation_index", "workgroup_id", "num_workgroups")
FUNCTIONS = """
abs acos all any arrayLength asin atan atan2 atomicAdd bitcast ceil clamp cos cosh cross dot exp exp2 floor fma
fract inverseSqrt length log log2 max min mix normalize pow round select sign sin sinh smoothstep sqrt step
storageBarrier tan tanh trunc workgroupBarrier
""".split()  # noqa: SIM905 (the rule's list has one name a line)
KEYWORDS = """
let var const if else for while loop return break continue switch true false u32 i32 f32 bool array
""".split()  # noqa: SIM905 (the rule's list has one name a line)


def unknown(found: re.Match, complaint: Complaint) -> str:
    """A name that means nothing where it stands."""
    asked = (_known_elsewhere, _undeclared, _builtin, _other_language, _field, _misspelled)
    reason = next(filter(None, (ask(found[1], complaint) for ask in asked)), None)
    called = complaint.text.code[complaint.at + len(found[1]) :].lstrip().startswith("(")
    cure = "declare it before its first use, with `let` or `var`"
    cure = "WGSL has no function of that name, and this text declares none" if called else cure
    return reason or f"nothing is called `{found[1]}` here: {cure}"


def _known_elsewhere(name: str, complaint: Complaint) -> str | None:
    """A name that is declared, but further down, or in a block that has ended, or in another function."""
    text, at = complaint.text, complaint.at
    places = [each.at for each in text.declarations if each.name == name and each.kind != "fn"]
    if not places:
        return None
    first, last = text.place(places[0])[0], text.place(places[-1])[0]
    if places[-1] < at:
        return f"`{name}` is not known here: it is declared in line {last}, and only inside the braces there"
    if places[0] > at and first != text.place(at)[0]:
        return f"`{name}` is not known yet: it is declared only in line {first}"
    return None


def _undeclared(name: str, complaint: Complaint) -> str | None:
    """A variable that is given its first value as in Python."""
    text, at = complaint.text, complaint.at
    statement = re.match(rf"{name}\s*([-+*/%]?)=(?!=)\s*([^;{{}}]*);", text.code[at:])
    before = text.before(at)
    if not statement or not before or before.text not in (";", "{", "}", "("):
        return None
    value = " ".join(statement[2].split())
    if before.text == "(":
        counts = re.search(r"\bfor\s*\(\s*$", text.code[:at])
        value += "u" if value.isdigit() and not signed(name, text.code[at : text.closing(at)].partition(";")[2]) else ""
        return f"`{name}` is not declared: write `for (var {name} = {value};`" if counts else None
    near = _near(name, text.names(at)) if len(name) > 3 else None
    if statement[1]:
        zero = {"f32": "0.0", FRACTION: "0.0", "u32": "0u", "i32": "0"}.get(text.type_of(value, at), "...")
        cure = f"declare it before, and before the loop around it: `var {name} = {zero};`"
        return None if near else f"`{name}` is not declared: {cure}"
    again = re.search(rf"\b{name}\s*(?:[-+*/%]?=(?!=)|\+\+|--)", text.code[at + len(name) + 1 :])
    other = f", or do you mean `{near}`?" if near else "" if again else ", or with `var` if it changes later"
    return f"`{name}` is not declared: write `{'var' if again else 'let'} {name} = {value};`{other}"


def _builtin(name: str, complaint: Complaint) -> str | None:
    """The id of a thread, by the name that another language has for it."""
    wanted = BUILTINS.get(name, name if name in IDS else None)
    if not wanted:
        return None
    names = complaint.text.names(complaint.at).values()
    mine = next((each.name for each in names if each.builtin == wanted), None)
    kind = _type_of(wanted)
    here = f"here it is `{mine}`" if mine else f"add `@builtin({wanted}) name: {kind}` to the parameters of `fn`"
    return f"`{name}` is WGSL's `{wanted}`: {here}" if name != wanted else f"`{name}` must be a parameter: {here}"


def _type_of(builtin: str) -> str:
    return "u32" if "index" in builtin else "vec3u"


def builtin(found: re.Match, complaint: Complaint) -> Finding | None:
    """A thread's id that is declared with another type than its own."""
    for each in complaint.text.declarations:
        wanted = _type_of(each.builtin)
        if each.builtin in IDS and complaint.text.declared_type(each) != wanted:
            reason = f"`{each.builtin}` is a {wanted}: write `{each.name}: {wanted}`"
            return Finding(reason, each.at, len(each.written))
    return None


def _other_language(name: str, complaint: Complaint) -> str | None:
    """A word of Python, C or CUDA, or a function of theirs that WGSL has without its f."""
    calls = complaint.text.code[complaint.at + len(name) :].lstrip().startswith("(")
    bare = next((each for each in (name[:-1], name[1:], name[1:-1]) if each in FUNCTIONS), None)
    if calls and bare and "f" in (name[0], name[-1]):
        return f"WGSL's function is `{bare}`"
    if vector := re.fullmatch(r"(float|uint|int)([234])", name):
        return f"WGSL's type is `vec{vector[2]}{name[0]}`"
    wanted = C_TYPES.get(name, name)
    return f"WGSL's type is `{wanted}`" if wanted not in ("", name) else OTHER_LANGUAGES.get(name)


def _field(name: str, complaint: Complaint) -> str | None:
    """A field that is written without the uniform that holds it, or without the point between them."""
    text, at = complaint.text, complaint.at
    if not any(at in body for body in text.bodies):
        return None
    for each in text.names(at).values():
        fields = text.structs.get(each.type or "", {}) if each.space.startswith("uniform") else {}
        if name in fields:
            return f"`{name}` is a field of `{each.name}`: write `{each.name}.{name}`"
        if name.startswith(each.name) and name.removeprefix(each.name) in fields:
            return f"a point is missing: write `{each.name}.{name.removeprefix(each.name)}`"
    return None


def _misspelled(name: str, complaint: Complaint) -> str | None:
    """A known name that is spelled almost like this one."""
    known = [*complaint.text.names(complaint.at), *complaint.text.structs, *FUNCTIONS, *KEYWORDS]
    if name in known:
        return f"`{name}` is a word of WGSL's own, and not a value"
    near = _near(name, known)
    if near and near.lower() == name.lower():
        return f"nothing is called `{name}`; do you mean `{near}`? Capital and small letters differ"
    return f"nothing is called `{name}`; do you mean `{near}`?" if near else None


def _near(name: str, names: Iterable[str]) -> str | None:
    """The name that differs in capitals, in the order of its letters, or in a letter or two where it has some more."""
    known = list(names)
    alike = [each for each in known if each.lower() == name.lower()]
    if len(name) > 2:
        alike += [each for each in known if sorted(each) == sorted(name)]
        alike += get_close_matches(name, known, 1, 0.75)
    return alike[0] if alike else None


def type_for_value(found: re.Match, complaint: Complaint) -> str | None:
    """The name of a type where a value must stand."""
    values = [each.name for each in complaint.text.names(complaint.at).values() if each.type == found[1]]
    return f"`{found[1]}` is a type; the variable of this type is `{values[0]}`" if len(values) == 1 else None


def whole_array(found: re.Match, complaint: Complaint) -> Finding | None:
    """A buffer's array without an index, where the compiler complains, or anywhere if it gives no place."""
    text, lines = complaint.text, {span.line for span in complaint.spans}
    for token in text.tokens:
        before, after = text.before(token.at), text.code[token.at + len(token.text) :].lstrip()[:1]
        if (lines and text.place(token.at)[0] not in lines) or after == "[" or (before and before.text in ("&", ".")):
            continue
        declared = text.declared(token.text, token.at) if any(token.at in body for body in text.bodies) else None
        if declared and declared.space.startswith("storage") and text.declared_type(declared).startswith("array"):
            reason = f"`{token.text}` is a whole array; is an index like [i] missing?"
            if re.search(r"\barrayLength\s*\(\s*$", text.code[: token.at]):
                reason = f"`arrayLength` takes its array with `&`: write `arrayLength(&{token.text})`"
            return Finding(reason, token.at, len(token.text))
    return None


def whole_vector(found: re.Match, complaint: Complaint) -> Finding | None:
    """A copy of a thread's id with all its parts, used as one number."""
    text, lines = complaint.text, {span.line for span in complaint.spans}
    ids = {each.name for each in text.declarations if each.builtin and VECTOR.fullmatch(each.type)}
    copies = {each.name for each in text.declarations if each.kind in ("let", "var") and each.value in ids}
    for token in text.tokens:
        declared = text.declared(token.text, token.at)
        used = set(re.findall(r"\b\w+\b(?!\s*\.)", declared.value or "")) & copies if declared else set()
        name = token.text if token.text in copies else next(iter(used), None)
        part = text.code[token.end :].lstrip().startswith(".")
        if name and not part and declared and (not lines or text.place(token.at)[0] in lines):
            copy = text.declared(name, token.at)
            cure = f"`{name}` is a {text.declared_type(copy)}, and not one number: write `{copy.written}.x`"
            return Finding(cure, token.at, len(token.text), text.place(copy.at)[0])
    return None


def entry_point(found: re.Match, complaint: Complaint) -> Finding | None:
    """A kernel that has another name than the one that is launched."""
    text = complaint.text
    others = [each for each in text.declarations if each.kind == "fn" and each.name in text.entry_points]
    if len(others) != 1:
        return None
    at = text.code.index(others[0].name, others[0].at + len("fn"))
    return Finding(f"the kernel must be called `{found[1]}`, not `{others[0].name}`", at, len(others[0].name))


# --- Parts ------------------------------------------------------------------------------------------------


def part(found: re.Match, complaint: Complaint) -> str:
    """``value.part`` where the value has no such part."""
    name, text = found[1], complaint.text
    base = re.search(r"([^\W\d]\w*(?:\.\w+|\[[^\[\]]*\])*)\s*\.\s*$", text.code[: complaint.at])
    given, value = (text.type_of(base[1], complaint.at), base[1]) if base else (None, "this value")
    if given in text.structs:
        near = _near(name, text.structs[given])
        meant = f"; do you mean `{near}`?" if near else ""
        return f"`{value}` has no field `{name}`, only {', '.join(text.structs[given])}{meant}"
    if given and given.startswith("array"):
        length = f"its length is `arrayLength(&{value})`"
        advice = length if name in ("length", "size", "shape", "len") else "take one element, with an index in [ ]"
        return f"`{value}` is an array and has no `{name}`: {advice}"
    if given in ("f32", "u32", "i32", "bool"):
        return f"`{value}` is a single number ({given}) and has no part `{name}`"
    if given and VECTOR.fullmatch(given):
        return f"`{value}` is a {given} and has no part `{name}`, only {', '.join('xyzw'[: int(given[3])])}"
    return f"`{value}` has no part `{name}`"


# --- What may not change ----------------------------------------------------------------------------------


def constant(found: re.Match, complaint: Complaint) -> Finding | None:
    """An assignment or ++ to what is no `var`."""
    text, span = complaint.text, complaint.span("cannot assign|must be a reference")
    at = complaint.at_of(span) if span else complaint.at
    target = re.match(r"[^\W\d]\w*", text.code[at:]) if at is not None else None
    declared = text.declared(target[0], at) if target else None
    if not declared or declared.kind == "fn":
        return None
    line, name = text.place(declared.at)[0], declared.name
    if declared.kind == "parameter":
        reason = f"`{name}` is a parameter and never changes: copy it first, `var my_{name} = {name};`"
    elif declared.kind != "var":
        kind = f"`{name}` is a `{declared.kind}`, declared in line {line}, and never changes"
        cure = re.sub(r"^\w+", "var", declared.written)
        reason = kind + (f": write `var` there: `{cure}`" if declared.kind == "let" else "")
    elif text.declared_type(declared) == "f32" and (sign := re.match(r"\w+\s*(\+\+|--)", text.code[at:])):
        counter = re.search(r"\bfor\s*\(\s*$", text.code[: declared.at])
        cure = f"; it begins as `{declared.value}` in line {line}" if counter else f": write `{name} {sign[1][0]}= 1.0`"
        reason = f"`{name}` is an f32, and `{sign[1]}` counts only u32 and i32{cure}"
    else:
        return None
    return Finding(reason, at, len(name), line if declared.kind != "var" else None)


def known_too_late(found: re.Match, complaint: Complaint) -> Finding | None:
    """A `const` whose value is known only while the kernel runs."""
    before = [each for each in complaint.text.declarations if complaint.at is not None and each.at <= complaint.at]
    if not before or before[-1].kind != "const":
        return None
    cure = re.sub(r"^const", "let", before[-1].written)
    inside = any(before[-1].at in body for body in complaint.text.bodies)
    reason = f"write `{cure}`" if inside else f"write `{cure}` inside of the function"
    return Finding(f"{reason}: a `const` must be known before the kernel runs", before[-1].at, len("const"))


def read_only(found: re.Match, complaint: Complaint) -> Finding | None:
    """A store into a binding that can only be read."""
    text, at = complaint.text, complaint.at
    target = re.match(r"[^\W\d]\w*", text.code[at:]) if at is not None else None
    declared = text.declared(target[0], at) if target else None
    if not declared or declared.kind != "var" or "read_write" in declared.space:
        return None
    line = text.place(declared.at)[0]
    outputs = [each.name for each in text.names(at).values() if "read_write" in each.space]
    where = f"; the result belongs in `{outputs[0]}`" if len(outputs) == 1 else ""
    kind = "a uniform" if "uniform" in declared.space else f"`var<{declared.space}>`"
    reason = f"`{target[0]}` can only be read: it is declared in line {line} as {kind}{where}"
    return Finding(reason, at, complaint.spans[0].length if complaint.spans else len(target[0]), line)
