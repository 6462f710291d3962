"""Which oracle catches which wrong kernel: computed by running all of them, on good data and on poor data.

The rows are the wrong kernels of one operation. Their workgroups are small, so that a small problem has several of them
and several iterations of each loop. The first columns look at `good` data in six ways; the others compare with the
reference, on data that is poor. A version that serves every layer is given one with unequal steps and groups.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from helpers import kernels
from helpers.checks.report import CheckError, Report
from helpers.convolution.shapes import ConvShape
from helpers.gradient_checks import methods
from helpers.gradient_checks.harness import operation_of
from helpers.gradient_checks.methods import GENERAL, GOOD, Problem, Run, Simulated, good
from helpers.gradient_checks.wrong_kernels import WRONG_KERNELS, WrongKernel
from wgsl import Kernel

OPERATIONS = ("conv2d_grad_weight", "conv2d_grad_input", "conv2d_grad_bias")
SIZES = {"THREADS": 4, "TILE": 2, "TAPS": 4}  # threads of a workgroup, or along each side of it; sums of each thread
CHUNK = r"\bCHUNK: u32 = \d+u", "CHUNK: u32 = 12u"  # weights held at once: the filters here have more

Way = Callable[[Run, Problem], Report | bool]
WAYS: dict[str, Way] = {
    "reference": methods.reference,
    "central differences": methods.central_differences,
    "adjoint": methods.adjoint,
    "one-hot probes": methods.one_hot_probes,
    "im2col": methods.im2col,
    "simulator": methods.simulator,
}
POOR: dict[str, Callable[[Problem], Problem]] = {
    "all-ones gradients": methods.all_ones,
    "symmetric data": methods.symmetric,
    "whole numbers": methods.whole_numbers,
    "batch 1": methods.batch_1,
    "square image": methods.square,
    "no guard": methods.no_guard,
    "classroom test": methods.classroom,
}
COLUMNS = (*WAYS, *POOR)


@dataclass(frozen=True)
class Row:
    """One wrong kernel, and whether each column catches it."""

    wrong: WrongKernel
    caught: Mapping[str, bool]


@dataclass(frozen=True)
class Matrix:
    """The rows of one operation or of one version."""

    rows: tuple[Row, ...]

    @property
    def cells(self) -> np.ndarray:
        """Caught or not, (rows, columns), in the order of COLUMNS."""
        return np.array([[row.caught[name] for name in COLUMNS] for row in self.rows])

    def missed(self, column: str) -> tuple[str, ...]:
        """The names of the wrong kernels that a column misses."""
        return tuple(row.wrong.name for row in self.rows if not row.caught[column])


@cache
def matrix(operation: str, version: str | None = None) -> Matrix:
    """Bring the wrong kernels of an operation, or of one version of it, before every column.

    Parameters
    ----------
    operation : str
        conv2d_grad_weight, conv2d_grad_input or conv2d_grad_bias.
    version : str, optional
        The file stem of one version; if not given, all whose text is the same for each layer.

    Raises
    ------
    ValueError
        There is no matrix of this operation, or it has no such version.
    """
    if operation not in OPERATIONS:
        raise ValueError(f"operation = {operation!r}: it must be one of {', '.join(OPERATIONS)}")
    have = versions(operation)
    if version not in (None, *have):
        raise ValueError(f"version = {version!r}: {operation} has {', '.join(have)}")
    if version is None:
        same = (version_name for version_name in have if not kernels.load(operation, version_name).specialized)
        return Matrix(tuple(row for version_name in same for row in matrix(operation, version_name).rows))
    return Matrix(tuple(Row(kernel, judged(kernel.wrong)) for kernel in shown(f"{operation}/{version}")))


def versions(operation: str) -> list[str]:
    """Those that have a matrix: their text is the same for each layer, or they serve every layer without tiles.

    Tiles have more elements than these problems: a simulated run would take long, and show little.
    """
    read = (kernels.load(operation, version) for version in kernels.versions(operation))
    return [kernel.version for kernel in read if not kernel.specialized or _without_tiles(kernel)]


def _without_tiles(kernel: Kernel) -> bool:
    return layer(kernel) is GENERAL and "TILE" not in kernel.code


def layer(kernel: Kernel) -> ConvShape:
    """The layer of its problems: GENERAL for a version whose text is written anew for each layer, if it takes that."""
    takes = kernel.specialized and not operation_of(kernel).versions[kernel.version](GENERAL, kernel).refused
    return GENERAL if takes else GOOD


def shown(kernel: str) -> list[WrongKernel]:
    """The wrong kernels of a version."""
    return [row for row in WRONG_KERNELS if row.kernel == kernel]


def judged(kernel: Kernel) -> dict[str, bool]:
    """Which columns catch a kernel; for a right one, none does."""
    run, (best, poor) = Simulated(shrunk(kernel)), _problems(operation_of(kernel).name, layer(kernel))
    verdicts = {name: catches(way, run, best) for name, way in WAYS.items()}
    return verdicts | {name: catches(methods.reference, run, problem) for name, problem in poor.items()}


def shrunk(kernel: Kernel) -> Kernel:
    """The kernel with workgroups of a few threads, which hold few weights."""
    few = kernel.with_constants(**{name: n for name, n in SIZES.items() if kernel.kind(name)})
    return replace(few, source=re.sub(*CHUNK, few.source))


@cache
def _problems(operation: str, shape: ConvShape) -> tuple[Problem, dict[str, Problem]]:
    best = good(operation, shape)
    return best, {name: make(best) for name, make in POOR.items()}


def catches(way: Way, run: Run, problem: Problem) -> bool:
    """Whether a way to look finds something wrong."""
    try:
        return not way(run, problem)
    except CheckError:  # the guard after the output was overwritten
        return True
