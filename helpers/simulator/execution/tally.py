"""Counts the arithmetic of expressions: a product that is added to something at once is one multiply-add."""

from __future__ import annotations

from collections.abc import Sequence

from helpers.simulator.findings.counts import Counter
from helpers.simulator.lanes import Lanes
from helpers.simulator.types import program as ir
from helpers.simulator.types.kinds import F32, Type, Vector

ARITHMETIC = frozenset(("+", "-", "*", "/", "%", "&", "|", "^", "<<", ">>"))
UNCOUNTED = ("select", "all", "any")  # they choose or test, and compute nothing


class Tally:
    """Counts operations, by the place of the text."""

    def __init__(self, counter: Counter) -> None:
        self._counter = counter
        self._fused: set[int] = set()  # the products that are counted with their sum
        self._multiply_adds: dict[int, bool] = {}  # whether an operator (its id) is a sum with such a product

    def operation(self, part: ir.Part, type: Type, lanes: Lanes, key: str = "") -> None:
        """Count one operation with a result of a type, for each component."""
        size, scalar = (type.size, type.element) if isinstance(type, Vector) else (1, type)
        key = key or ("other_float" if scalar is F32 else "integer")
        self._counter.add(part.at, key, size * lanes.count)

    def binary(self, part: ir.Part, operator: str, operands: Sequence[ir.Expression], lanes: Lanes) -> None:
        """Count an operator; a sum together with the first product of floats among its operands."""
        if id(part) in self._fused:
            return
        if id(part) not in self._multiply_adds:
            products = [id(each) for each in operands if _is_product(each)] if operator in ("+", "-") else []
            self._multiply_adds[id(part)] = bool(products)
            self._fused.update(products[:1])
        self.operation(part, _type(part), lanes, "multiply_adds" if self._multiply_adds[id(part)] else "")

    def builtin(self, part: ir.Builtin, lanes: Lanes) -> None:
        """Count a built-in function."""
        if part.name in UNCOUNTED:
            return
        operand = part.arguments[0].type
        fused = part.name in ("fma", "dot") and (operand.element if isinstance(operand, Vector) else operand) is F32
        self.operation(part, operand if part.name == "dot" else part.type, lanes, "multiply_adds" if fused else "")


def _is_product(operand: ir.Expression) -> bool:
    """Whether an operand is a product of floats."""
    scalar = operand.type.element if isinstance(operand.type, Vector) else operand.type
    return isinstance(operand, ir.Binary) and operand.operator == "*" and scalar is F32


def _type(part: ir.Part | ir.Update) -> Type:
    """The type of an operation's result."""
    return part.reference.type if isinstance(part, ir.Update) else part.type
