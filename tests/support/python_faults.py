"""Faults that can be planted in a line of Python, each told by its function's name and the line alone."""

import ast
from collections.abc import Iterator
from typing import NamedTuple

SIGNS = {"<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "=="}


class Fault(NamedTuple):
    """A change of one line of a function, without the blanks around the line."""

    kind: str
    function: str
    line: str
    changed: str


def functions_of(source: str) -> list[ast.FunctionDef]:
    return [node for node in ast.walk(ast.parse(source)) if isinstance(node, ast.FunctionDef)]


def faults_of(source: str) -> Iterator[Fault]:
    """Yield each fault that can be planted in one line of a text."""
    lines = source.split("\n")
    for function in functions_of(source):
        for node in ast.walk(function):
            line = lines[node.lineno - 1].encode() if hasattr(node, "lineno") else b""  # columns of `ast` are bytes
            for kind, first, last, new in changes(node, line):
                if first.lineno == last.end_lineno:
                    changed = line[: first.col_offset] + new.encode() + line[last.end_col_offset :]
                    yield Fault(kind, function.name, line.decode().strip(), changed.decode().strip())


def changes(node: ast.AST, line: bytes) -> Iterator[tuple[str, ast.AST, ast.AST, str]]:
    """Yield the changes of a node: the kind, the first and the last part of the old text, and the new text."""
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        left, right = node.left, node.comparators[0]
        sign = line[left.end_col_offset : right.col_offset].decode()
        if sign.strip() in SIGNS:
            yield "comparison", left, right, text(left, line) + f" {SIGNS[sign.strip()]} " + text(right, line)
    for number in numbers(node):
        yield "off by one", number, number, str(number.value + 1)
    if isinstance(node, ast.If) and isinstance(node.body[0], ast.Raise):
        yield "dropped check", node.test, node.test, "False"
    if isinstance(node, ast.Raise):
        yield "dropped check", node, node, "pass"
    if isinstance(node, ast.Call) and len(node.args) > 1:
        one, other = node.args[:2]
        between = line[one.end_col_offset : other.col_offset].decode()
        if between.strip() == "," and not isinstance(one, ast.Starred) and not isinstance(other, ast.Starred):
            yield "swapped arguments", one, other, text(other, line) + between + text(one, line)


def text(node: ast.AST, line: bytes) -> str:
    return line[node.col_offset : node.end_col_offset].decode()


def numbers(node: ast.AST) -> list[ast.Constant]:
    """Return the small whole numbers with which a node computes, compares, counts or looks something up."""
    parts = []
    if isinstance(node, ast.BinOp | ast.Compare | ast.Subscript | ast.Slice):
        parts = [*ast.iter_child_nodes(node)]
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "range":
        parts = node.args
    return [part for part in parts if isinstance(part, ast.Constant) and type(part.value) is int and part.value < 100]


def parses(source: str) -> bool:
    """Return True where a text is Python."""
    try:
        ast.parse(source)
    except SyntaxError:
        return False
    return True
