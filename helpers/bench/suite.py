"""One operation on one layer after the other: check all versions, then time them beside the libraries."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

import numpy as np

from helpers import gpu
from helpers.bench import candidates
from helpers.bench.candidates import BUDGET, Candidate, Row, apart, compete
from helpers.bench.layers import Layer, multiply_adds, rate
from helpers.bench.libraries import Numpy, Torch
from helpers.checks.report import CheckError, compare
from helpers.gpu import GpuError
from helpers.operations import harness
from helpers.operations.operation import Operation, Shape
from helpers.operations.registry import OPERATIONS
from wgsl import Kernel

# --- The check of a version, on the very layer that it is timed on --------------------------------------------

LARGE = 30_000_000  # multiply-adds from which on a layer gets whole numbers
NEAR = 0.499  # the most by which a version that rounds on whole numbers, too, may be off


class Check:
    """The check of all versions of one operation on one layer; `tensors` are the inputs that they are to be run on.

    On a small layer, random outputs are compared with the float64 reference, within the tolerance that is proven for
    float32. That would take long on a large one. It gets whole numbers, on which float32 sums are exact in every order:
    every output of every version must be NumPy's. Only a version that is not exact on whole numbers (Winograd's
    transforms divide) may be off, but must be nearer to them than to any other whole numbers.
    """

    def __init__(self, operation: Operation, shape: Shape) -> None:
        self.operation = operation
        self.shape = shape
        self.right: tuple[np.ndarray, ...] | None = None
        if multiply_adds(operation.name, shape) <= LARGE:
            self.tensors = harness.drawn(operation, shape, harness.normal)
            return
        self.tensors = harness.drawn(operation, shape, harness.whole)
        right = Numpy().call(operation.name, shape, self.tensors)()
        self.right = right if isinstance(right, tuple) else (right,)

    def require(self, kernel: Kernel, outputs: Sequence[np.ndarray]) -> str:
        """Name the way in which the outputs of a version are right. Raises CheckError where they are wrong."""
        if self.right is None:
            for report in harness.reports(kernel, self.shape, self.tensors, outputs):
                report.require()
            return "beside float64"
        rounds = kernel.version in self.operation.judges
        allowed = NEAR if rounds else 0.0
        for name, got, want in zip(self.operation.outputs, outputs, self.right, strict=True):
            compare(name, got, want, allowed).require()
        return "in whole numbers, nearly" if rounds else "in whole numbers, exactly"


# --- All versions of all operations ---------------------------------------------------------------------------

Right = tuple[Row, tuple[gpu.Pass, ...]]
LONGEST = 2.0  # seconds: a single call that is predicted to take more is skipped


@dataclass
class Suite:
    """The measurements: the rows so far, whose rates predict how long a larger layer will take.

    `budget` is the seconds for the samples of each candidate, `longest` those of a call that is not too long.
    """

    libraries: Sequence[Numpy | Torch]
    unchecked: bool = False
    budget: float = BUDGET
    longest: float = LONGEST
    rows: list[Row] = field(default_factory=list)

    def measure(self, operation: str, layer: Layer) -> list[Row]:
        """The rows of one operation on one layer, which join those of the suite."""
        case = _Case(self, OPERATIONS[operation], layer)
        case.measure()
        for row in case.rows:
            if row.kernel_us:
                row.rate, row.unit = rate(operation, layer.shape, row.kernel_us / 1e6)
        self.rows += case.rows
        return case.rows

    def too_long(self, operation: str, layer: Layer, name: str) -> str:
        """The reason why something is predicted to take too long, from its best rate on the layers before, or ""."""
        before = [row for row in self.rows if row.operation == operation and row.name == name and row.rate]
        if not before:
            return ""
        best = max(before, key=lambda row: row.rate)
        rate_in_a_second, _ = rate(operation, layer.shape, 1.0)
        seconds = rate_in_a_second / best.rate
        if seconds <= self.longest:
            return ""
        reached = f"at the {best.rate:.2g} {best.unit} of {best.layer}"
        return f"predicted to take {seconds:.1f} s, more than {self.longest:g} s ({reached})"


class _Case:
    """One operation on one layer."""

    def __init__(self, suite: Suite, operation: Operation, layer: Layer) -> None:
        self.suite = suite
        self.operation = operation
        self.layer = layer
        self.shape = layer.problem(operation.name)
        self.rows: list[Row] = []

    def measure(self) -> None:
        """Check, then time."""
        try:
            resident = candidates.Resident(self.operation, self.shape)
        except GpuError as error:
            self._row("all versions", "version").skipped = str(error)
            return
        right = self._checked(resident)
        tensors = harness.drawn(self.operation, self.shape, harness.normal)
        resident.write(tensors)
        of_libraries = list(self._libraries(tensors))
        if right:  # they are made ready on a GPU that is awake, and stays so
            _, passes = right[0]
            candidates.wake(passes)
        with_versions = [candidates.version_candidate(row, resident, passes, tensors) for row, passes in right]
        on_processor = []
        software = gpu.adapter_info().kind == "software"  # then all take turns on the processor
        for library, candidate in of_libraries:
            if library.on_gpu or software:
                with_versions.append(candidate)
            else:
                on_processor.append(candidate)
        compete(with_versions, self.suite.budget, software)
        compete(on_processor, self.suite.budget)
        for candidate in with_versions + on_processor:
            apart(candidate, self.suite.budget)

    def _row(self, name: str, kind: str, **more: object) -> Row:
        """A new row; of what is predicted to take too long, with the reason."""
        activation = getattr(self.shape, "activation", "none")
        row = Row(self.operation.name, self.layer.name, name, kind, activation=activation, **more)
        row.skipped = self.suite.too_long(self.operation.name, self.layer, name)
        self.rows.append(row)
        return row

    def _checked(self, resident: candidates.Resident) -> list[Right]:
        """The versions that are right on this layer, with their passes."""
        check = Check(self.operation, self.shape)
        resident.write(check.tensors)
        chosen = ""
        with suppress(GpuError, ValueError):
            chosen = self.operation.plan(self.shape).passes[0].kernel.version
        right = []
        for version in self.operation.versions:
            row = self._row(version, "version", chosen=version == chosen)
            passes = self._right(row, resident, check)
            if not passes:
                continue
            right.append((row, passes))
            if self.suite.unchecked:  # without its checks, only a version that is right with them is run
                row = self._row(version, "version", checked=False)
                passes = self._right(row, resident, check)
                if passes:
                    right.append((row, passes))
        return right

    def _right(self, row: Row, resident: candidates.Resident, check: Check) -> tuple[gpu.Pass, ...]:
        """The passes of a version that runs here and is right; none, and the reason in its row, for another."""
        try:
            row.skipped = self.operation.problem(self.shape, row.name) or row.skipped
            if row.skipped:
                return ()
            passes, row.prepare_ms = resident.prepared(row.name, row.checked)
            row.check = check.require(self.operation.kernel(row.name), resident.outputs(passes))
            return passes
        except (CheckError, ValueError) as error:  # its text or its schedule is at fault
            row.wrong = str(error)
        except GpuError as error:
            row.skipped = str(error)
        return ()

    def _libraries(self, tensors: harness.Tensors) -> Iterator[tuple[Numpy | Torch, Candidate]]:
        for library in self.suite.libraries:
            row = self._row(library.name, "library")
            if not row.skipped:
                yield library, library.candidate(row, self.shape, tensors)
