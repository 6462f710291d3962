r"""Tables of edits, which plant mistakes: a line has the name of each, the old text and the new one.

    bias forgotten: `var sum = bias[co];` -> `var sum = 0.0;`

Behind two blanks may follow what a test wants to know of it. A long line may break before the arrow.
"""

import inspect
import re
from collections.abc import Callable
from typing import NamedTuple

ROW = re.compile(r" *(.+): `([^`]*)`\s+-> `([^`]*)`(?:  (.+))?\n")


class Edit(NamedTuple):
    """What is planted, the old text, the new one, and what follows."""

    name: str
    old: str
    new: str
    more: str


def edits(table: str) -> list[Edit]:
    """The edits in a table."""
    rest = ROW.sub("", table).strip()
    assert not rest, f"this is no edit: {rest}"
    return [Edit(*row) for row in ROW.findall(table)]


def edited(function: Callable, old: str, new: str) -> Callable:
    """A function of the helpers with one piece of its text replaced."""
    source = inspect.getsource(function)
    assert source.count(old) == 1, f"{function.__name__} contains {old!r} {source.count(old)} times"
    space = dict(vars(inspect.getmodule(function)))
    exec(source.replace(old, new), space)  # our own text, changed in one place
    return space[function.__name__]
