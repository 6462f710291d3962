"""A moment of a run in words."""

from collections.abc import Iterable

from helpers.pictures.canvas import in_words, number
from helpers.stepper.replay import (
    ACTIVE,
    COLLISIONS,
    DONE,
    SECTOR,
    WAITING,
    Access,
    Collision,
    Memory,
    Moment,
    Replay,
)


class Teller:
    """Says what the moments of a run do."""

    def __init__(self, replay: Replay) -> None:
        self.replay = replay
        self._memories = {(memory.name, memory.group): memory for memory in replay.memories}

    def sentence(self, moment: Moment, thread: int) -> str:
        """Who does what, what one thread does, and what collides."""
        accesses, collision = self.replay.during(moment), self.replay.collision(moment, thread)
        states = self.replay.states(moment)
        told = [self._who(moment, states), self._what(moment, accesses), self._one(thread, states, accesses)]
        told += [self._collision(collision)] if collision else []
        return " ".join(filter(None, [*told, self._findings(moment)]))

    def _who(self, moment: Moment, states: list[str]) -> str:
        active, line, count = moment.active, moment.line, len(states)
        if len(active) == count:
            return f"Line {line}: all {count} threads are active." if count > 1 else f"Line {line}."
        rest = [f"{states.count(s)} {w}" for s, w in ((WAITING, "waiting"), (DONE, "done")) if s in states]
        who = f"{len(active)} threads" if self.replay.groups > 1 else in_words("thread", active)
        return f"Line {line}: {who} of {count} {'is' if len(active) == 1 else 'are'} active, {' and '.join(rest)}."

    def _what(self, moment: Moment, accesses: list[Access]) -> str:
        alone = len(moment.active) == 1
        who, end = ("It", "s") if alone else ("They", "")
        if self.replay.is_barrier(moment):
            return f"{who} {'is' if alone else 'are'} at a barrier: what was written before it can be read after it."
        read, written = ([a for a in accesses if a.write == write] for write in (False, True))
        uses = [f"{verb}{end} {self._uses(some)}" for verb, some in (("read", read), ("write", written)) if some]
        nothing = "touches" if alone else "touch"
        return f"{who} {', and '.join(uses) or f'{nothing} no memory that threads share'}."

    def _uses(self, accesses: list[Access]) -> str:
        """The elements of each array."""
        names = dict.fromkeys(a.name for a in accesses)
        return " and ".join(self._use([a for a in accesses if a.name == name]) for name in names)

    def _use(self, accesses: list[Access]) -> str:
        first, words = accesses[0], len({(a.group, a.word) for a in accesses})
        sectors = len({a.word // SECTOR for a in accesses if a.group < 0})
        lie = f" ({plural(sectors, 'sector')})" if sectors else ""
        return f"{plural(words, 'element')} of {first.name}{lie}"

    def _one(self, thread: int, states: list[str], accesses: list[Access]) -> str:
        """What one thread does."""
        who = self.named(thread)
        if states[thread] != ACTIVE:
            return f"{_capital(who)} is {states[thread]}."
        own = [a for a in accesses if a.thread == thread]
        done = [
            f"{verb} {_listed(dict.fromkeys(map(self._value, some)))}"
            for verb, write in (("reads", False), ("writes", True))
            if (some := [a for a in own if a.write == write])
        ]
        if not done:
            return f"{_capital(who)} is one of them." if states.count(ACTIVE) > 1 else ""
        return f"{_capital(who)} {', and '.join(done)}."

    def _value(self, access: Access) -> str:
        return f"{self.element(access)} = {number(access.value)}"

    def _collision(self, found: Collision) -> str:
        first, second, kind = found
        same = first.step == second.step
        verb = {True: ("wrote", "writes"), False: ("read", "reads")}[first.write][same]
        here = {True: "writes", False: "reads"}[second.write]
        where = "in the same line" if same and first.line == second.line else f"in line {first.line}"
        return (
            f"{COLLISIONS[kind]}: {self.named(second.thread)} {here} {self.element(second)}, which "
            f"{self.named(first.thread)} {verb} {where}, and nothing orders the two."
        )

    def _findings(self, moment: Moment) -> str:
        """What else the simulator found in the line."""
        found = dict.fromkeys(f.kind for f in self.replay.trace.findings if f.line == moment.line)
        others = [kind for kind in found if kind not in COLLISIONS]
        return f"The simulator found in this line: {_listed(others)}." if others else ""

    def named(self, thread: int) -> str:
        """A thread as a person says it."""
        group, local = divmod(thread, self.replay.threads)
        return f"thread {local} of workgroup {group}" if self.replay.groups > 1 else f"thread {local}"

    def element(self, access: Access) -> str:
        """The element that is touched."""
        memory = self._memories.get((access.name, access.group)) or Memory(access.name, (access.word + 1,))
        return memory.element(access.word)


def plural(count: int, noun: str) -> str:
    """A number and its noun."""
    return f"{count} {noun}{'s' * (count != 1)}"


def _listed(words: Iterable[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
