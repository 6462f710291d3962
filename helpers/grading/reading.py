"""What students wrote in their notebooks: the exercises and their arguments, found without running anything.

They are found in the syntax tree of each cell: the calls ``helpers.grade("name", my_kernel)`` and so on, and what was
assigned to their arguments last. An argument counts if it is a literal, or arithmetic of literals. Where a name
may have got another value in a way that is not followed here, it has none, so that nothing old is graded.
"""

import ast
import json
import operator
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from IPython.core.inputtransformer2 import TransformerManager

# What is called for an exercise: the name of its first argument, and the names and the defaults of the others.
ARGUMENTS: dict[str, tuple[str, dict[str, object]]] = {
    "grade": ("puzzle", {"source": None}),
    "predict": ("question", {"answer": None}),
    "mark": ("exercise", {"cells": ""}),
    "find_fault": ("exercise", {"line": None, "correction": ""}),
}
OPERATORS = {
    **{ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv},
    **{ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow},
}
LARGEST_FILE = 20_000_000  # bytes; a lesson with its outputs takes half a million
LONGEST_CELL = 100_000  # characters; a kernel has at most 30,000
LARGEST_POWER = 64  # of a small base; 9 ** 9 ** 9 would not end
LARGEST_NUMBER = 1e30  # repeated squaring would make numbers that fill the memory,
LONGEST_TUPLE = 2000  # characters; and so would x = (x, x)
UNREADABLE = (ValueError, TypeError, ArithmeticError, RecursionError)  # what reading a value may raise
CALL = re.compile(rf"""\b({"|".join(ARGUMENTS)})\(\s*(?:\w+\s*=\s*)?["']([^"']+)["']""")
RUN_AS_USUAL = re.compile(r"\A(\s*%%(time|capture|prun)\b.*)+")  # the magics that run the cell as it is without them
HARMLESS = {"pinfo", "pinfo2", "matplotlib"}  # the other magics of a line may assign any name


class Call(NamedTuple):
    """One exercise in a notebook; `arguments` is None where one of them cannot be read."""

    function: str
    exercise: str
    arguments: tuple[object, ...] | None


class NotebookError(Exception):
    """A file that is not a notebook, and why."""


def code_cells(path: Path) -> list[str]:
    """The texts of a notebook's code cells. Raises NotebookError where it is not one."""
    try:
        if not path.is_file():
            raise NotebookError("it is not a file")
        if path.stat().st_size > LARGEST_FILE:
            raise NotebookError(f"it is larger than {LARGEST_FILE / 1e6:g} MB; clear its outputs")
        cells = json.loads(path.read_bytes())["cells"]  # bytes, as they may be UTF-8 or UTF-16
        return ["".join(cell["source"]) for cell in cells if cell["cell_type"] == "code"]
    except OSError as error:
        raise NotebookError(f"it cannot be opened: {error.strerror}") from None
    except (KeyError, TypeError):
        raise NotebookError("it has no cells") from None
    except (ValueError, RecursionError):
        raise NotebookError("it is not JSON") from None


def calls(cells: Iterable[str]) -> Iterator[Call]:
    """The exercises in a notebook's code cells, in their order, with the arguments as they are then."""
    values: dict[str, object] = {}
    for cell in cells:
        tree = _parsed(cell)
        if tree is None:
            values.clear()
            yield from (Call(*match, None) for match in CALL.findall(cell))
            continue
        for statement in tree.body:
            for name in _changed(statement, values):
                values.pop(name, None)
            yield from _calls(statement, values)
            _assign(statement, values)


def _parsed(cell: str) -> ast.Module | None:
    """The syntax tree of a cell, with calls in place of IPython's own lines; None where it is not Python."""
    text = RUN_AS_USUAL.sub("", cell)
    if text.lstrip().startswith("%%") or len(text) > LONGEST_CELL:
        return None
    for translated in (str, TransformerManager().transform_cell):
        with warnings.catch_warnings(action="ignore"), suppress(Exception):
            return ast.parse(translated(text))
    return None


# --- What a statement changes -------------------------------------------------------------------------------


def _changed(statement: ast.stmt, values: Mapping[str, object]) -> set[str]:
    """The names that get other values somewhere in a statement, or that may get them."""
    nodes = list(ast.walk(statement))
    if any(map(_assigns_unseen, nodes)):
        return set(values)
    changed = {name for node in nodes for name in _bound(node)}
    if any(_is_mutable(values[name]) for name in _used(nodes) & values.keys()):  # two names may have the same list
        changed |= {name for name, value in values.items() if _is_mutable(value)}
    return changed


