"""Texts that break off where the grammar asks for more: the habit behind it, or what is missing and where."""

import re
import unicodedata

from helpers.compile_errors.expressions import TOKEN, balanced
from helpers.compile_errors.habits import HABITS
from helpers.compile_errors.message import Complaint, Finding

STATEMENT = r"(?:let|var|const|if|for|while|return|switch|loop|break|continue|fn|struct|override|else)\b"
SIGNS = {"−": "-", "–": "-", "×": "*", "·": "*", "÷": "/", "≤": "<=", "≥": ">=", "≠": "!=", "≔": "="}
STANDS_OUTSIDE = "only fn, var, const, override, struct and attributes with @ can"


def grammar(found: re.Match, complaint: Complaint) -> Finding | None:
    """A sign or word that cannot stand where it stands."""
    if complaint.at is None:
        return None
    at = place(complaint)
    looks = (look(complaint, at) for look in (foreign, habit, *LOOKS))
    return next(filter(None, looks), None)


def foreign(complaint: Complaint, at: int) -> Finding | None:
    """A letter that looks like a sign of WGSL, or like nothing at all: from a web page, or from prose."""
    letter = complaint.text.source[complaint.at : complaint.at + 1]
    if letter.isascii() and letter != "\0":
        return None
    name = f"{unicodedata.name(letter, 'NUL').lower()}, U+{ord(letter):04X}"
    if not letter.isprintable():
        return Finding(f"an invisible letter ({name}) stands here: delete it, or write a blank", complaint.at)
    cure = f": write `{SIGNS[letter]}`" if letter in SIGNS else ""
    return Finding(f"`{letter}` ({name}) is no sign of WGSL{cure}", complaint.at)


def place(complaint: Complaint) -> int:
    """Where the caret belongs: behind the last token where the compiler complains about one in a later line."""
    before = complaint.text.before(complaint.at)
    later = before and complaint.text.place(before.at)[0] < complaint.first[0]
    begun = not re.search("expected (?:statement|declaration|the)", complaint.says)
    return before.end if later and begun else complaint.at


def habit(complaint: Complaint, at: int) -> Finding | None:
    """The first habit whose pattern matches."""
    number, column = complaint.text.place(at)
    expected = complaint.says.removeprefix("expected ").partition(", found")[0]
    for pattern, cure in HABITS:
        line = (complaint.text.source if "//" in pattern else complaint.text.code).split("\n")[number - 1]
        line = line.rstrip().replace("\t", " ")
        front = f"{expected}│{line[: column - 1]}"
        found = re.search(pattern, f"{front}▸{line[column - 1 :]}")
        reason = _cure(found, cure, complaint) if found else None
        if reason and found.groupdict().get("at"):
            begin, end = (i - (i > len(front)) for i in found.span("at"))
            return Finding(reason, at + begin - len(front), end - begin)
        if reason:
            return Finding(reason, at, _length(complaint, at))
    return None


def _cure(found: re.Match, cure, complaint: Complaint) -> str | None:
    if not isinstance(cure, str):
        return cure(found, complaint)
    caret = found.span("at") if "at" in found.groupdict() else None
    pieces = [found[i] for i in range(1, found.re.groups + 1) if found[i] and found.span(i) != caret]
    return found.expand(cure) if all(map(balanced, pieces)) else None


def _length(complaint: Complaint, at: int) -> int:
    found = TOKEN.match(complaint.text.code, at)
    return len(found[0]) if found else 1


# --- What is missing: each looks for one thing, and returns None where it is something else -----------------


def _comment(complaint: Complaint, at: int) -> Finding | None:
    return endless(None, complaint) if complaint.text.source[complaint.at :].startswith("/*") else None


def endless(found: re.Match | None, complaint: Complaint) -> Finding | None:
    """A comment that hides the rest of the text."""
    begun = complaint.text.source.rfind("/*")
    if begun < 0 or complaint.text.code[begun:].strip() or complaint.text.source.rstrip().endswith("*/"):
        return None
    return Finding("this comment never ends: `*/` is missing", begun, 2)


