"""A few lines of Python as a learner writes them: read as a tree, and interpreted here. Python itself runs none of it.

A line gives names a value, changes a list, or calls a function that returns nothing; ``if``, ``for`` and ``while`` have
such lines. A value is made of numbers, names, arithmetic, comparisons, ``and``, ``or``, ``not``, ``a if b else c``,
tuples and lists of numbers (see `python_lists`), ``tuple[number]``, slices, comprehensions, and calls of the functions
that are given, or in `python_functions`. So a text reaches nothing else of Python. `python_run` limits its steps.
"""

import ast
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from copy import copy, deepcopy
from dataclasses import dataclass
from inspect import signature
from itertools import chain
from types import UnionType
from typing import NoReturn

from helpers.grading.python_functions import FUNCTIONS
from helpers.grading.python_lists import Appends
from helpers.grading.python_run import NUMBERS, SIGNS, Call, Refused, Run
from helpers.grading.python_traced import TracedRun
from helpers.grading.words import python_lines as words
from wgsl import Kernel, WgslError
from wgsl.diagnostics import Diagnostic, Lines, Span, error
from wgsl.output import visible

LONGEST = 5_000  # characters of a text, with its comments
MOST_WORDS = 200  # names, numbers and signs of a text: ten times what ours have
MOST_LETTERS = 40  # of one name or number

WORD = re.compile(r"\w+|[^\w\s]")
BRACKETS = re.compile(r"[\s()]*")
REFUSED = re.compile(r"\w*[\"']|\.?\w+|[^\w\s()]+|.")  # the first word or sign of what is refused
COMMENT = re.compile(r"#.*")
OTHER_SIGN = re.compile(r"[^ -~\n\t]")
HABITS = {  # what other languages have, by a pattern
    r"&&": "and",
    r"\|\|": "or",
    r"!(?!=)": "not",
    r"\?": "conditional",
    r"\b(?:let|var|const)\b": "declaration",
    r"\b\d+[fiu]\b": "letter of a type",
    r"\b\d+[a-zA-Z]\w*": "product without a sign",
}


@dataclass(frozen=True)
class Result:
    """The results of the lines: the value of the name that was asked for, and each call of a function."""

    value: object
    calls: tuple[Call, ...]


