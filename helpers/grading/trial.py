"""Runs of a learner's kernel in which no mistake goes unnoticed, whatever the driver does about it."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from math import prod

import numpy as np

from helpers import gpu
from helpers.gpu.passes import pipeline
from helpers.grading.bounds import bounded, guarded
from helpers.grading.loops import Counted, counted
from helpers.wgsl import Kernel, WgslError

TRAP = np.float32(-99999.5)  # in the output and behind it before the second run; not a right answer


@cache
def _copy(kernel: Kernel, arrays: tuple[str, ...]) -> Counted:
    """The copy that is run. Where a variable of the kernel has an array's name, its indices stay unbounded."""
    copy = counted(bounded(kernel, arrays))
    try:
        pipeline(copy.kernel, "main")
    except WgslError:
        return counted(kernel)
    return copy


@dataclass
class Trial:
    """A kernel, with counted loops and bounded indices, on one case.

    The bindings are `inputs`, the output of this shape (`arrays` names all of these) and the parameters, if there are
    any, in this order. Advice names what the `official` kernel has: a loop, a barrier.
    """

    kernel: Kernel
    arrays: tuple[str, ...]
    inputs: Sequence[np.ndarray]
    shape: tuple[int, ...]
    params: Sequence[int]
    workgroups: tuple[int, int, int]
    official: Kernel

    def _run(self, before: float, guards: Sequence[float]) -> tuple[np.ndarray, int | None, int | None]:
        """The output with its guards, and the lines of an endless loop and of a barrier that some threads miss.

        `before` is in the output at the start; `guards` are behind the inputs.
        """
        copy = _copy(self.kernel, self.arrays)
        tensors = [gpu.upload(guarded(*pair), "input") for pair in zip(self.inputs, guards, strict=True)]
        traps = guarded(np.full(self.shape, before), before)
        output, counts = gpu.upload(traps, "output"), gpu.empty(copy.nbytes, "counts")
        sizes = [gpu.uniform(tuple(self.params))] if self.params else []
        gpu.run(gpu.Pass(copy.kernel, (*tensors, output, *sizes, counts), self.workgroups))
        seen = gpu.read(counts, (copy.nbytes // 4,), np.uint32)
        missed = copy.missed_barrier(seen, self.kernel.threads("main"))
        return gpu.read(output, traps.shape), copy.endless_line(seen), missed

    @cached_property
    def _first(self) -> tuple[np.ndarray, int | None, int | None]:
        """As on most GPUs: zeros lie behind the inputs and in the output."""
        return self._run(0.0, [0.0] * len(self.inputs))

    @cached_property
    def _trapped(self) -> np.ndarray:
        """The flat output, with its guards, of a run with NaN behind the inputs and `TRAP` in the output."""
        return self._run(TRAP, [np.nan] * len(self.inputs))[0]

    @property
    def output(self) -> np.ndarray:
        """What the kernel makes of the case on most GPUs."""
        return self._first[0][: prod(self.shape)].reshape(self.shape)

    @property
    def endless(self) -> int | None:
        """The line of a loop that seems endless, or None. If there is one, the output means nothing."""
        return self._first[1]

    @property
    def missed_barrier(self) -> str:
        """That some threads of a workgroup do not reach a barrier where the others wait for them, or nothing."""
        if not (line := self._first[2]):
            return ""
        cure = "take it out of the `if`, and let no thread return above it"
        return f"only some threads of a workgroup reach the workgroupBarrier() in line {line}; {cure}"

    @cached_property
    def unwritten(self) -> np.ndarray:
        """Where no thread wrote, in the output's shape."""
        return (self._trapped[: prod(self.shape)] == TRAP).reshape(self.shape)

    @cached_property
    def out_of_range(self) -> str:
        """What the kernel does past the end of an array, or nothing."""
        inputs = range(len(self.inputs))
        if self._spoiled(self._trapped):
            alone = [[np.nan if i == j else 0.0 for j in inputs] for i in inputs]
            read = [self.arrays[i] for i in inputs if self._spoiled(self._run(TRAP, alone[i])[0])]
            limits = "loop limits" if re.search(r"\b(for|while|loop)\b", self.official.code) else "guard"
            return f"it reads outside of {' and '.join(read)}; check the {limits} and the offsets"
        if (self._trapped[prod(self.shape) :] != TRAP).any():
            cure = "return where there is no such element"
            if "Barrier" in self.official.code:
                cure = "write only where there is such an element, with no `return` above a barrier"
            return f"a thread without an element writes past the end of {self.arrays[-1]}; {cure}"
        return ""

    def _spoiled(self, trapped: np.ndarray) -> bool:
        """Whether NaN from behind an input reached the output."""
        return bool((np.isnan(trapped[: prod(self.shape)]) & ~np.isnan(self.output.ravel())).any())

    @cached_property
    def luck(self) -> str:
        """What may give wrong numbers on another GPU, or nothing."""
        first, second = self.output.ravel(), self._trapped[: prod(self.shape)]
        if self.missed_barrier or self.out_of_range:
            return self.missed_barrier or self.out_of_range
        if np.allclose(second - TRAP, first, atol=0.1) and not self.unwritten.all():
            return "it adds to what was in the output before, which is 0 only in a new buffer; write =, not +="
        if self.unwritten.any():
            return "some numbers are never written, and are 0 only in a new buffer; write every number"
        if not np.array_equal(first, second, equal_nan=True):
            return "two runs give different numbers; do two threads write the same one, or is a barrier missing?"
        return ""