def _jump(complaint: Complaint, at: int) -> Finding | None:
    """A jump without its semicolon; `return` takes the next line's beginning for its value."""
    line = complaint.text.place(complaint.at)[0]
    before = complaint.text.code.split("\n")[max(line - 2, 0)].rstrip() if line > 1 else ""
    if re.fullmatch(r"\s*(?:return|break|continue)", before) and "`;`" in complaint.says:
        return Finding("a `;` is missing at the end of this line", complaint.text.offset(line - 1, len(before) + 1))
    token, found = complaint.text.before(complaint.at), complaint.found
    if token and token.text in ("return", "break", "continue") and found and found.text == "}":
        return Finding(f"a `;` is missing after `{token.text}`", token.end)
    return None


def _end(complaint: Complaint, at: int) -> Finding | None:
    """A text that ends inside of a block."""
    text = complaint.text
    if complaint.found or not text.tokens:
        return None if text.tokens else Finding("there is no code in the text", 0)
    end = text.tokens[-1].end
    if text.depth(len(text.code)) <= 0:
        return Finding("the text ends here, in the middle of a statement", end)
    line = f", perhaps that of the block that begins in line {text.place(_suspect(complaint, len(text.code)))[0]}"
    return Finding(f"the text ends inside of a block: a `}}` is missing{line}", end)


def _nested(complaint: Complaint, at: int) -> Finding | None:
    """A function inside of a function: a block above is never closed."""
    text, begun = complaint.text, complaint.text.before(complaint.at)
    inside = begun and begun.text in ("fn", "struct", "@") and text.depth(begun.at) > 0
    if not inside or not re.match("expected (?:the|assignment)", complaint.says):
        return None
    line = text.place(_suspect(complaint, begun.at))[0]
    reason = f"this stands inside of a function: a `}}` is missing above; look at the block that begins in line {line}"
    return Finding(reason, begun.at, complaint.found.end - begun.at)


def _suspect(complaint: Complaint, end: int) -> int:
    """Of the blocks before an offset, one whose end is indented less than its beginning; else the last open one."""
    lines, stack = complaint.text.code.split("\n"), []
    for each in re.finditer(r"[{}]", complaint.text.code[:end]):
        line = lines[complaint.text.place(each.start())[0] - 1]
        indent = len(line) - len(line.lstrip())
        if each[0] == "{":
            stack.append((each.start(), indent))
        elif stack:
            opened, before = stack.pop()
            if line.lstrip().startswith("}") and indent < before:
                return opened
    return stack[-1][0] if stack else 0


def _outside(complaint: Complaint, at: int) -> Finding | None:
    """What cannot stand outside of a function."""
    found = complaint.found
    if not found or not complaint.says.startswith("expected declaration"):
        return None
    if found.text == "}":
        return Finding("this `}` has no partner: there is one too many, here or above", at)
    reason = f"`{found.text}` cannot stand outside of a function; {STANDS_OUTSIDE}"
    if any(token.text == "fn" for token in complaint.text.tokens if token.at < at):
        reason = f"`{found.text}` stands outside of every function: a `}}` above is one too many, or comes too early"
    return Finding(reason, at, len(found.text))


def _bracket(complaint: Complaint, at: int) -> Finding | None:
    """A parenthesis or bracket that is not closed where it should be, or closed without having been opened."""
    text, found, stack = complaint.text, complaint.found, []
    for offset, letter in enumerate(text.code[:at]):
        if letter in "([":
            stack.append(offset)
        elif letter in ")]" and stack:
            stack.pop()
    missing = re.match(r"expected `([)\],;])`", complaint.says)
    if not found or not missing or (missing[1] == ";" and found.text != "{"):
        return None
    ends = found.text in (";", "{", "}", ")", "]", "=") if missing[1] in ")]" else found.text == "{"
    if not stack or not (ends or (at != complaint.at and missing[1] in ")]")):
        return None
    line, column = text.place(stack[-1])
    where = f"column {column}" if line == text.place(at)[0] else f"line {line}, column {column}"
    opening = text.code[stack[-1]]
    closed = ")" if opening == "(" else "]"
    return Finding(f"the `{opening}` in {where} is never closed: a `{closed}` is missing", at)


