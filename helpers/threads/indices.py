"""Which thread is which, and which element it owns: the arithmetic of a dispatch, in plain Python, without a GPU.

The tests prove these numbers equal to the built-in values that a kernel receives.
"""

from dataclasses import dataclass
from math import ceil, prod

Triple = tuple[int, int, int]  # x, y, z


@dataclass(frozen=True)
class Dispatch:
    """Workgroups and threads, both in x and y, over an array with one element for each thread."""

    workgroups: tuple[int, int]
    size: tuple[int, int]  # threads of one workgroup
    rows: int
    columns: int

    @property
    def grid(self) -> tuple[int, int]:
        """How many threads there are in x and in y."""
        return self.workgroups[0] * self.size[0], self.workgroups[1] * self.size[1]

    @property
    def in_a_row(self) -> bool:
        """Whether there is only one row of threads, and one of elements."""
        return self.grid[1] == self.rows == 1

    @property
    def idle(self) -> int:
        """How many threads own no element: the tail."""
        return prod(self.grid) - self.elements + self.ownerless

    @property
    def ownerless(self) -> int:
        """How many elements no thread owns."""
        return self.elements - min(self.grid[0], self.columns) * min(self.grid[1], self.rows)

    @property
    def elements(self) -> int:
        """How many elements the array has."""
        return self.rows * self.columns

    def ids(self, x: int, y: int) -> "Ids":
        """The five built-in values of the thread whose global_invocation_id is (x, y, 0).

        Raises ValueError where there is no such thread.
        """
        if not (0 <= x < self.grid[0] and 0 <= y < self.grid[1]):
            raise ValueError(f"x, y = {x}, {y}: the dispatch has {self.grid[0]} by {self.grid[1]} threads")
        (group_x, local_x), (group_y, local_y) = divmod(x, self.size[0]), divmod(y, self.size[1])
        index = local_y * self.size[0] + local_x
        return Ids((x, y, 0), (local_x, local_y, 0), index, (group_x, group_y, 0), (*self.workgroups, 1))

    def owned(self, x: int, y: int) -> tuple[int, int] | None:
        """Row and column of the element that a thread owns: x counts columns, y rows. None in the tail."""
        return (y, x) if y < self.rows and x < self.columns else None

    def offset(self, row: int, column: int) -> int:
        """Where an element lies in the flat array."""
        return row * self.columns + column


@dataclass(frozen=True)
class Ids:
    """The built-in values of one thread, under WGSL's names."""

    global_invocation_id: Triple
    local_invocation_id: Triple
    local_invocation_index: int
    workgroup_id: Triple
    num_workgroups: Triple


def workgroups_for(elements: int, threads: int) -> int:
    """The fewest workgroups of this many threads that give each element a thread."""
    return ceil(elements / threads)
