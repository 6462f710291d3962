"""Texts that break off where the grammar needs more: the habit that explains it, or what is missing and where."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from itertools import pairwise

from wgsl.facts import Edit, Mark, Suggestion
from wgsl.suggestions.context import TOKEN, Context, balanced
from wgsl.suggestions.habits import HABITS, Habit
from wgsl.suggestions.tongues import TONGUES, Cure
from wgsl.suggestions.trial import first_that_holds

STATEMENT = r"(?:let|var|const|if|for|while|return|switch|loop|break|continue|fn|struct|override|else)\b"
LONGEST_LINE = 500  # letters of a line in which habits are looked for
JUMPS = ("return", "break", "continue")
SIGNS = {"−": "-", "–": "-", "×": "*", "·": "*", "÷": "/", "≤": "<=", "≥": ">=", "≠": "!=", "≔": "="}


def expected(context: Context, what: str) -> Suggestion | None:
    """A sign or word in the wrong place; `what` is what belongs there."""
    context.expected = what
    before = context.before(context.at)
    at = context.at
    later = before and context.line(before) < context.line(context.refused)
    if later and what not in ("statement", "declaration", "diagnostic"):
        at = before.end  # the caret goes after the last token
    return first_that_holds(context, _candidates(context, at))


def _candidates(context: Context, at: int) -> Iterator[Suggestion | None]:
    """The suggestions for what may be wrong, the likeliest first."""
    yield foreign(context, at)
    yield fences(context)
    yield from habits(context, at)
    for look in LOOKS:
        yield look(context, at)


def fences(context: Context) -> Suggestion | None:
    """The lines of Markdown around a text."""
    lines = [*re.finditer(r"^ *(\x60{3}|~{3}).*$", context.code, re.MULTILINE)]
    if not any(line.start() <= context.at < line.end() for line in lines):
        return None
    return Suggestion("fences", {"fence": lines[0][1]}, edits=tuple(Edit(*line.span(), "") for line in lines))


def foreign(context: Context, at: int) -> Suggestion | None:
    """A letter that looks like a sign of WGSL, or like nothing at all: from a web page, or from prose."""
    letter = context.source[context.at : context.at + 1]
    if letter.isascii() and letter != "\0":
        return None
    facts = {"name": unicodedata.name(letter, "NUL").lower(), "code": ord(letter)}
    if not letter.isprintable():
        return Suggestion("invisible letter", facts, Mark(context.at))
    facts |= {"letter": letter, "sign": SIGNS.get(letter)}
    return Suggestion("foreign sign", facts, Mark(context.at))


def habits(context: Context, at: int) -> Iterator[Suggestion]:
    """The habits whose patterns match; none in a line that no person has written."""
    number, column = context.place(at)
    if len(context.lines[number - 1]) > LONGEST_LINE:
        return
    for pattern, kind, *cure in (*TONGUES, *HABITS):
        text = context.source if "//" in pattern else context.code
        line = text.split("\n")[number - 1].rstrip().replace("\t", " ")
        front = f"{context.expected}│{line[: column - 1]}"
        match = re.search(pattern, f"{front}▸{line[column - 1 :]}")
        suggestion = _suggestion(match, context, kind, *cure) if match else None
        if suggestion:
            yield _placed(context, suggestion, match, at - len(front))


def _suggestion(match: re.Match, context: Context, kind: str | Habit, cure: Cure = None) -> Suggestion | None:
    """Return what a habit suggests; None where it has no cure, or where the cure has half a pair of brackets."""
    if not isinstance(kind, str):
        return kind(match, context)
    texts = {name: (text or "").replace("▸", "") for name, text in match.groupdict().items()}
    if not all(balanced(text) for name, text in texts.items() if name not in ("at", "old")):
        return None
    facts: dict[str, object] = {name: text for name, text in texts.items() if name not in ("at", "old")}
    if cure is not None:
        facts["cure"] = cure.format(**texts) if isinstance(cure, str) else cure(match, context)
        if facts["cure"] is None:
            return None
        facts["old"] = texts["old"].strip()
    return Suggestion(kind, facts)


def _placed(context: Context, suggestion: Suggestion, match: re.Match, begin: int) -> Suggestion:
    """A habit's suggestion with its caret, and with the edit that puts the cure in the place of the group `old`.

    `begin` is the offset at which the text in front of the match would begin.
    """
    front = match.string.index("▸")
    edits = ()
    groups = match.groupdict()
    if "cure" in suggestion.facts and groups.get("old"):
        edits = (Edit(*_span(match, "old", front, begin), str(suggestion.facts["cure"])),)
    if groups.get("at"):
        at, end = _span(match, "at", front, begin)
        return replace(suggestion, mark=Mark(at, end - at), edits=edits)
    return replace(suggestion, mark=Mark(begin + front, _length(context, begin + front)), edits=edits)


def _span(match: re.Match, group: str, front: int, begin: int) -> tuple[int, int]:
    """The offsets of a group; ``▸`` stands in the text before a match at `front`."""
    first, last = (i - 1 if i > front else i for i in match.span(group))
    return begin + first, begin + last


def _length(context: Context, at: int) -> int:
    match = TOKEN.match(context.code, at)
    return len(match[0]) if match else 1


# --- What is missing: each looks for one thing, and returns None where it is something else -----------------------


def _jump(context: Context, at: int) -> Suggestion | None:
    """A jump without its semicolon; `return` takes the next line's beginning for its value."""
    above = context.before(context.offset(context.line(context.refused), 1))
    word = context.before(context.at)
    if above in JUMPS and context.expected == ";":
        return Suggestion("missing at the end", {"sign": ";"}, Mark(above.end))
    if word in JUMPS and context.token == "}":
        return Suggestion("missing after", {"sign": ";", "word": word}, Mark(word.end))
    return None


