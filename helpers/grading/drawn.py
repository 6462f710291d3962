"""Problems that are drawn at random for a text that passes its tests: the first that it fails is made smaller.

They are drawn from a seed that is made of the text itself, so that the same text always gets the same problems.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from helpers.grading import drawn_choice
from helpers.grading.comparison import NotTried
from helpers.grading.puzzle import Case, Puzzle, without_blanks
from helpers.grading.test_run import TestRun, simulated
from wgsl import Kernel
from wgsl.simulator.work import Work

NAME = "drawn problem"  # of the test that one becomes
PROBLEMS = 40  # at most, as many as ENOUGH work is for; but at least those that have the ends of all sizes
CANDIDATES = 120  # of which they are chosen
ENOUGH = 50_000_000  # of `Work`: about 0.2 s
MOST_WORK = 600_000_000  # of `Work` for the drawn problems of a text: less than 3 s, more than 3 times our most
MOST_WORK_SMALLER = 50_000_000  # to make the one that fails smaller
MOST_TRIES = 100  # to do so

Sizes = Mapping[str, int | str]
Seed = int | str | None


@dataclass(frozen=True, eq=False)
class Problem:
    """A drawn problem, by its sizes, and a kernel's run on it."""

    sizes: Sizes
    run: TestRun


def check_seed(seed: Seed) -> None:
    """Refuse a seed that is no seed. Raises TypeError."""
    if isinstance(seed, bool) or not isinstance(seed, int | str | None):
        raise TypeError(f"seed is a {type(seed).__name__}: it must be a whole number, text or None")


def random_numbers(puzzle: str, code: str, seed: Seed, *place: int) -> np.random.Generator:
    """Return the random numbers for a text without its comments: blanks do not count, all else does."""
    facts = repr((puzzle, without_blanks(code), seed))
    digest = hashlib.sha256(facts.encode()).digest()
    return np.random.default_rng([int.from_bytes(digest, "big"), *place])


def smaller(sizes: Sizes, fails: Callable[[Sizes], bool]) -> Sizes:
    """Return sizes of a problem that fails, too: each is lowered by a half, or a quarter, and so on down to one.

    `fails` is asked MOST_TRIES times at most.
    """
    tries = 0
    names = [name for name, size in sizes.items() if isinstance(size, int)]
    waiting = list(names)
    while waiting:
        name = waiting.pop(0)
        for step in _steps(sizes[name]):
            if tries == MOST_TRIES:
                return sizes
            tries += 1
            lowered = {**sizes, name: sizes[name] - step}
            if fails(lowered):
                sizes = lowered
                waiting = [name, *(other for other in names if other != name)]
                break
    return sizes


def _steps(size: int) -> list[int]:
    """Return by how much a size is lowered, the most first; 1 may become 0."""
    steps = []
    step = max(size // 2, 1)
    while size and step:
        steps.append(step)
        step //= 2
    return steps


def failed(puzzle: Puzzle, kernel: Kernel, seed: Seed, most: int) -> Problem | NotTried | None:
    """Return the first drawn problem that a kernel fails, made smaller; None where there is none.

    All of them may take MOST_WORK, or `most`, if that is more: as much as its tests took. Where that is used up, the
    larger ones are not tried.
    """
    if puzzle.drawn is None:
        return None
    limit = max(MOST_WORK, most)
    work = Work(limit)
    ends, others = chosen(puzzle, kernel.code, seed)
    for place, number in enumerate(ends + others):
        if number in others and limit - work.left > ENOUGH:
            return None
        sizes, case_of = drawn_problem(puzzle, kernel.code, seed, number)
        spent = limit - work.left
        run = simulated(kernel, case_of(sizes), work=work)
        if way := way_to_fail(run):
            return _made_smaller(kernel, Problem(sizes, run), case_of, way)
        if run.long:
            return _not_tried(puzzle, kernel.code, seed, [*ends, *others][:place], spent)
    return None


def _not_tried(puzzle: Puzzle, code: str, seed: Seed, numbers: Sequence[int], spent: int) -> NotTried:
    """Return how many times the official kernel's work on the problems that were finished a text's work is."""
    ours = Work()
    before = ours.left
    for number in numbers:
        sizes, case_of = drawn_problem(puzzle, code, seed, number)
        simulated(puzzle.official, case_of(sizes), work=ours)
    return NotTried(round(spent / max(before - ours.left, 1)))


def chosen(puzzle: Puzzle, code: str, seed: Seed) -> tuple[list[int], list[int]]:
    """Return the numbers of the problems on which a text must be tried, of CANDIDATES, and those of others."""
    candidates = [drawn_problem(puzzle, code, seed, number)[0] for number in range(CANDIDATES)]
    numbers = drawn_choice.chosen(candidates, [puzzle.drawn.facts(sizes) for sizes in candidates])
    return numbers, [number for number in range(PROBLEMS) if number not in numbers]


def drawn_problem(puzzle: Puzzle, code: str, seed: Seed, number: int) -> tuple[Sizes, Callable[[Sizes], Case]]:
    """Return the sizes of a drawn problem, by its number, and the function that makes the case of such sizes."""

    def case_of(sizes: Sizes) -> Case:
        """The same sizes have the same numbers."""
        return puzzle.drawn.case(NAME, sizes, random_numbers(puzzle.name, code, seed, number, 1))

    return puzzle.drawn.sizes(random_numbers(puzzle.name, code, seed, number)), case_of


def _case_or_none(case_of: Callable[[Sizes], Case], sizes: Sizes) -> Case | None:
    try:
        case = case_of(sizes)
    except ValueError:
        return None
    return case if case.expected.size else None


def _made_smaller(kernel: Kernel, problem: Problem, case_of: Callable[[Sizes], Case], way: tuple) -> Problem:
    """Return the smallest problem that is found on which a kernel fails in the same way."""
    work = Work(MOST_WORK_SMALLER)
    failing = [problem]

    def fails(sizes: Sizes) -> bool:
        case = _case_or_none(case_of, sizes)
        if case is None or work.left < 0:
            return False
        run = simulated(kernel, case, work=work)
        if work.left < 0 or way_to_fail(run) != way:
            return False
        failing.append(Problem(sizes, run))
        return True

    smaller(problem.sizes, fails)
    return failing[-1]


def way_to_fail(run: TestRun) -> tuple | None:
    """Return what is wrong with a run; None where nothing is, or where it was stopped and all its loops may end."""
    if run.endless:
        return None if run.long else ("endless",)
    way = bool(run.wrong.any()), run.finding and run.finding.kind, bool(run.uses_before)
    return way if any(way) else None
