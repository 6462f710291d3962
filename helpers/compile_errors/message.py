"""What the compiler said about a text: its reasons in plain words, and the places that it marked."""

import re
from functools import cached_property
from typing import NamedTuple

from helpers.compile_errors.text import Text, Token

SCALAR = r"(?:Scalar\()?Scalar \{ kind: %s, width: \d \}\)?"
KINDS = {"Sint": "i32", "Uint": "u32", "Float": "f32", "Bool": "bool", "AbstractInt": "i32", "AbstractFloat": "f32"}
SIGNS = {
    **{"Add": "+", "Subtract": "-", "Multiply": "*", "Divide": "/", "Modulo": "%", "Equal": "==", "NotEqual": "!="},
    **{"Less": "<", "LessEqual": "<=", "Greater": ">", "GreaterEqual": ">=", "And": "&", "ExclusiveOr": "^"},
    **{"InclusiveOr": "|", "LogicalAnd": "&&", "LogicalOr": "||", "ShiftLeft": "<<", "ShiftRight": ">>"},
}
PLAIN_WORDS = {  # the compiler's words for types, as patterns in this order, and WGSL's own
    r"\{Abstract(Int|Float)\}": lambda found: {"Int": "i32", "Float": "f32"}[found[1]],
    **{SCALAR % kind: name for kind, name in KINDS.items()},
    r"Vector \{ size: (Bi|Tri|Quad), scalar: (\w)\w+ \}": lambda found: (
        f"vec{' BiTriQuad'.index(found[1]) // 3 + 2}{found[2]}"
    ),
    r"\bvec([234])<([fuih])\d+>": r"vec\1\2",
    r"Struct \{.*\}(?=\)|$)": "struct",
    r"Array \{.*?\}(?=\)|$)": "array",
    r"Pointer \{.*?\}(?=\)|$)": "pointer",
    r"Matrix \{.*?\}(?=\)|$)": "matrix",
    r"Atomic\((\w+)\)": r"atomic<\1>",
    r"global item \(.*?\)": "declaration",
    r"operation \(`=`\)": "`=`",
    r"expected identifier": "expected a name",
    r"template args end": "`>`",
    r"workgroup size separator \(`,`\) or a closing parenthesis": "`,` or `)`",
    r"for loop (?:initializer|update) statement \(.*?\)": "a declaration, an assignment or i++",
    r"increment/decrement": "i++",
}
LOGGED = ("Validation Error", "Caused by:", "In wgpu", "Shader '' parsing error", "Shader validation error")


class Span(NamedTuple):
    """A place that the compiler marked, the number of its letters, and what it wrote there."""

    line: int
    column: int
    length: int
    label: str = ""


class Finding(NamedTuple):
    """What is wrong and what to write, where the caret belongs, how many letters it marks, and another line to show."""

    reason: str
    at: int
    length: int = 1
    other: int | None = None


class Complaint:
    """A compiler's message about a text.

    wgpu gives the first place as ``┌─ wgsl:3:14`` (for some mistakes it has none), draws the source behind ``│`` with
    ``^`` below what it means, and adds notes behind ``=``.
    """

    def __init__(self, source: str, message: str) -> None:
        self.text = Text(source)
        found = re.findall(r"parsing error: (.*)", message) or re.findall(
            r"^ +=+ (?:note: )?(.*)", message, re.MULTILINE
        )
        if not found:
            lines = [line.strip() for line in message.splitlines()]
            found = [line for line in lines if line and not line.startswith(LOGGED)]
        plain = [
            in_plain_words(each) for each in found if not re.search(r"\[\d+\] is invalid|allowed type|^\(or", each)
        ]
        self.reasons = list(dict.fromkeys(plain))
        self.says = "; ".join(self.reasons)
        self.allowed = in_plain_words(" ".join(re.findall("allowed type: (.*)", message)))
        self.spans = marked(message, self.text.lines)
        first = re.search(r"┌─ .*:(\d+):(\d+)", message)
        self.first = (int(first[1]), int(first[2])) if first else None
        if inner := [span for span in self.spans if not span.label.startswith("naga::ir::Function")]:
            self.spans = inner
            self.first = inner[0][:2] if "Function [" in message else self.first

    @cached_property
    def at(self) -> int | None:
        """The offset that the compiler gave; None where it gave none."""
        return self.text.offset(*self.first) if self.first else None

    def span(self, label: str) -> Span | None:
        """The marked place whose label matches a pattern."""
        return next((span for span in self.spans if re.search(label, span.label)), None)

    def at_of(self, span: Span | None) -> int:
        """The offset of a marked place; 0 where there is none."""
        return self.text.offset(span.line, span.column) if span else 0

    def text_of(self, span: Span) -> str:
        """What stands at a marked place."""
        return self.text.lines[span.line - 1][span.column - 1 :][: span.length]

    @property
    def marked(self) -> str:
        """What stands at the first marked place, or nothing."""
        return self.text_of(self.spans[0]) if self.spans else ""

    @cached_property
    def found(self) -> Token | None:
        """The token at the place that the compiler gave."""
        tokens = self.text.tokens
        return next((token for token in tokens if self.at is not None and token.end > self.at), None)


def in_plain_words(reason: str) -> str:
    """A reason with the compiler's own names replaced by WGSL's."""
    for pattern, words in PLAIN_WORDS.items():
        reason = re.sub(pattern, words, reason)
    return reason


def marked(message: str, lines: list[str]) -> list[Span]:
    """The places that the compiler marked with ``^`` below a line of the source."""
    spans, number, shift = [], 0, 0
    for row in message.splitlines():
        drawn = re.match(r" *(\d*) *│ ", row)
        if drawn and drawn[1]:
            number = int(drawn[1])
            line = lines[number - 1].expandtabs(4).rstrip() if number <= len(lines) else ""
            shift = len(row.rstrip()) - len(line) if row.rstrip().endswith(line) else drawn.end()
        elif drawn and number and not re.search("[╭╰]", row):
            _read_marks(row[shift:], number, lines[number - 1 :][:1], spans)
    return spans


def _read_marks(row: str, number: int, line: list[str], spans: list[Span]) -> None:
    """Add the places that one row marks, or give those above it the label that hangs below them."""
    runs = list(re.finditer(r"\^+", row))
    tail = row[runs[-1].end() :].strip() if runs else ""
    for run in runs:
        column = _column("".join(line), run.start())
        spans.append(Span(number, column, len(run[0]), tail if run is runs[-1] else ""))
    if not runs and (label := re.search(r"[^\s│].*", row)):
        place = number, _column("".join(line), label.start())
        known = any(span[:2] == place for span in spans)
        spans[:] = [span._replace(label=label[0]) if span[:2] == place else span for span in spans]
        if not known:  # its marks are hidden among those of a whole function
            spans.append(Span(*place, 1, label[0]))


def _column(line: str, drawn: int) -> int:
    """The column of a letter that follows this many others: a tab is drawn as up to four blanks."""
    return next((i + 1 for i in range(len(line)) if len(line[:i].expandtabs(4)) >= drawn), len(line) + 1)
