"""A detector of data races, access by access: beside each word of a memory are notes of who used it last, and when.

It is given the accesses of threads in one workgroup, in the order in which they were made. An epoch is what lies
between two barriers.
"""

from collections.abc import Callable, Iterable, Sequence
from typing import NamedTuple

NOBODY = -1
SEVERAL = -2  # in the place of a thread: more than one


class Access(NamedTuple):
    """The read or write of a word by a thread, in a line of a kernel."""

    thread: int
    word: int
    writes: bool
    epoch: int
    line: int


class Note(NamedTuple):
    """The thread of an access, and the epoch in which it was made."""

    who: int = NOBODY
    when: int = NOBODY


Keep = Callable[[Note, int, int], int]  # of a note, a thread and an epoch: who is noted after this thread's access


def by_other(note: Note, thread: int, epoch: int) -> bool:
    """Return True where another thread made the access that is noted, in the same epoch."""
    return note.when == epoch and note.who != thread


def note_last(_: Note, thread: int, __: int) -> int:
    """Keep the last thread alone."""
    return thread


def note_several(note: Note, thread: int, epoch: int) -> int:
    """Keep the thread, or that there were several in this epoch."""
    return SEVERAL if by_other(note, thread, epoch) else thread


class Shadow:
    """The notes beside the words of a memory: who wrote each, and who read it; `keep` says who is noted."""

    def __init__(self, words: int, keep: Keep) -> None:
        self.writes = [Note()] * words
        self.reads = [Note()] * words
        self._keep = keep

    def races(self, access: Access) -> tuple[Note, ...]:
        """Return the notes of earlier accesses with which this one is a race."""
        earlier = [self.writes[access.word]]
        if access.writes:
            earlier.append(self.reads[access.word])
        return tuple(note for note in earlier if by_other(note, access.thread, access.epoch))

    def note(self, access: Access) -> None:
        """Note an access."""
        notes = self.writes if access.writes else self.reads
        who = self._keep(notes[access.word], access.thread, access.epoch)
        notes[access.word] = Note(who, access.epoch)


def found_lines(accesses: Iterable[Access], words: int, keep: Keep) -> frozenset[int]:
    """Return the lines in which a race is found."""
    shadow = Shadow(words, keep)
    lines = set()
    for access in accesses:
        if shadow.races(access):
            lines.add(access.line)
        shadow.note(access)
    return frozenset(lines)


def is_race(one: Access, other: Access) -> bool:
    """Return True for two accesses to one word, by two threads, in one epoch, of which one writes: the definition."""
    if one.word != other.word or one.thread == other.thread:
        return False
    return (one.writes or other.writes) and one.epoch == other.epoch


def earlier_racing(accesses: Sequence[Access], i: int) -> Access | None:
    """Return the last access before number `i` that is a race with it, by the definition; None where there is none."""
    for earlier in reversed(accesses[:i]):
        if is_race(earlier, accesses[i]):
            return earlier
    return None
