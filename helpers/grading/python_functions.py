"""The functions that all lines of Python may call, as a reader would: on numbers, and on tuples of numbers."""

from collections.abc import Callable
from itertools import chain

from helpers.grading.python_lists import as_tuple, every, listed, some

MOST_NUMBERS = 10_000  # of a range
MOST_DIGITS = 30


def smallest(values: object, *others: object) -> object:
    """The smallest of some numbers, or of those in a tuple."""
    return min(_several(values, others))


def largest(values: object, *others: object) -> object:
    """The largest of some numbers, or of those in a tuple."""
    return max(_several(values, others))


def _several(values: object, others: tuple) -> tuple:
    """Return all numbers that are compared. Raises ValueError where there are not several."""
    if others:
        return (values, *others)
    if not isinstance(values, tuple) or not values:
        raise ValueError("this compares numbers: give it two of them, or a tuple that is not empty")
    return values


def total(numbers: tuple, start: float = 0) -> float:
    """The sum of the numbers in a tuple. Raises TypeError for tuples, which could make a very long one."""
    if isinstance(start, tuple):
        raise TypeError
    return sum(numbers, start)


def pairs(*tuples: tuple) -> tuple:
    """The first elements of some tuples, the second ones, and so on."""
    return tuple(zip(*map(shallow, tuples), strict=False))


def numbered(values: tuple, start: int = 0) -> tuple:
    """The elements of a tuple, each after its number."""
    return tuple(enumerate(shallow(values), start))


def shallow(values: tuple) -> tuple:
    """A tuple of numbers, or of tuples of numbers, as it is. Raises TypeError for a number, and for a deeper tuple."""
    inner = [value for value in values if isinstance(value, tuple)]
    if sum(map(len, inner)) > MOST_NUMBERS or any(isinstance(part, tuple) for part in chain.from_iterable(inner)):
        raise TypeError
    return values


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
    "all": every,
    "any": some,
    "divmod": divmod,
    "enumerate": numbered,
    "float": real,
    "int": whole,
    "len": len,
    "list": listed,
    "max": largest,
    "min": smallest,
    "range": numbers,
    "round": rounded,
    "sum": total,
    "tuple": as_tuple,
    "zip": pairs,
}