def _used(nodes: Sequence[ast.AST]) -> set[str]:
    """The names of which the values are used, which may change a list; an exercise changes none."""
    names = [node for node in nodes if isinstance(node, ast.Name) and not _is_stored(node)]
    names += [node.target for node in nodes if isinstance(node, ast.AugAssign) and isinstance(node.target, ast.Name)]
    asked = {id(argument) for node in nodes if _exercise(node) for argument in _given(node).values()}
    return {name.id for name in names if id(name) not in asked}


def _assigns_unseen(node: ast.AST) -> bool:
    """Whether any name may be assigned here."""
    match node:
        case ast.alias(name="*") | ast.Call(func=ast.Name(id="exec")):
            return True
        case ast.Call(func=ast.Attribute(attr="run_line_magic"), args=[ast.Constant(value=magic), *_]):
            return magic not in HARMLESS
    return False


def _bound(node: ast.AST) -> set[str]:
    """The names that a part of a statement binds."""
    match node:
        case ast.Name(id=name) if _is_stored(node):
            return {name}
        case ast.alias(name=name, asname=other):
            return {other or name.partition(".")[0]}
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name) | ast.arg(arg=name):
            return {name}
        case ast.ExceptHandler(name=name) | ast.MatchAs(name=name) | ast.MatchStar(name=name):
            return {name}
        case ast.MatchMapping(rest=name):
            return {name}
    return set()


def _is_stored(name: ast.Name) -> bool:
    return not isinstance(name.ctx, ast.Load)


def _is_mutable(value: object) -> bool:
    """Whether a value is a list, or holds one."""
    try:
        hash(value)
    except TypeError:
        return True
    return False


def _assign(statement: ast.stmt, values: dict[str, object]) -> None:
    """Remember what a plain assignment gives its names."""
    if isinstance(statement, ast.Assign) and all(isinstance(target, ast.Name) for target in statement.targets):
        with suppress(*UNREADABLE):
            value = _literal(statement.value, values)
            values.update({target.id: value for target in statement.targets})


# --- What is called -----------------------------------------------------------------------------------------


def _calls(statement: ast.stmt, values: Mapping[str, object]) -> list[Call]:
    """The exercises in a statement; in a function, which runs later, names have no values."""
    nodes = list(ast.walk(statement))
    if any(isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) for node in nodes):
        values = {}
    exercises = sorted(filter(_exercise, nodes), key=lambda node: (node.lineno, node.col_offset))
    return list(filter(None, (_call(node, values) for node in exercises)))


def _exercise(node: ast.AST) -> str | None:
    """The function that a call calls, if it is one for an exercise."""
    called = node.func if isinstance(node, ast.Call) else None
    function = getattr(called, "attr", getattr(called, "id", None))
    return function if function in ARGUMENTS else None


def _given(node: ast.Call) -> dict[str | None, ast.expr]:
    """The arguments of a call for an exercise, by their names."""
    first, others = ARGUMENTS[_exercise(node)]
    return dict(zip([first, *others], node.args, strict=False)) | {word.arg: word.value for word in node.keywords}


def _call(node: ast.Call, values: Mapping[str, object]) -> Call | None:
    """The exercise that a call is for, or None where its name cannot be read."""
    first, others = ARGUMENTS[_exercise(node)]
    given = _given(node)
    name = arguments = None
    with suppress(KeyError, *UNREADABLE):
        name = _literal(given.pop(first), values)
        read = {argument: _literal(value, values) for argument, value in given.items()}
        arguments = tuple((others | read).values()) if read.keys() <= others.keys() else None
    return Call(_exercise(node), name, arguments) if isinstance(name, str) else None


def _literal(node: ast.expr, values: Mapping[str, object]) -> object:
    """The value of a literal, of a name that has one, or of their arithmetic. Raises ValueError for anything else."""
    match node:
        case ast.Constant(value=value):
            return _limited(value)
        case ast.Name(id=name) if name in values:
            return values[name]
        case ast.Tuple(elts=parts):
            return _limited(tuple(_literal(part, values) for part in parts))
        case ast.List(elts=parts):
            return _limited([_literal(part, values) for part in parts])
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_literal(operand, values)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            return _limited(_calculated(op, _literal(left, values), _literal(right, values)))
    raise ValueError


def _limited(value: object) -> object:
    """The value itself. Raises ValueError where it is larger than any answer."""
    if isinstance(value, int | float) and abs(value) > LARGEST_NUMBER:
        raise ValueError
    if isinstance(value, tuple | list) and len(repr(value)) > LONGEST_TUPLE:
        raise ValueError
    return value


def _calculated(op: ast.operator, left: object, right: object) -> float:
    """Arithmetic of two numbers. Raises ValueError for anything else, and for powers that are too large."""
    if not all(isinstance(number, int | float) for number in (left, right)):
        raise ValueError
    if isinstance(op, ast.Pow) and max(abs(left), abs(right)) > LARGEST_POWER:
        raise ValueError
    return OPERATORS[type(op)](left, right)
