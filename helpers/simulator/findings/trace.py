"""What a simulated run leaves behind."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from helpers.output import in_lines
from helpers.simulator.findings.collector import Finding
from helpers.simulator.findings.counts import Counts
from helpers.simulator.findings.log import Log, Step
from helpers.wgsl import Kernel


@dataclass(frozen=True, eq=False)
class Trace:
    """What a simulated run leaves behind.

    `buffers` are the arrays afterwards, in binding order; `findings` is empty for a right kernel. `dropped` says how
    many accesses came after those that `accesses` has; the findings and counts are about all of them.
    """

    kernel: Kernel
    entry_point: str
    workgroups: tuple[int, int, int]
    workgroup_size: tuple[int, int, int]
    buffers: tuple[np.ndarray, ...]
    findings: tuple[Finding, ...]
    counts: Counts
    log: Log

    @cached_property
    def accesses(self) -> np.ndarray:
        """Every load and store of storage and workgroup memory, in order: an array of `ACCESS`."""
        return self.log.accesses()

    @cached_property
    def steps(self) -> Sequence[Step]:
        """Every statement that was run, in order."""
        return self.log.steps()

    @property
    def variables(self) -> tuple[str, ...]:
        """The names of the variables that `accesses` counts."""
        return tuple(variable.name for variable in self.log.variables)

    @property
    def dropped(self) -> int:
        """How many accesses are not kept in `accesses`."""
        return self.log.dropped

    def __repr__(self) -> str:
        if not self.findings:
            return f"{self.kernel.name}: no finding"
        number = f"{len(self.findings)} finding{'s' * (len(self.findings) > 1)}"
        return "\n".join([f"{self.kernel.name}: {number}", *map(str, self.findings)])

    def _repr_pretty_(self, printer: object, cycle: bool) -> None:
        """What a notebook shows."""
        printer.text(in_lines(repr(self)))
