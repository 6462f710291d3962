"""The exercises of appendix A: a detector of data races, and a barrier, in a few lines of Python each."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np

from helpers.grading.python_puzzle import PythonCase, PythonPuzzle
from helpers.lessons.simulator.detector import NOBODY, SEVERAL, Note, by_other, note_several
from helpers.lessons.simulator.judged_notes import KernelsCase
from helpers.lessons.simulator.random_kernels import kernels, random_kernel
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


# --- Notes beside a word ----------------------------------------------------------------------------------------


def _note(who: int, when: int, thread: int, epoch: int) -> dict[str, int]:
    return {"who": who, "when": when, "thread": thread, "epoch": epoch}


NOTES = {  # notes beside a word, each with an access after it
    "nobody_yet": (_note(NOBODY, NOBODY, 0, 0), _note(NOBODY, NOBODY, 3, 2)),
    "another_thread": (_note(2, 0, 0, 0), _note(0, 3, 1, 3), _note(1, 1, 0, 1)),
    "the_same_thread": (_note(0, 0, 0, 0), _note(2, 1, 2, 1)),
    "another_epoch": (_note(2, 0, 0, 1), _note(0, 1, 3, 4), _note(1, 1, 1, 2)),
}
NOTES_OF_SEVERAL = {
    **NOTES,
    "several_before": (_note(SEVERAL, 0, 1, 0), _note(SEVERAL, 2, 0, 2)),
    "several_in_another_epoch": (_note(SEVERAL, 0, 1, 1), _note(SEVERAL, 1, 2, 3)),
}


def _notes_case(name: str, notes: Sequence[Mapping[str, int]], right: Callable[..., object]) -> PythonCase:
    """A case for each of some notes; `right` takes the note, the thread and the epoch."""
    answers = [right(Note(note["who"], note["when"]), note["thread"], note["epoch"]) for note in notes]
    return PythonCase(name, tuple(notes), tuple(answers))


def _drawn_notes(random: np.random.Generator) -> PythonCase:
    """Notes beside a word, with more threads than in the tests."""
    notes = []
    for _ in range(6):
        who, thread = random.integers(0, 3, 2).tolist()
        when, epoch = sorted(random.integers(0, 2, 2).tolist())  # the note is of an earlier access
        more = 5 * int(random.integers(2))
        notes.append(_note(who + more, when + more, thread + more, epoch + more))
    return _notes_case("", notes, by_other)


@cache
def _note_cases() -> tuple[PythonCase, ...]:
    return tuple(_notes_case(name, notes, by_other) for name, notes in NOTES.items())


@cache
def _several_cases() -> tuple[PythonCase, ...]:
    cases = [_notes_case(name, notes, note_several) for name, notes in NOTES_OF_SEVERAL.items()]
    return (*cases, KernelsCase.of_kernels(f"{len(kernels())}_random_kernels", kernels()))


def _drawn_kernels(random: np.random.Generator) -> PythonCase:
    return KernelsCase.of_kernels("", [random_kernel(random) for _ in range(10)])


# --- A barrier --------------------------------------------------------------------------------------------------

STOPPED = -1  # in the place of an epoch: a barrier that some threads do not reach
EPOCHS = {  # the epochs of workgroups, and which of their threads reach a barrier
    "one_workgroup": (((0,), (1, 1, 1, 1)), ((3,), (1, 1))),
    "a_thread_is_missing": (((0,), (1, 1, 0, 1)), ((2,), (0, 1, 1, 1))),
    "two_workgroups": (((0, 0), (1, 1, 1, 1)), ((2, 5), (1, 1, 1, 1, 1, 1))),
    "one_goes_by": (((1, 1), (1, 1, 0, 0)), ((0, 4), (0, 0, 0, 1, 1, 1))),
    "one_is_stopped": (((0, 0, 2), (1, 1, 1, 0, 0, 0)), ((4, 1), (0, 1, 0, 1, 1, 1))),
}


def _after(epochs: tuple[int, ...], active: tuple[int, ...]) -> tuple[int, ...]:
    """The epochs of workgroups after a barrier that these of their threads reach."""
    after = []
    for group, epoch in zip(np.split(np.array(active), len(epochs)), epochs, strict=True):
        if group.all():
            after.append(epoch + 1)
        elif group.any():
            after.append(STOPPED)
        else:
            after.append(epoch)
    return tuple(after)


def _barrier_case(name: str, states: Sequence[tuple[tuple[int, ...], tuple[int, ...]]]) -> PythonCase:
    given = []
    for epochs, active in states:
        given.append({"epochs": epochs, "active": active, "size": len(active) // len(epochs)})
    return PythonCase(name, tuple(given), tuple(_after(*state) for state in states))


def _drawn_barrier(random: np.random.Generator) -> PythonCase:
    """Up to five workgroups, each with all of its threads, none or some."""
    size = int(random.integers(1, 9))
    epochs = random.integers(0, 9, random.integers(1, 6)).tolist()
    active = []
    for _ in epochs:
        share = random.choice([0, 0.5, 1])
        active += (random.random(size) < share).astype(int).tolist()
    return _barrier_case("", [(tuple(epochs), tuple(active))])


@cache
def _barrier_cases() -> tuple[PythonCase, ...]:
    return tuple(_barrier_case(name, states) for name, states in EPOCHS.items())


FOLDER = Path(__file__).with_name("puzzles")
PYTHON_PUZZLES = (  # as they come in the lesson
    PythonPuzzle("is_race", FOLDER, "race", _race_cases),
    PythonPuzzle("by_others", FOLDER, "other", _note_cases, drawn=_drawn_notes),
    PythonPuzzle("note_several", FOLDER, "new_who", _several_cases, drawn=_drawn_kernels),
    PythonPuzzle("barrier", FOLDER, "after", _barrier_cases, drawn=_drawn_barrier),
)
