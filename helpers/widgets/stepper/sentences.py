"""An event of a run in words."""

from itertools import groupby

from helpers.data.words import in_words, listed
from helpers.grading.verdict import capitalized
from helpers.pictures.canvas import number
from helpers.widgets.stepper.replay import ACTIVE, DONE, SECTOR, WAITING, Access, Event, Memory, Replay


class Teller:
    """Says what the events of a run do."""

    def __init__(self, replay: Replay) -> None:
        self.replay = replay

    def sentence(self, event: Event, thread: int) -> str:
        """Say who does what, what one thread does and has, and what the simulator found."""
        accesses = self.replay.during(event)
        states = self.replay.states(event)
        told = [self._who(event, states), self._what(event, accesses), self._one(thread, states, accesses)]
        return " ".join(filter(None, [*told, self._holds(event, thread), self._findings(event)]))

    def _who(self, event: Event, states: list[str]) -> str:
        active = event.active
        line = event.line
        count = len(states)
        if len(active) == count:
            return f"Line {line}: all {count} threads are active." if count > 1 else f"Line {line}."
        rest = [f"{states.count(s)} {w}" for s, w in ((WAITING, "waiting"), (DONE, "done")) if s in states]
        who = f"{len(active)} threads" if self.replay.groups > 1 else in_words("thread", active)
        return f"Line {line}: {who} of {count} {'is' if len(active) == 1 else 'are'} active, {' and '.join(rest)}."

    def _what(self, event: Event, accesses: list[Access]) -> str:
        alone = len(event.active) == 1
        who, end = ("It", "s") if alone else ("They", "")
        if self.replay.is_barrier(event):
            return f"{who} {'is' if alone else 'are'} at a barrier: what was written before it can be read after it."
        read, written = ([a for a in accesses if a.write == write] for write in (False, True))
        uses = [f"{verb}{end} {self._uses(some)}" for verb, some in (("read", read), ("write", written)) if some]
        nothing = "touches" if alone else "touch"
        return f"{who} {', and '.join(uses) or f'{nothing} no memory that threads share'}."

    def _uses(self, accesses: list[Access]) -> str:
        """The elements of each array."""
        uses = []
        for name in dict.fromkeys(a.name for a in accesses):
            words = {(a.group, a.word) for a in accesses if a.name == name}
            sectors = len({word // SECTOR for group, word in words if group < 0})
            uses.append(
                f"{plural(len(words), 'element')} of {name}" + f" ({plural(sectors, 'sector')})" * (sectors > 0)
            )
        return " and ".join(uses)

    def _one(self, thread: int, states: list[str], accesses: list[Access]) -> str:
        """Say what one thread does."""
        who = self.named(thread)
        if states[thread] != ACTIVE:
            return f"{capitalized(who)} is {states[thread]}."
        own = [a for a in accesses if a.thread == thread]
        own.sort(key=lambda a: a.write)
        done = [
            f"{name} {listed(dict.fromkeys(f'{self.element(a)} = {number(a.value)}' for a in some))}"
            for name, some in groupby(own, verb)
        ]
        if not done:
            return f"{capitalized(who)} is one of them." if states.count(ACTIVE) > 1 else ""
        return f"{capitalized(who)} {', and '.join(done)}."

    def _holds(self, event: Event, thread: int) -> str:
        """List the variables of one thread with their values."""
        held = {v.name: self.replay.held(v, event, thread).text for v in self.replay.variables}
        known = [f"{name} = {text}" for name, text in held.items() if text]
        return f"{capitalized(self.named(thread))} holds {listed(known)}." if known else ""

    def _findings(self, event: Event) -> str:
        """Say what the simulator found in the line."""
        kinds = dict.fromkeys(finding.kind for finding in self.replay.trace.findings if finding.line == event.line)
        return f"The simulator found in this line: {listed(kinds)}." if kinds else ""

    def named(self, thread: int) -> str:
        """A thread as a person says it."""
        group, local = divmod(thread, self.replay.threads)
        return f"thread {local} of workgroup {group}" if self.replay.groups > 1 else f"thread {local}"

    def element(self, access: Access) -> str:
        """The element that is touched."""
        other = Memory(access.name, (access.word + 1,))
        return next((memory for memory in self.replay.memories if memory.holds(access)), other).element(access.word)


def verb(access: Access) -> str:
    """Say what the thread does with the element."""
    return "writes" if access.write else "reads"


def plural(count: int, noun: str) -> str:
    """A number and its noun."""
    return f"{count} {noun}{'s' * (count != 1)}"
