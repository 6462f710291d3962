"""The textures of a run, made from what the command line says of each: a size, perhaps with a value."""

from __future__ import annotations

import re
from math import prod

import numpy as np

from wgsl.arguments import check_size
from wgsl.simulator.textures import AXES, LOADED, stored
from wgsl.types.program import Variable
from wgsl.types.textures import DEPTH, STORAGE, Texture

MOST = 2**24  # numbers of a texture
SIZE = re.compile(r"(\d+(?:x\d+)*)(?::(.+))?")  # 4x16, perhaps with a value
ALL_CHANNELS = 4
LARGEST = 255  # of the random whole numbers


def wanted(variable: Variable) -> str:
    """Return the request for a texture that the command line leaves out: what to write for it."""
    name = variable.name
    size = _example(AXES[variable.type.shape])
    return f"`{name}` is a {variable.type} without a size: write {name}={size} or {name}=@texels.npy"


def smallest(type: Texture) -> str:
    """Return the size of a texture with one texel."""
    return "x".join("1" for _ in AXES[type.shape])


def texture_for(variable: Variable, text: str, written: bool, random: np.random.Generator) -> np.ndarray:
    """The array of a texture: zeros where it is written, and else random texels, or all of one value.

    Raises ValueError where the text is no size.
    """
    axes = AXES[variable.type.shape]
    size = SIZE.fullmatch(text)
    sizes = [*map(int, size[1].split("x"))] if size else []
    if len(sizes) != len(axes):
        raise ValueError(
            f"{variable.name}={text}: a {variable.type} needs {' x '.join(axes)}, such as {_example(axes)}"
        )
    dtype, channels = _channels(variable.type)
    shape = (*sizes, channels)
    check_size("the number of texels", prod(shape) // channels, 1, MOST // channels)
    if size[2]:
        return np.full(shape, float(size[2])).astype(dtype)
    if written:
        return np.zeros(shape, dtype)
    if dtype.kind == "f":
        return random.uniform(size=shape).astype(dtype)
    return random.integers(0, min(LARGEST, np.iinfo(dtype).max), shape, endpoint=True).astype(dtype)


def _example(axes: tuple[str, ...]) -> str:
    return "x".join("16" for _ in axes)


def _channels(type: Texture) -> tuple[np.dtype, int]:
    """The type of a channel and how many there are."""
    if type.family == STORAGE:
        one = stored(type.format)
        return one.dtype, one.channels
    return np.dtype(LOADED[type.element.name][0]), 1 if type.family == DEPTH else ALL_CHANNELS
