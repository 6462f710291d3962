"""Grade a learner's kernel: it is tried on the cases of a puzzle, in this process."""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import chain, zip_longest

import numpy as np

from helpers.gpu import GpuError, adapter_info
from helpers.gpu.passes import pipeline
from helpers.grading.drawing import drawing, legend, number
from helpers.grading.mistakes import Mistake
from helpers.grading.puzzle import Case, Puzzle, declarations, same_code
from helpers.grading.trial import Trial, launched, simulated
from helpers.grading.verdict import NO_COMPILE, NOT_YET, OURS, RIGHT, UNSAFE, WRONG, Grades, Verdict
from wgsl import Kernel, UnsupportedWgsl, WgslError
from wgsl.simulator.findings import Finding, quoted_line

WORK = 30_000  # statements that may be simulated while a known mistake is looked for: about 2 s
DETAIL, LINE = 700, 150  # letters of a reason, and of a line below the verdicts
TRAP = np.float32(-99999.5)  # in the output before the adapter's run; not a right answer
ORDER = {"non-uniform barrier", "data race"}  # they make the numbers wrong, and not the other way round
LUCK = "the numbers of this run are right only by luck"
NOT_RUN = "it is not run, because it cannot be simulated first: "
ENDLESS = "it is not run: "
BEFORE = "what was in the output before, which is 0 only in a new buffer"
OWN_SUM = "add up in a variable of your own, such as `var sum = 0.0;`, and store it once, after the loops"
WORDS = {  # of the counts that a puzzle may limit
    "steps": "statements of the busiest thread",
    "loads_storage": "loads",
    "loads_workgroup": "loads of workgroup memory",
    "sectors": "sectors of 32 bytes",
}
TURN = "its loop over the tiles makes a turn too many, which adds only zeros"
TELLING = "loads_storage", "loads_workgroup", "sectors"  # what is the same in two texts that do the same work
_official: dict[tuple[str, str], Trial] = {}  # the official kernel in a case, each simulated once


def grade(puzzle: Puzzle, source: str) -> Grades:
    """The verdicts on a text, with the mistake's name if it is a known one, and a drawing of the smallest wrong output.

    Raises GpuError where this machine cannot run any kernel.
    """
    return Grades(map(_cut, _grades(puzzle, source)))


def _cut(verdict: Verdict) -> Verdict:
    """The verdict without the ends of what is too long to read, as where a name has a thousand letters."""
    drawing = re.sub(f"(.{{{LINE}}}).+", r"\1...", verdict.drawing)
    detail = re.sub(f"(.{{{DETAIL}}}).+", r"\1...", verdict.detail, flags=re.DOTALL)
    return replace(verdict, detail=detail, drawing=drawing)


def _grades(puzzle: Puzzle, source: str) -> Grades:
    """The verdicts, however long they are."""
    kernel = Kernel(source)
    try:
        if problem := _problem(kernel, puzzle.official, blank=not Kernel(puzzle.skeleton).code.strip()):
            return Grades.alike(puzzle.tests, NO_COMPILE, problem)
        trials = _trials(puzzle, kernel)
    except WgslError as error:
        reason, _, excerpt = _reason(error).partition("\n")
        if isinstance(error, UnsupportedWgsl):
            return Grades.alike(puzzle.tests, UNSAFE, f"{NOT_RUN}{reason}", excerpt)
        return Grades.alike(puzzle.tests, NO_COMPILE, reason, excerpt)
    return _stopped(puzzle, kernel, trials) if trials[-1].endless else _Grader(puzzle, kernel, trials).grades()


def _stopped(puzzle: Puzzle, kernel: Kernel, trials: Sequence[Trial]) -> Grades:
    """The verdicts where a loop has used up its rounds, after the tests in which it has ended.

    It may be one that ends, where a thread does the work of many, or where the numbers are wrong, too.
    """
    ended, rest = trials[:-1], puzzle.tests[len(trials) - 1 :]
    if puzzle.skill:
        asked = simulated(kernel, puzzle.cases()[puzzle.tests.index(puzzle.skill.test)])
        if (grader := _Grader(puzzle, kernel, [*ended, asked])).lacks:
            return grader.not_yet(None)
    if any(trial.wrong.any() for trial in ended):
        said = _Grader(puzzle, kernel, ended).grades()
    else:
        said, rest = [], puzzle.tests
    return Grades([*said, *(Verdict(test, WRONG, _endless(trials)) for test in rest)])


