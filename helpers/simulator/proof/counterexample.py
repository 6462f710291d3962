"""Small sizes at which the simulator sees an index out of range: a counterexample that has really been run."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from time import monotonic

import numpy as np

from helpers.simulator import launch
from helpers.simulator.arithmetic.conversions import DTYPES
from helpers.simulator.findings.collector import Finding
from helpers.simulator.proof.assumptions import Assumptions
from helpers.simulator.proof.polynomial import Polynomial
from helpers.simulator.run import simulate
from helpers.simulator.types import kinds
from helpers.simulator.types.kinds import U32, Struct
from helpers.simulator.types.program import Program, Variable
from helpers.wgsl import Kernel

LARGEST, DRAWS, TRIES, STEPS = 4, 20_000, 60, 4096
MOST_ELEMENTS = 2**16  # of a buffer


@dataclass(frozen=True)
class Counterexample:
    """The sizes and the dispatch of a run, and what was found in it."""

    sizes: Mapping[str, int]
    workgroups: tuple[int, int, int]
    finding: Finding


def counterexamples(
    kernel: Kernel, program: Program, entry_point: str, constants: Mapping[str, float], assumed: Assumptions,
    lines: set[int], seconds: float,
) -> dict[int, Counterexample]:  # fmt: skip
    """For each of the lines, if one is found, a run in which an index on it is out of range."""
    found: dict[int, Counterexample] = {}
    random, until, tries = np.random.default_rng(0), monotonic() + seconds, 0
    for _ in range(DRAWS):
        if not lines - set(found) or monotonic() > until or tries >= TRIES:
            break
        sizes = _sizes(program, assumed, random)
        if sizes is None:
            continue
        tries += 1
        buffers = [_buffer(variable, sizes) for variable in program.bindings]
        groups = tuple(sizes[f"num_workgroups.{axis}"] for axis in "xyz")
        trace = simulate(
            kernel, buffers, groups, entry_point=entry_point, constants=constants, outputs=(), max_steps=STEPS
        )
        for finding in trace.findings:
            if finding.kind.startswith("out-of-range"):
                found.setdefault(finding.line, Counterexample(sizes, groups, finding))
    return found


def _sizes(program: Program, assumed: Assumptions, random: np.random.Generator) -> dict[str, int] | None:
    """Random small sizes, if they fulfil the assumptions."""
    names = {name for each in (*assumed.facts, *assumed.known.values()) for name in each.names}
    names |= {f"num_workgroups.{axis}" for axis in "xyz"} | set(_names(program)) - set(assumed.known)
    inputs = {each.split(".")[0] for each in names if each.startswith(("local_", "workgroup_"))}
    sizes = {n: int(random.integers(0, LARGEST, endpoint=True)) for n in sorted(names) if n.split(".")[0] not in inputs}
    for axis, most in zip("xyz", (2, 1, 1), strict=True):
        sizes[f"num_workgroups.{axis}"] = int(random.integers(1, most, endpoint=True))
    for name, value in assumed.known.items():
        sizes[name] = _number(value, sizes)
    checked = [each for each in assumed.facts if each.names <= set(sizes)]
    lengths = [size for name, size in sizes.items() if name.startswith("length")]
    fits = all(_number(each, sizes) >= 0 for each in checked) and all(1 <= each <= MOST_ELEMENTS for each in lengths)
    return sizes if fits and all(0 <= each < 2**32 for each in sizes.values()) else None


def _number(value: Polynomial, sizes: Mapping[str, int]) -> int:
    return sum(number * int(np.prod([sizes[name] for name in names], dtype=object)) for names, number in value.terms)


def _names(program: Program) -> list[str]:
    names = [f"length of {each.name}" for each in program.bindings if each.space == "storage"]
    structs = [each.type for each in program.bindings if each.space == "uniform" and isinstance(each.type, Struct)]
    return names + [field.name for struct in structs for field in struct.fields if field.type == U32]


def _buffer(variable: Variable, sizes: Mapping[str, int]) -> np.ndarray:
    least, step = launch.size_of(variable.type)
    scalars = {scalar.name for _, scalar in kinds.leaves(variable.type)}
    dtype = DTYPES[scalars.pop()] if len(scalars) == 1 else np.uint32
    if variable.space == "uniform" and isinstance(variable.type, Struct):
        words = np.zeros(least, np.uint32)
        for each in variable.type.fields:
            words[each.offset] = sizes.get(each.name, 0)
        return words.view(dtype)
    length = sizes.get(f"length of {variable.name}", 1)
    return np.ones(least + step * (length - 1) if step else least, dtype)
