"""The two accesses of a data race, between which nothing decides: what a picture of it is drawn from."""

from typing import NamedTuple

import numpy as np

from wgsl.simulator.findings import Finding
from wgsl.simulator.trace import Trace


class Access(NamedTuple):
    """One of the two: the thread, its workgroup where they may have different ones, if it writes, line and text."""

    thread: int
    workgroup: tuple[int, int, int] | None
    writes: bool
    line: int
    text: str


class Race(NamedTuple):
    """The variable, the index of the element in it, how many elements were used, and both accesses."""

    variable: str
    index: int
    size: int
    earlier: Access
    later: Access


def race(trace: Trace, finding: Finding) -> Race | None:
    """Return the two accesses of a race that a run has shown; None where they are not kept."""
    seen = trace.accesses
    (group, thread), *_ = finding.invocations
    of_thread = (seen["workgroup"] == group).all(axis=1) & (seen["invocation"] == thread)
    others = seen[~of_thread & (seen["line"] == finding.other_line)]
    for later in seen[of_thread & (seen["line"] == finding.line)]:
        same = (others["variable"] == later["variable"]) & (others["index"] == later["index"])
        if later["space"] == "workgroup":  # each workgroup has its own
            same &= (others["workgroup"] == group).all(axis=1)
        for earlier in others[same & (others["write"] | later["write"])]:
            return _race(trace, earlier, later)
    return None


def _race(trace: Trace, earlier: np.void, later: np.void) -> Race:
    used = trace.accesses["index"][trace.accesses["variable"] == later["variable"]]
    variable = trace.variables[int(later["variable"])]
    return Race(variable, int(later["index"]), int(used.max()) + 1, _access(trace, earlier), _access(trace, later))


def _access(trace: Trace, access: np.void) -> Access:
    line = int(access["line"])
    text = trace.kernel.source.split("\n")[line - 1].partition("//")[0].strip()
    workgroup = None
    if max(trace.workgroups) > 1 and access["space"] != "workgroup":
        workgroup = tuple(map(int, access["workgroup"]))
    return Access(int(access["invocation"]), workgroup, bool(access["write"]), line, text)
