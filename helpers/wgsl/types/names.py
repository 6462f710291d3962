"""What the names of a text stand for, and where each is visible; types as they are written."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

from helpers.wgsl.diagnostics import Refused, Unsupported
from helpers.wgsl.syntax import tree
from helpers.wgsl.types.kinds import (
    BOOL,
    F32,
    I32,
    U32,
    Array,
    Atomic,
    Pointer,
    Scalar,
    Type,
    Vector,
    is_runtime_sized,
)
from helpers.wgsl.types.program import Binding, Constant, Function, Variable

# --- Scopes ---


class Stage(IntEnum):
    """When the value of an expression must be known: with the text, with the values of the overrides, or in a run."""

    CONST = 0
    OVERRIDE = 1
    RUN = 2


@dataclass(frozen=True, slots=True)
class Known:
    """A `const`, or an `override`."""

    value: Constant
    stage: Stage


@dataclass(frozen=True, slots=True)
class Routine:
    """A function of the text, whether its result must be used, and whether it is an entry point."""

    function: Function
    must_use: bool
    entry: bool


@dataclass(frozen=True, slots=True)
class Alias:
    """Another name for a type, which is read where the name is used: there an array's length may be an override."""

    type: tree.Name
    scope: Scope


Meaning = Variable | Binding | Known | Routine | Alias | Type


class Scope:
    """The names of a block, and around it those of the outer blocks and of the module."""

    def __init__(self, find: Callable[[str], Meaning | None], stage: Stage = Stage.RUN) -> None:
        self._outer, self.stage = find, stage
        self._own: dict[str, tuple[Meaning, int]] = {}

    def inner(self) -> Scope:
        """A block in this one."""
        return Scope(self.find, self.stage)

    def known(self, stage: Stage) -> Scope:
        """This scope for an expression whose value must be known at a stage."""
        return Scope(self.find, stage)

    def find(self, name: str) -> Meaning | None:
        """What a name stands for here; None where the text declares no such name."""
        return self._own[name][0] if name in self._own else self._outer(name)

    def declare(self, name: str, meaning: Meaning, at: int) -> None:
        """Give a name a meaning from here on."""
        if name in self._own:
            raise redefinition(name, at)
        self._own[name] = meaning, at


def redefinition(name: str, at: int) -> Refused:
    """A name that a scope has already."""
    words = f"redefinition of `{name}`"
    return Refused(words, at, len(name), words)


# --- Types as they are written ---


SCALARS = {"f32": F32, "i32": I32, "u32": U32, "bool": BOOL}
SHORT = {f"vec{n}{s.name[0]}": Vector(n, s) for n in (2, 3, 4) for s in (F32, I32, U32)}
GENERATORS = ("vec2", "vec3", "vec4", "array", "atomic", "ptr")
SPACES = ("function", "private", "workgroup", "storage", "uniform")
UNSUPPORTED = {
    r"f16|vec[234]h": "f16 numbers",
    r"f64|i64|u64": "64-bit numbers",
    r"mat[234]x[234][fh]?": "matrices",
    r"texture_\w+|sampler(_comparison)?": "textures and samplers",
    r"binding_array|acceleration_structure|ray_query": "resources other than buffers",
}
Count = Callable[[tree.Expression, bool], int]  # whether the array is the element of another one


def is_type(name: str) -> bool:
    """Whether WGSL itself has a type, or a family of types, of this name."""
    return name in SCALARS or name in SHORT or name in GENERATORS or bool(unsupported(name))


def unsupported(name: str) -> str | None:
    """What the simulator does not run, where a name is a type of it."""
    return next((feature for pattern, feature in UNSUPPORTED.items() if re.fullmatch(pattern, name)), None)


