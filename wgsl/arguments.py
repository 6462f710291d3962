"""Refuse a bad number before anything is run: by its name, its value and the rule that it breaks."""

from math import isfinite
from numbers import Real

import numpy as np

MAX_SIZE = 2**30  # keeps every index of a kernel, and every wrapped negative one, inside 32 bits


def check_size(name: str, value: int, smallest: int = 1, largest: int = MAX_SIZE) -> None:
    """Refuse what is not a whole number from `smallest` to `largest`, by the argument's name."""
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{name} = {value!r} is a {type(value).__name__}: it must be an int")
    if not smallest <= value <= largest:
        raise ValueError(f"{name} = {value}: it must be from {smallest} to {largest}")


def check_finite(name: str, value: float) -> None:
    """Refuse what is not a finite number; a bool is one."""
    if not isinstance(value, Real) or not isfinite(value):
        raise ValueError(f"{name} = {value!r}: it must be a finite number")


def as_int(value: int) -> int:
    """`value` as Python's int; NumPy's integers are welcome, True and 2.0 are not."""
    return int(value) if isinstance(value, np.integer) else value
