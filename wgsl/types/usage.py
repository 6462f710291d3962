"""Which functions and variables an entry point reaches, which it can store to, and where control may go."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wgsl.types.kinds import Pointer
from wgsl.types.program import (
    AddressOf,
    AtomicCall,
    Bind,
    Binding,
    Block,
    Break,
    Call,
    Case,
    Constant,
    Continue,
    Deref,
    Element,
    Expression,
    Function,
    If,
    Logical,
    Loop,
    Member,
    Named,
    Part,
    Reference,
    Return,
    Root,
    Statement,
    Store,
    Switch,
    Update,
    Variable,
)

# --- What an entry point uses -------------------------------------------------------------------------------------


def nodes(part: object, live: bool = False) -> Iterator[object]:
    """A statement or expression and all that is inside it; where `live`, without branches that no run can take."""
    waiting = [part]  # a list: nested generators would pass every node through each level
    while waiting:
        item = waiting.pop()
        if isinstance(item, tuple):
            waiting += reversed(item)
        elif live and isinstance(item, If) and isinstance(known := _known(item.condition), Constant):
            waiting.append(item.then if known.leaves[0] else item.otherwise)
        elif isinstance(item, (Part, Statement, Case)):
            yield item
            waiting += inside(item)


def _known(condition: Expression) -> Expression:
    """What decides a condition; the left side of ``false && x`` does."""
    left = condition.left if isinstance(condition, Logical) else condition
    return left if isinstance(left, Constant) else condition


def inside(node: Part | Statement | Case) -> list[object]:
    """What a node is made of, the last part first."""
    return [getattr(node, name) for name in reversed(node.__slots__)]


class Usage:
    """What an entry point and the functions that it calls use."""

    def __init__(self, entry: Function) -> None:
        self.functions: list[Function] = []
        self._nodes: list[object] = []
        self.variables: set[Variable] = set()
        self.written: set[Variable] = set()
        self._pointed_at: dict[Binding, set[Variable]] = {}
        self._reach(entry)
        self._follow()

    def _reach(self, function: Function) -> None:
        if function in self.functions:
            return
        self.functions.append(function)
        body_nodes = list(nodes(function.body))
        self._nodes += body_nodes
        for node in body_nodes:
            if isinstance(node, Root):
                self.variables.add(node.variable)
            elif isinstance(node, Call):
                self._reach(node.function)

    def _follow(self) -> None:
        """Collect what each named pointer may point at, until nothing is new; then what is stored through them."""
        given = [pair for pair in _given(self._nodes) if isinstance(pair[0].type, Pointer)]
        while any(self._learn(binding, value) for binding, value in given):
            pass
        for node in nodes(tuple(function.body for function in self.functions), live=True):
            match node:
                case Store() | Update() | AtomicCall(name="atomicStore"):
                    self.written |= self._roots(node.reference)

    def _learn(self, binding: Binding, value: Expression) -> bool:
        known = self._pointed_at.setdefault(binding, set())
        new = self._roots(value) - known
        known |= new
        return bool(new)

    def _roots(self, part: Reference | Expression) -> set[Variable]:
        """The variables that a reference or a pointer may refer to."""
        match part:
            case Root(variable=variable):
                return {variable}
            case Named(binding=binding):
                return self._pointed_at.get(binding, set())
            case AddressOf(reference=inner) | Deref(pointer=inner) | Element(base=inner) | Member(base=inner):
                return self._roots(inner)
        return set()


def _given(all_nodes: list[object]) -> Iterator[tuple[Binding, Expression]]:
    """The names that hold pointers, each with a value that it gets."""
    for node in all_nodes:
        match node:
            case Bind(binding=binding, value=value):
                yield binding, value
            case Call(function=function, arguments=arguments):
                yield from zip(function.parameters, arguments, strict=True)


# --- Where control may go -----------------------------------------------------------------------------------------

NEXT, LEFT, AGAIN, RETURNED = "next", "break", "continue", "return"
JUMPS = {Break: LEFT, Continue: AGAIN, Return: RETURNED}


def ends(statements: Sequence[Statement]) -> set[str]:
    """How control may leave a list of statements: at its end, or by `break`, `continue` or `return`."""
    exits = {NEXT}
    for statement in statements:
        exits = (exits - {NEXT}) | _statement_ends(statement)
        if NEXT not in exits:
            break
    return exits


def _statement_ends(statement: Statement) -> set[str]:
    match statement:
        case Block(body=body):
            return ends(body)
        case If(then=then, otherwise=otherwise):
            return ends(then) | ends(otherwise)
        case Switch(cases=cases):
            exits = set().union(*(ends(case.body) for case in cases))
            return (exits - {LEFT}) | ({NEXT} if LEFT in exits else set())
        case Loop(body=body, continuing=continuing):
            exits = ends(body) | ends(continuing)
            leaves = LEFT in exits or statement.break_if or statement.condition
            return (exits - {NEXT, LEFT, AGAIN}) | ({NEXT} if leaves else set())
    return {JUMPS.get(type(statement), NEXT)}
