"""Notes of what some compilers take and others refuse: unlike a refusal, a note does not end the reading of a text."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from wgsl.diagnostics import Limited, Span

_notes: ContextVar[list[Limited] | None] = ContextVar("notes", default=None)


@contextmanager
def noting() -> Iterator[list[Limited]]:
    """While it is open, what is noted is kept in this list."""
    notes: list[Limited] = []
    token = _notes.set(notes)
    try:
        yield notes
    finally:
        _notes.reset(token)


def surpass(kind: str, place: Span, **facts: object) -> None:
    """Note what the simulator does not run; where nobody keeps notes, refuse it."""
    if _notes.get() is None:
        raise Limited(kind, place, **facts)
    note(kind, place, **facts)


def note(kind: str, place: Span, **facts: object) -> None:
    """Note what not every compiler takes; nothing comes of it where nobody keeps notes."""
    notes = _notes.get()
    if notes is not None:
        notes.append(Limited(kind, place, **facts))
