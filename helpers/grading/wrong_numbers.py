"""The first wrong number of an output, and the line that uses what is in a new buffer: facts of one run."""

import math
import re
from collections.abc import Sequence

import numpy as np

from helpers.grading import reasons
from helpers.grading.puzzle import Case
from helpers.grading.test_run import TestRun
from wgsl.facts import Line

ADDS = re.compile(r"\] ?\+=")  # in the code of a line: to an element of an array


def mismatch(axes: str, case: Case, output: np.ndarray) -> reasons.Mismatch:
    """Return how many numbers are wrong, and where the first one is."""
    wrong = case.differ(output)
    place = [(axis, int(index)) for axis, index in zip(axes.split(), np.argwhere(wrong)[0], strict=True)]
    column = ""
    if "," in place[-1][0]:  # a column of a table has a name
        names, index = place.pop()
        column = names.split(",")[index]
        if len(wrong) == 1:  # a table of one row
            place = []
    return reasons.Mismatch(int(wrong.sum()), wrong.size, tuple(place), column)


def first_pair(case: Case, output: np.ndarray, unwritten: np.ndarray) -> tuple[float | None, float]:
    """Return the first wrong number, None where nothing was written, and the right one."""
    index = tuple(np.argwhere(case.differ(output))[0])
    wrong = None if unwritten[index] else _number(output[index])
    return wrong, _number(case.expected[index])


def _number(value: np.generic) -> float:
    """Return a number as Python's; there is one NaN, which equals itself in a tuple."""
    return math.nan if np.isnan(value) else value.item()


def uses_before(run: TestRun, runs: Sequence[TestRun]) -> reasons.Reason:
    """Return which line makes the result of what is in a new buffer, and whether it stores an element twice in any run.

    A sum that grows in the output is stored once where it has one turn only.
    """
    adding = [line for line in run.stores_in if ADDS.search(line.code)]
    line = adding[0] if adding else run.stores_in[0]
    stored_again = any(line in other.stored_again for other in runs)
    return reasons.UsesBefore(line, bool(adding), bool(run.case.scratch), stored_again)


def replaced_in(run: TestRun) -> Line | None:
    """Return the first line in which a number replaces another one of the same element, if there is any."""
    replacing = (line for line in run.stored_again if not ADDS.search(line.code))
    return next(replacing, None)
