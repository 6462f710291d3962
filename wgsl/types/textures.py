"""Textures and samplers: their types as they are written, and the functions of them.

A variable of such a type is a handle: it lies in no memory, and can only be handed to functions.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Sequence
from itertools import product

from wgsl.diagnostics import NotWgsl
from wgsl.syntax import tree
from wgsl.syntax.tokens import Word
from wgsl.syntax.tree import frozen
from wgsl.types.conversions import concrete, converted, undefined
from wgsl.types.kinds import F32, I32, U32, Handle, Scalar, Type, Vector
from wgsl.types.noted import note
from wgsl.types.program import Constant, Expression, Named, Part

SAMPLED, MULTISAMPLED, DEPTH, DEPTH_MULTISAMPLED = "sampled", "multisampled", "depth", "depth multisampled"
STORAGE, EXTERNAL = "storage", "external"
READ, WRITE, READ_WRITE = "read", "write", "read_write"
ACCESSES = (READ, WRITE, READ_WRITE)


@frozen
class Texture(Handle):
    """A texture of a family and a shape, such as "2d_array"; `element` is the type of what a load gives.

    A texture for storage has a texel `format` and an `access`.
    """

    family: str
    shape: str
    element: Scalar
    format: str = ""
    access: str = READ

    @property
    def axes(self) -> int:
        """The number of coordinates of a texel, without the layer of an array."""
        return 3 if self.shape in ("3d", "cube", "cube_array") else int(self.shape[0])

    @property
    def layered(self) -> bool:
        """True for an array of layers."""
        return self.shape.endswith("array")

    @property
    def sampled_many(self) -> bool:
        """True where each texel has several samples."""
        return self.family in (MULTISAMPLED, DEPTH_MULTISAMPLED)

    def __str__(self) -> str:
        name = WRITTEN[self.family, self.shape]
        if self.family == STORAGE:
            return f"{name}<{self.format}, {self.access}>"
        return f"{name}<{self.element}>" if self.family in (SAMPLED, MULTISAMPLED) else name


@frozen
class Sampler(Handle):
    """A sampler, which may be one for comparisons."""

    comparison: bool

    def __str__(self) -> str:
        return "sampler_comparison" if self.comparison else "sampler"


SHAPES = {
    SAMPLED: ("1d", "2d", "2d_array", "3d", "cube", "cube_array"),
    MULTISAMPLED: ("2d",),
    DEPTH: ("2d", "2d_array", "cube", "cube_array"),
    DEPTH_MULTISAMPLED: ("2d",),
    STORAGE: ("1d", "2d", "2d_array", "3d"),
}
PREFIXES = {SAMPLED: ""} | {family: f"{family.replace(' ', '_')}_" for family in SHAPES if family != SAMPLED}
TEXTURES = {f"texture_{PREFIXES[family]}{shape}": (family, shape) for family in SHAPES for shape in SHAPES[family]}
TEXTURES["texture_external"] = EXTERNAL, "2d"
WRITTEN = {kind: name for name, kind in TEXTURES.items()}
SAMPLERS = {"sampler": Sampler(False), "sampler_comparison": Sampler(True)}
HANDLES = frozenset((*TEXTURES, *SAMPLERS))

# --- Texel formats ------------------------------------------------------------------------------------------------

CHANNELS = {"r": 1, "rg": 2, "rgba": 4, "bgra": 4}
FORMAT = re.compile(r"(r|rg|rgba|bgra)(8|16|32)(unorm|snorm|uint|sint|float)")
READ_AND_WRITTEN = ("r32float", "r32uint", "r32sint")
EVERYWHERE = (  # what every adapter takes, to read or to write
    *READ_AND_WRITTEN,
    *(f"rg32{kind}" for kind in ("float", "uint", "sint")),
    *(f"rgba32{kind}" for kind in ("float", "uint", "sint")),
    *(f"rgba16{kind}" for kind in ("float", "uint", "sint")),
    *(f"rgba8{kind}" for kind in ("unorm", "snorm", "uint", "sint")),
)
_KINDS = "8unorm 8snorm 8uint 8sint 16unorm 16snorm 16uint 16sint 16float"
_NARROW = product(("r", "rg"), _KINDS.split())
SOMEWHERE = (  # what some adapters take
    "bgra8unorm",
    *(f"{channels}{kind}" for channels, kind in _NARROW),
    "rgba16unorm",
    "rgba16snorm",
    "rgb10a2uint",
    "rgb10a2unorm",
    "rg11b10ufloat",
)
FORMATS = frozenset((*EVERYWHERE, *SOMEWHERE))


def is_everywhere(format: str, access: str) -> bool:
    """Return True where every adapter takes a texel format with an access."""
    return format in (READ_AND_WRITTEN if access == READ_WRITE else EVERYWHERE)


def _scalar_of(format: str) -> Scalar:
    return {"uint": U32, "sint": I32}.get(format[-4:], F32)


def runs(type: Handle) -> bool:
    """Return True for what the simulator has: textures whose texels are those of an array."""
    if not isinstance(type, Texture) or type.shape.startswith("cube"):
        return False
    if type.family == STORAGE:
        return bool(FORMAT.fullmatch(type.format))
    return type.family in (SAMPLED, DEPTH)


# --- Types as they are written ------------------------------------------------------------------------------------


def handle_type(node: tree.Name, find: Callable[[str], object], element: Callable[[tree.Expression], Type]) -> Handle:
    """The type that a name with its arguments stands for; `element` reads a type, `find` a name of the text."""
    name = node.name
    if name in SAMPLERS or TEXTURES[name][0] not in (SAMPLED, MULTISAMPLED, STORAGE):
        if node.arguments:
            raise NotWgsl("takes no types", node, name=name)
        return SAMPLERS.get(name) or Texture(*TEXTURES[name], F32)
    family, shape = TEXTURES[name]
    if family == STORAGE:
        return _for_storage(node, shape, find)
    if len(node.arguments) != 1:
        raise NotWgsl("element of a texture", node, name=name)
    scalar = element(node.arguments[0])
    if scalar not in (F32, I32, U32):
        raise NotWgsl("element of a texture", node.arguments[0], name=name)
    return Texture(family, shape, scalar)


def _for_storage(node: tree.Name, shape: str, find: Callable[[str], object]) -> Texture:
    if len(node.arguments) != 2:
        raise NotWgsl("texture for storage", node, name=node.name)
    format = _word(node.arguments[0], FORMATS, "texel format", find)
    access = _word(node.arguments[1], ACCESSES, "access to a texture", find)
    if not is_everywhere(format, access):
        note("texture of some adapters", node, format=format, access=access)
    return Texture(STORAGE, shape, _scalar_of(format), format, access)


def _word(node: tree.Expression, words: Container[str], kind: str, find: Callable[[str], object]) -> str:
    """One of the words that WGSL has at a place, which the text must not use as a name of its own."""
    name = getattr(node, "name", "")
    if name not in words or not isinstance(node, tree.Name) or node.arguments or find(name) is not None:
        raise NotWgsl(kind, node, name=name)
    return str(name)


# --- Functions ----------------------------------------------------------------------------------------------------


@frozen
class TextureCall(Part):
    """A call of one of these functions; `type` is its result's, or None for `textureStore`."""

    name: str
    arguments: tuple[Expression, ...]

    @property
    def texture(self) -> Expression:
        """The texture, which stands behind the component of `textureGather`."""
        return next(argument for argument in self.arguments if isinstance(argument.type, Texture))

    @property
    def implicit(self) -> bool:
        """True where it takes a derivative, which only fragment shaders have."""
        return self.name in IMPLICIT


