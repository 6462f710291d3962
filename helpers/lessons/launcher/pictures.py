"""Pictures of appendix C: the objects of a launch, each beside the call that makes it, and whose the bytes of a buffer
are."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from helpers.data import tables
from helpers.data.words import listed
from helpers.pictures.canvas import BLUE, GRAY, INK, MARGIN, ORANGE, SECTORS, Box, Picture, Word
from helpers.pictures.parts import Area, Grid
from wgsl import Kernel
from wgsl.types.kinds import leaves

# --- The objects of a launch ----------------------------------------------------------------------------------


class Object(NamedTuple):
    """The result of a call, from what, and why another launch has a new one; with no reason, it is kept."""

    name: str
    call: str
    what: str
    made_from: list[str]
    renewed: str = ""


def objects(file: Path) -> list[Object]:
    """Return the objects of a file such as objects.toml, in their order.

    Raises ValueError, with the file, the object, the key and the rule, where a table is no object.
    """
    rows = []
    for name, table in tables.read(file, {"call": str, "what": str, "made_from": list}, {"renewed": str}).items():
        for source in table["made_from"]:
            if source not in [row.name for row in rows]:
                raise ValueError(f"{file.name}, [{name}]: made_from has {source!r}: it must be an object above")
        rows.append(Object(name, **table))
    return rows


OBJECTS = objects(Path(__file__).with_name("objects.toml"))
PLACES = {each.name: i for i, each in enumerate(OBJECTS)}
ROW, NAMES = 23, Box(58, 6, 116, 18)  # CSS pixels: of a row, and of a name
CALL, WHAT, ONE = 190, 490, 724  # where columns begin


class LaunchPicture(Picture):
    """The objects of a launch, one below the other: those that are made are lit, arrows lead from one to the next."""

    def __init__(self, adapter: str) -> None:
        super().__init__(ROW * len(OBJECTS) + 8)
        self.what = {each.name: each.what for each in OBJECTS} | {"adapter": f"here: {adapter}"}

    def draw(self, launch: int, step: int) -> str:
        """The first `step` objects of the first launch or of the second one, which has what the first one made."""
        self.starts()
        rows = Area(self, np.zeros((len(OBJECTS), 1)), Box(0, 4, self.width, ROW * len(OBJECTS)))
        rows.touch("objects", "step", start=1)
        for i, each in enumerate(OBJECTS):
            self._draw_object(each, kept=launch == 2 and not each.renewed, lit=i < step)
        (_, top, _, _), last = self._box("module"), self._box("recording")
        self.lines([(ONE, top, ONE, last.bottom)], GRAY, 2)
        self.column(ONE + 10, (top + last.bottom) / 2 - 9, 18, ("five objects", "are a launch"), 13, GRAY)
        if not step:
            return "Nothing is made yet." if launch == 1 else "Launch 2 begins with what is kept from launch 1."
        self._draw_arrows(OBJECTS[step - 1])
        return _sentence(OBJECTS[step - 1], launch)

    def _box(self, name: str) -> Box:
        return NAMES._replace(y=NAMES.y + ROW * PLACES[name])

    def _draw_object(self, each: Object, kept: bool, lit: bool) -> None:
        box, is_there = self._box(each.name), kept or lit
        color = INK if is_there else GRAY
        self.boxes([box], color, line=1.6 if is_there else 1, dashes=None if is_there else (3, 3))
        if lit and not kept:
            self.tinted([box], BLUE, 1.6)
        self.label([box], [each.name], 13, color, "bold" if is_there else "normal")
        self.words([Word(CALL, box.middle[1], each.call, 13, "left", code=True)], color)
        self.write(WHAT, box.middle[1], "kept from launch 1" if kept else self.what[each.name], 13, color)

    def _draw_arrows(self, each: Object) -> None:
        """A frame around an object, and an arrow from everything that it is made from."""
        box = self._box(each.name)
        self.boxes([box], BLUE, line=3)
        for i, name in enumerate(each.made_from):
            start, turn = self._box(name), 42 - 16 * i
            self.boxes([start], ORANGE, line=3)
            corners = np.array([(start.x, start.middle[1]), (turn, start.middle[1]), (turn, box.middle[1] - 4 + 8 * i)])
            self.curve(*corners.T, ORANGE, 2)
            self.arrow(tuple(corners[-1]), (box.x - 2, corners[-1][1]), ORANGE, 2)


def _sentence(each: Object, launch: int) -> str:
    many = each.name.endswith("s")
    name, are = f"The {each.name}", "are" if many else "is"
    if launch == 2:
        return f"{name} {are} {f'new in launch 2: {each.renewed}' if each.renewed else 'kept from launch 1'}."
    if each.name in ("adapter", "queue"):
        return (
            f"{name} is {each.what}." if each.name == "adapter" else "The queue takes the recording: the kernel runs."
        )
    return f"{name} {are} made from {listed(f'the {source}' for source in each.made_from)}: {each.what}."


# --- The bytes of a buffer ------------------------------------------------------------------------------------

WORDS, WIDE, BYTE = 16, 16, (24, 25)  # numbers in the buffer, bytes in a row, CSS pixels of a byte
LEFTS = 440, MARGIN  # where the bytes begin as NumPy has them, and as WGSL has them


class Layout(NamedTuple):
    """Elements in memory: the names of an element's numbers, with their offsets, and all in words of 4 bytes."""

    offsets: dict[int, str]
    stride: int

    @property
    def count(self) -> int:
        """The number of elements in the buffer."""
        return WORDS // self.stride

    def owner(self, word: int) -> tuple[int, str] | None:
        """The element and the number that a word belongs to, if any."""
        element, offset = divmod(word, self.stride)
        return (element, self.offsets[offset]) if element < self.count and offset in self.offsets else None


