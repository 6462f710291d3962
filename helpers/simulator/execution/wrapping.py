"""What integers would be that left their range: kept beside them from the wrap to the index that uses them.

A wrap is no mistake as such: kernels let `ih + padding - kh` fall below 0 on purpose, as a guard catches the huge
number that results. So the true whole number goes along (in float64; NaN where nothing wrapped), and what an index
shows is whether it is used although it differs. Where a later operation undoes the wrap, as in ``i - 1u + 1u``, or the
wrapped number leads to the right result, as in ``(i - 1u) % 256u``, nothing is kept.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from helpers.simulator.arithmetic import operators
from helpers.simulator.execution.values import Value, value_of

WHOLE = {
    "+": np.add,
    "-": np.subtract,
    "*": np.multiply,
    "/": lambda x, y: np.where(y == 0, x, np.trunc(x / np.where(y == 0, 1, y))),
    "%": lambda x, y: np.where(y == 0, 0, np.mod(x, np.where(y == 0, 1, y))),
}
CHOOSING = ("min", "max", "clamp", "select")  # the functions whose result is one of their arguments
Exact = np.ndarray | None


def _true(values: np.ndarray, exact: Exact) -> np.ndarray:
    """The true whole numbers."""
    plain = values.astype(np.float64)
    return plain if exact is None else np.where(np.isnan(exact), plain, exact)


def _kept(whole: np.ndarray, result: np.ndarray) -> Exact:
    """The true whole numbers where they differ from the result; None where none does."""
    differ = whole != result
    return np.where(differ, whole, np.nan) if differ.any() else None


def binary(
    operator: str, left: np.ndarray, right: np.ndarray, left_exact: Exact, right_exact: Exact, result: np.ndarray
) -> Exact:
    """What the result of an operator would be. Operators on bits mean the wrapped number, and keep nothing."""
    if result.dtype.kind not in "iu" or operator not in WHOLE:
        return None
    untouched = left_exact is None and right_exact is None
    if untouched and (operator in "/%" or not operators.wrapped(operator, left, right, result)):
        return None
    whole = WHOLE[operator](_true(left, left_exact), _true(right, right_exact))
    if operator == "%" and result.dtype.kind == "u":  # the last bits are right, however large the number became
        whole = np.where(right & (right - 1) == 0, result, whole)
    return _kept(whole, result)


def unary(operator: str, operand: np.ndarray, exact: Exact) -> Exact:
    """What a negated number would be."""
    if operator != "-" or operand.dtype.kind not in "iu":
        return None
    zero = operand.dtype.type(0)
    return binary("-", zero, operand, None, exact, operators.binary("-", zero, operand))


def converted(operand: np.ndarray, exact: Exact, result: np.ndarray) -> Exact:
    """What a number would be that became another kind of integer."""
    if operand.dtype.kind not in "iu" or result.dtype.kind not in "iu" or operand.dtype == result.dtype:
        return exact if result.dtype == operand.dtype else None
    return _kept(_true(operand, exact), result)


def chosen(name: str, leaves: Sequence[np.ndarray], arguments: Sequence[Value]) -> Value:
    """The result of a function whose arguments had left their range."""
    if name not in CHOOSING or leaves[0].dtype.kind not in "iu":
        return Value(tuple(leaves))
    exact = []
    for i, leaf in enumerate(leaves):
        kept = np.full(leaf.shape, np.nan)
        for value in arguments:
            j = i % len(value.leaves)
            if (mine := value.exact_of(j)) is not None:
                kept = np.where((value.leaves[j] == leaf) & ~np.isnan(mine), mine, kept)
        exact.append(None if np.isnan(kept).all() else kept)
    return value_of(list(leaves), exact)
