"""A program, as it is run: names are objects, abstract numbers and conversions are gone, loops are of one kind.

`at` and `end` are offsets in the text. A value is a flat tuple of leaves, as `kinds.leaves` lists them.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from wgsl.diagnostics import Span
from wgsl.syntax.tokens import Word
from wgsl.syntax.tree import frozen
from wgsl.types.kinds import Type

known = dataclass(eq=False, slots=True)  # what a name stands for is one thing, and equals no other
PLACE = property(lambda self: self.place.at), property(lambda self: self.place.end)


@known
class Meaning:
    """The base of what a name can stand for in a run: a variable, a value or a function."""

    name: Word

    at, end = property(lambda self: self.name.at), property(lambda self: self.name.end)


@known
class Variable(Meaning):
    """A `var`. `space` is storage, uniform, workgroup, private or function; `access` is read or read_write.

    `value` is the initial value of a private variable; a function's variable gets its value where it is declared.
    """

    type: Type
    space: str
    access: str
    group: int = 0
    binding: int = -1
    value: Expression | None = None


@known
class Binding(Meaning):
    """A name for a value: a `let` or a parameter."""

    type: Type


@known
class Function(Meaning):
    """A function that is not an entry point, or the entry point; its body is filled in once it has been read."""

    parameters: tuple[Binding, ...]
    result: Type | None
    body: tuple[Statement, ...] = ()
    fault: Exception | None = None  # a value in it that the overrides make undefined
    calls: list[Function] | None = None  # once somebody has asked for them; and what it uses:
    usage: object = None


# --- References: places in memory. `type` is what lies there. -----------------------------------------------------


@frozen
class Part:
    """The base of expressions and references: the type, and the place in the text."""

    type: Type
    place: Span

    at, end = PLACE


@frozen
class Root(Part):
    """A whole variable."""

    variable: Variable


@frozen
class Element(Part):
    """``base[index]``, by an i32 or u32, of `count` elements (None: runtime-sized), each of `stride` words."""

    base: Reference
    index: Expression
    count: int | None
    stride: int


@frozen
class Member(Part):
    """A member of a struct or one component of a vector, `offset` words after the start of its base."""

    base: Reference
    offset: int


@frozen
class Deref(Part):
    """``*pointer``."""

    pointer: Expression


Reference = Root | Element | Member | Deref


# --- Expressions: values. `type` is the value's. ------------------------------------------------------------------


@frozen
class Constant(Part):
    """A value that is known before the run: one Python number or bool for each leaf, each exact in its type."""

    leaves: tuple[float | int | bool, ...]


@frozen
class Load(Part):
    """The value at a reference."""

    reference: Reference


@frozen
class Named(Part):
    """The value of a `let` or a parameter."""

    binding: Binding


@frozen
class Unary(Part):
    """``-``, ``!`` or ``~``, for each component."""

    operator: str
    operand: Expression


@frozen
class Binary(Part):
    """An operator for each component; the operands have the same scalar type, and one may be a scalar beside a vector.

    The right operand of a shift is u32. ``&`` and ``|`` of bools have no short circuit.
    """

    operator: str
    left: Expression
    right: Expression


@frozen
class Logical(Part):
    """``&&`` or ``||``: the right side is evaluated only where the left one does not decide."""

    operator: str
    left: Expression
    right: Expression


@frozen
class Builtin(Part):
    """A built-in function of values, such as `max`; `arithmetic.builtins` computes it."""

    name: str
    arguments: tuple[Expression, ...]


@frozen
class Convert(Part):
    """A scalar or vector with each component converted to the element of `type`."""

    operand: Expression


@frozen
class Bitcast(Part):
    """The same bits as another type of the same size."""

    operand: Expression


@frozen
class Splat(Part):
    """A vector with the same scalar in each component."""

    operand: Expression


@frozen
class Construct(Part):
    """A vector, array or struct whose leaves are those of its parts, one part after another."""

    parts: tuple[Expression, ...]


@frozen
class Pick(Part):
    """Some leaves of a value: a swizzle, a member, or an element whose index is known."""

    operand: Expression
    picked: tuple[int, ...]


@frozen
class Index(Part):
    """An element of a value (not of a variable) whose index is an expression; `count` elements."""

    operand: Expression
    index: Expression
    count: int


@frozen
class Call(Part):
    """A function of the text; where it returns nothing, the type is None."""

    function: Function
    arguments: tuple[Expression, ...]


@frozen
class AddressOf(Part):
    """``&reference``."""

    reference: Reference


@frozen
class ArrayLength(Part):
    """``arrayLength(&array)``, a u32."""

    reference: Reference


@frozen
class AtomicCall(Part):
    """An atomic function such as `atomicAdd`; `type` is its result's, or None for `atomicStore`."""

    name: str
    reference: Reference
    arguments: tuple[Expression, ...]


