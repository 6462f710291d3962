"""Every operator, conversion and built-in function as a WGSL expression, from `wgsl_cases.toml`, and how far two right
results may differ.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np
from support import accuracy

from helpers.data import tables

TYPES = {"f": "f32", "h": "f16", "i": "i32", "u": "u32"}


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
    half: Callable[..., np.ndarray] | None = None  # the bound of f16, where it is not the same function of numbers

    def __str__(self) -> str:
        return f"{self.expression} of {' '.join(TYPES[letter] for letter in self.types)}"


# --- Where the adapter may differ -----------------------------------------------------------------------------------


def any_nan(*values: np.ndarray) -> np.ndarray:
    return np.logical_or.reduce([np.isnan(value) for value in values])


def ties(scale: int) -> Free:
    """Values halfway between two integers once they are scaled; NaN too."""

    def rows(*values: np.ndarray) -> np.ndarray:
        scaled = [np.clip(value.astype(np.float64), -1, 1) * scale for value in values]
        return any_nan(*values) | np.logical_or.reduce([np.abs(value % 1 - 0.5) < 1e-3 for value in scaled])

    return Free("the specification rounds a tie up, as we do; the adapter rounds it to the even neighbor", rows)


NO_NAN = Free("an implementation may assume that no NaN occurs", any_nan)
ENDLESS = Free("the parts of an infinity, and the sign of a 0, are left open", lambda x: ~np.isfinite(x) | (x == 0))
SMALL = Free("and those of a subnormal number, which may become 0", lambda x: ~np.isfinite(x) | is_subnormal(x))
FLUSHED = Free("a number that is subnormal as an f16 may become 0", lambda x: np.isnan(x) | (np.abs(x) < 2.0**-14))


def is_subnormal(values: np.ndarray) -> np.ndarray:
    return np.abs(values) < np.finfo(values.dtype).smallest_normal


def moderate(*values: np.ndarray) -> np.ndarray:
    """Values whose squares are far from both ends of the range of their type."""
    low, high = accuracy.now().moderate
    sizes = [np.abs(value) for value in values]
    return np.logical_and.reduce([(size < high) & ((size > low) | (size == 0)) for size in sizes])


def one_sided(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Values for which rounding does not decide the sign of b * c + c * a."""
    return moderate(a, b, c) & (np.abs(b * c + c * a) > 1e-3 * (np.abs(b * c) + np.abs(c * a)))


def within(end: float) -> Callable[..., np.ndarray]:
    """A last argument in [-end, end]."""
    return lambda *values: np.abs(values[-1]) <= end


def exponents(x: np.ndarray) -> np.ndarray:
    """Arguments whose exponential is far from the end of the range of their type."""
    return np.abs(x) <= 0.9 * np.log(accuracy.now().largest)


def quotients(y: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Arguments of `atan2` off the axes."""
    return (x != 0) & (y != 0) & within(2.0**126)(x)


def powers(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Arguments of `pow` for which it is defined."""
    return (x > 0) & (np.abs(y) < 1e6)


def ascending(a: np.ndarray, b: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Arguments of `smoothstep` for which it is defined."""
    return moderate(a, b, x) & (a < b)


# --- The table ------------------------------------------------------------------------------------------------------

# What a row may name, and what makes one of numbers: `bound = "tan"`, `bound = { ulps = 4 }`.
BOUNDS = {
    "acosh": accuracy.acosh,
    "asinh": accuracy.asinh,
    "atanh": accuracy.atanh,
    "exponential": accuracy.exponential,
    "fma": accuracy.fma,
    "hyperbolic": accuracy.hyperbolic,
    "logarithm": accuracy.logarithm,
    "mix": accuracy.mix,
    "power": accuracy.power,
    "reflect": accuracy.reflect,
    "smoothstep": accuracy.smoothstep,
    "tan": accuracy.tan,
    "tanh": accuracy.tanh,
}
MAKE_BOUND = {
    "absolute": accuracy.absolute,
    "either": accuracy.either,
    "products": accuracy.products,
    "ulps": accuracy.ulps,
}
DOMAINS = {
    "ascending": ascending,
    "exponents": exponents,
    "moderate": moderate,
    "one_sided": one_sided,
    "powers": powers,
    "quotients": quotients,
}
MAKE_DOMAIN = {"within": within}
FREE = {"NO_NAN": NO_NAN, "ENDLESS": ENDLESS, "SMALL": SMALL, "FLUSHED": FLUSHED}
MAKE_FREE = {"ties": ties}
CHOICES = {
    "bound": (BOUNDS, MAKE_BOUND),
    "half": (BOUNDS, MAKE_BOUND),
    "domain": (DOMAINS, MAKE_DOMAIN),
    "free": (FREE, MAKE_FREE),
}
NEEDED = {"types": str, "result": str, "expression": str}
OPTIONAL = dict.fromkeys(CHOICES, (str, dict))


def read(file: Path) -> list[Case]:
    """Return the cases of a file.

    Raises ValueError, which names the file, the row, the key and the rule, where a row is no case.
    """
    cases = []
    for heading, rows in tables.parse(file).items():
        for number, row in enumerate(rows, 1):
            place = f"{file.name}, {heading}, row {number}"
            tables.check(place, row, NEEDED, OPTIONAL)
            chosen = {key: choice(key, row[key], place) for key in CHOICES if key in row}
            cases.append(Case(**row | chosen))
    return cases


def choice(key: str, value: str | dict[str, object], place: str) -> Callable[..., np.ndarray] | Free:
    """Return what a row names, or what is made of the numbers in a table such as ``{ ulps = 4 }``."""
    named, makers = CHOICES[key]
    if isinstance(value, str) and value in named:
        return named[value]
    if isinstance(value, dict) and len(value) == 1:
        ((maker, numbers),) = value.items()
        if maker in makers:
            return makers[maker](*arguments(numbers))
    rule = f"it must be {', '.join(named)}, or a table with the numbers of {', '.join(makers)}"
    raise ValueError(f"{place}: {key} = {value!r:.60}: {rule}")


def arguments(numbers: object) -> list:
    """Return the arguments that a number is, or a list of numbers or pairs."""
    if not isinstance(numbers, list):
        return [numbers]
    return [tuple(number) if isinstance(number, list) else number for number in numbers]


CASES = read(Path(__file__).with_suffix(".toml"))

# --- Numbers of 16 bits ---------------------------------------------------------------------------------------------

OF_F32 = re.compile(r"pack|quantize|bitcast|frexp")  # what f16 has not, or the adapter's compiler has not of f16
CONVERSIONS = [
    Case("f32(a)", "h", "f32", free=NO_NAN),
    Case("i32(a)", "h", "i32", free=NO_NAN),
    Case("u32(a)", "h", "u32", free=NO_NAN),
    Case("bool(a)", "h", "bool", free=NO_NAN),
    Case("f16(b)", "hf", "f16", free=NO_NAN),
    Case("f16(b)", "hi", "f16"),
    Case("f16(b)", "hu", "f16"),
]


def of_halves(case: Case) -> Case:
    """The same expression of f16."""
    types = case.types.replace("f", "h")
    result = case.result.replace("f32", "f16")
    return replace(case, types=types, result=result, bound=case.half or case.bound)


FLOAT_CASES = [case for case in CASES if "f" in case.types and not OF_F32.search(case.expression)]
HALVES = [of_halves(case) for case in FLOAT_CASES if not re.fullmatch(r"\w32\(a\)|bool\(a\)", case.expression)]
HALVES += CONVERSIONS
