"""Rules of style that need no reader: docstrings, strings times a condition, long functions and long files."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

FOLDERS = "browser", "helpers", "notebooks", "tests", "wgsl"
NOT_OURS = {"site", "my", "attempts"}  # what is built, and what a reader writes
QUESTION = re.compile(r"(What|Whether|How|Which|Why|Where|When|Who)\b")
LONGEST_FUNCTION, LONGEST_FILE = 25, 400  # lines

Function = ast.FunctionDef | ast.AsyncFunctionDef


def python_files(root: Path) -> dict[str, str]:
    """The text of each Python file of the project, by its path."""
    paths = [*root.glob("*.py")]
    for folder in FOLDERS:
        paths += (root / folder).rglob("*.py")
    inside = {path.relative_to(root): path for path in sorted(paths)}
    return {
        name.as_posix(): path.read_text(encoding="utf-8")
        for name, path in inside.items()
        if NOT_OURS.isdisjoint(name.parts)
    }


def questions(tree: ast.Module) -> Iterator[int]:
    """The lines of modules, classes and functions whose docstring begins with a question word."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | Function) and QUESTION.match(ast.get_docstring(node) or ""):
            yield getattr(node, "lineno", 1)


def conditional_strings(tree: ast.Module) -> Iterator[int]:
    """The lines in which a string is multiplied by a condition."""
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult):
            sides = node.left, node.right
            if any(map(_is_string, sides)) and any(map(_is_condition, sides)):
                yield node.lineno


def _is_string(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _is_condition(node: ast.expr) -> bool:
    if isinstance(node, ast.Call):
        return isinstance(node.func, ast.Name) and node.func.id == "bool"
    if isinstance(node, ast.UnaryOp):
        return isinstance(node.op, ast.Not)
    return isinstance(node, ast.Compare | ast.BoolOp)


def long_functions(tree: ast.Module) -> Iterator[int]:
    """The lines of functions that are too long; a docstring does not count."""
    for node in ast.walk(tree):
        if isinstance(node, Function):
            first = node.body[1] if ast.get_docstring(node) and len(node.body) > 1 else node.body[0]
            if node.end_lineno - first.lineno + 1 > LONGEST_FUNCTION:
                yield node.lineno


RULES = {
    "the docstring begins with a question word": questions,
    "a string is multiplied by a condition": conditional_strings,
    f"the function has more than {LONGEST_FUNCTION} lines": long_functions,
}


def breaches(text: str) -> list[str]:
    """The rules that a text of Python breaks, each with its line."""
    tree = ast.parse(text)
    broken = []
    for rule, lines_of in RULES.items():
        broken += [f"line {line}: {rule}" for line in lines_of(tree)]
    return broken


def is_long(text: str) -> bool:
    """Return True for a file of more than 400 lines."""
    return text.count("\n") > LONGEST_FILE
