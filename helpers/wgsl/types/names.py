"""What the names of a text stand for, and where each is visible; types as they are written."""

from __future__ import annotations

import re
from collections.abc import Callable, Container
from enum import IntEnum

from helpers.wgsl.diagnostics import Refused, Unsupported
from helpers.wgsl.syntax import tree
from helpers.wgsl.syntax.tokens import Word
from helpers.wgsl.syntax.tree import record
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


class Stage(IntEnum):
    """When the value of an expression must be known: with the text, with the values of the overrides, or in a run."""

    CONST = 0
    OVERRIDE = 1
    RUN = 2


@record
class Known:
    """A `const`, or an `override`."""

    name: Word
    value: Constant
    stage: Stage


@record
class Routine:
    """A function of the text, whether its result must be used, and whether it is an entry point."""

    function: Function
    must_use: bool
    entry: bool


@record
class Alias:
    """Another name for a type, which is read where the name is used: there an array's length may be an override."""

    type: tree.Name
    scope: Scope


Meaning = Variable | Binding | Known | Routine | Alias | Type


class Scope:
    """The names of a block, and around it those of the outer blocks and of the module."""

    def __init__(self, find: Callable, names: Callable[[], list[str]], stage: Stage = Stage.RUN) -> None:
        self._outer, self._names, self.stage = find, names, stage
        self._own: dict[str, Meaning] = {}

    def inner(self) -> Scope:
        """A block in this one."""
        return Scope(self.find, self.names, self.stage)

    def known(self, stage: Stage) -> Scope:
        """This scope for an expression whose value must be known at a stage."""
        return Scope(self.find, self.names, stage)

    def find(self, name: str) -> Meaning | None:
        """What a name stands for here; None where the text declares no such name."""
        return self._own[name] if name in self._own else self._outer(name)

    def names(self) -> list[str]:
        """The names that are known here, the innermost first."""
        return [*self._own, *self._names()]

    def declare(self, meaning: Variable | Binding | Known) -> None:
        """Give a name a meaning from here on."""
        check_new(meaning.name, self._own)
        self._own[meaning.name] = meaning


def check_new(name: Word, known: Container[str]) -> None:
    """Refuse a name that a scope has already."""
    if name in known:
        raise Refused(f"`{name}` is already declared in this block: choose another name, or assign with `=`", name)


# --- Types as they are written ------------------------------------------------------------------------------------

SCALARS = {"f32": F32, "i32": I32, "u32": U32, "bool": BOOL}
SHORT = {f"vec{n}{s.name[0]}": Vector(n, s) for n in (2, 3, 4) for s in (F32, I32, U32)}
GENERATORS = ("vec2", "vec3", "vec4", "array", "atomic", "ptr")
SPACES = ("function", "private", "workgroup", "storage", "uniform")
UNSUPPORTED = {
    r"f16|vec[234]h": "numbers of 16 bits",
    r"f64|i64|u64": "numbers of 64 bits",
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
    found = next((feature for pattern, feature in UNSUPPORTED.items() if re.fullmatch(pattern, name)), None)
    return found and f"`{name}` ({found})"


def read_type(node: tree.Name, scope: Scope, count: Count, inner: bool = False) -> Type:
    """The type that a name with its arguments stands for; `count` evaluates the length of an array.

    Raises Refused for what is no type, and Unsupported for a type that the simulator does not have.
    """
    if (found := scope.find(node.name)) is not None:
        if isinstance(found, Variable | Binding | Known | Routine) or node.arguments:
            raise Refused(f"`{node.name}` is no type", node.name)
        return read_type(found.type, found.scope, count, inner) if isinstance(found, Alias) else found
    if feature := unsupported(node.name):
        raise Unsupported(feature, node.at)
    if node.name in GENERATORS:
        return _generated(node, scope, count, inner)
    plain = SCALARS.get(node.name) or SHORT.get(node.name)
    if plain is None:
        raise unknown(node.name)
    if node.arguments:
        raise Refused(f"`{node.name}` takes no types in `<` and `>`", node)
    return plain


def unknown(name: Word) -> Refused:
    """A name that nothing has."""
    return Refused(f"nothing is called `{name}` here", name, "unknown", name)


def needs_type(name: Word) -> Refused:
    """A name that stands for a type only with another type behind it."""
    return Refused(f"`{name}` needs a type behind it, as in `array<f32>` or `vec3<u32>`", name)


def _generated(node: tree.Name, scope: Scope, count: Count, inner: bool) -> Type:
    least, most = {"array": (1, 2), "ptr": (2, 3)}.get(node.name, (1, 1))
    if len(node.arguments) < least:
        raise needs_type(node.name)
    if len(node.arguments) > most:
        raise Refused(f"`{node.name}` takes no more than {most} in `<` and `>`", node)
    if node.name == "ptr":
        return _pointer(node, scope, count)
    of = node.arguments[0]
    element = _element(of, scope, count)
    if node.name == "array":
        if isinstance(element, Pointer) or is_runtime_sized(element):
            raise Refused(f"an array cannot have elements of type `{element}`", of)
        return Array(element, count(node.arguments[1], inner) if len(node.arguments) == 2 else None)
    if node.name == "atomic":
        if element not in (I32, U32):
            raise Refused(f"WGSL has no `atomic<{element}>`, only `atomic<u32>` and `atomic<i32>`", node)
        return Atomic(element)
    if not isinstance(element, Scalar):
        raise Refused(f"a vector cannot have parts of type `{element}`", of)
    return Vector(int(node.name[-1]), element)


def _element(node: tree.Expression, scope: Scope, count: Count) -> Type:
    if not isinstance(node, tree.Name):
        raise Refused("a type must stand here", node)
    return read_type(node, scope, count, inner=True)


def _pointer(node: tree.Name, scope: Scope, count: Count) -> Pointer:
    space, inner, *rest = node.arguments
    name = getattr(space, "name", "")
    if name not in SPACES:
        raise Refused(f"`{name}` is no kind of memory; there are {', '.join(SPACES)}", space)
    if rest and name != "storage":
        raise Refused("only storage takes an access mode", rest[0])
    access = access_of(rest) if name == "storage" else "read" if name == "uniform" else "read_write"
    to = _element(inner, scope, count)
    if isinstance(to, Pointer):
        raise Refused("a pointer cannot lead to another pointer (`ptr`)", inner)
    return Pointer(name, to, access)


def access_of(written: tuple[tree.Expression, ...]) -> str:
    """The access to storage: `read`, unless another one is written."""
    access = getattr(written[0], "name", "") if written else "read"
    if access not in ("read", "read_write"):
        raise Refused("a buffer is `read` or `read_write`", written[0])
    return access
