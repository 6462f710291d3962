"""The one small change that makes a wrong kernel right: it is looked for beside the official text, and tried.

It is found in the program, not in the text: each candidate is run on the smallest test that fails, then on all tests,
watched, and on drawn problems. What is told of it is where it is, and of what kind.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain

from helpers.grading import drawn
from helpers.grading.candidates import Candidates
from helpers.grading.change import Mended, Repair, mended_by
from helpers.grading.drawn import Sizes
from helpers.grading.edits import VALUE, Edit
from helpers.grading.paired_edits import EACH, together
from helpers.grading.puzzle import Case, Puzzle
from helpers.grading.quick_run import executed, words_of
from helpers.grading.search import MOST_LINES, Search
from helpers.grading.sites import sites
from helpers.grading.test_run import TestRun, simulated
from wgsl import Kernel
from wgsl.simulator.run import compiled
from wgsl.simulator.work import TooLong, Work
from wgsl.types.declarations import Declarations, check
from wgsl.types.program import Function, Program, Statement

MOST_WORK = 500_000_000  # of `Work` for all candidates: about 1.3 s
SHARE = 0.7  # of the work that is left, which the candidates of one tier may take
CANDIDATE = 60_000  # of `Work`, besides what its run takes: it is made
WATCHED = 3  # times the work: a run that is watched takes so much longer
WATCHED_TESTS = 3  # tests, those that take least, in which a change that mends all of them is watched
LONGER = 2  # times the work of the text, or of ours, that a candidate may take on a small case
DRAWN = 4  # problems on which a change that mends all tests is tried, too
FURTHER_DRAWN = 8  # problems on which its numbers must be right, then
MANY_DRAWN = 10  # problems that are drawn, of which those that the text fails are made smaller
QUICK = 3  # small problems on which a change is tried first
MOST_WORK_SMALLER = 20_000_000  # of `Work`, to make one smaller


def repair(puzzle: Puzzle, kernel: Kernel, runs: Sequence[TestRun], passes: Sequence[str] = ()) -> Repair | None:
    """Return the places where one change makes a wrong kernel right; None where none is found, or too many are.

    `runs` are those of the tests, and of the drawn problem that the kernel failed, if there is one. Only the `passes`
    are changed, if there are any: they are wrong with ours as the other ones, too.
    """
    return KernelSearch(puzzle, kernel, runs, passes).found()


class KernelSearch(Search[Edit]):
    """The search in a kernel."""

    def __init__(self, puzzle: Puzzle, kernel: Kernel, runs: Sequence[TestRun], passes: Sequence[str] = ()) -> None:
        self.puzzle, self.kernel = puzzle, kernel
        self.work = Work(MOST_WORK)
        self.tried = 0
        declared = kernel.read(lambda: Declarations(kernel.module, dict(kernel.constants)))
        self.programs: Mapping[str, Program] = {name: check(declared, name) for name in puzzle.entry_points}
        entries = (program.entry for program in self.programs.values())
        self.functions = list({site.function: None for entry in entries for site in sites(entry)})
        failing_first = sorted(runs, key=lambda run: (not run.wrong.any(), run.counts["statements"]))
        self.cases = [run.case for run in failing_first]
        self.tests = self.cases  # and here without the small drawn problems, of which some are too small to be watched
        self.buffers = {id(case): words_of(case) for case in self.cases}
        changed = {name: self.programs[name] for name in passes or puzzle.entry_points}
        self.candidates = Candidates(changed, self._official())
        self._put_quick_first(sum(bool(run.wrong.any()) for run in runs))
        self.most = {id(case): self._most_in(case) for case in self.cases[:QUICK]}  # of `Work`

    def _put_quick_first(self, failing: int) -> None:
        """Let small drawn problems be the first cases: most candidates fail there, after little work."""
        quick = []
        for sizes, case_of in self._drawn_problems(MANY_DRAWN):
            work = Work(MOST_WORK_SMALLER)
            if not self._fails(sizes, case_of, work):
                continue
            small = drawn.smaller(sizes, lambda sizes, case_of=case_of, work=work: self._fails(sizes, case_of, work))
            quick.append(case_of(small))
            if len(quick) == QUICK:
                break
        for case in quick:
            self.buffers[id(case)] = words_of(case)
        passing = self.cases[failing:]
        self.cases = [*sorted([*quick, *self.cases[:failing]], key=self._own_work), *passing]

    def _fails(self, sizes: Sizes, case_of: Callable[[Sizes], Case], work: Work) -> bool:
        """Return whether the text makes wrong numbers in a drawn problem, within the work."""
        try:
            case = case_of(sizes)
            return case.expected.size > 0 and bool(
                case.differ(executed(self.programs, case, words_of(case), work)).any()
            )
        except ValueError:  # there is no such problem, or it takes too long
            return False

    def tiers(self) -> Iterator[Iterable[Edit]]:
        """Yield the candidates in the order in which they are tried."""
        return self.candidates.tiers()

    def mended_in(self, tier: Iterable[Edit]) -> dict[int, list[Mended]]:
        """Return the changes of a tier that mend the text, by their lines; no further ones where those are too many.

        Where another value mends a line, a smaller change of that line may be enough, and is told in its place. Once
        one is found, all work that is left is for its tier: another line may be mended, too.
        """
        lines: dict[int, list[Mended]] = {}
        least = self.work.left * (1 - SHARE)
        for edit in tier:
            is_spent = self.work.left < (0 if lines else least)
            if is_spent or len(lines) > MOST_LINES:
                break
            if edit.kind == VALUE and _without_values(lines):
                continue  # a smaller change is enough
            if self.candidates.may_be_told(edit) and self.mends(edit):
                for smaller in self._smaller(edit) or [self._least(edit)]:
                    mended = mended_by(smaller, self.kernel)
                    lines.setdefault(mended.change.line, []).append(mended)
        return _without_values(lines) or lines

    def _smaller(self, edit: Edit) -> list[Edit]:
        """Return the smaller changes that do what another value does."""
        if edit.kind != VALUE:
            return []
        return [small for small in self.candidates.small_in(edit.site.statement) if self.mends(small)]

    # --- One candidate --------------------------------------------------------------------------------------------

    def mends(self, edit: Edit) -> bool:
        """Return whether a change makes all tests right, and some drawn problems."""
        self.tried += 1
        self.work.left -= CANDIDATE
        before = [(function, function.body) for function in self.functions]
        try:
            for function in self.functions:
                _give(function, edit.body_of(function))
            return self._is_right()
        finally:
            for function, body in before:
                _give(function, body)

    def _least(self, edit: Edit) -> Edit:
        """Return the fewest places, two at least, of a word that another one replaces."""
        if edit.kind != EACH or len(edit.made) == 2:
            return edit
        for one in edit.made:
            fewer = together(EACH, [other for other in edit.made if other is not one], edit.noun)
            if self.mends(fewer):
                return self._least(fewer)
        return edit

    def _is_right(self) -> bool:
        return (
            all(self._has_right_numbers(case, self.most.get(id(case))) for case in self.cases)
            and all(self._is_safe(case) for case in chain(self.tests[:WATCHED_TESTS], self._drawn()))
            and all(self._has_right_numbers(case) for case in self._drawn(DRAWN + FURTHER_DRAWN, after=DRAWN))
        )

    def _has_right_numbers(self, case: Case, most: float | None = None) -> bool:
        """Return whether the changed programs make the right numbers in a case, with so much work."""
        work = Work(min(most or MOST_WORK, self.work.left))
        before = work.left
        words = self.buffers.get(id(case)) or words_of(case)
        try:
            output = executed(self.programs, case, words, work)
        except (ValueError, KeyError, IndexError, TypeError):  # endless, or nonsense
            return False
        finally:
            self.work.left -= before - work.left
        return not case.differ(output).any()

    def _is_safe(self, case: Case) -> bool:
        """Return whether nothing at all is wrong with the changed programs in a case."""
        before = self.work.left
        run = simulated(self.kernel, case, work=self.work, programs=self.programs)
        self.work.left -= (WATCHED - 1) * (before - self.work.left)
        return drawn.way_to_fail(run) is None

    def _drawn(self, most: int = DRAWN, after: int = 0) -> Iterator[Case]:
        """Yield some drawn problems, those that take least first, up to a number and after another one."""
        for sizes, case_of in self._drawn_problems(most, after):
            yield case_of(sizes)

    def _drawn_problems(self, most: int, after: int = 0) -> Iterator[tuple[Sizes, Callable[[Sizes], Case]]]:
        if self.puzzle.drawn is not None:
            ends, _ = drawn.chosen(self.puzzle, self.kernel.code, None)
            for number in ends[after:most]:
                yield drawn.drawn_problem(self.puzzle, self.kernel.code, None, number)

    def _official(self) -> Mapping[str, Program]:
        return {name: compiled(self.puzzle.official, name) for name in self.puzzle.entry_points}

    def _work_of(self, programs: Mapping[str, Program], case: Case) -> int:
        """Return the work of programs on a case."""
        work = Work(MOST_WORK // 10)
        before = work.left
        try:
            executed(programs, case, self.buffers[id(case)], work)
        except (TooLong, ValueError):
            return MOST_WORK // 100
        return before - work.left

    def _own_work(self, case: Case) -> int:
        return self._work_of(self.programs, case)

    def _most_in(self, case: Case) -> int:
        """Return the work that a candidate may take in a case: more than the text and our program take."""
        return int(LONGER * max(self._work_of(programs, case) for programs in (self.programs, self._official())))


def _without_values(lines: dict[int, list[Mended]]) -> dict[int, list[Mended]]:
    """Return the changes that are smaller than another value."""
    smaller = {line: [one for one in mended if one.change.kind != VALUE] for line, mended in lines.items()}
    return {line: mended for line, mended in smaller.items() if mended}


def _give(function: Function, body: tuple[Statement, ...]) -> None:
    """Give a function another body; what is known of the one before is forgotten."""
    function.body, function.calls, function.usage = body, None, None
