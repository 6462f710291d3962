"""The one change that makes wrong lines of Python right: its place, found by trying each, and never the cure."""

import ast
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from helpers.grading import change, edits
from helpers.grading.change import Change, Mended, Repair, operation
from helpers.grading.paired_edits import EACH
from helpers.grading.python_edits import ADDED, FUNCTION, PythonEdit, Reach, of_a_part, of_values
from helpers.grading.python_lines import Program, functions_in
from helpers.grading.python_paired_edits import of_lines, of_pairs, of_words
from helpers.grading.python_places import Place, changed, places
from helpers.grading.search import MOST_LINES, Search
from wgsl.diagnostics import Span

MOST_STEPS = 600_000  # parts that are computed for all candidates: about 1 s
CANDIDATE = 30  # steps, besides what its run takes: it is made
IsRight = Callable[[Program], bool]
BETWEEN = (edits.OPERATOR, edits.COMPARISON, edits.EXTRA)  # of which the ends of both sides are shown


def repair(program: Program, reach: Reach, is_right: IsRight) -> Repair | None:
    """Return the places where one change makes lines right; None where none is found, or it may be anywhere."""
    return PythonSearch(program, reach, is_right).found()


def reach_of(program: Program, names: Mapping[str, object], terms: Sequence[str], free: str) -> Reach:
    """Return what may stand in a text, where the names of the task have these values, and ours has these terms.

    The arguments of the function `free` are the reader's to choose.
    """
    values = {name: value for name, value in names.items() if name not in functions_in(names)}
    logical = bool(values) and all(isinstance(value, bool) for value in values.values())
    allowed = (term for term in terms if not free or free not in term)
    run = program.traced(names)
    return Reach(frozenset(values), tuple(allowed), logical, run.types_of_names(), run.types, free)


