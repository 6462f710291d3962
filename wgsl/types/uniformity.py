"""Barriers that not every invocation of a workgroup can be proven to reach, and pointers to one variable.

The adapter's compiler accepts both, and browsers refuse them: WGSL asks for a proof before the run (chapters
"Uniformity" and "Alias Analysis"). A value is uniform where all invocations of a workgroup are sure to have the same
one; control flow is, where they are sure to be at a place together. The program is walked once, calls included and
loops until nothing changes, with a `Doubt` for each variable that may differ and one for the control flow: None says
that nothing can differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import reduce

from wgsl.diagnostics import Lines, Unsupported
from wgsl.facts import Aliased, Differs, Line, PointerParameter, Unproven
from wgsl.syntax.tree import children
from wgsl.types import program as ir
from wgsl.types.kinds import Pointer
from wgsl.types.subgroups import SubgroupCall
from wgsl.types.usage import NEXT, ends, usage

UNIFORM_INPUTS = ("workgroup_id", "num_workgroups", "subgroup_size", "num_subgroups")
MOST_STEPS = 3  # that lead to what differs


@dataclass(frozen=True)
class Doubt:
    """A value or control flow that may differ: its place, and the doubt that causes it, or why the source `differs`."""

    part: ir.Part | ir.Statement
    differs: Differs | None = None
    cause: Doubt | None = None

    def path(self) -> Iterator[Doubt]:
        """Yield the doubts from this one to the source."""
        doubt = self
        while doubt:
            yield doubt
            doubt = doubt.cause


@dataclass(frozen=True)
class NotPortable:
    """A place that browsers refuse, with the doubt about the barrier there, or what is wrong with a pointer.

    `other` is the other pointer to one variable. `call` is that of a subgroup in which the place is an argument.
    """

    part: ir.Part | ir.Statement
    doubt: Doubt | None = None
    other: ir.Part | None = None
    pointer: Aliased | PointerParameter | None = None
    call: SubgroupCall | None = None

    def facts(self, text: Lines) -> Unproven | Aliased | PointerParameter:
        """Return what browsers refuse here; of a barrier, with the steps from it to what decides who comes there."""
        if not self.doubt:
            return self.pointer
        *doubts, source = self.doubt.path()
        steps = [Line(text.place(doubt.part.at)[0], text.quoted(doubt.part)) for doubt in doubts[:MOST_STEPS]]
        place = self.call or self.part
        barrier = getattr(place, "name", "workgroupUniformLoad")
        group = "subgroup" if isinstance(place, SubgroupCall) else "workgroup"
        argument = text.quoted(self.part) if self.call else ""
        return Unproven(barrier, tuple(dict.fromkeys(steps)), source.differs, group, argument)


State = dict[ir.Variable | ir.Binding, Doubt | None] | None  # None where no invocation comes


@dataclass
class _Frame:
    """The states in which a loop, a switch or a function is left: at each `break`, `continue` or `return`."""

    loop: bool = False
    breaks: list[State] = field(default_factory=list)
    continues: list[State] = field(default_factory=list)
    doubt: Doubt | None = None  # of the value that a function returns


def joined(*states: State) -> State:
    """Return the state in which control flows meet: a doubt in one of them is a doubt."""

    def both(one: State, other: State) -> State:
        if one is None or other is None:
            return other if one is None else one
        return {name: one.get(name) or other.get(name) for name in one.keys() | other.keys()}

    return reduce(both, states, None)


def _doubtful(state: State, flow: Doubt | None) -> set[object]:
    return {name for name, doubt in (state or {}).items() if doubt} | ({"flow"} if flow else set())


MOST_STATEMENTS = 100_000  # to walk, those of a function at each of its calls; our longest kernel has 400


class Uniformity:
    """Walks the program of one entry point; `refused` are the places that browsers refuse.

    Raises Unsupported where functions call one another so often that the walk would take for ever.
    """

    uniform_inputs = UNIFORM_INPUTS
    has_subgroups = False  # until a function of subgroups is called

    def __init__(self, program: ir.Program) -> None:
        self.refused: dict[int, NotPortable] = {}
        self._walked = 0
        self._frames: list[_Frame] = []
        self._functions: list[_Frame] = [_Frame()]
        self._aliased: set[ir.Variable] = set()  # reached in two ways by a call around this place
        self._targets: dict[ir.Binding, ir.Reference] = {}
        self._state: State = {}
        for parameter, names in zip(program.entry.parameters, program.inputs, strict=True):
            differing = next((name for name in names if name not in self.uniform_inputs), None)
            place = ir.Part(parameter.type, parameter)
            source = Doubt(place, Differs("input", str(parameter.name), differing)) if differing else None
            self._state[parameter] = source
        self._block(program.entry.body, None)

    def _refuse(self, part: ir.Part | ir.Statement, doubt: Doubt | None) -> None:
        if doubt:
            self.refused.setdefault(part.at, NotPortable(part, doubt))

    # --- Statements: each takes the doubt about the control flow before it, and gives the one after it -------------

    def _block(self, body: Sequence[ir.Statement], flow: Doubt | None) -> Doubt | None:
        for statement in body:
            if self._state is None:
                break
            flow = self._statement(statement, flow)
        return flow

    def _statement(self, node: ir.Statement, flow: Doubt | None) -> Doubt | None:
        self._walked += 1
        if self._walked > MOST_STATEMENTS:
            raise Unsupported("call tree", node.at)
        match node:
            case ir.Block(body=body):
                return self._block(body, flow)
            case ir.If(condition=condition, then=then, otherwise=otherwise):
                return self._meet(node, [then, otherwise], flow, self._branch(condition, flow))
            case ir.Switch():
                return self._switch(node, flow)
            case ir.Loop():
                return self._loop(node, flow)
            case ir.Break() | ir.Continue() | ir.Return():
                self._leave(node, flow)
            case ir.Barrier():
                self._refuse(node, flow)
            case ir.Bind(binding=name, value=value) | ir.Declare(variable=name, value=value):
                self._name(node, name, value, flow)
            case ir.Store(reference=reference, value=value) | ir.Update(reference=reference, value=value):
                self._store(node, reference, self._value(value, flow), flow)
            case ir.Evaluate(value=value):
                self._value(value, flow)
        return flow

    def _name(self, node: ir.Statement, name: object, value: ir.Expression | None, flow: Doubt | None) -> None:
        doubt = self._value(value, flow) if value else flow
        self._state[name] = doubt and Doubt(node, cause=doubt)
        if isinstance(name.type, Pointer):
            self._targets[name] = self._target(value)

    def _store(self, node: ir.Statement, reference: ir.Reference, doubt: Doubt | None, flow: Doubt | None) -> None:
        place = self._any(reference, flow)
        doubt = doubt or place or flow
        root, whole = self._root(reference)
        if root.space == "function":
            kept = None if whole and isinstance(node, ir.Store) else self._state.get(root)
            self._state[root] = kept or (doubt and Doubt(node, cause=doubt))

    def _leave(self, node: ir.Statement, flow: Doubt | None) -> None:
        match node:
            case ir.Break():
                self._frames[-1].breaks.append(self._state)
            case ir.Continue():
                next(frame for frame in reversed(self._frames) if frame.loop).continues.append(self._state)
            case ir.Return(value=value):
                frame = self._functions[-1]
                doubt = self._value(value, flow) if value else None
                frame.doubt = frame.doubt or doubt
                frame.breaks.append(self._state)
        self._state = None

    # --- Branches and loops ---------------------------------------------------------------------------------------

    def _branch(self, asked: ir.Expression, flow: Doubt | None) -> Doubt | None:
        """The doubt about the control flow where an answer decides who goes on."""
        doubt = self._value(asked, flow)
        return flow or (doubt and Doubt(asked, cause=doubt))

    def _switch(self, node: ir.Switch, flow: Doubt | None) -> Doubt | None:
        branch = self._branch(node.selector, flow)
        self._frames.append(_Frame())
        after = self._meet(node, [case.body for case in node.cases], flow, branch)
        self._state = joined(self._state, *self._frames.pop().breaks)
        return after

    def _meet(
        self, node: ir.Statement, bodies: list[Sequence[ir.Statement]], flow: Doubt | None, branch: Doubt | None
    ) -> Doubt | None:
        """Walk branches apart; after them all invocations are together again, unless one can leave by the way."""
        before = self._state
        states = []
        flows = []
        for body in bodies:
            self._state = dict(before)
            flows.append(self._block(body, branch))
            states.append(self._state)
        self._state = joined(*states)
        return flow if ends((node,)) == {NEXT} else next(filter(None, flows), None)

    def _loop(self, node: ir.Loop, flow: Doubt | None) -> Doubt | None:
        before = dict(self._state)
        known = None
        again = flow
        while known != (known := _doubtful(self._state, again)):
            frame = _Frame(loop=True)
            self._frames.append(frame)
            after = self._round(node, frame, again)
            again = again if self._state is None else after  # without a next iteration, none comes from there
            self._frames.pop()
            self._state = joined(before, self._state)
        self._state = joined(*frame.breaks)
        return flow if ends((node,)) == {NEXT} else after

    def _round(self, node: ir.Loop, frame: _Frame, flow: Doubt | None) -> Doubt | None:
        """One time through a loop."""
        if node.condition:
            flow = self._branch(node.condition, flow)
            frame.breaks.append(dict(self._state))
        flow = self._block(node.body, flow)
        self._state = joined(self._state, *frame.continues)
        if self._state is None:
            return flow
        flow = self._block(node.continuing, flow)
        if node.break_if:
            flow = self._branch(node.break_if, flow)
            frame.breaks.append(dict(self._state))
        return flow

    # --- Values ---------------------------------------------------------------------------------------------------

    def _value(self, node: ir.Expression | ir.Reference, flow: Doubt | None) -> Doubt | None:
        """The doubt about a value, or which place a reference means; where not all are there together, about any."""
        match node:
            case ir.Named(binding=binding):
                doubt = self._state.get(binding)
            case ir.Load(reference=reference):
                doubt = self._loaded(reference, flow)
            case ir.ArrayLength():
                doubt = None
            case ir.Logical(left=left, right=right):
                doubt = self._value(right, self._branch(left, flow))
            case ir.UniformLoad():
                place = self._any(node, flow)
                self._refuse(node, flow or place)
                doubt = None
            case ir.AtomicCall():
                self._any(node, flow)
                doubt = Doubt(node, Differs("atomic"))
            case ir.Call():
                doubt = self._call(node, flow)
            case SubgroupCall():
                doubt = self._of_subgroup(node, flow)
            case _:
                doubt = self._any(node, flow)
        return flow or doubt

    def _of_subgroup(self, node: SubgroupCall, flow: Doubt | None) -> Doubt | None:
        self.has_subgroups = True
        self._any(node, flow)
        return Doubt(node, Differs("subgroup", node.name))

    def _any(self, node: ir.Expression | ir.Reference, flow: Doubt | None) -> Doubt | None:
        """The first doubt about the operands, or about the indices and pointers of a reference."""
        doubts = [self._value(part, flow) for part in children(node, ir.Part)]
        return next(filter(None, doubts), None)

    def _loaded(self, reference: ir.Reference, flow: Doubt | None) -> Doubt | None:
        indices = self._any(reference, flow)
        root, _ = self._root(reference)
        if root.space == "function":
            return self._state.get(root) or indices
        if root.space == "uniform" or root.access == "read":
            return indices
        return Doubt(reference, Differs(root.space, str(root.name)))

    def _root(self, reference: ir.Reference) -> tuple[ir.Variable, bool]:
        """The variable to which a reference leads, and whether it means all of it."""
        match reference:
            case ir.Root(variable=variable):
                return variable, True
            case ir.Deref(pointer=pointer):
                return self._root(self._target(pointer))
        return self._root(reference.base)[0], False

    def _target(self, pointer: ir.Expression) -> ir.Reference:
        return self._targets[pointer.binding] if isinstance(pointer, ir.Named) else pointer.reference

    def _call(self, node: ir.Call, flow: Doubt | None) -> Doubt | None:
        """Walk the function with these arguments; after it, all are together as before."""
        outside = set(self._aliased)
        self._check_aliases(node)
        for parameter, argument in zip(node.function.parameters, node.arguments, strict=True):
            self._name(node, parameter, argument, flow)
            if isinstance(parameter.type, Pointer) and parameter.type.space not in ("function", "private"):
                place = ir.Part(parameter.type, parameter)
                self._note(place, PointerParameter(parameter.type.space, str(parameter.name)))
        self._functions.append(_Frame())
        frames = self._frames
        self._frames = []
        self._block(node.function.body, flow)
        self._frames = frames
        frame = self._functions.pop()
        self._aliased = outside
        self._state = joined(self._state, *frame.breaks)
        for parameter in node.function.parameters:
            if isinstance(parameter.type, Pointer):
                self._store_back(node, parameter, flow)
        return frame.doubt and Doubt(node, cause=frame.doubt)

    def _store_back(self, node: ir.Call, parameter: ir.Binding, flow: Doubt | None) -> None:
        """Count a call as a store to what a pointer leads to, as the specification does, of what was there."""
        root, _ = self._root(self._targets[parameter])
        doubt = flow or self._state.get(parameter)
        if root.space == "function" and doubt:
            self._state[root] = self._state.get(root) or Doubt(node, cause=doubt)

    # --- Pointers to one variable ---------------------------------------------------------------------------------

    def _check_aliases(self, node: ir.Call) -> None:
        """Refuse a call that lets a function reach one variable in two ways, and write it in one of them."""
        used = usage(node.function)
        reached: dict[ir.Variable, tuple[ir.Part, bool]] = {root: (node, root in used.written) for root in used.touched}
        for parameter, argument in zip(node.function.parameters, node.arguments, strict=True):
            if not isinstance(argument.type, Pointer) or parameter not in used.touched:
                continue
            root = self._root(self._target(argument))[0]
            writes = parameter in used.written
            other, wrote = reached.setdefault(root, (argument, writes))
            if other is not argument and (writes or wrote) and root not in self._aliased:
                self._aliased.add(root)  # which the calls inside of this one need not report again
                self._note(argument, Aliased(str(node.function.name), str(root.name)), other)

    def _note(self, part: ir.Part, pointer: Aliased | PointerParameter, other: ir.Part | None = None) -> None:
        self.refused.setdefault(part.at, NotPortable(part, pointer=pointer, other=other))
