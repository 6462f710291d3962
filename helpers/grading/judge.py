"""What a learner's kernel deserves to hear: it is tried on the cases of a puzzle, in this process."""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest
from time import monotonic

import numpy as np

from helpers.gpu import GpuError, adapter_info
from helpers.gpu.passes import pipeline
from helpers.grading.drawing import drawing, legend, number
from helpers.grading.puzzle import Case, Puzzle, Slip, declarations
from helpers.grading.trial import Trial, launched, rounds, simulated
from helpers.grading.verdict import NO_COMPILE, RIGHT, UNSAFE, WRONG, Grades, Verdict
from helpers.simulator.findings.collector import Finding
from helpers.wgsl import Kernel, UnsupportedWgsl, WgslError

SECONDS = 10  # how long a mistake may be looked for
TRAP = np.float32(-99999.5)  # in the output before the adapter's run; not a right answer
ORDER = {"non-uniform barrier", "data race"}  # they make the numbers wrong, and not the other way round
LUCK = "each number is right, but only by luck: "


def judged(puzzle: Puzzle, source: str) -> Grades:
    """The verdicts on a text, with the mistake's name if it is a known one, and a drawing of the smallest wrong output.

    Raises GpuError where this machine cannot run any kernel.
    """
    kernel = Kernel(source)
    try:
        if problem := _problem(kernel, puzzle.official):
            return Grades.alike(puzzle.tests, NO_COMPILE, problem)
        trials = _trials(puzzle, kernel)
    except UnsupportedWgsl as error:
        why, _, excerpt = _reason(error).partition("\n")
        return Grades.alike(puzzle.tests, UNSAFE, f"it is not run, because it cannot be simulated first: {why}", excerpt)
    except WgslError as error:
        why, _, excerpt = _reason(error).partition("\n")
        return Grades.alike(puzzle.tests, NO_COMPILE, why, excerpt)
    if trials[-1].endless:
        return Grades(Verdict(test, WRONG, _endless(trials)) for test in puzzle.tests)
    return _Judge(puzzle, kernel, trials).grades()


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
    return f"it is not run: {where}{_said(trials[-1].finding)}"


# --- May it run in the official kernel's place? -------------------------------------------------------------


def _problem(kernel: Kernel, official: Kernel) -> str:
    """Why it may not, although it compiles, or nothing.

    Raises WgslError where it does not compile.
    """
    pipeline(kernel, "main")
    for binding, (mine, wanted) in enumerate(zip_longest(declarations(kernel), declarations(official))):
        if mine != wanted:
            return f"its binding {binding} is not the skeleton's; copy all bindings, and the struct, from there"
    mine, wanted = (k.workgroup_size("main") for k in (kernel, official))
    if mine != wanted:
        return f"its workgroups have {_times(mine)} threads; write @workgroup_size({_times(wanted, ', ')})"
    return ""


def _reason(error: WgslError) -> str:
    """Place, cause and cure, without what the verdict says already."""
    return re.sub("^your kernel(?: does not compile| is not simulated)?[,:] ", "", str(error))


def _times(size: Sequence[int], sign: str = " x ") -> str:
    """The size of a workgroup without the axes of 1 at its end."""
    return re.sub(f"({sign}1)+$", "", sign.join(map(str, size)))


# --- One test -----------------------------------------------------------------------------------------------


def _said(finding: Finding) -> str:
    """A finding as a clause, with the line in which it is."""
    if finding.kind == "unwritten output":  # its line is that of the declaration
        return finding.message
    return f"in line {finding.line}, {finding.message}"


def _first_mismatch(axes: Sequence[str], case: Case, output: np.ndarray, unwritten: np.ndarray) -> str:
    wrong = case.differ(output)
    index = tuple(np.argwhere(wrong)[0])
    place = ", ".join(f"{letter} = {i}" for letter, i in zip(axes, index, strict=True))
    yours = "nothing was written" if unwritten[index] else f"yours is {number(output[index])}"
    count = f"{wrong.sum():,} of {wrong.size:,} numbers" if wrong.size > 1 else "the only number"
    where = "is wrong, at" if wrong.sum() == 1 else "are wrong, first at"
    return f"{count} {where} {place}: {yours}, right is {number(case.expected[index])}"


