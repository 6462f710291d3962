"""The variables of a text that a run can watch, by name: those of which every invocation has its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np

from wgsl.diagnostics import Lines
from wgsl.simulator.memory import as_numbers
from wgsl.types import kinds
from wgsl.types.program import Bind, Binding, Declare, Program, Variable
from wgsl.types.usage import nodes, reached

Named = Variable | Binding


def own_variables(program: Program, source: str) -> dict[str, Named]:
    """Return what can be watched, in the order of the text: `let`, `var` and parameters of the functions that run.

    A name that several of them have is written with its line, as in `i:12`, and with its column where a line has
    several. Pointers are not among them.
    """
    text = Lines(source)
    variables = [variable for variable in _all_variables(program) if not isinstance(variable.type, kinds.Pointer)]
    names = [str(variable.name) for variable in variables]
    for places in (1, 2):
        counts = Counter(names)
        for i, variable in enumerate(variables):
            if counts[names[i]] > 1:
                names[i] = _placed_name(text, variable, places)
    return dict(zip(names, variables, strict=True))


def _all_variables(program: Program) -> list[Named]:
    """The variables and names for values of all functions that run, and private ones, in the order of the text."""
    functions = reached(program.entry)
    variables: list[Named] = [*program.private]
    for function in functions:
        variables += function.parameters
    for node in nodes(tuple(function.body for function in functions)):
        if isinstance(node, Bind):
            variables.append(node.binding)
        elif isinstance(node, Declare):
            variables.append(node.variable)
    return sorted(variables, key=lambda variable: variable.at)


def _placed_name(text: Lines, variable: Named, places: int) -> str:
    """A name with its line, or with its line and column where `places` is 2."""
    place = text.place(variable.at)[:places]
    return ":".join([str(variable.name), *map(str, place)])


def checked_watch(program: Program, source: str, watch: Sequence[str]) -> dict[Named, str]:
    """The variables to watch, with their names. Raises ValueError or TypeError for what is none."""
    if isinstance(watch, str) or not isinstance(watch, Sequence):
        raise TypeError(f"watch = {watch!r}: it must be a list of names, such as ['sum']")
    variables = own_variables(program, source) if watch else {}
    for name in watch:
        if not isinstance(name, str):
            raise TypeError(f"watch = {watch!r}: {name!r} is a {type(name).__name__}, and must be a name")
        if name not in variables:
            raise ValueError(f"watch = {watch!r}: {_why_not(program, name, [*variables])}")
    return {variables[name]: name for name in watch}


def _why_not(program: Program, name: str, names: Sequence[str]) -> str:
    """Say why none of the names that can be watched is this one, and which they are."""
    several = [other for other in names if other.startswith(f"{name}:")]
    if several:
        return f"several variables are called {name}; say which by its line: {' or '.join(several)}"
    if name in [str(variable.name) for variable in (*program.bindings, *program.workgroup)]:
        why = f"{name} is memory that threads share; `accesses` of the trace has all its values"
    elif name in [str(variable.name) for variable in _all_variables(program)]:
        why = f"{name} is a pointer; watch what it points to"
    else:
        why = f"{name!r} is no variable that a thread of {program.entry.name} has for itself"
    return f"{why}. The names are {', '.join(names)}" if names else f"{why}. It has none"


WHO = [
    ("step", np.int32),  # the number of the statement in the run; all that it does has the same one
    ("line", np.int32),
    ("workgroup", np.uint32, 3),
    ("invocation", np.int32),  # its local_invocation_index
]


def row_of(named: Named) -> np.dtype:
    """A row of `Trace.watched`: one invocation's value after one statement."""
    count = len([*kinds.leaves(named.type)])
    return np.dtype([*WHO, ("value", np.uint32, () if count == 1 else (count,))])  # the bits of each number


def numbers_of(named: Named, bits: np.ndarray) -> np.ndarray:
    """The values of a variable (n,) or (n, numbers) as numbers in float64 (n, numbers), which holds each exactly."""
    columns = bits.reshape(len(bits), -1).T
    leaves = [as_numbers(column, scalar) for column, (_, scalar) in zip(columns, kinds.leaves(named.type), strict=True)]
    return np.array(leaves, np.float64).T
