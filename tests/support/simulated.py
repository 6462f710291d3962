"""Operations run by the simulator: the same passes over the same buffers as on an adapter."""

import numpy as np
from support.problems import Tensors, operation_of

from helpers import simulate
from helpers.gpu.operation import Shape
from helpers.simulator.findings.trace import Trace
from helpers.wgsl import Kernel


def simulated(kernel: Kernel, shape: Shape, tensors: Tensors, **options) -> tuple[tuple[np.ndarray, ...], list[Trace]]:
    """The outputs of an operation, and the trace of each pass. What is not written stays NaN."""
    operation = operation_of(kernel)
    schedule = operation.versions[kernel.version](shape, kernel)
    buffers = {name: tensors.get(name, np.full(shape.of(name), np.nan, np.float32)) for name in operation.tensors}
    buffers |= {name: np.full(nbytes // 4, np.nan, np.float32) for name, nbytes in schedule.scratch.items()}
    params = np.array(operation.params(shape), np.uint32)
    traces = []
    for step in schedule.steps:
        trace = simulate(kernel, [*buffers.values(), params], step.workgroups, entry_point=step.entry_point, **options)
        buffers = dict(zip(buffers, trace.buffers, strict=False))
        traces.append(trace)
    return tuple(buffers[name].reshape(shape.of(name)) for name in operation.outputs), traces


def findings(traces: list[Trace]) -> list[str]:
    """All findings, as text."""
    return [f"{trace.entry_point}: {finding}" for trace in traces for finding in trace.findings]