def _trials(puzzle: Puzzle, kernel: Kernel) -> list[Trial]:
    """The kernel on all cases, or up to the first one on which a loop does not end."""
    trials = []
    for case in puzzle.cases():
        trials.append(simulated(kernel, case))
        if trials[-1].endless:
            break
    return trials


def _endless(trials: Sequence[Trial]) -> str:
    """Which loop does not end."""
    where = f"in the test {trials[-1].case.name}, " if len(trials) > 1 else ""
    return f"{ENDLESS}{where}{_said(trials[-1].finding)}"


# --- May it run in the official kernel's place? -------------------------------------------------------------


def _problem(kernel: Kernel, official: Kernel, blank: bool) -> str:
    """Why it may not, although it compiles, or nothing; where the learner began with a blank page, without a skeleton.

    Raises WgslError where it does not compile.
    """
    pipeline(kernel, "main")
    for binding, (mine, wanted) in enumerate(zip_longest(declarations(kernel), declarations(official))):
        if mine != wanted and not blank:
            return f"its binding {binding} is not the skeleton's; copy all bindings, and the struct, from there"
        if mine != wanted:
            if not wanted:
                return f"it has a binding {binding}, which the task does not name"
            return f"its binding {binding} must be {_declared(*wanted)}, as the task says"
    mine, wanted = (k.workgroup_size("main") for k in (kernel, official))
    if mine != wanted:
        threads = f"{_times(mine)} thread{'s' * (mine != (1, 1, 1))}"
        return f"its workgroups have {threads}; write @workgroup_size({_times(wanted, ', ')})"
    return ""


def _declared(space: str, type: object) -> str:
    """What a binding is: its address space, and its type or how many words its struct has."""
    what = f"with a struct of {len(type)} u32" if isinstance(type, list) else f"of type `{type}`"
    return f"a `var<{space.replace(',', ', ')}>` {what}"


def _reason(error: WgslError) -> str:
    """Place, cause and cure, without what the verdict says already."""
    said = re.sub("^your kernel(?: does not compile| is not simulated)?[,:] ", "", str(error))
    return said.replace("; an adapter may run this kernel", "; write it in another way", 1)


def _times(size: Sequence[int], sign: str = " x ") -> str:
    """The size of a workgroup without the axes of 1 at its end."""
    return re.sub(f"({sign}1)+$", "", sign.join(map(str, size)))


# --- One test -----------------------------------------------------------------------------------------------


def _said(finding: Finding) -> str:
    """A finding, with its line before it."""
    if finding.kind == "unwritten output":  # its line is that of the declaration
        return finding.message
    return f"{quoted_line(finding.line, finding.source_line)}: {finding.message}"


def _place(finding: Finding) -> tuple[str, int, int]:
    """Where the mistake is; one mistake is found in many tests."""
    return finding.kind, finding.line, finding.column


def _about(finding: Finding) -> tuple[str, str, str]:
    """What kind of mistake it is, and what is done to which variable: two texts may do the same in other lines."""
    return finding.kind, *(re.findall(r"(?:(reads|writes) )?`(\w+)", finding.message) or [("", "")])[0]


def _first_mismatch(axes: str, case: Case, output: np.ndarray, unwritten: np.ndarray) -> str:
    wrong = case.differ(output)
    index = tuple(np.argwhere(wrong)[0])
    place = ", ".join(f"{letter} = {i}" for letter, i in zip(axes.split(), index, strict=True))
    yours = "nothing was written" if unwritten[index] else f"yours is {number(output[index])}"
    count = f"{wrong.sum():,} of {wrong.size:,} numbers" if wrong.size > 1 else "the only number"
    where = "is wrong, at" if wrong.sum() == 1 else "are wrong, first at"
    return f"{count} {where} {place}: {yours}, right is {number(case.expected[index])}"


