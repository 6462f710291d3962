"""The meanings of the names of a text, and the scopes in which each is visible; types as they are written."""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Sequence
from enum import IntEnum
from functools import lru_cache
from itertools import product

from wgsl.diagnostics import Limited, NotWgsl, Span, Unsupported
from wgsl.syntax import tree
from wgsl.syntax.tokens import Word
from wgsl.syntax.tree import frozen
from wgsl.types.conversions import scalar_of, shaped
from wgsl.types.kinds import (
    BOOL,
    F16,
    F32,
    HOST,
    I32,
    LETTERS,
    U32,
    Array,
    Atomic,
    Handle,
    Matrix,
    Pointer,
    Scalar,
    Type,
    Vector,
    depth,
    is_runtime_sized,
    unfit,
)
from wgsl.types.noted import surpass
from wgsl.types.program import Binding, Constant, Function, Variable
from wgsl.types.textures import HANDLES, handle_type


class Stage(IntEnum):
    """The time by which a value must be known: with the text, with the values of the overrides, or in a run."""

    CONST = 0
    OVERRIDE = 1
    RUN = 2


@frozen
class Known:
    """A `const`, or an `override`."""

    name: Word
    value: Constant
    stage: Stage


@frozen
class Routine:
    """A function of the text, whether its result must be used, and whether it is an entry point."""

    function: Function
    must_use: bool
    entry: bool


@frozen
class Alias:
    """Another name for a type, which is read where the name is used, if it needs overrides that have no value."""

    type: tree.Name
    scope: Scope
    known: Type | None = None


Meaning = Variable | Binding | Known | Routine | Alias | Type


class Lost(NotWgsl):
    """A name whose declaration is wrong, which has a fault of its own."""

    def __init__(self, name: str) -> None:
        super().__init__("unknown", name if isinstance(name, Word) else Span(0, 0), name=name)


class Scope:
    """The names of a block, and around it those of the outer blocks and of the module.

    In a function, `function` is that one, and `jumps` says which of `break`, `continue` and `return` may stand here.
    `enabled` are the extensions of WGSL that the text uses.
    """

    function: Function | None = None
    enabled: Container[str] = ()

    def __init__(self, find: Callable, names: Callable, stage: Stage = Stage.RUN, jumps: Iterable[str] = ()) -> None:
        self._outer = find
        self._names = names
        self.stage = stage
        self.jumps = {*jumps}
        self._declared: dict[str, Meaning] = {}

    def inner(self, *jumps: str) -> Scope:
        """A block in this one, where these jumps are possible, too."""
        made = Scope(self.find, self.names, self.stage, self.jumps.union(jumps))
        made.function = self.function
        made.enabled = self.enabled
        return made

    def read(self, statement: tree.Statement, reader: Callable) -> object | None:
        """Return what a reader makes of a statement."""
        return reader(statement, self)

    def known(self, stage: Stage) -> Scope:
        """This scope for an expression whose value must be known at a stage."""
        made = Scope(self.find, self.names, stage)
        made.enabled = self.enabled
        return made

    def find(self, name: str) -> Meaning | None:
        """Return the meaning of a name here; None where the text declares no such name."""
        return self._declared[name] if name in self._declared else self._outer(name)

    def names(self) -> list[str]:
        """The names that are known here, the innermost first."""
        return [*self._declared, *self._names()]

    def declare(self, meaning: Variable | Binding | Known) -> None:
        """Give a name a meaning from here on."""
        check_new(meaning.name, self._declared)
        self._declared[meaning.name] = meaning


def check_new(name: Word, known: Container[str]) -> None:
    """Refuse a name that a scope has already."""
    if name in known:
        raise NotWgsl("already declared", name, name=name)


# --- Types as they are written ------------------------------------------------------------------------------------

