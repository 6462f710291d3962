"""Texts that break off where the grammar asks for more: the habit behind it, or what is missing and where."""

import re
import unicodedata

from helpers.wgsl.cures.context import TOKEN, Context, balanced
from helpers.wgsl.cures.habits import HABITS
from helpers.wgsl.diagnostics import Finding

STATEMENT = r"(?:let|var|const|if|for|while|return|switch|loop|break|continue|fn|struct|override|else)\b"
SIGNS = {"−": "-", "–": "-", "×": "*", "·": "*", "÷": "/", "≤": "<=", "≥": ">=", "≠": "!=", "≔": "="}
STANDS_OUTSIDE = "only fn, var, const, override, struct and attributes with @ can"


def expected(c: Context, what: str) -> Finding | None:
    """A sign or word that cannot stand where it stands; `what` is what belongs there."""
    c.expected = what
    at = place(c)
    looks = (look(c, at) for look in (foreign, habit, *LOOKS))
    return next(filter(None, looks), None)


def foreign(c: Context, at: int) -> Finding | None:
    """A letter that looks like a sign of WGSL, or like nothing at all: from a web page, or from prose."""
    letter = c.source[c.at : c.at + 1]
    if letter.isascii() and letter != "\0":
        return None
    name = f"{unicodedata.name(letter, 'NUL').lower()}, U+{ord(letter):04X}"
    if not letter.isprintable():
        return Finding(f"an invisible letter ({name}) stands here: delete it, or write a blank", c.at)
    cure = f": write `{SIGNS[letter]}`" if letter in SIGNS else ""
    return Finding(f"`{letter}` ({name}) is no sign of WGSL{cure}", c.at)


def place(c: Context) -> int:
    """Where the caret belongs: behind the last token where the text is refused in a later line."""
    before = c.before(c.at)
    later = before and c.place(before.at)[0] < c.place(c.at)[0]
    begun = not c.expected.startswith(("statement", "declaration", "`diagnostic`"))
    return before.end if later and begun else c.at


def habit(c: Context, at: int) -> Finding | None:
    """The first habit whose pattern matches."""
    number, column = c.place(at)
    for pattern, cure in HABITS:
        line = c.lines[number - 1] if "//" in pattern else c.code.split("\n")[number - 1]
        line = line.rstrip().replace("\t", " ")
        front = f"{c.expected}│{line[: column - 1]}"
        found = re.search(pattern, f"{front}▸{line[column - 1 :]}")
        reason = _cure(found, cure, c) if found else None
        if reason and found.groupdict().get("at"):
            begin, end = (i - (i > len(front)) for i in found.span("at"))
            return Finding(reason, at + begin - len(front), end - begin)
        if reason:
            return Finding(reason, at, _length(c, at))
    return None


def _cure(found: re.Match, cure, c: Context) -> str | None:
    if not isinstance(cure, str):
        return cure(found, c)
    caret = found.span("at") if "at" in found.groupdict() else None
    pieces = [found[i] for i in range(1, found.re.groups + 1) if found[i] and found.span(i) != caret]
    return found.expand(cure) if all(map(balanced, pieces)) else None


def _length(c: Context, at: int) -> int:
    found = TOKEN.match(c.code, at)
    return len(found[0]) if found else 1


# --- What is missing: each looks for one thing, and returns None where it is something else -----------------


def _comment(c: Context, at: int) -> Finding | None:
    """A comment that hides the rest of the text."""
    return Finding("this comment never ends: `*/` is missing", c.at, 2) if c.source.startswith("/*", c.at) else None


def _jump(c: Context, at: int) -> Finding | None:
    """A jump without its semicolon; `return` takes the next line's beginning for its value."""
    line = c.place(c.at)[0]
    before = c.code.split("\n")[max(line - 2, 0)].rstrip() if line > 1 else ""
    if re.fullmatch(r"\s*(?:return|break|continue)", before) and "`;`" in c.expected:
        return Finding("a `;` is missing at the end of this line", c.offset(line - 1, len(before) + 1))
    token, found = c.before(c.at), c.found
    if token and token.text in ("return", "break", "continue") and found and found.text == "}":
        return Finding(f"a `;` is missing after `{token.text}`", token.end)
    return None


def _end(c: Context, at: int) -> Finding | None:
    """A text that ends inside of a block."""
    if c.found or not c.tokens:
        return None
    end = c.tokens[-1].end
    if c.depth(len(c.code)) <= 0:
        return Finding("the text ends here, in the middle of a statement", end)
    line = f", perhaps that of the block that begins in line {c.place(_suspect(c, len(c.code)))[0]}"
    return Finding(f"the text ends inside of a block: a `}}` is missing{line}", end)


def _nested(c: Context, at: int) -> Finding | None:
    """A function inside of a function: a block above is never closed."""
    begun = c.before(c.at)
    inside = begun and begun.text in ("fn", "struct", "@") and c.depth(begun.at) > 0
    if not inside or not c.expected.startswith(("`diagnostic`", "assignment")):
        return None
    line = c.place(_suspect(c, begun.at))[0]
    reason = f"this stands inside of a function: a `}}` is missing above; look at the block that begins in line {line}"
    return Finding(reason, begun.at, c.found.end - begun.at)


