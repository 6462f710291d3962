"""The reasons why textures, vertex shaders and fragment shaders are refused, by the kind of the refusal."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

ORDINALS = ("first", "second", "third", "fourth", "fifth", "sixth", "seventh")
PLACES = {"compute": "a kernel", "vertex": "a vertex shader", "fragment": "a fragment shader"}
OF_FRAGMENTS = ("position", "front_facing", "sample_index", "sample_mask", "primitive_index")
OWNERS = dict.fromkeys(OF_FRAGMENTS, "fragment")  # of inputs that are not those of threads
GIVEN_AS = {"into": "an input", "out of": "an output"}


class Typed(Protocol):
    """A value of a type."""

    type: object


class Apart(Protocol):
    """A place to which not all fragments may come."""

    barrier: str


class Beyond(Protocol):
    """A texel that a texture does not have."""

    source: str
    access: str
    variable: str
    axis: str
    index: int
    size: int


class Textured(Protocol):
    """A type of textures."""

    family: str
    access: str


def texture_argument(name: str, i: int, value: Typed, types: Sequence[object], texture: object) -> str:
    """An argument of a function of textures of the wrong type."""
    wanted = " or ".join(map(str, types))
    return f"the {ORDINALS[i]} argument of `{name}` is a {wanted} for a `{texture}`, and here a {value.type}"


def texture_function(name: str, texture: Textured) -> str:
    """A function that a texture does not have."""
    if name == "textureStore" and texture.family != "storage":
        return f"`textureStore` needs a texture such as `texture_storage_2d<rgba8unorm, write>`, not a `{texture}`"
    if name in ("textureLoad", "textureStore") and texture.family == "storage":
        return f"`{name}` does not go with the access `{texture.access}` of this `{texture}`"
    return f"`{name}` does not work with a `{texture}`"


def range_of_an_argument(name: str, i: int, least: int, most: int) -> str:
    """A number that is known before the run and out of its range."""
    return f"the numbers of the {ORDINALS[i]} argument of `{name}` go from {least} to {most}"


def function_of_a_stage(name: str, stage: str, stages: Sequence[str]) -> str:
    """A function that another stage has."""
    cure = ""
    if name == "textureSample" and stage == "compute":
        cure = ": write `textureSampleLevel`, with 0.0 as its last argument"
    owners = " and ".join(f"{PLACES[owner]}s".removeprefix("a ") for owner in stages)
    return f"`{name}` belongs to {owners}, and {PLACES[stage]} calls it{cure}"


def memory_of_a_stage(name: str, space: str, stage: str) -> str:
    """A variable that a stage does not have."""
    if space == "workgroup":
        return f"only kernels have workgroup memory, and {PLACES[stage]} uses `{name}`"
    return f"{PLACES[stage]} cannot use `{name}`, which can be written: declare it with `read`"


def subject(name: str | None) -> str:
    """Return an input by its name, or the result."""
    return f"`{name}`" if name else "the result"


def no_place(name: str | None, way: str) -> str:
    """An input or output without its place."""
    return f"{subject(name)} needs a `@builtin(...)` or a `@location(...)`, as {GIVEN_AS[way]} of a shader"


def two_places(name: str | None, **_: object) -> str:
    """An input or output with two places."""
    return f"{subject(name)} has a `@builtin(...)` and a `@location(...)`: only one of them can stand here"


def builtin_of_a_stage(name: str, stage: str, way: str) -> str:
    """A built-in value that a stage does not have."""
    return f"`{name}` is not {GIVEN_AS[way]} of {PLACES[stage]}"


def not_flat(name: str | None, type: object) -> str:
    """Whole numbers that would be interpolated."""
    return f"{subject(name)} is of type {type}, which is not interpolated: write `@interpolate(flat)` beside it"


def unproven_derivative(facts: Apart, depends: str, why: str) -> str:
    """Return what decides which fragments come to a derivative."""
    cure = "call it before the branch, and use its value there"
    if facts.barrier.startswith("texture"):
        cure = f"{cure}, or write `textureSampleLevel`"
    return (
        f"WGSL cannot prove that all fragments come to this `{facts.barrier}` together, and browsers refuse it: who "
        f"comes depends on {depends}, and {why}; {cure}"
    )


def out_of_texture(facts: Beyond, who: str) -> str:
    """Return what a texel that a texture does not have does."""
    does = f"in `{facts.source}`, {who} {facts.access}"
    here = "the write is dropped" if facts.access == "writes" else "it gets 0, which WGSL does not promise"
    if facts.axis == "level":
        return f"{does} level {facts.index:,}, and in the simulator `{facts.variable}` has level 0 alone (here {here})"
    has = f"only {facts.axis} = 0"
    if facts.size != 1:
        has = f"{facts.axis} from 0 to {facts.size - 1:,}"
    does = f"{does} at {facts.axis} = {facts.index:,}"
    return f"{does}, but `{facts.variable}` has {has} (here {here}); check the coordinates, and which threads come here"


REASONS = {
    "element of a texture": "`{name}` needs one type in `<` and `>`: f32, i32 or u32",
    "texture for storage": "`{name}` needs a texel format and an access, as in `{name}<rgba8unorm, write>`",
    "texel format": "a texel format belongs here, such as `rgba8unorm` or `r32float`",
    "access to a texture": "a texture is `read`, `write` or `read_write`",
    "texture is missing": "`{name}` takes a texture as its first argument",
    "texture function": texture_function,
    "texture argument": texture_argument,
    "range of an argument": range_of_an_argument,
    "discard": "`discard` belongs to fragment shaders; a thread of a kernel ends with `return;`",
    "discard of vertices": "`discard` belongs to fragment shaders, and a vertex shader uses it",
    "function of a stage": function_of_a_stage,
    "memory of a stage": memory_of_a_stage,
    "two stages": "this function has `@{other}` and `@{name}`: an entry point has one of them",
    "no position": "a vertex shader returns a `@builtin(position)`, and `{name}` does not",
    "no place": no_place,
    "two places": two_places,
    "builtin of a stage": builtin_of_a_stage,
    "builtin not enabled": "`{name}` needs `enable {extension};` at the top of the text",
    "type of a location": "a `@location` holds a number or a vector of numbers, and not a value of type `{type}`",
    "location twice": "the location {number} is there twice",
    "not flat": not_flat,
    "type of an output": "`{builtin}` is a {type}, and this result is none",
    "blend_src": (
        "`@blend_src` belongs to the outputs of a fragment shader: two members of one type at `@location(0)`, with "
        "`@blend_src(0)` and `@blend_src(1)`, and no other location"
    ),
}
