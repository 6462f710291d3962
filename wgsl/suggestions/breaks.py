"""Texts that break off where the grammar needs more: the habit that explains it, or what is missing and where."""

import re
import unicodedata
from itertools import pairwise

from wgsl.diagnostics import Diagnostic
from wgsl.suggestions.context import TOKEN, Context, balanced
from wgsl.suggestions.habits import HABITS, Cure
from wgsl.words.refusals import phrase

STATEMENT = r"(?:let|var|const|if|for|while|return|switch|loop|break|continue|fn|struct|override|else)\b"
JUMPS = ("return", "break", "continue")
SIGNS = {"−": "-", "–": "-", "×": "*", "·": "*", "÷": "/", "≤": "<=", "≥": ">=", "≠": "!=", "≔": "="}
STANDS_OUTSIDE = "only fn, var, const, override, struct and attributes with @ can"


def expected(context: Context, what: str) -> Diagnostic | None:
    """A sign or word in the wrong place; `what` is what belongs there."""
    context.expected, before = what, context.before(context.at)
    later = before and context.line(before) < context.line(context.refused)  # then the caret goes after the last token
    at = before.end if later and what not in ("statement", "declaration", "diagnostic") else context.at
    return next(filter(None, (look(context, at) for look in LOOKS)))


def foreign(context: Context, at: int) -> Diagnostic | None:
    """A letter that looks like a sign of WGSL, or like nothing at all: from a web page, or from prose."""
    letter = context.source[context.at : context.at + 1]
    if letter.isascii() and letter != "\0":
        return None
    name = f"{unicodedata.name(letter, 'NUL').lower()}, U+{ord(letter):04X}"
    if not letter.isprintable():
        return Diagnostic(f"an invisible letter ({name}) stands here: delete it, or write a blank", context.at)
    cure = f": write `{SIGNS[letter]}`" if letter in SIGNS else ""
    return Diagnostic(f"`{letter}` ({name}) is no sign of WGSL{cure}", context.at)


def habit(context: Context, at: int) -> Diagnostic | None:
    """The first habit whose pattern matches."""
    number, column = context.place(at)
    for pattern, cure in HABITS:
        text = context.source if "//" in pattern else context.code
        line = text.split("\n")[number - 1].rstrip().replace("\t", " ")
        front = f"{context.expected}│{line[: column - 1]}"
        match = re.search(pattern, f"{front}▸{line[column - 1 :]}")
        reason = match and _cure(match, cure, context)
        if reason and match.groupdict().get("at"):
            begin, end = (i - (i > len(front)) for i in match.span("at"))
            return Diagnostic(reason, at + begin - len(front), end - begin)
        if reason:
            return Diagnostic(reason, at, _length(context, at))
    return None


def _cure(match: re.Match, cure: Cure, context: Context) -> str | None:
    if not isinstance(cure, str):
        return cure(match, context)
    return match.expand(cure) if all(map(balanced, filter(None, match.groups()))) else None


def _length(context: Context, at: int) -> int:
    match = TOKEN.match(context.code, at)
    return len(match[0]) if match else 1


# --- What is missing: each looks for one thing, and returns None where it is something else -----------------------


def _jump(context: Context, at: int) -> Diagnostic | None:
    """A jump without its semicolon; `return` takes the next line's beginning for its value."""
    above, word = context.before(context.offset(context.line(context.refused), 1)), context.before(context.at)
    if above in JUMPS and context.expected == ";":
        return Diagnostic("a `;` is missing at the end of this line", above.end)
    return Diagnostic(f"a `;` is missing after `{word}`", word.end) if word in JUMPS and context.token == "}" else None


def _end(context: Context, at: int) -> Diagnostic | None:
    """A text that ends inside of a block."""
    if context.token or not context.tokens:
        return None
    end = context.tokens[-1].end
    if context.depth(end) <= 0:
        return Diagnostic("the text ends here, in the middle of a statement", end)
    line = f", perhaps that of the block that begins {context.in_line(_suspect(context, end))}"
    return Diagnostic(f"the text ends inside of a block: a `}}` is missing{line}", end)


def _nested(context: Context, at: int) -> Diagnostic | None:
    """A function inside of a function: a block above is never closed."""
    begun = context.before(context.at)
    inside = begun in ("fn", "struct", "@") and context.depth(begun.at) > 0
    if not inside or context.expected not in ("diagnostic", "assignment"):
        return None
    if begun == "fn" and context.depth(len(context.code)) == 0:
        outer = [token for before, token in pairwise(context.tokens) if before == "fn" and token.at < begun.at]
        reason = f"a function cannot stand inside of another one: move `{context.token}` above `{outer[-1]}`"
        return Diagnostic(reason, begun.at, context.token.end - begun.at)
    begins = context.in_line(_suspect(context, begun.at))
    reason = f"this stands inside of a function: a `}}` is missing above; look at the block that begins {begins}"
    return Diagnostic(reason, begun.at, context.token.end - begun.at)


