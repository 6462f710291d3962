"""The sentence about a kernel that was run with subgroups of several sizes."""

from __future__ import annotations

from collections.abc import Sequence

from wgsl.subgroup_facts import DifferingWord, SubgroupSizes
from wgsl.words.findings import quoted_line


def message(facts: SubgroupSizes) -> str:
    """Return whether the outputs depend on the size, and the sizes whose runs have findings."""
    if facts.findings:
        return f"{outputs(facts)}; there are findings with {listed(facts.findings, 'and')}"
    return outputs(facts)


def outputs(facts: SubgroupSizes) -> str:
    """Return whether the outputs depend on the size, and which line takes it for a number."""
    if not facts.wrong:
        same = "the outputs are right" if facts.known else "the outputs are the same"
        return f"{same} with subgroups of {listed(facts.right, 'and')} threads"
    if facts.known:
        right = f"right with {listed(facts.right, 'and')}" if facts.right else "right with no size"
        said = f"{right}, wrong with {listed(facts.wrong, 'and')}"
    else:
        said = f"the outputs with {listed(facts.wrong, 'and')} differ from those with {listed(facts.right, 'or')}"
    if facts.lines:
        lines = " and ".join(quoted_line(line.number, line.code) for line in facts.lines)
        take = "takes" if len(facts.lines) == 1 else "take"
        return f"{said}: {lines}, {take} the size of a subgroup for {facts.taken}"
    if facts.differing:
        return f"{said}: {differing(facts.differing)}"
    return said


def differing(facts: DifferingWord) -> str:
    """Return the first number that is another one with another size."""
    name = facts.variable if facts.index is None else f"{facts.variable}[{facts.index}]"
    line = f" ({quoted_line(facts.line.number, facts.line.code)}, stores it)" if facts.line else ""
    return f"with {facts.size}, `{name}` is {number(facts.value)} and not {number(facts.wanted)}{line}"


def number(value: float) -> str:
    """Return a number with as many digits as an f32 has."""
    return f"{value:,}" if isinstance(value, int) else f"{value:.7g}"


def listed(numbers: Sequence[int], word: str) -> str:
    """Return numbers as a sentence lists them."""
    *first, last = map(str, numbers)
    return f"{', '.join(first)} {word} {last}" if first else last
