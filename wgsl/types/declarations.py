"""The declarations of a module, in whatever order: each name is read when another one needs it."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from contextlib import suppress
from math import isfinite
from threading import RLock

from wgsl.diagnostics import Limited, NotWgsl, Span, Undefined, Unset, Unsupported
from wgsl.syntax import tree
from wgsl.types.conversions import FLOATS, RANGES, nearest
from wgsl.types.expressions import type_of
from wgsl.types.functions import function_of, input_of
from wgsl.types.kinds import (
    BOOL,
    F16,
    F32,
    Handle,
    Scalar,
    Struct,
    byte_count,
    on_three_axes,
    passed_limit,
)  # fmt: skip
from wgsl.types.memory import declared, laid_out, number, numbers
from wgsl.types.names import Alias, Known, Lost, Meaning, Routine, Scope, Stage, check_new
from wgsl.types.order import needed
from wgsl.types.program import Binding, Constant, Function, Program, Variable
from wgsl.types.stages import COMPUTE, check_use
from wgsl.types.statements import (
    check_assertion,
    constant_of,
    declared_value,
    known,
    written_type,
)  # fmt: skip
from wgsl.types.textures import runs
from wgsl.types.usage import reached, usage

Named = tree.Declaration | tree.Function | tree.Struct | tree.Alias
MOST_OPEN = 32  # declarations that are read one inside of the other; a longer chain is read from its far end


class Declarations:
    """The declarations of a module, with the values of its constants; each is checked when it is first used."""

    def __init__(self, module: tree.Module, constants: Mapping[str, float], lost: Container[str] = ()) -> None:
        self.nodes: dict[str, Named] = {}
        self.scope = Scope(self.find, self.nodes.keys)
        self.scope.enabled = module.enabled
        self.constants = constants
        self._lost = lost  # names of declarations that cannot be read
        self._module = module
        self._meanings: dict[str, Meaning] = {}
        self._faults: dict[str, NotWgsl | Unsupported] = {}
        self._open: list[str] = []
        self._reading = RLock()  # what another thread is just reading does not use itself
        for node in module.declarations:
            if not isinstance(node, tree.ConstAssert):
                check_new(node.name, self.nodes)
                self.nodes[node.name] = node

    @property
    def passed(self) -> tuple[Limited, ...]:
        """The places at which the text goes past what every compiler takes, before its types are known."""
        return self._module.passed

    def check(self, entry_point: str) -> None:
        """Read all of them. Raises NotWgsl for the first that is wrong, in the order of the text.

        Raises Unsupported for what the entry point needs; what else is not supported does not matter.
        """
        for name, value in self.constants.items():
            if getattr(self.nodes.get(name), "kind", "") != "override":
                raise ValueError(f"{name} = {value}: the kernel has no `override {name}`")
        for fault in self.faults():
            if isinstance(fault, NotWgsl):
                raise fault
        if entry_point in self.nodes:
            self.find(entry_point)

    def faults(self) -> Iterator[NotWgsl | Unsupported]:
        """Yield the faults of the module, at most one for each declaration, in the order of the text."""
        for _, fault in self.wrong():
            yield fault

    def wrong(self) -> Iterator[tuple[Named | tree.ConstAssert | None, NotWgsl | Unsupported]]:
        """Yield each declaration that is wrong, with its first fault; None stands for the numbers of the overrides."""
        for node in (None, *self._module.declarations):
            try:
                if node is None:
                    self._check_ids()
                elif isinstance(node, tree.ConstAssert):
                    check_assertion(node, self.scope)
                else:
                    self.find(node.name)
            except (NotWgsl, Unsupported) as fault:
                yield node, fault

    def _check_ids(self) -> None:
        """Refuse a number of ``@id`` that is too large, or that two overrides have."""
        taken = set()
        for node in self.nodes.values():
            if attribute := tree.attribute(node, "id"):
                value = number(attribute, self.scope)
                if value > 65_535 or value in taken:
                    raise NotWgsl("id", attribute)
                taken.add(value)

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables that the module declares, in its order."""
        return tuple(meaning for meaning in map(self._meanings.get, self.nodes) if isinstance(meaning, Variable))

    @property
    def functions(self) -> list[Function]:
        """The functions that could be read and are no entry points, none before those that it calls."""
        routines = [meaning for meaning in self._meanings.values() if isinstance(meaning, Routine)]
        return [routine.function for routine in routines if not routine.entry]

    def find(self, name: str) -> Meaning | None:
        """Return the meaning of a name; None where the module declares none of this name."""
        node = self.nodes.get(name)
        if node is None or name in self._meanings:
            if node is None and name in self._lost:
                raise Lost(name)
            return self._meanings.get(name)
        with self._reading:
            if name in self._meanings:  # another thread has read it meanwhile
                return self._meanings[name]
            if name in self._faults:
                raise self._faults[name].with_traceback(None)
            if name in self._open:
                raise NotWgsl("uses itself", node.name, name=name)
            if len(self._open) == MOST_OPEN:
                raise Unsupported("chain of declarations", node.name.at, most=MOST_OPEN)
            if not self._open:
                self._read_chain(node)
            return self._read_once(node)

    def _read_chain(self, node: Named) -> None:
        """Read what a declaration needs, the far ends of chains first, unless it is in a circle."""
        if len(self.nodes) <= MOST_OPEN:
            return
        for name in needed(str(node.name), self.nodes, {*self._meanings, *self._faults}):
            with suppress(NotWgsl, Unsupported):
                self._read_once(self.nodes[name])

    def _read_once(self, node: Named) -> Meaning:
        """Read a declaration, and keep what it means, or its fault, which is that of all that use it."""
        name = str(node.name)
        if name in self._meanings:
            return self._meanings[name]
        self._open.append(name)
        try:
            self._meanings[name] = self._read(node)
        except (NotWgsl, Unsupported) as fault:
            self._faults[name] = fault
            raise
        finally:
            self._open.pop()
        return self._meanings[name]

    def _read(self, node: Named) -> Meaning:
        match node:
            case tree.Function():
                return self._function(node)
            case tree.Struct():
                return laid_out(node, self.scope)
            case tree.Alias():
                with suppress(Unset):  # it matters where the name is used
                    return Alias(node.type, self.scope, type_of(node.type, self.scope, late=True))
                return Alias(node.type, self.scope)
            case tree.Declaration(kind="const"):
                value = self._override(node) if node.name in self.constants else constant_of(node, self.scope)
                return Known(node.name, value, Stage.CONST)
            case tree.Declaration(kind="override"):
                return Known(node.name, self._override(node), Stage.OVERRIDE)
        return declared(node, self.scope)

    def _function(self, node: tree.Function) -> Routine:
        """A function; a value that the overrides make undefined matters only where the entry point reaches it."""
        try:
            return function_of(node, self.scope)
        except (Undefined, Unset) as fault:
            unknown = Scope(self.before_launch, self.nodes.keys)
            unknown.enabled = self.scope.enabled
            routine = function_of(node, unknown)
            routine.function.fault = fault
            return routine

    def before_launch(self, name: str) -> Meaning | None:
        """Return the meaning of a name while no override has its value."""
        meaning = self.find(name)
        if isinstance(meaning, Known) and meaning.stage == Stage.OVERRIDE:
            return Binding(meaning.name, meaning.value.type)
        return meaning

    def _override(self, node: tree.Declaration) -> Constant:
        """The value that is given, or the one that is written; without leaves where there is neither."""
        written = declared_value(node, self.scope.known(Stage.OVERRIDE))
        type = written.type if written else written_type(node, self.scope)
        if not isinstance(type, Scalar):
            raise NotWgsl("type of an override", node.name, type=type)
        if node.name not in self.constants:
            return known(written) if written else Constant(type, node, ())
        value = self.constants[node.name]
        if type in RANGES and (value != int(value) or int(value) not in RANGES[type]):
            raise ValueError(f"{node.name} = {value}: it must be a {type}")
        if type in FLOATS:
            return Constant(type, node, (_float(node.name, value, type),))
        return Constant(type, node, (bool(value) if type == BOOL else int(value),))

    def entry(self, name: str) -> tree.Function:
        """The entry point of a name. Raises NotWgsl where there is none."""
        node = self.nodes.get(name)
        if isinstance(node, tree.Function) and tree.attribute(node, "compute"):
            return node
        raise NotWgsl("entry_point", node.name if isinstance(node, tree.Function) else Span(0, 0), wanted=name)