def _suspect(c: Context, end: int) -> int:
    """Of the blocks before an offset, one whose end is indented less than its beginning; else the last open one."""
    lines, stack = c.code.split("\n"), []
    for each in re.finditer(r"[{}]", c.code[:end]):
        line = lines[c.place(each.start())[0] - 1]
        indent = len(line) - len(line.lstrip())
        if each[0] == "{":
            stack.append((each.start(), indent))
        elif stack:
            opened, before = stack.pop()
            if line.lstrip().startswith("}") and indent < before:
                return opened
    return stack[-1][0] if stack else 0


def _outside(c: Context, at: int) -> Finding | None:
    """What cannot stand outside of a function."""
    found = c.found
    if not found or not c.expected.startswith("declaration"):
        return None
    if found.text == "}":
        return Finding("this `}` has no partner: there is one too many, here or above", at)
    reason = f"`{found.text}` cannot stand outside of a function; {STANDS_OUTSIDE}"
    if any(token.text == "fn" for token in c.tokens if token.at < at):
        reason = f"`{found.text}` stands outside of every function: a `}}` above is one too many, or comes too early"
    return Finding(reason, at, len(found.text))


def _bracket(c: Context, at: int) -> Finding | None:
    """A parenthesis or bracket that is not closed where it should be, or closed without having been opened."""
    found, stack = c.found, []
    for offset, letter in enumerate(c.code[:at]):
        if letter in "([":
            stack.append(offset)
        elif letter in ")]" and stack:
            stack.pop()
    missing = re.match(r"`([)\],;])`", c.expected)
    if not found or not missing or (missing[1] == ";" and found.text != "{"):
        return None
    ends = found.text in (";", "{", "}", ")", "]", "=") if missing[1] in ")]" else found.text == "{"
    if not stack or not (ends or (at != c.at and missing[1] in ")]")):
        return None
    line, column = c.place(stack[-1])
    where = f"column {column}" if line == c.place(at)[0] else f"line {line}, column {column}"
    opening = c.code[stack[-1]]
    closed = ")" if opening == "(" else "]"
    return Finding(f"the `{opening}` in {where} is never closed: a `{closed}` is missing", at)


def _separator(c: Context, at: int) -> Finding | None:
    """A statement without its semicolon, a field without its comma, a block without its brace."""
    missing, found = re.match(r"`([;,{])`", c.expected), c.found
    if not missing or not found:
        return None
    if found.text in (")", "]") and at == c.at:
        return Finding(f"this `{found.text}` has no opening partner in this statement", at)
    before = c.before(at)
    if re.fullmatch(STATEMENT, before.text if before else ""):
        return None
    if at != c.at:
        return Finding(f"a `{missing[1]}` is missing at the end of this line", at)
    if found.text == "}" or re.fullmatch(STATEMENT, found.text) or (missing[1] == "," and found.text.isidentifier()):
        return Finding(f"a `{missing[1]}` is missing before `{found.text}`", at, len(found.text))
    return None


def _side_by_side(c: Context, at: int) -> Finding | None:
    """Two values without an operator between them, or a statement that begins in another one."""
    found, before = c.found, c.before(c.at)
    if not before or not found or not re.match(r"`[;)\]]`", c.expected):
        return None
    if before.at == found.at:
        return Finding(f"`{found.text}` is no number that WGSL can read, and no name", found.at, len(found.text))
    if re.fullmatch(STATEMENT, before.text):
        last = c.before(before.at)
        reason = f"`{before.text}` begins a statement, and the one before it is not finished"
        return Finding(f"{reason}: it ends in `{last.text}`", last.end) if last else None
    if at == c.at and re.search(r"[\w)\]]$", before.text) and re.match(r"[\w(]", found.text):
        reason = f"between `{before.text}` and `{found.text}` an operator, such as `*`, or a sign like `;` is missing"
        return Finding(reason, at, len(found.text))
    return None


def _value(c: Context, at: int) -> Finding | None:
    """Nothing where a value must stand, or a word that begins no statement."""
    before, found = c.before(c.at), c.found
    if not found or not before:
        return None
    width = len(found.text) if at == c.at else 1
    if c.expected.startswith("expression"):
        if at != c.at or found.text in (";", ")", "]", "}", ","):
            return Finding(f"a value is missing after `{before.text}`", at)
        return Finding(f"after `{before.text}` a value must come, and `{found.text}` is none", at, width)
    if c.expected.startswith("statement"):
        return Finding(f"no statement begins with `{found.text}`", at, width)
    if c.expected.startswith("assignment"):
        start = re.search(r"[^;{}]*$", c.code[: c.at])[0].strip()
        if at != c.at:
            return Finding(f"this statement is not finished: after `{start}` comes `=`, `+=`, `++` or `(`", at)
        goes_on = f"a statement that begins with `{start}` goes on with `=`, `+=`, `++` or `(`"
        return Finding(f"{goes_on}, and not with `{found.text}`", at, width)
    return None


def _expected(c: Context, at: int) -> Finding:
    """What belongs there, in a word."""
    if at != c.at:
        return Finding(f"{c.expected} is expected after `{c.before(c.at).text}`", at)
    found = f", not `{c.found.text}`" if c.found else ""
    return Finding(f"{c.expected} is expected here{found}", at, _length(c, at))


LOOKS = (_comment, _jump, _end, _nested, _outside, _bracket, _separator, _side_by_side, _value, _expected)
