"""What a learner's kernel deserves to hear: it is run on the cases of a puzzle, in this process."""

import re
from collections.abc import Sequence
from dataclasses import replace
from itertools import zip_longest
from time import monotonic

import numpy as np

from helpers.gpu import GpuError
from helpers.gpu.passes import pipeline
from helpers.grading.drawing import drawing, legend, number
from helpers.grading.loops import BUDGET
from helpers.grading.order import early_read
from helpers.grading.puzzle import Case, Puzzle, Slip, declarations
from helpers.grading.trial import Trial
from helpers.grading.uniformity import divergent_barrier
from helpers.grading.verdict import NO_COMPILE, RIGHT, UNSAFE, WRONG, Grades, Verdict
from helpers.wgsl import Kernel, WgslError

SECONDS = 10  # how long a mistake may be looked for
Pairs = Sequence[tuple[Case, Trial]]


def judged(puzzle: Puzzle, source: str) -> Grades:
    """The verdicts on a text, with the mistake's name if it is a known one, and a drawing of the smallest wrong output.

    Raises GpuError where this machine cannot run any kernel.
    """
    kernel = Kernel(source)
    if problem := _problem(kernel, puzzle.official):
        reason, _, excerpt = problem.partition("\n")
        return Grades.alike(puzzle.tests, NO_COMPILE, reason, excerpt)
    pairs = [(case, _tried(puzzle, kernel, case)) for case in puzzle.cases()]
    try:
        verdicts = [_verdict(puzzle, kernel, *pair) for pair in pairs]
    except (GpuError, WgslError) as error:
        return Grades.alike(puzzle.tests, WRONG, f"it compiles, but it cannot be run: {error}")
    failed = [i for i, verdict in enumerate(verdicts) if verdict.outcome != RIGHT]
    if failed:
        first, slip = verdicts[failed[0]], _recognized(puzzle, kernel, pairs)
        causes = [f"it looks as if {slip.mistake}"] if slip else []
        causes += [found for found in _barriers(puzzle, kernel) if found not in first.detail]
        verdicts[failed[0]] = replace(first, detail="; ".join([*causes, first.detail]))
    wrong = [i for i in failed if verdicts[i].outcome == WRONG and not pairs[i][1].endless]
    if wrong:
        smallest = min(wrong, key=lambda i: pairs[i][0].expected.size)
        verdicts[smallest] = replace(verdicts[smallest], drawing=_drawn(puzzle, *pairs[smallest]))
    return Grades(verdicts)


def _tried(puzzle: Puzzle, kernel: Kernel, case: Case) -> Trial:
    arrays = tuple(each.name for each in kernel.bound[: len(case.inputs) + 1])
    return Trial(kernel, arrays, case.inputs, case.expected.shape, case.params, case.workgroups, puzzle.official)


# --- May it run in the official kernel's place? -------------------------------------------------------------


def _problem(kernel: Kernel, official: Kernel) -> str:
    """Why it may not, or nothing."""
    try:
        pipeline(kernel, "main")
    except WgslError as error:
        return re.sub("^your kernel(?: does not compile)?[,:] ", "", str(error))
    for binding, (mine, wanted) in enumerate(zip_longest(declarations(kernel), declarations(official))):
        if mine != wanted:
            return f"its binding {binding} is not the skeleton's; copy all bindings, and the struct, from there"
    mine, wanted = (k.workgroup_size("main") for k in (kernel, official))
    if mine != wanted:
        return f"its workgroups have {_times(mine)} threads; write @workgroup_size({_times(wanted, ', ')})"
    return ""


def _times(size: Sequence[int], sign: str = " x ") -> str:
    """The size of a workgroup without the axes of 1 at its end."""
    return re.sub(f"({sign}1)+$", "", sign.join(map(str, size)))


# --- One test -----------------------------------------------------------------------------------------------