ACCESSING = ("textureLoad", "textureStore")
ASKING = ("textureDimensions", "textureNumLayers", "textureNumLevels", "textureNumSamples")
IMPLICIT = ("textureSample", "textureSampleBias", "textureSampleCompare")
SAMPLING = (
    *IMPLICIT, "textureSampleLevel", "textureSampleGrad", "textureSampleCompareLevel", "textureSampleBaseClampToEdge",
    "textureGather", "textureGatherCompare",
)  # fmt: skip
FUNCTIONS = frozenset((*ACCESSING, *ASKING, *SAMPLING))
OFFSETS = range(-8, 8)
COMPONENTS = range(4)


@frozen
class Parameter:
    """An argument: of one of the `scalars`, or a vector of as many of them; or a handle.

    A const-expression is `fixed`, its numbers are in that range.
    """

    scalars: tuple[Scalar, ...] = ()
    size: int = 1
    fixed: range | None = None
    handle: Handle | None = None

    @property
    def types(self) -> list[Type]:
        """The types of which it may be."""
        if self.handle:
            return [self.handle]
        return [Vector(self.size, scalar) if self.size > 1 else scalar for scalar in self.scalars]


WHOLE = (I32, U32)
NUMBER, LEVEL = Parameter((F32,)), Parameter(WHOLE)
PLAIN, COMPARING = (Parameter(handle=sampler) for sampler in SAMPLERS.values())
COMPONENT = Parameter(WHOLE, fixed=COMPONENTS)


def texture_call(node: tree.Call, arguments: Sequence[Expression], fixed: Callable[[int], Expression]) -> TextureCall:
    """A call of one of these functions, its arguments converted; `fixed` reads one as a const-expression."""
    name = node.callee.name
    before = 1 + (name == "textureGather")
    first = next((i for i, argument in enumerate(arguments[:before]) if isinstance(argument.type, Texture)), None)
    if first is None:
        raise NotWgsl("texture is missing", name, name=name)
    texture = arguments[first].type
    choices = [Parameter(handle=texture)]
    if name == "textureGather" and texture.family == SAMPLED:
        choices = [COMPONENT, *choices]
    rest = _parameters(name, texture)
    if rest is None or choices[first:] != choices[-1:]:
        raise NotWgsl("texture function", name, name=name, texture=texture)
    parameters = [*choices, *rest]
    if not len(parameters) - _optional(name, texture, parameters) <= len(arguments) <= len(parameters):
        raise NotWgsl("count", name, name=name, wanted=len(parameters), given=len(arguments))
    fitting = [_fitting(name, i, parameters[i], arguments, fixed) for i in range(len(arguments))]
    if name == "textureStore" and isinstance(fitting[0], Named):
        note("parameter that is stored to", fitting[0], name=fitting[0].binding.name)
    return TextureCall(_result(name, texture), node, str(name), tuple(fitting))


