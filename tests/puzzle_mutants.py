"""Change each puzzle's official text in one place, and see whether the tests and the drawn problems notice.

    python tests/puzzle_mutants.py [PUZZLE ...] [--every 3] [--first 2]
    python tests/puzzle_mutants.py [PUZZLE ...] --official 1000

The changes are those of mutation.py and more: each value is replaced by each other one, by constants, and by itself
with a limit, a step or a rounding, as in a text that is right by luck. A mutant that passes the tests is tried on the
problems that are drawn for its text, as a learner's text is. One that passes these, too, is tried on MORE others: if
it fails one of them, it is a wrong text that is called right. The exit status is 1 if there is one for which
support/puzzle_survivors.toml gives no reason. `--every 3` takes each third change, and `--first 2` begins with the
third. `--official 1000` tries each official text on so many drawn problems; the exit status is 1 if it fails one.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from time import monotonic
from typing import NamedTuple

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parent)]

from support.mutants import Mutant, mutants, of_values

from helpers.data import tables
from helpers.grading import interface_checks
from helpers.grading.drawn import Problem, drawn_problem, failed, way_to_fail
from helpers.grading.puzzle import Puzzle
from helpers.grading.test_run import simulated
from helpers.lessons.exercises import PUZZLES
from wgsl import Kernel, UnsupportedWgsl, WgslError
from wgsl.simulator.work import Work

MORE = 60  # drawn problems with other seeds
DRAWS = 25  # of an official text at once
PROGRESS = 50  # groups of results between two lines that count them
MOST_WORK = 500_000_000  # of `Work`: what the tests of a text may take
REASONS = Path(__file__).with_name("support") / "puzzle_survivors.toml"
OUTCOMES = ("does not compile", "failed a test", "failed a drawn problem", "passes all", "WRONG ELSEWHERE")


class Judged(NamedTuple):
    """A mutant of a puzzle's official text in words, its outcome, and the sizes of the problem that it fails."""

    puzzle: str
    change: str
    outcome: str
    sizes: str = ""


def official(puzzle: Puzzle) -> Kernel:
    """Return a puzzle's official text as a learner has it."""
    return Kernel(puzzle.solution.text, puzzle.name)


def judged(task: tuple[str, int, str, str]) -> Judged:
    """Return the outcome of a mutant, told by its puzzle, its place, the old text and the new one."""
    name, *change = task
    puzzle = PUZZLES[name]
    mutant = Mutant(official(puzzle), *change)
    words = str(mutant).partition(":")[2]
    try:
        outcome, sizes = _outcome(puzzle, mutant.changed)
    except UnsupportedWgsl as error:
        return Judged(name, words, "failed a test", str(error))
    except WgslError:
        return Judged(name, words, "does not compile")
    return Judged(name, words, outcome, sizes)


def _outcome(puzzle: Puzzle, kernel: Kernel) -> tuple[str, str]:
    puzzle.read(kernel.source)
    if interface_checks.problem(kernel, puzzle) or interface_checks.idle(kernel, puzzle):
        return "failed a test", ""
    work = Work(MOST_WORK)
    for case in puzzle.cases():
        if way_to_fail(simulated(kernel, case, work=work)) or work.left < 0:
            return "failed a test", ""
    problem = failed(puzzle, kernel, None, 0)
    if isinstance(problem, Problem):
        return "failed a drawn problem", _listed(problem.sizes)
    for seed in range(1, MORE + 1):
        sizes, case_of = drawn_problem(puzzle, kernel.code, seed, seed % 10)
        if way_to_fail(simulated(kernel, case_of(sizes))):
            return "WRONG ELSEWHERE", _listed(sizes)
    return "passes all", ""


def _listed(sizes: dict[str, int | str]) -> str:
    return ", ".join(f"{name} = {size}" for name, size in sizes.items())


