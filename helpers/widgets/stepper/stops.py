"""A reader's places to stop: at the events that give a variable a value, or that write an element."""

import re
from dataclasses import dataclass
from functools import cached_property
from math import prod
from typing import NamedTuple

import numpy as np

from helpers.data.words import listed
from helpers.grading.verdict import capitalized
from helpers.widgets.stepper.replay import Memory, Replay
from helpers.widgets.stepper.sentences import Teller

SUGGESTED = 8  # conditions for a name
SHOWN = 6  # steps or values in a message
LONGEST = 40  # letters of a reader's text in a message
VALUE = re.compile(r"([A-Za-z_][\w:]*) ?(?:\bis\b|==?) ?(\S+)")  # in text without two blanks side by side
WRITTEN = re.compile(r"([A-Za-z_][\w:]*) ?((?:\[[ \d,]*\] ?)*)(?:\b(?:is )?written)?")


@dataclass(frozen=True)
class Stop:
    """A condition to wait for: any value of a name where `value` is None, any of its elements where `word` is None."""

    name: str
    value: float | None = None
    word: int | None = None


class Suggestion(NamedTuple):
    """A condition that holds in a run, now and then, and whether it is that something is written."""

    condition: str
    is_write: bool


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
        return [suggestion.condition for suggestion in self._suggestions]

    @cached_property
    def _suggestions(self) -> list[Suggestion]:
        suggestions = []
        for name, variable in self._variables.items():
            texts = list(dict.fromkeys(map(variable.text, variable.values))) if variable.scalar else []
            if texts:
                suggestions += [Suggestion(f"{name} is {text}", False) for text in texts[:SUGGESTED]]
            else:
                suggestions.append(Suggestion(f"{name} is written", True))
        for memory in self._arrays.values():
            _, words = self._replay.writes(memory)
            for word in np.unique(words)[:SUGGESTED]:
                suggestions.append(Suggestion(f"{memory.element(word)} is written", True))
        return suggestions

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
            elements = "element" if prod(shape) == 1 else "elements"
            size = f"{' × '.join(map(str, shape))} {elements}"
            raise ValueError(f"{name} has {size}, counted from 0: {_cut(brackets.strip())} is none of them.")
        return int(np.ravel_multi_index(indices, sizes))

    @property
    def _example(self) -> str:
        values = [suggestion.condition for suggestion in self._suggestions if not suggestion.is_write]
        writes = [suggestion.condition for suggestion in self._suggestions if suggestion.is_write]
        examples = [*values[:1], *writes[:1]]
        return f"Write, for example, {' or '.join(examples)}."

    # --- Where it holds ---------------------------------------------------------------------------------------

    def events(self, stop: Stop, thread: int) -> list[int]:
        """The numbers of the events that reach it: one thread's own, of a variable; any thread's, of an array."""
        if stop.name in self._variables:
            numbers = self._events_of_variable(stop, thread)
        else:
            numbers = self._events_of_array(stop, thread)
        return sorted({int(i) for i in numbers if i < len(self._replay.events)})

    def _events_of_variable(self, stop: Stop, thread: int) -> np.ndarray:
        variable = self._variables[stop.name]
        of_thread = variable.who == thread
        values = zip(variable.steps[of_thread], variable.values[of_thread], strict=True)
        steps = [step for step, value in values if _is(value, stop)]
        ends = [event.until for event in self._replay.events]
        return np.searchsorted(ends, steps)

    def _events_of_array(self, stop: Stop, thread: int) -> np.ndarray:
        places, words = self._replay.writes(self._memory(stop, thread))
        if stop.word is not None:
            places = places[words == stop.word]
        ends = [event.accesses.stop for event in self._replay.events]
        return np.searchsorted(ends, places, "right")

    def _memory(self, stop: Stop, thread: int) -> Memory:
        """The array; of workgroup memory, that of the thread's workgroup."""
        groups = -1, thread // self._replay.threads
        return next(m for m in self._replay.memories if m.name == stop.name and m.group in groups)

    def message(self, stop: Stop, thread: int) -> str:
        """Say when it is reached, or that it never is."""
        steps = self.events(stop, thread)
        if steps:
            return f"{self.reached(stop, thread)} in {_steps_in_words(steps)}."
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
        if len(texts) > SHOWN:
            texts = [*texts[:SHOWN], "…"]
        return f" Its values are {', '.join(texts)}."


def _steps_in_words(steps: list[int]) -> str:
    """The numbers of a few steps; of many, the first and the last."""
    if len(steps) == 1:
        return f"step {steps[0]}"
    if len(steps) <= SHOWN:
        return f"steps {listed(steps)}"
    return f"{len(steps)} steps, from {steps[0]} to {steps[-1]}"


def _is(value: np.ndarray, stop: Stop) -> bool:
    """Return whether a value is the one that is waited for; a fraction need only look like it."""
    if stop.value is None:
        return True
    same = value[0] == stop.value or (np.isnan(value[0]) and np.isnan(stop.value))
    return bool(same or (value[0] % 1 and f"{value[0]:.4g}" == f"{stop.value:.4g}"))


def _cut(text: str) -> str:
    """The reader's text, cut where it is too long to repeat."""
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
