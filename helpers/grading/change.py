"""The change that makes a wrong kernel right, as a fact: where it is, and of what kind; not what it is."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from helpers.grading import edits
from helpers.grading.edits import Edit
from helpers.grading.leaves import family
from helpers.grading.sites import Site, declares
from wgsl import Kernel
from wgsl.diagnostics import Lines, Span
from wgsl.syntax import tree
from wgsl.types import program as ir

BOUND, STEP, ELEMENT, HOLDS, STORED, ADDED, CALLED = "bound", "step", "element", "holds", "stored", "added", "called"

SEVERAL, THING = "several", "value"


@dataclass(frozen=True)
class Change:
    """A change that makes all numbers right: its kind, its line, and the text that it is in.

    `noun` is what should be there instead of what it `was`, or how it differs. `use` says what the text is for, and `name` of what.
    `other_line` is the second line of two.
    """

    kind: str
    line: int
    text: str
    noun: str = ""
    was: str = ""
    use: str = ""
    name: str = ""
    other_line: int | None = None


@dataclass(frozen=True)
class Repair:
    """The changes of which each alone makes all numbers right, one for each line that has any."""

    changes: tuple[Change, ...]


class Mended(NamedTuple):
    """A change, with its place in the text."""

    change: Change
    place: Span


def mended_by(edit: Edit, kernel: Kernel) -> Mended:
    """Return what is told of an edit."""
    place = edit.site.part.place
    other_line = None
    if edit.kind == edits.VALUE:
        place = edit.others[0]
    elif edit.kind == edits.MEMBERS:
        place = _struct(edit, kernel)
    elif edit.kind == edits.LINES:
        other_line = _line(kernel, edit.others[0])
    text = "" if isinstance(edit.site.part, ir.Statement) and edit.kind != edits.VALUE else _text(kernel, place)
    was = family(edit.site.part) if edit.kind == edits.REPLACED else ""
    noun = "" if edit.kind == edits.VALUE else edit.noun
    return Mended(Change(edit.kind, _line(kernel, place), text, noun, was, *_use(edit, kernel), other_line), place)


def one_of(mended: Sequence[Mended]) -> Change:
    """Return what the changes of one line have in common: the piece of the text that all of them are in."""
    changes = {change for change, _ in mended}
    if len(changes) == 1:
        return mended[0].change
    nested = sorted(mended, key=lambda one: one.place.at - one.place.end)
    outer, inner = nested[0], nested[-1]
    if {change.kind for change in changes} == {edits.VALUE} and _holds(outer, nested):
        return inner.change
    if {(change.kind, change.text, change.use) for change in changes} == {(edits.REPLACED, outer.change.text, outer.change.use)}:
        return replace(outer.change, noun=THING, was=THING)
    first = outer.change
    if first.text and _holds(outer, nested):
        return Change(SEVERAL, first.line, first.text, use=first.use, name=first.name)
    return Change(SEVERAL, first.line, "")


def _holds(outer: Mended, others: Sequence[Mended]) -> bool:
    """Return whether all changes are in the place of one."""
    return all(outer.place.at <= other.place.at and other.place.end <= outer.place.end for other in others)


def _line(kernel: Kernel, place: Span) -> int:
    return Lines(kernel.source).place(place.at)[0]


def _text(kernel: Kernel, place: Span) -> str:
    return " ".join(kernel.code[place.at : place.end].split())


def _struct(edit: Edit, kernel: Kernel) -> Span:
    """Return the place of the struct whose members are in another order."""
    name = edit.site.part.base.variable.type.name
    structs = (node for node in kernel.module.declarations if isinstance(node, tree.Struct) and node.name == name)
    return next(structs, edit.site.part.place)


def _use(edit: Edit, kernel: Kernel) -> tuple[str, str]:
    """Return what the changed part is for, and the name of what it is for."""
    site = edit.site
    inner = edit.others[0] if edit.kind == edits.VALUE else site.part.place
    for part in reversed((*site.around, site.part)):
        if isinstance(part, ir.Element) and part.index.at <= inner.at and inner.end <= part.index.end:
            return ELEMENT, next(_roots(part), "")
    match site.statement:
        case ir.Loop(condition=ir.Binary() as condition):
            return BOUND, _text(kernel, condition.left.place)
        case ir.If() | ir.Loop():
            return HOLDS, ""
        case ir.Bind() | ir.Declare():
            return CALLED, str(declares(site.statement).name)
        case ir.Update() as update:
            return (STEP if _in_header(site) else ADDED), _text(kernel, update.reference.place)
        case ir.Store() as store:
            return STORED, _text(kernel, store.reference.place)
    return "", ""


def _roots(part: ir.Part) -> Iterator[str]:
    """Yield the name of the array of an element."""
    while not isinstance(part, ir.Root):
        part = getattr(part, "base", None)
        if part is None:
            return
    yield str(part.variable.name)


def _in_header(site: Site) -> bool:
    """Return whether a statement is the last one of three in the header of a `for`."""
    loops = [part for part in site.around if isinstance(part, ir.Loop)]
    return bool(loops) and site.statement in loops[-1].continuing
