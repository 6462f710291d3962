"""Errors in a text: the reason, the place, and the message for its reader."""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cached_property
from itertools import accumulate
from typing import NamedTuple, Protocol

from wgsl.output import visible
from wgsl.words import errors as words
from wgsl.words import refusals

WIDTH = 200  # letters of a line that are shown, or more where the caret is further right
SPECIFICATION, CHROME, NAGA = "spec", "chrome", "naga"  # who may refuse a text
ALL = frozenset((SPECIFICATION, CHROME, NAGA))
BY_NAGA = frozenset((NAGA,))  # language features that Chrome has
BY_BROWSERS = frozenset((CHROME,))  # limits of its compiler
BY_RULES = frozenset((SPECIFICATION, CHROME))  # rules of the specification that naga does not have
REFUSED_BY = {  # kinds of `Limited`; who refuses the other ones, which pass limits of WebGPU, is said there
    "swizzle assignment": BY_NAGA,
    "immediate": BY_NAGA,
    "builtin of browsers": BY_NAGA,
    "buffer_view": BY_NAGA,
    "runtime-sized": BY_NAGA,
    "language feature of browsers": BY_NAGA,
    "uniform elements": BY_NAGA,
    "uniform member": BY_NAGA,
    "uniform member behind": BY_NAGA,
    "array of an override": BY_RULES,
    "no subgroups": BY_RULES,
    "size of a runtime-sized array": BY_RULES,
    "choices": BY_BROWSERS,
    "parameters": BY_BROWSERS,
    "members": BY_BROWSERS,
    "nested types": BY_BROWSERS,
    "brackets": BY_BROWSERS,
    "statements": BY_BROWSERS,
    "expression": BY_BROWSERS,
    "NUL": BY_BROWSERS,
    "parameter that is stored to": BY_NAGA,
    "largest f32": BY_BROWSERS,
}


class Span(NamedTuple):
    """A piece of a text, ``text[at:end]``; every node of a tree and every token is one."""

    at: int
    end: int


class Refused(Exception):
    """A text that is refused, with the reason and the piece of it that is to blame."""

    def __init__(self, reason: str, place: Span) -> None:
        super().__init__(reason)
        self.at = place.at
        self.length = max(1, place.end - place.at)

    @property
    def reason(self) -> str:
        """The reason in words."""
        return self.args[0]


class NotWgsl(Refused):
    """A text that WGSL does not allow, as a record: of which kind that is, in which piece of it, and the facts.

    `scope` and `statement` are where it was found, if that is in a function. `refused_by` are those of `ALL` that
    refuse it, which a kind of fault that others take changes.
    """

    refused_by: frozenset[str] = ALL

    def __init__(self, kind: str, place: Span, **facts: object) -> None:
        super().__init__(kind, place)
        self.kind = kind
        self.facts = facts
        self.scope = self.statement = None

    @property
    def reason(self) -> str:
        """The reason in words."""
        return refusals.reason(self.kind, self.facts)

    def __str__(self) -> str:
        return self.reason


class Limited(NotWgsl):
    """A text that some take, and others refuse: by default for a limit of WebGPU, which WGSL does not have."""

    @property
    def refused_by(self) -> frozenset[str]:
        """Those that refuse it."""
        return REFUSED_BY.get(self.kind, frozenset((CHROME, NAGA)))


class Undefined(NotWgsl):
    """A value that is known before the run, and that WGSL does not define: the division by zero of two constants."""


class Unset(NotWgsl):
    """A text whose overrides have no value, or one that is too small: with other values it may be right."""

    refused_by = frozenset()


class Unsupported(Exception):
    """A feature of WGSL that the simulator does not run: of which kind it is, its offset in the text, and the facts."""

    refused_by: frozenset[str] = frozenset()

    def __init__(self, kind: str, at: int, **facts: object) -> None:
        super().__init__(kind)
        self.kind = kind
        self.at = at
        self.facts = facts

    @property
    def feature(self) -> str:
        """The name of the feature, in words."""
        return refusals.feature(self.kind, self.facts)

    def __str__(self) -> str:
        return self.feature