LARGEST = {F32: "about 3.4e38", F16: "65504"}


def _float(name: str, value: float, type: Scalar) -> float:
    """The value of an override of a float type."""
    number = nearest(value, type)
    if not isfinite(number):
        raise ValueError(f"{name} = {value}: it is too large for an {type}, whose largest number is {LARGEST[type]}")
    return number


# --- The program of an entry point --------------------------------------------------------------------------------


def check(declarations: Declarations, entry_point: str) -> Program:
    """The program of one entry point of a module, ready to run.

    Raises NotWgsl where there is none, or it is not WGSL; Unsupported where the simulator does not run it.
    """
    declarations.check(entry_point)
    return program_of(declarations, entry_point, (Undefined, Unset))


def program_of(declarations: Declarations, entry_point: str, faults: type | tuple[type, ...]) -> Program:
    """The program of one entry point, whatever its bindings are, and what it does not use.

    Raises the first of these faults that a function has which it calls.
    """
    node = declarations.entry(entry_point)
    function = declarations.find(entry_point).function
    uses = usage(function)
    variables = declarations.variables
    for called in reached(function):
        if isinstance(called.fault, faults):
            raise called.fault
    check_use(uses, COMPUTE, node.name)
    used = [variable for variable in variables if variable in uses.variables]
    immediate = [variable for variable in used if variable.space == "immediate"]
    if len(immediate) > 1:
        raise NotWgsl("two immediates", immediate[1].name, entry=node.name)
    workgroup = tuple(variable for variable in used if variable.space == "workgroup")
    private = tuple(variable for variable in used if variable.space == "private")
    held = sum(byte_count(variable.type) for variable in workgroup)
    size = _workgroup_size(node, declarations, held)
    bindings = _bindings(variables, uses.variables)
    inputs = _inputs(node, declarations)
    return Program(function, inputs, size, bindings, workgroup, private, frozenset(uses.stored))


