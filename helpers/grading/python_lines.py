"""A few lines of Python as a learner writes them: read as a tree, and interpreted here. Python itself runs none of it.

Each line is ``name = value``, or a call of a function that returns nothing. A value is made of numbers, names,
arithmetic, comparisons, ``and``, ``or``, ``not``, ``a if b else c``, tuples of numbers, ``tuple[number]``, and calls of
the functions that are given. So a text reaches nothing else of Python. It has no loop: each part of it is computed at
most once, and the limit on its words is one on its steps, too.
"""

import ast
import operator
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from copy import deepcopy
from dataclasses import dataclass
from inspect import signature
from typing import NamedTuple, NoReturn

import numpy as np

from wgsl import Kernel, WgslError
from wgsl.diagnostics import Diagnostic, Lines, Refused, Span, error

LONGEST = 5_000  # characters of a text, with its comments
MOST_WORDS = 200  # names, numbers and signs of a text: ten times what ours have
MOST_LETTERS = 40  # of one name or number
LARGEST = 2**64  # of whole numbers
MOST_POWER = 64  # of exponents that are whole numbers

NOWHERE = Span(-1, -1)
WORD, BRACKETS = re.compile(r"\w+|[^\w\s]"), re.compile(r"[\s()]*")
REFUSED = re.compile(r"\w*[\"']|\.?\w+|[^\w\s()]+|.")  # the first word or sign of what is refused
COMMENT = re.compile(r"#.*")
HABITS = {  # what other languages have, and what Python has for it
    r"&&": "write `and`",
    r"\|\|": "write `or`",
    r"!(?!=)": "write `not`",
    r"\?": "write `a if condition else b`",
    r"\b(?:let|var|const)\b": "write `name = value`",
    r"\b\d+[fiu]\b": "numbers have no letter behind them",
    r"\b\d+[a-zA-Z]\w*": "a product needs its `*`",
}
CURES = {  # what Python has, too, and what is meant by it here
    ast.List: "write round brackets, as in `(1, 2)`",
    ast.BitXor: "powers are written `**`",
    ast.BitAnd: "write `and`",
    ast.BitOr: "write `or`",
    ast.Invert: "write `not`",
    ast.Is: "write `==`",
    ast.IsNot: "write `!=`",
    ast.AugAssign: "write `name = value`",
    ast.AnnAssign: "write `name = value`",
    ast.Slice: "an element is `tuple[number]`",
    ast.NamedExpr: "give the name its value in a line of its own",
}


def _power(base: float, exponent: float) -> float:
    if isinstance(exponent, int) and abs(exponent) > MOST_POWER:
        raise ValueError(f"an exponent is at most {MOST_POWER} here, and this one is {exponent}")
    return base**exponent


SIGNS = {
    **{ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv},
    **{ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: _power},
    **{ast.USub: operator.neg, ast.UAdd: operator.pos, ast.Not: operator.not_},
    **{ast.Eq: operator.eq, ast.NotEq: operator.ne, ast.Lt: operator.lt, ast.LtE: operator.le},
    **{ast.Gt: operator.gt, ast.GtE: operator.ge},
}


class Call(NamedTuple):
    """A call of a function: its name, and the call as it is written, with what it returns."""

    name: str
    text: str


@dataclass(frozen=True)
class Result:
    """What the lines compute: the value of the name that was asked for, and each call of a function."""

    value: object
    calls: tuple[Call, ...]


