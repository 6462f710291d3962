"""The amount of work of a run, counted in the same way on every machine, however busy it is."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil

from wgsl.facts import WorkUsedUp
from wgsl.simulator.lanes import Lanes
from wgsl.syntax.tree import children
from wgsl.types import kinds
from wgsl.types import program as ir
from wgsl.types.subgroups import SubgroupCall
from wgsl.types.usage import nodes
from wgsl.words.findings import stopped_after

OVERHEAD = 1_000  # an array operation takes this many times as long as one of its elements takes: together about 5 us
ACCESS, ATOMIC = 16, 128  # operations of one that is watched for races, and of one in which threads take turns
CLEARED = 8  # words of a variable that are set to 0 in the time of one operation
MOST_WORK = 2**38  # of a run: elements; less than half an hour


@dataclass
class Work:
    """The work that is left to all runs that share it: elements of array operations, with their overhead."""

    left: int = MOST_WORK

    def spend(self, operations: int, lanes: Lanes) -> bool:
        """Take the work of a statement of this many array operations; False where that uses up what is left."""
        self.left -= operations * (OVERHEAD + lanes.count)
        return self.left >= 0


def too_large(reason: str) -> ValueError:
    """Return the error of a problem that is too large for the simulator; its `reason` is without the advice."""
    error = ValueError(f"{reason}. Simulate a smaller problem")
    error.reason = reason
    return error


class TooLong(ValueError):
    """A run has used up its work at a place of the text."""

    def __init__(self, at: int, statements: int, threads: int) -> None:
        super().__init__(at, statements, threads)
        self.at = at
        self.facts = WorkUsedUp(statements, threads)

    def __str__(self) -> str:
        return f"this run is too long to be simulated: {stopped_after(self.facts)}; simulate a smaller problem"


def operations_of(statement: ir.Statement) -> int:
    """Return the number of array operations that a statement takes, without the statements in it."""
    declared = int(kinds.words(statement.variable.type) // CLEARED) if isinstance(statement, ir.Declare) else 0
    return 1 + declared + sum(map(_weight, nodes(tuple(children(statement, ir.Part)))))


def _weight(part: ir.Part) -> int:
    """The operations of one part of an expression, without the parts in it."""
    match part:
        case ir.AtomicCall():
            return ATOMIC
        case SubgroupCall():
            return ACCESS
        case ir.Root(variable=variable):
            return ACCESS if variable.space in ("storage", "workgroup") else 1
        case ir.Element() | ir.Member() | ir.Deref():
            return 1
    return 1 if part.type is None else ceil(kinds.words(part.type))
