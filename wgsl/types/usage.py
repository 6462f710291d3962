"""The functions and variables that a function reaches, those that it can store to, and the ways of control."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from wgsl.syntax.tree import children
from wgsl.types.fragments import Derivative, Discard
from wgsl.types.kinds import Pointer
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
    """The variables that a function uses, by itself and through those that it calls, which are among its `functions`.

    `touched` are the variables of the module, and the function's own parameters that are pointers, of which they load
    or store something. Of these they change the `written` ones, and the `stored` ones in branches that some run can
    take, where read-modify-write atomics such as `atomicAdd` do not count.
    """

    def __init__(self, function: Function) -> None:
        self.functions: dict[Function, None] = {function: None}
        self.variables: set[Variable] = set()
        self.touched: set[Variable | Binding] = set()
        self.written: set[Variable | Binding] = set()
        self.stored: set[Variable | Binding] = set()
        self.bound: dict[Part | Statement, None] = {}  # to stages: not every entry point may do this
        self._targets: dict[Binding, Variable | Binding] = {}
        for node in nodes(function.body):
            match node:
                case Root(variable=variable):
                    self.variables.add(variable)
                case Bind(binding=binding, value=value) if isinstance(binding.type, Pointer):
                    self._targets[binding] = self._origin(value)
                case Load() | UniformLoad() | AtomicCall(name="atomicLoad"):
                    _note(self._origin(node.reference), self.touched)
                case Store() | Update() | AtomicCall():
                    _note(self._origin(node.reference), self.touched, self.written)
                case Call():
                    self._call(node)
                case Barrier() | SubgroupCall() | Derivative() | Discard() | TextureCall(implicit=True):
                    self.bound[node] = None
        self._note_stores(function)

    def _note_stores(self, function: Function) -> None:
        for node in nodes(function.body, live=True):
            match node:
                case Store() | Update() | AtomicCall(name="atomicStore"):
                    _note(self._origin(node.reference), self.stored)
                case TextureCall(name="textureStore"):
                    _note(self._origin(node.texture), self.stored)

    def _call(self, node: Call) -> None:
        """Add what a call uses, through its pointers, too."""
        inner = usage(node.function)
        self.functions |= inner.functions
        self.variables |= inner.variables
        self.bound |= inner.bound
        arguments = dict(zip(node.function.parameters, node.arguments, strict=True))
        kinds = (self.touched, inner.touched), (self.written, inner.written), (self.stored, inner.stored)
        for outer_names, inner_names in kinds:
            for name in inner_names:
                origin = self._origin(arguments[name]) if name in arguments else name
                _note(origin, outer_names)

    def _origin(self, part: Reference | Expression) -> Variable | Binding:
        """The variable, or the parameter of the function, from which a reference or pointer comes."""
        match part:
            case Root(variable=variable):
                return variable
            case Named(binding=binding):
                return self._targets.get(binding, binding)
            case AddressOf(reference=inner) | Deref(pointer=inner):
                return self._origin(inner)
        return self._origin(part.base)


def _note(origin: Variable | Binding, *kinds: set[Variable | Binding]) -> None:
    """Enter what others can see of a function: not a variable of its own."""
    if isinstance(origin, Binding) or origin.space != "function":
        for kind in kinds:
            kind.add(origin)


usage = lru_cache(maxsize=256)(Usage)


# --- Where control may go -----------------------------------------------------------------------------------------

NEXT, LEFT, AGAIN, RETURNED = "next", "break", "continue", "return"
JUMPS = {Break: LEFT, Continue: AGAIN, Return: RETURNED}


def ends(statements: Sequence[Statement]) -> set[str]:
    """Return the ways in which control may leave statements: at their end, or by `break`, `continue` or `return`."""
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