class _Grader:
    """The verdicts on a kernel whose loops all end."""

    def __init__(self, puzzle: Puzzle, kernel: Kernel, trials: Sequence[Trial]) -> None:
        self.puzzle, self.kernel, self.trials, self.work = puzzle, kernel, trials, WORK
        self.wrong = [trial for trial in trials if trial.wrong.any()]
        self.first = {}  # the first test that shows a mistake describes it for all tests
        for finding in chain.from_iterable(trial.findings for trial in trials):
            self.first.setdefault(_place(finding), finding)
        for kind, *place in [*self.first]:
            if kind == "not portable" and ("non-uniform barrier", *place) in self.first:  # what a run shows says more
                self.first[kind, *place] = self.first["non-uniform barrier", *place]
        self.turn_too_many = False  # whether it has been said
        self.everywhere = next(filter(self._concerns_all, self.first.values()), None)
        self.lacks = {} if self.wrong or self.first else self._more()

    def _more(self) -> dict[str, tuple[float, float]]:
        """What the kernel needs more of than the puzzle allows, with the official kernel's counts."""
        skill = self.puzzle.skill
        for trial in self.trials:
            if skill and trial.case.name == skill.test:
                return trial.more(self._ours(trial.case), skill.limits)
        return {}

    def _ours(self, case: Case) -> Trial:
        """The official kernel in a case."""
        key = self.puzzle.name, case.name
        if key not in _official:
            _official[key] = simulated(self.puzzle.official, case)
        return _official[key]

    def _concerns_all(self, finding: Finding) -> bool:
        """Whether something found in one test makes a kernel unsafe in all tests: a barrier that is wrong or missing.

        WGSL wants all threads at a barrier, whatever the numbers are. And the tests that do not show a missing one are
        too small for it.
        """
        kind, _, name = _about(finding)
        shared = getattr(self.kernel.find(name), "space", "") == "workgroup"
        return kind == "non-uniform barrier" or (kind in ("data race", "uninitialized read") and shared)

    def grades(self) -> Grades:
        """All verdicts."""
        verdicts = {trial: self._verdict(trial) for trial in self.trials}
        if self.lacks and {verdict.outcome for verdict in verdicts.values()} == {RIGHT}:
            return self.not_yet(self._recognized())
        suspects = self.wrong or [trial for trial in self.trials if trial.findings]
        if suspects and (mistake := self._recognized()):
            verdicts[suspects[0]] = self._named(verdicts[suspects[0]], mistake)
        if self.wrong:
            smallest = min(self.wrong, key=lambda trial: trial.case.expected.size)
            verdicts[smallest] = replace(verdicts[smallest], drawing=self._drawn(smallest), **self._pictured(smallest))
        return Grades(verdicts.values())

    def not_yet(self, mistake: Mistake | None) -> Grades:
        """The verdicts where a right kernel does not do what the puzzle is about: with the counts that show it."""
        skill = self.puzzle.skill
        counts = ", ".join(f"{WORDS[key]}: {mine:,} (ours: {ours:,})" for key, (mine, ours) in self.lacks.items())
        detail = f"its numbers are right, but the exercise asks for {skill.asked}; in {skill.test}, {counts}"
        first, *others = Grades.alike(self.puzzle.tests, NOT_YET, detail)
        return Grades([self._named(first, mistake) if mistake else first, *others])

    def _named(self, verdict: Verdict, mistake: Mistake) -> Verdict:
        """The verdict with a known mistake before it, as a question."""
        what = f"this is what {'comes out' if self.wrong or self.lacks else 'happens'} when {mistake.name}"
        sentence = verdict.detail[0].upper() + verdict.detail[1:]
        return replace(verdict, detail=f"{what}: {mistake.question} {sentence}")

    def _verdict(self, trial: Trial) -> Verdict:
        finding = trial.finding or self.everywhere
        if trial in self.wrong:
            return Verdict(trial.case.name, WRONG, self._wrong(trial))
        if finding:
            told = self.first[_place(finding)]
            return Verdict(trial.case.name, UNSAFE, _said(told) + ("" if told.kind == "not portable" else f"; {LUCK}"))
        return self._on_the_adapter(trial)

    def _wrong(self, trial: Trial) -> str:
        """The first wrong number, and what was found in this test first."""
        finding, mismatch = trial.finding, _first_mismatch(self.puzzle.axes, trial.case, trial.output, trial.unwritten)
        if trial.stores_again and trial is self.wrong[0] and not self.first:
            mismatch += f"; {trial.stores_in[0]} is run more than once for an element: {OWN_SUM}"
        if finding is None or finding.kind == "unwritten output" or self.first[_place(finding)] is not finding:
            return mismatch
        return f"{_said(finding)}; {mismatch}" if finding.kind in ORDER else f"{mismatch}; also, {_said(finding)}"

    def _on_the_adapter(self, trial: Trial) -> Verdict:
        """The verdict where a simulated run is right, and nothing was found."""
        case = trial.case
        try:
            output = launched(self.kernel, case, TRAP)
            if not case.differ(output).any():
                return Verdict(case.name, RIGHT, self._compared(trial))
            fresh = launched(self.kernel, case, 0.0)
        except GpuError as error:
            return Verdict(case.name, WRONG, f"it compiles, but it cannot be run: {error}")
        if case.differ(fresh).any():
            mismatch = _first_mismatch(self.puzzle.axes, case, fresh, np.zeros(fresh.shape, bool))
            return Verdict(case.name, WRONG, f"a simulated run is right, but on {adapter_info().name} {mismatch}")
        if not np.allclose(output - TRAP, fresh, atol=0.1):
            how, cure = "uses", "compute the result from the inputs alone"
        else:
            how, cure = "adds to", OWN_SUM if trial.stores_again else "write `=`, not `+=`"
        return Verdict(case.name, UNSAFE, f"{trial.stores_in[0]}: it {how} {BEFORE}; {cure}")

    def _compared(self, trial: Trial) -> str:
        """What a right kernel does in a case, and what the official one does otherwise there."""
        ours = self._ours(trial.case)
        others = [words for key, words in ours.work.items() if trial.work.get(key) != words]
        said = ", ".join(trial.work.values()) + (OURS + ", ".join(others)) * bool(others)
        if self.turn_too_many or not self._has_turn_too_many(trial, ours):
            return said
        self.turn_too_many = True
        return f"{said}; {TURN}"

    @staticmethod
    def _has_turn_too_many(trial: Trial, ours: Trial) -> bool:
        """Whether barriers and products are in the same proportion to the official kernel's, and more."""
        barriers, products = ((trial.counts[key], ours.counts[key]) for key in ("barriers", "multiply_adds"))
        return barriers[0] > barriers[1] and barriers[0] * products[1] == barriers[1] * products[0] > 0

    def _recognized(self) -> Mistake | None:
        """The known mistake that does the same in every test, or None.

        One that is made word for word, as in a lesson's demonstration, is named however much there is to simulate.
        """
        mistakes = {mistake: self.puzzle.with_mistake(mistake) for mistake in self.puzzle.mistakes}
        same = [mistake for mistake, other in mistakes.items() if same_code(other, self.kernel)]
        recognized = next(chain(same, (mistake for mistake, other in mistakes.items() if self._matches(other))), None)
        if recognized and recognized.replaces_sum and self.wrong and self.wrong[0].stores_again:
            return None  # the sum is replaced in the output, for which the verdict has the cure
        return recognized

    def _matches(self, other: Kernel) -> bool:
        """Whether a known mistake gives the same numbers in every test, and explains what was found."""
        explained = set()
        for mine in sorted(self.trials, key=lambda trial: trial.counts["statements"]):  # the quick ones first
            if self.work < 0:
                return False
            theirs = simulated(other, mine.case)
            self.work -= theirs.counts["statements"]
            if theirs.endless or mine.case.differ(mine.output, theirs.output).any():
                return False
            if self.lacks and any(mine.counts[key] != theirs.counts[key] for key in TELLING):
                return False
            explained.update(map(_about, theirs.findings))
        mine = set(map(_about, self.first.values()))
        return {about for about in mine if about[0] in ORDER} <= explained if self.wrong else mine == explained

    def _drawn(self, trial: Trial) -> str:
        """The output beside the right one, in lines."""
        case = trial.case
        marks = np.where(trial.wrong, np.where(trial.unwritten, ".", "*"), "")
        inputs = {binding.name: array for binding, array in zip(self.puzzle.official.bound, case.inputs, strict=False)}
        lines = drawing(case.expected, trial.output, marks, self.puzzle.axes.split(), inputs)
        return "\n".join([f"The smallest test that fails is {case.name}.", f"({legend(marks)})", *lines])

    def _pictured(self, trial: Trial) -> dict[str, str]:
        """What was read for the first wrong number, as a picture and in words; nothing where that takes long."""
        if trial.counts["statements"] > WORK // 3:
            return {}
        from helpers.grading.reads import reads  # here, as only a wrong kernel needs what pictures are made with
        from helpers.grading.reads_picture import ReadsPicture

        found = reads(self.kernel, self.puzzle.official, trial.case, trial.wrong)
        return {"picture": ReadsPicture(found).svg()[1], "caption": found.sentence} if found else {}