def struct(before: int, floats: int) -> str:
    """The text of a struct with single floats and then a vector."""
    members = [f"{name}: f32" for name in "ab"[:before]]
    return f"struct Element {{ {', '.join([*members, f'v: vec{floats}f' if floats > 1 else 'v: f32'])} }}"


def layouts(before: int, floats: int) -> tuple[Layout, Layout]:
    """The elements as WGSL has them, and one number after the other, as NumPy has them."""
    text = f"{struct(before, floats)}\n@group(0) @binding(0) var<storage, read> elements: array<Element>;"
    type = Kernel(f"{text}\n@compute @workgroup_size(1) fn main() {{}}").find("elements").type
    names = [*"ab"[:before], *([f"v.{part}" for part in "xyzw"[:floats]] if floats > 1 else "v")]
    offsets = [offset for offset, _ in leaves(type)]
    return Layout(dict(zip(offsets, names, strict=True)), type.stride), Layout(dict(enumerate(names)), len(names))


class BytesPicture(Picture):
    """The same 64 bytes twice: whose they are in WGSL, and whose in NumPy."""

    def __init__(self) -> None:
        super().__init__(196)

    def draw(self, before: int, floats: int, byte: int) -> str:
        """Elements of `before` floats and a vector of `floats`, with one byte pointed at."""
        self.starts()
        said = []
        for name, layout, left in zip(("WGSL", "NumPy"), layouts(before, floats), LEFTS[::-1], strict=True):
            self._draw_bytes(name, layout, left, byte)
            said.append(_whose(name, layout.owner(byte // 4)))
        self.words([Word(MARGIN, 180, f"{struct(before, floats)}    array<Element>", 13, "left", code=True)])
        return f"Byte {byte} is {' and '.join(said)}."

    def _draw_bytes(self, name: str, layout: Layout, left: float, byte: int) -> None:
        owners = [layout.owner(i // 4) for i in range(4 * WORDS)]
        values = np.reshape([i if owner else np.nan for i, owner in enumerate(owners)], (-1, WIDE))
        note = f"{layout.count} element{'s' if layout.count > 1 else ''} of {4 * layout.stride} bytes"
        grid = Grid(self, values, left, 52, BYTE, f"bytes in {name}", note, tensor="bytes")
        grid.empty = "nobody's"
        for element in range(layout.count):
            mine = [divmod(i, WIDE) for i, owner in enumerate(owners) if owner and owner[0] == element]
            grid.tinted(mine, SECTORS[element % len(SECTORS)], 1, 0.3)
        first = byte // 4 * 4
        grid.frame([divmod(first, WIDE), divmod(first + 3, WIDE)], BLUE)
        grid.tinted([divmod(byte, WIDE)], BLUE, 4, 0.1)
        grid.touch(name, "byte")


def _whose(name: str, owner: Sequence | None) -> str:
    return f"in {owner[1]} of element {owner[0]} in {name}" if owner else f"nobody's in {name}"
