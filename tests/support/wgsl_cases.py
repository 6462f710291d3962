"""Every operator, conversion and built-in function as a WGSL expression, from `wgsl_cases.txt`, and how far two right
results may differ.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import numpy as np
from support import accuracy

TYPES = {"f": "f32", "i": "i32", "u": "u32"}


class Free(NamedTuple):
    """Rows in which the adapter may differ from us, and why."""

    reason: str
    rows: Callable[..., np.ndarray]


@dataclass(frozen=True)
class Case:
    """An expression in a, b, c and d, which are of these types (one letter each).

    Without a bound, the adapter's result and ours have the same bits, a NaN's apart. With one, they differ by no more
    than it allows (see `accuracy`) where the arguments and the result are normal and in the `domain`.
    """

    expression: str
    types: str
    result: str
    bound: Callable[..., np.ndarray] | None = None
    domain: Callable[..., np.ndarray] = lambda *_: np.True_
    free: Free | None = None

    def __str__(self) -> str:
        return f"{self.expression} of {' '.join(TYPES[each] for each in self.types)}"


# --- Where the adapter may differ -----------------------------------------------------------------------------------


def any_nan(*values: np.ndarray) -> np.ndarray:
    return np.logical_or.reduce([np.isnan(each) for each in values])


def ties(scale: int) -> Free:
    """Values halfway between two integers once they are scaled; NaN too."""

    def rows(*values: np.ndarray) -> np.ndarray:
        scaled = [np.clip(each.astype(np.float64), -1, 1) * scale for each in values]
        return any_nan(*values) | np.logical_or.reduce([np.abs(each % 1 - 0.5) < 1e-3 for each in scaled])

    return Free("the specification rounds a tie up, as we do; the adapter rounds it to the even neighbor", rows)


NO_NAN = Free("an implementation may assume that no NaN occurs", any_nan)
ENDLESS = Free("the parts of an infinity, and the sign of a 0, are left open", lambda x: ~np.isfinite(x) | (x == 0))
SMALL = Free("and those of a subnormal number, which may become 0", lambda x: ~np.isfinite(x) | (np.abs(x) < 2.0**-126))
FLUSHED = Free("a number that is subnormal as an f16 may become 0", lambda x: np.isnan(x) | (np.abs(x) < 2.0**-14))


def moderate(*values: np.ndarray) -> np.ndarray:
    """Values whose squares are far from both ends of the range of f32."""
    return np.logical_and.reduce([(np.abs(each) < 1e15) & ((np.abs(each) > 1e-15) | (each == 0)) for each in values])


def one_sided(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Values for which rounding does not decide the sign of b * c + c * a."""
    return moderate(a, b, c) & (np.abs(b * c + c * a) > 1e-3 * (np.abs(b * c) + np.abs(c * a)))


def within(end: float) -> Callable[..., np.ndarray]:
    """A last argument in [-end, end]."""
    return lambda *values: np.abs(values[-1]) <= end


def quotients(y: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Arguments of `atan2` off the axes."""
    return (x != 0) & (y != 0) & within(2.0**126)(x)


def powers(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Arguments of `pow` for which it is defined."""
    return (x > 0) & (np.abs(y) < 1e6)


def ascending(a: np.ndarray, b: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Arguments of `smoothstep` for which it is defined."""
    return moderate(a, b, x) & (a < b)


def read(line: str) -> Case:
    """The case in a line of the table."""
    expression, types, result, *more = re.split("  +", line)
    return Case(expression, types, result, **eval(f"dict({', '.join(more)})", vars(accuracy) | globals()))


TABLE = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8")
CASES = [read(line) for line in TABLE.splitlines() if line and line[0] != "#"]
