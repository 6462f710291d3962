"""All faults of a function that is wrong: after a statement that is refused, the next one is read."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from wgsl.diagnostics import NotWgsl, Undefined, Unset, Unsupported
from wgsl.syntax import tree
from wgsl.syntax.tokens import Word
from wgsl.types.declarations import Declarations
from wgsl.types.functions import function_of
from wgsl.types.names import Lost, Meaning, Scope, Stage

Fault = NotWgsl | Unsupported


class Gathering(Scope):
    """A scope that keeps the faults of its statements, in a list that it shares with the scopes inside of it.

    The name that a wrong declaration declares is lost, and one that nothing has is unknown once: neither is a fault
    again.
    """

    def __init__(self, find: Callable, names: Callable, faults: list[Fault], jumps: Iterable[str] = ()) -> None:
        super().__init__(find, names, Stage.RUN, jumps)
        self.faults = faults
        self._lost: set[str] = set()

    def inner(self, *jumps: str) -> Gathering:
        """Return a block in this one, which keeps its faults in the same list."""
        made = Gathering(self.find, self.names, self.faults, self.jumps.union(jumps))
        made.function = self.function
        made.enabled = self.enabled
        return made

    def find(self, name: Word) -> Meaning | None:
        """Return the meaning of a name here. Raises Lost for that of a wrong declaration."""
        meaning = None if name in self._lost else super().find(name)
        if name in self._lost or (meaning is None and name in self._unknown()):
            raise Lost(name)
        return meaning

    def _unknown(self) -> set[object]:
        return {fault.facts["name"] for fault in self.faults if fault.kind == "unknown"}

    def read(self, statement: tree.Statement, reader: Callable) -> object | None:
        """Read a statement; None for a wrong one, whose fault is kept unless one inside of it is kept already."""
        before = len(self.faults)
        try:
            return reader(statement, self)
        except (NotWgsl, Unsupported) as fault:
            if len(self.faults) == before and not isinstance(fault, Lost):
                self.faults.append(fault)
        if isinstance(statement, tree.Declaration):
            self._lost.add(statement.name)
        return None


def every_fault(declarations: Declarations) -> list[Fault]:
    """Return the faults of a module: all of a function's statements, and one of each other declaration."""
    faults: list[Fault] = []
    for node, fault in declarations.wrong():
        inside = _faults_of(node, declarations) if isinstance(node, tree.Function) else []
        faults += inside or [fault]
    return [fault for fault in faults if not isinstance(fault, Lost)]


def _faults_of(node: tree.Function, declarations: Declarations) -> list[Fault]:
    """Return the faults inside of a function; none where only what it uses is wrong."""
    faults: list[Fault] = []
    for find in (declarations.find, declarations.before_launch):
        scope = Gathering(find, declarations.nodes.keys, [])
        scope.enabled = declarations.scope.enabled
        faults = _gathered(node, scope)
        if not any(isinstance(fault, Undefined | Unset) for fault in faults):
            break
    return [fault for fault in faults if node.at <= fault.at < node.end]


def _gathered(node: tree.Function, scope: Gathering) -> list[Fault]:
    """Return the faults of the statements, or else that of the whole, which may be their consequence."""
    try:
        function_of(node, scope)
    except (NotWgsl, Unsupported) as fault:
        if not scope.faults:
            return [fault]
    features: set[str] = set()  # each is named once
    kept = []
    for fault in scope.faults:
        if isinstance(fault, NotWgsl) or fault.feature not in features:
            kept.append(fault)
        if isinstance(fault, Unsupported):
            features.add(fault.feature)
    return kept
