"""What a module declares, in whatever order: each name is read when another one needs it."""

from __future__ import annotations

from collections.abc import Mapping

from helpers.simulator.grammar import tree
from helpers.simulator.grammar.errors import Refused, Undefined
from helpers.simulator.types import definitions, functions, variables
from helpers.simulator.types.expressions import type_of
from helpers.simulator.types.kinds import BOOL, F32, Scalar
from helpers.simulator.types.overloads import RANGES, nearest
from helpers.simulator.types.program import Binding, Constant, Expression, Variable
from helpers.simulator.types.scopes import Alias, Known, Meaning, Routine, Scope, Stage, redefinition
from helpers.simulator.types.structs import laid_out

Named = tree.Declaration | tree.Function | tree.Struct | tree.Alias


class Declarations:
    """The declarations of a module, with the values of its overrides."""

    def __init__(self, module: tree.Module, constants: Mapping[str, float]) -> None:
        self.scope, self.constants = Scope(self.find), constants
        self.nodes: dict[str, Named] = {}
        self._found: dict[str, Meaning] = {}
        self._open: list[str] = []
        for node in module.declarations:
            if isinstance(node, tree.ConstAssert):
                continue
            if node.name in self.nodes:
                raise redefinition(node.name, node.name_at)
            self.nodes[node.name] = node
        self._check_constants()
        self._check_ids()
        for node in module.declarations:
            if isinstance(node, tree.ConstAssert):
                definitions.check_assertion(node, self.scope)
            elif not self._is_open(node):
                self.find(node.name)

    def _check_constants(self) -> None:
        for name, value in self.constants.items():
            node = self.nodes.get(name)
            if getattr(node, "kind", "") != "override":
                raise ValueError(f"{name} = {value}: the kernel has no `override {name}`")

    def _check_ids(self) -> None:
        """The numbers that ``@id`` gives to overrides."""
        taken = set()
        for node in self.nodes.values():
            for each in getattr(node, "attributes", ()):
                if each.name == "id":
                    number, length = self._number(each), each.end - each.at
                    if number > 65_535:
                        reason = "pipeline constant ID must be between 0 and 65535 inclusive"
                        raise Refused(reason, each.at, length)
                    if number in taken:
                        raise Refused("Override ID must be unique", each.at, length)
                    taken.add(number)

    def _is_open(self, node: Named) -> bool:
        """Whether it is an override without a value, which matters only where it is used."""
        if getattr(node, "kind", "") != "override" or node.value or node.name in self.constants:
            return False
        return self._override_type(node, None) is not None

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The variables that the module declares, in its order."""
        return tuple(each for each in map(self._found.get, self.nodes) if isinstance(each, Variable))

    def find(self, name: str) -> Meaning | None:
        """What a name stands for; None where the module declares none of this name."""
        node = self.nodes.get(name)
        if node is None or name in self._found:
            return self._found.get(name)
        if name in self._open:
            kind = "recursive" if self._open[-1] == name else "cyclic"
            raise Refused(f"declaration of `{name}` is {kind}", node.name_at, len(name))
        self._open.append(name)
        try:
            self._found[name] = self._read(node)
        finally:
            self._open.pop()
        return self._found[name]

    def _read(self, node: Named) -> Meaning:
        match node:
            case tree.Function():
                return self._function(node)
            case tree.Struct():
                return laid_out(node, lambda type: type_of(type, self.scope), self._number)
            case tree.Alias():
                type_of(node.type, self.scope, late=True)
                return Alias(node.type, self.scope)
            case tree.Declaration(kind="const"):
                return Known(definitions.constant_of(node, self.scope), Stage.CONST)
            case tree.Declaration(kind="override"):
                return Known(self._override(node), Stage.OVERRIDE)
        return variables.declared(node, self.scope, self._number)

    def _function(self, node: tree.Function) -> Routine:
        """A function; a value that the overrides make undefined matters only where the entry point reaches it."""
        try:
            return functions.read(node, self.scope)
        except Undefined as fault:
            routine = functions.read(node, Scope(self._before_launch))
            routine.function.fault = fault
            return routine

    def _before_launch(self, name: str) -> Meaning | None:
        """What a name stands for while no override has its value."""
        found = self.find(name)
        if isinstance(found, Known) and found.stage == Stage.OVERRIDE:
            return Binding(name, found.value.type, self.nodes[name].name_at)
        return found

    def _number(self, attribute: tree.Attribute, stage: Stage = Stage.CONST) -> int:
        return variables.number(attribute, self.scope, stage)

    def _override(self, node: tree.Declaration) -> Constant:
        """The value that is given, or the one that is written."""
        written = definitions.declared_value(node, self.scope.known(Stage.OVERRIDE))
        type = self._override_type(node, written)
        if node.name in self.constants:
            return Constant(type, node.at, node.end, (self._given(node.name, type),))
        if written is None:
            words = f"the override `{node.name}` has no value: give it one, or write `override {node.name} = ...;`"
            raise Refused(words, node.name_at, len(node.name))
        return definitions.known(written)

    def _override_type(self, node: tree.Declaration, written: Expression | None) -> Scalar:
        if node.type is None and written is None:
            raise definitions.untyped(node)
        type = written.type if written else type_of(node.type, self.scope)
        if not isinstance(type, Scalar):
            raise Refused(f"an override cannot be of type `{type}`", node.name_at, len(node.name))
        return type

    def _given(self, name: str, type: Scalar) -> float | int | bool:
        value = self.constants[name]
        if type == BOOL:
            return bool(value)
        if type == F32:
            return nearest(value)
        if value != int(value) or int(value) not in RANGES[type]:
            raise ValueError(f"{name} = {value}: it must be a {type}")
        return int(value)

    def entry(self, name: str) -> tree.Function:
        """The entry point of a name. Raises Refused where there is none."""
        node = self.nodes.get(name)
        if isinstance(node, tree.Function) and functions.is_entry_point(node):
            return node
        at = node.name_at if isinstance(node, tree.Function) else 0
        raise Refused(f"Unable to find entry point '{name}'", at, len(name) if at else 1)