class _Judge:
    """The verdicts on a kernel whose loops all end."""

    def __init__(self, puzzle: Puzzle, kernel: Kernel, trials: Sequence[Trial]) -> None:
        self.puzzle, self.kernel, self.trials = puzzle, kernel, trials
        self.wrong = [trial for trial in trials if trial.case.differ(trial.output).any()]
        # The first test that shows a mistake describes it for all tests. WGSL wants barriers in uniform control flow
        # whatever the numbers are, so one that is missed in any test is unsafe in all of them.
        self.first = {}
        for trial in trials:
            for found in trial.trace.findings:
                self.first.setdefault((found.kind, found.line, found.column), found)
        self.missed = next((found for key, found in self.first.items() if key[0] == "non-uniform barrier"), None)

    def grades(self) -> Grades:
        """All verdicts."""
        verdicts = {trial: self._verdict(trial) for trial in self.trials}
        suspects = self.wrong or [trial for trial in self.trials if trial.finding]
        if suspects and (slip := self._recognized()):
            first = verdicts[suspects[0]]
            verdicts[suspects[0]] = replace(first, detail=f"it looks as if {slip.mistake}; {first.detail}")
        if self.wrong:
            smallest = min(self.wrong, key=lambda trial: trial.case.expected.size)
            verdicts[smallest] = replace(verdicts[smallest], drawing=self._drawn(smallest))
        return Grades(verdicts.values())

    def _verdict(self, trial: Trial) -> Verdict:
        case, found = trial.case, trial.finding or self.missed
        if found:
            told = self.first[found.kind, found.line, found.column]
        if trial in self.wrong:
            detail = _first_mismatch(self.puzzle.axes, case, trial.output, trial.unwritten)
            if found and told is found and found.kind != "unwritten output":
                detail = f"{_said(found)}; {detail}" if found.kind in ORDER else f"{detail}; also, {_said(found)}"
            return Verdict(case.name, WRONG, detail)
        if found:
            return Verdict(case.name, UNSAFE, f"{LUCK}{_said(told)}")
        return self._on_the_adapter(case)

    def _on_the_adapter(self, case: Case) -> Verdict:
        """The verdict where a simulated run is right, and nothing was found."""
        try:
            output = launched(self.kernel, case, TRAP)
            if not case.differ(output).any():
                return Verdict(case.name, RIGHT)
            fresh = launched(self.kernel, case, 0.0)
        except GpuError as error:
            return Verdict(case.name, WRONG, f"it compiles, but it cannot be run: {error}")
        if case.differ(fresh).any():
            mismatch = _first_mismatch(self.puzzle.axes, case, fresh, np.zeros(fresh.shape, bool))
            return Verdict(case.name, WRONG, f"simulated, each number is right, but on {adapter_info().name} {mismatch}")
        adds = np.allclose(output - TRAP, fresh, atol=0.1)
        what = "it adds to what was in the output before" if adds else "its numbers depend on the output's old ones"
        return Verdict(case.name, UNSAFE, f"{LUCK}{what}, which is 0 only in a new buffer; write =, not +=")

    def _recognized(self) -> Slip | None:
        """The known mistake that does the same in every test, or None."""
        end = monotonic() + SECONDS
        trials = sorted(self.trials, key=lambda trial: rounds(trial.case))  # the quick ones first
        for slip in self.puzzle.slips:
            other = self.puzzle.official.edit(slip.old, slip.new)
            if monotonic() < end and all(self._same(trial, other) for trial in trials):
                return slip
        return None

    def _same(self, mine: Trial, other: Kernel) -> bool:
        """Whether a known mistake gives the same numbers in a test, and explains what was found there."""
        theirs = simulated(other, mine.case)
        if theirs.endless or mine.case.differ(mine.output, theirs.output).any():
            return False
        return mine.kinds & ORDER <= theirs.kinds if self.wrong else mine.kinds == theirs.kinds

    def _drawn(self, trial: Trial) -> str:
        """The output beside the right one, in lines."""
        case = trial.case
        marks = np.where(case.differ(trial.output), np.where(trial.unwritten, ".", "*"), "")
        names = [each.name for each in self.puzzle.official.bound]
        inputs = dict(zip(names, case.inputs, strict=False))
        lines = drawing(case.expected, trial.output, marks, self.puzzle.axes, inputs)
        return "\n".join([f"The smallest test that fails is {case.name}.", f"({legend(marks)})", *lines])
