"""A run of a learner's lines of Python that keeps the types of all values."""

import ast
from collections.abc import Callable

from helpers.grading.python_run import Run
from wgsl.diagnostics import Span


class TracedRun(Run):
    """A run that keeps the type of each value, by the id of its node, and by each name at the end."""

    def __init__(self, span: Callable[[ast.AST], Span], names: dict[str, object]) -> None:
        super().__init__(span, names)
        self.types: dict[int, type] = {}

    def value(self, node: ast.expr) -> object:
        """The value of a part."""
        value = super().value(node)
        self.types[id(node)] = type(value)
        return value

    def types_of_names(self) -> dict[str, type]:
        """Return the types of the values that names have."""
        return {name: type(value) for name, value in self._names.items()}
