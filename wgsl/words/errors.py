"""The message of a text that is refused: whose it is, where, why, and the lines that it is about."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from wgsl.output import visible

NOT_SIMULATED = "is not simulated"  # said of a kernel


class Error(Protocol):
    """The facts of an error, as `WgslError` has them; `line` and `column` are None where the mistake has no place."""

    name: str
    says: str
    reason: str
    line: int | None
    column: int | None
    excerpt: str


def message(error: Error) -> str:
    """Return the whole message."""
    subject = " ".join(part for part in (error.name, error.says) if part)
    if error.line is None:
        return f"{subject}: {error.reason}" if subject else error.reason
    head = f"{subject}, {place(error.line, error.column)}: {error.reason}"
    return visible(f"{head}\n{error.excerpt}", keep="\n\t")


def explanation(error: Error) -> str:
    """Return place and reason, without whose text it is, and without the lines."""
    if error.line is None:
        return error.reason
    return f"{place(error.line, error.column)}: {error.reason}"


def in_line(number: int | None) -> str:
    """Return where something else is; None stands for a line that the reader does not see."""
    return "outside of your text" if number is None else f"in line {number}"


def place(line: int, column: int) -> str:
    """Return a place in words."""
    return f"line {line}, column {column}"


def not_simulated(feature: str) -> str:
    """Return which feature of WGSL the simulator does not run."""
    return f"the simulator has no {feature}"


def quoted(texts: Sequence[str]) -> str:
    """Return texts in backquotes, with "and" before the last one."""
    *before, last = [f"`{text}`" for text in texts]
    return f"{', '.join(before)} and {last}" if before else last
