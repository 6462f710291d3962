"""The small changes of a learner's lines of Python: those of `edits`, on the tree that Python makes of a text."""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from copy import copy
from dataclasses import dataclass, replace
from itertools import combinations, pairwise

from helpers.grading import edits
from helpers.grading.edits import (
    ASSIGNMENT,
    COMPARISON,
    EXCHANGED,
    EXTRA,
    MISSING,
    OFFSET,
    OPERATOR,
    PARENTHESES,
    REPLACED,
    VALUE,
)
from helpers.grading.leaves import NUMBER
from helpers.grading.python_lists import Listed
from helpers.grading.python_places import SMALLEST_NUMBERS, Node, Place, at, parsed

NAME, FUNCTION = "name", "function"  # what may stand in the place of another one
SIGN, NEGATED, CONDITION, AROUND = "sign", "negated", "condition", "around"  # kinds of changes of Python alone
ADDED = frozenset({MISSING, AROUND, SIGN, NEGATED, CONDITION})
SYMBOLS = {
    ast.Add: "+",
    ast.Sub: "-",
    ast.Mult: "*",
    ast.Div: "/",
    ast.FloorDiv: "//",
    ast.Mod: "%",
    ast.Pow: "**",
    ast.Lt: "<",
    ast.LtE: "<=",
    ast.Gt: ">",
    ast.GtE: ">=",
    ast.Eq: "==",
    ast.NotEq: "!=",
}
SIGNS = {symbol: kind for kind, symbol in SYMBOLS.items()}
OF_PYTHON = {  # operators that are easily taken for each other, besides those of WGSL
    "+": ["*"],
    "-": ["/", "*"],
    "*": ["//", "**"],
    "/": ["//", "-"],
    "//": ["/", "%", "*"],
    "%": ["//"],
    "**": ["*"],
    "<": ["=="],
    "<=": ["=="],
    ">": ["=="],
    ">=": ["=="],
    "==": ["<", "<=", ">", ">="],
}
COMMUTE = ("+", "*")
ALL_SIGNS = ("+", "-", "*", "/", "//", "%")
ALIKE = ("min", "max")
SMALL = 2  # signs of a value of ours that may be a term
WHOLE = ast.Name | ast.Constant | ast.BinOp | ast.Call | ast.Subscript


@dataclass(frozen=True, eq=False)
class PythonEdit:
    """A change: the place, its kind, and what replaces parts, by their ids; `others` are the further places.

    `noun` is what should be there instead of what it `was`, or a term that is missing; `part` is what is too many.
    """

    kind: str
    place: Place
    new: dict[int, object]
    noun: str = ""
    was: str = ""
    others: tuple[Node, ...] = ()
    part: Node | None = None


@dataclass(frozen=True)
class Reach:
    """The pieces that may stand in a text: names with values, and values of ours.

    `names` are those of the task that are no functions; `types` are the types of all names, and `of_nodes` those of the
    values of the text, by the ids of their nodes. `logical` says whether all names of the task are true or false. No
    change is looked for in the arguments of the function `free`.
    """

    names: frozenset[str]
    terms: tuple[str, ...]
    logical: bool
    types: Mapping[str, type]
    of_nodes: Mapping[int, type]
    free: str = ""

    def of(self, place: Place) -> type | None:
        """Return the type of the value at a place; None where it was not computed."""
        found = self.of_nodes.get(id(place.node))
        return _whole(found)

    def is_number(self, place: Place) -> bool:
        """Return whether there may be a number at a place."""
        return self.of(place) in (float, None)

    def words(self, place: Place) -> list[str]:
        """Return the names, and the smallest numbers, that may stand at a place."""
        wanted = self.of(place)
        names = sorted(self.names | place.visible)
        words = [name for name in names if wanted is None or _whole(self.types.get(name)) in (wanted, None)]
        if wanted is float:
            words += map(str, SMALLEST_NUMBERS)
        return words


def _whole(kind: type | None) -> type | None:
    """Return a type, that of floats for whole numbers, and that of tuples for lists."""
    alike = {int: float, Listed: tuple}
    return alike.get(kind, kind)