class Program:
    """Lines that may be interpreted: all that they say is known, and is allowed.

    Parameters
    ----------
    text : str
        The lines.
    given : mapping
        The names that they may use; what can be called is a function.
    answer : str
        The name to which they must give a value.

    Raises
    ------
    WgslError
        A text that is not allowed, with its place and the rule.
    """

    def __init__(self, text: str, given: Mapping[str, object], answer: str) -> None:
        self.answer, self._text = answer, Lines(re.sub(r"\r\n?", "\n", text[: LONGEST + 1]))
        self._functions = {name: value for name, value in given.items() if callable(value)}
        self._known, self._given = {*given} - {*self._functions}, given
        self._lines: list[tuple[str, ast.expr]] = []
        try:
            for statement in self._parsed().body:
                self._lines.append(self._assignment(statement))
                self._known.add(self._lines[-1][0])
            if answer not in self._known:
                raise Refused(f"no line gives `{answer}` a value: write `{answer} = ...`", NOWHERE)
        except Refused as refused:
            raise self._error(refused) from None

    def run(self, given: Mapping[str, object]) -> Result:
        """What the lines compute of these values, which they leave as they are: each run has objects of its own.

        Raises WgslError, with the place, where they cannot.
        """
        names, calls = deepcopy(dict(given)), []
        try:
            for name, value in self._lines:
                names[name] = _Run(self, names, calls).value(value)
        except Refused as refused:
            raise self._error(refused) from None
        return Result(names[self.answer], tuple(calls))

    def _error(self, refused: Refused) -> WgslError:
        place = None if refused.at < 0 else refused.at
        return error(Kernel(self._text.source), Diagnostic(refused.reason, place, refused.length))

    # --- Is it allowed? -----------------------------------------------------------------------------------------

    def _parsed(self) -> ast.Module:
        """The tree of the text, which is short enough to be read by any Python."""
        code = without_comments(self._text.source)
        if len(self._text.source) > LONGEST:
            raise Refused(f"it has more than {LONGEST:,} characters: a few lines will do", NOWHERE)
        if strange := re.search(r"[^ -~\n\t]", code):
            sign = ascii(strange[0])[1:-1] if not strange[0].isprintable() else strange[0]
            raise Refused(f"`{sign}` is no letter, digit or sign that you can write here", _of(strange))
        for count, word in enumerate(WORD.finditer(code), 1):
            if count > MOST_WORDS:
                raise Refused(f"it goes on after {MOST_WORDS} names, numbers and signs: a few lines will do", _of(word))
            if len(word[0]) > MOST_LETTERS:
                raise Refused(f"a name or a number has at most {MOST_LETTERS} letters or digits here", _of(word))
        try:
            with warnings.catch_warnings(action="ignore"):
                return ast.parse(code)
        except SyntaxError as error:
            raise self._not_python(code, error) from None
        except (ValueError, RecursionError, MemoryError):
            raise Refused("it is nested too deeply: give its parts names of their own", Span(0, 1)) from None

    def _not_python(self, code: str, error: SyntaxError) -> Refused:
        """Why a text is not Python, and what is meant, if another language has it."""
        for pattern, cure in HABITS.items():
            if found := re.search(pattern, code):
                return Refused(f"`{found[0]}` is not Python: {cure}", _of(found))
        line = min(max(error.lineno or 1, 1), len(self._text.lines))
        column = min(max(error.offset or 1, 1), len(self._text.lines[line - 1]) + 1)
        at = self._text.offset(line, column)
        return Refused(f"this is not Python: {error.msg}", Span(at, at + 1))

    def _assignment(self, statement: ast.stmt) -> tuple[str, ast.expr]:
        """The name and the value in a line."""
        match statement:
            case ast.Assign(targets=[ast.Name(id=name) as target], value=value):
                if name in self._given:
                    self._refuse(f"`{name}` is given, and keeps its value: choose another name", target)
                self._check(value)
                return name, value
            case ast.Assign(targets=[target, *_]):
                self._refuse("a line gives one name a value: write `name = value`", target)
            case ast.Expr(value=ast.Compare(left=ast.Name(id=name), ops=[ast.Eq()])):
                self._refuse(f"`==` compares, and gives no name a value: write `{name} = ...`", statement)
            case ast.Expr(value=ast.Call(func=ast.Name(id=name)) as value) if name in self._functions:
                self._check(value)
                if signature(self._functions[name]).return_annotation is not None:
                    self._refuse(f"what `{name}` returns needs a name: write `name = {name}(...)`", statement)
                return "", value
            case ast.Expr(value=value):
                self._check(value)
                self._refuse(f"this line gives no name a value: write `{self.answer} = ...`", statement)
            case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
                self._refuse_word(statement, self._after(target))
        self._refuse_word(statement)

    def _check(self, node: ast.expr) -> None:
        """Refuse a value that is not allowed, or the first part of it that is not."""
        match node:
            case ast.Constant(value=bool() | int() | float()):
                pass
            case ast.Name(id=name) if name in self._functions:
                self._refuse(f"`{name}` is a function: call it, as in `{self._call(name)}`", node)
            case ast.Name(id=name) if name not in self._known:
                self._refuse(f"`{name}` has no value here: you have {_listed([*self._given])}", node)
            case ast.UnaryOp(op=sign) if type(sign) not in SIGNS:
                self._refuse_word(sign, self._span(node).at)
            case ast.BinOp(left=left, op=sign) if type(sign) not in SIGNS:
                self._refuse_word(sign, self._after(left))
            case ast.Compare(left=left, ops=signs, comparators=others):
                for sign, before in zip(signs, [left, *others], strict=False):
                    if type(sign) not in SIGNS:
                        self._refuse_word(sign, self._after(before))
            case ast.Call():
                self._check_call(node)
            case ast.Slice():
                self._refuse_word(node, self._text.source.index(":", self._span(node).at))
            case ast.Attribute(value=before) | ast.NamedExpr(target=before):
                self._refuse_word(node, self._after(before))
            case ast.Name() | ast.Tuple() | ast.IfExp() | ast.BoolOp() | ast.UnaryOp() | ast.BinOp() | ast.Subscript():
                pass
            case _:
                self._refuse_word(node)
        for part in _parts(node):
            self._check(part)

    def _check_call(self, node: ast.Call) -> None:
        """Refuse a call of what is no function, or with other arguments than it takes."""
        if not isinstance(node.func, ast.Name):
            self._check(node.func)
        name = getattr(node.func, "id", "")
        if name in self._known or not name:
            self._refuse("only a function can be called: a product needs its `*`", node.func)
        if name not in self._functions:
            functions = _listed([*self._functions]) if self._functions else "none"
            self._refuse(f"`{name}` is not a function that you have here: you have {functions}", node.func)
        for star in (part for part in (*node.args, *node.keywords) if getattr(part, "arg", "") is None):
            self._refuse_word(star)
        try:
            signature(self._functions[name]).bind(*node.args, **{word.arg: word.value for word in node.keywords})
        except TypeError:
            self._refuse(f"`{name}` takes other arguments: write `{self._call(name)}`", node)

    def _call(self, name: str) -> str:
        """How a function is called."""
        return f"{name}({', '.join(signature(self._functions[name]).parameters)})"

    def _refuse_word(self, kind: ast.AST, at: int | None = None) -> NoReturn:
        """Refuse a piece of Python that is not among what is allowed, with the rule or the cure.

        It is shown by its first word, or by the one at an offset.
        """
        word = REFUSED.search(self._text.source, self._span(kind).at if at is None else at)
        calls = f", and calls of {_listed([*self._functions])}" if self._functions else ""
        rule = f"a line is `name = value`, of numbers, names, arithmetic, comparisons, `and`, `or`, `not`{calls}"
        reason = f"`{word[0]}` is not part of what you can write here: {CURES.get(type(kind), rule)}"
        raise Refused(reason, _of(word))

    def _refuse(self, reason: str, node: ast.AST) -> NoReturn:
        raise Refused(reason, self._span(node))

    def _span(self, node: ast.AST) -> Span:
        """Where a node is in the text, of which all but the comments is ASCII."""
        first = self._text.offset(node.lineno, node.col_offset + 1)
        return Span(first, self._text.offset(node.end_lineno, node.end_col_offset + 1))

    def _after(self, node: ast.AST) -> int:
        """Where the sign after a value is, without the brackets and blanks between them."""
        return BRACKETS.match(self._text.source, self._span(node).end).end()