class PythonSearch(Search[PythonEdit]):
    """The search in lines of Python."""

    def __init__(self, program: Program, reach: Reach, is_right: IsRight) -> None:
        self.program, self.reach, self.is_right = program, reach, is_right
        self.left = MOST_STEPS
        found = places(program.body, reach.names)
        self.places = [place for place in found if not _is_free(place, reach.free)]
        self.around = {id(place.node): place.around for place in found}

    def tiers(self) -> Iterator[Iterable[PythonEdit]]:
        """Yield the small changes, those that add a part, those of words in several places, and then values of ours."""
        small = [*self._each(of_a_part)]
        yield chain((edit for edit in small if not self._adds_more(edit)), of_lines(self.places))
        yield (edit for edit in small if self._adds_more(edit))
        yield of_words(self.places, self.reach)
        yield of_pairs(self.places, self.reach)
        yield self._each(of_values)

    def _each(self, made: Callable[[Place, Reach], Iterator[PythonEdit]]) -> Iterator[PythonEdit]:
        made_in_all = chain.from_iterable(made(place, self.reach) for place in self.places)
        return (edit for edit in made_in_all if not self._makes_more_of_ours(edit))

    def _makes_more_of_ours(self, edit: PythonEdit) -> bool:
        """Return whether a part is added to a whole value that ours has, too: a line that uses it may be wrong."""
        statement = edit.place.statement
        if edit.kind not in (*ADDED, edits.OFFSET) or not isinstance(statement, ast.Assign):
            return False
        target, value = statement.targets[0], statement.value
        if edit.place.node is not value or isinstance(value, ast.Name | ast.Constant):
            return False
        nodes = [place.node for place in self.places]
        is_used = any(isinstance(node, ast.Name) and node.id == getattr(target, "id", "") for node in nodes)
        return is_used and ast.unparse(value) in self.reach.terms

    def _adds_more(self, edit: PythonEdit) -> bool:
        """Return whether a change adds more than a name of the task: such a part could stand in many places."""
        return edit.kind in ADDED and edit.noun not in self.reach.names

    def mended_in(self, tier: Iterable[PythonEdit]) -> dict[int, list[Mended]]:
        """Return the changes of a tier that mend the text, by their lines; no further ones where those are too many."""
        lines: dict[int, list[Mended]] = {}
        for edit in tier:
            if self.left < 0 or len(lines) > MOST_LINES:
                break
            if self.mends(edit):
                mended = self._described(edit)
                lines.setdefault(mended.change.line, []).append(mended)
        return lines

    def found(self) -> Repair | None:
        """Return the changes that mend the text; none where not all of a tier could be tried."""
        result = super().found()
        if result is None or self.left < 0:
            return None
        return replace(result, all_tests=True)

    def mends(self, edit: PythonEdit) -> bool:
        """Return whether the lines are right with a change."""
        above = {id(part) for node in edit.new for part in self.around[node]}
        program = self.program.with_body(changed(self.program.body, edit.new, above))
        right = self.is_right(program)
        self.left -= program.steps + CANDIDATE
        return right

    # --- What is told -----------------------------------------------------------------------------------------------

    def _described(self, edit: PythonEdit) -> Mended:
        """Return what is told of a change that mends the text."""
        node = edit.place.node
        text = "" if isinstance(node, ast.stmt) else self.program.quoted(node)
        if edit.kind in BETWEEN and isinstance(node, ast.BinOp | ast.Compare):
            right = node.right if isinstance(node, ast.BinOp) else node.comparators[0]
            text = operation(text, len(self.program.quoted(node.left)), len(self.program.quoted(right)))
        elif edit.noun == FUNCTION:
            text = node.func.id
        others = tuple(sorted({other.lineno for other in edit.others} - {node.lineno}))
        noun = "" if edit.kind in ADDED else edit.noun  # a term would be the cure
        use = self._use(edit)
        return Mended(
            Change(edit.kind, node.lineno, text, noun, edit.was, *use, others),
            self._place(edit),
        )

    def _place(self, edit: PythonEdit) -> Span:
        """Return the place of a change, from its first part to its last."""
        spans = [self.program.span(node) for node in (edit.part or edit.place.node, *edit.others)]
        return Span(min(span.at for span in spans), max(span.end for span in spans))

    def in_common(self, mended: Sequence[Mended]) -> Change | None:
        """Return what the changes of one line have in common: the smallest value that all of them are in.

        That it is somewhere in the only line says nothing.
        """
        told = super().in_common(mended)
        if told.kind != change.SEVERAL:
            return told
        kinds = {one.change.kind for one in mended}
        kind = mended[0].change.kind if len(kinds) == 1 and kinds <= ADDED else change.SEVERAL
        around = [place for place in self.places if self._is_around(place, mended)]
        while around and self._is_repeated(around[-1]):
            around.pop()
        is_part = around and around[-1].around[-1] is not around[-1].statement
        several = len(self.program.body) > 1
        if around and (is_part or several or kind != change.SEVERAL):
            node = around[-1].node
            return Change(kind, node.lineno, self.program.quoted(node), use=told.use, name=told.name)
        return Change(change.SEVERAL, told.line, "") if several else None

    def _is_around(self, place: Place, mended: Sequence[Mended]) -> bool:
        """Return whether all changes are in a value."""
        if not isinstance(place.node, ast.expr):
            return False
        outer = self.program.span(place.node)
        return all(outer.at <= one.place.at and one.place.end <= outer.end for one in mended)

    def _is_repeated(self, place: Place) -> bool:
        """Return whether the text of a value stands in its statement more than once."""
        text = self.program.quoted(place.node)
        return self.program.quoted(place.statement).count(text) > 1

    def _use(self, edit: PythonEdit) -> tuple[str, str]:
        """Return what the changed part is for, and the name of what it is for."""
        place = edit.place
        for part in reversed(place.around):
            if isinstance(part, ast.Subscript) and edit.kind != EACH and place.node is not part.value:
                return change.ELEMENT, self.program.quoted(part.value)
        match place.statement:
            case ast.If() | ast.While():
                return change.HOLDS, ""
            case ast.For(target=target):
                return change.BOUND, self.program.quoted(target)
            case ast.AugAssign(target=target):
                return change.ADDED, self.program.quoted(target)
            case ast.Assign(targets=[ast.Name(id=name)]):
                return change.CALLED, name
        return "", ""


def _is_free(place: Place, function: str) -> bool:
    """Return whether a value is in the call of a function, or is that."""
    calls = (part for part in (*place.around, place.node) if isinstance(part, ast.Call))
    return any(call.func.id == function for call in calls)
