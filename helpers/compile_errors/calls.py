"""Values in a place that takes another type: an index, a condition, an argument, a returned value."""

import re

from helpers.compile_errors.message import SIGNS, Complaint, Finding
from helpers.compile_errors.text import (
    FRACTION,
    FUNCTION,
    PARAMETER,
    VECTOR,
    WHOLE,
    commas,
    literal_type,
    split,
)
from helpers.compile_errors.types import NUMBERS, a, converted, described
from helpers.wgsl import closing

CONDITION = re.compile(r"\b(?:if|while)\b\s*|\bfor\s*\([^;{]*;\s*")
NAMED = r"([^\W\d]\w*(?:\.\w+|\[[^\[\]]*\])*|\d[\w.]*)"
ZERO = {"f32": "0.0", "u32": "0u", "i32": "0"}


def index(found: re.Match, complaint: Complaint) -> Finding | None:
    """An index that is no whole number."""
    access = re.match(r"[^\W\d]\w*\s*(\[.*\])$", complaint.marked)
    if not access or closing(access[1]) != len(access[1]) - 1:
        return None
    value, at = access[1][1:-1].strip(), complaint.at + access.start(1) + 1
    given = complaint.text.type_of(value, at)
    inside = value[4:-1] if value.startswith("f32(") and closing(value[3:]) == len(value) - 4 else ""
    reason = f"{described(complaint, value, given, at)}, and an index" if given else "an index"
    if given and VECTOR.fullmatch(given):
        reason += f" is one number: take a part of it, such as `{value}.x`"
    elif inside and complaint.text.type_of(inside, at) in ("u32", "i32", WHOLE):
        reason += f" is a whole number: write `{inside}`"
    else:
        reason += " must be a whole number, u32 or i32" + (f": write `u32({value})`" if given == "f32" else "")
    return Finding(reason, at, len(value))


def flat(found: re.Match, complaint: Complaint) -> Finding | None:
    """One index too many, or one behind a struct; the compiler gives no place."""
    text = complaint.text
    for access in re.finditer(r"\b([^\W\d]\w*)\s*(?=\[)", text.code):
        at, name, taken = access.end(), access[1], 0
        declared = text.declared(name, at)
        given = text.declared_type(declared) if declared else None
        while given and (more := re.compile(r"\s*\[").match(text.code, at)):
            if given in NUMBERS:
                one = f"`{name}` is a flat array and takes one index: compute it, as in `{name}[row * width + column]`"
                many = (
                    f"`{name}` takes {taken} indices, not one more"
                    if taken
                    else f"`{name}` is a single number: no index"
                )
                return Finding(one if taken == 1 else many, more.end() - 1)
            if fields := text.structs.get(given):
                reason = f"`{name}` is a struct and takes no index: take a field, such as `{name}.{next(iter(fields))}`"
                return Finding(reason, more.end() - 1)
            end = closing(text.code[more.end() - 1 :])
            given, taken, at = (text.element(given) if end else None), taken + 1, more.end() + (end or 0)
    return None


def condition(found: re.Match, complaint: Complaint) -> Finding | None:
    """An `if`, a `while` or a `for` that asks for no truth value; the compiler marks where the value was made."""
    text = complaint.text
    for asked in CONDITION.finditer(text.code):
        value = text.code[asked.end() :].partition(";" if asked[0].startswith("for") else "{")[0].rstrip()
        given = text.type_of(value, asked.end()) if value else None
        if given and given != "bool":
            wrapped = value.startswith("(") and closing(value) == len(value) - 1
            plain, at = (value[1:-1], asked.end() + 1) if wrapped else (value, asked.end())
            cure = f": compare it, as in `{plain} != {ZERO[given]}`" if given in ZERO else ""
            reason = f"a condition is true or false, and {described(complaint, plain, given, at)}{cure}"
            return Finding(reason, at, len(plain.split("\n")[0]))
    return None


def out_of_range(found: re.Match, complaint: Complaint) -> str:
    """A number that its type cannot hold, such as a negative one where a u32 stands."""
    if found[1] == "u32" and found[2][0] == "-":
        return f"a u32 is never negative, and `{found[2]}` is"
    return f"{a(found[1])} cannot hold `{found[2]}`"


# --- Arguments --------------------------------------------------------------------------------------------


def _arguments(complaint: Complaint, at: int) -> list[str]:
    """What stands between the parentheses that open at an offset."""
    rest = complaint.text.code[at:].lstrip()
    end = closing(rest) if rest.startswith("(") else None
    return commas(rest[1:end]) if end else []


