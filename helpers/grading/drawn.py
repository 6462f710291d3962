"""Problems that are drawn at random for a text that passes its tests: the first that it fails is made smaller.

They are drawn from a seed that is made of the text itself, so that the same text always gets the same problems.
"""

import hashlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod

import numpy as np

from helpers.grading.puzzle import Case, Drawn, Puzzle, without_blanks
from helpers.grading.test_run import TestRun, simulated
from wgsl import Kernel
from wgsl.simulator.work import Work

NAME = "drawn problem"  # of the test that one becomes
PROBLEMS = 40  # at most, as many as ENOUGH work is for; but at least those that have the ends of all sizes
CANDIDATES = 80  # of which they are chosen
LARGE = 2  # problems in which a size is at its largest
ENOUGH = 50_000_000  # of `Work`: about 0.4 s
MOST_WORK = 200_000_000  # of `Work` for the drawn problems of a text: less than 1 s
MOST_WORK_SMALLER = 50_000_000  # to make the one that fails smaller
MOST_TRIES = 100  # to do so
REDRAWN = 50  # times until sizes fit together

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


def failed(puzzle: Puzzle, kernel: Kernel, seed: Seed, most: int) -> Problem | None:
    """Return the first drawn problem that a kernel fails, made smaller; None where there is none.

    All of them may take MOST_WORK, or `most`, if that is more: as much as its tests took.
    """
    if puzzle.drawn is None:
        return None
    work = Work(max(MOST_WORK, most))
    until = work.left - ENOUGH
    ends, others = chosen(puzzle, kernel.code, seed)
    for number in ends + others:
        if number in others and work.left < until:
            return None
        sizes, case_of = drawn_problem(puzzle, kernel.code, seed, number)
        run = simulated(kernel, case_of(sizes), work=work)
        if work.left < 0:
            return None
        if way := way_to_fail(run):
            return _made_smaller(kernel, Problem(sizes, run), case_of, way)
    return None


def chosen(puzzle: Puzzle, code: str, seed: Seed) -> tuple[list[int], list[int]]:
    """Return the numbers of the problems on which a text must be tried, and those of others.

    In the first ones each size, and each word of the uniform, is LARGE times as large as in any of CANDIDATES, and each
    size is once the smallest, and each kind of numbers is there: a text may be wrong at the ends alone.
    """
    candidates = []
    uniforms = []
    for number in range(CANDIDATES):
        sizes, case_of = drawn_problem(puzzle, code, seed, number)
        candidates.append(sizes)
        uniforms.append(dict(enumerate(case_of(sizes).params)))
    cheap_first = sorted(range(CANDIDATES), key=lambda number: _product(candidates[number]))
    numbers = [cheap_first[-1]]
    for facts in candidates, uniforms:
        for name, value in facts[0].items():
            if isinstance(value, str):
                _add_each(numbers, [fact[name] for fact in facts])
            else:
                largest_first = sorted(cheap_first, key=lambda number: -facts[number][name])
                numbers += largest_first[:LARGE]
    for name, value in candidates[0].items():
        if not isinstance(value, str):
            numbers.append(min(range(CANDIDATES), key=lambda number: candidates[number][name]))
    numbers = [number for number in cheap_first if number in numbers]
    return numbers, [number for number in range(PROBLEMS) if number not in numbers]


def _add_each(numbers: list[int], words: list[str]) -> None:
    """Add a problem of each word that none of the numbers has."""
    for word in sorted(set(words)):
        if word not in [words[number] for number in numbers]:
            numbers.append(words.index(word))


def _product(sizes: Sizes) -> int:
    return prod(size for size in sizes.values() if isinstance(size, int))


def drawn_problem(puzzle: Puzzle, code: str, seed: Seed, number: int) -> tuple[Sizes, Callable[[Sizes], Case]]:
    """Return the sizes of a drawn problem, by its number, and the function that makes the case of such sizes."""

    def case_of(sizes: Sizes) -> Case:
        """The same sizes have the same numbers."""
        return puzzle.drawn.case(NAME, sizes, random_numbers(puzzle.name, code, seed, number, 1))

    random = random_numbers(puzzle.name, code, seed, number)
    return _that_fit(puzzle.drawn, random, case_of), case_of


def _that_fit(drawn: Drawn, random: np.random.Generator, case_of: Callable[[Sizes], Case]) -> Sizes:
    """Draw sizes until they fit together."""
    for _ in range(REDRAWN):
        sizes = drawn.sizes(random)
        if _case_or_none(case_of, sizes):
            return sizes
    raise RuntimeError(f"{REDRAWN} times the sizes that are drawn do not fit together, the last time {sizes}")


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
