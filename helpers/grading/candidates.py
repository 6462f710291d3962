"""The changes that are tried on a wrong program: small ones come first, and places where it differs from ours."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import NamedTuple

from helpers.grading import edits, line_edits, paired_edits
from helpers.grading.counterpart import Counterpart, Differences, whole
from helpers.grading.edits import Edit
from helpers.grading.leaves import family
from helpers.grading.sites import Site, sites
from wgsl.types.program import Program, Root

LIKELY, LESS_LIKELY = 0.5, 0.7  # ranks; from 1 on, nothing differs there
Ranked = tuple[float, Edit]


class Beside(NamedTuple):
    """A program with its places, beside the official one."""

    program: Program
    places: list[Site]
    counterpart: Counterpart
    differences: Differences


def tiers(programs: Mapping[str, Program], official: Mapping[str, Program]) -> Iterator[Iterable[Edit]]:
    """Yield the candidates of all passes, by their entry points.

    They are one small change where the text differs; a value of ours there; two at once; then all others.
    """
    pairs = [_beside(program, official[name]) for name, program in programs.items()]
    small = _likely_first(chain.from_iterable(map(_small, pairs)))
    large = _likely_first(chain.from_iterable(map(_large, pairs)))
    yield [edit for rank, edit in small if rank <= LIKELY]
    yield [edit for rank, edit in large if rank <= LIKELY]
    yield chain.from_iterable(map(_words, pairs))
    yield chain.from_iterable(map(_values, pairs))
    yield [edit for rank, edit in small if LIKELY < rank < 1]
    yield chain.from_iterable(map(_paired, pairs))
    yield [edit for rank, edit in small if rank >= 1]
    yield [edit for rank, edit in large if rank > LIKELY]


def _beside(program: Program, official: Program) -> Beside:
    places = sites(program.entry)
    counterpart = Counterpart(official, program)
    return Beside(program, places, counterpart, Differences(places, counterpart))


def _likely_first(made: Iterator[Ranked]) -> list[Ranked]:
    return sorted(made, key=lambda pair: pair[0])


def _small(beside: Beside) -> Iterator[Ranked]:
    """Yield the changes of a word, an operator or the place of a line, with their ranks."""
    values = whole(beside.places)
    roots = [site for site in beside.places if isinstance(site.part, Root) and site not in values]
    for site in (*values, *roots):
        for edit in edits.of_a_part(site, beside.program):
            yield _rank(edit, beside.differences), edit
        for edit in line_edits.of_terms(site, beside.counterpart):
            rank = beside.differences.rank(site.part, edit.added)
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
    if edit.kind == edits.ASSIGNMENT:
        return -2  # there are few
    crosses = edit.kind == edits.REPLACED and family(edit.site.part) != edit.noun
    return rank + 1 if crosses and rank >= 0 else rank


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
