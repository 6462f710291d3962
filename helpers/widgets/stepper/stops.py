"""A reader's places to stop: at the events that give a variable a value, or that write an element."""

import re
from dataclasses import dataclass
from math import prod

import numpy as np

from helpers.data.words import listed
from helpers.grading.verdict import capitalized
from helpers.widgets.stepper.replay import Memory, Replay
from helpers.widgets.stepper.sentences import Teller

# suggestions for a name; steps or values, and letters of the reader's, in words
SUGGESTED = 8
SHOWN = 6
LONGEST = 40
VALUE = re.compile(r"([A-Za-z_][\w:]*) ?(?:\bis\b|==?) ?(\S+)")  # in text without two blanks side by side
WRITTEN = re.compile(r"([A-Za-z_][\w:]*) ?((?:\[[ \d,]*\] ?)*)(?:\b(?:is )?written)?")


@dataclass(frozen=True)
class Stop:
    """A condition to wait for: any value of a name where `value` is None, any of its elements where `word` is None."""

    name: str
    value: float | None = None
    word: int | None = None


class Stops:
    """The stops that a run allows, and what is said of them."""

    def __init__(self, replay: Replay) -> None:
        self._replay = replay
        self._teller = Teller(replay)
        self._variables = {variable.name: variable for variable in replay.variables}
        self._arrays = {memory.name: memory for memory in reversed(replay.memories)}

    @property
    def suggested(self) -> list[str]:
        """Some conditions that hold in this run, now and then."""
        told = []
        for name, variable in self._variables.items():
            texts = dict.fromkeys(map(variable.text, variable.values)) if variable.scalar else ()
            told += [f"{name} is {text}" for text in texts][:SUGGESTED] or [f"{name} is written"]
        for memory in self._arrays.values():
            words = np.unique(self._replay.writes(memory)[1])[:SUGGESTED]
            told += [f"{memory.element(word)} is written" for word in words]
        return told

    # --- What was typed ---------------------------------------------------------------------------------------

    def read(self, text: str) -> Stop:
        """The condition that a reader has typed. Raises ValueError with a sentence for the reader."""
        text = " ".join(text.split())
        valued = VALUE.fullmatch(text)
        written = WRITTEN.fullmatch(text)
        if written is None and valued is None:
            raise ValueError(f'"{_cut(text)}" is no condition. {self._example}')
        name = (written or valued)[1]
        if name not in self._variables and name not in self._arrays:
            shown = listed([*self._variables, *self._arrays])
            raise ValueError(f"This picture has nothing called {_cut(name)}: it shows {shown}. {self._example}")
        if written is None:
            return Stop(name, self._value(name, valued[2]))
        if name in self._variables and written[2]:
            raise ValueError(f"{name} is a variable of each thread: write {name} is written.")
        return Stop(name, word=self._word(name, written[2]))

    def _value(self, name: str, text: str) -> float:
        if name in self._arrays or not self._variables[name].scalar:
            element = name if name in self._variables else f"{name}[0]"
            raise ValueError(f"{name} has several numbers: write {element} is written.")
        typed = {"true": "1", "false": "0"}.get(text, text.replace("\N{MINUS SIGN}", "-"))
        try:
            return float(typed)
        except ValueError:
            raise ValueError(f"{_cut(text)} is no number. {self._example}") from None

    def _word(self, name: str, brackets: str) -> int | None:
        """The element that is named, by an index for each axis or, as in a kernel, by one for all."""
        indices = [int(digits[:9]) for digits in re.findall(r"\d+", brackets)]
        if not indices:
            return None
        shape = self._arrays[name].shape
        sizes = shape if len(indices) > 1 else (prod(shape),)
        if len(indices) != len(sizes) or any(i >= size for i, size in zip(indices, sizes, strict=True)):
            size = " × ".join(map(str, shape)) + " element" + "s" * (prod(shape) > 1)
            raise ValueError(f"{name} has {size}, counted from 0: {_cut(brackets.strip())} is none of them.")
        return int(np.ravel_multi_index(indices, sizes))

    @property
    def _example(self) -> str:
        ends = [[told for told in self.suggested if told.endswith("written") == end] for end in (False, True)]
        return f"Write, for example, {' or '.join(told[0] for told in ends if told)}."

    # --- Where it holds ---------------------------------------------------------------------------------------

    def events(self, stop: Stop, thread: int) -> list[int]:
        """The numbers of the events that reach it: one thread's own, of a variable; any thread's, of an array."""
        if stop.name in self._variables:
            variable = self._variables[stop.name]
            ends = [event.until for event in self._replay.events]
            own = variable.who == thread
            kept = [
                step for step, value in zip(variable.steps[own], variable.values[own], strict=True) if _is(value, stop)
            ]
            found = np.searchsorted(ends, kept)
        else:
            places, words = self._replay.writes(self._memory(stop, thread))
            kept = places if stop.word is None else places[words == stop.word]
            found = np.searchsorted([event.accesses.stop for event in self._replay.events], kept, "right")
        return sorted({int(i) for i in found if i < len(self._replay.events)})

    def _memory(self, stop: Stop, thread: int) -> Memory:
        """The array; of workgroup memory, that of the thread's workgroup."""
        homes = -1, thread // self._replay.threads
        return next(m for m in self._replay.memories if m.name == stop.name and m.group in homes)

    def said(self, stop: Stop, thread: int) -> str:
        """Say when it is reached, or that it never is."""
        found = self.events(stop, thread)
        if found:
            steps = f"{len(found)} steps, from {found[0]} to {found[-1]}"
            if len(found) <= SHOWN:
                steps = f"step {found[0]}" if len(found) == 1 else f"steps {listed(found)}"
            return f"{self.reached(stop, thread)} in {steps}."
        if stop.name in self._arrays:
            return f"In this run, nobody writes {self._element(stop, thread)}."
        return f"In this run, {self._teller.named(thread)} never {self._gives(stop)}.{self._instead(stop, thread)}"

    def reached(self, stop: Stop, thread: int) -> str:
        """Say what happens there, without a full stop."""
        if stop.name in self._arrays:
            return f"{self._element(stop, thread)} is written"
        return f"{capitalized(self._teller.named(thread))} {self._gives(stop)}"

    def _gives(self, stop: Stop) -> str:
        value = "a value" if stop.value is None else f"the value {self._variables[stop.name].number(stop.value)}"
        return f"gives {stop.name} {value}"

    def _element(self, stop: Stop, thread: int) -> str:
        memory = self._memory(stop, thread)
        return memory.name if stop.word is None else memory.element(stop.word)

    def _instead(self, stop: Stop, thread: int) -> str:
        """List the values that the variable gets."""
        variable = self._variables[stop.name]
        texts = [*dict.fromkeys(map(variable.text, variable.values[variable.who == thread]))]
        if not variable.scalar or not texts:
            return ""
        return f" Its values are {', '.join(texts[:SHOWN])}{', …' * (len(texts) > SHOWN)}."


def _is(value: np.ndarray, stop: Stop) -> bool:
    """Return whether a value is the one that is waited for; a fraction need only look like it."""
    if stop.value is None:
        return True
    same = value[0] == stop.value or (np.isnan(value[0]) and np.isnan(stop.value))
    return bool(same or (value[0] % 1 and f"{value[0]:.4g}" == f"{stop.value:.4g}"))


def _cut(text: str) -> str:
    """The reader's text, cut where it is too long to repeat."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
