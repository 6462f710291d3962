"""The buffers of a run, each at its binding: as a list, by group and binding, or by name."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from math import ceil

import numpy as np

from wgsl.simulator.memory import size_of
from wgsl.types.program import Program, Variable
from wgsl.types.usage import usage

Buffers = Sequence[np.ndarray] | Mapping[Hashable, np.ndarray]


def listed(variables: Sequence[Variable]) -> str:
    """Return bindings by number and name, with their groups where one is in another group than 0."""
    in_groups = any(variable.group for variable in variables)
    pairs = (((v.group, v.binding) if in_groups else v.binding, v.name) for v in variables)
    return ", ".join(f"{place} {name}" for place, name in pairs)


def at_key(variables: Sequence[Variable], key: object) -> Variable | None:
    """Return the binding of a name or of a (group, binding); None where there is none."""
    for variable in variables:
        if key == (variable.group, variable.binding) or (isinstance(key, str) and key == variable.name):
            return variable
    return None


def keyed(program: Program, buffers: Buffers) -> dict[Variable, Hashable]:
    """Return for each binding that has a buffer its key in `buffers`; of a list, its place.

    Raises ValueError where a buffer belongs to no binding, or a binding that the entry point uses has none.
    """
    if isinstance(buffers, Mapping):
        return _keys_of_mapping(program, buffers)
    if len(buffers) != len(program.bindings):
        names = f"{len(program.bindings)} bindings ({listed(program.bindings)})" if program.bindings else "no bindings"
        raise ValueError(f"buffers has {len(buffers)} arrays: the kernel has {names}")
    return {variable: i for i, variable in enumerate(program.bindings)}


def _keys_of_mapping(program: Program, buffers: Mapping[Hashable, np.ndarray]) -> dict[Variable, Hashable]:
    keys: dict[Variable, Hashable] = {}
    for key in buffers:
        variable = at_key(program.bindings, key)
        if variable is None:
            names = listed(program.bindings) or "none"
            raise ValueError(f"buffers[{key!r}] is not a binding of the kernel; these are {names}")
        if variable in keys:
            raise ValueError(f"buffers[{keys[variable]!r}] and buffers[{key!r}] are one binding: give it one array")
        keys[variable] = key
    used = usage(program.entry).variables
    missing = [variable for variable in program.bindings if variable in used and variable not in keys]
    if missing:
        raise ValueError(f"buffers has no array for {listed(missing)}, which {program.entry.name} uses")
    return keys


def unused(variable: Variable) -> np.ndarray:
    """Return the array of a binding that a mapping leaves out: nothing reads it."""
    return np.zeros(ceil(size_of(variable.type)[0]), np.uint32)
