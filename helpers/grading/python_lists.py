"""Lists that lines of Python make and change: a list is a tuple here, and a name gets another one where it changes."""

import ast

MOST_ELEMENTS = 10_000  # of a tuple that is made of others


class Listed(tuple):
    """The elements of a list. It has an identity of its own, even when empty, as a list of Python's has."""

    __slots__ = ()


class Append(ast.AugAssign):
    """The statement ``name.append(value)``, as ``name += (value,)``: what reads an update reads this, too."""


class Appends(ast.NodeTransformer):
    """Replaces each statement ``name.append(value)`` of a text by its `Append`."""

    def visit_Expr(self, statement: ast.Expr) -> ast.stmt:
        """Return the statement, or its `Append`."""
        match statement.value:
            case ast.Call(func=ast.Attribute(value=ast.Name() as name, attr="append"), args=[value], keywords=[]):
                element = ast.copy_location(ast.Tuple([value], ast.Load()), value)
                return ast.copy_location(Append(name, ast.Add(), element), statement)
        return statement


def listed(values: tuple = ()) -> Listed:
    """A list with the elements of a tuple. Raises TypeError for a number."""
    return Listed(_elements(values))


def as_tuple(values: tuple = ()) -> tuple:
    """A tuple with the elements of a list. Raises TypeError for a number."""
    return tuple(_elements(values))


def every(values: tuple) -> bool:
    """Return whether all numbers in a tuple are true. Raises TypeError for a number."""
    return all(_elements(values))


def some(values: tuple) -> bool:
    """Return whether a number in a tuple is true. Raises TypeError for a number."""
    return any(_elements(values))


def _elements(values: tuple) -> tuple:
    if not isinstance(values, tuple):
        raise TypeError
    return values
