"""The functions and variables that a function reaches, those that it can store to, and the ways of control."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wgsl.syntax.tree import children
from wgsl.types.fragments import Derivative, Discard
from wgsl.types.kinds import Handle, Pointer
from wgsl.types.program import (
    AddressOf,
    AtomicCall,
    Barrier,
    Bind,
    Binding,
    Block,
    Break,
    Call,
    Case,
    Constant,
    Continue,
    Deref,
    Expression,
    Function,
    If,
    Load,
    Logical,
    Loop,
    Named,
    Part,
    Reference,
    Return,
    Root,
    Statement,
    Store,
    Switch,
    UniformLoad,
    Update,
    Variable,
)
from wgsl.types.subgroups import SubgroupCall
from wgsl.types.textures import TextureCall

# --- What a function uses -------------------------------------------------------------------------------------


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
            waiting += reversed(children(item, (Part, Statement, Case)))


def _known(condition: Expression) -> Expression:
    """Return the part of a condition that decides it: of ``false && x``, the left side."""
    left = condition.left if isinstance(condition, Logical) else condition
    return left if isinstance(left, Constant) else condition


class Usage:
    """The variables that a function uses, by itself and through those that it calls.

    `touched` are the variables of the module, and the function's own parameters that are pointers, of which they load
    or store something. Of these they load the `loaded` ones and change the `written` ones, and the `stored` ones in
    branches that some run can take, where read-modify-write atomics such as `atomicAdd` do not count.
    """

    def __init__(self, function: Function) -> None:
        self.variables: set[Variable] = set()
        self.touched: set[Variable | Binding] = set()
        self.loaded: set[Variable | Binding] = set()
        self.written: set[Variable | Binding] = set()
        self.stored: set[Variable | Binding] = set()
        self.bound: dict[Part | Statement, None] = {}  # to stages: not every entry point may do this
        self._targets: dict[Binding, Variable | Binding] = {}
        every = [*nodes(function.body)]
        for node in every:
            match node:
                case Root(variable=variable):
                    self.variables.add(variable)
                case Bind(binding=binding, value=value) if isinstance(binding.type, Pointer | Handle):
                    self._targets[binding] = self.origin(value)
                case Load() | UniformLoad() | AtomicCall(name="atomicLoad"):
                    _note(self.origin(node.reference), self.touched, self.loaded)
                case Store() | AtomicCall(name="atomicStore"):
                    _note(self.origin(node.reference), self.touched, self.written)
                case Update() | AtomicCall():
                    _note(self.origin(node.reference), self.touched, self.loaded, self.written)
                case Call():
                    self._call(node)
                case Barrier() | SubgroupCall() | Derivative() | Discard() | TextureCall(implicit=True):
                    self.bound[node] = None
        self._note_stored(function, every)

    def _note_stored(self, function: Function, every: Sequence[object]) -> None:
        """Enter what is stored where a run can come: all nodes of the function count, unless a condition is known."""
        decided = any(isinstance(node, If) and isinstance(_known(node.condition), Constant) for node in every)
        for node in nodes(function.body, live=True) if decided else every:
            match node:
                case Store() | Update() | AtomicCall(name="atomicStore"):
                    _note(self.origin(node.reference), self.stored)
                case TextureCall(name="textureStore"):
                    _note(self.origin(node.texture), self.stored)

    def _call(self, node: Call) -> None:
        """Add what a call uses, through its pointers, too."""
        inner = usage(node.function)
        self.variables |= inner.variables
        self.bound |= inner.bound
        arguments = dict(zip(node.function.parameters, node.arguments, strict=True))
        for kind in ("touched", "loaded", "written", "stored"):
            outer_names = getattr(self, kind)
            for name in getattr(inner, kind):
                origin = self.origin(arguments[name]) if name in arguments else name
                _note(origin, outer_names)

    def origin(self, part: Reference | Expression) -> Variable | Binding:
        """The variable, or the parameter of the function, from which a reference or pointer comes."""
        match part:
            case Root(variable=variable):
                return variable
            case Named(binding=binding):
                return self._targets.get(binding, binding)
            case AddressOf(reference=inner) | Deref(pointer=inner):
                return self.origin(inner)
        return self.origin(part.base)


def _note(origin: Variable | Binding, *kinds: set[Variable | Binding]) -> None:
    """Enter what others can see of a function: not a variable of its own."""
    if isinstance(origin, Binding) or origin.space != "function":
        for kind in kinds:
            kind.add(origin)


def usage(function: Function) -> Usage:
    """Return what a function uses; each is read once."""
    if function.usage is None:
        for called in reached(function):
            called.usage = called.usage or Usage(called)
    return function.usage


def reached(function: Function) -> list[Function]:
    """Return the functions that a run of this one can reach, each behind those that it calls; itself is the last."""
    behind: dict[Function, None] = {}
    waiting = [(function, False)]
    while waiting:
        item, left = waiting.pop()
        if left:
            behind[item] = None
        elif item not in behind:
            waiting.append((item, True))
            waiting += [(called, False) for called in reversed(_calls(item)) if called not in behind]
    return [*behind]


def _calls(function: Function) -> list[Function]:
    """Return the functions that a function calls, in the order of their first calls."""
    if function.calls is None:
        function.calls = [*dict.fromkeys(node.function for node in nodes(function.body) if isinstance(node, Call))]
    return function.calls


# --- Where control may go -----------------------------------------------------------------------------------------

NEXT, LEFT, AGAIN, RETURNED = "next", "break", "continue", "return"
JUMPS = {Break: LEFT, Continue: AGAIN, Return: RETURNED}


def ends(statements: Sequence[Statement], known: dict[int, set[str]] | None = None) -> set[str]:
    """Return the ways in which control may leave statements: at their end, or by `break`, `continue` or `return`.

    `known` are those of statements, by their ids: who asks for many of one text keeps them.
    """
    known = {} if known is None else known
    exits = {NEXT}
    for statement in statements:
        if id(statement) not in known:
            known[id(statement)] = _statement_ends(statement, known)
        exits = (exits - {NEXT}) | known[id(statement)]
        if NEXT not in exits:
            break
    return exits


def _statement_ends(statement: Statement, known: dict[int, set[str]]) -> set[str]:
    match statement:
        case Block(body=body):
            return ends(body, known)
        case If(then=then, otherwise=otherwise):
            return ends(then, known) | ends(otherwise, known)
        case Switch(cases=cases):
            exits = set().union(*(ends(case.body, known) for case in cases))
            return (exits - {LEFT}) | ({NEXT} if LEFT in exits else set())
        case Loop(body=body, continuing=continuing):
            exits = ends(body, known) | ends(continuing, known)
            leaves = LEFT in exits or statement.break_if or statement.condition
            return (exits - {NEXT, LEFT, AGAIN}) | ({NEXT} if leaves else set())
    return {JUMPS.get(type(statement), NEXT)}
