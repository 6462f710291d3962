"""Trials of a cause, before it is told: a barrier in every place for one, or a guard above a read."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from helpers.grading.puzzle import Case
from helpers.grading.sites import is_scoped
from helpers.grading.test_run import TestRun, simulated
from wgsl import Kernel
from wgsl.diagnostics import Lines
from wgsl.facts import Line
from wgsl.simulator.findings import Finding
from wgsl.simulator.work import Work
from wgsl.types import program as ir
from wgsl.types.declarations import Declarations, check

MOST_WORK = 60_000_000  # of `Work`, for all trials of a text
RACE, NON_UNIFORM = "data race", "non-uniform barrier"
LISTS = ("body", "then", "otherwise")
Body = tuple[ir.Statement, ...]


def with_races_that_no_barrier_orders(kernel: Kernel, runs: Sequence[TestRun]) -> list[TestRun]:
    """Return the runs; those races are marked that remain where a barrier stands in every place for one."""
    failing = [run for run in runs if run.wrong.any() and any(map(_is_in_workgroup, run.findings))]
    if not failing or any(run.endless or len(run.case.dispatches) > 1 for run in runs):
        return [*runs]
    smallest = min(failing, key=lambda run: run.counts["statements"])
    kept = _races_with_barriers(kernel, smallest.case)
    races = {_place(finding) for finding in smallest.findings if _is_in_workgroup(finding) and finding.variable in kept}
    return [replace(run, findings=tuple(_marked(finding, races) for finding in run.findings)) for run in runs]


def _is_in_workgroup(finding: Finding) -> bool:
    return finding.kind == RACE and finding.facts.space == "workgroup" and not finding.facts.no_barrier_helps


def _marked(finding: Finding, races: set) -> Finding:
    if _is_in_workgroup(finding) and _place(finding) in races:
        return replace(finding, facts=replace(finding.facts, no_place_for_barrier=True))
    return finding


def _place(finding: Finding) -> tuple[int, int]:
    return finding.line, finding.column


def _races_with_barriers(kernel: Kernel, case: Case) -> set[str]:
    """Return the variables in which threads race, whatever barriers a program has; none where that is not known."""
    trial = Trial(kernel, case)
    bodies = [*_bodies(trial.before)]
    uniform = []
    for body in bodies:
        if all(found.kind != NON_UNIFORM for found in trial.findings(_with_barriers(trial.before, [body]))):
            uniform.append(body)
    found = trial.findings(_with_barriers(trial.before, uniform))
    return {finding.variable for finding in found if finding.kind == RACE} if trial.work.left > 0 else set()


class Trial:
    """A kernel's runs on a case, with other statements in its entry point."""

    def __init__(self, kernel: Kernel, case: Case) -> None:
        self.kernel, self.case, self.work = kernel, case, Work(MOST_WORK)
        self.name = case.dispatches[0].entry_point
        declared = kernel.read(lambda: Declarations(kernel.module, dict(kernel.constants)))
        self.program = check(declared, self.name)
        self.before = self.program.entry.body

    def findings(self, body: Body) -> tuple[Finding, ...]:
        """Return what is found with this body."""
        entry = self.program.entry
        entry.body, entry.calls, entry.usage = body, None, None
        return simulated(self.kernel, self.case, work=self.work, programs={self.name: self.program}).findings


def _bodies(body: Body) -> Iterator[Body]:
    """Yield a list of statements, and all those in it."""
    if body:
        yield body
    for statement in body:
        for name in LISTS:
            yield from _bodies(getattr(statement, name, ()))


def _with_barriers(body: Body, places: Sequence[Body]) -> Body:
    """Return statements with a barrier before and after each of those that are in some lists."""
    is_place = any(body is place for place in places)
    statements = []
    for statement in body:
        fields = {name: _with_barriers(getattr(statement, name), places) for name in LISTS if hasattr(statement, name)}
        new = replace(statement, **fields)
        barrier = ir.Barrier(statement.place, "workgroupBarrier")
        ends = isinstance(statement, ir.Return | ir.Break | ir.Continue)
        statements += [barrier, new] if is_place else [new]
        if is_place and not ends:
            statements.append(barrier)
    return tuple(statements)


def guard_below(kernel: Kernel, run: TestRun) -> Line | None:
    """Return the line of an `if` with `return` that stands below a read past an end, and would keep its thread away.

    It is tried: with this line above the one that reads, nothing is found.
    """
    finding = run.finding
    if finding is None or finding.kind != "out-of-range read" or len(run.case.dispatches) > 1:
        return None
    trial = Trial(kernel, run.case)
    lines = Lines(kernel.source)
    at = [lines.place(statement.place.at)[0] for statement in trial.before]
    for index, statement in enumerate(trial.before):
        reads = [place for place, line in enumerate(at[:index]) if line == finding.line]
        if reads and _is_guard(statement):
            first = reads[0]
            above = (*trial.before[:first], statement, *trial.before[first:index], *trial.before[index + 1 :])
            if is_scoped(trial.program.entry, above) and not trial.findings(above):
                return Line(at[index], " ".join(kernel.source.split("\n")[at[index] - 1].partition("//")[0].split()))
    return None


def _is_guard(statement: ir.Statement) -> bool:
    return isinstance(statement, ir.If) and not statement.otherwise and isinstance(statement.then[-1], ir.Return)
