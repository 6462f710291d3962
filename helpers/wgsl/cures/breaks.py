"""Texts that break off where the grammar asks for more: the habit behind it, or what is missing and where."""

import re
import unicodedata

from helpers.wgsl.cures.context import TOKEN, Context, balanced
from helpers.wgsl.cures.habits import HABITS, Cure
from helpers.wgsl.diagnostics import Finding

STATEMENT = r"(?:let|var|const|if|for|while|return|switch|loop|break|continue|fn|struct|override|else)\b"
JUMPS = ("return", "break", "continue")
SIGNS = {"−": "-", "–": "-", "×": "*", "·": "*", "÷": "/", "≤": "<=", "≥": ">=", "≠": "!=", "≔": "="}
STANDS_OUTSIDE = "only fn, var, const, override, struct and attributes with @ can"


def expected(c: Context, what: str) -> Finding | None:
    """A sign or word that cannot stand where it stands; `what` is what belongs there."""
    c.expected, before = what, c.before(c.at)
    later = before and c.line(before) < c.line(c.refused)  # then the caret belongs behind the last token
    at = before.end if later and not what.startswith(("statement", "declaration", "`diagnostic`")) else c.at
    return next(filter(None, (look(c, at) for look in LOOKS)))


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


def habit(c: Context, at: int) -> Finding | None:
    """The first habit whose pattern matches."""
    number, column = c.place(at)
    for pattern, cure in HABITS:
        text = c.source if "//" in pattern else c.code
        line = text.split("\n")[number - 1].rstrip().replace("\t", " ")
        front = f"{c.expected}│{line[: column - 1]}"
        match = re.search(pattern, f"{front}▸{line[column - 1 :]}")
        reason = match and _cure(match, cure, c)
        if reason and match.groupdict().get("at"):
            begin, end = (i - (i > len(front)) for i in match.span("at"))
            return Finding(reason, at + begin - len(front), end - begin)
        if reason:
            return Finding(reason, at, _length(c, at))
    return None


def _cure(match: re.Match, cure: Cure, c: Context) -> str | None:
    if not isinstance(cure, str):
        return cure(match, c)
    return match.expand(cure) if all(map(balanced, filter(None, match.groups()))) else None


def _length(c: Context, at: int) -> int:
    match = TOKEN.match(c.code, at)
    return len(match[0]) if match else 1


# --- What is missing: each looks for one thing, and returns None where it is something else -----------------


def _jump(c: Context, at: int) -> Finding | None:
    """A jump without its semicolon; `return` takes the next line's beginning for its value."""
    above, word = c.before(c.offset(c.line(c.refused), 1)), c.before(c.at)
    if above in JUMPS and c.expected == "`;`":
        return Finding("a `;` is missing at the end of this line", above.end)
    return Finding(f"a `;` is missing after `{word}`", word.end) if word in JUMPS and c.found == "}" else None


def _end(c: Context, at: int) -> Finding | None:
    """A text that ends inside of a block."""
    if c.found or not c.tokens:
        return None
    end = c.tokens[-1].end
    if c.depth(end) <= 0:
        return Finding("the text ends here, in the middle of a statement", end)
    line = f", perhaps that of the block that begins in line {_suspect(c, end)}"
    return Finding(f"the text ends inside of a block: a `}}` is missing{line}", end)


def _nested(c: Context, at: int) -> Finding | None:
    """A function inside of a function: a block above is never closed."""
    begun = c.before(c.at)
    inside = begun in ("fn", "struct", "@") and c.depth(begun.at) > 0
    if not inside or not c.expected.startswith(("`diagnostic`", "assignment")):
        return None
    line = _suspect(c, begun.at)
    reason = f"this stands inside of a function: a `}}` is missing above; look at the block that begins in line {line}"
    return Finding(reason, begun.at, c.found.end - begun.at)


def _suspect(c: Context, end: int) -> int:
    """The line of a block before an offset whose end is indented less than its beginning; else of the last open one."""
    open_blocks = [(1, 0)]
    for number, line in enumerate(c.code[:end].split("\n"), 1):
        indent = len(line) - len(line.lstrip())
        for brace in re.findall(r"[{}]", line):
            if brace == "{":
                open_blocks.append((number, indent))
            elif open_blocks[1:]:
                opened, before = open_blocks.pop()
                if line.lstrip().startswith("}") and indent < before:
                    return opened
    return open_blocks[-1][0]


