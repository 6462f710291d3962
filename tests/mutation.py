"""Change each kernel in one place, in every way that is easily mistaken, and see whether the checks notice.

    python tests/mutation.py [KERNEL ...]

takes the kernels whose names contain one of the words, or all of them (about 5 minutes on 2 cores), prints what
survives, and writes tests/mutation_report.md if it has run all. The exit status is 1 if a mutant survives for
which tests/support/survivors.py gives no reason. Only a mutant that is right in the simulator is run on the adapter.
Without --workers, it uses all cores of this machine.
"""

import argparse
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import chain, groupby
from multiprocessing import get_context
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).resolve().parent)]

from support.mutants import Mutant, judged, mutants
from support.survivors import reason

from helpers.bench.layers import select
from helpers.lessons.shared.wrong_kernels import small
from helpers.operations.kernels import load, versions
from helpers.operations.registry import OPERATIONS
from helpers.workers import WorkersError, add_options, mapped

AT_ONCE = 8  # mutants in a piece, which takes about a second
REPORT = Path(__file__).with_name("mutation_report.md")
Result = tuple[Mutant, str]  # "" is a survivor


def every_mutant(words: Sequence[str] = ()) -> list[Mutant]:
    """The mutants of the kernels whose names contain one of the words, or of all kernels.

    Those that are specialized for a layer are left out: a driver compiles each of their texts for a second. Their
    faults are planted by hand in helpers/lessons/shared/wrong_kernels.toml and tests/support/kernel_faults.toml.

    Raises ValueError for a word that no other kernel's name contains.
    """
    names = []
    for operation in OPERATIONS:
        names += [f"{operation}/{version}" for version in versions(operation)]
    general = [name for name in names if not load(name).specialized]
    kernels = [small(load(name)) for name in select(words, general, "KERNEL")]
    return [*chain.from_iterable(map(mutants, kernels))]


def judge_all(chosen: list[Mutant], workers: str | None = None, ledger: Path | None = None) -> Iterator[Result]:
    """Yield each mutant, in their order, with the reason for which it is rejected."""
    plain = [[mutant.kernel.name, *mutant[1:]] for mutant in chosen]
    pieces = [plain[first : first + AT_ONCE] for first in range(0, len(plain), AT_ONCE)]
    judged_pieces = mapped("tests.mutation:judged_each", pieces, workers, ledger, _side_by_side)
    yield from zip(chosen, chain.from_iterable(judged_pieces), strict=True)


def judged_each(piece: list[list]) -> list[str]:
    """The reason that rejects each mutant, given as the kernel's name, the place, the old text and the new."""
    return [judged(Mutant(small(load(name)), *change)) for name, *change in piece]


def _side_by_side(function: Callable[[str], str], pieces: Iterable[str]) -> Iterator[str]:
    with ProcessPoolExecutor(mp_context=get_context("spawn")) as pool:
        yield from pool.map(function, pieces)


def report(results: list[Result]) -> str:
    """The counts of each kernel, and every survivor with the reason why it computes the same."""
    lines = ["# Mutants of the kernels", "", *__doc__.splitlines()[:1], ""]
    lines += ["Written by `python tests/mutation.py`. A mutant is *rejected* by wrong numbers, by what the simulator"]
    lines += ["finds, or because it does not compile; a *survivor* passes every check.", ""]
    lines += ["| kernel | mutants | do not compile | rejected | survivors |", "|---|---:|---:|---:|---:|"]
    lines += [_row(name, rows) for name, rows in by_kernel(results)]
    lines += [_row("**all**", results), "", "## What rejected them", ""]
    kinds = Counter(kind for _, kind in results if kind)
    lines += ["| reason | mutants |", "|---|---:|", *(f"| {kind} | {count:,} |" for kind, count in kinds.most_common())]
    lines += ["", "## Survivors, and why they compute the same", ""]
    for name, rows in by_kernel(results):
        survivors = [mutant for mutant, kind in rows if not kind]
        if survivors:
            lines += [f"### {name}", ""]
        for why, group in groupby(sorted(survivors, key=lambda mutant: reason(mutant) or ""), key=reason):
            lines += [why or "**No reason is known.**", "", *(f"- {change(mutant)}" for mutant in group), ""]
    return "\n".join(lines)


def by_kernel(results: list[Result]) -> list[tuple[str, list[Result]]]:
    """The results of each kernel, under its name."""
    grouped = groupby(results, key=lambda result: result[0].kernel.name)
    return [(name, list(rows)) for name, rows in grouped]


def _row(name: str, results: list[Result]) -> str:
    kinds = [kind for _, kind in results]
    broken = kinds.count("does not compile")
    survived = kinds.count("")
    rejected = len(kinds) - broken - survived
    return f"| {name} | {len(kinds):,} | {broken:,} | {rejected:,} | {survived:,} |"


def change(mutant: Mutant) -> str:
    """The line as it was and as it is, without the kernel's name."""
    return str(mutant).partition(":")[2]


def main(words: list[str]) -> int:
    """Run the command; returns its exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("kernels", nargs="*", metavar="KERNEL")
    add_options(parser)
    options = parser.parse_args(words)
    try:
        results = list(judge_all(every_mutant(options.kernels), options.workers, options.ledger))
    except WorkersError as error:
        print(error, file=sys.stderr)
        return 2
    unknown = [mutant for mutant, kind in results if not kind and not reason(mutant)]
    if options.kernels:
        print(report(results))
    else:
        REPORT.write_text(report(results), encoding="utf-8")
    for mutant in unknown:
        print(f"survives, and no reason is known: {mutant}")
    return int(bool(unknown))


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
