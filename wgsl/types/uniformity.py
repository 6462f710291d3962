"""Barriers that not every invocation of a workgroup can be proven to reach, and pointers to one variable.

The adapter's compiler accepts both, and browsers refuse them: WGSL asks for a proof before the run (chapters
"Uniformity" and "Alias Analysis"). A value is uniform where all invocations of a workgroup are sure to have the same
one; control flow is, where they are sure to be at a place together. Each function is walked once, those first that
others call; what it asks of its callers, and what it returns, is kept as a `Summary`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from wgsl.diagnostics import BY_NAGA, BY_RULES, Lines
from wgsl.facts import Aliased, Differs, Line, PointerParameter, Unproven
from wgsl.types import program as ir
from wgsl.types.flow import Flow, Summary
from wgsl.types.fragments import is_derivative
from wgsl.types.influence import Path, Place
from wgsl.types.kinds import Pointer
from wgsl.types.subgroups import SharedArgument, SubgroupCall
from wgsl.types.usage import reached, usage

UNIFORM_INPUTS = ("workgroup_id", "num_workgroups", "subgroup_size", "num_subgroups")


@dataclass(frozen=True)
class NotPortable:
    """A place that browsers refuse, with the path from the barrier there to what differs, or a pointer's fault.

    `other` is another place that it is about: what decides who comes to the barrier, or the other pointer. What is said
    of a barrier here is said of a function of subgroups, too, or of its argument.
    """

    part: Place
    path: Path | None = None
    other: Place | None = None
    pointer: Aliased | PointerParameter | None = None

    @property
    def kind(self) -> str:
        """Of which kind it is, as `NotWgsl` has one."""
        if is_derivative(self.part):
            return "derivative"
        of_subgroup = isinstance(self.part, SubgroupCall | SharedArgument)
        return KINDS[SubgroupCall if of_subgroup else type(self.pointer)]

    @property
    def refused_by(self) -> frozenset[str]:
        """Those that refuse it: naga does not prove that a barrier is reached, and Chrome takes any pointer."""
        return BY_NAGA if isinstance(self.pointer, PointerParameter) else BY_RULES

    def facts(self, text: Lines) -> Unproven | Aliased | PointerParameter:
        """Return what browsers refuse here; of a barrier, with the steps from it to what decides who comes there."""
        if not self.path:
            return self.pointer
        steps = [Line(text.place(place.at)[0], text.quoted(place)) for place in self.path.steps]
        argument = text.quoted(self.part) if isinstance(self.part, SharedArgument) else ""
        place = self.part.call if argument else self.part
        barrier = getattr(place, "name", "workgroupUniformLoad")
        group = "subgroup" if isinstance(place, SubgroupCall) else "workgroup"
        if is_derivative(place):
            group = "draw"
        return Unproven(barrier, tuple(dict.fromkeys(steps)), self.path.source, group, argument)


KINDS = {
    type(None): "barrier",
    SubgroupCall: "subgroup function",
    Aliased: "aliased pointers",
    PointerParameter: "pointer parameter",
}


class Uniformity:
    """Walks functions, each once; `refused` are the places that browsers refuse.

    `has_subgroups` is True where one of them calls a function of subgroups.
    """

    flow: type[Flow] = Flow
    uniform_inputs = UNIFORM_INPUTS

    def __init__(self, *programs: ir.Program) -> None:
        self.has_subgroups = False
        self.refused: dict[int, NotPortable] = {}
        self._summaries: dict[ir.Function, Summary] = {}
        for program in programs:
            self.add(program)

    def add(self, program: ir.Program) -> None:
        """Walk the functions of a program."""
        self.walk(reached(program.entry)[:-1])
        self._walk(program.entry, self._differing(program))

    def walk(self, functions: Iterable[ir.Function]) -> None:
        """Walk functions, of which none comes before those that it calls; those that are known are passed over."""
        for function in functions:
            if function not in self._summaries:
                self._walk(function, {})

    def _walk(self, function: ir.Function, differing: dict[ir.Binding, Differs]) -> None:
        self._note_parameters(function)
        flow = self.flow(function, self._summaries, differing)
        self._summaries[function] = flow.summary
        self.has_subgroups |= flow.has_subgroups
        for place, path in flow.demands:
            if isinstance(path.source, Differs):
                self.refused.setdefault(place.at, NotPortable(place, path, next(iter(path.steps), place)))
        for call in flow.calls:
            self._check_aliases(call.node, call.roots)

    def _differing(self, program: ir.Program) -> dict[ir.Binding, Differs]:
        """The parameters of an entry point that may differ between the invocations."""
        differing = {}
        for parameter, names in zip(program.entry.parameters, program.inputs, strict=True):
            name = next((name for name in names if name not in self.uniform_inputs), None)
            if name:
                differing[parameter] = Differs("input", str(parameter.name), name)
        return differing

    # --- Pointers to one variable ---------------------------------------------------------------------------------

    def _note_parameters(self, function: ir.Function) -> None:
        for parameter in function.parameters:
            if isinstance(parameter.type, Pointer) and parameter.type.space not in ("function", "private"):
                place = ir.Part(parameter.type, parameter)
                self._note(place, PointerParameter(parameter.type.space, str(parameter.name)))

    def _check_aliases(self, node: ir.Call, roots: dict[ir.Binding, ir.Variable]) -> None:
        """Refuse a call that lets a function reach one variable in two ways, and write it in one of them."""
        used = usage(node.function)
        ways: dict[ir.Variable, tuple[ir.Part, bool]] = {root: (node, root in used.written) for root in used.touched}
        for parameter, argument in zip(node.function.parameters, node.arguments, strict=True):
            if parameter not in roots or parameter not in used.touched:
                continue
            root = roots[parameter]
            writes = parameter in used.written
            other, wrote = ways.setdefault(root, (argument, writes))
            if other is not argument and (writes or wrote):
                self._note(argument, Aliased(str(node.function.name), str(root.name)), other)

    def _note(self, part: ir.Part, pointer: Aliased | PointerParameter, other: ir.Part | None = None) -> None:
        self.refused.setdefault(part.at, NotPortable(part, other=other, pointer=pointer))