def _end(context: Context, at: int) -> Suggestion | None:
    """A text that ends inside of a block."""
    if context.token or not context.tokens:
        return None
    end = context.tokens[-1].end
    if context.depth(end) <= 0:
        return Suggestion("end in a statement", mark=Mark(end))
    line = context.reader_line(_suspect(context, end))
    return Suggestion("end in a block", {"line": line}, Mark(end))


def _nested(context: Context, at: int) -> Suggestion | None:
    """A function inside of a function: a block above is never closed."""
    begun = context.before(context.at)
    inside = begun in ("fn", "struct", "@") and context.depth(begun.at) > 0
    if not inside or context.expected not in ("diagnostic", "assignment"):
        return None
    mark = Mark(begun.at, context.token.end - begun.at)
    if begun == "fn" and context.depth(len(context.code)) == 0:
        outer = [token for before, token in pairwise(context.tokens) if before == "fn" and token.at < begun.at]
        return Suggestion("function in a function", {"name": context.token, "outer": outer[-1]}, mark)
    line = context.reader_line(_suspect(context, begun.at))
    return Suggestion("open block", {"line": line}, mark)


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


def _outside(context: Context, at: int) -> Suggestion | None:
    """A token that cannot stand outside of a function."""
    token = context.token
    if not token or context.expected != "declaration":
        return None
    if token == "}":
        return Suggestion("brace without a partner", mark=Mark(at))
    kind = "no declaration"
    if any(earlier == "fn" and earlier.at < at for earlier in context.tokens):
        kind = "outside of every function"
    return Suggestion(kind, {"token": token}, Mark(at, len(token)))


