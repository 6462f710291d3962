"""The costs of a choice of tile sizes, and the limits to expect of a matrix product with these tiles."""

from dataclasses import dataclass
from math import ceil

from helpers.bench.gpu_limits import H200
from wgsl import limit_passed

OTHER_REGISTERS = 20  # for addresses and indices: about what compilers need in these kernels
WARP = 32  # threads of a workgroup that run together
MOST_REGISTERS = 255  # of one thread; what does not fit goes to memory


@dataclass(frozen=True)
class TileSizes:
    """Tiles of a product (M, K) @ (K, N): each workgroup computes `rows` x `columns` results, `depth` of K a turn.

    Each thread computes `side` x `side` of the results.
    """

    rows: int
    columns: int
    depth: int
    side: int

    @property
    def threads(self) -> int:
        """Threads of a workgroup."""
        return self.rows * self.columns // self.side**2

    @property
    def workgroup_bytes(self) -> int:
        """Bytes of workgroup memory for one tile of each operand, without pads."""
        return 4 * self.loads_a_turn

    @property
    def loads_a_turn(self) -> int:
        """Numbers that a workgroup loads from storage memory in each turn."""
        return self.depth * (self.rows + self.columns)

    @property
    def multiply_adds_a_turn(self) -> int:
        """Multiply-adds of a workgroup in each turn."""
        return self.rows * self.columns * self.depth

    @property
    def reads_a_turn(self) -> int:
        """Numbers that the threads of a workgroup read from workgroup memory in each turn."""
        return self.threads * self.depth * 2 * self.side

    @property
    def registers(self) -> int:
        """Registers of a thread, about: its sums, one row and one column of factors, what it fetches, and others."""
        fetched = ceil(self.loads_a_turn / self.threads)
        return self.side**2 + 2 * self.side + fetched + OTHER_REGISTERS

    @property
    def resident(self) -> int:
        """Threads that an H200's multiprocessor holds at a time, whole workgroups, as far as its registers allow."""
        fitting = min(H200.threads, H200.registers // self.registers)
        return fitting // self.threads * self.threads

    @property
    def intensity(self) -> float:
        """Multiply-adds for each byte from storage memory."""
        return self.multiply_adds_a_turn / (4 * self.loads_a_turn)

    @property
    def per_read(self) -> float:
        """Multiply-adds for each number read from workgroup memory."""
        return self.multiply_adds_a_turn / self.reads_a_turn

    @property
    def problem(self) -> str | None:
        """The limit that these tiles pass, or None."""
        passed = limit_passed((self.threads, 1, 1), self.workgroup_bytes)
        if not passed and self.registers > MOST_REGISTERS:
            return f"{self.registers} registers in a thread: the limit is {MOST_REGISTERS}"
        return passed

    def workgroups(self, m: int, n: int) -> int:
        """Workgroups of a product with M x N results."""
        return ceil(m / self.rows) * ceil(n / self.columns)

    def limits(self, m: int, n: int) -> dict[str, float]:
        """The share of an H200's arithmetic that each of its parts allows, by the part's name.

        Each thread is taken to read workgroup memory for itself, and no number to come from a cache: both can only
        make a kernel faster than this.
        """
        machine = H200
        groups = self.workgroups(m, n)
        rounds = ceil(groups / machine.multiprocessors)
        return {
            "arithmetic": self.threads / (ceil(self.threads / WARP) * WARP),
            "workgroup memory": min(1.0, self.per_read / 4 * machine.workgroup_bytes / machine.lanes),
            "memory": min(1.0, self.intensity * machine.memory_bytes / machine.lanes),
            "workgroups": groups / (rounds * machine.multiprocessors),
        }
