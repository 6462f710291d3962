"""A quick run of a program on a case: for its numbers alone, and nothing is watched."""

from collections.abc import Mapping, Sequence

import numpy as np

from helpers.grading.puzzle import Case
from helpers.grading.test_run import iterations
from wgsl.simulator.run import execute
from wgsl.simulator.work import Work
from wgsl.types.program import Program


def words_of(case: Case) -> list[np.ndarray]:
    """Return what is in the buffers of a case before it is run."""
    start = [*case.start] or [np.zeros(shape, np.float32) for shape in (case.expected.shape, *case.scratch)]
    params = [np.array(case.params, np.uint32)] if case.params else []
    return [np.ascontiguousarray(array).ravel().view(np.uint32) for array in (*case.inputs, *start, *params)]


def executed(programs: Mapping[str, Program], case: Case, words: Sequence[np.ndarray], work: Work) -> np.ndarray:
    """Return the output of programs in a case. Raises ValueError where a loop does not end, or the work is used up."""
    buffers = [array.copy() for array in words]
    for dispatch in case.dispatches:
        execute(programs[dispatch.entry_point], buffers, dispatch.workgroups, iterations(case), work)
    output = buffers[len(case.inputs)]
    kind = case.start[0].dtype if case.start else np.float32
    return output.view(kind).reshape(case.expected.shape)
