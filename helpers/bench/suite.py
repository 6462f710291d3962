"""One operation on one layer after the other: check all versions, then time them beside the libraries."""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field

from helpers import gpu
from helpers.bench import contenders
from helpers.bench.contenders import BUDGET, Contender, Row, apart, compete
from helpers.bench.correctness import Check
from helpers.bench.libraries import Library
from helpers.gpu import GpuError
from helpers.gpu.operation import Operation
from helpers.grading.report import CheckError
from helpers.operations import OPERATIONS
from helpers.oracles import harness
from helpers.speed.layers import Layer, multiply_adds, rate

Right = tuple[Row, tuple[gpu.Pass, ...]]
LONGEST = 2.0  # seconds: a single call that is predicted to take more is skipped


@dataclass
class Suite:
    """What is measured: the rows so far, and the rates that predict how long a larger layer will take.

    `budget` is the seconds for the samples of each contender, `longest` those of a call that is not too long.
    """

    libraries: Sequence[Library]
    unchecked: bool = False
    budget: float = BUDGET
    longest: float = LONGEST
    rows: list[Row] = field(default_factory=list)
    _rates: dict[tuple[str, str], tuple[float, str]] = field(default_factory=dict)

    def measure(self, operation: str, layer: Layer) -> list[Row]:
        """The rows of one operation on one layer, which join those of the suite."""
        case = _Case(self, OPERATIONS[operation], layer)
        rows = case.measured()
        for row in rows:
            if row.kernel_us:
                row.rate, row.unit = rate(operation, layer.shape, row.kernel_us / 1e6)
                speed = multiply_adds(operation, layer.shape) / row.fastest_us * 1e6, layer.name
                self._rates[operation, row.name] = max(speed, self._rates.get((operation, row.name), speed))
        self.rows += rows
        return rows

    def too_long(self, operation: str, layer: Layer, name: str) -> str:
        """Why something is predicted to take too long, from its best rate on the layers before, or ""."""
        count, (speed, where) = multiply_adds(operation, layer.shape), self._rates.get((operation, name), (None, ""))
        if speed is None or count / speed <= self.longest:
            return ""
        said = f"{count:,} multiply-adds at the {speed / 1e9:.2g} billion a second of {where}"
        return f"predicted to take {count / speed:.1f} s, more than {self.longest:g} s ({said})"


class _Case:
    """One operation on one layer."""

    def __init__(self, suite: Suite, operation: Operation, layer: Layer) -> None:
        self.suite, self.operation, self.layer = suite, operation, layer
        self.shape = layer.problem(operation.name)
        self.rows: list[Row] = []

    def measured(self) -> list[Row]:
        """Check, then time."""
        try:
            resident = contenders.Resident(self.operation, self.shape)
        except GpuError as error:
            self._row("all versions", "version").skipped = str(error)
            return self.rows
        right = self._checked(resident)
        tensors = harness.drawn(self.operation, self.shape, harness.normal)
        resident.write(tensors)
        theirs = list(self._libraries(tensors))
        mine = list(self._mine(right, resident, tensors))
        software = gpu.adapter_info().kind == "software"  # then all take turns on the processor
        compete([*mine, *(each for library, each in theirs if library.on_gpu or software)], self.suite.budget, software)
        compete([each for library, each in theirs if not (library.on_gpu or software)], self.suite.budget)
        for each in [*mine, *(each for _, each in theirs)]:
            apart(each, self.suite.budget)
        return self.rows

    def _row(self, name: str, kind: str, **more: object) -> Row:
        activation = getattr(self.shape, "activation", "none")
        row = Row(self.operation.name, self.layer.name, name, kind, activation=activation, **more)
        self.rows.append(row)
        return row

    def _mine(self, right: list[Right], resident: contenders.Resident, tensors: harness.Tensors) -> Iterator[Contender]:
        """The versions and, beside what only reads, a copy: made ready on a GPU that is awake, and stays so."""
        if right:
            contenders.wake(right[0][1])
        yield from (contenders.contender(row, resident, passes, tensors) for row, passes in right)
        if right and self.operation.name == "conv2d_grad_bias":
            yield contenders.copy(self._row("copy", "copy"), resident, "grad_output")

    def _checked(self, resident: contenders.Resident) -> list[Right]:
        """The versions that are right on this layer, with their passes."""
        check, right, chosen = Check(self.operation, self.shape), [], ""
        resident.write(check.tensors)
        with suppress(GpuError, ValueError):
            chosen = self.operation.plan(self.shape).passes[0].kernel.version
        for version in self.operation.versions:
            for checked in (True, False) if self.suite.unchecked else (True,):
                row = self._row(version, "version", checked=checked, chosen=checked and version == chosen)
                passes = self._right(row, resident, check)
                if not passes:  # without its checks, only a version that is right with them is run
                    break
                right.append((row, passes))
        return right

    def _right(self, row: Row, resident: contenders.Resident, check: Check) -> tuple[gpu.Pass, ...]:
        """The passes of a version that runs here and is right; none, and the reason in its row, for another."""
        try:
            row.skipped = self.operation.problem(self.shape, row.name) or self._too_long(row)
            if row.skipped:
                return ()
            passes, row.prepare_ms = contenders.prepared(self.operation, resident, row.name, row.checked)
            row.check = check.require(self.operation.kernel(row.name), resident.outputs(passes))
        except (CheckError, ValueError) as error:  # its text or its schedule is at fault
            row.wrong = str(error)
            return ()
        except GpuError as error:
            row.skipped = str(error)
            return ()
        return passes

    def _too_long(self, row: Row) -> str:
        return self.suite.too_long(self.operation.name, self.layer, row.name)

    def _libraries(self, tensors: harness.Tensors) -> Iterator[tuple[Library, Contender]]:
        for library in self.suite.libraries:
            if not library.runs(self.operation.name, self.shape):
                continue
            row = self._row(library.name, "library")
            row.skipped = self._too_long(row)
            if not row.skipped:
                yield library, library.contender(row, self.shape, tensors)
