"""Loops that wait for other invocations: all their ways out depend on an atomic that only others can change.

Such a loop reads the same word in the same way until somebody else has written it. A loop that a barrier is in, that
has a way out of its own (a counter), that goes on to another word, or that changes the word itself, does not wait.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence, Set
from functools import lru_cache, partial

from wgsl.syntax.tree import children
from wgsl.types.dependence import Conditions, Dependence, Name, guarded, meant, target
from wgsl.types.program import (
    AtomicCall,
    Barrier,
    Bind,
    Block,
    Break,
    Call,
    Constant,
    Continue,
    Declare,
    Function,
    If,
    Loop,
    Part,
    Return,
    Statement,
    Store,
    Switch,
    UniformLoad,
    Update,
    Variable,
)
from wgsl.types.usage import nodes, reached, usage

SAME_AGAIN = (  # a second call with the same arguments changes nothing
    "atomicLoad",
    "atomicExchange",
    "atomicCompareExchangeWeak",
    "atomicMax",
    "atomicMin",
    "atomicAnd",
    "atomicOr",
)
NOTHING_TO_ADD = ("atomicAdd", "atomicSub", "atomicXor")  # the same is true of these with a 0


@lru_cache(maxsize=64)
def waiting_loops(entry: Function) -> dict[int, Variable]:
    """Return the loops, by id, that wait until another invocation changes a variable, which the program can change."""
    loops = {}
    for function in reached(entry):
        for node in nodes(function.body):
            if isinstance(node, Loop):
                awaited = _Awaited(function, node).variable()
                if awaited in usage(entry).written:
                    loops[id(node)] = awaited
    return loops


class _Awaited:
    """The variable that one loop waits for."""

    def __init__(self, function: Function, loop: Loop) -> None:
        self._loop = loop
        self._body = loop.body + loop.continuing
        self._origin = usage(function).origin
        changes = [node for node in nodes(self._body) if isinstance(node, Store | Update)]
        changed = {target(change.reference) for change in changes}
        renewed = _renewed(loop)
        self._moving = renewed & (changed | Dependence(self._body, partial(_may_differ, changed)).names)
        steps = [c for c in changes if isinstance(c, Update) or any(meant(node) in changed for node in nodes(c.value))]
        stepped = renewed & {target(step.reference) for step in steps}
        self._waits = Dependence(self._body, self._is_same_again, apart=stepped)

    def variable(self) -> Variable | None:
        """Return the variable on which all ways out depend; None where the loop does not wait."""
        parts = [*nodes((self._loop.condition, self._body, self._loop.break_if))]
        reads = [part for part in parts if self._is_same_again(part)]
        if not reads or any(map(_interferes, parts)) or self._changes_it(reads):
            return None
        ways_out = [*self._ways_out()]
        if not ways_out or not all(map(self._waits.reaches, ways_out)):
            return None
        awaited = self._origin(reads[0].reference)
        return awaited if isinstance(awaited, Variable) else None

    def _is_same_again(self, part: object) -> bool:
        """Return True for an atomic function that gives the same again, until another invocation changes the word."""
        if not isinstance(part, AtomicCall):
            return False
        if part.name in NOTHING_TO_ADD:
            repeats = isinstance(part.arguments[0], Constant) and part.arguments[0].leaves == (0,)
        else:
            repeats = part.name in SAME_AGAIN
        return repeats and not any(meant(node) in self._moving for node in nodes((part.reference, part.arguments)))

    def _ways_out(self) -> Iterator[Conditions]:
        """Yield for each way out of the loop the conditions of which it depends."""
        for condition in (self._loop.condition, self._loop.break_if):
            if condition is not None and not isinstance(condition, Constant):
                yield (condition,)
        yield from _exits(self._body, (), breaks=True)

    def _changes_it(self, reads: Sequence[AtomicCall]) -> bool:
        """Return True where the loop itself changes the variable, whoever waits."""
        awaited = {self._origin(read.reference) for read in reads}
        for statement, around in guarded(self._body):
            if self._waits.reaches(around):  # it comes there when it need not wait any longer
                continue
            for part in nodes(tuple(children(statement, Part))):
                changes = isinstance(part, AtomicCall) and not self._is_same_again(part)
                if changes and self._origin(part.reference) in awaited:
                    return True
        return False


def _may_differ(changed: Set[Name], part: object) -> bool:
    """Return True for a part whose value may be another one in the next iteration."""
    return isinstance(part, AtomicCall) or meant(part) in changed


def _interferes(part: object) -> bool:
    """Return True for a barrier, at which invocations wait together, and for a call of a function with such things."""
    if isinstance(part, Call):
        inner = nodes(tuple(function.body for function in reached(part.function)))
        return any(isinstance(node, Barrier | UniformLoad | AtomicCall) for node in inner)
    return isinstance(part, Barrier | UniformLoad)


def _exits(statements: Sequence[Statement], around: Conditions, breaks: bool) -> Iterator[Conditions]:
    """Yield the conditions around each statement that leaves the loop; a `break` may be that of an inner one."""
    for statement in statements:
        match statement:
            case Break() if breaks:
                yield around
            case Return():
                yield around
            case Block(body=body):
                yield from _exits(body, around, breaks)
            case If(condition=condition, then=then, otherwise=otherwise):
                yield from _exits(then + otherwise, (*around, condition), breaks)
            case Switch(selector=selector, cases=cases):
                for case in cases:
                    yield from _exits(case.body, (*around, selector), False)
            case Loop(body=body, continuing=continuing):
                yield from _exits(body + continuing, around, False)


def _renewed(loop: Loop) -> set[Name]:
    """Return the names that get a value in every iteration after which another one follows."""
    ends: list[set[Name]] = []
    last = _given(loop.body, set(), ends)
    if last is not None:
        ends.append(last)
    always = _given(loop.continuing, set(), [])
    return (set.intersection(*ends) if ends else set()) | (always or set())


def _given(statements: Sequence[Statement], before: set[Name], ends: list[set[Name]]) -> set[Name] | None:
    """Return the names that have a value after some statements, besides those before; None where they do not end.

    `ends` gets those that have one at a `continue`. Inner loops and switches may do nothing.
    """
    given = set(before)
    for statement in statements:
        match statement:
            case Bind(binding=name) | Declare(variable=name):
                given.add(name)
            case Store(reference=reference) | Update(reference=reference):
                given.add(target(reference))
            case Block(body=body):
                given = _given(body, given, ends)
            case If(then=then, otherwise=otherwise):
                branches = [_given(then, given, ends), _given(otherwise, given, ends)]
                ended = [branch for branch in branches if branch is not None]
                given = set.intersection(*ended) if ended else None
            case Continue():
                ends.append(given)
                given = None
            case Break() | Return():
                given = None
        if given is None:
            return None
    return given
