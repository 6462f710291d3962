"""Samples of long lists, with a fixed seed, for the ordinary test run.

`start.py test --all` tries the lists whole, and runs the tests that are marked `at_night`, too.
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
    if ALL or count >= len(items):
        return items
    chosen = sorted(random.Random(count).sample(range(len(items)), count))
    return [items[i] for i in chosen]