SCALARS = {"f32": F32, "f16": F16, "i32": I32, "u32": U32, "bool": BOOL}
SIZES = (2, 3, 4)
VECTORS = {f"vec{size}{LETTERS[scalar]}": Vector(size, scalar) for size, scalar in product(SIZES, (F32, F16, I32, U32))}
MATRICES = {f"mat{columns}x{rows}": Matrix(Vector(rows, F32), columns) for columns, rows in product(SIZES, SIZES)}
SHORT: dict[str, Type] = VECTORS | {f"{name}f": type for name, type in MATRICES.items()}
SHORT |= {f"{name}h": shaped(type, F16) for name, type in MATRICES.items()}
INFERRED = ("vec2", "vec3", "vec4", "array", *MATRICES)  # may be called without a type in < and >
GENERATORS = (*INFERRED, "atomic", "ptr")
SPACES = ("function", "private", "workgroup", "storage", "uniform", "immediate")
UNSUPPORTED = {
    r"f64|i64|u64": "numbers of 64 bits",
    r"binding_array|acceleration_structure|ray_query": "resources",
}
BUFFER_VIEWS = ("bufferView", "bufferArrayView", "bufferLength")
DEEPEST_TYPE = 255
Count = Callable[[tree.Expression, Scope], int]


def is_type(name: str) -> bool:
    """Return True where WGSL itself has a type, or a family of types, of this name."""
    return name in SCALARS or name in SHORT or name in GENERATORS or name in HANDLES or bool(unsupported(name))


@lru_cache(maxsize=1024)  # a text has few names of types, many times each
def unsupported(name: str) -> str | None:
    """Return the kind of what the simulator does not run, where a name is a type of it."""
    return next((kind for pattern, kind in UNSUPPORTED.items() if re.fullmatch(pattern, name)), None)


def read_type(node: tree.Expression, scope: Scope, count: Count, late: bool = False) -> Type:
    """The type that a name with its arguments stands for; `count` evaluates the length of an array.

    With `late`, the length may depend on overrides. Raises NotWgsl for what is not a type, and Unsupported for a type
    that the simulator does not have.
    """
    if not isinstance(node, tree.Name):
        raise NotWgsl("no type here", node)
    if (meaning := scope.find(node.name)) is not None:
        if isinstance(meaning, Variable | Binding | Known | Routine) or node.arguments:
            raise NotWgsl("no type", node.name, name=node.name)
        if isinstance(meaning, Alias):
            return meaning.known or read_type(meaning.type, meaning.scope, count, late)
        return meaning
    if kind := unsupported(node.name):
        raise Unsupported(kind, node.at, name=node.name)
    if node.name == "buffer":
        raise Limited("buffer_view", node.name, name=node.name)
    if node.name in GENERATORS:
        return _generated(node, scope, count, late)
    plain = SCALARS.get(node.name) or SHORT.get(node.name)
    if node.name in HANDLES:
        return handle_type(node, scope.find, lambda element: read_type(element, scope, count))
    if plain is None:
        raise unknown(node.name)
    if node.arguments:
        raise NotWgsl("takes no types", node, name=node.name)
    check_enabled(plain, node, node.name, scope)
    return plain


def check_enabled(type: Type, place: Span, written: str, scope: Scope) -> None:
    """Refuse numbers of 16 bits in a text that does not enable them."""
    if scalar_of(type) is F16 and F16.name not in scope.enabled:
        raise NotWgsl("not enabled", place, written=written, extension=F16.name)


def unknown(name: Word) -> NotWgsl:
    """A name that the text does not declare."""
    return NotWgsl("unknown", name, name=name)


def needs_type(name: Word) -> NotWgsl:
    """A name that stands for a type only with another type after it."""
    return NotWgsl("needs a type", name, name=name)