def _outside(c: Context, at: int) -> Finding | None:
    """What cannot stand outside of a function."""
    token = c.found
    if not token or not c.expected.startswith("declaration"):
        return None
    if token == "}":
        return Finding("this `}` has no partner: there is one too many, here or above", at)
    reason = f"`{token}` cannot stand outside of a function; {STANDS_OUTSIDE}"
    if any(earlier == "fn" and earlier.at < at for earlier in c.tokens):
        reason = f"`{token}` stands outside of every function: a `}}` above is one too many, or comes too early"
    return Finding(reason, at, len(token))


def _bracket(c: Context, at: int) -> Finding | None:
    """A parenthesis or bracket that is not closed where it should be, or closed without having been opened."""
    token, missing, stack = c.found, c.expected.strip("`"), []
    for bracket in re.finditer(r"[()\[\]]", c.code[:at]):
        if bracket[0] in "([":
            stack.append(bracket)
        elif stack:
            stack.pop()
    if missing in (")", "]"):
        ends = at != c.at or token in (";", "{", "}", ")", "]", "=")
    else:
        ends = missing in (",", ";") and token == "{"
    if not token or not ends or not stack:
        return None
    opening, (line, column) = stack[-1][0], c.place(stack[-1].start())
    where = f"column {column}" if line == c.place(at)[0] else f"line {line}, column {column}"
    closed = ")" if opening == "(" else "]"
    return Finding(f"the `{opening}` in {where} is never closed: a `{closed}` is missing", at)


def _separator(c: Context, at: int) -> Finding | None:
    """A statement without its semicolon, a field without its comma, a block without its brace."""
    missing, token = c.expected.strip("`"), c.found
    if not token or missing not in (";", ",", "{"):
        return None
    if token in (")", "]") and at == c.at:
        return Finding(f"this `{token}` has no opening partner in this statement", at)
    if re.fullmatch(STATEMENT, c.before(at)):
        return None
    if at != c.at:
        return Finding(f"a `{missing}` is missing at the end of this line", at)
    if token == "}" or re.fullmatch(STATEMENT, token) or (missing == "," and token.isidentifier()):
        return Finding(f"a `{missing}` is missing before `{token}`", at, len(token))
    return None


def _side_by_side(c: Context, at: int) -> Finding | None:
    """Two values without an operator between them, or a statement that begins in another one."""
    token, before = c.found, c.before(c.at)
    if not before or not token or c.expected not in ("`;`", "`)`", "`]`"):
        return None
    if before.at == token.at:
        return Finding(f"`{token}` is no number that WGSL can read, and no name", token.at, len(token))
    if re.fullmatch(STATEMENT, before):
        last = c.before(before.at)
        reason = f"`{before}` begins a statement, and the one before it is not finished: it ends in `{last}`"
        return Finding(reason, last.end)
    if at == c.at and re.search(r"[\w)\]]$", before) and re.match(r"[\w(]", token):
        reason = f"between `{before}` and `{token}` an operator, such as `*`, or a sign like `;` is missing"
        return Finding(reason, at, len(token))
    return None


def _value(c: Context, at: int) -> Finding | None:
    """Nothing where a value must stand, or a word that begins no statement."""
    before, token = c.before(c.at), c.found
    if not token or not before:
        return None
    later = at != c.at
    width = 1 if later else len(token)
    if c.expected == "expression":
        if later or token in (";", ")", "]", "}", ","):
            return Finding(f"a value is missing after `{before}`", at)
        return Finding(f"after `{before}` a value must come, and `{token}` is none", at, width)
    if c.expected == "statement":
        return Finding(f"no statement begins with `{token}`", at, width)
    if c.expected.startswith("assignment"):
        start = re.search(r"[^;{}]*$", c.code[: c.at])[0].strip()
        if later:
            return Finding(f"this statement is not finished: after `{start}` comes `=`, `+=`, `++` or `(`", at)
        goes_on = f"a statement that begins with `{start}` goes on with `=`, `+=`, `++` or `(`"
        return Finding(f"{goes_on}, and not with `{token}`", at, width)
    return None


def _expected(c: Context, at: int) -> Finding:
    """What belongs there, in a word."""
    if at != c.at:
        return Finding(f"{c.expected} is expected after `{c.before(c.at)}`", at)
    instead = f", not `{c.found}`" if c.found else ""
    return Finding(f"{c.expected} is expected here{instead}", at, _length(c, at))


LOOKS = (foreign, habit, _jump, _end, _nested, _outside, _bracket, _separator, _side_by_side, _value, _expected)
