"""The known mistakes that a text may make: those that do the same in every test."""

import re
from collections.abc import Mapping, Sequence
from enum import IntEnum

import numpy as np

from helpers.grading import drawn
from helpers.grading.mistakes import Mistake
from helpers.grading.puzzle import Case, Puzzle
from helpers.grading.quick_run import executed, words_of
from helpers.grading.test_run import TestRun, simulated
from helpers.grading.text_checks import members
from wgsl import Kernel
from wgsl.simulator.findings import Finding
from wgsl.simulator.run import compiled
from wgsl.simulator.subgroups import USUAL
from wgsl.simulator.work import Work

TELLING = "loads_storage", "loads_workgroup", "sectors"  # what is the same in two texts that do the same work
QUICK_WORK = 600_000_000  # of `Work`, for the quick runs of all mistakes: about 1 s
DRAWN = 12  # problems in which several mistakes are told apart
About = tuple[str, str | None, str | None]


class Fit(IntEnum):
    """The ways in which a known mistake may fit: by kind, the same is found, and other numbers of threads do it."""

    NO = 0
    BY_KIND = 1
    WHOLE = 2


def may_be_made(mistake: Mistake, official: Kernel, kernel: Kernel) -> bool:
    """Return False for a mistake whose edits write what a text has nowhere: its numbers have another cause.

    This is a member of the uniform, in a text that never reads the one in its place, or a built-in value of its name.
    Where the members have the official names in another order, their order is the cause.
    """
    places = {member.name: place for place, member in enumerate(members(official))}
    own = [member.name for member in members(kernel)]
    if sorted(own) == sorted(places) and own != [*places]:
        return False
    for name in mistake.added:
        if len(own) == len(places) and name in places and not re.search(rf"\.\s*{own[places[name]]}\b", kernel.code):
            return False
        if "_" in name and name in mistake.name and name not in kernel.code:
            return False
    return True


def fitting(mistakes: Mapping[Mistake, Kernel], runs: Sequence[TestRun], work: float, as_much: bool) -> list[Mistake]:
    """Return the mistakes that fit best in every test, one of each name; none where not all could be tried.

    `work` is how many statements may be simulated, for those mistakes that make the same numbers in a quick run. A
    mistake in a right text does `as_much` as the text.
    """
    quick_first = sorted(runs, key=lambda run: run.counts["statements"])
    failing = [run for run in quick_first if run.wrong.any()]
    telling = dict.fromkeys([*quick_first[:1], *failing[:1]])
    quick = Work(QUICK_WORK)
    fits = {}
    for mistake, other in mistakes.items():
        if not all(_makes_the_numbers(other, run, quick) for run in telling):
            continue
        fits[mistake], done = _fit(other, quick_first, as_much, work)
        work -= done
    best = max(fits.values(), default=Fit.NO)
    if best == Fit.NO or min(work, quick.left) < 0:
        return []
    by_name = {mistake.name: mistake for mistake, fit in fits.items() if fit == best}
    return list(by_name.values())


def further(puzzle: Puzzle, kernel: Kernel, fit: Sequence[Mistake]) -> list[Mistake]:
    """Return those mistakes of several that do in drawn problems what the text does."""
    if puzzle.drawn is None:
        return [*fit]
    ends, _ = drawn.chosen(puzzle, kernel.code, None)
    work = Work(QUICK_WORK)
    left = [*fit]
    for number in ends[:DRAWN]:
        sizes, case_of = drawn.drawn_problem(puzzle, kernel.code, None, number)
        case = case_of(sizes)
        output = _numbers(kernel, case, work)
        others = {mistake: _numbers(puzzle.with_mistake(mistake), case, work) for mistake in left}
        if output is not None and work.left > 0:
            left = [one for one, made in others.items() if made is not None and not case.differ(output, made).any()]
    return left


def _numbers(kernel: Kernel, case: Case, work: Work) -> np.ndarray | None:
    """Return the numbers that a kernel makes in a case; None where a loop does not end, or the work is used up."""
    programs = {dispatch.entry_point: compiled(kernel, dispatch.entry_point) for dispatch in case.dispatches}
    try:
        return executed(programs, case, words_of(case), work)
    except ValueError:
        return None


def _makes_the_numbers(other: Kernel, run: TestRun, work: Work) -> bool:
    """Return whether a mistake makes the numbers of a run, as far as a quick run says."""
    case = run.case
    if case.subgroup_size != USUAL:
        return True
    output = _numbers(other, case, work)
    return output is not None and not case.differ(run.output, output).any()


def _fit(other: Kernel, runs: Sequence[TestRun], as_much: bool, work: float) -> tuple[Fit, float]:
    """Return how well a mistake fits in every test, and how many statements were simulated for it."""
    fit, done = Fit.WHOLE, 0.0
    for run in runs:
        if done > work:
            return Fit.NO, done
        theirs = simulated(other, run.case)
        done += theirs.counts["statements"]
        fit = min(fit, _fit_in(run, theirs, as_much))
        if fit == Fit.NO:
            break
    return fit, done


def _fit_in(run: TestRun, theirs: TestRun, as_much: bool) -> Fit:
    """Return how well a mistake fits in a test: by what is written, what is not, and what is found."""
    if theirs.endless or run.case.differ(run.output, theirs.output).any() or (run.unwritten != theirs.unwritten).any():
        return Fit.NO
    if as_much and any(run.counts[key] != theirs.counts[key] for key in TELLING):
        return Fit.NO
    found, also_found = _found(run), _found(theirs)
    if found == also_found:
        return Fit.WHOLE
    return Fit.BY_KIND if {*found} == {*also_found} else Fit.NO


def _found(run: TestRun) -> dict[About, int]:
    """Return what was found in a test, and how many threads did it.

    Unwritten numbers and NaN are compared one by one.
    """
    others = (finding for finding in run.findings if finding.kind not in ("unwritten output", "not-a-number"))
    return {_about(finding): finding.count for finding in others}


def _about(finding: Finding) -> About:
    """Return what kind of mistake it is, and what is done to which variable: two texts may do it in other lines."""
    return finding.kind, finding.access, finding.variable or finding.barrier
