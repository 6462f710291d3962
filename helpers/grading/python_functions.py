"""The functions that all lines of Python may call, as a reader would: on numbers, and on tuples of numbers."""

from collections.abc import Callable

MOST_NUMBERS = 10_000  # of a range
MOST_DIGITS = 30


def smallest(a: object, b: object, *others: object) -> object:
    """The smallest of some numbers."""
    return min(a, b, *others)


def largest(a: object, b: object, *others: object) -> object:
    """The largest of some numbers."""
    return max(a, b, *others)


def whole(number: float) -> int:
    """A number without what follows its point."""
    return int(number)


def real(number: float) -> float:
    """A number as a float."""
    return float(number)


def rounded(number: float, digits: int | None = None) -> float:
    """Return a number rounded to a whole one, or to some digits after the point."""
    if digits is not None and abs(digits) > MOST_DIGITS:
        raise ValueError(f"this rounds to at most {MOST_DIGITS} digits")
    return round(number, digits)


def numbers(start: int, stop: int | None = None, step: int = 1) -> tuple[int, ...]:
    """The numbers that a loop goes through."""
    if stop is None:
        start, stop = 0, start
    found = range(start, stop, step)
    if len(found) > MOST_NUMBERS:
        raise ValueError(f"`range` has at most {MOST_NUMBERS:,} numbers here")
    return tuple(found)


FUNCTIONS: dict[str, Callable] = {
    "abs": abs,
    "divmod": divmod,
    "float": real,
    "int": whole,
    "len": len,
    "max": largest,
    "min": smallest,
    "range": numbers,
    "round": rounded,
    "sum": sum,
}