def _verdict(puzzle: Puzzle, kernel: Kernel, case: Case, trial: Trial) -> Verdict:
    if trial.endless:
        return Verdict(case.name, WRONG, _endless(kernel, trial.endless))
    wrong = case.differ(trial.output)
    if wrong.any():
        missed = "" if divergent_barrier(kernel) else trial.missed_barrier
        also = [f"; also, {found}" for found in (missed, trial.out_of_range) if found]
        return Verdict(case.name, WRONG, _first_mismatch(puzzle.axes, case, trial, wrong) + "".join(also))
    if luck := "; ".join(_barriers(puzzle, kernel)) or trial.luck:
        return Verdict(case.name, UNSAFE, f"each number is right, but only by luck: {luck}")
    return Verdict(case.name, RIGHT)


def _barriers(puzzle: Puzzle, kernel: Kernel) -> list[str]:
    """What the text alone shows to be wrong with its barriers; no run is sure to show it."""
    _, divergent = divergent_barrier(kernel) or (0, "")
    return [found for found in (_missing_barrier(puzzle, kernel), divergent, early_read(kernel)) if found]


def _missing_barrier(puzzle: Puzzle, kernel: Kernel) -> str:
    """That a text has fewer barriers than it needs, or nothing."""
    memory = re.findall(r"var\s*<\s*workgroup\s*>\s*(\w+)", puzzle.official.code)
    used = any(re.search(rf"\b{name}\s*\[", kernel.code) for name in memory)
    found = len(re.findall(r"\bworkgroupBarrier\s*\(", kernel.code))
    if not used or found >= puzzle.barriers or kernel.workgroup_bytes != puzzle.official.workgroup_bytes:
        return ""
    return f"it has {found} workgroupBarrier() where {puzzle.barriers} {'is' if puzzle.barriers == 1 else 'are'} needed"


def _endless(kernel: Kernel, line: int) -> str:
    """Which loop it is, and what to look at."""
    below = re.search(r">=\s*0u?\b", kernel.code.split("\n")[line - 1])
    advice = "a u32 is never below 0, so >= 0 always holds" if below else "does its counter reach the limit?"
    return f"the loop in line {line} seems endless (stopped after {BUDGET:,} rounds): {advice}"


def _first_mismatch(axes: Sequence[str], case: Case, trial: Trial, wrong: np.ndarray) -> str:
    index = tuple(np.argwhere(wrong)[0])
    place = ", ".join(f"{letter} = {i}" for letter, i in zip(axes, index, strict=True))
    yours = "nothing was written" if trial.unwritten[index] else f"yours is {number(trial.output[index])}"
    count = f"{wrong.sum():,} of {wrong.size:,} numbers" if wrong.size > 1 else "the only number"
    where = "is wrong, at" if wrong.sum() == 1 else "are wrong, first at"
    return f"{count} {where} {place}: {yours}, right is {number(case.expected[index])}"


# --- All tests ----------------------------------------------------------------------------------------------


def _recognized(puzzle: Puzzle, kernel: Kernel, pairs: Pairs) -> Slip | None:
    """The known mistake that does the same in every test, and shows no less in its text, or None."""
    if any(trial.endless for _, trial in pairs):
        return None
    lucky = not any(case.differ(trial.output).any() for case, trial in pairs)

    def same(case: Case, mine: Trial, other: Kernel) -> bool:
        theirs = _tried(puzzle, other, case)
        return not case.differ(mine.output, theirs.output).any() and (not lucky or mine.luck == theirs.luck)

    end, shown = monotonic() + SECONDS, set(_barriers(puzzle, kernel))
    for slip in puzzle.slips:
        other = puzzle.official.edit(slip.old, slip.new)
        alike = monotonic() < end and shown <= {*_barriers(puzzle, other)}
        if alike and all(same(*pair, other) for pair in pairs):
            return slip
    return None


def _drawn(puzzle: Puzzle, case: Case, trial: Trial) -> str:
    """The output beside the right one, in lines."""
    marks = np.where(case.differ(trial.output), np.where(trial.unwritten, ".", "*"), "")
    names = [each.name for each in puzzle.official.bound]
    inputs = dict(zip(names, case.inputs, strict=False))
    lines = drawing(case.expected, trial.output, marks, puzzle.axes, inputs)
    return "\n".join([f"The smallest test that fails is {case.name}.", f"({legend(marks)})", *lines])