class Program:
    """Lines that may be interpreted: all that they say is known, and is allowed.

    Parameters
    ----------
    text : str
        The lines.
    names : mapping
        The names that they may use, with values; what can be called is a function.
    answer : str
        The name to which they must give a value.

    Raises
    ------
    WgslError
        A text that is not allowed, with its place and the rule; its `refusal` is the record.
    """

    def __init__(self, text: str, names: Mapping[str, object], answer: str) -> None:
        self.answer = answer
        self._text = Lines(re.sub(r"\r\n?", "\n", text[: LONGEST + 1]))
        self._names = names
        self.steps = 0  # that all runs have taken
        self._functions = functions_in(names)
        self._known = {*names} - {*self._functions}
        self._loops = 0  # around the statement that is read
        try:
            self.body = self._parsed().body
            self._check_lines(self.body)
            if answer not in self._known:
                raise Refused(None, "no answer", answer=answer)
        except Refused as refused:
            raise self._error(refused) from None

    def run(self, names: Mapping[str, object], numbers: type | UnionType = NUMBERS) -> Result:
        """Return the results with these values, which the lines leave as they are: each run has objects of its own.

        `numbers` are the types with which they may compute. Raises WgslError, with the place and the `refusal`, where
        they cannot be computed.
        """
        values = FUNCTIONS | deepcopy(dict(names))
        run = Run(self.span, values, numbers)
        try:
            run.do(self.body)
            if self.answer not in values:
                raise Refused(None, "no value yet", name=self.answer)
        except Refused as refused:
            raise self._error(refused) from None
        finally:
            self.steps += run.steps
        return Result(values[self.answer], tuple(run.calls))

    def with_body(self, body: list[ast.stmt]) -> "Program":
        """Return a program with other lines, which are made of allowed parts."""
        other = copy(self)
        other.body, other.steps = body, 0
        return other

    def traced(self, names: Mapping[str, object]) -> TracedRun:
        """Return a run with these values, up to where one cannot be computed."""
        run = TracedRun(self.span, FUNCTIONS | deepcopy(dict(names)))
        with suppress(Refused):
            run.do(self.body)
        return run

    @property
    def words(self) -> frozenset[str]:
        """The names in the lines, those of functions included."""
        nodes = chain.from_iterable(map(ast.walk, self.body))
        return frozenset(node.id for node in nodes if isinstance(node, ast.Name))

    def quoted(self, node: ast.AST) -> str:
        """Return the piece of the text that a value is written as, in one line."""
        return self._text.quoted(self.span(node))

    def _error(self, refused: Refused) -> WgslError:
        reason = words.refusal(refused.refusal)
        diagnostic = Diagnostic(reason, None)
        if refused.place is not None:
            at, end = refused.place
            diagnostic = Diagnostic(reason, at, max(1, end - at))
        made = error(Kernel(self._text.source), diagnostic)
        made.refusal = refused.refusal
        return made

    # --- Is it allowed? -----------------------------------------------------------------------------------------

    def _parsed(self) -> ast.Module:
        """The tree of the text, which is short enough to be read by any Python."""
        code = COMMENT.sub(lambda match: " " * len(match[0]), self._text.source)  # a word keeps its place
        if len(self._text.source) > LONGEST:
            raise Refused(None, "long text", most=LONGEST)
        _check_words(code)
        try:
            with warnings.catch_warnings(action="ignore"):
                return Appends().visit(ast.parse(code))
        except SyntaxError as error:
            raise self._not_python(code, error) from None
        except (ValueError, RecursionError, MemoryError):
            raise Refused(Span(0, 1), "deep nesting") from None

    def _not_python(self, code: str, error: SyntaxError) -> Refused:
        """The refusal of a text that is not Python: what is meant, if another language has it."""
        for pattern, habit in HABITS.items():
            match = re.search(pattern, code)
            if match:
                return Refused(_span_of(match), "other language", word=match[0], habit=habit)
        line = min(max(error.lineno or 1, 1), len(self._text.lines))
        column = min(max(error.offset or 1, 1), len(code.split("\n")[line - 1].rstrip()) + 1)
        at = self._text.offset(line, column)
        return Refused(Span(at, at + 1), "not Python", says=error.msg)

    def _check_lines(self, statements: list[ast.stmt]) -> None:
        """Refuse lines that are not allowed, or the first of them; the names to which they give a value are known."""
        for statement in statements:
            self._check_line(statement)

    def _check_line(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Assign() | ast.AugAssign() | ast.AnnAssign():
                self._check_assignment(statement)
            case ast.If(test=test, body=body, orelse=other):
                self._check(test)
                self._check_lines(body)
                self._check_lines(other)
            case ast.For() | ast.While():
                self._check_loop(statement)
            case ast.Pass():
                pass
            case ast.Break() | ast.Continue() if self._loops:
                pass
            case ast.Expr(value=value):
                self._check_alone(statement, value)
            case _:
                self._refuse_word(statement)

    def _check_assignment(self, statement: ast.stmt) -> None:
        """Refuse a value that is not allowed, or what no value can be given to."""
        match statement:
            case ast.Assign(targets=[target], value=value):
                self._check(value)
                self._name(target)
            case ast.Assign(targets=[target, *_]):
                self._refuse(target, "several names")
            case ast.AugAssign(target=ast.Name() | ast.Subscript() as target, op=sign, value=value):
                self._check(target)
                self._check_sign(sign, self._after(target))
                self._check(value)
                self._name(target)
            case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
                self._refuse_word(statement, self._after(target))

    def _check_loop(self, loop: ast.For | ast.While) -> None:
        """Refuse a loop in which something is not allowed."""
        if isinstance(loop, ast.For):
            self._check(loop.iter)
            self._name(loop.target)
        else:
            self._check(loop.test)
        self._loops += 1
        self._check_lines(loop.body)
        self._loops -= 1
        if loop.orelse:
            self._refuse_word(loop.orelse[0], self._text.source.rfind("else", 0, self.span(loop.orelse[0]).at))

    def _check_alone(self, statement: ast.stmt, value: ast.expr) -> None:
        """Refuse a value without a name, unless it is a call of a function that returns nothing."""
        match value:
            case ast.Compare(left=ast.Name(id=name), ops=[ast.Eq()]):
                self._refuse(statement, "comparison alone", name=name)
            case ast.Call(func=ast.Name(id=name)) if name in self._functions:
                self._check(value)
                if name in FUNCTIONS or signature(self._functions[name]).return_annotation is not None:
                    self._refuse(statement, "result without a name", name=name)
            case _:
                self._check(value)
                self._refuse(statement, "value without a name", answer=self.answer)

    def _name(self, target: ast.expr) -> None:
        """Know a name that gets a value, or each in a tuple of names; refuse one that keeps its own, and all else."""
        match target:
            case ast.Name(id=name) | ast.Subscript(value=ast.Name(id=name)) if name in self._names:
                self._refuse(target, "name of the task", name=name)
            case ast.Name(id=name):
                self._known.add(name)
            case ast.Subscript(value=ast.Name(), slice=place) if not isinstance(place, ast.Slice):
                self._check(target)
            case ast.Tuple(elts=parts) if all(isinstance(part, ast.Name) for part in parts):
                for part in parts:
                    self._name(part)
            case _:
                self._refuse(target, "several names")

    def _check(self, node: ast.expr) -> None:
        """Refuse a value that is not allowed, or the first part of it that is not."""
        match node:
            case ast.Constant(value=bool() | int() | float()):
                pass
            case ast.Name(id=name):
                self._check_name(node, name)
            case ast.UnaryOp() | ast.BinOp() | ast.Compare():
                self._check_signs(node)
            case ast.Call():
                self._check_call(node)
            case ast.Slice():  # among several numbers; one alone is a part of its `ast.Subscript`
                self._refuse_word(node, self._text.source.index(":", self.span(node).at))
            case ast.ListComp() | ast.GeneratorExp():
                self._check_comprehension(node)
                return
            case ast.Attribute(value=before) | ast.NamedExpr(target=before):
                self._refuse_word(node, self._after(before))
            case ast.Tuple() | ast.List() | ast.IfExp() | ast.BoolOp() | ast.Subscript():
                pass
            case _:
                self._refuse_word(node)
        for part in _parts(node):
            self._check(part)

    def _check_comprehension(self, node: ast.ListComp | ast.GeneratorExp) -> None:
        """Refuse a comprehension in which something is not allowed; the names of its loops are known inside alone."""
        outside = set(self._known)
        for loop in node.generators:
            if loop.is_async:
                self._refuse_word(node, self._text.source.index("async", self.span(node).at))
            self._check(loop.iter)
            self._name(loop.target)
            for test in loop.ifs:
                self._check(test)
        self._check(node.elt)
        self._known = outside

    def _check_name(self, node: ast.Name, name: str) -> None:
        """Refuse a name that has no value, or that is a function's."""
        if name in self._functions and name not in self._known:
            self._refuse(node, "not called", name=name, parameters=self._parameters(name))
        if name not in self._known:
            self._refuse(node, "unknown name", name=name, known=tuple(self._names))

    def _check_signs(self, node: ast.UnaryOp | ast.BinOp | ast.Compare) -> None:
        """Refuse an operator that is not allowed, or the first such one in a chain of comparisons."""
        match node:
            case ast.UnaryOp(op=sign):
                self._check_sign(sign, self.span(node).at)
            case ast.BinOp(left=left, op=sign):
                self._check_sign(sign, self._after(left))
            case ast.Compare(left=left, ops=signs, comparators=others):
                for sign, before in zip(signs, [left, *others], strict=False):
                    self._check_sign(sign, self._after(before))

    def _check_sign(self, sign: ast.AST, at: int) -> None:
        if type(sign) not in SIGNS:
            self._refuse_word(sign, at)

    def _check_call(self, node: ast.Call) -> None:
        """Refuse a call of what is no function, or with other arguments than it takes."""
        if not isinstance(node.func, ast.Name):
            self._check(node.func)
        name = getattr(node.func, "id", "")
        if name in self._known or not name:
            self._refuse(node.func, "not a function")
        if name not in self._functions:
            self._refuse(node.func, "unknown function", name=name, functions=tuple(self._functions))
        for word in node.keywords:
            if word.arg is None:  # two stars
                self._refuse_word(word)
        try:
            signature(self._functions[name]).bind(*node.args, **{word.arg: word.value for word in node.keywords})
        except TypeError:
            self._refuse(node, "other arguments", name=name, parameters=self._parameters(name))

    def _parameters(self, name: str) -> tuple[str, ...]:
        """The names of what a function must be given."""
        needed = []
        for parameter in signature(self._functions[name]).parameters.values():
            is_optional = name in FUNCTIONS and parameter.default is not parameter.empty
            if parameter.kind is not parameter.VAR_POSITIONAL and not is_optional:
                needed.append(parameter.name)
        return tuple(needed)

    def _refuse_word(self, kind: ast.AST, at: int | None = None) -> NoReturn:
        """Refuse a piece of Python that is not among what is allowed.

        It is shown by its first word, or by the one at an offset.
        """
        word = REFUSED.search(self._text.source, self.span(kind).at if at is None else at)
        node = type(kind).__name__
        raise Refused(_span_of(word), "not a part", word=word[0], node=node, functions=tuple(self._functions))

    def _refuse(self, node: ast.AST, kind: str, **facts: object) -> NoReturn:
        raise Refused(self.span(node), kind, **facts) from None

    def span(self, node: ast.AST) -> Span:
        """The place of a node in the text, of which all but the comments is ASCII."""
        first = self._text.offset(node.lineno, node.col_offset + 1)
        return Span(first, self._text.offset(node.end_lineno, node.end_col_offset + 1))

    def _after(self, node: ast.AST) -> int:
        """The place of the sign after a value, without the brackets and blanks between them."""
        return BRACKETS.match(self._text.source, self.span(node).end).end()


def functions_in(names: Mapping[str, object]) -> dict[str, Callable]:
    """Return the functions that lines with these names may call: their own, and those that all may."""
    own = {name: value for name, value in names.items() if callable(value)}
    return own | {name: FUNCTIONS[name] for name in FUNCTIONS if name not in names}


def without_comments(text: str) -> str:
    """The code of a text, in which no sign but that of a comment can be a ``#``: there are no quotes."""
    return COMMENT.sub("", text)


def _check_words(code: str) -> None:
    """Refuse a sign that Python does not have, too many words, or too long a one."""
    other = OTHER_SIGN.search(code)
    if other:
        raise Refused(_span_of(other), "other sign", sign=visible(other[0]))
    for count, word in enumerate(WORD.finditer(code), 1):
        if count > MOST_WORDS:
            raise Refused(_span_of(word), "many words", most=MOST_WORDS)
        if len(word[0]) > MOST_LETTERS:
            raise Refused(_span_of(word), "long word", most=MOST_LETTERS)


def _span_of(match: re.Match) -> Span:
    return Span(match.start(), match.end())


def _parts(node: ast.expr) -> Iterator[ast.expr]:
    """The values of which a value is made."""
    if isinstance(node, ast.Call):
        return iter([*node.args, *(word.value for word in node.keywords)])
    if isinstance(node, ast.Subscript) and isinstance(node.slice, ast.Slice):
        return chain([node.value], _parts(node.slice))
    return (part for part in ast.iter_child_nodes(node) if isinstance(part, ast.expr))
