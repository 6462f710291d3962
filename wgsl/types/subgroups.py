"""The functions of subgroups: what each takes and gives, and what the threads of a subgroup must have in common.

A subgroup is some neighbors of a workgroup that a GPU runs together; the adapter chooses how many. A function computes
on the values of those of its threads that call it together.
"""

from __future__ import annotations

from collections.abc import Container, Sequence

from wgsl.diagnostics import Limited, NotWgsl, Span
from wgsl.syntax import tree
from wgsl.syntax.tokens import Word
from wgsl.syntax.tree import frozen
from wgsl.types.conversions import ABSTRACT_INT, NUMBERS, WHOLE, concrete, converted, undefined
from wgsl.types.kinds import BOOL, I32, U32, Scalar, Type, Vector, components
from wgsl.types.program import Constant, Expression, Part

EXTENSION = "subgroups"  # that a text must enable
INPUTS = ("subgroup_size", "subgroup_invocation_id", "subgroup_id", "num_subgroups")
LARGEST, QUAD = 128, 4  # threads of a subgroup, at most, and of a quad


@frozen
class Operation:
    """A function: what its first argument is, and the rule for the second one, if there is one.

    The first argument is a scalar or vector of the `scalars`, or a single one of them; there is none without them. The
    second one is a number below `below`: `signed` where it may be an i32, `fixed` where it must be a const-expression,
    `shared` where it must be the same for the whole subgroup. `alike` says that all threads of a subgroup get the same
    where their arguments are the same.
    """

    scalars: tuple[Scalar, ...]
    single: bool = False
    below: int = 0
    signed: bool = False
    fixed: bool = False
    shared: bool = False
    alike: bool = False
    result: Type | None = None

    @property
    def count(self) -> int:
        """The number of arguments."""
        return bool(self.scalars) + bool(self.below)


_BITS = (I32, U32, ABSTRACT_INT)
_TABLE: tuple[tuple[str, Operation], ...] = (
    ("Add Mul Min Max", Operation(NUMBERS, alike=True)),
    ("ExclusiveAdd InclusiveAdd ExclusiveMul InclusiveMul", Operation(NUMBERS)),
    ("And Or Xor", Operation(_BITS, alike=True)),
    ("All Any", Operation((BOOL,), single=True, alike=True)),
    ("Elect", Operation((), result=BOOL)),
    ("Ballot", Operation((BOOL,), single=True, alike=True, result=Vector(4, U32))),
    ("BroadcastFirst", Operation(NUMBERS, alike=True)),
    ("Broadcast", Operation(NUMBERS, below=LARGEST, signed=True, fixed=True, alike=True)),
    ("Shuffle", Operation(NUMBERS, below=LARGEST, signed=True)),
    ("ShuffleXor ShuffleUp ShuffleDown", Operation(NUMBERS, below=LARGEST, shared=True)),
)
_QUADS = (
    ("Broadcast", Operation(NUMBERS, below=QUAD, signed=True, fixed=True)),
    ("SwapX SwapY SwapDiagonal", Operation(NUMBERS)),
)
OPERATIONS: dict[str, Operation] = {}
for _prefix, _table in (("subgroup", _TABLE), ("quad", _QUADS)):
    for _names, _operation in _table:
        OPERATIONS |= {f"{_prefix}{_name}": _operation for _name in _names.split()}


@frozen
class SubgroupCall(Part):
    """A call of one of these functions."""

    name: str
    arguments: tuple[Expression, ...]


@frozen
class SharedArgument(Part):
    """An argument that must be the same for all threads of a subgroup, and the call."""

    call: SubgroupCall


def check_enabled(name: Word, enabled: Container[str], place: Span | None = None) -> None:
    """Refuse a name of subgroups in a text that does not enable them. The compiler of wgpu takes it all the same."""
    if EXTENSION not in enabled:
        raise Limited("no subgroups", place or name, name=name)


def subgroup_call(node: tree.Call, arguments: Sequence[Expression]) -> SubgroupCall:
    """A call of a function of subgroups, its arguments converted; the second one is already known where it must be."""
    name = node.callee.name
    operation = OPERATIONS[name]
    if len(arguments) != operation.count:
        place = arguments[operation.count] if len(arguments) > operation.count else name
        raise NotWgsl("count", place, name=name, wanted=operation.count, given=len(arguments))
    if not arguments:
        return SubgroupCall(operation.result, node, str(name), ())
    fitting = [_first(name, operation, arguments)]
    if operation.below:
        fitting.append(_second(name, operation, arguments))
    return SubgroupCall(operation.result or fitting[0].type, node, str(name), tuple(fitting))


def _first(name: Word, operation: Operation, arguments: Sequence[Expression]) -> Expression:
    value = arguments[0]
    scalar = value.type.element if isinstance(value.type, Vector) else value.type
    if scalar not in operation.scalars or (operation.single and components(value.type) != 1):
        raise NotWgsl("argument", name, name=name, i=0, arguments=arguments, scalars=operation.scalars)
    return concrete(value)


def _second(name: Word, operation: Operation, arguments: Sequence[Expression]) -> Expression:
    value = arguments[1]
    scalars = (I32, U32) if operation.signed else (U32,)
    wanted = I32 if operation.signed and value.type in WHOLE and value.type != U32 else U32
    fitting = converted(value, wanted)
    if fitting is None:
        raise NotWgsl("argument", name, name=name, i=1, arguments=arguments, scalars=scalars)
    if isinstance(fitting, Constant) and not 0 <= fitting.leaves[0] < operation.below:
        undefined("past the subgroup", value, name=name, number=fitting.leaves[0], most=operation.below - 1)
    return fitting
