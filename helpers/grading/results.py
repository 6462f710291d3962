"""Students' notebooks in, a table of outcomes out: the notebooks are read, never run.

What a student wrote is found in the syntax tree of each cell: the calls ``helpers.grade("name", my_kernel)`` and so on,
and what was assigned to their arguments last. An argument counts if it is a literal, or arithmetic of literals.
"""

import ast
import csv
import io
import json
import operator
import re
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from helpers.grading.verdict import RIGHT, UNSAFE, WRONG, Grades, Verdict

NOT_READABLE, UNKNOWN = "not readable", "no such exercise"
# What is called for an exercise, with the names and the defaults of the arguments after the exercise's name.
ARGUMENTS: dict[str, dict[str, object]] = {
    "grade": {"source": None},
    "predict": {"answer": None},
    "mark": {"cells": ""},
    "find_fault": {"line": None, "correction": ""},
}
OPERATORS = {
    **{ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Div: operator.truediv},
    **{ast.FloorDiv: operator.floordiv, ast.Mod: operator.mod, ast.Pow: operator.pow},
}
LARGEST_POWER = 64  # of a small base; 9 ** 9 ** 9 would not end
UNPARSED = (SyntaxError, ValueError, RecursionError, MemoryError)  # what Python says of a text that is no program
CALL = re.compile(rf"""\b({"|".join(ARGUMENTS)})\(\s*["']([^"']+)["']""")
MAGIC = re.compile(r"^\s*[%!?].*$", re.MULTILINE)

Judge = Callable[..., Grades | Verdict]  # takes an exercise's name and the arguments


# --- What a notebook holds ----------------------------------------------------------------------------------


class Call(NamedTuple):
    """One exercise in a notebook; `arguments` is None where one of them cannot be read."""

    function: str
    exercise: str
    arguments: tuple[object, ...] | None


class NotebookError(ValueError):
    """A file that is no notebook, and why."""


def code_cells(path: Path) -> list[str]:
    """The texts of a notebook's code cells. Raises NotebookError where it is none."""
    try:
        cells = json.loads(path.read_text(encoding="utf-8"))["cells"]
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
            yield from (Call(*found, None) for found in CALL.findall(cell))
            continue
        for statement in tree.body:
            found = (node for node in ast.walk(statement) if isinstance(node, ast.Call))
            yield from filter(None, (_call(node, values) for node in found))
            _assign(statement, values)


def _parsed(cell: str) -> ast.Module | None:
    """The syntax tree of a cell without IPython's own lines; None where it is no Python."""
    for text in (cell, MAGIC.sub("", cell)):  # a kernel in the cell may have a line that begins with %
        with warnings.catch_warnings(action="ignore"), suppress(*UNPARSED):
            return ast.parse(text)
    return None


def _call(node: ast.Call, values: Mapping[str, object]) -> Call | None:
    """The exercise that a call is, or None."""
    function = getattr(node.func, "attr", getattr(node.func, "id", None))
    name, *rest = node.args or [None]
    if function not in ARGUMENTS or not isinstance(name, ast.Constant) or not isinstance(name.value, str):
        return None
    given = dict(zip(ARGUMENTS[function], rest, strict=False)) | {word.arg: word.value for word in node.keywords}
    try:
        read = {argument: _literal(value, values) for argument, value in given.items()}
    except (*UNPARSED, ArithmeticError, TypeError):
        return Call(function, name.value, None)
    wanted = ARGUMENTS[function] | read
    return Call(function, name.value, tuple(wanted[argument] for argument in ARGUMENTS[function]))


def _assign(statement: ast.stmt, values: dict[str, object]) -> None:
    """Remember what a plain assignment gives its names, and forget the names that are assigned in any other way."""
    for node in ast.walk(statement):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            values.pop(node.id, None)
    if isinstance(statement, ast.Assign) and all(isinstance(target, ast.Name) for target in statement.targets):
        try:
            value = _literal(statement.value, values)
        except (*UNPARSED, ArithmeticError, TypeError):
            return
        values.update({target.id: value for target in statement.targets})


def _literal(node: ast.expr, values: Mapping[str, object]) -> object:
    """The value of a literal, of a name that has one, or of their arithmetic. Raises ValueError for anything else."""
    match node:
        case ast.Constant(value=value):
            return value
        case ast.Name(id=name) if name in values:
            return values[name]
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            return tuple(_literal(part, values) for part in parts)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_literal(operand, values)
        case ast.BinOp(left=left, op=op, right=right) if type(op) in OPERATORS:
            return _calculated(op, _literal(left, values), _literal(right, values))
    raise ValueError