def of_a_part(place: Place, reach: Reach) -> Iterator[PythonEdit]:
    """Yield the changes of one part of a value, or of a statement's operator."""
    match place.node:
        case ast.BinOp():
            yield from _of_an_operator(place)
        case ast.Compare(ops=[_]):
            yield from _of_a_comparison(place)
        case ast.BoolOp():
            yield from _of_a_condition(place)
        case ast.UnaryOp(operand=operand):
            yield one_part(place, EXTRA, operand)
        case ast.Call():
            yield from _of_a_call(place)
        case ast.IfExp(test=test, body=body, orelse=other):
            yield one_part(place, EXCHANGED, ast.IfExp(test, other, body))
            yield from (one_part(place, EXTRA, alone) for alone in (body, other))
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for i, (first, second) in enumerate(pairwise(parts)):
                yield one_part(place, EXCHANGED, ast.Tuple([*parts[:i], second, first, *parts[i + 2 :]], ast.Load()))
        case ast.AugAssign():
            yield from _of_an_update(place)
    if isinstance(place.node, ast.Name | ast.Constant):
        yield from _other_words(place, reach)
    if isinstance(place.node, ast.expr):
        yield from _of_a_value(place, reach)


def one_part(place: Place, kind: str, made: ast.expr, noun: str = "", was: str = "") -> PythonEdit:
    """Return the change that has something else in the place of one part."""
    return PythonEdit(kind, place, {id(place.node): at(place.node, made)}, noun, was)


def _others(symbol: str) -> list[str]:
    """Return the operators that are easily taken for another one."""
    found = []
    for table in edits.OPERATORS, edits.COMPARISONS, edits.FURTHER, OF_PYTHON:
        found += [other for other in table.get(symbol, ()) if other in SIGNS]
    return [*dict.fromkeys(found)]


def _of_an_operator(place: Place) -> Iterator[PythonEdit]:
    """Yield other operators, one operand alone, the operands exchanged, and other parentheses."""
    node = place.node
    left, right, symbol = node.left, node.right, SYMBOLS[type(node.op)]
    for other in _others(symbol):
        yield one_part(place, OPERATOR, ast.BinOp(left, SIGNS[other](), right))
    for alone, rest in (left, right), (right, left):
        noun = edits.PARTS if type(getattr(rest, "op", None)) is type(node.op) else ""
        yield replace(one_part(place, EXTRA, alone, noun), part=rest)
    if symbol not in COMMUTE:
        yield one_part(place, EXCHANGED, ast.BinOp(right, node.op, left))
    if isinstance(left, ast.BinOp):
        yield one_part(place, PARENTHESES, ast.BinOp(left.left, left.op, ast.BinOp(left.right, node.op, right)))
    if isinstance(right, ast.BinOp):
        yield one_part(place, PARENTHESES, ast.BinOp(ast.BinOp(left, node.op, right.left), right.op, right.right))


def _of_a_comparison(place: Place) -> Iterator[PythonEdit]:
    """Yield other comparisons of the same two values."""
    node = place.node
    symbol = SYMBOLS[type(node.ops[0])]
    for other in _others(symbol):
        noun = edits.EQUAL if {symbol, other} in edits.STRICT else ""
        yield one_part(place, COMPARISON, ast.Compare(node.left, [SIGNS[other]()], node.comparators), noun)


def _of_a_condition(place: Place) -> Iterator[PythonEdit]:
    """Yield `or` for `and`, and a condition without one of its parts."""
    node = place.node
    other = ast.Or() if isinstance(node.op, ast.And) else ast.And()
    yield one_part(place, OPERATOR, ast.BoolOp(other, node.values))
    for i in range(len(node.values)):
        rest = [*node.values[:i], *node.values[i + 1 :]]
        alone = ast.BoolOp(node.op, rest) if len(rest) > 1 else rest[0]
        yield replace(one_part(place, EXTRA, alone), part=node.values[i])


def _of_a_call(place: Place) -> Iterator[PythonEdit]:
    """Yield an argument alone, two of them exchanged, and `min` for `max`."""
    node = place.node
    for argument in node.args:
        yield one_part(place, EXTRA, argument)
    for i, (first, second) in enumerate(pairwise(node.args)):
        arguments = [*node.args[:i], second, first, *node.args[i + 2 :]]
        yield one_part(place, EXCHANGED, ast.Call(node.func, arguments, node.keywords))
    if node.func.id in ALIKE:
        (other,) = {*ALIKE} - {node.func.id}
        yield one_part(place, REPLACED, renamed(node, other), FUNCTION, FUNCTION)


def renamed(node: ast.Call, name: str) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), node.args, node.keywords)


