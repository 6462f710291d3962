"""The report of a run: findings with their place in the text, and counts in a table."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from itertools import groupby

import numpy as np

from wgsl.output import visible
from wgsl.simulator.counts import KEYS, MEANINGS
from wgsl.simulator.findings import Finding
from wgsl.simulator.trace import Trace
from wgsl.simulator.watched import Named, numbers_of


def report(trace: Trace, findings: Sequence[Finding], with_lines: bool) -> str:
    """These findings of a run, what was run, and the counts; of each line of the text, too, if they are wanted."""
    parts = [described(trace.kernel.name, finding) for finding in findings]
    parts += [summary(trace, len(findings)), _counts(trace), *([_counts_by_line(trace)] if with_lines else ())]
    return "\n\n".join(parts)


# --- Findings -------------------------------------------------------------------------------------------------


def described(file: str, finding: Finding) -> str:
    """Return a finding with its place, its line of the text, and who did it."""
    before = finding.source_line[: finding.column - 1]
    caret = re.sub(r"[^\t]", " ", visible(before, keep="\t")) + "^"
    rows = [f"{file}:{finding.line}:{finding.column}: {finding.kind}: {finding.message}", finding.source_line, caret]
    if finding.invocations:
        named = "; ".join(_threads_in_words(*pair) for pair in groupby(finding.invocations, key=lambda who: who[0]))
        among = f"{finding.count:,} times, among them " if finding.count > len(finding.invocations) else ""
        rows.append(f"{among}{named}")
    return "\n  ".join(rows)


def _threads_in_words(group: tuple[int, int, int], invocations: Iterable[tuple]) -> str:
    threads = [str(thread) for _, thread in invocations]
    return f"thread{'s' if len(threads) > 1 else ''} {', '.join(threads)} of workgroup {group}"


def summary(trace: Trace, number: int) -> str:
    """Return what was run, and the number of findings."""
    groups = " x ".join(map(str, trace.workgroups))
    threads = " x ".join(map(str, trace.workgroup_size))
    ending = f"{number or 'no'} finding{'s' if number > 1 else ''}"
    return f"{trace.kernel.name}: {trace.entry_point}, {groups} workgroups of {threads} threads: {ending}"


def watched(named: Named, rows: np.ndarray) -> str:
    lines = []
    for row, numbers in zip(rows, numbers_of(named, rows["value"]), strict=True):
        who = _threads_in_words(tuple(row["workgroup"].tolist()), [(None, row["invocation"])])
        value = ", ".join(f"{number:.9g}" for number in numbers)
        lines.append(f"step {row['step']}, line {row['line']}, {who}: {value}")
    return "\n".join(lines)


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
    keys = [key for key, number in trace.counts.total.items() if number]
    lines = trace.kernel.source.split("\n")
    first, second = zip(*(key.partition("_")[::2] for key in keys), strict=True)
    table = [[*first, "", ""], [*second, "line", ""]]
    for line, counts in trace.counts.by_line.items():
        numbers = [_number(counts[key]) if counts.get(key) else "" for key in keys]
        table.append([*numbers, str(line), lines[line - 1].rstrip("\r")])
    *columns, _ = zip(*table, strict=True)
    widths = [max(map(len, column)) for column in columns]
    return "\n".join(_aligned(row, widths) for row in table)


def _aligned(row: Sequence[str], widths: Sequence[int]) -> str:
    """A row of the table: its numbers to the right of their columns, and the code after them."""
    *numbers, code = row
    cells = [f"{number:>{width}}" for number, width in zip(numbers, widths, strict=True)]
    return "  ".join([*cells, code]).rstrip()