class WgslError(ValueError):
    """A kernel that does not compile: the place, what is wrong there, and what to write.

    Parameters
    ----------
    reason : str
        The cause and the cure, in a sentence without the place.
    name, says : str
        The kernel's name in messages, and what is said of it, such as "does not compile".
    line, column : int, optional
        They count from 1; None where the mistake has no place.
    length : int
        How many letters the caret marks; 0 where there is none.
    excerpt : str
        The line with its caret below it, and another line that it is about; "" where the mistake has no place.

    Its `kind` is that of the refusal, a key of `wgsl.words.refusals`; None where it is not the text that is refused, or
    where only the adapter's compiler has refused it.
    """

    kind: str | None = None

    def __init__(
        self,
        reason: str,
        name: str = "",
        says: str = "",
        *,
        line: int | None = None,
        column: int | None = None,
        length: int = 0,
        excerpt: str = "",
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.name = name
        self.says = says
        self.line = line
        self.column = column
        self.length = length
        self.excerpt = excerpt

    def __str__(self) -> str:
        return words.message(self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({str(self)!r})"

    @property
    def place(self) -> str | None:
        """The place in words, such as "line 3, column 4"; None where the mistake has none."""
        return None if self.line is None else words.place(self.line, self.column)

    @property
    def explanation(self) -> str:
        """The place, if there is one, and the reason: the message without whose text it is and without the excerpt."""
        return words.explanation(self)

    def _render_traceback_(self) -> list[str]:
        """Return the lines that IPython shows: the message alone, without the launcher's frames above it."""
        return [f"{type(self).__name__}: {self}"]


class UnsupportedWgsl(WgslError):
    """A kernel with a feature of WGSL that the simulator does not run; the message has its name and its line.

    `feature` is its name; None where the simulator does not run the kernel for another reason.
    """

    feature: str | None = None


class Text(Protocol):
    """A text that an error is about: with its name, and the lines of it that its reader sees (None: all)."""

    source: str
    name: str
    pasted: range | None


class Lines:
    """The lines of a text, and the line and column of an offset."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.lines = source.split("\n")

    @cached_property
    def _starts(self) -> list[int]:
        return [0, *accumulate(len(line) + 1 for line in self.lines)]

    def place(self, at: int) -> tuple[int, int]:
        """Line and column of an offset, from 1."""
        line = min(bisect_right(self._starts, at), len(self.lines))
        return line, at - self._starts[line - 1] + 1

    def quoted(self, part: Span) -> str:
        """A piece of the text in one line."""
        return visible(" ".join(self.source[part.at : part.end].split()))

    def offset(self, line: int, column: int) -> int:
        """The offset of a line and column."""
        return self._starts[line - 1] + column - 1


class Diagnostic(NamedTuple):
    """The reason with its cure, its place (offset and length, for the caret), and another line to show."""

    reason: str
    at: int | None
    length: int = 1
    other: int | None = None


def error(
    kernel: Text, diagnostic: Diagnostic, kind: type[WgslError] = WgslError, says: str = "does not compile"
) -> WgslError:
    """Return the error of a kernel: where, why, and the lines that it is about.

    Lines and columns are those of the whole source, or of its lines `kernel.pasted` where the learner wrote only those.
    """
    text = Lines(kernel.source)
    lines = kernel.pasted or range(1, len(text.lines) + 1)
    if kernel.pasted:
        diagnostic = _cropped(text, diagnostic, lines)
    if diagnostic.at is None:
        return kind(diagnostic.reason, kernel.name, says)
    line, column = text.place(diagnostic.at)
    length = max(1, min(diagnostic.length, len(_row(text, line, diagnostic)) - column + 1))
    excerpt = "\n".join(_excerpt(text, diagnostic, length, lines))
    return kind(
        visible(diagnostic.reason, keep="\n\t"),
        kernel.name,
        says,
        line=line - lines.start + 1,
        column=column,
        length=length,
        excerpt=visible(excerpt, keep="\n\t"),
    )


def _cropped(text: Lines, diagnostic: Diagnostic, lines: range) -> Diagnostic:
    """Return the same diagnostic with a place in these lines, as its reader sees no other ones."""
    if diagnostic.at is None:
        return diagnostic
    first = text.offset(lines.start, 1)
    last = text.offset(lines.stop - 1, len(text.lines[lines.stop - 2]) + 1)
    return diagnostic._replace(at=min(max(diagnostic.at, first), last))


def _row(text: Lines, number: int, diagnostic: Diagnostic) -> str:
    """Return a line, or as much of it as is shown."""
    _, column = text.place(diagnostic.at)
    return text.lines[number - 1].rstrip("\r")[: max(WIDTH, column + diagnostic.length)]


def _excerpt(text: Lines, diagnostic: Diagnostic, length: int, lines: range) -> list[str]:
    """Return the line with its caret below, and before or after it another line that it is about."""
    line, column = text.place(diagnostic.at)
    shown = sorted({line, diagnostic.other or line} & set(lines))
    width = len(str(shown[-1] - lines.start + 1))
    rows = []
    for number in shown:
        row = _row(text, number, diagnostic)
        rows.append(f"{number - lines.start + 1:>{width}} │ {row}")
        if number == line:
            blank = re.sub(r"[^\t]", " ", visible(row[: column - 1], keep="\t"))
            rows.append(f"{'':>{width}} │ {blank}{'^' * length}")
    return rows
