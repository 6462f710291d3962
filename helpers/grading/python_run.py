"""The values of a learner's lines of Python, which `python_lines` has read and allowed: they are interpreted here."""

import ast
import operator
from collections.abc import Callable, Iterator, Sequence
from types import UnionType
from typing import NamedTuple, NoReturn

import numpy as np

from helpers.grading.python_functions import FUNCTIONS
from helpers.grading.python_lists import MOST_ELEMENTS, Append, Listed
from helpers.grading.replies import Refusal
from helpers.grading.words.values import MANY, as_typed, shown
from wgsl.diagnostics import Span

NUMBERS = int | float
LARGEST = 2**64  # of whole numbers
MOST_STEPS = 20_000  # parts that are computed, each as often as it is
AT_ONCE = 100  # elements of a tuple that a function takes or makes in a step
MOST_CALLS = 200  # of functions that are given
CALL = 50  # steps that a call of one counts as
MOST_POWER = 64  # of exponents that are whole numbers
SIGNS = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: operator.not_,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}


class Refused(Exception):
    """Lines that are refused, or that cannot be computed: the reason as a record, and the place, if it has one."""

    def __init__(self, place: Span | None, kind: str, **facts: object) -> None:
        super().__init__(kind)
        self.place = place
        self.refusal = Refusal(kind, tuple(facts.items()))


class Call(NamedTuple):
    """A call of a function: its name, and the call as it is written, with what it returns."""

    name: str
    text: str


class _LeavesLoop(Exception):
    """A `break`."""


class _NextTurn(Exception):
    """A `continue`."""


