"""The values that sliders can reach: their limits, their multiples, and several that are played as one number."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from helpers.widgets.controls import Values

Limits = int | tuple[int, int]  # the first and the last value, or how many there are, from 0 on
Rule = Limits | Callable[[Values], Limits]  # the limits of one value, or how they follow from the values before it


def limits(rule: Rule, values: Values) -> tuple[int, int]:
    """The first and the last value that a rule allows beside these values."""
    allowed = rule(values) if callable(rule) else rule
    if isinstance(allowed, int):
        return 0, allowed - 1
    return allowed


@dataclass(frozen=True)
class Ranges:
    """The rules of all values, in their order.

    Attributes
    ----------
    rules : mapping of name to rule
        The limits of each value.
    multiples : mapping of name to name
        Values that are multiples of another one.
    played : sequence of str
        Values that are played as one number, the last of them fastest.
    """

    rules: Mapping[str, Rule]
    multiples: Mapping[str, str]
    played: Sequence[str]

    def allowed(self, wanted: Values) -> Values:
        """The nearest allowed values, in the order of the rules."""
        allowed = dict(wanted)
        for name, rule in self.rules.items():
            low, high = limits(rule, allowed)
            step = self.step(name, allowed)
            within = min(max(allowed[name], low), high)
            allowed[name] = (within + step // 2) // step * step
        return allowed

    def step(self, name: str, values: Values) -> int:
        """The distance from one allowed value to the next."""
        if name in self.multiples:
            return values[self.multiples[name]]
        return 1

    def place(self, values: Values) -> int:
        """The number of these values among all that are played."""
        lows, sizes = self._lows_and_sizes(values)
        indices = np.subtract([values[name] for name in self.played], lows)
        return int(np.ravel_multi_index(indices, sizes))

    def last_place(self, values: Values) -> int:
        """The number of the last values that are played."""
        _, sizes = self._lows_and_sizes(values)
        return prod(sizes) - 1

    def values_at(self, place: int, values: Values) -> Values:
        """The values that are played at a place, or the last ones; `values` are those before it."""
        lows, sizes = self._lows_and_sizes(values)
        indices = np.unravel_index(min(place, prod(sizes) - 1), sizes)
        return dict(zip(self.played, np.add(indices, lows).tolist(), strict=True))

    def _lows_and_sizes(self, values: Values) -> tuple[list[int], list[int]]:
        """The first of each value that is played, and their numbers."""
        lows = []
        sizes = []
        for name in self.played:
            low, high = limits(self.rules[name], values)
            lows.append(low)
            sizes.append(high - low + 1)
        return lows, sizes
