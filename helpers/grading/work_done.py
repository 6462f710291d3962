"""The work of a right kernel, as records: its loads, stores and barriers, and what it does for nothing."""

from helpers.grading import reasons
from helpers.grading.test_run import TestRun
from wgsl.diagnostics import Lines
from wgsl.simulator.settled import settled
from wgsl.types.program import Program
from wgsl.types.usage import nodes


def accesses(run: TestRun) -> reasons.Accesses:
    """Return how often a kernel loads, stores and waits."""
    workgroup = None
    if run.counts["loads_workgroup"] or run.counts["stores_workgroup"]:
        workgroup = _rounded(run.counts["loads_workgroup"]), _rounded(run.counts["stores_workgroup"])
    barriers = _rounded(run.counts["barriers"] / run.workgroups)
    in_each = run.workgroups > 1 and run.counts["barriers"] > 0
    loads, stores = _rounded(run.counts["loads_storage"]), _rounded(run.counts["stores_storage"])
    return reasons.Accesses(loads, stores, workgroup, barriers, bool(in_each))


def settled_comparisons(program: Program, source: str) -> reasons.SettledComparisons | None:
    """Return the comparisons of an entry point that are settled before the run, as the first one is, or None."""
    parts = [part for part in nodes(program.entry.body) if settled(part) is not None]
    if not parts:
        return None
    always = settled(parts[0])
    alike = (Lines(source).quoted(part) for part in parts if settled(part) is always)
    return reasons.SettledComparisons(tuple(dict.fromkeys(alike)), always)


def _rounded(count: float) -> float:
    """Return a count as it is shown."""
    return round(float(count), 1)
