"""A launch in short form, without a GPU: what a learner writes at the end of lesson 00.

It knows one kernel, which computes c[i] = a[i] * b[i] + d[i] in workgroups of 4 threads, with a guard. What
`gpu.launch` refuses it refuses, too, by a ValueError whose sentence the learner reads; and threads without work.
"""

from dataclasses import dataclass

from helpers.grading.words.values import as_typed
from helpers.lessons.meet_the_gpu.indices import workgroups_for

THREADS = 4  # of a workgroup
MOST = 1000  # elements of an array
BINDINGS = "a", "b", "d", "c", "sizes"


class Code:
    """The text of the kernel."""

    def __str__(self) -> str:
        return "kernel"


@dataclass(frozen=True)
class Array:
    """An array of float32 numbers."""

    numbers: tuple[float, ...]

    def __str__(self) -> str:
        count = len(self.numbers)
        return "1 float" if count == 1 else f"{count} floats"


def _require(holds: bool, sentence: str) -> None:
    if not holds:
        raise ValueError(sentence)


def zeros(n: int) -> Array:
    """An array of zeros."""
    is_size = type(n) is int and 1 <= n <= MOST
    _require(is_size, f"`n` must be a whole number from 1 to {MOST:,}, and this is {as_typed(n)}")
    return Array((0,) * n)


def launch(kernel: Code, arrays: tuple, workgroups: int) -> tuple:
    """The numbers of c after the launch."""
    _require(isinstance(kernel, Code), f"`kernel` must be the kernel's text, and this is {as_typed(kernel)}")
    rule = f"it must be a list with one for each of {len(BINDINGS)} bindings, {', '.join(BINDINGS)}"
    _require(isinstance(arrays, tuple), f"`arrays` is {as_typed(arrays)}: {rule}")
    _require(len(arrays) == len(BINDINGS), f"`arrays` has {len(arrays)} entries: {rule}")
    *buffers, sizes = arrays
    for name, buffer in zip(BINDINGS, buffers, strict=False):
        _require(isinstance(buffer, Array), f"`{name}` must be an array, and this is {as_typed(buffer)}")
    is_uniform = isinstance(sizes, tuple) and len(sizes) == 1 and type(sizes[0]) is int
    _require(is_uniform, f"`sizes` takes a tuple of one u32, such as (7,), and this is {as_typed(sizes)}")
    is_count = type(workgroups) is int and workgroups >= 1
    _require(is_count, f"`workgroups` must be a whole number from 1 on, and this is {as_typed(workgroups)}")
    return _run([buffer.numbers for buffer in buffers], sizes[0], workgroups)


def _run(buffers: list[tuple[float, ...]], n: int, workgroups: int) -> tuple:
    """The numbers of c after the launch. Raises ValueError where threads read past the end, or have nothing to do."""
    a, b, d, c = buffers
    threads = workgroups * THREADS
    elements = min(map(len, (a, b, d)))
    many = f"{workgroups} workgroups have {threads} threads, for {elements} elements"
    needed = workgroups_for(elements, THREADS)
    _require(workgroups <= needed, f"{many}: fewer workgroups of {THREADS} threads are enough")
    working = min(n, threads)
    past = f"`sizes.n` is {n}, so thread {elements} does not return, and there are {elements} elements"
    _require(working <= elements, past)
    computed = [x * y + z for x, y, z in zip(a, b, d, strict=False)]
    written = min(working, len(c))
    return (*computed[:written], *c[written:])
