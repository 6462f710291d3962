"""Measurements on real GPUs: tables that `python -m helpers.bench` wrote, kept in the folder `recorded`."""

import json
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from helpers.bench.gpu_limits import MACHINES, Machine
from helpers.bench.ladder import STEPS, Step
from helpers.bench.layers import SHAPES, multiply_adds

FOLDER = Path(__file__).parent / "recorded"
METADATA = "adapter", "driver", "date", "clock", "command"  # of a run: its table must have them
UNCHECKED = ", unchecked"  # follows the name of a version that was timed without bounds checks


@dataclass(frozen=True, repr=False)
class Point:
    """A step as a run measured it: microseconds and TFLOP/s by the formula. Its repr has a line for each comparison."""

    run: "Recorded"
    step: Step
    microseconds: float
    tflops: float

    @property
    def number(self) -> int:
        """The step's place on the ladder, from 1."""
        return 1 + STEPS.index(self.step)

    @property
    def share(self) -> float:
        """The step's part of the GPU's float32 arithmetic."""
        return self.tflops / self.run.machine.tflops

    @property
    def ratio(self) -> float | None:
        """The library's time as a multiple of this one's; None where it was not measured."""
        return self._times("libraries", self.run.table["library"])

    @property
    def gain(self) -> float | None:
        """The speed as a multiple of that of the version from which it is a step; None where that was not measured."""
        return self._times("versions", self.step.before)

    def _times(self, kind: str, name: str) -> float | None:
        """The time of another one on the layer of the step, as a multiple of this one's."""
        microseconds = self.run.microseconds(kind, self.step.operation, self.step.layer).get(name)
        if not microseconds:
            return microseconds
        return microseconds / self.microseconds

    def __repr__(self) -> str:
        lines = [f"step {self.number}, {self.step.name} ({self.step.layer})"]
        digits = 1 if self.share < 0.1 else 0
        lines.append(f"{100 * self.share:.{digits}f} % of the arithmetic")
        if self.gain:
            lines.append(f"{self.gain:.2f} times as fast as {self.step.before}")
        if self.ratio and self.ratio >= 1:
            lines.append(f"{self.ratio:.2f} times as fast as the library")
        elif self.ratio:
            lines.append(f"the library is {1 / self.ratio:.2g} times as fast")
        return "\n  ".join(lines)


@dataclass(frozen=True)
class Recorded:
    """One run of the benchmark, as its table has it. Raises ValueError where it does not say what it must.

    Besides what METADATA names, the table has the `library` that the versions are compared with, the `ratios`, and
    under `versions` and `libraries` the microseconds of each, by operation, layer and name.
    """

    table: dict[str, object]

    def __post_init__(self) -> None:
        missing = [name for name in (*METADATA, "library", "versions", "libraries") if name not in self.table]
        if missing:
            raise ValueError(f"recorded has no {', '.join(missing)}: write it with python -m helpers.bench")

    @classmethod
    def read(cls, path: Path | str) -> "Recorded":
        """The run in a file."""
        return cls(json.loads(Path(path).read_bytes()))

    @property
    def adapter(self) -> str:
        """The GPU."""
        return self.table["adapter"]

    @property
    def machine(self) -> Machine:
        """The limits of the GPU; KeyError where `MACHINES` does not have it."""
        return MACHINES[self.adapter]

    @property
    def driver(self) -> str:
        """Its driver."""
        return self.table["driver"]

    @property
    def date(self) -> str:
        """The day on which it was measured."""
        return self.table["date"][:10]

    @cached_property
    def points(self) -> list[Point]:
        """The steps that were measured on their layers, in their order."""
        points = [self._point(step, step.layer) for step in STEPS]
        return [point for point in points if point]

    def microseconds(self, kind: str, operation: str, layer: str) -> dict[str, float]:
        """The time of each of the "versions" or "libraries" on one layer, by name; empty where none was measured."""
        return self.table[kind].get(operation, {}).get(layer, {})

    def _point(self, step: Step, layer: str) -> Point | None:
        """A step on a layer."""
        name = step.version if step.checked else step.version + UNCHECKED
        microseconds = self.microseconds("versions", step.operation, layer).get(name)
        if microseconds is None:
            return None
        operations = 2 * multiply_adds(step.operation, SHAPES[layer])
        return Point(self, step, microseconds, operations / microseconds / 1e6)


def recorded() -> list[Recorded]:
    """All recorded runs, in the order of their files' names."""
    return [Recorded.read(path) for path in sorted(FOLDER.glob("*.json"))]


def measured(name: str) -> Point:
    """The last recorded run's measurement of a step of the ladder.

    Raises ValueError where nothing is recorded of it.
    """
    for run in recorded()[-1:]:
        for point in run.points:
            if point.step.name == name:
                return point
    raise ValueError(f"name = {name!r}: nothing is recorded; the steps are {', '.join(s.name for s in STEPS)}")
