r"""Tables of edits, which plant mistakes: a line has the name of each, the old text and the new one.

    bias forgotten: `var sum = bias[co];` -> `var sum = 0.0;`

Behind two blanks may follow what a test wants to know of it. A long line may break before the arrow.
"""

import inspect
from collections.abc import Callable

from helpers.lessons.shared.wrong_kernels import Edit, edits

__all__ = ["Edit", "edited", "edits"]


def edited(function: Callable, old: str, new: str) -> Callable:
    """A function of the helpers with one piece of its text replaced."""
    source = inspect.getsource(function)
    assert source.count(old) == 1, f"{function.__name__} contains {old!r} {source.count(old)} times"
    space = dict(vars(inspect.getmodule(function)))
    exec(source.replace(old, new), space)  # our own text, changed in one place
    return space[function.__name__]
