"""Arguments for which a built-in function is not defined, where they are known before the run."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from helpers.simulator.types.overloads import undefined
from helpers.simulator.types.program import Constant, Expression, Part

BIAS = 127  # of the exponent of an f32
RULES: dict[str, tuple[tuple[int, ...], Callable[..., bool], str]] = {
    "clamp": (
        (1, 2),
        lambda low, high: low > high,
        "value of `low` is greater than `high` for clamp built-in function",
    ),
    "smoothstep": ((0, 1), lambda low, high: low == high, "the first two values of smoothstep must differ"),
    "ldexp": ((1,), lambda exponent: exponent > BIAS + 1, f"the exponent of ldexp may be at most {BIAS + 1}"),
    "extractBits": (
        (1, 2),
        lambda offset, count: offset + count > 32,
        "extractBits reads past the 32 bits of a number",
    ),
    "insertBits": ((2, 3), lambda offset, count: offset + count > 32, "insertBits writes past the 32 bits of a number"),
}


def check_known(name: str, arguments: Sequence[Expression], callee: Part) -> None:
    """Refuse values that are known and break a rule in any component."""
    if name not in RULES:
        return
    places, breaks, reason = RULES[name]
    asked = [arguments[i] for i in places]
    if not all(isinstance(each, Constant) for each in asked):
        return
    size = max(len(each.leaves) for each in asked)
    columns = (each.leaves if len(each.leaves) == size else each.leaves * size for each in asked)
    if any(breaks(*values) for values in zip(*columns, strict=True)):
        undefined(reason, callee)