class Run:
    """A run of a program, all of which is allowed, where its names have these values; it gives others theirs.

    `span` returns the place of a node of the tree, and `numbers` are the types with which it computes. Each call of a
    function that is given is added to `calls`.
    """

    def __init__(
        self, span: Callable[[ast.AST], Span], names: dict[str, object], numbers: type | UnionType = NUMBERS
    ) -> None:
        self._span = span
        self._names = names
        self._numbers = numbers
        self.steps = 0
        self.calls: list[Call] = []

    # --- Lines ----------------------------------------------------------------------------------------------------

    def do(self, statements: list[ast.stmt]) -> None:
        """Do what lines say. Raises Refused where a value cannot be computed, or it takes too many steps."""
        for statement in statements:
            self._do(statement)

    def _do(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Assign(targets=[target], value=value):
                self._give(target, self.value(value))
            case ast.AugAssign(target=target, op=sign, value=value):
                self._update(statement, target, sign, value)
            case ast.If(test=test, body=body, orelse=other):
                self.do(body if self.number(test) else other)
            case ast.For(target=target, iter=values, body=body):
                self._loop(target, values, body)
            case ast.While(test=test, body=body):
                while self.number(test) and self._turn(body):
                    pass
            case ast.Break():
                raise _LeavesLoop
            case ast.Continue():
                raise _NextTurn
            case ast.Expr(value=value):
                self.value(value)

    def _update(self, statement: ast.AugAssign, target: ast.expr, sign: ast.operator, value: ast.expr) -> None:
        """Give a name, or an element of a list, what an operator makes of its value; or append an element to a list."""
        before = self.value(target)
        if isinstance(before, Listed) and isinstance(target, ast.Name):
            self._check_names_of(target, before)
        elif isinstance(statement, Append):
            self._refuse(target, "no list", value=shown(before))
        right = self.value(value)
        if isinstance(before, Listed) and isinstance(right, tuple):
            right = Listed(right)  # any tuple may be added to a list in place
        combined = self._combined(statement, sign, (target, before), (value, right))
        self._give(target, self._limited(target, combined))

    def _check_names_of(self, target: ast.expr, changed: Listed) -> None:
        """Refuse to change a list that is the value of another name, too, or a part of it: there it would change."""
        for name, value in self._names.items():
            parts = value if isinstance(value, tuple) else ()
            is_other = value is changed and name != target.id
            if is_other or any(part is changed for part in parts):
                self._refuse(target, "shared list", name=target.id, other=name)

    def _change(self, target: ast.Subscript, value: object) -> None:
        """Give an element of a list another value."""
        whole, place = self.value(target.value), self.number(target.slice)
        if not isinstance(whole, Listed):
            self._refuse(target, "no list", value=shown(whole))
        self._check_names_of(target.value, whole)
        self._element(target, whole, place)
        elements = list(whole)
        elements[place] = self._shallow(target, value)
        self._step(target, len(whole) // AT_ONCE)
        self._names[target.value.id] = Listed(elements)

    def _give(self, target: ast.expr, value: object) -> None:
        """Give a name its value, or an element of a list, or each name of a tuple its own."""
        if isinstance(target, ast.Name):
            self._names[target.id] = value
            return
        if isinstance(target, ast.Subscript):
            self._change(target, value)
            return
        values = value if isinstance(value, tuple) else (value,)
        if len(values) != len(target.elts):
            self._refuse(target, "other number of names", names=len(target.elts), values=len(values))
        for name, part in zip(target.elts, values, strict=True):
            self._give(name, part)

    def _loop(self, target: ast.expr, values: ast.expr, body: list[ast.stmt]) -> None:
        """Do lines once for each element of a tuple."""
        for element in self._elements(values):
            self._give(target, element)
            if not self._turn(body):
                break

    def _elements(self, values: ast.expr) -> Iterator[object]:
        """Yield the elements of a tuple, each of which is a step."""
        elements = self.value(values)
        if not isinstance(elements, tuple):
            self._refuse(values, "loop over a number", value=shown(elements))
        for element in elements:
            self._step(values)
            yield element

    def _turn(self, body: list[ast.stmt]) -> bool:
        """Do a loop's lines once; returns whether it goes on."""
        try:
            self.do(body)
        except _LeavesLoop:
            return False
        except _NextTurn:
            pass
        return True

    def _step(self, node: ast.AST, steps: int = 1) -> None:
        self.steps += steps
        if self.steps > MOST_STEPS:
            self._refuse(node, "many steps", most=MOST_STEPS)

    # --- Values ---------------------------------------------------------------------------------------------------

    def value(self, node: ast.expr) -> object:
        """The value of a part. Raises Refused where it has none, or is too large."""
        self._step(node)
        match node:
            case ast.Name(id=name):
                if name not in self._names or self._names[name] is FUNCTIONS.get(name):
                    self._refuse(node, "no value yet", name=name)
                return self._names[name]
            case ast.IfExp(test=test, body=body, orelse=other):
                return self.value(body if self.number(test) else other)
            case ast.Constant(value=value):
                pass
            case ast.BoolOp():
                value = self._joined(node)
            case ast.Compare(left=left, ops=signs, comparators=others):
                value = self._compared(left, signs, others)
            case ast.Tuple() | ast.List() | ast.ListComp() | ast.GeneratorExp():
                value = self._several(node)
            case ast.UnaryOp(op=sign, operand=operand):
                value = SIGNS[type(sign)](self.number(operand))
            case ast.BinOp(left=left, op=sign, right=right):
                value = self._combined(node, sign, (left, self.value(left)), (right, self.value(right)))
            case ast.Subscript(value=whole):
                value = self._taken(node, self.value(whole))
            case ast.Call():
                value = self._called(node)
        return self._limited(node, value)

    def number(self, node: ast.expr) -> float:
        """The value of a part that must be a number, or true or false."""
        return self._as_number(node, self.value(node))

    def _as_number(self, node: ast.expr, value: object) -> float:
        """The value, which must be a number."""
        if not isinstance(value, self._numbers):
            self._refuse(node, "not a number", value=shown(value))
        return value

    def _joined(self, node: ast.BoolOp) -> float:
        """The first of the values that settles an `and` or an `or`; what follows it is not computed."""
        settles = isinstance(node.op, ast.Or)
        for part in node.values:
            value = self.number(part)
            if bool(value) is settles:
                break
        return value

    def _compared(self, left: ast.expr, signs: list[ast.cmpop], others: list[ast.expr]) -> bool:
        """Return True where all of a chain of comparisons hold; what follows one that does not is not computed."""
        before = self.number(left)
        for sign, other in zip(signs, others, strict=True):
            after = self.number(other)
            if not SIGNS[type(sign)](before, after):
                return False
            before = after
        return True

    def _inside(self, node: ast.expr) -> object:
        """An element of a tuple."""
        return self._shallow(node, self.value(node))

    def _shallow(self, node: ast.expr, value: object) -> object:
        """The value, which must be a number or a tuple of numbers: all of a deeper one is written where it is made."""
        if isinstance(value, tuple):
            self._step(node, len(value) // AT_ONCE)
            if any(isinstance(part, tuple) for part in value):
                self._refuse(node, "tuple in a tuple")
        return value

    def _written_inside(self, node: ast.expr) -> object:
        """An element of a tuple; a tuple that is written there, or that has a name, is a short one."""
        if isinstance(node, ast.Tuple | ast.List):
            return self.value(node)
        if isinstance(node, ast.Name) and _is_short(value := self.value(node)):
            return value
        return self._inside(node)

    def _several(self, node: ast.Tuple | ast.List | ast.ListComp | ast.GeneratorExp) -> tuple:
        """The values of a tuple, or of a comprehension, whose names end with it."""
        kind = Listed if isinstance(node, ast.List | ast.ListComp) else tuple
        if isinstance(node, ast.Tuple | ast.List):
            return kind(map(self._written_inside, node.elts))
        outside = dict(self._names)
        values = kind(self._gathered(node.elt, node.generators))
        self._names.clear()
        self._names.update(outside)
        return values

    def _gathered(self, element: ast.expr, loops: Sequence[ast.comprehension]) -> list[object]:
        """The values of an element in all turns of loops, of which the last one turns fastest."""
        if not loops:
            return [self._written_inside(element)]
        loop, *inner = loops
        gathered = []
        for value in self._elements(loop.iter):
            self._give(loop.target, value)
            if all(self.number(test) for test in loop.ifs):
                gathered += self._gathered(element, inner)
        return gathered

    def _taken(self, node: ast.Subscript, whole: object) -> object:
        """An element of a tuple, or the elements from one place to another."""
        if not isinstance(whole, tuple):
            self._refuse(node, "not a tuple", value=shown(whole))
        if isinstance(node.slice, ast.Slice):
            return self._part(node, whole, node.slice)
        return self._element(node, whole, self.number(node.slice))

    def _part(self, node: ast.expr, whole: tuple, places: ast.Slice) -> tuple:
        """The elements of a tuple from one place to another."""
        self._step(node, len(whole) // AT_ONCE)
        ends = [place and self.number(place) for place in (places.lower, places.upper, places.step)]
        return self._done(node, lambda *ends: type(whole)(whole[slice(*ends)]), ends, {})

    def _combined(
        self, node: ast.AST, sign: ast.operator, one: tuple[ast.expr, object], other: tuple[ast.expr, object]
    ) -> object:
        """The result of an operator on two values, each behind its node."""
        if isinstance(sign, ast.Add) and isinstance(one[1], tuple):
            return self._added(node, one[1], self._as_tuple(*other))
        if isinstance(sign, ast.Mult) and isinstance(one[1], tuple):
            return self._repeated(node, one[1], self._as_number(*other))
        if isinstance(sign, ast.Mult) and isinstance(other[1], tuple):
            return self._repeated(node, other[1], self._as_number(*one))
        left, right = self._as_number(*one), self._as_number(*other)
        if isinstance(sign, ast.Pow) and isinstance(right, int) and abs(right) > MOST_POWER:
            self._refuse(node, "large exponent", most=MOST_POWER, exponent=right)
        return self._done(node, SIGNS[type(sign)], [left, right], {})

    def _as_tuple(self, node: ast.expr, value: object) -> tuple:
        """The value, which must be a tuple."""
        if not isinstance(value, tuple):
            self._refuse(node, "no tuple", value=shown(value))
        return value

    def _added(self, node: ast.AST, one: tuple, other: tuple) -> tuple:
        """The elements of two tuples, or of two lists."""
        if type(one) is not type(other):
            self._refuse(node, "list and tuple")
        self._check_length(node, len(one) + len(other))
        return type(one)((*one, *other))

    def _repeated(self, node: ast.AST, elements: tuple, times: float) -> tuple:
        """The elements of a tuple, some times."""
        if not isinstance(times, int):
            self._refuse(node, "other types", values=(shown(elements), shown(times)))
        self._check_length(node, len(elements) * times)
        return type(elements)(self._done(node, operator.mul, [tuple(elements), times], {}))

    def _check_length(self, node: ast.AST, length: int) -> None:
        """Refuse to make a tuple of so many elements; some of them are a step."""
        if length > MOST_ELEMENTS:
            self._refuse(node, "long tuple", most=MOST_ELEMENTS)
        self._step(node, max(0, length) // AT_ONCE)

    def _element(self, node: ast.expr, whole: tuple, place: object) -> object:
        """An element of a tuple, by its number."""
        if not isinstance(place, int) or not -len(whole) <= place < len(whole):
            self._refuse(node, "no such element", last=len(whole) - 1, number=as_typed(place))
        return _of_python(whole[place])

    def _called(self, node: ast.Call) -> object:
        """The value that a function returns; the call is noted, where it is one of the task's functions."""
        name = node.func.id
        values = [self.value(part) for part in node.args]
        named = {word.arg: self.value(word.value) for word in node.keywords}
        result = self._done(node, self._names[name], values, named)
        if self._names[name] is FUNCTIONS.get(name):
            for value in (*values, result):
                self._step(node, len(value) // AT_ONCE if isinstance(value, tuple) else 0)
            return result
        if len(self.calls) == MOST_CALLS:
            self._refuse(node, "many calls", most=MOST_CALLS)
        arguments = [*map(shown, values), *(f"{word}={shown(value)}" for word, value in named.items())]
        returned = "" if result is None else f" = {shown(result)}"
        self.steps += CALL
        self.calls.append(Call(name, f"{name}({', '.join(arguments)}){returned}"))
        return result

    def _done(self, node: ast.AST, function: Callable, values: list[object], named: dict[str, object]) -> object:
        """The result of an operator or a function. Raises Refused where it has none."""
        try:
            return _of_python(function(*values, **named))
        except ZeroDivisionError:
            self._refuse(node, "division by 0")
        except (OverflowError, MemoryError):
            self._refuse(node, "too large")
        except TypeError:
            self._refuse(node, "other types", values=tuple(map(shown, values)))
        except ValueError as error:
            self._refuse(node, "a function's own", says=str(error))

    def _limited(self, node: ast.AST, value: object) -> object:
        if isinstance(value, complex):
            self._refuse(node, "not a real number")
        if isinstance(value, int) and abs(value) > LARGEST:
            self._refuse(node, "large whole number")
        return value

    def _refuse(self, node: ast.AST, kind: str, **facts: object) -> NoReturn:
        raise Refused(self._span(node), kind, **facts) from None


def _is_short(value: object) -> bool:  # in another tuple, it cannot grow
    return isinstance(value, tuple) and len(value) <= MANY and not any(isinstance(part, tuple) for part in value)


def _of_python(value: object) -> object:
    """A value, a number of NumPy's as one of Python's."""
    return value.item() if isinstance(value, np.generic) else value
