"""The exercise of appendix A: whether two accesses are a race, in a line of Python."""

from collections.abc import Mapping
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np

from helpers.grading.python_puzzle import PythonCase, PythonPuzzle
from wgsl.simulator import lanes
from wgsl.simulator.memory import Conflicts, Shadow

PROPERTIES = (
    "same_word",
    "a_writes",
    "b_writes",
    "both_atomic",
    "same_thread",
    "same_workgroup",
    "barrier_between",
)


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
    threads = lanes.Dispatch((2, 1, 1), (2, 1, 1))
    notes = Shadow(2, threads.groups)

    def note(thread: int, word: int, epoch: int, writes: bool) -> list[Conflicts]:
        words = np.array([word])
        lane = lanes.Lanes(threads, np.array([thread]))
        epochs = np.array([epoch])
        if writes:
            return notes.write(words, lane, epochs, 0, None)
        return notes.read(words, lane, epochs, 0)

    word = 0 if access["same_word"] else 1
    epoch = 1 if access["barrier_between"] else 0
    note(0, 0, 0, access["a_writes"])
    conflicts = note(_other_thread(access), word, epoch, access["b_writes"])
    return bool(conflicts)


def _other_thread(access: Mapping[str, bool]) -> int:
    """The thread of the second access: 0 and 1 are in one workgroup, 2 in another."""
    if access["same_thread"]:
        return 0
    if access["same_workgroup"]:
        return 1
    return 2


def _race_case(name: str, known: Mapping[str, bool]) -> PythonCase:
    """All accesses with the properties that are known; a thread has one workgroup."""
    accesses = []
    for values in product((False, True), repeat=len(PROPERTIES)):
        access = dict(zip(PROPERTIES, values, strict=True))
        is_possible = access["same_workgroup"] or not access["same_thread"]
        if is_possible and known.items() <= access.items():
            accesses.append(access)
    answers = [is_race(access) for access in accesses]
    return PythonCase(name, tuple(accesses), tuple(answers))


@cache
def _race_cases() -> tuple[PythonCase, ...]:
    cases = []
    for name, changed in CHANGED.items():
        known = dict(PLAIN)
        for changed_property in changed.split():
            known[changed_property] = not PLAIN[changed_property]
        cases.append(_race_case(name, known))
    cases.append(_race_case("all_combinations", {}))
    return tuple(cases)


PYTHON_PUZZLES = (PythonPuzzle("is_race", Path(__file__).with_name("puzzles"), "race", _race_cases),)
