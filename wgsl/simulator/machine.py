"""Runs a program, all its invocations in step.

A statement is run once for all invocations that reach it. Where they part, at an `if` or at the end of a loop, each
branch is run for those that take it, one branch after the other, and after it they go on together. So each statement
gets a set of invocations, and passes on those that reach the next one; those that leave by `break`, `continue` or
`return` wait in a list until the loop or the function ends.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import chain

import numpy as np

from wgsl.simulator.access import Access
from wgsl.simulator.endless import Budget, Stopped
from wgsl.simulator.expressions import Expressions
from wgsl.simulator.lanes import Dispatch, Lanes, joined
from wgsl.simulator.memory import Words
from wgsl.simulator.subgroups import Fill, Subgroups
from wgsl.simulator.values import NamedValue, Place, Value
from wgsl.simulator.watch import Watch
from wgsl.simulator.watched import Named
from wgsl.simulator.work import TooLong, Work, operations_of
from wgsl.types import program as ir
from wgsl.types.usage import usage


@dataclass
class _Exits:
    """The invocations that have left a loop or switch by `break`, and those that wait for its next iteration."""

    broken: list[Lanes] = field(default_factory=list)
    continued: list[Lanes] = field(default_factory=list)


@dataclass
class _Frame:
    """A call: the loops it is in, and the invocations that have returned, with their values."""

    exits: list[_Exits] = field(default_factory=list)
    returned: list[tuple[Lanes, Value | None]] = field(default_factory=list)


class Machine:
    """Runs the statements of a program."""

    def __init__(
        self, program: ir.Program, dispatch: Dispatch, words: Words, watch: Watch, access: Access, max_steps: int,
        work: Work, fill: Fill | None = None,
    ) -> None:  # fmt: skip
        self._program = program
        self._dispatch = dispatch
        self._words = words
        self._watch = watch
        watch.kept_by = self._kept_by
        self._access = access
        self.subgroups = Subgroups(watch, fill)
        self._expressions = Expressions(words, watch, access, self.subgroups, self._call)
        self._budget = Budget(max_steps, dispatch, words, watch)
        self._frames: list[_Frame] = []
        self._around: list[tuple[str, Lanes]] = []  # the branches and loops that are being run, and who came to them
        self._work = work
        self._steps = 0
        self._operations: dict[int, int] = {}  # by the statement's id: its hash is that of all that is in it
        self._kinds: dict[type, Callable[..., Lanes]] = {
            ir.Bind: self._bind, ir.Declare: self._declare, ir.Store: self._store, ir.Update: self._update,
            ir.Evaluate: self._evaluate, ir.Barrier: self._barrier, ir.If: self._if,
            ir.Block: lambda block, lanes: self._block(block.body, lanes),
            ir.Switch: self._switch, ir.Loop: self._loop, ir.Break: self._leave, ir.Continue: self._leave,
            ir.Return: self._return,
        }  # fmt: skip

    def run(self) -> bool:
        """Run the entry point; False where a loop used up the budget. Raises TooLong where the work is used up."""
        try:
            with np.errstate(all="ignore", invalid="call", call=self._noticed):
                for variable in self._program.private:
                    self._start(variable, variable.value, variable.at, self._dispatch.all)
                arguments = [self._built_in(names) for names in self._program.inputs]
                self._function(self._program.entry, arguments, self._dispatch.all)
        except Stopped:
            return False
        return True

    def _built_in(self, names: Sequence[str]) -> Value:
        """The value of a parameter of the entry point: these built-in values, one after another."""
        leaves: list[np.ndarray] = []
        for name in names:
            leaves += self._dispatch.built_in(name)
        return Value(tuple(leaves))

    def _noticed(self, *_: object) -> None:
        self._expressions.invalid = True

    def _start(self, variable: ir.Variable, value: ir.Expression | None, at: int, lanes: Lanes) -> None:
        """Give a variable its first value."""
        self._words.clear(variable, lanes)
        if value is not None:
            first = self._expressions.value(value, lanes)
            self._access.store(Place(variable, 0), variable.type, first, lanes, value)
        self._note(variable, at, lanes)

    # --- Functions --------------------------------------------------------------------------------------------

    def _call(self, call: ir.Call, lanes: Lanes) -> Value:
        arguments = [self._expressions.value(argument, lanes) for argument in call.arguments]
        held = self._watch.held
        if usage(call.function).written:  # more than its result may depend on what it reads
            self._watch.held = None
        result = self._function(call.function, arguments, lanes)
        self._watch.held = held
        return result

    def _function(self, function: ir.Function, arguments: Sequence[Value | Place], lanes: Lanes) -> Value:
        for binding, argument in zip(function.parameters, arguments, strict=True):
            self._expressions.names[binding] = NamedValue(lanes, argument)
            self._note(binding, binding.at, lanes)
        self._frames.append(_Frame())
        self._block(function.body, lanes)
        returned = self._frames.pop().returned
        if function.result is None:
            return Value(())
        if len(returned) == 1:
            return returned[0][1]
        return _united(returned, lanes)

    def _return(self, statement: ir.Return, lanes: Lanes) -> Lanes:
        value = None if statement.value is None else self._expressions.value(statement.value, lanes)
        self._frames[-1].returned.append((lanes, value))
        return self._dispatch.none

    # --- Simple statements ------------------------------------------------------------------------------------

    def _step(self, statement: ir.Statement, lanes: Lanes) -> None:
        self._spend(statement, lanes)
        self._steps += 1
        self._watch.log.step(statement.at, lanes)
        self._watch.counter.step(statement.at, lanes)

    def _spend(self, statement: ir.Statement, lanes: Lanes) -> None:
        operations = self._operations.get(id(statement))
        if operations is None:
            operations = self._operations[id(statement)] = operations_of(statement)
        if not self._work.spend(operations, lanes):
            raise TooLong(self._budget.outermost or statement.at, self._steps, self._dispatch.lanes)

    def _bind(self, statement: ir.Bind, lanes: Lanes) -> Lanes:
        self._expressions.names[statement.binding] = NamedValue(lanes, self._expressions.value(statement.value, lanes))
        self._note(statement.binding, statement.at, lanes)
        return lanes

    def _declare(self, statement: ir.Declare, lanes: Lanes) -> Lanes:
        self._start(statement.variable, statement.value, statement.at, lanes)
        return lanes

    def _store(self, statement: ir.Store, lanes: Lanes) -> Lanes:
        reference = statement.reference
        place = self._expressions.place(reference, lanes)
        value = self._expressions.value(statement.value, lanes)
        self._access.store(place, reference.type, value, lanes, reference)
        self._note(place.variable, statement.at, lanes)
        return lanes

    def _update(self, statement: ir.Update, lanes: Lanes) -> Lanes:
        reference = statement.reference
        place = self._expressions.place(reference, lanes)
        self._watch.counter.operator(statement, reference.type, (statement.value,), lanes)
        left = self._access.load(place, reference.type, lanes, reference)
        right = self._expressions.value(statement.value, lanes)
        value = self._expressions.combined(statement, statement.operator, left, right)
        self._access.store(place, reference.type, value, lanes, reference)
        self._note(place.variable, statement.at, lanes)
        return lanes

    def _note(self, named: Named, at: int, lanes: Lanes) -> None:
        """Let the log keep what a variable holds now in these invocations, where it is watched."""
        if named in self._watch.watched:
            if isinstance(named, ir.Variable):
                value = self._access.load(Place(named, 0), named.type, lanes, named)
            else:
                value = self._expressions.names[named].take(lanes)
            self._watch.log.value(named, at, lanes, value.leaves)

    def _evaluate(self, statement: ir.Evaluate, lanes: Lanes) -> Lanes:
        self._expressions.value(statement.value, lanes)
        return lanes

    def _barrier(self, statement: ir.Barrier, lanes: Lanes) -> Lanes:
        self._watch.barrier(statement.name, lanes, statement.at)
        return lanes

    def _kept_by(self, lane: int) -> str:
        """Return what keeps an invocation from the statement that is being run; "" for a part of a condition."""
        for frame in self._frames:
            if any(lane in lanes.index for lanes, _ in frame.returned):
                return "return"
            for exits in frame.exits:
                for kind, left in (("break", exits.broken), ("continue", exits.continued)):
                    if any(lane in lanes.index for lanes in left):
                        return kind
        around = [kind for kind, lanes in self._around if lane in lanes.index]
        return around[-1] if around else ""

    # --- Control flow -----------------------------------------------------------------------------------------

    def _block(self, statements: Sequence[ir.Statement], lanes: Lanes) -> Lanes:
        for statement in statements:
            if not lanes.count:
                break
            if not isinstance(statement, ir.Block | ir.Loop):  # of a loop, each iteration is a step
                self._step(statement, lanes)
            lanes = self._kinds[type(statement)](statement, lanes)
        return lanes

    def _if(self, statement: ir.If, lanes: Lanes) -> Lanes:
        condition = self._expressions.leaf(statement.condition, lanes)
        self._around.append(("if", lanes))
        after_then = self._block(statement.then, lanes.where(condition))
        after_otherwise = self._block(statement.otherwise, lanes.where(~condition))
        self._around.pop()
        return joined(lanes, after_then, after_otherwise)

    def _switch(self, statement: ir.Switch, lanes: Lanes) -> Lanes:
        selector = lanes.expanded(self._expressions.leaf(statement.selector, lanes))
        listed = [*chain.from_iterable(case.values for case in statement.cases)]
        exits = _Exits()
        self._frames[-1].exits.append(exits)
        self._around.append(("switch", lanes))
        after = []
        for case in statement.cases:
            chosen = np.isin(selector, case.values)
            if case.default:
                chosen |= ~np.isin(selector, listed)
            after.append(self._block(case.body, lanes.where(chosen)))
        self._frames[-1].exits.pop()
        self._around.pop()
        if exits.continued:  # a `continue` in a switch belongs to the loop around it
            self._frames[-1].exits[-1].continued += exits.continued
        return joined(lanes, *after, *exits.broken)

    def _loop(self, statement: ir.Loop, lanes: Lanes) -> Lanes:
        exits = _Exits()
        left = []
        going = lanes
        self._frames[-1].exits.append(exits)
        self._around.append(("loop", lanes))
        self._budget.enter(statement, lanes)
        while going.count:
            going, ended = self._tested(statement, going)
            left.append(ended)
            if not going.count:
                break
            self._budget.iterate(going)
            going = joined(going, self._block(statement.body, going), *exits.continued)
            exits.continued.clear()
            going = self._block(statement.continuing, going)
            if statement.break_if is not None and going.count:
                condition = self._expressions.leaf(statement.break_if, going)
                left.append(going.where(condition))
                going = going.where(~condition)
        self._budget.leave()
        self._frames[-1].exits.pop()
        self._around.pop()
        return joined(lanes, *left, *exits.broken)

    def _tested(self, statement: ir.Loop, lanes: Lanes) -> tuple[Lanes, Lanes]:
        """The invocations for which a loop's condition holds, and those for which it does not."""
        if statement.condition is None:
            self._spend(statement, lanes)
            return lanes, self._dispatch.none
        self._step(statement, lanes)
        condition = self._expressions.leaf(statement.condition, lanes)
        return lanes.where(condition), lanes.where(~condition)

    def _leave(self, statement: ir.Break | ir.Continue, lanes: Lanes) -> Lanes:
        exits = self._frames[-1].exits[-1]
        if isinstance(statement, ir.Break):
            exits.broken.append(lanes)
        else:
            exits.continued.append(lanes)
        return self._dispatch.none


def _united(returned: list[tuple[Lanes, Value]], lanes: Lanes) -> Value:
    """The values that some invocations returned at different places, as one value of all of them."""

    def united(leaves: Sequence[np.ndarray | None], everyone: np.ndarray) -> np.ndarray:
        for (some, _), leaf in zip(returned, leaves, strict=True):
            if leaf is not None:
                everyone[some.index] = leaf
        return lanes.take(everyone)

    size = lanes.dispatch.lanes
    values = [value for _, value in returned]
    leaves = []
    for i, first in enumerate(values[0].leaves):
        zeros = np.zeros(size, first.dtype)
        leaves.append(united([value.leaves[i] for value in values], zeros))
    if all(value.exact is None for value in values):
        return Value(tuple(leaves))
    exact = []
    for i in range(len(leaves)):
        nothing = np.full(size, np.nan)
        exact.append(united([value.exact_of(i) for value in values], nothing))
    return Value(tuple(leaves), tuple(exact))