def without_comments(text: str) -> str:
    """The code of a text, in which no sign but that of a comment can be a ``#``: there are no quotes."""
    return COMMENT.sub("", text)


def _of(match: re.Match) -> Span:
    return Span(match.start(), match.end())


def _listed(names: list[str]) -> str:
    """Names in a sentence."""
    return ", ".join(f"`{name}`" for name in names)


def _parts(node: ast.expr) -> Iterator[ast.expr]:
    """The values of which a value is made."""
    if isinstance(node, ast.Call):
        return iter([*node.args, *(word.value for word in node.keywords)])
    return (part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr))


# --- What it computes ---------------------------------------------------------------------------------------------


class _Run:
    """Values of parts of a program, all of which is allowed, where its names have these values."""

    def __init__(self, program: Program, names: Mapping[str, object], calls: list[Call]) -> None:
        self._span, self._names, self._calls = program._span, names, calls

    def value(self, node: ast.expr) -> object:
        """The value of a part. Raises Refused where it has none, or is too large."""
        match node:
            case ast.Constant(value=value):
                pass
            case ast.Name(id=name):
                return self._names[name]
            case ast.IfExp(test=test, body=body, orelse=other):
                return self.value(body if self.number(test) else other)
            case ast.BoolOp(op=sign, values=parts):
                for part in parts:
                    value = self.number(part)
                    if bool(value) is isinstance(sign, ast.Or):
                        break
            case ast.Compare(left=left, ops=signs, comparators=others):
                value = self._compared(left, signs, others)
            case ast.Tuple(elts=parts):
                value = tuple([self._inside(part) for part in parts])
            case ast.UnaryOp(op=sign, operand=operand):
                value = SIGNS[type(sign)](self.number(operand))
            case ast.BinOp(left=left, op=sign, right=right):
                value = self._done(node, SIGNS[type(sign)], self.number(left), self.number(right))
            case ast.Subscript(value=whole, slice=place):
                value = self._done(node, _element, self.value(whole), self.number(place))
            case ast.Call(func=ast.Name(id=name), args=given, keywords=words):
                value = self._called(node, name, given, words)
        return self._limited(node, value)

    def _called(self, node: ast.Call, name: str, places: list[ast.expr], words: list[ast.keyword]) -> object:
        """What a function returns, and a note of the call."""
        given, named = [self.value(part) for part in places], {word.arg: self.value(word.value) for word in words}
        value = self._done(node, self._names[name], *given, **named)
        arguments = [*map(shown, given), *(f"{word}={shown(each)}" for word, each in named.items())]
        returned = "" if value is None else f" = {shown(value)}"
        self._calls.append(Call(name, f"{name}({', '.join(arguments)}){returned}"))
        return value

    def number(self, node: ast.expr) -> float:
        """The value of a part that must be a number, or true or false."""
        value = self.value(node)
        if not isinstance(value, int | float):
            raise Refused(f"this must be a number, and not {shown(value)}", self._span(node))
        return value

    def _compared(self, left: ast.expr, signs: list[ast.cmpop], others: list[ast.expr]) -> bool:
        """Whether all of a chain of comparisons hold; what follows one that does not is not computed."""
        before = self.number(left)
        for sign, other in zip(signs, others, strict=True):
            after = self.number(other)
            if not SIGNS[type(sign)](before, after):
                return False
            before = after
        return True

    def _inside(self, node: ast.expr) -> object:
        """An element of a tuple."""
        value = self.value(node)
        if isinstance(value, tuple):
            raise Refused("a tuple holds no other tuple here", self._span(node))
        return value

    def _done(self, node: ast.expr, function: Callable, *given: object, **named: object) -> object:
        """What an operator or a function makes of values. Raises Refused where it cannot."""
        try:
            value = function(*given, **named)
        except ZeroDivisionError:
            raise Refused("this divides by 0", self._span(node)) from None
        except (OverflowError, MemoryError):
            raise Refused("this is too large", self._span(node)) from None
        except TypeError:
            raise Refused(f"this cannot be done with {', '.join(map(shown, given))}", self._span(node)) from None
        except ValueError as error:
            raise Refused(str(error), self._span(node)) from None
        return value.item() if isinstance(value, np.generic) else value

    def _limited(self, node: ast.expr, value: object) -> object:
        if isinstance(value, complex):
            raise Refused("this is no real number", self._span(node))
        if isinstance(value, int) and abs(value) > LARGEST:
            raise Refused("whole numbers are at most 2**64 here, and this is larger", self._span(node))
        return value


def _element(whole: object, place: object) -> object:
    """An element of a tuple."""
    if not isinstance(whole, tuple):
        raise ValueError(f"only a tuple has elements, and this is {shown(whole)}")
    if type(place) is not int or not -len(whole) <= place < len(whole):
        raise ValueError(f"the elements are numbered from 0 to {len(whole) - 1}, and this is number {as_typed(place)}")
    return whole[place]


def as_typed(value: object) -> str:
    """A value in a message that is about its type: 3.0 is no whole number."""
    return repr(value) if isinstance(value, float) else shown(value)


def shown(value: object) -> str:
    """A value as a message has it."""
    if isinstance(value, tuple):
        return f"({', '.join(map(shown, value))}{',' if len(value) == 1 else ''})"
    return f"{value:.10g}" if isinstance(value, float) else str(value)
