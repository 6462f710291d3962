"""Textures in a run: arrays as textures, and what the functions of textures do with their texels.

An array has the axes (height, width), after depth or layers where the texture has these, and the channels last; with a
single channel that axis may be left out. Its numbers are those that the texture stores: a channel of 8 bits is a uint8,
and of rgba8unorm 255 means 1.0.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod
from typing import NamedTuple

import numpy as np

from wgsl.diagnostics import Unsupported
from wgsl.facts import READS, WRITES
from wgsl.simulator.access import Access
from wgsl.simulator.lanes import Lanes
from wgsl.simulator.memory import Words, as_bits
from wgsl.simulator.values import Place, Value
from wgsl.simulator.watch import Watch
from wgsl.texture_facts import OutOfTexture
from wgsl.types.kinds import WORD
from wgsl.types.memory import HANDLE
from wgsl.types.program import Program, Variable
from wgsl.types.textures import ASKING, CHANNELS, FORMAT, SAMPLING, STORAGE, Texture, TextureCall, runs
from wgsl.types.usage import nodes, reached, usage

AXES = {"1d": ("width",), "2d": ("height", "width"), "2d_array": ("layers", "height", "width")}
AXES["3d"] = ("depth", "height", "width")
PARTS = {"unorm": "uint", "snorm": "int", "uint": "uint", "sint": "int", "float": "float"}  # what a channel is
LOADED = {  # the arrays from which a texture can be loaded that has no format of its own
    "f32": ("float32", "float16", "uint8", "int8", "uint16", "int16"),
    "i32": ("int32", "int16", "int8"),
    "u32": ("uint32", "uint16", "uint8"),
}
DEPTHS = ("float32", "uint16")
WIDTHS = (1, 2, 4)  # channels of such an array
RESULTS = {"f32": np.float32, "i32": np.int32, "u32": np.uint32}


# --- Arrays as textures -------------------------------------------------------------------------------------------


class Stored(NamedTuple):
    """The channels of a format: the type of one, how many there are, and whether blue comes first."""

    dtype: np.dtype
    channels: int
    swapped: bool = False

    @property
    def normalized(self) -> bool:
        """True where whole numbers stand for fractions, if the texture gives floats."""
        return self.dtype.kind in "iu"


def stored(format: str) -> Stored:
    """The channels of a texel format."""
    channels, bits, kind = FORMAT.fullmatch(format).groups()
    return Stored(np.dtype(f"{PARTS[kind]}{bits}"), CHANNELS[channels], channels == "bgra")


def check_array(name: str, type: Texture, array: np.ndarray) -> None:
    """Raise ValueError for an array that is no such texture."""
    axes = AXES[type.shape]
    if type.family == STORAGE:
        one = stored(type.format)
        dtypes, widths = (one.dtype.name,), (one.channels,)
    else:
        dtypes = LOADED[type.element.name] if type.family == "sampled" else DEPTHS
        widths = WIDTHS if type.family == "sampled" else (1,)
    if array.dtype.name not in dtypes:
        raise ValueError(f"{name} has dtype {array.dtype}: `{type}` needs {_either(dtypes)}")
    single = array.ndim == len(axes) and 1 in widths
    if array.size == 0 or not (single or (array.ndim == len(axes) + 1 and array.shape[-1] in widths)):
        raise ValueError(f"{name} has shape {array.shape}: `{type}` needs {_shapes(axes, widths)}")


def _shapes(axes: Sequence[str], widths: Sequence[int]) -> str:
    """Return the shapes of an array in words."""
    single = f"({', '.join(axes)})" if len(axes) > 1 else "(width,)"
    several = f"({', '.join((*axes, 'channels'))}) with {_either(widths)} channel{'s' if widths[-1] > 1 else ''}"
    return f"{single} or {several}" if 1 in widths else several


def _either(choices: Sequence[object]) -> str:
    *some, last = map(str, choices)
    return f"{', '.join(some)} or {last}" if some else last


class Image:
    """A texture with its texels: `raw` has a row of channels for each, which is changed by stores."""

    def __init__(self, type: Texture, array: np.ndarray) -> None:
        axes = len(AXES[type.shape])
        self.type = type
        self.sizes = array.shape[:axes][::-1]  # x first; the layers of an array last
        swapped = type.family == STORAGE and stored(type.format).swapped
        self.raw = array.reshape(prod(self.sizes), -1).copy()
        self.stored = Stored(array.dtype, self.raw.shape[1], swapped)
        self.result = np.dtype(RESULTS[type.element.name])

    @property
    def texels(self) -> np.ndarray:
        """The texels, each as one thing of its size."""
        return self.raw.view(f"V{self.raw.shape[1] * self.raw.itemsize}").reshape(-1)

    def array(self, like: np.ndarray) -> np.ndarray:
        """The texels as the array that was given."""
        return self.raw.reshape(like.shape)

    def loaded(self, texel: np.ndarray) -> list[np.ndarray]:
        """The four components at some texels; red is 0 where there is none, and so on, and alpha is 1."""
        channels = [self._read(self.raw[texel, i]) for i in range(self.stored.channels)]
        if self.stored.swapped:
            channels[:3] = channels[2::-1]
        others = [np.zeros(texel.shape, self.result) for _ in range(4)]
        others[3] += self.result.type(1)
        return [*channels, *others[len(channels) :]]

    def _read(self, raw: np.ndarray) -> np.ndarray:
        if self.result.kind != "f" or not self.stored.normalized:
            return raw.astype(self.result)
        largest = np.float32(np.iinfo(self.stored.dtype).max)
        return np.maximum(raw.astype(np.float32) / largest, np.float32(-1))

    def written(self, leaves: Sequence[np.ndarray]) -> np.ndarray:
        """The rows of channels that these four components leave in texels."""
        chosen = [leaves[i] for i in ((2, 1, 0, 3) if self.stored.swapped else range(self.stored.channels))]
        return np.stack([self._kept(leaf) for leaf in chosen], axis=-1)

    def _kept(self, leaf: np.ndarray) -> np.ndarray:
        """One channel as it is stored: rounded to the nearest number that it has."""
        dtype = self.stored.dtype
        if dtype.kind == "f":
            return leaf.astype(dtype)
        ends = np.iinfo(dtype)
        if leaf.dtype.kind != "f":
            return np.clip(leaf, ends.min, ends.max).astype(dtype)
        least = -1.0 if dtype.kind == "i" else 0.0
        share = np.clip(np.nan_to_num(leaf.astype(np.float64), posinf=1.0, neginf=least), least, 1.0)
        return np.rint(share * ends.max).astype(dtype)


def bind(words: Words, variable: Variable, array: np.ndarray) -> None:
    """Give a texture a copy of an array."""
    image = Image(variable.type, np.ascontiguousarray(array))
    words.images[variable] = image
    words.arrays[variable] = image.texels


def check_run(program: Program) -> Program:
    """The program, if the simulator runs what it does with textures. Raises Unsupported where it does not."""
    for variable in usage(program.entry).variables:
        if variable.space == HANDLE and not runs(variable.type):
            _refuse_use(program, variable)
    return program


def _refuse_use(program: Program, variable: Variable) -> None:
    """Raise Unsupported for the first function of a sampler, or of a texture that the simulator does not have."""
    for function in reached(program.entry):
        for node in nodes(function.body):
            if isinstance(node, TextureCall) and (node.name in SAMPLING or not runs(node.texture.type)):
                raise Unsupported("function in a run", node.at, name=node.name, texture=node.texture.type)


# --- Functions ----------------------------------------------------------------------------------------------------


class Textures:
    """Runs the functions of textures."""

    def __init__(self, words: Words, watch: Watch, access: Access) -> None:
        self._images = words.images
        self._watch = watch
        self._access = access
        self._numbers: dict[bytes, int] = {}  # of the texels with more than 32 bits that were stored

    def call(self, part: TextureCall, variable: Variable, arguments: Sequence[Value], lanes: Lanes) -> Value:
        """The result of a function, whose arguments behind the texture are these."""
        image = self._images[variable]
        if part.name in ASKING:
            return Value(tuple(np.array(size, np.uint32) for size in _asked(part.name, image)))
        if part.name == "textureStore":
            *at, value = arguments
            self._store(part, variable, at, value.leaves, lanes)
            return Value(())
        place = self._place(part, variable, arguments, lanes)
        leaves = image.loaded(place.offset)[: 1 if image.type.family == "depth" else 4]
        if place.outside is not None:
            leaves = [np.where(place.outside, leaf.dtype.type(0), leaf) for leaf in leaves]
        if self._watch.sees:
            self._watch.texel(place, _first_words(image.raw[place.offset]), None, lanes, part)
        return Value(tuple(leaves))

    def _store(
        self, part: TextureCall, variable: Variable, at: Sequence[Value], leaves: Sequence[np.ndarray], lanes: Lanes
    ) -> None:
        image = self._images[variable]
        place = self._place(part, variable, at, lanes)
        leaves = [lanes.expanded(self._access.without_nan(leaf, lanes, part)) for leaf in leaves]
        rows = image.written(leaves)
        place, rows, lanes = place.inside(list(rows.T), lanes)
        if not lanes.count:
            return
        rows = np.ascontiguousarray(np.stack([lanes.expanded(row) for row in rows], axis=-1))
        if self._watch.sees:
            self._watch.texel(place, _first_words(rows), self._wholes(rows), lanes, part)
        image.raw[lanes.expanded(place.offset)] = rows

    def _wholes(self, rows: np.ndarray) -> np.ndarray:
        """A number for each texel, which only texels with the same bits share."""
        if rows.shape[1] * rows.itemsize <= WORD:
            return _first_words(rows)
        texels = rows.view(f"V{rows.shape[1] * rows.itemsize}").reshape(-1).tolist()
        return np.array([self._numbers.setdefault(texel, len(self._numbers)) for texel in texels], np.uint32)

    # --- Places -----------------------------------------------------------------------------------------------

    def _place(self, part: TextureCall, variable: Variable, arguments: Sequence[Value], lanes: Lanes) -> Place:
        """The place of each invocation's texel, the first one where there is none; what is out of range is reported."""
        image = self._images[variable]
        leaves = [leaf for value in arguments for leaf in value.leaves]
        names = ["x", "y", "z"][: image.type.axes] + ["layer"] * image.type.layered + ["level"]
        sizes = [*image.sizes, 1]
        outside = np.zeros((), bool)
        texel = np.zeros((), np.int64)
        step = 1
        for name, leaf, size in zip(names, leaves, sizes, strict=False):
            index = leaf.astype(np.int64)
            beyond = (index < 0) | (index >= size)
            if beyond.any():
                self._report(part, variable, name, index, size, beyond & ~outside, lanes)
                outside = outside | beyond
            texel = texel + index * step
            step *= size
        if not outside.any():
            return Place(variable, texel)
        return Place(variable, np.where(outside, 0, texel), outside)

    def _report(
        self, part: TextureCall, variable: Variable, axis: str, index: np.ndarray, size: int, beyond: np.ndarray,
        lanes: Lanes,
    ) -> None:  # fmt: skip
        mask = lanes.expanded(beyond)
        if not self._watch.sees or not mask.any():
            return
        access = WRITES if part.name == "textureStore" else READS
        lane = int(lanes.index[mask][0])
        first = int(lanes.expanded(index)[mask][0])
        source = self._watch.source(part)
        facts = partial(OutOfTexture, self._watch.who(lane), access, source, str(variable.name), axis, first, size)
        kind = "out-of-range write" if access == WRITES else "out-of-range read"
        self._watch.collector.add(kind, part.at, lanes.index[mask], facts)


def _asked(name: str, image: Image) -> Sequence[int]:
    """The numbers that a function says of a texture."""
    if name == "textureDimensions":
        return image.sizes[: image.type.axes]
    return (image.sizes[-1],) if name == "textureNumLayers" else (1,)


def _first_words(rows: np.ndarray) -> np.ndarray:
    """The first 32 bits of each texel, or all of them where there are fewer."""
    bits = as_bits(rows) if rows.itemsize == WORD else rows.view(f"u{rows.itemsize}")
    word = bits[..., 0].astype(np.uint32)
    width = 8 * rows.itemsize
    for i in range(1, min(rows.shape[-1], 32 // width)):
        word = word | bits[..., i].astype(np.uint32) << np.uint32(width * i)
    return word