def _calculated(op: ast.operator, left: object, right: object) -> float:
    """Arithmetic of two numbers. Raises ValueError for anything else, and for powers that are too large."""
    if not all(isinstance(number, int | float) for number in (left, right)):
        raise ValueError
    if isinstance(op, ast.Pow) and max(abs(left), abs(right)) > LARGEST_POWER:
        raise ValueError
    return OPERATORS[type(op)](left, right)


# --- What it is worth ---------------------------------------------------------------------------------------


@dataclass
class Row:
    """One notebook: the outcome of each exercise, how many questions are answered right of all, or the problem."""

    notebook: str
    outcomes: dict[str, str] = field(default_factory=dict)
    answers: dict[str, bool] = field(default_factory=dict)
    problem: str = ""

    @property
    def questions(self) -> str:
        """How many answers are right of how many questions."""
        return f"{sum(self.answers.values())}/{len(self.answers)}" if self.answers else ""


def row(notebook: str, path: Path, judges: Mapping[str, Judge]) -> Row:
    """The outcomes in one notebook; of an exercise's calls, the last one counts that can be read."""
    found: dict[tuple[str, str], Call] = {}
    try:
        for call in calls(code_cells(path)):
            if call.arguments is not None or call[:2] not in found:
                found[call[:2]] = call
    except NotebookError as error:
        return Row(notebook, problem=str(error))
    made = Row(notebook)
    for call in found.values():
        said = outcome(call, judges[call.function])
        if call.function == "predict":
            made.answers[call.exercise] = said == RIGHT
        else:
            made.outcomes[call.exercise] = said
    return made


def outcome(call: Call, judge: Judge) -> str:
    """What a cell of the table says of an exercise."""
    if call.arguments is None:
        return NOT_READABLE
    try:
        judged = judge(call.exercise, *call.arguments)
    except TypeError:  # such as a number in the place of a kernel
        return NOT_READABLE
    except ValueError:
        return UNKNOWN
    return in_short(judged) if isinstance(judged, Grades) else judged.outcome


def in_short(grades: Grades) -> str:
    """All verdicts in one word, or how many tests pass; "unsafe" where no number is wrong."""
    outcomes = {verdict.outcome for verdict in grades}
    if len(outcomes) == 1 and outcomes.isdisjoint({WRONG, UNSAFE}):
        return grades[0].outcome
    passed = f"{grades.passed}/{len(grades)}"
    return passed if WRONG in outcomes else f"{passed} {UNSAFE}"


# --- The table ----------------------------------------------------------------------------------------------


def notebooks(folder: Path) -> list[Path]:
    """All notebooks in a folder and the folders in it, without Jupyter's checkpoints."""
    return sorted(path for path in folder.rglob("*.ipynb") if ".ipynb_checkpoints" not in path.parts)


def tables(rows: Sequence[Row]) -> str:
    """A table for the notebooks that share exercises, as those of one lesson do; those with a problem come last."""
    groups: list[list[Row]] = []
    for each in rows:
        if not each.problem:
            related = [group for group in groups if any(_related(each, other) for other in group)]
            groups = [group for group in groups if group not in related]
            groups.append([*(other for group in related for other in group), each])
    parts = [aligned(lines(group)) for group in groups]
    parts += ["\n".join(f"{each.notebook}: {each.problem}" for each in rows if each.problem)]
    return "\n\n".join(filter(None, parts))


def _related(one: Row, other: Row) -> bool:
    """Whether two notebooks share an exercise or a question, or both have none."""
    these, those = ({*each.outcomes, *each.answers} for each in (one, other))
    return bool(these & those) or these == those


def lines(rows: Sequence[Row]) -> list[list[str]]:
    """The table's head, and a line for each notebook; the exercises stand in the order in which they are found."""
    exercises = list(dict.fromkeys(name for each in rows for name in each.outcomes))
    head = ["notebook", *exercises, "questions"]
    return [head] + [[each.notebook, *(each.outcomes.get(n, "") for n in exercises), each.questions] for each in rows]


def aligned(lines: Sequence[Sequence[str]]) -> str:
    """Lines of cells as text, in columns."""
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return "\n".join("  ".join(map(str.ljust, line, widths)).rstrip() for line in lines)


def as_csv(rows: Sequence[Row]) -> str:
    """One table of all notebooks as comma-separated values, with a column for problems."""
    head, *body = lines(rows)
    file = io.StringIO()
    csv.writer(file, lineterminator="\n").writerows(
        [[*head, "problem"], *([*line, each.problem] for line, each in zip(body, rows, strict=True))]
    )
    return file.getvalue()
