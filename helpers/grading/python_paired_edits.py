"""The changes of lines of Python in several places: of whole lines, of a word wherever it stands, of a pair."""

import ast
from collections.abc import Iterator, Sequence
from itertools import combinations, pairwise

from helpers.grading.edits import EXCHANGED, LINES, MOVED, TOO_MANY
from helpers.grading.paired_edits import EACH, PAIRED, SWAP
from helpers.grading.python_edits import ALIKE, FUNCTION, NAME, PythonEdit, Reach, of_a_part, renamed
from helpers.grading.python_places import Place, at, parsed


def of_lines(found: Sequence[Place]) -> Iterator[PythonEdit]:
    """Yield the lines without one, or with two exchanged, or with their values exchanged."""
    statements = [place for place in found if isinstance(place.node, ast.stmt)]
    for place in statements:
        if isinstance(place.node, ast.Expr | ast.AugAssign | ast.Assign):
            yield PythonEdit(TOO_MANY, place, {id(place.node): []})
    for one, other in pairwise(statements):
        if one.around != other.around:
            continue
        yield PythonEdit(MOVED, one, {id(one.node): [other.node, one.node], id(other.node): []})
        if isinstance(one.node, ast.Assign) and isinstance(other.node, ast.Assign):
            values = {id(one.node.value): other.node.value, id(other.node.value): one.node.value}
            yield PythonEdit(LINES, one, values, others=(other.node,))


def of_words(found: Sequence[Place], reach: Reach) -> Iterator[PythonEdit]:
    """Yield two words exchanged in a line, and another word in each place where one stands."""
    names = [place for place in found if isinstance(place.node, ast.Name)]
    for one, other in combinations(names, 2):
        differ = one.node.id != other.node.id and reach.of(one) is reach.of(other)
        if one.statement is other.statement and differ:
            new = {id(one.node): other.node, id(other.node): one.node}
            yield PythonEdit(EXCHANGED, one, new, others=(other.node,))
    by_name: dict[str, list[Place]] = {}
    for place in names:
        by_name.setdefault(place.node.id, []).append(place)
    for places in by_name.values():
        if len(places) > 1:
            yield from _each(places, reach)
    yield from _each_function(found)
    for one, other in combinations(by_name.values(), 2):
        once = len(one) == len(other) == 1 and one[0].statement is other[0].statement  # two words of a line, as above
        if once or reach.of(one[0]) is not reach.of(other[0]):
            continue
        new = {id(place.node): other[0].node for place in one} | {id(place.node): one[0].node for place in other}
        rest = tuple(place.node for place in (*one[1:], *other))
        yield PythonEdit(SWAP, one[0], new, others=rest)


def _each(places: Sequence[Place], reach: Reach) -> Iterator[PythonEdit]:
    """Yield another name in each place of one."""
    first, *others = places
    for word in reach.words(first):
        if word.isidentifier() and word != first.node.id:
            new = {id(place.node): at(place.node, parsed(word)) for place in places}
            yield PythonEdit(EACH, first, new, NAME, NAME, tuple(place.node for place in others))


def _each_function(found: Sequence[Place]) -> Iterator[PythonEdit]:
    """Yield `min` in each place of `max`, and the other way round."""
    for name, other in ALIKE, ALIKE[::-1]:
        calls = [place for place in found if isinstance(place.node, ast.Call) and place.node.func.id == name]
        if len(calls) > 1:
            new = {id(place.node): at(place.node, renamed(place.node, other)) for place in calls}
            yield PythonEdit(EACH, calls[0], new, FUNCTION, FUNCTION, tuple(place.node for place in calls[1:]))


def of_pairs(found: Sequence[Place], reach: Reach) -> Iterator[PythonEdit]:
    """Yield the same change in both values of a pair, and in all values that are written alike."""
    for places in (*_in_pairs(found), *_written_alike(found)):
        first, *others = [_by_kind(place, reach) for place in places]
        for kind, edits_of_first in first.items():
            for together in zip(edits_of_first, *(other.get(kind, ()) for other in others), strict=False):
                new: dict[int, object] = {}
                for edit in together:
                    new |= edit.new
                yield PythonEdit(PAIRED, places[0], new, others=tuple(place.node for place in places[1:]))


def _by_kind(place: Place, reach: Reach) -> dict[tuple[str, str], list[PythonEdit]]:
    """Return the changes of a part by their kinds and what they add."""
    by_kind: dict[tuple[str, str], list[PythonEdit]] = {}
    for edit in of_a_part(place, reach):
        by_kind.setdefault((edit.kind, edit.noun), []).append(edit)
    return by_kind


def _in_pairs(found: Sequence[Place]) -> Iterator[list[Place]]:
    """Yield the two values of each pair."""
    by_node = {id(place.node): place for place in found}
    for place in found:
        parts = place.node.elts if isinstance(place.node, ast.Tuple) else []
        if len(parts) == 2 and all(id(part) in by_node for part in parts):
            yield [by_node[id(part)] for part in parts]


def _written_alike(found: Sequence[Place]) -> Iterator[list[Place]]:
    """Yield the values that are the same, of more than a word, and stand in several places."""
    alike: dict[str, list[Place]] = {}
    for place in found:
        if isinstance(place.node, ast.BinOp | ast.Call | ast.Compare):
            alike.setdefault(ast.dump(place.node), []).append(place)
    yield from (places for places in alike.values() if len(places) > 1)