def _bracket(context: Context, at: int) -> Suggestion | None:
    """A parenthesis or bracket that is not closed where it should be, or closed without having been opened."""
    token = context.token
    if context.expected in (")", "]"):
        ends = at != context.at or token in (";", "{", "}", ")", "]", "=")
    else:
        ends = context.expected in (",", ";") and token == "{"
    opened = _open_brackets(context.code[:at])
    if not token or not ends or not opened:
        return None
    bracket = opened[-1]
    line, column = context.place(bracket.start())
    facts = {"opening": bracket[0], "closing": ")" if bracket[0] == "(" else "]", "column": column}
    if line == context.place(at)[0]:
        return Suggestion("open bracket", facts, Mark(at))
    return Suggestion("open bracket above", {**facts, "line": context.reader_line(line)}, Mark(at))


def _open_brackets(code: str) -> list[re.Match]:
    """The parentheses and brackets that are open at the end of a text."""
    opened = []
    for bracket in re.finditer(r"[()\[\]]", code):
        if bracket[0] in "([":
            opened.append(bracket)
        elif opened:
            opened.pop()
    return opened


def _separator(context: Context, at: int) -> Suggestion | None:
    """A statement without its semicolon, a field without its comma, a block without its brace."""
    missing = context.expected
    token = context.token
    if not token or missing not in (";", ",", "{"):
        return None
    if token in (")", "]") and at == context.at:
        return Suggestion("bracket without a partner", {"token": token}, Mark(at))
    if re.fullmatch(STATEMENT, context.before(at)):
        return None
    if at != context.at:
        return Suggestion("missing at the end", {"sign": missing}, Mark(at))
    if token == "}" or re.fullmatch(STATEMENT, token) or (missing == "," and token.isidentifier()):
        return Suggestion("missing before", {"sign": missing, "token": token}, Mark(at, len(token)))
    return None


def _side_by_side(context: Context, at: int) -> Suggestion | None:
    """Two values without an operator between them, or a statement that begins in another one."""
    token = context.token
    before = context.before(context.at)
    if not before or not token or context.expected not in (";", ")", "]"):
        return None
    if before.at == token.at:
        return Suggestion("no number", {"token": token}, Mark(token.at, len(token)))
    if re.fullmatch(STATEMENT, before):
        last = context.before(before.at)
        return Suggestion("statement in a statement", {"word": before, "last": last}, Mark(last.end))
    if at == context.at and re.search(r"[\w)\]]$", before) and re.match(r"[\w(]", token):
        return Suggestion("no operator", {"before": before, "token": token}, Mark(at, len(token)))
    return None


def _value(context: Context, at: int) -> Suggestion | None:
    """Nothing where a value must stand, or a word that begins no statement."""
    token = context.token
    if not token or not context.before(context.at):
        return None
    if context.expected == "expression":
        return _no_value(context, at)
    if context.expected == "statement":
        return Suggestion("no statement", {"token": token}, _at_token(context, at))
    if context.expected == "assignment":
        start = re.search(r"[^;{}]*$", context.code[: context.at])[0].strip()
        if at != context.at:
            return Suggestion("unfinished statement", {"start": start}, Mark(at))
        return Suggestion("token in a statement", {"start": start, "token": token}, _at_token(context, at))
    return None


def _no_value(context: Context, at: int) -> Suggestion:
    """Nothing where a value must stand, or a token that is none."""
    token = context.token
    before = context.before(context.at)
    if at != context.at or token in (";", ")", "]", "}", ","):
        return Suggestion("no value after", {"before": before}, Mark(at))
    return Suggestion("token for a value", {"before": before, "token": token}, _at_token(context, at))


def _at_token(context: Context, at: int) -> Mark:
    """The whole token where the text is refused; one letter where the place is before it."""
    return Mark(at, len(context.token) if at == context.at else 1)


def _expected(context: Context, at: int) -> Suggestion:
    """The name of what belongs there."""
    if at != context.at:
        return Suggestion("expected after", {"what": context.expected, "before": context.before(context.at)}, Mark(at))
    return Suggestion("expected", {"what": context.expected, "token": context.token}, Mark(at, _length(context, at)))


LOOKS = (_jump, _end, _nested, _outside, _bracket, _separator, _side_by_side, _value, _expected)
