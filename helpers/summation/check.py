"""Is a long sum right?"""

from helpers.checks.report import Report
from helpers.checks.tolerance import compare_sums
from helpers.summation import reference
from helpers.summation.reference import Array


def total(got: Array, input: Array) -> Report:
    """Judge a sum, `got` (1,), of the numbers `input` (n,)."""
    return compare_sums("total", got, reference.total, input)
