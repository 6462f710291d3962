"""The ids of threads and the elements that they own, without a GPU; and two threads that swap their numbers.

The tests prove these numbers equal to what a kernel receives, and computes.
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
        """The number of threads in x and in y."""
        return self.workgroups[0] * self.size[0], self.workgroups[1] * self.size[1]

    @property
    def in_a_row(self) -> bool:
        """True where there is only one row of threads, and one of elements."""
        return self.grid[1] == self.rows == 1

    @property
    def idle(self) -> int:
        """The number of threads that own no element: the tail."""
        return prod(self.grid) - self.elements + self.ownerless

    @property
    def ownerless(self) -> int:
        """The number of elements that no thread owns."""
        return self.elements - min(self.grid[0], self.columns) * min(self.grid[1], self.rows)

    @property
    def elements(self) -> int:
        """The number of elements of the array."""
        return self.rows * self.columns

    def ids(self, x: int, y: int) -> "Ids":
        """The built-in values of the thread whose global_invocation_id is (x, y, 0).

        Raises ValueError where there is no such thread.
        """
        if not (0 <= x < self.grid[0] and 0 <= y < self.grid[1]):
            raise ValueError(f"x, y = {x}, {y}: the dispatch has {self.grid[0]} by {self.grid[1]} threads")
        group_x, local_x = divmod(x, self.size[0])
        group_y, local_y = divmod(y, self.size[1])
        index = local_y * self.size[0] + local_x
        return Ids((group_x, group_y, 0), (local_x, local_y, 0), index, (x, y, 0))

    def owned(self, x: int, y: int) -> tuple[int, int] | None:
        """Row and column of the element that a thread owns: x counts columns, y rows. None in the tail."""
        return (y, x) if y < self.rows and x < self.columns else None

    def offset(self, row: int, column: int) -> int:
        """The offset of an element in the flat array."""
        return row * self.columns + column


@dataclass(frozen=True)
class Ids:
    """The built-in values of one thread, under WGSL's names."""

    workgroup_id: Triple
    local_invocation_id: Triple
    local_invocation_index: int
    global_invocation_id: Triple


def workgroups_for(elements: int, threads: int) -> int:
    """The fewest workgroups of this many threads that give each element a thread."""
    return ceil(elements / threads)


def swap(order: tuple[int, ...], numbers: tuple[int, int]) -> tuple[list[int], list[int | None]]:
    """The numbers of two threads after some turns, and what is in their box, where None is a slot that nobody filled.

    In its first turn a thread puts its number into its own slot; in its second it takes the other slot's, or 0.
    """
    numbers = [*numbers]
    box = [None, None]
    for thread in order:
        if box[thread] is None:
            box[thread] = numbers[thread]
        else:
            numbers[thread] = box[1 - thread] or 0
    return numbers, box