def argument(found: re.Match, complaint: Complaint) -> Finding | None:
    """An argument of a built-in function of the wrong type."""
    number, name, text = int(found[1]) - 1, found[2], complaint.text
    span = next((each for each in complaint.spans if complaint.text_of(each) == name), None)
    at = complaint.at_of(span)
    values = _arguments(complaint, at + len(name)) if span else []
    if number >= len(values):
        return None
    types = [text.type_of(each, at) for each in values]
    value, given, first = values[number], types[number], types[0]
    if found[0].startswith("wrong"):
        if given not in ("u32", "i32") or "f32" not in complaint.allowed:
            return Finding(f"`{name}` does not take {a(given) if given else 'a value'} like `{value}`", at, len(name))
        cure = f"{name}({', '.join([*values[:number], f'f32({value})', *values[number + 1 :]])})"
        return Finding(
            f"`{name}` takes f32, and {described(complaint, value, given, at)}: write `{cure}`", at, len(name)
        )
    if not first or not given:
        return None
    reason = f"`{name}` takes values of one type, and `{values[0]}` is {a(first)}, `{value}` {a(given)}"
    cure = converted(value, first) if first == "f32" or literal_type(value) else None
    if given in (FRACTION, "f32") and first in ("u32", "i32"):
        cure = f"f32({values[0]})"
    return Finding(reason + (f": write `{cure}`" if cure else ""), at, len(name))


def too_early(found: re.Match, complaint: Complaint) -> str | None:
    """A function of constants that WGSL computes before the run, and the adapter's compiler does not."""
    name = re.match(r"\w+", complaint.marked)
    cure = f"write the number, or give `{name[0]}` a `var`" if name else "write the number"
    return f"WGSL can compute this before the run, but the compiler of this adapter cannot: {cure}"


def called(found: re.Match, complaint: Complaint) -> Finding | None:
    """An argument of the learner's own function of the wrong type."""
    span, text = complaint.span("invalid function call"), complaint.text
    at = complaint.at_of(span)
    name = re.match(r"\w+", text.code[at:])[0] if span else ""
    declared = text.declared(name, at)
    if not declared or declared.kind != "fn":
        return None
    values = _arguments(complaint, at + len(name))
    header = f"`{name}` is declared in line {text.place(declared.at)[0]} as `{declared.written}`"
    wanted = [each["type"] for each in PARAMETER.finditer(declared.written.partition("(")[2])][int(found[1])]
    value = values[int(found[1])]
    if not (given := text.type_of(value, at)):
        return None
    cure = f": write `{converted(value, wanted)}`" if given in NUMBERS and wanted in NUMBERS else ""
    return Finding(f"{described(complaint, value, given, at)}, and {header}{cure}", at, span.length)


def select(found: re.Match, complaint: Complaint) -> Finding | None:
    """`select` with its condition first, with values of two types, or with no condition."""
    at = complaint.text.code.rfind("select", 0, complaint.at + len("select"))
    values = _arguments(complaint, at + len("select")) if at >= 0 else []
    types = [complaint.text.type_of(value, at) for value in values]
    if len(values) != 3 or not all(types):
        return None
    low, high, asked = values
    if types[0] == "bool" and types[2] != "bool":
        order = "the condition of `select` comes last, and the value for false first"
        return Finding(f"{order}: write `select({asked}, {high}, {low})`", at, len("select"))
    if types[2] != "bool":
        reason = f"the last value of `select` is its condition, and {described(complaint, asked, types[2], at)}"
    else:
        both = f"`{low}` is {a(types[0])}, `{high}` {a(types[1])}"
        reason = f"the first two values of `select` must be of one type, and {both}"
    return Finding(reason, at, len("select"))


# --- Returned values --------------------------------------------------------------------------------------


def returned(found: re.Match, complaint: Complaint) -> Finding | None:
    """A `return` that does not fit its function."""
    text = complaint.text
    for function in FUNCTION.finditer(text.code):
        name, wanted, end = function["name"], function["type"], text.closing(function.end())
        returns = list(re.compile(r"\breturn\b\s*([^;]*);").finditer(text.code, function.end(), end))
        elsewhere = complaint.at is not None and not function.start() <= complaint.at <= end
        if elsewhere or (complaint.at is None and not found[0].startswith("`return`")):
            continue
        for each in returns:
            if reason := _wrong_return(complaint, name, wanted, each):
                at, length = (each.start(1), len(each[1])) if each[1] else (each.start(), len("return"))
                return Finding(reason, at, length)
        if wanted and not returns:
            reason = f"`{name}` promises a value of type {wanted}, and no `return` gives one"
            return Finding(reason, function.start(), len(f"fn {name}"))
    return None