def _of_an_update(place: Place) -> Iterator[PythonEdit]:
    """Yield `=` in the place of `+=`, and another operator before `=`."""
    node = place.node
    symbol = SYMBOLS[type(node.op)]
    for other in _others(symbol):
        update = copy(node)
        update.op = SIGNS[other]()
        yield PythonEdit(ASSIGNMENT, place, {id(node): update})
    yield PythonEdit(ASSIGNMENT, place, {id(node): ast.copy_location(ast.Assign([node.target], node.value), node)})


def _other_words(place: Place, reach: Reach) -> Iterator[PythonEdit]:
    """Yield another name or number in the place of one."""
    is_name = isinstance(place.node, ast.Name)
    was = NAME if is_name else NUMBER
    for word in reach.words(place):
        if word != ast.unparse(place.node):
            yield one_part(place, REPLACED, parsed(word), NAME if word.isidentifier() else NUMBER, was)


def _of_a_value(place: Place, reach: Reach) -> Iterator[PythonEdit]:
    """Yield a value with one part more: 1, a sign, `not`, `abs`, a term, a factor or a condition."""
    node = place.node
    if reach.of(place) in (bool, None):
        yield one_part(place, NEGATED, ast.UnaryOp(ast.Not(), node))
    if reach.logical:
        yield from _with_a_condition(place, reach)
        return
    if not isinstance(node, WHOLE) or not reach.is_number(place):
        return
    for sign in ast.Add, ast.Sub:
        yield one_part(place, OFFSET, ast.BinOp(node, sign(), ast.Constant(1)))
    yield one_part(place, SIGN, ast.UnaryOp(ast.USub(), node))
    if isinstance(node, ast.Constant):
        return
    yield one_part(place, AROUND, ast.Call(ast.Name("abs", ast.Load()), [node], []))
    symbols = "+-*/" if reach.of_nodes.get(id(node)) is float else ALL_SIGNS
    for word in reach.words(place):
        yield from _with_a_term(place, word, symbols)
        for name in ALIKE:
            yield one_part(place, AROUND, ast.Call(ast.Name(name, ast.Load()), [node, parsed(word)], []))
    for term in reach.terms:
        if len(re.findall(r"[-+*/%(]+", term)) <= SMALL:
            yield from _with_a_term(place, term, symbols)


def _with_a_condition(place: Place, reach: Reach) -> Iterator[PythonEdit]:
    for word in reach.words(place):
        for other in parsed(word), ast.UnaryOp(ast.Not(), parsed(word)):
            yield one_part(place, CONDITION, ast.BoolOp(ast.And(), [place.node, other]))
            yield one_part(place, CONDITION, ast.BoolOp(ast.Or(), [place.node, other]))


def _with_a_term(place: Place, term: str, symbols: Iterable[str]) -> Iterator[PythonEdit]:
    """Yield a value with one more term or factor, before it or after it."""
    node = place.node
    if term in ("0", "1"):
        return
    parent = place.around[-1]
    for symbol in symbols:
        sign = SIGNS[symbol]()
        if not _is_the_same_around(symbol, parent):
            yield one_part(place, MISSING, ast.BinOp(node, sign, parsed(term)), term)
        if symbol in "-/":
            yield one_part(place, MISSING, ast.BinOp(parsed(term), sign, node), term)


def _is_the_same_around(symbol: str, parent: Node) -> bool:
    """Return whether a term of a part of a sum, or a factor of a part of a product, is one of the whole, too."""
    for alike in ("+", "-"), ("*", "/"):
        if symbol in alike:
            return isinstance(parent, ast.BinOp) and SYMBOLS[type(parent.op)] in alike
    return False


# --- Values of ours -------------------------------------------------------------------------------------------------


def of_values(place: Place, reach: Reach) -> Iterator[PythonEdit]:
    """Yield a value of ours in the place of one; and of a number that is always added, a condition."""
    node = place.node
    if not isinstance(node, ast.expr) or reach.logical or not reach.is_number(place):
        return
    for term in reach.terms:
        if term != ast.unparse(node):
            yield one_part(place, VALUE, parsed(term))
    if isinstance(node, ast.Constant):
        for one, other in combinations([*sorted(reach.names | place.visible), *reach.terms], 2):
            for symbol in "<", "<=", ">", ">=":
                yield one_part(place, VALUE, parsed(f"({one}) {symbol} ({other})"))
