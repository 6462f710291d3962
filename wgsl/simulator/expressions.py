"""Expressions, evaluated for many invocations at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from itertools import chain

import numpy as np

from wgsl.arithmetic import operators
from wgsl.arithmetic.builtins import BUILTINS
from wgsl.simulator.access import Access, leaves_of
from wgsl.simulator.counts import SUBGROUP
from wgsl.simulator.lanes import Lanes
from wgsl.simulator.memory import Words
from wgsl.simulator.subgroups import Subgroups
from wgsl.simulator.textures import Textures
from wgsl.simulator.values import (
    Fault,
    NamedValue,
    Place,
    Value,
    exact_binary,
    exact_chosen,
    exact_converted,
    exact_unary,
    value_of,
    with_marks,
    without_nan_marks,
)
from wgsl.simulator.watch import Watch
from wgsl.types import program as ir
from wgsl.types.conversions import scalar_of
from wgsl.types.kinds import Array, Vector
from wgsl.types.subgroups import SubgroupCall
from wgsl.types.textures import TextureCall

Thing = Value | Place
MIXING = (
    "cross",
    "normalize",
    "reflect",
    "refract",
    "faceForward",
    "product2",
    "product3",
    "product4",
)  # the functions in which a component depends on all


class Expressions:
    """Evaluates expressions; `call` runs a function of the text."""

    def __init__(
        self, words: Words, watch: Watch, access: Access, subgroups: Subgroups,
        call: Callable[[ir.Call, Lanes], Value],
    ) -> None:  # fmt: skip
        self._words = words
        self._watch = watch
        self._access = access
        self._subgroups = subgroups
        self._textures = Textures(words, watch, access)
        self._call = call
        self.names: dict[ir.Binding, NamedValue] = {}
        self.invalid = False  # set when an operation made a NaN
        self._constants: dict[int, Value] = {}
        self._counter = watch.counter
        self._kinds: dict[type, Callable[..., Thing]] = {
            ir.Constant: self._constant, ir.Load: self._load, ir.Named: self._named, ir.Unary: self._unary,
            ir.Binary: self._binary, ir.Logical: self._logical, ir.Builtin: self._builtin, ir.Convert: self._convert,
            ir.Bitcast: self._bitcast, ir.Splat: self._splat, ir.Construct: self._construct, ir.Pick: self._pick,
            ir.Index: self._index, ir.Call: call, ir.AddressOf: lambda e, lanes: self.place(e.reference, lanes),
            SubgroupCall: self._subgroup, ir.ArrayLength: self._array_length, ir.AtomicCall: self._atomic,
            ir.UniformLoad: self._uniform_load, TextureCall: self._texture,
            ir.Root: lambda e, lanes: Place(e.variable, 0),
        }  # fmt: skip

    def value(self, expression: ir.Expression, lanes: Lanes) -> Value:
        """The value of an expression; the place, where it is a pointer."""
        return self._kinds[type(expression)](expression, lanes)

    def leaf(self, expression: ir.Expression, lanes: Lanes) -> np.ndarray:
        """The value of an expression of a scalar type."""
        return self.value(expression, lanes).leaves[0]

    # --- Names, constants and memory --------------------------------------------------------------------------

    def _constant(self, expression: ir.Constant, lanes: Lanes) -> Value:
        value = self._constants.get(id(expression))
        if value is None:
            scalars = (scalar for _, scalar in leaves_of(expression.type))
            pairs = zip(expression.leaves, scalars, strict=True)
            value = Value(tuple(np.array(leaf, operators.DTYPES[scalar.name]) for leaf, scalar in pairs))
            self._constants[id(expression)] = value
        return value

    def _named(self, expression: ir.Named, lanes: Lanes) -> Thing:
        return self.names[expression.binding].take(lanes)

    def _load(self, expression: ir.Load, lanes: Lanes) -> Value:
        reference = expression.reference
        return self._access.load(self.place(reference, lanes), reference.type, lanes, reference)

    def _array_length(self, expression: ir.ArrayLength, lanes: Lanes) -> Value:
        place = self.place(expression.reference, lanes)
        return Value((np.array(self._elements(place, expression.reference.type), np.uint32),))

    def _elements(self, place: Place, array: Array) -> int:
        """Return the number of elements of a runtime-sized array, which is the last thing in its buffer."""
        end = self._words.offset(place.variable, self._words.arrays[place.variable].size)
        return int((end - place.offset) // array.stride)

    def _atomic(self, expression: ir.AtomicCall, lanes: Lanes) -> Value:
        place = self.place(expression.reference, lanes)
        arguments = [self.leaf(argument, lanes) for argument in expression.arguments]
        return self._access.atomic(expression.name, place, expression.reference.type, arguments, lanes, expression)

    def _uniform_load(self, expression: ir.UniformLoad, lanes: Lanes) -> Value:
        self._watch.barrier("workgroupUniformLoad", lanes, expression.at)
        place = self.place(expression.reference, lanes)
        value = self._access.load(place, expression.type, lanes, expression)
        self._watch.barrier("workgroupUniformLoad", lanes, expression.at)
        return value

    def _subgroup(self, expression: SubgroupCall, lanes: Lanes) -> Value:
        arguments = [self.value(argument, lanes).leaves for argument in expression.arguments]
        self._counter.operation(expression, expression.type, lanes, SUBGROUP)
        leaves = self._subgroups.call(expression, arguments, lanes)
        self.invalid = False
        return Value(leaves)

    def _texture(self, expression: TextureCall, lanes: Lanes) -> Value:
        texture, *arguments = [self.value(argument, lanes) for argument in expression.arguments]
        result = self._textures.call(expression, texture.variable, arguments, lanes)
        self.invalid = False
        return result

    # --- References -------------------------------------------------------------------------------------------

    def place(self, reference: ir.Reference, lanes: Lanes) -> Place:
        """Return the place in memory to which a reference points."""
        match reference:
            case ir.Root(variable=variable):
                return Place(variable, 0)
            case ir.Deref(pointer=pointer):
                return self.value(pointer, lanes)
            case ir.Member(base=base, offset=offset):
                place = self.place(base, lanes)
                return place._replace(offset=place.offset + offset)
        return self._element(reference, lanes)

    def _element(self, reference: ir.Element, lanes: Lanes) -> Place:
        base = self.place(reference.base, lanes)
        index = self.value(reference.index, lanes)
        dropped = reference.count is None
        count = self._elements(base, reference.base.type) if dropped else reference.count
        number, faults = self._checked(reference, index, count, dropped)
        outside = base.outside
        for fault in faults:
            if fault.dropped:
                outside = fault.lanes if outside is None else outside | fault.lanes
        offset = base.offset + number * reference.stride
        offset = offset if offset.ndim else offset.item()
        return Place(base.variable, offset, outside, base.faults + faults)

    @staticmethod
    def _checked(
        part: ir.Element | ir.Index, index: Value, count: int, dropped: bool
    ) -> tuple[np.ndarray, tuple[Fault, ...]]:
        """Return an index that is in range, and the faults of the one in the text."""
        number = index.leaves[0].astype(np.int64)
        exact = index.exact_of(0)
        faults = ()
        if exact is not None:
            faults += (Fault("index overflow", part, ~np.isnan(exact), number, exact=exact),)
        beyond = number.view(np.uint64) >= np.uint64(count)  # a negative one is far beyond
        if np.count_nonzero(beyond):
            faults += (Fault("out-of-range", part, beyond, number, count, dropped),)
            number = np.where(beyond, 0 if dropped else count - 1, number)
        return number, faults

    # --- Operators --------------------------------------------------------------------------------------------

    def _unary(self, expression: ir.Unary, lanes: Lanes) -> Value:
        operand = self.value(expression.operand, lanes)
        operator = expression.operator
        if operator != "!":
            self._counter.operation(expression, expression.type, lanes)
        leaves = [operators.unary(operator, leaf) for leaf in operand.leaves]
        if not self._watch.sees:
            return Value(tuple(leaves))
        exact = [exact_unary(operator, *pair) for pair in zip(operand.leaves, _exacts(operand), strict=True)]
        return value_of(leaves, exact)

    def _binary(self, expression: ir.Binary, lanes: Lanes) -> Value:
        self._counter.operator(expression, expression.type, (expression.left, expression.right), lanes)
        left = self.value(expression.left, lanes)
        right = self.value(expression.right, lanes)
        return self.combined(expression, expression.operator, left, right)

    def combined(self, part: ir.Part, operator: str, left: Value, right: Value) -> Value:
        """An operator applied to two values, of which one may be a scalar beside a vector."""
        size = max(len(left.leaves), len(right.leaves))
        if size == 1:
            leaf, exact = self._component(
                part, operator, left.leaves[0], right.leaves[0], _exacts(left)[0], _exacts(right)[0]
            )
            return Value((leaf,), None if exact is None else (exact,))
        pairs = zip(_stretched(left, size), _stretched(right, size), strict=True)
        leaves = [self._component(part, operator, a, b, ea, eb) for (a, ea), (b, eb) in pairs]
        return value_of(*zip(*leaves, strict=True))

    def _component(
        self, part: ir.Part, operator: str, left: np.ndarray, right: np.ndarray, *exact: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """An operator applied to one component: the result, and what it would be among all whole numbers."""
        result = operators.binary(operator, left, right)
        if self.invalid or (operator == "%" and result.dtype.kind == "f"):
            self.invalid = False
            result = self._watch.births.marked(part, result, (left, right))
        return result, exact_binary(operator, left, right, *exact, result) if self._watch.sees else None

    def _logical(self, expression: ir.Logical, lanes: Lanes) -> Value:
        left = self.leaf(expression.left, lanes)
        undecided = left if expression.operator == "&&" else ~left
        rest = lanes.where(undecided)
        if not rest.count:
            return Value((left,))
        right = self.leaf(expression.right, rest)
        if rest is lanes:
            return Value((right,))
        result = lanes.expanded(left).copy()
        result[undecided] = right
        return Value((result,))

    # --- Functions and conversions ----------------------------------------------------------------------------

    def _builtin(self, expression: ir.Builtin, lanes: Lanes) -> Value:
        if expression.name == "select":
            values = self._selected(expression.arguments, lanes)
        else:
            values = [self.value(argument, lanes) for argument in expression.arguments]
        self._counter.builtin(expression, lanes)
        leaves = BUILTINS[expression.name](*(value.leaves for value in values))
        if leaves[0].dtype.kind == "f":
            operands = [value.leaves for value in values]
            leaves = tuple(self._marked(expression, leaf, i, operands) for i, leaf in enumerate(leaves))
        self.invalid = False
        return exact_chosen(expression.name, leaves, values)

    def _selected(self, arguments: Sequence[ir.Expression], lanes: Lanes) -> list[Value]:
        """The arguments of `select`. It evaluates both values: a read of the one that it discards is no mistake."""
        outer = self._watch.held
        values, holders = [], []
        for argument in arguments[:2]:
            self._watch.held = []
            values.append(self.value(argument, lanes))
            holders.append(self._watch.held)
        self._watch.held = outer
        condition = self.value(arguments[2], lanes)
        if any(holders):
            self._watch.release(holders[0], reduce(np.logical_and, condition.leaves), lanes)
            self._watch.release(holders[1], ~reduce(np.logical_or, condition.leaves), lanes)
        return [*values, condition]

    def _marked(self, part: ir.Part, leaf: np.ndarray, i: int, operands: list[tuple[np.ndarray, ...]]) -> np.ndarray:
        """One component of a result with its NaN marked by their birth."""
        if part.name == "select" or not np.isnan(leaf).any():  # `select` chooses a NaN, and makes none
            return leaf
        floats = [leaves for leaves in operands if leaves[0].dtype.kind == "f"]
        if isinstance(part.type, Vector) and part.name not in MIXING:
            sources = [leaves[i % len(leaves)] for leaves in floats]
        else:
            sources = [*chain.from_iterable(floats)]
        return self._watch.births.marked(part, leaf, sources)

    def _convert(self, expression: ir.Convert, lanes: Lanes) -> Value:
        operand = self.value(expression.operand, lanes)
        name = scalar_of(expression.type).name
        leaves = [operators.convert(leaf, name) for leaf in operand.leaves]
        self.invalid = False
        if not self._watch.sees:
            return Value(tuple(leaves))
        if operand.leaves[0].dtype.kind == leaves[0].dtype.kind == "f":
            return Value(tuple(map(with_marks, leaves, operand.leaves)))
        pairs = zip(operand.leaves, _exacts(operand), leaves, strict=True)
        return value_of(leaves, [exact_converted(*pair) for pair in pairs])

    def _bitcast(self, expression: ir.Bitcast, lanes: Lanes) -> Value:
        operand = self.value(expression.operand, lanes)
        name = scalar_of(expression.type).name
        unmarked = [without_nan_marks(leaf) for leaf in operand.leaves]
        leaves = operators.bitcast_components(unmarked, name)
        return Value(tuple(map(without_nan_marks, leaves)))

    def _splat(self, expression: ir.Splat, lanes: Lanes) -> Value:
        operand = self.value(expression.operand, lanes)
        size = expression.type.size
        return Value(operand.leaves * size, operand.exact and operand.exact * size)

    def _construct(self, expression: ir.Construct, lanes: Lanes) -> Value:
        leaves: list[np.ndarray] = []
        exact: list[np.ndarray | None] = []
        for part in expression.parts:
            value = self.value(part, lanes)
            leaves += value.leaves
            exact += _exacts(value)
        return value_of(leaves, exact)

    def _pick(self, expression: ir.Pick, lanes: Lanes) -> Value:
        operand = self.value(expression.operand, lanes)
        return value_of(
            [operand.leaves[i] for i in expression.picked], [operand.exact_of(i) for i in expression.picked]
        )

    def _index(self, expression: ir.Index, lanes: Lanes) -> Value:
        operand = self.value(expression.operand, lanes)
        index = self.value(expression.index, lanes)
        number, faults = self._checked(expression, index, expression.count, False)
        self._watch.faults(faults, lanes, write=False)
        size = len(operand.leaves) // expression.count
        lane = np.arange(lanes.count)

        def chosen(leaves: Sequence[np.ndarray], i: int) -> np.ndarray:
            return np.stack([lanes.expanded(leaf) for leaf in leaves[i::size]])[number, lane]

        leaves = [chosen(operand.leaves, i) for i in range(size)]
        if operand.exact is None:
            return Value(tuple(leaves))
        exact = [np.array(np.nan) if leaf is None else leaf for leaf in operand.exact]
        return value_of(leaves, [chosen(exact, i) for i in range(size)])


def _exacts(value: Value) -> tuple[np.ndarray | None, ...]:
    return value.exact or (None,) * len(value.leaves)


def _stretched(value: Value, size: int) -> list[tuple[np.ndarray, np.ndarray | None]]:
    """The leaves and what they would be; a scalar as often as the vector beside it has components."""
    pairs = list(zip(value.leaves, _exacts(value), strict=True))
    return pairs * size if len(pairs) == 1 else pairs
