"""Dispatches that run one after another over the same buffers."""

from __future__ import annotations

from collections.abc import Container, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from wgsl.arithmetic.operators import DTYPES
from wgsl.kernel import Kernel
from wgsl.simulator.buffer_arguments import all_bindings, buffers_for, named
from wgsl.simulator.run import compiled, simulate
from wgsl.simulator.sizes import Sizes, subgroup_sizes
from wgsl.simulator.trace import Trace
from wgsl.types import kinds
from wgsl.types.program import Variable

Place = tuple[int, int]  # group and binding
UNWRITTEN = "unwritten output"  # a kind of finding


class Launch(NamedTuple):
    """A dispatch of one entry point."""

    entry_point: str
    workgroups: tuple[int, int, int]


class Launches:
    """The dispatches of a text, and the buffers that they share, by group and binding."""

    def __init__(self, kernel: Kernel, launches: Sequence[Launch], arguments: Mapping[str, str], seed: int) -> None:
        self._kernel = kernel
        self._launches = launches
        self._programs = [compiled(kernel, launch.entry_point) for launch in launches]
        self._made_for = all_bindings(self._programs)
        self.buffers = buffers_for(self._programs, arguments, seed)

    def place(self, name: str) -> Place:
        """Return the group and binding of a name on the command line. Raises ValueError where there is none."""
        variable = named(self._programs, name)
        return variable.group, variable.binding

    def run(self, outputs: Sequence[str] | None, settings: Mapping[str, Any]) -> list[Trace]:
        """Run them in order, each on what the ones before it have left. `settings` are those of `simulate`."""
        places = None if outputs is None else [self.place(name) for name in outputs]
        traces = []
        for launch, program in zip(self._launches, self._programs, strict=True):
            variables = {(variable.group, variable.binding): variable for variable in program.bindings}
            buffers = {str(variable.name): self._as(variable) for variable in variables.values()}
            wanted = None if places is None else [str(variables[place].name) for place in places]
            trace = simulate(
                self._kernel, buffers, launch.workgroups, entry_point=launch.entry_point, outputs=wanted, **settings
            )
            for place, variable in variables.items():
                kept = self.buffers[place]
                self.buffers[place] = trace.buffers[variable.name].view(kept.dtype).reshape(kept.shape)
            traces.append(trace)
        return self._without_early_gaps(traces, places is not None)

    def run_sizes(self, sizes: Sequence[int], outputs: Sequence[str] | None, settings: Mapping[str, Any]) -> Sizes:
        """Run the only dispatch with subgroups of several sizes, each on the same buffers."""
        if len(self._launches) > 1:
            raise ValueError(f"--subgroup-sizes is for one dispatch, and these are {len(self._launches)}")
        (launch,) = self._launches
        (program,) = self._programs
        buffers = {str(variable.name): self._as(variable) for variable in program.bindings}
        wanted = None if outputs is None else [self.place(name) for name in outputs]
        options = {**settings, "entry_point": launch.entry_point, "outputs": wanted}
        return subgroup_sizes(self._kernel, buffers, launch.workgroups, sizes=sizes, **options)

    def _as(self, variable: Variable) -> np.ndarray:
        """Return the buffer of a binding, as numbers of its own type where another variable shares the place."""
        place = variable.group, variable.binding
        array = self.buffers[place]
        scalars = {scalar.name for _, scalar in kinds.leaves(variable.type)}
        if variable is self._made_for[place]:
            return array
        return array.view(DTYPES[scalars.pop()] if len(scalars) == 1 else np.uint32)

    def _without_early_gaps(self, traces: Sequence[Trace], wanted: bool) -> list[Trace]:
        """Return the traces, where an output is unwritten only if each dispatch that could write it leaves a gap.

        The last one of these says so. Outputs that are `wanted` by name are those of all dispatches.
        """
        gaps = [{finding.variable for finding in trace.findings if finding.kind == UNWRITTEN} for trace in traces]
        names = [{variable.name for variable in program.written} for program in self._programs]
        filled: set[str | None] = set()
        later: set[str | None] = set()
        made = []
        for own, written in zip(gaps, names, strict=True):
            filled |= (written | (set().union(*gaps) if wanted else set())) - own
        for trace, own in zip(reversed(traces), reversed(gaps), strict=True):
            made.append(_without(trace, filled | later))
            later |= own
        return made[::-1]


def _without(trace: Trace, names: Container[str | None]) -> Trace:
    """Return a trace in which these outputs are not unwritten."""
    kept = (one for one in trace.findings if one.kind != UNWRITTEN or one.variable not in names)
    return replace(trace, findings=tuple(kept))
