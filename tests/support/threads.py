"""Calls in several threads of the notebook's Python at once."""

import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor


class Busy:
    """Something slow that records how often it was begun, and how many were at work together at most."""

    def __init__(self) -> None:
        self.begun, self.together, self._now = 0, 0, []

    def __call__(self, *_: object) -> None:
        self._now.append(self.begun)
        self.begun += 1
        self.together = max(self.together, len(self._now))
        time.sleep(0.01)
        self._now.pop()


def at_once(*acts: Callable[[], object]) -> None:
    """Call each in a thread of its own, and wait for all."""
    with ThreadPoolExecutor(len(acts)) as threads:
        for done in [threads.submit(act) for act in acts]:
            done.result()