def _wrong_return(complaint: Complaint, name: str, wanted: str | None, written: re.Match) -> str | None:
    value = written[1].strip()
    if not wanted and value:
        outputs = [each.name for each in complaint.text.names(written.start()).values() if "read_write" in each.space]
        if name in complaint.text.entry_points and len(outputs) == 1 and not literal_type(value):
            return f"`{name}` returns nothing: write the value to its place in `{outputs[0]}`, `{outputs[0]}[i]`"
        either = ", or declare the type behind its parentheses, as in `-> f32`"
        return f"`{name}` returns nothing: write `return;`{'' if name in complaint.text.entry_points else either}"
    if wanted and not value:
        return f"`{name}` returns a value of type {wanted}: write `return value;`"
    given = complaint.text.type_of(value, written.start()) if wanted else None
    if not given or given in (wanted, WHOLE) or (given, wanted) == (FRACTION, "f32"):
        return None
    cure = f": write `{converted(value, wanted)}`" if wanted in NUMBERS and given in NUMBERS else ""
    return f"`{name}` returns {a(wanted)}, and {described(complaint, value, given, written.start())}{cure}"


# --- Signs ------------------------------------------------------------------------------------------------


def stored(found: re.Match, complaint: Complaint) -> Finding | None:
    """A truth value and a number side by side."""
    for span in complaint.spans:
        at, pair = complaint.at_of(span), split(complaint.text_of(span))
        if pair and pair[1] in ("&&", "||"):
            wrong = [(value, complaint.text.type_of(value, at)) for value in (pair[0], pair[2])]
            numbers = [_joined(complaint, pair[1], value, kind, at) for value, kind in wrong if kind in ZERO]
            return Finding(numbers[0], at, span.length) if numbers else None
    return None


def _joined(complaint: Complaint, sign: str, value: str, given: str, at: int) -> str:
    reason = f"`{sign}` joins two conditions, and {described(complaint, value, given, at)}"
    if literal_type(value):
        return f"{reason}: write a whole comparison on each side, as in `i == {value}`"
    return f"{reason}: compare it, as in `{value} != {ZERO[given]}`"


def incompatible(found: re.Match, complaint: Complaint) -> Finding | None:
    """A sign behind a value that it does not work with; the compiler gives no place."""
    text, sign = complaint.text, SIGNS.get(found[1], "")
    for each in re.finditer(rf"{NAMED}\s*{re.escape(sign)}(?![=&|<>])", text.code) if sign else ():
        value, at = each[1], each.start()
        given = text.type_of(value, at)
        if given == found[2] and not re.search(r"(?:[<>]|[<>=!]=)\s*$", text.code[:at]):
            unfit = f"`{sign}` does not work with `{value}`, which is {a(given)}"
            reason = _joined(complaint, sign, value, given, at) if sign in ("&&", "||") and given in ZERO else unfit
            return Finding(reason, at, len(value))
    return None


# --- Declarations ------------------------------------------------------------------------------------------


def twice(found: re.Match, complaint: Complaint) -> Finding | None:
    """Two variables with one binding number; the compiler gives no place."""
    seen = set()
    for each in re.finditer(r"@binding\s*\(\s*(\d+)u?\s*\)", complaint.text.code):
        if each[1] in seen:
            reason = f"the binding {each[1]} is declared twice: each variable has a number of its own"
            return Finding(reason, each.start(), len(each[0]))
        seen.add(each[1])
    return None


def atomic(found: re.Match, complaint: Complaint) -> Finding | None:
    """An atomic that WGSL does not have; the compiler gives no place."""
    given = re.search(r"\batomic\s*<\s*f32\s*>", complaint.text.code)
    reason = "WGSL has no `atomic<f32>`, only `atomic<u32>` and `atomic<i32>`"
    return Finding(reason, given.start(), len(given[0])) if given else None


def subgroup(found: re.Match, complaint: Complaint) -> str:
    """A function or value of subgroups."""
    offered = "not every adapter offers subgroup functions, so these kernels do without them"
    return f"{offered}: share values in workgroup memory, with a `workgroupBarrier()` before they are read"


def builtin(found: re.Match, complaint: Complaint) -> Finding | None:
    """A parameter of a kernel without @builtin; the compiler gives no place."""
    text = complaint.text
    for each in text.declarations:
        owner = next((f["name"] for f in FUNCTION.finditer(text.code) if f.start() < each.at < f.end()), None)
        if each.kind == "parameter" and not each.builtin and owner in text.entry_points:
            cure = f"write `@builtin(global_invocation_id) {each.name}: vec3u`, or another builtin"
            return Finding(f"each parameter of a kernel needs a `@builtin(...)`: {cure}", each.at, len(each.name))
    return None
