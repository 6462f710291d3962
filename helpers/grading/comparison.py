"""The reason of a right verdict: the work of a kernel, beside the official one's."""

from dataclasses import dataclass

from helpers.grading.reasons import Reason
from wgsl.facts import SettledComparisons


@dataclass(frozen=True)
class Accesses:
    """Loads and stores of all threads together, and the barriers of one workgroup, which may be one of several.

    `workgroup` are the loads and stores of workgroup memory, where there are any.
    """

    loads: float
    stores: float
    workgroup: tuple[float, float] | None
    barriers: float
    in_each_workgroup: bool

    @property
    def kinds(self) -> tuple[object, ...]:
        """The counts that are compared with another kernel's, one by one."""
        return self.loads, self.stores, self.workgroup, (self.barriers, self.in_each_workgroup)


@dataclass(frozen=True)
class TurnTooMany:
    """A loop over tiles that makes a turn too many, which adds only zeros."""


@dataclass(frozen=True)
class NotTried:
    """The larger drawn problems were not tried: on others, a kernel does this many times the official one's work."""

    times: int


@dataclass(frozen=True)
class OnlySimulated:
    """A text with subgroups was not run on this adapter, which has none."""

    adapter: str


Remark = SettledComparisons | TurnTooMany | NotTried | OnlySimulated


@dataclass(frozen=True)
class Compared(Reason):
    """The work of a right kernel, beside the official one's, with remarks: what is done for nothing, or not tried."""

    accesses: Accesses
    ours: Accesses
    remarks: tuple[Remark, ...] = ()

    @property
    def as_ours(self) -> bool:
        """True where nothing differs of what the official kernel does."""
        pairs = zip(self.accesses.kinds, self.ours.kinds, strict=True)
        return all(official is None or count == official for count, official in pairs)
