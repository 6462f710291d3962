"""What the ordinary test run tries of a long list: a sample with a fixed seed. `start.py test --all` tries it whole,
and runs the tests that are marked `at_night`, too.
"""

import os
import random
from collections.abc import Iterable
from typing import TypeVar

import pytest

Item = TypeVar("Item")
ALL = bool(os.environ.get("CONVGRAD_ALL_TESTS"))
at_night = pytest.mark.skipif(not ALL, reason="`start.py test --all` runs it")


def sample(items: Iterable[Item], count: int) -> list[Item]:
    """This many of the items, in their order, and always the same ones; all of them where all is to be tried."""
    items = list(items)
    chosen = (
        range(len(items))
        if ALL or count >= len(items)
        else sorted(random.Random(count).sample(range(len(items)), count))
    )
    return [items[i] for i in chosen]
