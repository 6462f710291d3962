"""The kernel that computes a step of a network: the reader's, the operation's choice, or the fastest in a long run."""

from collections.abc import Sequence

from helpers.gpu import Pass, adapter_info
from helpers.network.construction import Replacement
from helpers.network.layers import Step
from helpers.operations.operation import Operation, Shape
from wgsl import Kernel

# Training runs each kernel thousands of times: on a software adapter, too, versions pay that compile for seconds. A few
# images at a time are only looked at.
FEW_IMAGES = 8
LONG_RUNS = {
    "conv2d_grad_weight": "5_register_windows",
    "conv2d_grad_input": "6_register_windows",
    "gemm_bias_act": "6_registers_only",
    "gemm_bias_act_backward": "4_registers_only",
}


def prepared(
    operation: Operation, buffers: Sequence, shape: Shape, kernel: str | Kernel | Replacement | None
) -> tuple[Pass, ...]:
    """The passes of an operation, by one of its versions, a kernel, or what takes its place."""
    if isinstance(kernel, str | Kernel | None):
        return operation.prepare(buffers, shape, kernel)
    return kernel.prepare(buffers, shape)


def version_for_a_long_run(step: Step, batch: int) -> str | None:
    """The version that is fastest once it is compiled; None where the operation's own choice is as good."""
    version = LONG_RUNS.get(step.operation.name)
    if version is None or batch <= FEW_IMAGES or not adapter_info().few_threads:
        return None
    if step.operation.problem(step.shape, version):
        return None
    return version