def _suspect(context: Context, end: int) -> int:
    """The line of a block before an offset whose end is indented less than its beginning; else of the last open one."""
    open_blocks = [(1, 0)]
    for number, line in enumerate(context.code[:end].split("\n"), 1):
        indent = len(line) - len(line.lstrip())
        for brace in re.findall(r"[{}]", line):
            if brace == "{":
                open_blocks.append((number, indent))
            elif open_blocks[1:]:
                opened, before = open_blocks.pop()
                if line.lstrip().startswith("}") and indent < before:
                    return opened
    return open_blocks[-1][0]


def _outside(context: Context, at: int) -> Diagnostic | None:
    """What cannot stand outside of a function."""
    token = context.token
    if not token or context.expected != "declaration":
        return None
    if token == "}":
        return Diagnostic("this `}` has no partner: there is one too many, here or above", at)
    reason = f"`{token}` cannot stand outside of a function; {STANDS_OUTSIDE}"
    if any(earlier == "fn" and earlier.at < at for earlier in context.tokens):
        reason = f"`{token}` stands outside of every function: a `}}` above is one too many, or comes too early"
    return Diagnostic(reason, at, len(token))


def _bracket(context: Context, at: int) -> Diagnostic | None:
    """A parenthesis or bracket that is not closed where it should be, or closed without having been opened."""
    token, missing, stack = context.token, context.expected, []
    for bracket in re.finditer(r"[()\[\]]", context.code[:at]):
        if bracket[0] in "([":
            stack.append(bracket)
        elif stack:
            stack.pop()
    if missing in (")", "]"):
        ends = at != context.at or token in (";", "{", "}", ")", "]", "=")
    else:
        ends = missing in (",", ";") and token == "{"
    if not token or not ends or not stack:
        return None
    opening, (line, column) = stack[-1][0], context.place(stack[-1].start())
    same_line = line == context.place(at)[0]
    where = f"in column {column}" if same_line else f"{context.in_line(line)}, column {column}"
    closed = ")" if opening == "(" else "]"
    return Diagnostic(f"the `{opening}` {where} is never closed: a `{closed}` is missing", at)


def _separator(context: Context, at: int) -> Diagnostic | None:
    """A statement without its semicolon, a field without its comma, a block without its brace."""
    missing, token = context.expected, context.token
    if not token or missing not in (";", ",", "{"):
        return None
    if token in (")", "]") and at == context.at:
        return Diagnostic(f"this `{token}` has no opening partner in this statement", at)
    if re.fullmatch(STATEMENT, context.before(at)):
        return None
    if at != context.at:
        return Diagnostic(f"a `{missing}` is missing at the end of this line", at)
    if token == "}" or re.fullmatch(STATEMENT, token) or (missing == "," and token.isidentifier()):
        return Diagnostic(f"a `{missing}` is missing before `{token}`", at, len(token))
    return None


def _side_by_side(context: Context, at: int) -> Diagnostic | None:
    """Two values without an operator between them, or a statement that begins in another one."""
    token, before = context.token, context.before(context.at)
    if not before or not token or context.expected not in (";", ")", "]"):
        return None
    if before.at == token.at:
        return Diagnostic(f"`{token}` is no number that WGSL can read, and no name", token.at, len(token))
    if re.fullmatch(STATEMENT, before):
        last = context.before(before.at)
        reason = f"`{before}` begins a statement, and the one before it is not finished: it ends in `{last}`"
        return Diagnostic(reason, last.end)
    if at == context.at and re.search(r"[\w)\]]$", before) and re.match(r"[\w(]", token):
        reason = f"between `{before}` and `{token}` an operator, such as `*`, or a sign like `;` is missing"
        return Diagnostic(reason, at, len(token))
    return None


def _value(context: Context, at: int) -> Diagnostic | None:
    """Nothing where a value must stand, or a word that begins no statement."""
    before, token = context.before(context.at), context.token
    if not token or not before:
        return None
    later = at != context.at
    width = 1 if later else len(token)
    if context.expected == "expression":
        if later or token in (";", ")", "]", "}", ","):
            return Diagnostic(f"a value is missing after `{before}`", at)
        return Diagnostic(f"after `{before}` a value must come, and `{token}` is none", at, width)
    if context.expected == "statement":
        return Diagnostic(f"no statement begins with `{token}`", at, width)
    if context.expected == "assignment":
        start = re.search(r"[^;{}]*$", context.code[: context.at])[0].strip()
        if later:
            return Diagnostic(f"this statement is not finished: after `{start}` comes `=`, `+=`, `++` or `(`", at)
        goes_on = f"a statement that begins with `{start}` goes on with `=`, `+=`, `++` or `(`"
        return Diagnostic(f"{goes_on}, and not with `{token}`", at, width)
    return None


def _expected(context: Context, at: int) -> Diagnostic:
    """What belongs there, in a word."""
    if at != context.at:
        return Diagnostic(f"{phrase(context.expected)} is expected after `{context.before(context.at)}`", at)
    instead = f", not `{context.token}`" if context.token else ""
    return Diagnostic(f"{phrase(context.expected)} is expected here{instead}", at, _length(context, at))


LOOKS = (foreign, habit, _jump, _end, _nested, _outside, _bracket, _separator, _side_by_side, _value, _expected)
