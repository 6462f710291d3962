"""A check of a long sum."""

from helpers.checks.report import Report
from helpers.checks.tolerance import compare_sums
from helpers.operations.summation import reference
from helpers.operations.summation.reference import Array


def total(got: Array, input: Array) -> Report:
    """Judge a sum, `got` (1,), of the numbers `input` (n,)."""
    return compare_sums("total", got, reference.total, input)
