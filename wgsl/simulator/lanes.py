"""The invocations of a dispatch, numbered, and the sets of them that take part in a statement."""

from __future__ import annotations

from functools import cached_property
from math import prod

import numpy as np

from wgsl.types.subgroups import INPUTS as SUBGROUP_INPUTS

WARP = 32  # neighbors that a GPU runs together (NVIDIA's warp, AMD's wavefront has 32 or 64)


class Lanes:
    """Some invocations, by their numbers in rising order."""

    def __init__(self, dispatch: Dispatch, index: np.ndarray) -> None:
        self.dispatch = dispatch
        self.index = index
        self.count = len(index)
        self.whole = self.count == dispatch.lanes

    def where(self, condition: np.ndarray) -> Lanes:
        """Those of these invocations for which a condition, one for each or one for all, is true."""
        if condition.ndim == 0:
            return self if condition else self.dispatch.none
        chosen = self.index[condition]
        return self if len(chosen) == self.count else Lanes(self.dispatch, chosen)

    def take(self, array: np.ndarray) -> np.ndarray:
        """The elements of an array with one for each invocation of the dispatch; one for all stays as it is."""
        return array if self.whole or array.ndim == 0 else array[self.index]

    def expanded(self, values: np.ndarray) -> np.ndarray:
        """Values, one for each of these invocations, where there may be one for all."""
        return values if values.ndim else np.full(self.count, values)

    def spread(self, values: np.ndarray) -> np.ndarray:
        """An array with one element for each invocation of the dispatch, of which these have the values."""
        if self.whole or values.ndim == 0:
            return values
        array = np.zeros(self.dispatch.lanes, values.dtype)
        array[self.index] = values
        return array

    @cached_property
    def first(self) -> Lanes | None:
        """Those of the first workgroup, where each of several workgroups has the same invocations in this set."""
        groups = self.dispatch.group_count
        each, rest = divmod(self.count, groups)
        if groups == 1 or rest or not each:
            return None
        if not self.whole:
            rows = self.index.reshape(groups, each)
            begins = np.arange(groups)[:, None] * self.dispatch.threads
            if not np.array_equal(rows, rows[0] + begins):
                return None
        return Lanes(self.dispatch, self.index[:each])

    @cached_property
    def groups(self) -> np.ndarray:
        """The number of each invocation's workgroup."""
        return self.take(self.dispatch.groups)

    @cached_property
    def warps(self) -> np.ndarray:
        """The number of each invocation's warp of 32 neighbors."""
        return self.take(self.dispatch.warps)

    @cached_property
    def warp_numbers(self) -> np.ndarray:
        """The warps of which at least one invocation is among these."""
        return np.unique(self.warps)

    @cached_property
    def warp_threads(self) -> int:
        """The number of invocations in those warps, those outside of this set included."""
        return int(self.dispatch.warp_sizes[self.warp_numbers].sum())


def joined(whole: Lanes, *parts: Lanes) -> Lanes:
    """The union of sets without a common member, all within `whole`."""
    parts = [part for part in parts if part.count]
    if sum(part.count for part in parts) == whole.count:
        return whole
    if len(parts) < 2:
        return parts[0] if parts else whole.dispatch.none
    return Lanes(whole.dispatch, np.sort(np.concatenate([part.index for part in parts])))


def axes(numbers: np.ndarray | int, sizes: tuple[int, int, int]) -> tuple:
    """The x, y and z of invocations or workgroups, which are numbered x fastest."""
    x, y, _ = sizes
    return numbers % x, numbers // x % y, numbers // (x * y)


class Dispatch:
    """All invocations of some workgroups: workgroup by workgroup, x fastest, and inside each one by local index.

    `part` are the numbers of those that run here, where it is not all of them.
    """

    def __init__(
        self, workgroups: tuple[int, int, int], size: tuple[int, int, int], part: range | None = None,
        subgroup_size: int = WARP,
    ) -> None:  # fmt: skip
        self.workgroups = workgroups
        self.size = size
        self._part = range(prod(workgroups)) if part is None else part
        self.threads = prod(size)
        self.subgroup_size = subgroup_size
        self.subgroups_per_group = -(-self.threads // subgroup_size)
        self.group_count = len(self._part)
        self.lanes = self.threads * self.group_count
        numbers = np.arange(self.lanes)
        self.groups, self.local_index = np.divmod(numbers, self.threads)
        per_group = -(-self.threads // WARP)
        self.warps = self.groups * per_group + self.local_index // WARP
        self.warp_sizes = np.bincount(self.warps)
        self.all = Lanes(self, numbers)
        self.none = Lanes(self, numbers[:0])

    def built_in(self, name: str) -> tuple[np.ndarray, ...]:
        """The components of a built-in value, one element for each invocation or one for all; u32."""
        if name == "num_workgroups":
            return tuple(np.array(size, np.uint32) for size in self.workgroups)
        if name == "local_invocation_index":
            return (self.local_index.astype(np.uint32),)
        if name in SUBGROUP_INPUTS:
            return (np.array(self._of_subgroup(name), np.uint32),)
        group = axes((self.groups + self._part.start).astype(np.uint32), self.workgroups)
        local = axes(self.local_index.astype(np.uint32), self.size)
        if name == "global_invocation_id":
            return tuple(g * np.uint32(s) + i for g, s, i in zip(group, self.size, local, strict=True))
        return {"workgroup_id": group, "local_invocation_id": local}[name]

    def _of_subgroup(self, name: str) -> int | np.ndarray:
        """A built-in value of subgroups, which follow one another in the order of the local index."""
        return {
            "subgroup_size": self.subgroup_size,
            "num_subgroups": self.subgroups_per_group,
            "subgroup_id": self.local_index // self.subgroup_size,
            "subgroup_invocation_id": self.local_index % self.subgroup_size,
        }[name]

    def named(self, lane: int) -> tuple[tuple[int, int, int], int]:
        """An invocation as (workgroup_id, local_invocation_index)."""
        return axes(int(self.groups[lane]) + self._part.start, self.workgroups), int(self.local_index[lane])