def _workgroup_size(node: tree.Function, declarations: Declarations, held: int) -> tuple[int, int, int]:
    attribute = tree.attribute(node, "workgroup_size")
    if attribute is None:
        raise NotWgsl("no workgroup_size", tree.attribute(node, "compute"))
    sizes = numbers(attribute, declarations.scope, Stage.OVERRIDE)
    if len(sizes) > 3 or 0 in sizes:
        raise NotWgsl("workgroup_size", attribute)
    size = on_three_axes(sizes)
    if fault := passed_limit(size, held):
        raise Limited(fault.kind, attribute, **fault.facts)
    return size


def _inputs(node: tree.Function, declarations: Declarations) -> tuple[tuple[str, ...], ...]:
    """For each parameter of an entry point the built-in values that it holds, in the order of its members."""
    taken: set[str] = set()
    inputs = []
    for parameter in node.parameters:
        type = type_of(parameter.type, declarations.scope)
        members = declarations.nodes[type.name].members if isinstance(type, Struct) else (parameter,)
        types = (type_of(member.type, declarations.scope) for member in members)
        pairs = zip(members, types, strict=True)
        inputs.append(tuple(input_of(*pair, taken, declarations.scope.enabled) for pair in pairs))
    return tuple(inputs)


def _bindings(variables: tuple[Variable, ...], used: set[Variable]) -> tuple[Variable, ...]:
    """The variables that have a binding, in the order of the numbers; of two with the same, the one that is used."""
    bindings: dict[tuple[int, int], Variable] = {}
    for variable in variables:
        if variable.binding < 0 or (isinstance(variable.type, Handle) and not runs(variable.type)):
            continue
        place = variable.group, variable.binding
        other = bindings.setdefault(place, variable)
        if variable is not other and {variable, other} <= used:
            raise NotWgsl("binding twice", variable, number=variable.binding)
        bindings[place] = variable if variable in used else other
    return tuple(bindings[place] for place in sorted(bindings))
