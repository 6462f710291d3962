"""The trial of a cure: a text is checked with its edits before anyone reads them."""

from __future__ import annotations

from collections.abc import Iterable

from wgsl.diagnostics import NotWgsl, Unsupported
from wgsl.facts import Edit, Suggestion
from wgsl.suggestions.context import Context
from wgsl.syntax.parser import parse
from wgsl.types.declarations import Declarations

MOST = 3  # trials of one text, each of some milliseconds
LONGEST = 30_000  # letters of a text that is tried; a longer one gets explanations, and no cures
COMPLETE = ("declaration", "statement")  # expected where nothing before it is unfinished


def first_that_holds(context: Context, suggestions: Iterable[Suggestion | None]) -> Suggestion | None:
    """Return the first suggestion that changes nothing, or whose edits take the error away; else None."""
    for suggestion in suggestions:
        if suggestion is not None and _holds(context, suggestion):
            return suggestion
    return None


def _holds(context: Context, suggestion: Suggestion) -> bool:
    if not suggestion.edits:
        return True
    if suggestion.edits not in context.trials:
        if len(context.trials) == MOST or len(context.source) > LONGEST:
            return False
        context.trials[suggestion.edits] = cures(context.source, context.refused, suggestion.edits)
    return context.trials[suggestion.edits]


def edited(source: str, edits: Iterable[Edit]) -> str:
    """Return a text with its edits."""
    for at, end, text in sorted(edits, reverse=True):
        source = source[:at] + text + source[end:]
    return source


def cures(source: str, refused: NotWgsl, edits: tuple[Edit, ...]) -> bool:
    """Return True where edits take the error of a text away, and no other one is where they are or between them."""
    begin = min(refused.at, *(edit.at for edit in edits))
    longer = sum(len(edit.text) - (edit.end - edit.at) for edit in edits)
    end = max(refused.at + refused.length, *(edit.end for edit in edits)) + longer
    cured = edited(source, edits)
    try:
        module = parse(cured)
    except (NotWgsl, Unsupported) as fault:
        return _is_later(cured, end, fault)
    try:
        faults = [*Declarations(module, {}).faults()]
    except (NotWgsl, Unsupported) as fault:
        faults = [fault]
    before = source[begin : max(edit.end for edit in edits)]
    there = (fault for fault in faults if begin <= fault.at and fault.at + getattr(fault, "length", 1) <= end)
    return all(_is_another_name(fault, before) for fault in there)


def _is_later(cured: str, end: int, fault: NotWgsl | Unsupported) -> bool:
    """Return True where a text breaks off only after the edited statement."""
    last = len(cured[: fault.at].rstrip())
    expected = fault.facts.get("what") if isinstance(fault, NotWgsl) else None
    return last > end or (last == end and expected in COMPLETE)


def _is_another_name(fault: NotWgsl | Unsupported, before: str) -> bool:
    """Return True for a name that was unknown already before the edits."""
    return isinstance(fault, NotWgsl) and fault.kind == "unknown" and fault.facts["name"] in before
