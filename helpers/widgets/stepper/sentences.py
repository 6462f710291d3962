"""An event of a run in words."""

from collections.abc import Iterable

from helpers.data.words import in_words, listed
from helpers.grading.verdict import capitalized
from helpers.pictures.canvas import number
from helpers.widgets.stepper.replay import ACTIVE, DONE, SECTOR, WAITING, Access, Event, Memory, Replay

INACTIVE = {WAITING: "waiting", DONE: "done"}  # in words


class Teller:
    """Says what the events of a run do."""

    def __init__(self, replay: Replay) -> None:
        self.replay = replay

    def sentence(self, event: Event, thread: int) -> str:
        """Say who does what, what one thread does and has, and what the simulator found."""
        accesses = self.replay.during(event)
        states = self.replay.states(event)
        sentences = [
            self._say_active(event, states),
            self._say_uses(event, accesses),
            self._say_thread(thread, states, accesses),
            self._say_variables(event, thread),
            self._say_findings(event),
        ]
        return " ".join(filter(None, sentences))

    def _say_active(self, event: Event, states: list[str]) -> str:
        """Say which threads are active, and how many others wait or are done."""
        active = event.active
        line = event.line
        count = len(states)
        if count == 1:
            return f"Line {line}."
        if len(active) == count:
            return f"Line {line}: all {count} threads are active."
        rest = [f"{states.count(state)} {word}" for state, word in INACTIVE.items() if state in states]
        who = f"{len(active)} threads" if self.replay.groups > 1 else in_words("thread", active)
        is_or_are = "is" if len(active) == 1 else "are"
        return f"Line {line}: {who} of {count} {is_or_are} active, {' and '.join(rest)}."

    def _say_uses(self, event: Event, accesses: list[Access]) -> str:
        """Say what the active threads do with memory that threads share."""
        is_alone = len(event.active) == 1
        subject = "It" if is_alone else "They"
        if self.replay.is_barrier(event):
            is_or_are = "is" if is_alone else "are"
            return f"{subject} {is_or_are} at a barrier: what was written before it can be read after it."
        read, written = read_and_written(accesses)
        uses = []
        if read:
            uses.append(f"{'reads' if is_alone else 'read'} {self._elements(read)}")
        if written:
            uses.append(f"{'writes' if is_alone else 'write'} {self._elements(written)}")
        if not uses:
            uses.append(f"{'touches' if is_alone else 'touch'} no memory that threads share")
        return f"{subject} {', and '.join(uses)}."

    def _elements(self, accesses: list[Access]) -> str:
        """The number of elements of each array, and of sectors of a buffer."""
        counts = []
        for name in dict.fromkeys(access.name for access in accesses):
            words = {(access.group, access.word) for access in accesses if access.name == name}
            sectors = {word // SECTOR for group, word in words if group < 0}
            count = f"{plural(len(words), 'element')} of {name}"
            if sectors:
                count += f" ({plural(len(sectors), 'sector')})"
            counts.append(count)
        return " and ".join(counts)

    def _say_thread(self, thread: int, states: list[str], accesses: list[Access]) -> str:
        """Say what one thread does."""
        name = capitalized(self.named(thread))
        if states[thread] != ACTIVE:
            return f"{name} is {states[thread]}."
        read, written = read_and_written(access for access in accesses if access.thread == thread)
        actions = []
        if read:
            actions.append(f"reads {self._values(read)}")
        if written:
            actions.append(f"writes {self._values(written)}")
        if actions:
            return f"{name} {', and '.join(actions)}."
        return f"{name} is one of them." if states.count(ACTIVE) > 1 else ""

    def _values(self, accesses: list[Access]) -> str:
        """Each element that is touched, with its value."""
        texts = [f"{self.element(access)} = {number(access.value)}" for access in accesses]
        return listed(dict.fromkeys(texts))

    def _say_variables(self, event: Event, thread: int) -> str:
        """List the variables of one thread with their values."""
        known = []
        for variable in self.replay.variables:
            text = self.replay.held(variable, event, thread).text
            if text:
                known.append(f"{variable.name} = {text}")
        return f"{capitalized(self.named(thread))} holds {listed(known)}." if known else ""

    def _say_findings(self, event: Event) -> str:
        """Say what the simulator found in the line."""
        kinds = dict.fromkeys(finding.kind for finding in self.replay.trace.findings if finding.line == event.line)
        return f"The simulator found in this line: {listed(kinds)}." if kinds else ""

    def named(self, thread: int) -> str:
        """A thread as a person says it."""
        group, local = divmod(thread, self.replay.threads)
        return f"thread {local} of workgroup {group}" if self.replay.groups > 1 else f"thread {local}"

    def element(self, access: Access) -> str:
        """The element that is touched."""
        for memory in self.replay.memories:
            if memory.holds(access):
                return memory.element(access.word)
        return Memory(access.name, (access.word + 1,)).element(access.word)


def read_and_written(accesses: Iterable[Access]) -> tuple[list[Access], list[Access]]:
    """The accesses that read, and those that write."""
    read = []
    written = []
    for access in accesses:
        if access.write:
            written.append(access)
        else:
            read.append(access)
    return read, written


def plural(count: int, noun: str) -> str:
    """A number and its noun."""
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"
