"""The walk over one function that draws its graph of influence: what depends on what, and what must be uniform."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from wgsl.facts import Differs
from wgsl.syntax.tree import children
from wgsl.types import program as ir
from wgsl.types.fragments import Derivative, is_derivative
from wgsl.types.influence import Graph, Node, Path, Place
from wgsl.types.kinds import Pointer
from wgsl.types.references import name_of
from wgsl.types.subgroups import SubgroupCall
from wgsl.types.textures import READ_WRITE, TextureCall
from wgsl.types.usage import NEXT, ends

MOST_PLACES = 64  # in a function and those that it calls, of which a caller hears
State = dict[ir.Variable, Node] | None  # of a function's variables; None where no invocation comes


class FromCaller(NamedTuple):
    """A source that a call decides: an argument, by its number; what a pointer leads to; or the control flow."""

    number: int
    content: bool = False


FLOW = FromCaller(-1)


class Demand(NamedTuple):
    """A place that asks for uniform control flow, or for a uniform value, and the path from there to a source."""

    place: Place
    path: Path


@dataclass(frozen=True)
class Summary:
    """A function as its callers see it: what it demands, and the paths from what it gives back.

    It gives its `result`, and the `contents` of what its pointers lead to, by the numbers of the parameters.
    """

    demands: tuple[Demand, ...]
    result: tuple[Path, ...]
    contents: Mapping[int, tuple[Path, ...]]


class Called(NamedTuple):
    """A call, with the variables to which its pointers lead."""

    node: ir.Call
    roots: Mapping[ir.Binding, ir.Variable]


@dataclass
class _Frame:
    """The states in which a loop, a switch or a function is left: at each `break`, `continue` or `return`."""

    loop: bool = False
    breaks: list[State] = field(default_factory=list)
    continues: list[State] = field(default_factory=list)


class Flow:
    """The graph of one function, of which `differing` are the parameters that differ between invocations.

    `demands` are its own and those of the functions that it calls, each for each of its sources.
    """

    asks_of_derivatives = False

    def __init__(
        self,
        function: ir.Function,
        summaries: Mapping[ir.Function, Summary],
        differing: Mapping[ir.Binding, Differs],
    ) -> None:
        self.calls: list[Called] = []
        self.has_subgroups = False  # a call of one of their functions, in this function itself
        self._summaries = summaries
        self._graph = Graph()
        self._asked: list[tuple[Place, Node]] = []
        self._returns = _Frame()
        self._frames = [self._returns]
        self._results: list[Node] = []
        self._values: dict[ir.Binding, Node] = {}
        self._targets: dict[ir.Binding, ir.Reference] = {}
        self._contents: dict[int, ir.Variable] = {}  # what the function's pointers lead to
        self._state: State = {}
        self._ends: dict[int, set[str]] = {}  # the ways in which control may leave a statement, by its id
        for number, parameter in enumerate(function.parameters):
            self._enter(number, parameter, differing.get(parameter))
        self._block(function.body, self._graph.node(None, [], FLOW))
        self._state = self._joined(self._state, *self._returns.breaks)
        self.demands, self.summary = self._outcome()

    def _enter(self, number: int, parameter: ir.Binding, differs: Differs | None) -> None:
        """Give a parameter its value, and a pointer a variable of its own to lead to."""
        self._values[parameter] = self._graph.node(None, [], differs or FromCaller(number))
        type = parameter.type
        if isinstance(type, Pointer):
            variable = ir.Variable(parameter.name, type.to, type.space, type.access)
            self._targets[parameter] = ir.Root(type.to, parameter, variable)
            if type.space == "function":
                self._contents[number] = variable
                self._state[variable] = self._graph.node(None, [], FromCaller(number, content=True))

    def _outcome(self) -> tuple[list[Demand], Summary]:
        """Return the demands, and the part that callers see."""
        state = self._state or {}
        contents = {number: state[variable] for number, variable in self._contents.items() if variable in state}
        if not (self._asked or self._results or contents):
            return [], Summary((), (), {})
        result = self._graph.node(None, self._results)
        paths = iter(self._graph.paths([result, *contents.values(), *[node for _, node in self._asked]]))
        of_result = next(paths)
        of_contents = {number: next(paths) for number in contents}
        demands = [Demand(place, path) for place, _ in self._asked for path in next(paths)]
        asked = [demand for demand in demands if isinstance(demand.path.source, FromCaller)]
        unique = {(demand.place.at, demand.path.source): demand for demand in reversed(asked)}
        return demands, Summary(tuple(unique.values())[-MOST_PLACES:], of_result, of_contents)

    # --- States ---------------------------------------------------------------------------------------------------

    def _joined(self, *states: State) -> State:
        """Return the state in which control flows meet, of the variables that all of them have."""
        reached = [state for state in states if state is not None]
        if not reached:
            return None
        met, *others = reached
        for other in others:
            different = [name for name, _ in met.items() - other.items()]
            if different:
                met = dict(met)
            for name in different:
                value = met.pop(name)
                if name in other:
                    met[name] = self._graph.joined(value, other[name])
        return met

    # --- Statements: each takes the control flow before it, and gives the one after it ----------------------------

    def _block(self, body: Sequence[ir.Statement], flow: Node) -> Node:
        for statement in body:
            if self._state is None:
                break
            flow = self._statement(statement, flow)
        return flow

    def _statement(self, node: ir.Statement, flow: Node) -> Node:
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
                self._ask(node, flow)
            case ir.Bind(binding=binding, value=value):
                self._values[binding] = self._node(node, flow, self._value(value, flow))
                if isinstance(binding.type, Pointer):
                    self._targets[binding] = self._target(value)
            case ir.Declare(variable=variable, value=value):
                initial = self._value(value, flow) if value else None
                self._state[variable] = self._node(node, flow, initial)
            case ir.Store() | ir.Update():
                self._store(node, flow)
            case ir.Evaluate(value=value):
                self._value(value, flow)
        return flow

    def _node(self, place: Place | None, *causes: Node | None) -> Node:
        """A node that depends on those of these that there are."""
        return self._graph.node(place, [cause for cause in causes if cause])

    def _store(self, node: ir.Store | ir.Update, flow: Node) -> None:
        """A store: the place is evaluated first, and `+=` loads the old value before the new one is evaluated."""
        place = self._any(node.reference, flow)
        root, whole = self._root(node.reference)
        before = self._state.get(root)
        value = self._value(node.value, flow)
        if root.space != "function":
            return
        kept = [] if whole else [before, self._state[root]]
        if isinstance(node, ir.Update):
            kept = [before, *kept]
        self._state[root] = self._node(node, *kept, flow, value, place)

    def _leave(self, node: ir.Break | ir.Continue | ir.Return, flow: Node) -> None:
        match node:
            case ir.Break():
                self._frames[-1].breaks.append(self._state)
            case ir.Continue():
                next(frame for frame in reversed(self._frames) if frame.loop).continues.append(self._state)
            case ir.Return(value=value):
                if value:
                    self._results.append(self._node(None, flow, self._value(value, flow)))
                self._returns.breaks.append(self._state)
        self._state = None

    # --- Branches and loops ---------------------------------------------------------------------------------------

    def _branch(self, asked: ir.Expression, flow: Node) -> Node:
        """The control flow where an answer decides who goes on."""
        answer = self._value(asked, flow)
        return self._graph.joined(flow, self._node(asked, answer)) if answer else flow

    def _switch(self, node: ir.Switch, flow: Node) -> Node:
        branch = self._branch(node.selector, flow)
        self._frames.append(_Frame())
        after = self._meet(node, [case.body for case in node.cases], flow, branch)
        self._state = self._joined(self._state, *self._frames.pop().breaks)
        return after

    def _meet(self, node: ir.Statement, bodies: list[Sequence[ir.Statement]], flow: Node, branch: Node) -> Node:
        """Walk branches apart; after them all invocations are together again, unless one can leave by the way."""
        before = self._state
        states = []
        flows = []
        for body in bodies:
            self._state = dict(before)
            flows.append(self._block(body, branch))
            states.append(self._state)
        self._state = self._joined(*states)
        return flow if ends((node,), self._ends) == {NEXT} else self._graph.joined(*flows)

    def _loop(self, node: ir.Loop, flow: Node) -> Node:
        """Walk a loop once: what its end depends on flows back into its begin."""
        again = self._node(None, flow)
        begun = {name: self._node(None, value) for name, value in self._state.items()}
        self._state = dict(begun)
        frame = _Frame(loop=True)
        self._frames.append(frame)
        after = self._round(node, frame, again)
        self._frames.pop()
        if self._state is not None:
            again.causes.append(after)
            for name, value in begun.items():
                value.causes.append(self._state[name])
        self._state = self._joined(*frame.breaks)
        return flow if ends((node,), self._ends) == {NEXT} else after

    def _round(self, node: ir.Loop, frame: _Frame, flow: Node) -> Node:
        """One time through a loop."""
        if node.condition:
            flow = self._branch(node.condition, flow)
            frame.breaks.append(dict(self._state))
        flow = self._block(node.body, flow)
        self._state = self._joined(self._state, *frame.continues)
        if self._state is None:
            return flow
        self._state = dict(self._state)
        flow = self._block(node.continuing, flow)
        if node.break_if:
            flow = self._branch(node.break_if, flow)
            frame.breaks.append(dict(self._state))
        return flow

    # --- Values: None where a value is uniform, whoever is there --------------------------------------------------

    def _value(self, node: ir.Expression | ir.Reference, flow: Node) -> Node | None:
        """The node of a value, or of which place a reference means."""
        match node:
            case ir.Named(binding=binding):
                return self._values.get(binding)  # an override without a value is none of them, and uniform
            case ir.Load(reference=reference):
                return self._loaded(reference, flow)
            case ir.ArrayLength():
                return None
            case ir.Logical(left=left, right=right):
                return self._logical(left, right, flow)
            case ir.UniformLoad():
                self._ask(node, self._node(None, flow, self._any(node, flow)))
                return None
            case ir.AtomicCall():
                self._any(node, flow)
                return self._graph.node(node, [], Differs("atomic"))
            case ir.Call():
                return self._call(node, flow)
            case SubgroupCall():
                return self._of_subgroup(node, flow)
            case TextureCall() | Derivative():
                return self._of_graphics(node, flow)
        return self._any(node, flow)

    def _ask(self, place: Place, node: Node) -> None:
        """Ask that what is at a place is uniform."""
        self._asked.append((place, node))

    def _of_subgroup(self, node: SubgroupCall, flow: Node) -> Node | None:
        """A function of subgroups: what it gives is the same for a subgroup at most."""
        self.has_subgroups = True
        self._any(node, flow)
        return self._graph.node(node, [], Differs("subgroup", node.name))

    def _of_graphics(self, node: TextureCall | Derivative, flow: Node) -> Node | None:
        """A function of textures, or a derivative: not even the same arguments give all the same."""
        value = self._any(node, flow)
        if is_derivative(node):
            if self.asks_of_derivatives:
                self._ask(node, flow)
            return self._graph.node(node, [], Differs("thread", node.name))
        if node.name == "textureLoad" and node.texture.type.access == READ_WRITE:
            return self._graph.node(node, [], Differs("texture", name_of(node.texture)))
        return value

    def _any(self, node: ir.Expression | ir.Reference, flow: Node) -> Node | None:
        """A node for the operands, or for the indices and pointers of a reference."""
        values = [self._value(part, flow) for part in children(node, ir.Part)]
        causes = [value for value in values if value]
        return self._graph.joined(*causes) if causes else None

    def _logical(self, left: ir.Expression, right: ir.Expression, flow: Node) -> Node | None:
        """``&&`` or ``||``, which may skip what its right side does to variables."""
        branch = self._branch(left, flow)
        skipped = dict(self._state)
        value = self._value(right, branch)
        self._state = self._joined(skipped, self._state)
        causes = [cause for cause in (branch if branch is not flow else None, value) if cause]
        return self._graph.joined(*causes) if causes else None

    def _loaded(self, reference: ir.Reference, flow: Node) -> Node | None:
        indices = self._any(reference, flow)
        root, _ = self._root(reference)
        if root.space == "function":
            return self._graph.joined(self._state[root], indices) if indices else self._state[root]
        if root.space in ("uniform", "immediate") or root.access == "read":
            return indices
        return self._graph.node(reference, [], Differs(root.space, str(root.name)))

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

    # --- Calls ----------------------------------------------------------------------------------------------------

    def _call(self, node: ir.Call, flow: Node) -> Node | None:
        """Ask for what the function demands; return the node of its result. After it, all are together as before."""
        sources: dict[object, Node] = {FLOW: flow}
        places: dict[int, tuple[ir.Variable, bool]] = {}
        for number, argument in enumerate(node.arguments):
            value = self._value(argument, flow)
            sources[FromCaller(number)] = self._node(node, flow, value)
            if isinstance(argument.type, Pointer):
                places[number] = self._root(self._target(argument))
        for number, (root, _) in places.items():
            if root in self._state:
                sources[FromCaller(number, content=True)] = self._state[root]
        parameters = node.function.parameters
        self.calls.append(Called(node, {parameters[number]: root for number, (root, _) in places.items()}))
        summary = self._summaries[node.function]
        for demand in summary.demands:
            self._asked.append((demand.place, self._continued(demand.path, sources)))
        for number, paths in summary.contents.items():
            self._store_back(node, FromCaller(number), places[number], paths, sources)
        causes = [self._continued(path, sources) for path in summary.result]
        return self._node(node, *causes) if causes else None

    def _continued(self, path: Path, sources: Mapping[object, Node]) -> Node:
        """A node with a path of a function that is called, and what this call gives it."""
        source = sources.get(path.source) or self._graph.node(None, [], path.source)
        return self._graph.chain(path.steps, source)

    def _store_back(
        self,
        node: ir.Call,
        pointer: FromCaller,
        place: tuple[ir.Variable, bool],
        paths: Sequence[Path],
        sources: Mapping[object, Node],
    ) -> None:
        """Count a call as a store to what a pointer leads to."""
        root, whole = place
        causes = [self._continued(path, sources) for path in paths]
        kept = None if whole else self._state[root]
        self._state[root] = self._node(node, kept, *causes, sources[pointer])
