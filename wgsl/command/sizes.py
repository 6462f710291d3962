"""`wgsl run --subgroup-sizes`: a dispatch with subgroups of several sizes, and the line that takes one for granted."""

from __future__ import annotations

from argparse import ArgumentTypeError, Namespace
from collections.abc import Iterator, Sequence

from wgsl.command.comments import SUBGROUP_SIZE, slug
from wgsl.command.report import described, summary
from wgsl.problems import Problem
from wgsl.simulator.findings import Finding
from wgsl.simulator.sizes import Sizes
from wgsl.simulator.subgroups import SIZES, checked_size

ALL = "all"
OF_ONE_RUN = ("subgroup_size", "lines", "show", "watch", "save")  # options


def sizes_of(text: str) -> tuple[int, ...]:
    """Return the sizes that an option names."""
    if text == ALL:
        return SIZES
    try:
        return tuple(checked_size(int(size)) for size in text.split(","))
    except ValueError:
        rule = f"{ALL}, or powers of two from {SIZES[0]} to {SIZES[-1]} with commas between them"
        raise ArgumentTypeError(f"{text!r} is not {rule}") from None


def check_alone(options: Namespace) -> None:
    """Raise ValueError for an option that belongs to one run."""
    for name in OF_ONE_RUN:
        if getattr(options, name):
            option = f"--{slug(name)}"
            raise ValueError(f"{option} is about one run, and --subgroup-sizes makes several: leave one of them out")


def found(sizes: Sizes) -> Iterator[Finding | Problem]:
    """Yield what the runs show: each finding once, and the line that takes the size for a number."""
    known = {}
    for trace in sizes.traces.values():
        for finding in trace.findings:
            known.setdefault((finding.kind, finding.line, finding.column), finding)
    yield from known.values()
    if sizes.depends:
        facts = sizes.facts
        stored = facts.differing.line if facts.differing else None
        line = next(filter(None, [*facts.lines, stored]), None)
        yield Problem(line.number if line else 1, 1, SUBGROUP_SIZE, sizes.message, slug(SUBGROUP_SIZE))


def report(sizes: Sizes, left: Sequence[Finding | Problem]) -> str:
    """Return what is left of it, what was run, and that the outputs are the same, where they are."""
    trace = next(iter(sizes.traces.values()))
    name = trace.kernel.name
    parts = [described(name, one) for one in left if isinstance(one, Finding)]
    parts += [f"{name}:{one.line}:{one.column}: {one.kind}: {one.message}" for one in left if isinstance(one, Problem)]
    same = [] if sizes.depends else [sizes.message]
    return "\n\n".join([*parts, summary(trace, len(left)), *same])
