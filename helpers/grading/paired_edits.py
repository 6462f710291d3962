"""The changes of a program in several places at once: the same slip in both axes, or one word that is meant twice."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, combinations

from helpers.grading import edits, line_edits
from helpers.grading.counterpart import Counterpart
from helpers.grading.edits import Edit
from helpers.grading.leaves import NUMBER, family, key_of, leaves
from helpers.grading.sites import Site
from wgsl.types import program as ir
from wgsl.types.kinds import F32, I32, U32

PAIRED, EACH, SWAP, VALUES = "paired", "each", "swap", "values"
MOST_PARTS = 40  # of a statement that is compared with others


def together(kind: str, made: Sequence[Edit], noun: str = "") -> Edit:
    """Return one edit of several."""
    new = {}
    above: frozenset[int] = frozenset()
    for edit in made:
        new |= edit.new
        above |= edit.above
    first, *others = made
    places = tuple(edit.site.part.place for edit in others)
    return Edit(kind, first.site, new, above, noun, places, first.added, tuple(made))


def of_pairs(places: Sequence[Site], counterpart: Counterpart, program: ir.Program) -> Iterator[Edit]:
    """Yield the same change in two statements, or two elements of an array, that are built alike."""
    yield from _in_both(combinations(_units(places), 2), counterpart, program)


def of_both_directions(
    lines: Sequence[tuple[ir.Statement, ir.Statement]],
    places: Sequence[Site],
    counterpart: Counterpart,
    program: ir.Program,
) -> Iterator[Edit]:
    """Yield the same change in two statements of which one is for rows and one for columns."""
    units = _by_statement(places)
    pairs = [(units[id(one)], units[id(other)]) for one, other in lines if {id(one), id(other)} <= units.keys()]
    yield from _in_both(pairs, counterpart, program)


def _in_both(
    pairs: Iterable[tuple[list[Site], list[Site]]], counterpart: Counterpart, program: ir.Program
) -> Iterator[Edit]:
    """Yield the same change in both of two units that are built alike."""
    for one, other in pairs:
        if _shape(one) != _shape(other) or len(one) > MOST_PARTS:
            continue
        for left, right in zip(one, other, strict=True):
            changes = zip(_changes(left, counterpart, program), _changes(right, counterpart, program), strict=False)
            for pair in changes:
                if len({edit.kind for edit in pair}) == 1:
                    yield together(PAIRED, pair)


def _units(places: Sequence[Site]) -> list[list[Site]]:
    """Return the parts of each statement, and of each element."""
    elements: dict[int, list[Site]] = {}
    for site in places:
        around = [part for part in (*site.around, site.part) if isinstance(part, ir.Element)]
        if around:
            elements.setdefault(id(around[0]), []).append(site)
    return [*_by_statement(places).values(), *elements.values()]


def _by_statement(places: Sequence[Site]) -> dict[int, list[Site]]:
    statements: dict[int, list[Site]] = {}
    for site in places:
        statements.setdefault(id(site.statement), []).append(site)
    return statements


def _shape(unit: Sequence[Site]) -> list[tuple]:
    return [(type(site.part), getattr(site.part, "operator", "")) for site in unit]


def _changes(site: Site, counterpart: Counterpart, program: ir.Program) -> Iterator[Edit]:
    made = (edit for edit in edits.of_a_part(site, program) if edit.kind not in (edits.REPLACED, edits.ARRAY))
    yield from made
    yield from line_edits.of_terms(site, counterpart)


def of_words(places: Sequence[Site], program: ir.Program) -> Iterator[Edit]:
    """Yield another word in each place where one stands, and two words exchanged wherever they stand."""
    by_key: dict[tuple, list[Site]] = {}
    for site in places:
        if key_of(site.part) and site.part.type in (U32, I32, F32):
            by_key.setdefault(key_of(site.part), []).append(site)
    for sites in chain.from_iterable(map(_by_function, by_key.values())):
        part = sites[0].part
        if len({id(site.statement) for site in sites}) > 1:
            visible = frozenset.intersection(*(site.visible for site in sites))
            for leaf in leaves(part.place, part.type, visible, program).values():
                if key_of(leaf) != key_of(part):
                    yield together(EACH, [edits.at(site, EACH, leaf) for site in sites], family(leaf))
    for one, other in combinations(by_key.values(), 2):
        first, second = one[0].part, other[0].part
        alike = first.type == second.type and family(first) == family(second) and family(first) != NUMBER
        if alike and len({id(site.statement) for site in (*one, *other)}) > 1:
            made = [edits.at(site, SWAP, second) for site in one] + [edits.at(site, SWAP, first) for site in other]
            yield together(SWAP, made)


def _by_function(sites: Sequence[Site]) -> list[list[Site]]:
    """Return the places of a word in each function, and those in all of them: it may be wrong in one."""
    by_function: dict[int, list[Site]] = {}
    for site in sites:
        by_function.setdefault(id(site.function), []).append(site)
    groups = [*by_function.values()]
    return groups if len(groups) == 1 else [*groups, [*sites]]


def of_two_values(places: Sequence[Site], counterpart: Counterpart) -> Iterator[Edit]:
    """Yield two values of the official program in the places of those that have the same purposes."""
    likely = []
    for site in places:
        if isinstance(site.part, ir.Statement):
            likely += [edit for edit in line_edits.of_values(site, counterpart) if edit.noun]
    for one, other in combinations(likely, 2):
        if _stores_a_name(one) or _stores_a_name(other):
            continue  # the fault may be where the name gets its value
        is_near = one.site.around[-1:] == other.site.around[-1:] or isinstance(one.site.part, ir.Loop)
        if is_near and one.site is not other.site and type(one.site.part) is type(other.site.part):
            yield together(VALUES, [one, other])


def _stores_a_name(edit: Edit) -> bool:
    """Return whether a value is replaced that has a name."""
    part = edit.site.part
    return (
        isinstance(part, ir.Store | ir.Update)
        and isinstance(part.value, ir.Named | ir.Load)
        and bool(key_of(part.value))
    )
