"""The limits of a GPU, as its maker states them: the roofs under which a kernel's speed lies."""

from typing import NamedTuple


class Machine(NamedTuple):
    """The limits of one GPU.

    `clock` is in GHz and `bandwidth`, that of its memory, in GB/s. The other numbers are those of one multiprocessor:
    `lanes` multiply-adds and `workgroup_bytes` of workgroup memory in each clock, `registers` of four bytes and at
    most `threads` at a time.
    """

    name: str
    multiprocessors: int
    clock: float
    bandwidth: float
    lanes: int = 128
    workgroup_bytes: int = 128
    registers: int = 65_536
    threads: int = 2_048

    @property
    def tflops(self) -> float:
        """Additions and multiplications in float32 per second, in millions of millions."""
        return 2 * self.multiprocessors * self.lanes * self.clock / 1e3

    @property
    def ridge(self) -> float:
        """Operations per byte from which on the memory no longer limits a kernel: the corner of the roofline."""
        return self.tflops * 1e3 / self.bandwidth

    @property
    def memory_bytes(self) -> float:
        """Bytes that the memory gives each multiprocessor in one clock, if all of them ask."""
        return self.bandwidth / self.multiprocessors / self.clock


# NVIDIA H200 Tensor Core GPU datasheet (2024): 67 TFLOP/s in float32 and 4.8 TB/s; CUDA C++ Programming Guide,
# compute capability 9.0: registers, threads, and 32 banks of four bytes.
H200 = Machine("NVIDIA H200", multiprocessors=132, clock=1.98, bandwidth=4_800)
MACHINES = {H200.name: H200}
