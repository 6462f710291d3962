"""The change that makes a wrong kernel right, as a fact: where it is, and of what kind; not what it is."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from helpers.grading import edits
from helpers.grading.edits import Edit
from helpers.grading.leaves import family
from helpers.grading.paired_edits import EACH
from helpers.grading.sites import Site, declares
from wgsl import Kernel
from wgsl.diagnostics import Lines, Span
from wgsl.syntax import tree
from wgsl.types import program as ir

BOUND, STEP, ELEMENT, HOLDS = "bound", "step", "element", "holds"  # uses of a piece of the text
STORED, ADDED, CALLED = "stored", "added", "called"

NEAR = 24  # letters of an operand
SEVERAL, LINE, THING = "several", "line", "value"


@dataclass(frozen=True)
class Change:
    """A change that makes all numbers right: its kind, its line, and the text that it is in.

    `noun` is what should be there instead of what it `was`, or how it differs. `use` says what the text is for, and
    `name` of what. `others` are further lines of the change.
    """

    kind: str
    line: int
    text: str
    noun: str = ""
    was: str = ""
    use: str = ""
    name: str = ""
    others: tuple[int, ...] = ()


@dataclass(frozen=True)
class Repair:
    """The changes of which each alone makes all numbers right, one for each line that has any.

    Of lines of Python, each makes `all_tests` pass.
    """

    changes: tuple[Change, ...]
    all_tests: bool = False


class Mended(NamedTuple):
    """A change, with its place in the text."""

    change: Change
    place: Span


def mended_by(edit: Edit, kernel: Kernel) -> Mended:
    """Return what is told of an edit."""
    place = edit.site.part.place
    if edit.kind == edits.VALUE:
        place = edit.others[0]
    elif edit.kind == edits.MEMBERS:
        place = _struct(edit, kernel)
    if edit.kind in (edits.OPERATOR, edits.COMPARISON):
        return Mended(
            Change(
                edit.kind, _line(kernel, place), _operation(kernel, edit.site.part), edit.noun, "", *_use(edit, kernel)
            ),
            place,
        )
    is_quoted = edit.kind in (edits.VALUE, edits.JUMP) or not isinstance(edit.site.part, ir.Statement)
    text = _text(kernel, place) if is_quoted else ""
    kind = edits.VALUE if text.endswith(("++", "--")) else edit.kind
    is_word = kind in (edits.REPLACED, EACH)
    was = family(edit.site.part) if is_word else ""
    others = tuple(sorted({_line(kernel, other) for other in edit.others} - {_line(kernel, place)}))
    noun = "" if edit.kind in (edits.VALUE, edits.MEMBERS) else edit.noun
    return Mended(Change(kind, _line(kernel, place), text, noun, was, *_use(edit, kernel), others), place)


def one_of(mended: Sequence[Mended]) -> Change:
    """Return what the changes of one line have in common: the piece of the text that all of them are in."""
    alone = [one for one in mended if not one.change.others]
    mended = alone or [one for one in mended if one.change.others == mended[0].change.others]
    mended = [one for one in mended if one.change.text] or mended
    nested = sorted(mended, key=lambda one: one.place.at - one.place.end)
    outer, inner = nested[0].change, nested[-1].change
    if len({change for change, _ in mended}) == 1:
        return outer
    kinds = {change.kind for change, _ in mended}
    if kinds in ({edits.REPLACED}, {EACH}) and len({(change.text, change.use) for change, _ in mended}) == 1:
        return replace(outer, noun=THING, was=THING)
    if outer.others:
        return replace(outer, text="")
    if kinds == {edits.VALUE} and _holds(nested[0], nested):
        return inner
    if outer.text and _holds(nested[0], nested):
        return Change(SEVERAL, outer.line, outer.text, use=outer.use, name=outer.name)
    return Change(SEVERAL, outer.line, "")


def _holds(outer: Mended, others: Sequence[Mended]) -> bool:
    """Return whether all changes are in the place of one."""
    return all(outer.place.at <= other.place.at and other.place.end <= outer.place.end for other in others)


def _line(kernel: Kernel, place: Span) -> int:
    return Lines(kernel.source).place(place.at)[0]


def _text(kernel: Kernel, place: Span) -> str:
    return " ".join(kernel.code[place.at : place.end].split())


def operation(text: str, left: int, right: int) -> str:
    """Return an operator with the ends of its operands, where they are long; these are the lengths of all of them."""
    begin, end = left - NEAR, len(text) - right + NEAR
    before = "..." if begin > 0 else ""
    after = "..." if end < len(text) else ""
    return f"{before}{text[max(begin, 0) : end]}{after}"


def _operation(kernel: Kernel, part: ir.Binary | ir.Logical) -> str:
    """Return the operator of a part with the ends of its operands."""
    left = len(_text(kernel, Span(part.at, part.left.end)))
    right = len(_text(kernel, Span(part.right.at, part.end)))
    return operation(_text(kernel, part.place), left, right)


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
