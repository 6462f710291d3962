"""Vertex and fragment shaders beside the kernels of a text: what goes into them and comes out, and what they may use.

Kernels are simulated, and these are only checked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from wgsl.diagnostics import NotWgsl, Span
from wgsl.syntax import tree
from wgsl.types.conversions import WHOLE, concrete, scalar_of
from wgsl.types.expressions import type_of, value
from wgsl.types.fragments import Discard, is_derivative
from wgsl.types.kinds import BOOL, F32, U32, Array, Struct, Type, Vector, components
from wgsl.types.memory import check_place
from wgsl.types.names import Scope, Stage
from wgsl.types.program import (
    Constant,
    Part,
    Statement,
    Variable,
)  # fmt: skip
from wgsl.types.subgroups import SubgroupCall
from wgsl.types.textures import Texture
from wgsl.types.usage import Usage

COMPUTE, VERTEX, FRAGMENT = "compute", "vertex", "fragment"
INTO, OUT_OF = "into", "out of"
CLIPPED = "clip_distances"
MOST_CLIPPED = 8
BUILTINS: Mapping[tuple[str, str], Mapping[str, Type]] = {
    (VERTEX, INTO): {"vertex_index": U32, "instance_index": U32},
    (VERTEX, OUT_OF): {"position": Vector(4, F32), CLIPPED: F32},
    (FRAGMENT, INTO): {
        "position": Vector(4, F32),
        "front_facing": BOOL,
        "sample_index": U32,
        "sample_mask": U32,
        "primitive_index": U32,
        "subgroup_size": U32,
        "subgroup_invocation_id": U32,
    },
    (FRAGMENT, OUT_OF): {"frag_depth": F32, "sample_mask": U32},
}
ENABLING = {CLIPPED: CLIPPED, "primitive_index": "primitive_index"} | dict.fromkeys(
    ("subgroup_size", "subgroup_invocation_id"), "subgroups"
)
FLAT = "flat"


def stage_of(node: tree.Function) -> str | None:
    """Return the stage of an entry point; None of another function."""
    stages = [attribute for attribute in node.attributes if attribute.name in (COMPUTE, VERTEX, FRAGMENT)]
    if len(stages) > 1:
        raise NotWgsl("two stages", stages[1], name=stages[1].name, other=stages[0].name)
    return str(stages[0].name) if stages else None


# --- What a function uses -----------------------------------------------------------------------------------------


def check_use(uses: Usage, stage: str, place: Span) -> None:
    """Refuse what an entry point, or a function that it calls, does although only other stages can."""
    for node in uses.bound:
        if stage not in _stages(node):
            raise _foreign(node, stage)
    if stage == COMPUTE:
        return
    for variable in uses.variables:
        if _is_foreign(variable, stage):
            raise NotWgsl("memory of a stage", place, name=variable.name, space=variable.space, stage=stage)


def _stages(node: Part | Statement) -> tuple[str, ...]:
    if isinstance(node, Discard) or is_derivative(node):
        return (FRAGMENT,)
    return (COMPUTE, FRAGMENT) if isinstance(node, SubgroupCall) else (COMPUTE,)


def _foreign(node: Part | Statement, stage: str) -> NotWgsl:
    if isinstance(node, Discard):
        return NotWgsl("discard" if stage == COMPUTE else "discard of vertices", node)
    name = getattr(node, "name", "workgroupUniformLoad")
    return NotWgsl("function of a stage", node, name=name, stage=stage, stages=_stages(node))


def _is_foreign(variable: Variable, stage: str) -> bool:
    """Return True for memory that no entry point of a stage has: of workgroups, or what vertices could write."""
    if variable.space == "workgroup":
        return True
    access = variable.access
    if isinstance(variable.type, Texture):
        access = variable.type.access
    return stage == VERTEX and access != "read" and variable.space in ("storage", "handle")


# --- What goes in and comes out -----------------------------------------------------------------------------------


def check_io(node: tree.Function, stage: str, nodes: Mapping[str, tree.Node], scope: Scope) -> None:
    """Refuse what a vertex or fragment shader cannot get, or cannot return."""
    inputs: list[tree.Parameter | tree.Result] = []
    for parameter in node.parameters:
        inputs += parts_of(parameter, nodes, scope)
    _Places(stage, INTO, scope).add(inputs)
    outputs = parts_of(node.result, nodes, scope) if node.result else []
    places = _Places(stage, OUT_OF, scope)
    places.add(outputs)
    places.check_blended()
    if stage == VERTEX and "position" not in places.builtins:
        raise NotWgsl("no position", node.result or node.name, name=node.name)


def parts_of(
    node: tree.Parameter | tree.Result, nodes: Mapping[str, tree.Node], scope: Scope
) -> Sequence[tree.Parameter | tree.Result]:
    """Return the members of a struct, each with a place of its own; anything else is one part."""
    type = type_of(node.type, scope)
    if not isinstance(type, Struct) or node.attributes:
        return (node,)
    return nodes[type.name].members


class _Places:
    """The built-in values and locations of one direction."""

    def __init__(self, stage: str, way: str, scope: Scope) -> None:
        self._stage = stage
        self._way = way
        self._scope = scope
        self.builtins: dict[str, tree.Node] = {}
        self._locations: dict[tuple[int, int], tuple[tree.Node, Type]] = {}
        self._blended: list[tree.Node] = []

    def add(self, parts: Sequence[tree.Parameter | tree.Result]) -> None:
        """Give each of these its place."""
        for part in parts:
            type = type_of(part.type, self._scope)
            for attribute in part.attributes:
                check_place(attribute, part, self._scope)
            builtin = tree.attribute(part, "builtin")
            location = tree.attribute(part, "location")
            if bool(builtin) == bool(location):
                raise NotWgsl("two places" if builtin else "no place", part, name=_name(part), way=self._way)
            if builtin:
                self._builtin(part, type, builtin)
            else:
                self._location(part, type, location)

    def _builtin(self, part: tree.Node, type: Type, attribute: tree.Attribute) -> None:
        at = attribute.arguments[0]
        name = str(getattr(at, "name", ""))
        wanted = BUILTINS[self._stage, self._way].get(name)
        if wanted is None:
            raise NotWgsl("builtin of a stage", at, name=name, stage=self._stage, way=self._way)
        if name in ENABLING and ENABLING[name] not in self._scope.enabled:
            raise NotWgsl("builtin not enabled", at, name=name, extension=ENABLING[name])
        if name in self.builtins:
            raise NotWgsl("builtin twice", at, name=name)
        fits = _is_clipped(type) if name == CLIPPED else type == wanted
        if not fits:
            wanted = f"array<f32, {MOST_CLIPPED}>" if name == CLIPPED else wanted
            kind = "type of a builtin" if _name(part) else "type of an output"
            raise NotWgsl(kind, part.type, builtin=name, name=_name(part), type=wanted)
        self.builtins[name] = part

    def _location(self, part: tree.Node, type: Type, attribute: tree.Attribute) -> None:
        if not components(type) or scalar_of(type) == BOOL:
            raise NotWgsl("type of a location", part.type, type=type)
        number = self._number(attribute)
        self._check_interpolated(part, type)
        blended = tree.attribute(part, "blend_src")
        source = self._source(blended, number) if blended else 0
        if (number, source) in self._locations:
            raise NotWgsl("location twice", attribute, number=number)
        self._locations[number, source] = part, type
        self._blended += [blended] if blended else []

    def _number(self, attribute: tree.Attribute) -> int:
        constant = concrete(value(attribute.arguments[0], self._scope.known(Stage.CONST)))
        if not isinstance(constant, Constant) or constant.type not in WHOLE or constant.leaves[0] < 0:
            raise NotWgsl("whole number", constant)
        return int(constant.leaves[0])

    def _check_interpolated(self, part: tree.Node, type: Type) -> None:
        """Refuse whole numbers between vertices and fragments that would be interpolated."""
        attribute = tree.attribute(part, "interpolate")
        kind = attribute.arguments[0].name if attribute else ""
        between = (self._stage, self._way) in ((VERTEX, OUT_OF), (FRAGMENT, INTO))
        if scalar_of(type) in WHOLE and kind != FLAT and (between or attribute):
            raise NotWgsl("not flat", attribute or part, name=_name(part), type=type)

    def _source(self, attribute: tree.Attribute, location: int) -> int:
        if "dual_source_blending" not in self._scope.enabled:
            raise NotWgsl("not enabled", attribute, written="@blend_src", extension="dual_source_blending")
        source = self._number(attribute)
        if source > 1 or location or (self._stage, self._way) != (FRAGMENT, OUT_OF):
            raise NotWgsl("blend_src", attribute)
        return source

    def check_blended(self) -> None:
        """Refuse one source of two, and another location beside them."""
        if not self._blended:
            return
        types = [type for _, type in self._locations.values()]
        if len(self._blended) != 2 or len(types) != 2 or types[0] != types[1]:
            raise NotWgsl("blend_src", self._blended[0])


def _name(part: tree.Parameter | tree.Result) -> str | None:
    """The name of an input; None for the result."""
    return None if isinstance(part, tree.Result) else str(part.name)


def _is_clipped(type: Type) -> bool:
    return isinstance(type, Array) and type.element == F32 and 1 <= (type.count or 0) <= MOST_CLIPPED
