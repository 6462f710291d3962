"""One long sum on the GPU: the function, and its versions.

Arguments and errors are as in `helpers.operations.convolution.operations`.
"""

from collections.abc import Sequence
from math import ceil

import numpy as np

from helpers.checks.arguments import check_tensor
from helpers.gpu.adapter import AdapterInfo
from helpers.operations.dispatch import Schedule, Step, nested_loops, one_step, tree_reduction
from helpers.operations.operation import Choice, Operation
from helpers.operations.summation import reference
from helpers.operations.summation.shapes import SumShape
from wgsl import Kernel

# --- The schedules of the versions: workgroups, and the most loop iterations of one thread ------------------


def _one_thread(s: SumShape, kernel: Kernel) -> Schedule:
    return one_step((1, 1, 1), nested_loops(s.count))


def _tree(s: SumShape, kernel: Kernel) -> Schedule:
    return one_step((1, 1, 1), tree_reduction(s.count, kernel.value("THREADS")))


def _two_passes(s: SumShape, kernel: Kernel) -> Schedule:
    threads = kernel.value("THREADS")
    parts = min(ceil(s.count / threads), threads)
    sum_shares = Step((parts, 1, 1), tree_reduction(ceil(s.count / parts), threads), "sum_shares")
    sum_parts = Step((1, 1, 1), tree_reduction(1, threads), "sum_parts")
    return Schedule((sum_shares, sum_parts), {"parts": 4 * parts})


# --- The choice of a version: thresholds measured on an NVIDIA H200 and on lavapipe ------------------------------

SHORT_SUM = 1_024  # numbers that one thread of a software adapter adds faster than a workgroup shares them
LONG_SUM = 8_192  # numbers from which more than one workgroup pays for a second pass on a GPU
BARRIERS = "on a software adapter, barriers cost more than so few additions"
FEW_THREADS = "a software adapter runs few threads at once, and more workgroups only add barriers"
SHORTER_LOOPS = "its threads run shorter loops"


def _choose(s: SumShape, adapter: AdapterInfo) -> Sequence[Choice]:
    if adapter.few_threads and s.count <= SHORT_SUM:
        return Choice("1_one_thread", BARRIERS), Choice("2_tree", SHORTER_LOOPS)
    if adapter.few_threads:
        return Choice("2_tree", FEW_THREADS), Choice("3_two_passes", SHORTER_LOOPS)
    in_one = Choice("2_tree", f"one workgroup shares {s.count:,} numbers, and needs no second pass")
    in_many = Choice("3_two_passes", f"many workgroups share {s.count:,} numbers")
    if s.count < LONG_SUM:
        return in_one, in_many
    return in_many, in_one


SUM = Operation(
    name="sum",
    tensors=("input", "total"),
    outputs=("total",),
    versions={"1_one_thread": _one_thread, "2_tree": _tree, "3_two_passes": _two_passes},
    choose=_choose,
    answer=lambda input, shape: reference.total(input),
    examples=[SumShape(7), SumShape(600)],
)
OPERATIONS = {SUM.name: SUM}

# --- NumPy in, NumPy out ----------------------------------------------------------------------------------


def total(input: np.ndarray, *, kernel: str | Kernel | None = None) -> np.ndarray:
    """The sum of a list of numbers.

    Parameters
    ----------
    input : float32 array (n,)
    kernel : str or Kernel, optional
        A version in kernels/sum; the best one for this adapter by default.

    Returns
    -------
    float32 array (1,)
    """
    check_tensor("sum", "input", input, "n")
    return SUM.compute(SumShape(len(input)), kernel, input=input)[0]
