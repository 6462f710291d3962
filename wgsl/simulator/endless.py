"""The budget of loop iterations, and the loop that is to blame when it is used up."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache, partial

import numpy as np

from wgsl.facts import Endless
from wgsl.simulator.lanes import Dispatch, Lanes
from wgsl.simulator.memory import Words
from wgsl.simulator.settled import settled
from wgsl.simulator.watch import Watch
from wgsl.types import program as ir
from wgsl.types.usage import nodes


class Stopped(Exception):
    """An invocation has used up its iterations, and the loop to blame is reported."""


@dataclass
class _Entered:
    """A loop that is being run: its iterations, and what its end depends on at the start of the last two of them."""

    loop: ir.Loop
    iterations: int = 0
    before: dict[str, np.ndarray] = field(default_factory=dict)
    latest: dict[str, np.ndarray] = field(default_factory=dict)


class Budget:
    """Counts the iterations of each invocation, in all loops together.

    When one has used up its budget, the loop to blame is the innermost one that has made more iterations than ever
    before it ended: an endless outer loop is often caught inside an inner one that ends each time.
    """

    def __init__(self, most: int, dispatch: Dispatch, words: Words, watch: Watch) -> None:
        self._most = most
        self._words = words
        self._watch = watch
        self._iterations = np.zeros(dispatch.lanes, np.int64)
        self._all = 0  # iterations of anyone: no invocation has made more
        self._entered: list[_Entered] = []
        self._longest: dict[int, int] = {}  # the most iterations after which a loop (its id) has ended

    def enter(self, loop: ir.Loop, lanes: Lanes) -> None:
        """A loop begins for these invocations."""
        self._entered.append(_Entered(loop))
        self._watch.waits.enter(loop, lanes)

    def leave(self) -> None:
        """The innermost loop has ended."""
        ended = self._entered.pop()
        self._longest[id(ended.loop)] = max(ended.iterations, self._longest.get(id(ended.loop), 0))

    @property
    def outermost(self) -> int:
        """The offset of the outermost loop that is running; 0 where none is."""
        return self._entered[0].loop.at if self._entered else 0

    def iterate(self, lanes: Lanes) -> None:
        """These invocations begin an iteration of the innermost loop.

        Raises Stopped when one of them has used up its budget.
        """
        entered = self._entered[-1]
        entered.iterations += 1
        self._all += 1
        self._iterations[slice(None) if lanes.whole else lanes.index] += 1
        if self._all > self._most // 2:
            entered.before = entered.latest
            entered.latest = self._state(entered.loop)
        if self._all > self._most:
            over = lanes.index[self._iterations[lanes.index] > self._most]
            if len(over):
                self._stop(over)

    def _stop(self, over: np.ndarray) -> None:
        inward = reversed(self._entered)
        longer = (entered for entered in inward if entered.iterations > self._longest.get(id(entered.loop), 0))
        blamed = next(longer, self._entered[0])
        if self._watch.waits.stop(blamed.loop):
            raise Stopped
        unmoved = [
            str(name)
            for name, values in blamed.latest.items()
            if name in blamed.before and np.array_equal(values[..., over], blamed.before[name][..., over])
        ]
        condition = blamed.loop.condition
        closed = _is_closed(blamed.loop)
        always = self._watch.source(condition) if settled(condition) else ""
        facts = partial(Endless, self._most, blamed.iterations, tuple(unmoved), always, closed)
        self._watch.collector.add("endless loop", blamed.loop.at, over, facts)
        raise Stopped

    def _state(self, loop: ir.Loop) -> dict[str, np.ndarray]:
        """Return copies of the variables on which the loop's end depends, by name."""
        arrays = self._words.arrays
        return {variable.name: arrays[variable].copy() for variable in exit_variables(loop) if variable in arrays}


@cache
def exit_variables(loop: ir.Loop) -> tuple[ir.Variable, ...]:
    """The function's and private variables that the conditions read on which a loop's end depends."""
    conditions = [loop.condition, loop.break_if]
    conditions += [part.condition for part in nodes(loop.body) if isinstance(part, ir.If) and _leaves(part)]
    roots = (part for part in nodes(tuple(conditions)) if isinstance(part, ir.Root))
    return tuple(dict.fromkeys(root.variable for root in roots if root.variable.space in ("function", "private")))


def _is_closed(loop: ir.Loop) -> bool:
    """Return True for a loop that has no condition but `true`, and that nothing in it leaves."""
    endings = [loop.condition, loop.break_if]
    always = all(isinstance(condition, ir.Constant | None) for condition in endings)
    return always and not any(isinstance(part, ir.Break | ir.Return) for part in nodes(loop.body))


def _leaves(statement: ir.If) -> bool:
    """Return True for an `if` with a `break` or `return` in one of its branches."""
    return any(isinstance(part, ir.Break | ir.Return) for part in (*statement.then, *statement.otherwise))