def read_type(node: tree.Name, scope: Scope, count: Count, inner: bool = False) -> Type:
    """The type that a name with its arguments stands for; `count` evaluates the length of an array.

    Raises Refused for what is no type, and Unsupported for a type that the simulator does not have.
    """
    if (found := scope.find(node.name)) is not None:
        if isinstance(found, Variable | Binding | Known | Routine) or node.arguments:
            raise Refused(f'expected type, found "{node.name}"', node.at, len(node.name), "expected type")
        return read_type(found.type, found.scope, count, inner) if isinstance(found, Alias) else found
    if feature := unsupported(node.name):
        raise Unsupported(feature, node.at)
    if node.name in GENERATORS:
        return _generated(node, scope, count, inner)
    plain = SCALARS.get(node.name) or SHORT.get(node.name)
    if plain is None:
        raise unknown(node.name, node.at)
    if node.arguments:
        raise Refused(f"`{node.name}` takes no template arguments", node.at, node.end - node.at)
    return plain


def unknown(name: str, at: int) -> Refused:
    """A name that nothing has."""
    return Refused(f"no definition in scope for identifier: `{name}`", at, len(name), "unknown identifier")


def _generated(node: tree.Name, scope: Scope, count: Count, inner: bool) -> Type:
    least, most = {"array": (1, 2), "ptr": (2, 3)}.get(node.name, (1, 1))
    if len(node.arguments) < least:
        reason = f"`{node.name}` needs a template argument specified: `T`, a type"
        raise Refused(reason, node.at, len(node.name), "is missing a template argument")
    if len(node.arguments) > most:
        raise Refused(f"too many template arguments for `{node.name}`", node.at, node.end - node.at)
    if node.name == "ptr":
        return _pointer(node, scope, count)
    of = node.arguments[0]
    if not isinstance(of, tree.Name):
        raise Refused("expected a type", of.at, of.end - of.at)
    element = read_type(of, scope, count, inner=True)
    if node.name == "array":
        return _array(node, element, lambda length: count(length, inner))
    return _atomic(element, of) if node.name == "atomic" else _vector(int(node.name[-1]), element, of)


def _vector(size: int, element: Type, node: tree.Name) -> Vector:
    if isinstance(element, Scalar):
        return Vector(size, element)
    raise Refused("vectors must be of scalars", node.at, node.end - node.at, "must be a scalar")


def _atomic(element: Type, node: tree.Name) -> Atomic:
    if element in (I32, U32):
        return Atomic(element)
    needed = "Capability Capabilities(SHADER_FLOAT32_ATOMIC) is required" if element == F32 else ""
    raise Refused(needed or "atomics must be of i32 or u32", node.at, node.end - node.at)


def _array(node: tree.Name, element: Type, count: Callable[[tree.Expression], int]) -> Array:
    if isinstance(element, Pointer) or is_runtime_sized(element):
        inner = node.arguments[0]
        raise Refused(f"an array cannot have elements of type `{element}`", inner.at, inner.end - inner.at)
    return Array(element, count(node.arguments[1]) if len(node.arguments) == 2 else None)


def _pointer(node: tree.Name, scope: Scope, count: Count) -> Pointer:
    space, inner, *rest = node.arguments
    name = space.name if isinstance(space, tree.Name) else ""
    if name not in SPACES:
        raise Refused(f"unknown address space: `{name}`", space.at, space.end - space.at, "unknown address space")
    default = "read_type" if name in ("storage", "uniform") else "read_write"
    access = rest[0].name if rest and isinstance(rest[0], tree.Name) else default
    if rest and name != "storage":
        raise Refused("only storage takes an access mode", rest[0].at, rest[0].end - rest[0].at)
    if access not in ("read_type", "read_write"):
        raise Refused(f"unknown access: `{access}`", rest[0].at, rest[0].end - rest[0].at, "unknown access")
    if not isinstance(inner, tree.Name):
        raise Refused("expected a type", inner.at, inner.end - inner.at)
    to = read_type(inner, scope, count, inner=True)
    if isinstance(to, Pointer):
        raise Refused("a pointer cannot lead to another pointer (`ptr`)", inner.at, inner.end - inner.at)
    return Pointer(name, to, access)
