"""What a proof says: the assumptions, then for each access whether it was proven, disproven, or neither."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from helpers.simulator import launch
from helpers.simulator.proof.assumptions import Assumptions
from helpers.simulator.proof.counterexample import Counterexample, counterexamples
from helpers.simulator.proof.symbolic import Symbolic
from helpers.wgsl import Kernel

SECONDS = 10.0  # of the search for counterexamples


@dataclass(frozen=True)
class Verdict:
    """One indexed access of a buffer: where it is, and `counterexample` if it is not proven and one was found."""

    name: str
    line: int
    column: int
    proven: bool
    counterexample: Counterexample | None

    def __str__(self) -> str:
        place = f"{self.line}:{self.column}: {self.name}"
        if self.proven:
            return f"{place}: in bounds at all sizes"
        if self.counterexample is None:
            return f"{place}: not decided"
        case = self.counterexample
        sizes = ", ".join(f"{name} = {size}" for name, size in case.sizes.items() if not name.startswith("num_"))
        return (
            f"{place}: out of bounds, seen in a run with {sizes}, {' x '.join(map(str, case.workgroups))} workgroups:\n"
            f"    {case.finding.message}"
        )


@dataclass(frozen=True)
class Proof:
    """The verdicts in the order of the text, under the assumptions."""

    kernel: str
    assumptions: tuple[str, ...]
    verdicts: tuple[Verdict, ...]

    @property
    def complete(self) -> bool:
        """Whether each access was proven."""
        return all(each.proven for each in self.verdicts)

    def __str__(self) -> str:
        lines = "\n".join(f"  {each}" for each in self.assumptions) or "  nothing of the lengths of buffers"
        rows = "\n".join(f"{self.kernel}:{each}" for each in self.verdicts)
        proven = sum(each.proven for each in self.verdicts)
        return f"Assumed:\n{lines}\n\n{rows}\n\n{proven} of {len(self.verdicts)} indexed accesses of buffers are proven"


def prove(kernel: Kernel, entry_point: str, constants: Mapping[str, float], where: Sequence[str] = ()) -> Proof:
    """Try to prove that each index of a storage buffer is in range, at all sizes and in any dispatch.

    Raises ValueError where an assumption does not compare polynomials of sizes, WgslError as `launch.compiled` does.
    """
    program = launch.compiled(kernel, entry_point, constants)
    assumed = Assumptions.of(kernel, program, where)
    run = Symbolic(program, assumed.known, assumed.facts)
    buffers = [each for each in run.accesses if each.variable is None or each.variable.space == "storage"]
    proven: dict[tuple[str, int], bool] = {}
    for each in buffers:
        key = each.variable.name if each.variable else "*pointer", each.at
        proven[key] = proven.get(key, True) and each.proven
    places = {at: (1 + kernel.source.count("\n", 0, at), at - kernel.source.rfind("\n", 0, at)) for _, at in proven}
    open_lines = {places[at][0] for (_, at), shown in proven.items() if not shown}
    found = counterexamples(kernel, program, entry_point, constants, assumed, open_lines, SECONDS)
    verdicts = [
        Verdict(name, *places[at], shown, None if shown else _of(found.get(places[at][0]), places[at]))
        for (name, at), shown in sorted(proven.items(), key=lambda each: each[0][1])
    ]
    return Proof(kernel.name, tuple(assumed.lines), tuple(verdicts))


def _of(found: Counterexample | None, place: tuple[int, int]) -> Counterexample | None:
    return found if found and found.finding.column == place[1] else None