def tasks(names: Iterable[str]) -> list[tuple[str, int, str, str]]:
    """Return the mutants of some puzzles, each as it travels to another process."""
    changes = []
    for name in names:
        kernel = official(PUZZLES[name])
        for mutant in dict.fromkeys([*mutants(kernel), *of_values(kernel)]):
            changes.append((name, mutant.at, mutant.old, mutant.new))
    return changes


def failures(task: tuple[str, range]) -> list[str]:
    """Return the drawn problems, of these numbers, that a puzzle's official text fails."""
    name, numbers = task
    puzzle = PUZZLES[name]
    found = []
    for number in numbers:
        sizes, case_of = drawn_problem(puzzle, "", "official", number)
        if way := way_to_fail(simulated(puzzle.official, case_of(sizes))):
            found.append(f"{name} fails drawn problem {number}: {_listed(sizes)}: {way}")
    return found


def each(pool: ProcessPoolExecutor, work: Callable, items: Sequence, chunk: int) -> Iterator:
    """Yield the result of each item, in order, and print how many there are."""
    start = monotonic()
    for count, result in enumerate(pool.map(work, items, chunksize=chunk), 1):
        if count % (PROGRESS * chunk) == 0 or count == len(items):
            print(f"{count:,} of {len(items):,} after {monotonic() - start:.0f} s", file=sys.stderr, flush=True)
        yield result


def table(results: list[Judged]) -> str:
    """Return the counts of each puzzle, and of all."""
    lines = [f"| puzzle | mutants | {' | '.join(OUTCOMES)} |", f"|---|---:|{'---:|' * len(OUTCOMES)}"]
    for name in (*dict.fromkeys(result.puzzle for result in results), "all"):
        counts = Counter(result.outcome for result in results if name in ("all", result.puzzle))
        numbers = [sum(counts.values()), *(counts[outcome] for outcome in OUTCOMES)]
        lines.append(f"| {name} | {' | '.join(map(str, numbers))} |")
    return "\n".join(lines)


def unexplained(results: list[Judged]) -> list[Judged]:
    """Return the wrong texts that are called right, and for which no reason is stored."""
    reasons = tables.read(REASONS, {}, {"changes": list, "reason": str})
    known = {(name, change) for name, row in reasons.items() for change in row["changes"]}
    missed = [result for result in results if result.outcome == "WRONG ELSEWHERE"]
    return [result for result in missed if (result.puzzle, result.change) not in known]


def main(words: list[str]) -> int:
    """Run the command; returns its exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("puzzles", nargs="*", metavar="PUZZLE")
    parser.add_argument("--every", type=int, default=1, metavar="N")
    parser.add_argument("--first", type=int, default=0, metavar="N")
    parser.add_argument("--official", type=int, metavar="N")
    options = parser.parse_args(words)
    names = options.puzzles or [*PUZZLES]
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        if options.official:
            return _of_official_texts(pool, names, options.official)
        return _of_mutants(pool, tasks(names)[options.first :: options.every])


def _of_official_texts(pool: ProcessPoolExecutor, names: Sequence[str], draws: int) -> int:
    """Print which drawn problems the official texts fail; returns the exit status."""
    items = []
    for name in names:
        items += [(name, range(first, min(first + DRAWS, draws))) for first in range(0, draws, DRAWS)]
    found = [line for lines in each(pool, failures, items, 1) for line in lines]
    print("\n".join([*found, f"{len(found)} of {len(names) * draws:,} drawn problems fail"]))
    return int(bool(found))


def _of_mutants(pool: ProcessPoolExecutor, changes: Sequence[tuple]) -> int:
    """Print what became of the mutants; returns the exit status."""
    results = list(each(pool, judged, changes, 8))
    print(table(results))
    for result in results:
        if result.outcome in ("passes all", "WRONG ELSEWHERE"):
            print(f"{result.outcome}: {result.puzzle}:{result.change} {result.sizes}")
    return int(bool(unexplained(results)))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
