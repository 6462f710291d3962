"""One test of a learner's kernel: simulated first, so that no mistake goes unnoticed, and then run on the adapter.

What a GPU does about a mistake is its driver's choice. Where an index is past an array, a read gives 0 or some other
element. Where threads race, the numbers may be right a thousand times. A loop that does not end may hang the GPU for
good. The simulator sees all of this, and in every test: so each loop of a kernel has been seen to end on the very
numbers with which the adapter runs it.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from helpers import gpu
from helpers.grading.puzzle import Case
from helpers.simulator.findings.collector import Finding
from helpers.simulator.findings.trace import Trace
from helpers.simulator.run import simulate
from helpers.wgsl import Kernel

GRAVEST_FIRST = (
    "endless loop",
    "non-uniform barrier",
    "data race",
    "overlapping writes",
    "index overflow",  # above the access past the end that it leads to
    "out-of-range write",
    "out-of-range read",
    "not-a-number",
    "unwritten output",
)
MOST_ROUNDS = 6_000  # ten times what an official kernel needs in any test


@dataclass(frozen=True, eq=False)
class Trial:
    """A kernel on one case, simulated; the output held zeros before."""

    case: Case
    trace: Trace

    @property
    def output(self) -> np.ndarray:
        """What the kernel makes of the case."""
        return self.trace.buffers[len(self.case.inputs)]

    @cached_property
    def unwritten(self) -> np.ndarray:
        """Where no thread wrote, in the output's shape."""
        unwritten = np.ones(self.output.size, bool)
        if "unwritten output" in self.kinds:
            seen = self.trace.accesses
            unwritten[seen["index"][seen["write"] & (seen["binding"] == len(self.case.inputs))]] = False
        else:
            unwritten[:] = False
        return unwritten.reshape(self.output.shape)

    @property
    def kinds(self) -> set[str]:
        """The kinds of what was found."""
        return {finding.kind for finding in self.trace.findings}

    @property
    def finding(self) -> Finding | None:
        """The gravest thing that was found, or None."""
        return min(self.trace.findings, key=lambda found: GRAVEST_FIRST.index(found.kind), default=None)

    @property
    def endless(self) -> bool:
        """Whether a loop did not end. If so, the output means nothing."""
        return "endless loop" in self.kinds


def simulated(kernel: Kernel, case: Case) -> Trial:
    """The kernel on a case, without a GPU.

    Raises WgslError where the simulator refuses the text, and UnsupportedWgsl where it cannot run it.
    """
    params = [np.array(case.params, np.uint32)] if case.params else []
    buffers = [*case.inputs, np.zeros(case.expected.shape, np.float32), *params]
    return Trial(case, simulate(kernel, buffers, case.workgroups, max_steps=rounds(case)))


def rounds(case: Case) -> int:
    """How many loop rounds a thread may make: enough to look at every input eight times, with 1,000 to spare."""
    return min(MOST_ROUNDS, 1_000 + 8 * sum(array.size for array in case.inputs))


def launched(kernel: Kernel, case: Case, before: float) -> np.ndarray:
    """What the adapter makes of a case; `before` is in the output at the start."""
    output = np.full(case.expected.shape, before, np.float32)
    params = [tuple(map(int, case.params))] if case.params else []
    return gpu.launch(kernel, [*case.inputs, output, *params], case.workgroups)
