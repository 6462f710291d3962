"""What a module declares, in whatever order: each name is read when another one needs it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from helpers.wgsl.diagnostics import Refused, Undefined, Unsupported
from helpers.wgsl.syntax import tree
from helpers.wgsl.types import statements as definitions
from helpers.wgsl.types.conversions import RANGES, concrete, nearest, refused
from helpers.wgsl.types.expressions import type_of, value
from helpers.wgsl.types.kinds import (
    BOOL,
    F32,
    I32,
    U32,
    Array,
    Atomic,
    Field,
    Pointer,
    Scalar,
    Struct,
    Type,
    Vector,
    alignment,
    contains,
    is_constructible,
    is_runtime_sized,
    limit_passed,
    rounded,
    words,
)
from helpers.wgsl.types.names import Alias, Known, Meaning, Routine, Scope, Stage, redefinition, unsupported
from helpers.wgsl.types.program import Binding, Constant, Expression, Function, Program, Variable
from helpers.wgsl.types.statements import Place, declared_value, known, no_access_mode, statements, untyped
from helpers.wgsl.types.usage import RETURNED, Usage, ends

# --- What a module declares ---


Named = tree.Declaration | tree.Function | tree.Struct | tree.Alias


class Declarations:
    """The declarations of a module, with the values of its overrides; each is checked when it is first used."""

    def __init__(self, module: tree.Module, constants: Mapping[str, float]) -> None:
        self.scope, self.constants, self._module = Scope(self.find), constants, module
        self.nodes: dict[str, Named] = {}
        self._found: dict[str, Meaning] = {}
        self._open: list[str] = []
        for node in module.declarations:
            if isinstance(node, tree.ConstAssert):
                continue
            if node.name in self.nodes:
                raise redefinition(node.name, node.name_at)
            self.nodes[node.name] = node

    def check(self) -> None:
        """Read all of them. Raises Refused or Unsupported for the first that is wrong, in the order of the text."""
        self._check_constants()
        self._check_ids()
        for node in self._module.declarations:
            if isinstance(node, tree.ConstAssert):
                definitions.check_assertion(node, self.scope)
            elif not self._is_open(node):
                self.find(node.name)

    def _check_constants(self) -> None:
        for name, given in self.constants.items():
            node = self.nodes.get(name)
            if getattr(node, "kind", "") != "override":
                raise ValueError(f"{name} = {given}: the kernel has no `override {name}`")

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
        return declared(node, self.scope, self._number)

    def _function(self, node: tree.Function) -> Routine:
        """A function; a value that the overrides make undefined matters only where the entry point reaches it."""
        try:
            return function_of(node, self.scope)
        except Undefined as fault:
            routine = function_of(node, Scope(self._before_launch))
            routine.function.fault = fault
            return routine

    def _before_launch(self, name: str) -> Meaning | None:
        """What a name stands for while no override has its value."""
        found = self.find(name)
        if isinstance(found, Known) and found.stage == Stage.OVERRIDE:
            return Binding(name, found.value.type, self.nodes[name].name_at)
        return found

    def _number(self, attribute: tree.Attribute, stage: Stage = Stage.CONST) -> int:
        return number(attribute, self.scope, stage)

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
        if isinstance(node, tree.Function) and is_entry_point(node):
            return node
        at = node.name_at if isinstance(node, tree.Function) else 0
        raise Refused(f"Unable to find entry point '{name}'", at, len(name) if at else 1)


# --- Variables, and numbers in attributes ---


SPACES = ("storage", "uniform", "workgroup", "private")


def number(attribute: tree.Attribute, scope: Scope, stage: Stage) -> int:
    """The whole number that an attribute takes."""
    return numbers(attribute, scope, stage)[0]


def numbers(attribute: tree.Attribute, scope: Scope, stage: Stage) -> list[int]:
    """The whole numbers that an attribute takes."""
    given = [value(each, scope.known(stage)) for each in attribute.arguments]
    if {I32, U32} <= {each.type for each in given}:
        reason = f"the numbers of @{attribute.name} must be all of type i32, or all u32"
        raise Refused(reason, attribute.at, attribute.end - attribute.at)
    found = [known(concrete(each)) for each in given]
    for each in found:
        if each.type not in (I32, U32):
            raise refused(
                "must be a const-expression that resolves to a concrete integer scalar (`u32` or `i32`)", each
            )
        if each.leaves[0] < 0:
            raise refused("must be non-negative (>= 0)", each)
    if not found:
        raise Refused(f"`@{attribute.name}` needs a number", attribute.at, attribute.end - attribute.at)
    return [each.leaves[0] for each in found]


def declared(node: tree.Declaration, scope: Scope, number: Callable) -> Variable:
    """A `var` of the module."""
    space, access = _space(node)
    places = {each.name: number(each) for each in node.attributes if each.name in ("group", "binding")}
    _check_places(node, space, places)
    given = declared_value(node, scope.known(Stage.OVERRIDE))
    if given and space != "private":
        raise refused(f"a variable in {space} memory cannot have an initial value", given)
    type = given.type if given else _type(node, scope, space)
    check_space(type, space, access, node)
    return Variable(node.name, type, space, access, node.name_at, places.get("binding", -1), given and known(given))


def _type(node: tree.Declaration, scope: Scope, space: str) -> object:
    if node.type is None:
        raise untyped(node)
    if space == "private":
        type = type_of(node.type, scope)
        if not is_constructible(type):
            raise Refused(f"a private variable cannot be of type `{type}`", node.name_at, len(node.name))
        return type
    return type_of(node.type, scope, late=space == "workgroup")


def _space(node: tree.Declaration) -> tuple[str, str]:
    """Address space and access."""
    names = [getattr(each, "name", "") for each in node.templates]
    if not names:
        if node.type and (feature := unsupported(node.type.name)):
            raise Unsupported(feature, node.type.at)
        reason = f"the variable `{node.name}` needs an address space, such as `var<workgroup>` or `var<private>`"
        raise Refused(reason, node.name_at, len(node.name))
    if names[0] not in SPACES:
        at = node.templates[0]
        raise Refused(f"unknown address space: `{names[0]}`", at.at, at.end - at.at, "unknown address space")
    most = 2 if names[0] == "storage" else 1
    if len(names) > most:
        raise no_access_mode(node.templates[most])
    if names[0] == "storage":
        return "storage", _access(node, names)
    return names[0], "read" if names[0] == "uniform" else "read_write"


def _access(node: tree.Declaration, names: list[str]) -> str:
    access = names[1] if len(names) > 1 else "read"
    if access in ("read", "read_write"):
        return access
    at = node.templates[1]
    if access == "write":
        raise Refused("Storage address space doesn't support write-only access", at.at, at.end - at.at)
    raise Refused(f"unknown access: `{access}`", at.at, at.end - at.at, "unknown access")


def _check_places(node: tree.Declaration, space: str, places: dict[str, int]) -> None:
    if space in ("storage", "uniform"):
        if not places:
            raise Refused(f"the variable `{node.name}` needs `@group(0) @binding(...)`", node.name_at, len(node.name))
        for here, missing in (("group", "binding"), ("binding", "group")):
            if missing not in places:
                reason = f"variable `@{here}({places[here]})` needs a '{missing}' attribute"
                raise Refused(reason, node.at, node.name_at - node.at)
        if places["group"]:
            reason = f"`{node.name}` is in group {places['group']}: write @group(0) for every binding"
            raise Refused(reason, node.name_at, len(node.name))
    elif places:
        raise Refused(f"only buffers have a binding, and `{node.name}` is not one", node.name_at, len(node.name))


# --- Functions ---


INPUTS = {
    **dict.fromkeys(("local_invocation_id", "global_invocation_id", "workgroup_id", "num_workgroups"), Vector(3, U32)),
    "local_invocation_index": U32,
}
OTHER_INPUTS = (
    "vertex_index", "instance_index", "position", "front_facing", "frag_depth", "sample_index", "sample_mask",
    "subgroup_invocation_id", "subgroup_size", "subgroup_id", "num_subgroups", "clip_distances", "primitive_index",
    "view_index", "global_invocation_index", "workgroup_index",
)  # fmt: skip


def is_entry_point(node: tree.Function) -> bool:
    """Whether a dispatch can start the function."""
    return any(each.name == "compute" for each in node.attributes)


def _must_use(node: tree.Function) -> bool:
    """Whether the result of a call must be used."""
    given = next((each for each in node.attributes if each.name == "must_use"), None)
    if given and not node.result:
        reason = "function annotated with @must_use but does not return any value"
        raise Refused(reason, given.at, given.end - given.at)
    return given is not None


def function_of(node: tree.Function, scope: Scope) -> Routine:
    """A function with its body."""
    for each in node.attributes:
        if each.name in ("vertex", "fragment"):
            raise Unsupported("vertex and fragment shaders", each.at)
    inside = scope.inner()
    entry = is_entry_point(node)
    parameters = tuple(_parameter(each, scope, inside, entry) for each in node.parameters)
    result = type_of(node.result, scope) if node.result else None
    if result is not None and not is_constructible(result):
        raise Refused(f"a function cannot return a value of type `{result}`", node.result.at, 1)
    if entry and node.result:
        words = "an entry point for compute returns nothing"
        raise Refused(words, node.result.at, node.result.end - node.result.at)
    function = Function(node.name, parameters, result, node.name_at)
    function.body = statements(node.body.body, inside, Place(result))
    if result is not None and ends(function.body) != {RETURNED}:
        reason = f"The `return` expression None does not match the declared return type Some({result})"
        raise Refused(reason, node.at, node.end - node.at)
    return Routine(function, _must_use(node), entry)


def _parameter(node: tree.Parameter, scope: Scope, inside: Scope, entry: bool) -> Binding:
    type = type_of(node.type, scope)
    length = node.type.end - node.type.at
    if not isinstance(type, Pointer) and not is_constructible(type):
        raise Refused(f"a parameter cannot be of type `{type}`", node.type.at, length)
    if not entry and any(each.name in ("builtin", "location") for each in node.attributes):
        reason = (
            "Functions that are not entry points cannot have `@location` or `@builtin` attributes on their arguments"
        )
        raise Refused(f'{reason}: "{node.name}" has attributes', node.at, node.end - node.at)
    binding = Binding(node.name, type, node.at)
    inside.declare(node.name, binding, node.at)
    return binding


def inputs(node: tree.Function, structs: dict[str, tree.Struct], scope: Scope) -> tuple[tuple[str, ...], ...]:
    """For each parameter of an entry point the built-in values that it holds, in the order of its members."""
    taken: set[str] = set()
    return tuple(_inputs_of(each, structs, scope, taken) for each in node.parameters)


def _inputs_of(node: tree.Parameter, structs: dict[str, tree.Struct], scope: Scope, taken: set[str]) -> tuple[str, ...]:
    type = type_of(node.type, scope)
    members = structs[type.name].members if isinstance(type, Struct) else (node,)
    return tuple(_input(member, type_of(member.type, scope), member is not node, taken) for member in members)


def _input(node: tree.Parameter, type: Type, inside: bool, taken: set[str]) -> str:
    given = next((each for each in node.attributes if each.name == "builtin"), None)
    if given is None:
        reason = f"the member `{node.name}` is an input of a kernel and needs a `@builtin(...)`"
        reason = reason if inside else "Entry point arguments and return values must all have bindings"
        raise Refused(reason, node.at, node.end - node.at)
    at = given.arguments[0] if given.arguments else given
    name = getattr(at, "name", "")
    if name in OTHER_INPUTS:
        raise Unsupported(f"built-in value `{name}`", given.at)
    if name not in INPUTS:
        raise Refused(f"unknown builtin: `{name}`", at.at, at.end - at.at, "unknown builtin")
    if name in taken:
        raise Refused(f"`{name}` is present more than once", at.at, at.end - at.at)
    taken.add(name)
    if type != INPUTS[name]:
        reason = f"Built-in type for `{name}` is invalid: it is `{INPUTS[name]}`"
        raise Refused(reason, node.type.at, node.type.end - node.type.at)
    return name


# --- Structs and address spaces ---


WORD = 4  # bytes


def laid_out(node: tree.Struct, type_of: Callable[[tree.Name], Type], number: Callable) -> Struct:
    """A struct with the offsets of its members; `number` evaluates the arguments of @size and @align."""
    fields, end, widest = [], 0, 1
    if not node.members:
        raise Refused(f"the struct `{node.name}` has no members", node.name_at, len(node.name))
    for i, member in enumerate(node.members):
        type = type_of(member.type)
        _check_member(node, i, type, {field.name for field in fields})
        size, align = _attributes(member, type, number)
        offset = rounded(end, align)
        fields.append(Field(member.name, type, offset))
        end, widest = offset + size, max(widest, align)
    return Struct(node.name, tuple(fields), rounded(end, widest), widest)


def _check_member(node: tree.Struct, i: int, type: Type, names: set[str]) -> None:
    member = node.members[i]
    if member.name in names:
        words_ = f"redefinition of `{member.name}`"
        raise Refused(words_, member.at, len(member.name), words_)
    if isinstance(type, Pointer):
        raise Refused(f"a member cannot be of type `{type}`", member.type.at, member.type.end - member.type.at)
    if is_runtime_sized(type) and (i + 1 < len(node.members) or isinstance(type, Struct)):
        words_ = "only the last member of a struct may be a runtime-sized array"
        raise Refused(words_, member.type.at, member.type.end - member.type.at)


def _attributes(member: tree.Parameter, type: Type, number: Callable) -> tuple[int, int]:
    """Size and alignment in words."""
    size, align = words(type), alignment(type)
    for attribute in member.attributes:
        if attribute.name not in ("size", "align"):
            continue
        given = number(attribute)
        length = attribute.end - attribute.at
        if attribute.name == "align":
            if given < align * WORD or given & (given - 1):
                raise Refused(f"@align must be a power of two of at least {align * WORD}", attribute.at, length)
            align = given // WORD
        else:
            if given < size * WORD:
                raise Refused(f"@size must be at least {size * WORD}", attribute.at, length)
            size = -(-given // WORD)
    return size, align


# --- Address spaces -------------------------------------------------------------------------------------------


def check_space(type: Type, space: str, access: str, node: tree.Declaration) -> None:
    """Refuse a type that a variable of an address space cannot have."""
    reason = _unfit(type, space, access)
    if reason:
        raise Refused(reason, node.name_at, len(node.name))


def _unfit(type: Type, space: str, access: str) -> str | None:
    shared = space in ("storage", "uniform")
    if is_runtime_sized(type) and space != "storage":
        return f"a variable in {space} memory needs a size: write the length of the array, as in `array<f32, 64>`"
    if contains(type, lambda part: isinstance(part, Pointer)):
        return f"a variable cannot be of type `{type}`"
    if shared and contains(type, lambda part: part == BOOL):
        return "a buffer cannot hold a bool: use a u32"
    if contains(type, lambda part: isinstance(part, Atomic)) and (
        space not in ("storage", "workgroup") or access == "read"
    ):
        return f"atomics need workgroup memory, or storage that is read_write, not {space} memory"
    return uniform_fault(type) if space == "uniform" else None


def uniform_fault(type: Type) -> str | None:
    """Why a type does not fit uniform memory, where arrays and structs lie at multiples of 16 bytes."""
    match type:
        case Array(element):
            if type.stride % 4:
                stride = type.stride * WORD
                return f"The array stride {stride} is not a multiple of the required alignment 16"
            return uniform_fault(element)
        case Struct(fields=fields):
            for field, after in zip(fields, (*fields[1:], None), strict=True):
                if (
                    isinstance(field.type, Struct)
                    and after
                    and after.offset < field.offset + rounded(words(field.type), 4)
                ):
                    return f"The struct member `{after.name}` must be 16 bytes or more behind `{field.name}`"
                if isinstance(field.type, Array | Struct) and field.offset % 4:
                    return (
                        f"The struct member `{field.name}` at offset {field.offset * WORD} must be at a multiple of 16"
                    )
                if fault := uniform_fault(field.type):
                    return fault
    return None


# --- The program of an entry point ---


def check(declarations: Declarations, entry_point: str) -> Program:
    """The program of one entry point of a module.

    Raises Refused where there is none, or it is not WGSL; Unsupported where the simulator does not run it.
    """
    declarations.check()
    node = declarations.entry(entry_point)
    structs = {name: each for name, each in declarations.nodes.items() if isinstance(each, tree.Struct)}
    function = declarations.find(entry_point).function
    usage, variables = Usage(function), declarations.variables
    for each in usage.functions:
        if each.fault:
            raise each.fault
    bindings = _bindings(node, variables, usage)
    return Program(
        function,
        inputs(node, structs, declarations.scope),
        _workgroup_size(node, declarations),
        bindings,
        tuple(each for each in variables if each.space == "workgroup" and each in usage.variables),
        tuple(each for each in variables if each.space == "private" and each in usage.variables),
        frozenset(usage.written),
    )


def _workgroup_size(node: tree.Function, declarations: Declarations) -> tuple[int, int, int]:
    attribute = next((each for each in node.attributes if each.name == "workgroup_size"), None)
    if attribute is None:
        compute = next(each for each in node.attributes if each.name == "compute")
        words_ = "workgroup size is missing on compute shader entry point"
        raise Refused(words_, compute.at + 1, len("compute"), "must be paired with a `@workgroup_size` attribute")
    sizes = numbers(attribute, declarations.scope, Stage.OVERRIDE)
    if len(sizes) > 3 or 0 in sizes:
        reason = "@workgroup_size takes one to three numbers, each at least 1"
        raise Refused(reason, attribute.at, attribute.end - attribute.at)
    size = (*sizes, 1, 1)[:3]
    held = sum(words(each.type) * 4 for each in declarations.variables if each.space == "workgroup")
    if fault := limit_passed(size, held):
        raise Refused(fault, attribute.at, attribute.end - attribute.at)
    return size


def _bindings(node: tree.Function, variables: tuple[Variable, ...], usage: Usage) -> tuple[Variable, ...]:
    """The variables at the bindings 0, 1, 2, ... of group 0; where two share a number, the one that is used."""
    found: dict[int, Variable] = {}
    for each in (each for each in variables if each.binding >= 0):
        other = found.setdefault(each.binding, each)
        if each is not other and {each, other} <= usage.variables:
            raise Refused("Bindings for [0] conflict with other resource", each.at, len(each.name))
        found[each.binding] = each if each in usage.variables else other
    bound = [found[number] for number in sorted(found)]
    if not bound:
        example = "@group(0) @binding(0) var<storage, read_write> output: array<f32>;"
        reason = f"it declares no bindings; write one for each buffer, as in `{example}`"
        raise Refused(reason, node.name_at, len(node.name))
    for number, each in enumerate(bound):
        if each.binding > number:
            listed = ", ".join(str(other.binding) for other in bound)
            reason = f"it has the bindings {listed}, and none with the number {number}"
            raise Refused(reason, each.at, len(each.name))
    return tuple(bound)
