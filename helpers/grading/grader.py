"""Grade a learner's kernel: it is tried on the cases of a puzzle, in this process."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from itertools import chain

import numpy as np

from helpers.gpu import GpuError, adapter_info
from helpers.gpu.subgroups import lacks_subgroups
from helpers.grading import (
    comparison,
    drawn,
    evidence,
    interface_checks,
    reasons,
    skill_counts,
    text_checks,
    trials,
    wrong_numbers,
)
from helpers.grading.comparison import NotTried
from helpers.grading.drawing import excerpt_of
from helpers.grading.puzzle import Case, Puzzle, same_code
from helpers.grading.reasons import Diagnosis, NamedMistake, Reason, WrongNumbers
from helpers.grading.recognition import fitting, further, may_be_made
from helpers.grading.repair import repair
from helpers.grading.test_run import MOST_ITERATIONS, TestRun, launched, passes_to_blame, simulated
from helpers.grading.verdict import NO_COMPILE, NOT_YET, RIGHT, UNSAFE, WRONG, Grades, Verdict
from helpers.grading.work_done import accesses
from helpers.grading.wrong_numbers import first_pair, mismatch, uses_before
from wgsl import Kernel, UnsupportedWgsl, WgslError
from wgsl.facts import SettledComparisons
from wgsl.simulator.findings import Finding
from wgsl.simulator.run import compiled
from wgsl.simulator.settled import settled_comparisons
from wgsl.simulator.work import Work

MOST_WORK = 500_000_000  # of `Work`: about 4 s, 5 times our largest; all tests together, and each that is repeated
WORK = 30_000  # statements that may be simulated while a known mistake is looked for: about 2 s
WIDEST = 150  # letters of a line of an excerpt


def grade(puzzle: Puzzle, source: str, seed: drawn.Seed = None) -> Grades:
    """Return the verdicts on a text, with the mistake if it is a known one, and the smallest wrong output drawn.

    Where all tests pass, drawn problems are tried: the first that fails is one more verdict. A `seed` draws others.

    Raises GpuError where this machine cannot run any kernel.
    """
    kernel = Kernel(source)
    try:
        if problem := interface_checks.problem(kernel, puzzle):
            return Grades.alike(puzzle.tests, WRONG, problem)
        if idle := interface_checks.idle(kernel, puzzle):
            return Grades.alike(puzzle.tests, WRONG, idle)
        work = Work(MOST_WORK)
        runs = _runs(puzzle, kernel, work)
        failed = not_tried = None
        if not any(run.endless or drawn.way_to_fail(run) for run in runs):
            failed = drawn.failed(puzzle, kernel, seed, MOST_WORK - work.left)
            if isinstance(failed, NotTried):
                failed, not_tried = None, failed
            if not failed and (unread := interface_checks.unread(kernel, puzzle)):
                return Grades.alike(puzzle.tests, WRONG, unread)
    except UnsupportedWgsl as error:
        reason = reasons.NotSimulated(error.feature or "", error.reason, error.line, error.column)
        return Grades.alike(puzzle.tests, NOT_YET, reason, excerpt_of(error, WIDEST))
    except WgslError as error:
        not_compiled = replace(reasons.not_compiled(error), unread=text_checks.unread(kernel, puzzle))
        reason = text_checks.missing(kernel, puzzle, error) or not_compiled
        return Grades.alike(puzzle.tests, NO_COMPILE, reason, excerpt_of(error, WIDEST))
    if runs[-1].endless:
        return _stopped(puzzle, kernel, runs)
    return _Grader(puzzle, kernel, runs, failed, not_tried).grades()


def _stopped(puzzle: Puzzle, kernel: Kernel, runs: Sequence[TestRun]) -> Grades:
    """Return the verdicts where a loop has used up its iterations, after the tests in which it has ended.

    It may be one that ends, where a thread does the work of many, or where the numbers are wrong, too.
    """
    ended, rest = runs[:-1], puzzle.tests[len(runs) - 1 :]
    if (seen := _seen(puzzle, kernel, runs)) and (grader := _Grader(puzzle, kernel, seen)).lacks:
        return grader.not_yet(None, runs[-1])
    if any(run.wrong.any() for run in ended):
        verdicts = _Grader(puzzle, kernel, ended).grades()
    else:
        verdicts, rest = [], puzzle.tests
    return Grades([*verdicts, *(Verdict(test, WRONG, _endless(runs)) for test in rest)])


def _seen(puzzle: Puzzle, kernel: Kernel, runs: Sequence[TestRun]) -> list[TestRun]:
    """The tests that show whether a thread does the work of many, where it was stopped in the last one of these.

    They are those that end, with the test of the skill. Where none does, the smallest one may take longer.
    """
    *ended, stopped = runs
    if puzzle.skill and puzzle.skill.test != stopped.case.name:
        asked = simulated(kernel, puzzle.cases()[puzzle.tests.index(puzzle.skill.test)], work=Work(MOST_WORK))
        if not asked.endless:
            return [*ended, asked]
    if not stopped.long:
        return []
    again = ended or [simulated(kernel, stopped.case, MOST_ITERATIONS, Work(MOST_WORK))]
    return [run for run in again if not run.endless]


def _runs(puzzle: Puzzle, kernel: Kernel, work: Work) -> list[TestRun]:
    """The kernel on all cases, or up to the first one on which a loop does not end, or the work is used up."""
    runs = []
    for case in puzzle.cases():
        runs.append(simulated(kernel, case, work=work))
        if runs[-1].endless:
            break
    return runs


def _endless(runs: Sequence[TestRun]) -> Reason:
    """Return which loop does not end."""
    test = runs[-1].case.name if len(runs) > 1 else ""
    return reasons.EndlessLoop(Diagnosis(runs[-1].finding), test)


# --- One test -----------------------------------------------------------------------------------------------


def _place(finding: Finding) -> tuple[str, int, int]:
    """Return where the mistake is; one mistake is found in many tests."""
    return finding.kind, finding.line, finding.column


def _says_why(finding: Finding) -> bool:
    """Return whether a finding says why numbers are wrong: a race does not that no barrier can order."""
    if getattr(finding.facts, "no_place_for_barrier", False):
        return False
    return finding.kind in reasons.BEFORE_NUMBERS | reasons.SAYS_ALL


class _Grader:
    """The verdicts on a kernel whose loops all end in its tests, and on the drawn problem that it failed, if it did."""

    def __init__(
        self,
        puzzle: Puzzle,
        kernel: Kernel,
        runs: Sequence[TestRun],
        failed: drawn.Problem | None = None,
        not_tried: NotTried | None = None,
    ) -> None:
        self.failed, self.not_tried = failed, not_tried
        runs = trials.with_races_that_no_barrier_orders(kernel, [*runs, failed.run] if failed else runs)
        if failed:
            self.failed = replace(failed, run=runs[-1])
        self.puzzle, self.kernel, self.runs = puzzle, kernel, runs
        self.wrong = [run for run in runs if run.wrong.any() and not run.endless]
        self.smallest = sorted(self.wrong, key=lambda run: run.case.expected.size)[:1]  # it is drawn
        self.first = {}  # the drawn test, or else the first that shows a mistake, describes it for all tests
        for finding in chain.from_iterable(run.findings for run in [*self.smallest, *runs]):
            self.first.setdefault(_place(finding), finding)
        for kind, *place in [*self.first]:
            if kind == "not portable" and ("non-uniform barrier", *place) in self.first:  # what a run shows says more
                self.first[kind, *place] = self.first["non-uniform barrier", *place]
        names = [run.case.name for run in runs]
        asked = runs[names.index(puzzle.skill.test) if puzzle.skill and puzzle.skill.test in names else -1]
        self.slip = self.wrong and (text_checks.exchanged(kernel, puzzle.official) or text_checks.hidden(kernel))
        self.remarks = set()  # those that a verdict has
        self.mistake: NamedMistake | None = None
        self.several = False  # known mistakes fit
        self.everywhere = next(filter(self._concerns_all, self.first.values()), None) if failed is None else None
        self.lacks = None if self.wrong or self.first else skill_counts.lacks(puzzle, kernel, asked)

    def _concerns_all(self, finding: Finding) -> bool:
        """Return whether a finding in one test makes a kernel unsafe in all tests: a barrier that is wrong or missing.

        WGSL wants all threads at a barrier, whatever the numbers are. And the tests that do not show a missing one are
        too small for it.
        """
        if finding.kind == "non-uniform barrier":
            return True
        if finding.kind not in ("data race", "uninitialized read"):
            return False
        if finding.variable in {other.variable for other in self.first.values() if other.kind == "out-of-range write"}:
            return False  # it comes of the write, which lands in another element
        return getattr(self.kernel.find(finding.variable), "space", "") == "workgroup"

    def grades(self) -> Grades:
        """Return all verdicts."""
        suspects = self.smallest or [run for run in self.runs if run.findings]
        if suspects:
            self.mistake = self._recognized()
        verdicts = {run: self._verdict(run) for run in self.runs}
        if self.lacks and {verdict.outcome for verdict in verdicts.values()} == {RIGHT}:
            return self.not_yet(self._recognized())
        if suspects:
            run = suspects[0]
            verdicts[run] = self._with_evidence(replace(verdicts[run], mistake=self.mistake), run)
            if self._is_unexplained(verdicts[run]):
                verdicts[run] = self._repaired(verdicts[run])
        if self.failed:
            verdicts[self.failed.run] = replace(verdicts[self.failed.run], sizes=(*self.failed.sizes.items(),))
        return Grades(verdicts.values())

    def _repaired(self, verdict: Verdict) -> Verdict:
        """Return a verdict with the place of the change that makes the text right, where one does."""
        passes = verdict.reason.blame.passes if verdict.reason.blame else ()
        found = repair(self.puzzle, self.kernel, self.runs, passes)
        if found is None:
            return verdict
        reason = replace(verdict.reason, several=False)
        if reason.diagnosis:
            reason = replace(reason, diagnosis=replace(reason.diagnosis, with_advice=False))
        return replace(verdict, repair=found, reason=reason)

    def _is_unexplained(self, verdict: Verdict) -> bool:
        """Return whether numbers are wrong, and nothing says why: no known mistake, slip, race or missing barrier."""
        if not self.wrong or self.mistake or self.slip or not self.puzzle.tells_place:
            return False
        reason = verdict.reason
        if not isinstance(reason, WrongNumbers) or reason.slip or reason.replaced_in:
            return False
        return not any(map(_says_why, self.first.values()))

    def _with_evidence(self, verdict: Verdict, run: TestRun) -> Verdict:
        """Return a verdict with the wrong output drawn, or else with the race that was found."""
        if run in self.smallest:
            numbers = evidence.numbers_drawn(self.puzzle, run, "" if self.failed else run.case.name)
            return replace(verdict, drawn=numbers, evidence=evidence.reads(self.puzzle, self.kernel, run))
        return replace(verdict, evidence=evidence.race_found(self.kernel, run))

    def not_yet(self, mistake: NamedMistake | None, stopped: TestRun | None = None) -> Grades:
        """Return the verdicts where a right kernel does not do what the puzzle is about: with the counts that show it.

        It may be `stopped` in a test, as all that one thread does takes too long.
        """
        counts = tuple((key, *pair) for key, pair in self.lacks.counts.items())
        reason = reasons.WithoutSkill(self.puzzle.skill.asked, self.lacks.case, counts)
        if stopped:
            reason = replace(reason, stopped=Diagnosis(stopped.finding), stopped_in=stopped.case.name)
        first, *others = Grades.alike(self.puzzle.tests, NOT_YET, reason)
        return Grades([replace(first, mistake=mistake), *others])

    def _verdict(self, run: TestRun) -> Verdict:
        """Return the verdict of a test."""
        finding = run.finding or self.everywhere
        if run.endless:
            return Verdict(run.case.name, WRONG, reasons.EndlessLoop(Diagnosis(finding), others_run=True))
        if run in self.wrong:
            return Verdict(run.case.name, WRONG, self._wrong(run))
        if finding:
            return Verdict(run.case.name, UNSAFE, self._unsafe(run, self.first[_place(finding)]))
        if run.uses_before:
            return Verdict(run.case.name, UNSAFE, self._race_in_the_output(run) or uses_before(run, self.runs))
        return self._on_the_adapter(run)

    def _unsafe(self, run: TestRun, finding: Finding) -> Reason:
        """Return why right numbers are not safe; what this test does not show is said as in another test."""
        as_in = ""
        if finding not in run.findings:
            as_in = next(other.case.name for other in self.runs if finding in other.findings)
        shown = _place(finding) in map(_place, run.findings)
        return reasons.Unsafe(self._diagnosis(finding), as_in, by_luck=shown and self._makes_luck(finding))

    def _makes_luck(self, finding: Finding) -> bool:
        """Return whether numbers could be others where a test shows this: an index that wraps is always the same."""
        if finding.kind == "index overflow":
            return bool(self.wrong)
        return finding.kind not in reasons.SAYS_ALL | reasons.ONE_RESULT

    def _race_in_the_output(self, run: TestRun) -> Reason | None:
        """Return the race, if there is one, in a line that stores to the output."""
        storing = [line.number for line in run.stores_in]
        for finding in self.first.values():
            if finding.kind == "data race" and finding.line in storing:
                return reasons.Unsafe(self._diagnosis(finding), by_luck=False)
        return None

    def _diagnosis(self, finding: Finding) -> Diagnosis:
        """Return what was found; where a known mistake is named, its question takes the place of the advice."""
        padded = any(max(run.case.padding) > 0 for run in self.runs)
        showing = [run for run in self.runs if run.finding is finding]
        guard = trials.guard_below(self.kernel, showing[0]) if showing and self.mistake is None else None
        return Diagnosis(finding, with_advice=self.mistake is None and guard is None, padded=padded, guard=guard)

    def _wrong(self, run: TestRun) -> WrongNumbers:
        """Return the first wrong number, and what was found in this test first; both numbers only where drawn."""
        reason = WrongNumbers(mismatch(self.puzzle.axes, run.case, run.output))
        if run in self.smallest:
            reason = self._wrong_where_drawn(run, reason)
        finding = run.finding
        if self.slip or finding is None or finding.kind == "unwritten output":
            return reason
        if self.first[_place(finding)] is not finding:
            return reason
        return replace(reason, diagnosis=self._diagnosis(finding))

    def _wrong_where_drawn(self, run: TestRun, reason: WrongNumbers) -> WrongNumbers:
        """Return the reason with both numbers, and with what explains them in all tests."""
        wrong = replace(reason.mismatch, pair=first_pair(run.case, run.output, run.unwritten))
        replaced_in = None if self.first or self.mistake else wrong_numbers.replaced_in(run)
        slip = self.slip or None
        if not slip and not self.mistake and not self.first:
            slip = interface_checks.unread(self.kernel, self.puzzle)
        reason = replace(reason, mismatch=wrong, replaced_in=replaced_in, several=self.several)
        return replace(reason, blame=self._blame(run.case), slip=slip)

    def _blame(self, case: Case) -> reasons.Blame | None:
        """Return which of several passes the wrong numbers come from."""
        if len(self.puzzle.entry_points) == 1:
            return None
        passes = passes_to_blame(self.kernel, self.puzzle.official, case)
        return reasons.Blame(tuple(passes), len(case.dispatches) - 1)

    def _on_the_adapter(self, run: TestRun) -> Verdict:
        """Return the verdict where a simulated run is right, and nothing was found."""
        case = run.case
        try:
            # What lacks the skill is not yet there, whatever this adapter's compiler makes of it.
            output = run.output
            if not self.lacks and not self._only_simulated and not self._depends_on_the_size:
                output = launched(self.kernel, case)
        except GpuError as error:
            return Verdict(case.name, WRONG, reasons.NotRun(str(error)))
        if not case.differ(output).any():
            return Verdict(case.name, RIGHT, self._compared(run))
        pair = first_pair(case, output, np.zeros(output.shape, bool))
        wrong = replace(mismatch(self.puzzle.axes, case, output), pair=pair)
        return Verdict(case.name, WRONG, WrongNumbers(wrong, adapter=adapter_info().name))

    def _compared(self, run: TestRun) -> Reason:
        """Return what a right kernel does in a case, beside the official one, with the remarks that are new."""
        ours = skill_counts.official_run(self.puzzle, run.case)
        remarks = list(self._settled)
        if self._has_turn_too_many(run, ours):
            remarks.append(comparison.TurnTooMany())
        if self.not_tried:
            remarks.append(self.not_tried)
        if self._only_simulated:
            remarks.append(comparison.OnlySimulated(adapter_info().name))
        new = [remark for remark in remarks if remark not in self.remarks]
        self.remarks.update(remarks)
        return comparison.Compared(accesses(run), accesses(ours), tuple(new))

    @cached_property
    def _only_simulated(self) -> bool:
        """True where this adapter cannot run the text, as it has no subgroups."""
        return lacks_subgroups(self.kernel.source)

    @property
    def _depends_on_the_size(self) -> bool:
        """True where only subgroups of some sizes show what is wrong: the adapter's need not be as in the test."""
        sizes = {run.case.subgroup_size for run in self.runs}
        return len(sizes) > 1 and bool(self.wrong or self.first)

    @cached_property
    def _settled(self) -> list[SettledComparisons]:
        """The comparisons of each entry point that always hold, or never do, if there are any."""
        programs = [compiled(self.kernel, entry_point) for entry_point in self.puzzle.entry_points]
        settled = {settled_comparisons(program, self.kernel.source) for program in programs} - {None}
        return sorted(settled, key=lambda comparisons: comparisons.codes)

    @staticmethod
    def _has_turn_too_many(run: TestRun, ours: TestRun) -> bool:
        """Return whether barriers and products are in the same proportion to the official kernel's, and more."""
        barriers, products = ((run.counts[key], ours.counts[key]) for key in ("barriers", "multiply_adds"))
        return barriers[0] > barriers[1] and barriers[0] * products[1] == barriers[1] * products[0] > 0

    def _recognized(self) -> NamedMistake | None:
        """Return the known mistake that does the same in every test, where no other one does; else None.

        One that is made word for word, as in a lesson's demonstration, is named however much there is to simulate.
        """
        mistakes = {mistake: self.puzzle.with_mistake(mistake) for mistake in self.puzzle.mistakes}
        same = [mistake for mistake, other in mistakes.items() if same_code(other, self.kernel)]
        as_much = bool(self.lacks) or self._only_reads_stray
        official = self.puzzle.official
        possible = {one: text for one, text in mistakes.items() if may_be_made(one, official, self.kernel)}
        fit = same[:1] or fitting(possible, self.runs, WORK, as_much)
        if len(fit) > 1:
            fit = further(self.puzzle, self.kernel, fit)
        self.several = len(fit) > 1
        if len(fit) != 1:
            return None
        if fit[0].replaces_sum and any(map(wrong_numbers.replaced_in, self.smallest)):
            return None  # the sum is replaced in the output, for which the verdict has the cure
        return NamedMistake(fit[0].name, fit[0].question)

    @property
    def _only_reads_stray(self) -> bool:
        """True where all numbers are right, and some reads miss their array: many a text does that."""
        return not self.wrong and {finding.kind for finding in self.first.values()} <= reasons.STRAY_READS
