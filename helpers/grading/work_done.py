"""The work of a kernel, as a record: its loads, stores and barriers."""

from helpers.grading.comparison import Accesses
from helpers.grading.test_run import TestRun


def accesses(run: TestRun) -> Accesses:
    """Return how often a kernel loads, stores and waits."""
    workgroup = None
    if run.counts["loads_workgroup"] or run.counts["stores_workgroup"]:
        workgroup = _rounded(run.counts["loads_workgroup"]), _rounded(run.counts["stores_workgroup"])
    barriers = _rounded(run.counts["barriers"] / run.workgroups)
    in_each = run.workgroups > 1 and run.counts["barriers"] > 0
    loads, stores = _rounded(run.counts["loads_storage"]), _rounded(run.counts["stores_storage"])
    return Accesses(loads, stores, workgroup, barriers, bool(in_each))


def _rounded(count: float) -> float:
    """Return a count as it is shown."""
    return round(float(count), 1)