def _separator(complaint: Complaint, at: int) -> Finding | None:
    """A statement without its semicolon, a field without its comma, a block without its brace."""
    missing, found = re.match(r"expected `([;,{])`", complaint.says), complaint.found
    if not missing or not found:
        return None
    if found.text in (")", "]") and at == complaint.at:
        return Finding(f"this `{found.text}` has no opening partner in this statement", at)
    before = complaint.text.before(at)
    if re.fullmatch(STATEMENT, before.text if before else ""):
        return None
    if at != complaint.at:
        return Finding(f"a `{missing[1]}` is missing at the end of this line", at)
    if found.text == "}" or re.fullmatch(STATEMENT, found.text) or (missing[1] == "," and found.text.isidentifier()):
        return Finding(f"a `{missing[1]}` is missing before `{found.text}`", at, len(found.text))
    return None


def _side_by_side(complaint: Complaint, at: int) -> Finding | None:
    """Two values without an operator between them, or a statement that begins in another one."""
    text, found, before = complaint.text, complaint.found, complaint.text.before(complaint.at)
    if not before or not found or not re.match(r"expected `[;)\]]`", complaint.says):
        return None
    if before.at == found.at:
        return Finding(f"`{found.text}` is no number that WGSL can read, and no name", found.at, len(found.text))
    if re.fullmatch(STATEMENT, before.text):
        last = text.before(before.at)
        reason = f"`{before.text}` begins a statement, and the one before it is not finished"
        return Finding(f"{reason}: it ends in `{last.text}`", last.end) if last else None
    if at == complaint.at and re.search(r"[\w)\]]$", before.text) and re.match(r"[\w(]", found.text):
        reason = f"between `{before.text}` and `{found.text}` an operator, such as `*`, or a sign like `;` is missing"
        return Finding(reason, at, len(found.text))
    return None


def _value(complaint: Complaint, at: int) -> Finding | None:
    """Nothing where a value must stand, or a word that begins no statement."""
    before, found = complaint.text.before(complaint.at), complaint.found
    if not found or not before:
        return None
    width = len(found.text) if at == complaint.at else 1
    if "expected expression" in complaint.says:
        if at != complaint.at or found.text in (";", ")", "]", "}", ","):
            return Finding(f"a value is missing after `{before.text}`", at)
        return Finding(f"after `{before.text}` a value must come, and `{found.text}` is none", at, width)
    if "expected statement" in complaint.says:
        return Finding(f"no statement begins with `{found.text}`", at, width)
    if "expected assignment" in complaint.says:
        start = re.search(r"[^;{}]*$", complaint.text.code[: complaint.at])[0].strip()
        if at != complaint.at:
            return Finding(f"this statement is not finished: after `{start}` comes `=`, `+=`, `++` or `(`", at)
        goes_on = f"a statement that begins with `{start}` goes on with `=`, `+=`, `++` or `(`"
        return Finding(f"{goes_on}, and not with `{found.text}`", at, width)
    return None


def _expected(complaint: Complaint, at: int) -> Finding:
    """The compiler's own words."""
    expected = complaint.says.removeprefix("expected ").partition(", found")[0]
    before, found = complaint.text.before(complaint.at), complaint.found
    if at != complaint.at:
        return Finding(f"{expected} is expected after `{before.text}`", at)
    return Finding(
        f"{expected} is expected here" + (f", not `{found.text}`" if found else ""), at, _length(complaint, at)
    )


LOOKS = (_comment, _jump, _end, _nested, _outside, _bracket, _separator, _side_by_side, _value, _expected)
