"""The changes that are tried on a wrong program: small ones come first, and places where it differs from ours."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import chain
from operator import itemgetter
from typing import NamedTuple

from helpers.grading import edits, line_edits, paired_edits
from helpers.grading.counterpart import Counterpart, Differences, whole
from helpers.grading.edits import Edit
from helpers.grading.leaves import LOWEST, family
from helpers.grading.mirror import Mirror
from helpers.grading.sites import Site, names_in, sites
from wgsl.types import program as ir
from wgsl.types.program import Declare, Program, Root, Statement

LIKELY, LESS_LIKELY = 0.5, 0.7  # ranks; from 1 on, nothing differs there
FEW = 200  # small changes, in a text that is built as ours
Ranked = tuple[float, Edit]
MANY = {edits.OFFSET: 1, edits.EXCHANGED: 1, edits.MISSING: 2, edits.REPLACED: 3, edits.MOVED: 4}


class Beside(NamedTuple):
    """A program with its places, beside the official one."""

    program: Program
    places: list[Site]
    counterpart: Counterpart
    differences: Differences

    def left_out_by(self, edit: Edit) -> set[ir.Meaning]:
        """Return the names that a value of ours leaves out, which ours does not have and which are not as it says."""
        if edit.kind != edits.VALUE or edit.added is not None:
            return set()
        old, new = ({*names_in(part)} for part in (edit.site.part, edit.new[id(edit.site.part)]))
        return {name for name in old - new if self._may_be_wrong(name)}

    def _may_be_wrong(self, name: ir.Meaning) -> bool:
        """Return whether a name of the text alone has a value that differs from ours, or several."""
        if self.differences.knows(name):
            return False
        lets = [site.part for site in self.places if isinstance(site.part, ir.Bind) and site.part.binding is name]
        return not lets or self.differences.are_in(lets[0])


class Candidates:
    """The candidates of all passes."""

    def __init__(self, programs: Mapping[str, Program], official: Mapping[str, Program]) -> None:
        self._pairs = [_beside(program, official[name]) for name, program in programs.items()]

    @cached_property
    def _by_rank(self) -> list[Ranked]:
        return _likely_first(chain.from_iterable(map(_small, self._pairs)))

    @cached_property
    def _large(self) -> list[Ranked]:
        return _likely_first(chain.from_iterable(map(_large, self._pairs)))

    def tiers(self) -> Iterator[Iterable[Edit]]:
        """Yield the candidates in the order in which they are tried.

        They are a small change to what ours has; another value, as ours or as in the other direction, and one small
        change where the text differs; two at once; then all others.
        """
        in_both, others_in_both = self._in_both_directions
        small = self._small(-2, LIKELY)
        near = len(self._small(-2, -1)) if len(small) > FEW else len(small)
        yield chain(small[:near], self._as_ours(), _in_turns(small[near:]))
        yield chain.from_iterable(map(_values, self._pairs))
        yield in_both
        yield others_in_both
        yield chain.from_iterable(map(_words, self._pairs))
        yield self._small(LIKELY + 0.1, 0.99)
        yield chain.from_iterable(map(_paired, self._pairs))
        yield self._small(1, 9)
        yield [edit for rank, edit in self._large if rank > LIKELY]

    def _as_ours(self) -> Iterator[Edit]:
        """Yield the values that ours has, or that a line should have as the one for the other direction has."""
        yield from (edit for rank, edit in self._large if rank <= LIKELY)
        yield from chain.from_iterable(mirror.edits() for mirror in self._mirrors)

    def may_be_told(self, edit: Edit) -> bool:
        """Return whether a change is where the text differs from ours, and leaves out no name that may itself be wrong.

        Another change may make the numbers right, too, but only by chance.
        """
        made = edit.made or (edit,)
        differences = [pair.differences for pair in self._pairs]
        if edit.kind != edits.MEMBERS and not any(
            other.are_in(one.site.statement) for one in made for other in differences
        ):
            return False
        return not any(pair.left_out_by(one) for one in made for pair in self._pairs)

    def small_in(self, statement: Statement) -> list[Edit]:
        """Return the small changes of a statement."""
        return [edit for rank, edit in self._by_rank if rank <= LIKELY and edit.site.statement is statement]

    def _small(self, least: float, most: float) -> list[Edit]:
        return [edit for rank, edit in self._by_rank if least <= rank <= most]

    @cached_property
    def _mirrors(self) -> list[Mirror]:
        return [Mirror(pair.places, pair.program) for pair in self._pairs]

    @cached_property
    def _in_both_directions(self) -> tuple[list[Edit], list[Edit]]:
        """The changes that are the same in a line for rows and one for columns: a missing term first, then others."""
        likely, others = [], []
        for pair, mirror in zip(self._pairs, self._mirrors, strict=True):
            made = paired_edits.of_both_directions(mirror.lines(), whole(pair.places), pair.counterpart, pair.program)
            for edit in made:
                if max(pair.differences.rank(one.site.part, one.added) for one in edit.made) <= 0:
                    (likely if _is_of_the_value(edit.made[0]) else others).append(edit)
        return likely, others


def _is_of_the_value(edit: Edit) -> bool:
    """Return whether a term is missing from the whole value of a statement."""
    return edit.kind == edits.MISSING and edit.site.part is getattr(edit.site.statement, "value", None)


def _beside(program: Program, official: Program) -> Beside:
    places = sites(program.entry)
    counterpart = Counterpart(official, program)
    return Beside(program, places, counterpart, Differences(places, counterpart))


def _likely_first(made: Iterator[Ranked]) -> list[Ranked]:
    """Return the likely ones first; of those alike, kinds of which there are few."""
    return sorted(made, key=lambda pair: (pair[0], MANY.get(pair[1].kind, 0)))


def _in_turns(made: Sequence[Edit]) -> list[Edit]:
    """Return changes of which one of each kind comes first, and then the second ones: kinds with few are soon tried."""
    turns: Counter[str] = Counter()
    numbered = []
    for edit in made:
        numbered.append((turns[edit.kind], edit))
        turns[edit.kind] += 1
    return [edit for _, edit in sorted(numbered, key=itemgetter(0))]


def _small(beside: Beside) -> Iterator[Ranked]:
    """Yield the changes of a word, an operator or the place of a line, with their ranks."""
    values = whole(beside.places)
    roots = [site for site in beside.places if isinstance(site.part, Root) and site not in values]
    for site in (*values, *roots):
        for edit in edits.of_a_part(site, beside.program):
            yield _rank(edit, beside.differences), edit
        for edit in line_edits.of_terms(site, beside.counterpart):
            parts = edit.added, edit.new[id(site.part)]
            rank = min(beside.differences.rank(site.part, part) for part in parts)
            if rank <= 0:
                yield (-0.5 if rank else LESS_LIKELY), edit
    for edit in line_edits.of_members(beside.places, beside.counterpart):
        if edit.noun:
            yield -1, edit
    for edit in edits.of_two_parts(values):
        yield beside.differences.rank(edit.site.part), edit
    for edit in line_edits.of_lines(beside.places):
        yield LIKELY, edit


def _rank(edit: Edit, differences: Differences) -> int:
    """Return how likely a change is; one of a size to an index, or the like, is less likely."""
    rank = differences.rank(edit.site.part, edit.added)
    if edit.kind == edits.ASSIGNMENT or _begins_low(edit):
        return -2  # there are few
    crosses = edit.kind == edits.REPLACED and family(edit.site.part) != edit.noun
    return rank + 1 if crosses and rank >= 0 else rank


def _begins_low(edit: Edit) -> bool:
    """Return whether a variable begins with the lowest number, as where a maximum is looked for."""
    return isinstance(edit.site.statement, Declare) and getattr(edit.added, "leaves", ()) == (LOWEST,)


def _words(beside: Beside) -> Iterator[Edit]:
    """Yield the changes of a word in several places, where one of them differs."""
    made = paired_edits.of_words(whole(beside.places), beside.program)
    return (edit for edit in made if beside.differences.rank(edit.site.part, edit.added) <= 0)


def _values(beside: Beside) -> Iterator[Edit]:
    """Yield the changes of two values."""
    return paired_edits.of_two_values(whole(beside.places), beside.counterpart)


def _paired(beside: Beside) -> Iterator[Edit]:
    """Yield the changes that are the same in two places, where one of them differs."""
    made = [*paired_edits.of_pairs(whole(beside.places), beside.counterpart, beside.program)]
    likely = [edit for edit in made if beside.differences.rank(edit.site.part, edit.added) <= 0]
    return iter(sorted(likely, key=lambda edit: beside.differences.rank(edit.site.part, edit.added)))


def _large(beside: Beside) -> Iterator[Ranked]:
    """Yield the changes in which more is different, with their ranks."""
    for site in whole(beside.places):
        for edit in line_edits.of_values(site, beside.counterpart):
            yield 0 if edit.noun else 2, edit
        for edit in line_edits.of_terms(site, beside.counterpart):
            yield 1 + beside.differences.rank(site.part), edit
    for edit in line_edits.of_missing_lines(whole(beside.places), beside.counterpart):
        yield 1, edit
    for edit in line_edits.of_members(beside.places, beside.counterpart):
        if not edit.noun:
            yield 2, edit
