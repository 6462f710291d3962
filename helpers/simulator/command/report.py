"""What the command line prints: findings with their place in the text, and counts in a table."""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby

import numpy as np

from helpers.simulator.findings.collector import Finding
from helpers.simulator.findings.counts import KEYS, MEANINGS
from helpers.simulator.findings.trace import Trace


def report(trace: Trace, with_lines: bool) -> str:
    """Findings, what was run, and the counts; of each line of the text, too, if they are wanted."""
    parts = [_finding(trace.kernel.name, finding) for finding in trace.findings]
    parts += [_summary(trace), _counts(trace)]
    if with_lines:
        parts.append(_counts_by_line(trace))
    return "\n\n".join(parts)


def array_text(name: str, array: np.ndarray) -> str:
    """A buffer, as NumPy prints it."""
    return f"{name}, {array.dtype}, shape {array.shape}:\n{array}"


# --- Findings -------------------------------------------------------------------------------------------------


def _finding(file: str, finding: Finding) -> str:
    before = finding.source_line[: finding.column - 1]
    caret = re.sub(r"[^\t]", " ", before) + "^"
    rows = [f"{file}:{finding.line}:{finding.column}: {finding.kind}: {finding.message}", finding.source_line, caret]
    if finding.invocations:
        named = "; ".join(_of_workgroup(*each) for each in groupby(finding.invocations, key=lambda who: who[0]))
        among = f"{finding.count:,} times, among them " if finding.count > len(finding.invocations) else ""
        rows.append(f"{among}{named}")
    return "\n  ".join(rows)


def _of_workgroup(group: tuple[int, int, int], found: Iterable[tuple]) -> str:
    threads = [str(thread) for _, thread in found]
    return f"thread{'s' * (len(threads) > 1)} {', '.join(threads)} of workgroup {group}"


def _summary(trace: Trace) -> str:
    groups, threads = (" x ".join(map(str, size)) for size in (trace.workgroups, trace.workgroup_size))
    number = len(trace.findings)
    found = f"{number or 'no'} finding{'s' * (number > 1)}"
    return f"{trace.kernel.name}: {trace.entry_point}, {groups} workgroups of {threads} threads: {found}"


# --- Counts ---------------------------------------------------------------------------------------------------


def _number(value: float) -> str:
    return f"{value:.3f}" if isinstance(value, float) else f"{value:,}"


def _counts(trace: Trace) -> str:
    numbers = {key: _number(value) for key, value in trace.counts.total.items()}
    wide = max(map(len, numbers.values()))
    return "\n".join(
        f"{key:{max(map(len, KEYS))}}  {number:>{wide}}  {MEANINGS[key]}" for key, number in numbers.items()
    )


def _counts_by_line(trace: Trace) -> str:
    """A row for each line that runs, with a column for each key that is not 0 everywhere."""
    keys = [key for key in KEYS if trace.counts.total[key]]
    lines = trace.kernel.source.split("\n")
    rows = [
        [*(_number(each[key]) if each[key] else "" for key in keys), str(line), lines[line - 1].rstrip("\r")]
        for line, each in trace.counts.by_line.items()
    ]
    first, second = zip(*(key.partition("_")[::2] for key in keys), strict=True)
    table = [[*first, "", ""], [*second, "line", ""], *rows]
    wide = [max(len(row[i]) for row in table) for i in range(len(keys) + 1)]
    cells = [[*(f"{cell:>{size}}" for cell, size in zip(row[:-1], wide, strict=True)), row[-1]] for row in table]
    return "\n".join("  ".join(row).rstrip() for row in cells)