def _fitting(
    name: Word, i: int, parameter: Parameter, arguments: Sequence[Expression], fixed: Callable[[int], Expression]
) -> Expression:
    """An argument as its parameter takes it."""
    texture = next(argument.type for argument in arguments if isinstance(argument.type, Texture))
    value = fixed(i) if parameter.fixed else arguments[i]
    if concrete(value).type in parameter.types:
        value = concrete(value)
    fitting = next(filter(None, (converted(value, type) for type in parameter.types)), None)
    if fitting is None:
        raise NotWgsl("texture argument", name, name=name, i=i, value=value, types=parameter.types, texture=texture)
    if parameter.fixed and not isinstance(fitting, Constant):
        raise NotWgsl("too_late", fitting)
    if parameter.fixed and not all(number in parameter.fixed for number in fitting.leaves):
        undefined("range of an argument", value, name=name, i=i, least=parameter.fixed[0], most=parameter.fixed[-1])
    return fitting


def _parameters(name: str, texture: Texture) -> list[Parameter] | None:
    """The parameters behind the texture, those that may be left out included; None where the function has no such."""
    if name in ASKING:
        return _asked(name, texture)
    if name in ACCESSING:
        return _accessed(name, texture)
    return _sampled(name, texture)


def _asked(name: str, texture: Texture) -> list[Parameter] | None:
    levels = texture.family in (SAMPLED, DEPTH)
    if name == "textureDimensions":
        return [LEVEL] if levels else []
    takes = {"textureNumLayers": texture.layered, "textureNumLevels": levels, "textureNumSamples": texture.sampled_many}
    return [] if takes[name] else None


def _accessed(name: str, texture: Texture) -> list[Parameter] | None:
    """The texel, and its level or sample; or the value that is stored there."""
    stores = name == "textureStore"
    if texture.shape.startswith("cube") or texture.access == (READ if stores else WRITE):
        return None
    at = [Parameter(WHOLE, texture.axes), *[LEVEL] * texture.layered]
    if stores:
        return [*at, Parameter((texture.element,), 4)]
    return at if texture.family in (STORAGE, EXTERNAL) else [*at, LEVEL]


def _sampled(name: str, texture: Texture) -> list[Parameter] | None:
    """A sampler and what it samples, which may end with an offset."""
    compares = "Compare" in name
    gathers = name.startswith("textureGather")
    depth = texture.family == DEPTH
    point = Parameter((F32,), texture.axes)
    if name == "textureSampleBaseClampToEdge":
        known = texture.family == EXTERNAL or (texture.family, texture.shape, texture.element) == (SAMPLED, "2d", F32)
        return [PLAIN, point] if known else None
    if texture.family not in (SAMPLED, DEPTH) or (compares and not depth):
        return None
    if texture.element != F32 and not gathers:
        return None
    if depth and name in ("textureSampleBias", "textureSampleGrad"):
        return None
    if texture.shape == "1d" and name not in ("textureSample", "textureSampleLevel"):
        return None
    if gathers and texture.shape == "3d":
        return None
    middle = {"textureSampleBias": [NUMBER], "textureSampleGrad": [point, point]}.get(name, [NUMBER] * compares)
    if name == "textureSampleLevel":
        middle = [LEVEL if depth else NUMBER]
    parameters = [COMPARING if compares else PLAIN, point, *[LEVEL] * texture.layered, *middle]
    return [*parameters, Parameter((I32,), texture.axes, OFFSETS)] if _has_offset(texture) else parameters


def _has_offset(texture: Texture) -> bool:
    return texture.shape in ("2d", "2d_array", "3d")


def _optional(name: str, texture: Texture, parameters: Sequence[Parameter]) -> bool:
    """Return True where the last parameter may be left out."""
    if name == "textureDimensions":
        return len(parameters) > 1
    return name in SAMPLING and name != "textureSampleBaseClampToEdge" and _has_offset(texture)


def _result(name: str, texture: Texture) -> Type | None:
    if name == "textureStore":
        return None
    if name == "textureDimensions":
        axes = 2 if texture.shape.startswith("cube") else texture.axes
        return U32 if axes == 1 else Vector(axes, U32)
    if name in ASKING:
        return U32
    single = texture.family in (DEPTH, DEPTH_MULTISAMPLED) and name != "textureGather"
    if single and name != "textureGatherCompare":
        return F32
    return Vector(4, texture.element)
