"""The exercise of appendix A: whether two accesses are a race, in a line of Python."""

from collections.abc import Mapping
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np

from helpers.grading.python_puzzle import PythonCase, PythonPuzzle
from wgsl.simulator import lanes
from wgsl.simulator.memory import Conflicts, Shadow

PROPERTIES = "same_word", "a_writes", "b_writes", "both_atomic", "same_thread", "same_workgroup", "barrier_between"


PLAIN = {  # two threads of a workgroup that use one word, with nothing between them
    "same_word": True,
    "same_workgroup": True,
    "same_thread": False,
    "barrier_between": False,
    "both_atomic": False,
}


CHANGED = {  # the properties that are otherwise, by the test's name
    "two_threads": "",
    "two_words": "same_word",
    "one_thread": "same_thread",
    "barrier": "barrier_between",
    "two_workgroups": "same_workgroup",
    "barrier_and_two_workgroups": "same_workgroup barrier_between",
    "atomics": "both_atomic",
}


def is_race(access: Mapping[str, bool]) -> bool:
    """Return whether two accesses with these properties are a race, by the simulator's notes on a memory's words."""
    if access["both_atomic"]:
        return False
    threads = lanes.Dispatch((2, 1, 1), (2, 1, 1))  # 0 and 1 are in one workgroup, 2 in another
    other = 0 if access["same_thread"] else 1 if access["same_workgroup"] else 2
    notes = Shadow(2, threads.groups)

    def note(thread: int, word: int, epoch: int, writes: bool) -> list[Conflicts]:
        use = np.array([word]), lanes.Lanes(threads, np.array([thread])), np.array([epoch]), 0
        return notes.write(*use, None) if writes else notes.read(*use)

    note(0, 0, 0, access["a_writes"])
    return bool(note(other, 1 - access["same_word"], int(access["barrier_between"]), access["b_writes"]))


def _race_case(name: str, known: Mapping[str, bool]) -> PythonCase:
    """All accesses with the properties that are known; a thread has one workgroup."""
    every = (dict(zip(PROPERTIES, values, strict=True)) for values in product((False, True), repeat=len(PROPERTIES)))
    possible = (each for each in every if each["same_workgroup"] or not each["same_thread"])
    given = tuple(each for each in possible if known.items() <= each.items())
    return PythonCase(name, given, tuple(map(is_race, given)))


@cache
def _race_cases() -> tuple[PythonCase, ...]:
    near = {name: PLAIN | {each: not PLAIN[each] for each in changed.split()} for name, changed in CHANGED.items()}
    return tuple(_race_case(*case) for case in {**near, "all_combinations": {}}.items())


PYTHON_PUZZLES = (PythonPuzzle("is_race", Path(__file__).with_name("puzzles"), "race", _race_cases),)