def _generated(node: tree.Name, scope: Scope, count: Count, late: bool) -> Type:
    """The type that a name such as `array` or `vec3` makes of the arguments in < and >."""
    name = node.name
    least, most = {"array": (1, 2), "ptr": (2, 3)}.get(name, (1, 1))
    if len(node.arguments) < least:
        raise needs_type(name)
    if len(node.arguments) > most:
        kind = "too many lengths" if name == "array" else "too many types"
        raise NotWgsl(kind, node, name=name, most=most)
    if name == "ptr":
        return _pointer(node, scope, count)
    element = read_type(node.arguments[0], scope, count)
    if name == "array":
        return _array(node, element, scope.known(Stage.OVERRIDE if late else Stage.CONST), count)
    if name == "atomic":
        if element not in (I32, U32):
            raise NotWgsl("atomic", node, element=element)
        return Atomic(element)
    return _vector_or_matrix(node, element)


def _pointer(node: tree.Name, scope: Scope, count: Count) -> Pointer:
    """``ptr<space, type>`` or ``ptr<space, type, access>``."""
    space_name, pointee, *access_name = node.arguments
    space, access = space_of((space_name, *access_name), SPACES, scope)
    type = read_type(pointee, scope, count, late=space == "workgroup")
    if isinstance(type, Pointer):
        raise NotWgsl("pointer to a pointer", pointee)
    if fault := unfit(type, space, access):
        kind = Limited if fault.kind == "runtime-sized" and space in ("workgroup", "uniform") else NotWgsl
        raise kind(fault.kind, pointee, **fault.facts)
    if space == "immediate":
        surpass("immediate", space_name)
    return Pointer(space, type, access)


def _array(node: tree.Name, element: Type, scope: Scope, count: Count) -> Array:
    """``array<element>`` or ``array<element, length>``; in `scope` the length is known."""
    if isinstance(element, Pointer | Handle) or is_runtime_sized(element) or getattr(element, "late", None) is not None:
        raise NotWgsl("elements", node.arguments[0], element=element)
    if len(node.arguments) == 1:
        return Array(element, None)
    length = node.arguments[1]
    made = Array(element, count(length, scope), _override(length, scope))
    check_nesting(depth(made), node)
    return made


def _override(length: tree.Expression, scope: Scope) -> str | int | None:
    """Return what stands for a length that depends on overrides: the name of one, or where the expression stands."""
    if not is_late(length, scope):
        return None
    return str(length.name) if isinstance(length, tree.Name) else length.at


def is_late(node: tree.Expression, scope: Scope) -> bool:
    """Return True for an expression that names an override."""
    meanings = [scope.find(part.name) for part in tree.walk(node) if isinstance(part, tree.Name)]
    return any(isinstance(meaning, Known) and meaning.stage == Stage.OVERRIDE for meaning in meanings)


def check_nesting(levels: int, place: Span) -> None:
    """Refuse a type with more arrays and structs in each other than browsers take."""
    if levels > DEEPEST_TYPE:
        raise Limited("nested types", place, most=DEEPEST_TYPE)


def _vector_or_matrix(node: tree.Name, element: Type) -> Vector | Matrix:
    """``vec3<element>``, or ``mat2x3<element>``."""
    name = node.name
    if name in MATRICES:
        if element not in (F32, F16):
            raise NotWgsl("parts of a matrix", node.arguments[0], element=element)
        return shaped(MATRICES[name], element)
    if not isinstance(element, Scalar):
        raise NotWgsl("parts of a vector", node.arguments[0], element=element)
    return Vector(int(name[-1]), element)


def space_of(written: Sequence[tree.Expression], spaces: Sequence[str], scope: Scope) -> tuple[str, str]:
    """The address space and the access in `<` and `>`. Only to storage the access can be written; else it is `read`."""
    space, *rest = written
    for word in written:
        if isinstance(word, tree.Name) and scope.find(word.name) is not None:
            raise NotWgsl("shadowed word", word, name=word.name)
    name = getattr(space, "name", "")
    if name not in spaces:
        raise NotWgsl("address space", space, name=name, spaces=", ".join(spaces))
    if rest[name == "storage" :]:
        raise NotWgsl("access mode", rest[-1])
    if not rest:
        return str(name), "read" if name in HOST else "read_write"
    access = getattr(rest[0], "name", "")
    if access not in ("read", "read_write"):
        raise NotWgsl("access", rest[0])
    return str(name), access
