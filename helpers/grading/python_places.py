"""The places of a learner's lines of Python, and the pieces that may stand there: names, numbers, values of ours."""

import ast
from collections.abc import Container, Iterator, Mapping
from copy import copy
from dataclasses import dataclass
from itertools import chain

Node = ast.AST
Body = list[ast.stmt]
SMALLEST_NUMBERS = (0, 1, 2)
TERMS = ast.BinOp | ast.Call | ast.Compare
MOST_PARTS = 12  # of a value of ours that may stand in a learner's line


@dataclass(frozen=True, eq=False)
class Place:
    """A value or a statement, the statement it is in, what is around it, and the names that have values before it."""

    node: Node
    statement: ast.stmt
    around: tuple[Node, ...]
    visible: frozenset[str]


def places(body: Body, names: frozenset[str]) -> list[Place]:
    """Return all values and statements, those around others first; `names` have values before the first line."""
    return [*_in_body(body, (), names)]


def _in_body(body: Body, around: tuple[Node, ...], names: frozenset[str]) -> Iterator[Place]:
    for statement in body:
        yield Place(statement, statement, around, names)
        inner = names | stored(statement)
        for field, value in ast.iter_fields(statement):
            if field in ("body", "orelse"):
                yield from _in_body(value, (*around, statement), inner)
            elif isinstance(value, ast.expr) and field not in ("target", "targets"):
                seen = inner if isinstance(statement, ast.While) else names
                yield from _in_value(value, statement, (*around, statement), seen)
        names = inner


def _in_value(node: ast.expr, statement: ast.stmt, around: tuple[Node, ...], names: frozenset[str]) -> Iterator[Place]:
    if isinstance(node, ast.ListComp | ast.GeneratorExp):
        names |= stored(node)
    yield Place(node, statement, around, names)
    for child in _children(node):
        yield from _in_value(child, statement, (*around, node), names)


def _children(node: Node) -> Iterator[ast.expr]:
    """Yield the values of which a value is made; a function's name and the names of loops are none."""
    if isinstance(node, ast.Call):
        yield from chain(node.args, (word.value for word in node.keywords))
        return
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.comprehension):
            yield from (child.iter, *child.ifs)
        elif isinstance(child, ast.Slice):
            yield from _children(child)
        elif isinstance(child, ast.expr):
            yield child


def stored(node: Node) -> frozenset[str]:
    """Return the names to which a statement or a comprehension gives values."""
    names = (part for part in ast.walk(node) if isinstance(part, ast.Name))
    return frozenset(name.id for name in names if isinstance(name.ctx, ast.Store))


# --- Trees that are changed -----------------------------------------------------------------------------------------


def changed(body: Body, new: Mapping[int, object], above: Container[int]) -> Body:
    """Return lines with other parts in the places of those with these ids; `above` are the ids of all around them.

    A statement may be replaced by several, or by none.
    """
    made = []
    for statement in body:
        other = _changed(statement, new, above)
        made += other if isinstance(other, list) else [other]
    return made


def _changed(node: Node, new: Mapping[int, object], above: Container[int]) -> object:
    if id(node) in new:
        return new[id(node)]
    if isinstance(node, ast.expr | ast.stmt) and not isinstance(node, ast.Slice) and id(node) not in above:
        return node
    other = copy(node)
    for field, value in ast.iter_fields(node):
        if isinstance(value, list):
            setattr(other, field, _changed_list(value, new, above))
        elif isinstance(value, Node):
            setattr(other, field, _changed(value, new, above))
    return other


def _changed_list(values: list, new: Mapping[int, object], above: Container[int]) -> list:
    if values and isinstance(values[0], ast.stmt):
        return changed(values, new, above)
    return [_changed(value, new, above) if isinstance(value, Node) else value for value in values]


def at(place: Node, made: ast.expr) -> ast.expr:
    """Return a value that is made here, with the place of another one in all of its parts that have none."""
    for part in ast.walk(made):
        if not hasattr(part, "lineno"):
            ast.copy_location(part, place)
    return made


def parsed(text: str) -> ast.expr:
    """Return the tree of a value, without places."""
    tree = ast.parse(text, mode="eval").body
    for part in ast.walk(tree):
        for field in ("lineno", "col_offset", "end_lineno", "end_col_offset"):
            part.__dict__.pop(field, None)
    return tree


# --- Values of ours -------------------------------------------------------------------------------------------------


def terms_of(official: str, answer: str) -> list[str]:
    """Return the values that occur in our lines, in the names of the task, without what is the answer itself."""
    values: dict[str, ast.expr] = {}
    made: dict[str, None] = {}
    for statement in ast.parse(official).body:
        if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
            continue
        name = statement.targets[0].id
        value = _Inlined(values).visit(statement.value)
        whole = value if name == answer else None
        for part in ast.walk(value):
            if isinstance(part, TERMS) and part is not whole and len([*ast.walk(part)]) <= MOST_PARTS * 3:
                made[ast.unparse(part)] = None
        values[name] = value
    return [*made]


class _Inlined(ast.NodeTransformer):
    """Replaces each name of our lines by its value."""

    def __init__(self, values: Mapping[str, ast.expr]) -> None:
        self._values = values

    def visit_Name(self, node: ast.Name) -> ast.expr:
        """Return the value of a name, where it has one."""
        return self._values.get(node.id, node)