@frozen
class UniformLoad(Part):
    """``workgroupUniformLoad``: a barrier, a load of one place by all, a barrier."""

    reference: Reference


Expression = (
    Constant | Load | Named | Unary | Binary | Logical | Builtin | Convert | Bitcast | Splat | Construct | Pick | Index
    | Call | AddressOf | ArrayLength | AtomicCall | UniformLoad
)  # fmt: skip


# --- Statements ---------------------------------------------------------------------------------------------------


@frozen
class Statement:
    """The base of statements: the place in the text."""

    place: Span

    at, end = PLACE


@frozen
class Bind(Statement):
    """``let``."""

    binding: Binding
    value: Expression


@frozen
class Declare(Statement):
    """``var`` in a function: the variable holds the value, or zeros."""

    variable: Variable
    value: Expression | None


@frozen
class Store(Statement):
    """``reference = value``."""

    reference: Reference
    value: Expression


@frozen
class Update(Statement):
    """``reference += value`` and the like, `++` and `--` too: one load, one operator of the type, one store."""

    reference: Reference
    operator: str
    value: Expression


@frozen
class Evaluate(Statement):
    """A call, or ``_ = value``."""

    value: Expression


@frozen
class Barrier(Statement):
    """`workgroupBarrier` or `storageBarrier`."""

    name: str


@frozen
class Block(Statement):
    """Statements in braces."""

    body: tuple[Statement, ...]


@frozen
class If(Statement):
    """A condition and two lists of statements."""

    condition: Expression
    then: tuple[Statement, ...]
    otherwise: tuple[Statement, ...]


@frozen
class Case:
    """The values of one clause of a switch, whether it is also the default, and its statements."""

    values: tuple[int, ...]
    default: bool
    body: tuple[Statement, ...]


@frozen
class Switch(Statement):
    """A selector (i32 or u32) and clauses, of which one has the default."""

    selector: Expression
    cases: tuple[Case, ...]


@frozen
class Loop(Statement):
    """`for`, `while` and `loop`: test the condition, run the body, then `continuing`, then leave if `break_if`.

    `at` is where the loop's first word stands. What `for` declares precedes the loop, in a Block around both.
    """

    condition: Expression | None
    body: tuple[Statement, ...]
    continuing: tuple[Statement, ...]
    break_if: Expression | None


@frozen
class Break(Statement):
    """Leave the loop or switch."""


@frozen
class Continue(Statement):
    """Go to the `continuing` part of the loop."""


@frozen
class Return(Statement):
    """Leave the function, with a value or without."""

    value: Expression | None


@frozen
class Program:
    """One entry point and what it needs.

    `bindings` are the variables that have one, all that the module declares, in the order of their numbers. `inputs`
    says for each parameter of the entry point, and for each member where that is a struct, which built-in value it is,
    in the order of the leaves. `written` are the variables that the entry point, or a function that it calls, can store
    to; read-modify-write atomics such as `atomicAdd` do not count.
    """

    entry: Function
    inputs: tuple[tuple[str, ...], ...]
    workgroup_size: tuple[int, int, int]
    bindings: tuple[Variable, ...]
    workgroup: tuple[Variable, ...]
    private: tuple[Variable, ...]
    written: frozenset[Variable] = field(default_factory=frozenset)
