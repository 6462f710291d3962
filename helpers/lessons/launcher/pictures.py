"""Pictures of appendix C: the objects of a launch, each beside the call that makes it, and whose the bytes of a buffer
are."""

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
    """An object that a call makes, from what, and why another launch has a new one; with no reason, it is kept."""

    name: str
    call: str
    what: str
    made_from: list[str]
    renewed: str = ""


NEEDED = {"call": str, "what": str, "made_from": list}
OPTIONAL = {"renewed": str}


def objects(file: Path) -> list[Object]:
    """Return the objects of a file such as objects.toml, in their order.

    Raises ValueError, with the file, the object, the key and the rule, where a table is no object.
    """
    rows = {}
    for name, table in tables.read(file, NEEDED, OPTIONAL).items():
        for source in table["made_from"]:
            if source not in rows:
                raise ValueError(f"{file.name}, [{name}]: made_from has {source!r}: it must be an object above")
        rows[name] = Object(name, **table)
    return list(rows.values())


OBJECTS = objects(Path(__file__).with_name("objects.toml"))
PLACES = {object.name: i for i, object in enumerate(OBJECTS)}
# CSS pixels
ROW = 23
NAMES = Box(58, 6, 116, 18)  # the name in the first row
CALL = 190  # where columns begin
WHAT = 490
ONE = 724


class LaunchPicture(Picture):
    """The objects of a launch, one below the other: those that are made are lit, arrows lead from one to the next."""

    def __init__(self, adapter: str) -> None:
        super().__init__(ROW * len(OBJECTS) + 8)
        self.what = {object.name: object.what for object in OBJECTS}
        self.what["adapter"] = f"here: {adapter}"

    def draw(self, launch: int, step: int) -> str:
        """The first `step` objects of the first launch or of the second one, which has what the first one made."""
        self.starts()
        rows = Area(self, np.zeros((len(OBJECTS), 1)), Box(0, 4, self.width, ROW * len(OBJECTS)))
        rows.touch("objects", "step", start=1)
        for i, object in enumerate(OBJECTS):
            is_kept = launch == 2 and not object.renewed
            self._draw_object(object, is_kept, is_lit=i < step)
        self._draw_bracket()
        if step:
            last = OBJECTS[step - 1]
            self._draw_arrows(last)
            return _sentence(last, launch)
        if launch == 1:
            return "Nothing is made yet."
        return "Launch 2 begins with what is kept from launch 1."

    def _draw_bracket(self) -> None:
        """A line beside the objects from the module to the recording, and what they are."""
        top = self._box("module").y
        bottom = self._box("recording").bottom
        self.lines([(ONE, top, ONE, bottom)], GRAY, 2)
        self.column(ONE + 10, (top + bottom) / 2 - 9, 18, ("five objects", "are a launch"), 13, GRAY)

    def _box(self, name: str) -> Box:
        return NAMES._replace(y=NAMES.y + ROW * PLACES[name])

    def _draw_object(self, object: Object, is_kept: bool, is_lit: bool) -> None:
        box = self._box(object.name)
        if is_kept or is_lit:
            color = INK
            weight = "bold"
            self.boxes([box], color, line=1.6)
        else:
            color = GRAY
            weight = "normal"
            self.boxes([box], color, line=1, dashes=(3, 3))
        if is_lit and not is_kept:
            self.tinted([box], BLUE, 1.6)
        _, middle = box.middle
        what = "kept from launch 1" if is_kept else self.what[object.name]
        self.label([box], [object.name], 13, color, weight)
        self.words([Word(CALL, middle, object.call, 13, "left", code=True)], color)
        self.write(WHAT, middle, what, 13, color)

    def _draw_arrows(self, object: Object) -> None:
        """A frame around an object, and an arrow from everything that it is made from."""
        box = self._box(object.name)
        self.boxes([box], BLUE, line=3)
        for i, name in enumerate(object.made_from):
            start = self._box(name)
            self.boxes([start], ORANGE, line=3)
            turn = 42 - 16 * i
            top = start.middle[1]
            bottom = box.middle[1] - 4 + 8 * i
            x = np.array([start.x, turn, turn])
            y = np.array([top, top, bottom])
            self.curve(x, y, ORANGE, 2)
            self.arrow((turn, bottom), (box.x - 2, bottom), ORANGE, 2)


def _sentence(object: Object, launch: int) -> str:
    name = f"The {object.name}"
    are = "are" if object.name.endswith("s") else "is"
    if launch == 2 and object.renewed:
        return f"{name} {are} new in launch 2: {object.renewed}."
    if launch == 2:
        return f"{name} {are} kept from launch 1."
    if object.name == "adapter":
        return f"{name} is {object.what}."
    if object.name == "queue":
        return "The queue takes the recording: the kernel runs."
    sources = listed(f"the {source}" for source in object.made_from)
    return f"{name} {are} made from {sources}: {object.what}."


# --- The bytes of a buffer ------------------------------------------------------------------------------------

WORDS = 16  # numbers in the buffer
WIDE = 16  # bytes in a row
# CSS pixels
BYTE = (24, 25)
WGSL_LEFT = MARGIN
NUMPY_LEFT = 440


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
        if element < self.count and offset in self.offsets:
            return element, self.offsets[offset]
        return None


def struct(before: int, floats: int) -> str:
    """The text of a struct with single floats and then a vector."""
    members = [f"{name}: f32" for name in "ab"[:before]]
    if floats > 1:
        members.append(f"v: vec{floats}f")
    else:
        members.append("v: f32")
    return f"struct Element {{ {', '.join(members)} }}"


def layouts(before: int, floats: int) -> tuple[Layout, Layout]:
    """The elements as WGSL has them, and one number after the other, as NumPy has them."""
    text = f"{struct(before, floats)}\n@group(0) @binding(0) var<storage, read> elements: array<Element>;"
    kernel = Kernel(f"{text}\n@compute @workgroup_size(1) fn main() {{}}")
    type = kernel.find("elements").type
    names = list("ab"[:before])
    if floats > 1:
        names += [f"v.{part}" for part in "xyzw"[:floats]]
    else:
        names.append("v")
    offsets = [offset for offset, _ in leaves(type)]
    in_wgsl = Layout(dict(zip(offsets, names, strict=True)), type.stride)
    in_numpy = Layout(dict(enumerate(names)), len(names))
    return in_wgsl, in_numpy


class BytesPicture(Picture):
    """The same 64 bytes twice: whose they are in WGSL, and whose in NumPy."""

    def __init__(self) -> None:
        super().__init__(196)

    def draw(self, before: int, floats: int, byte: int) -> str:
        """Elements of `before` floats and a vector of `floats`, with one byte pointed at."""
        self.starts()
        in_wgsl, in_numpy = layouts(before, floats)
        self._draw_bytes("WGSL", in_wgsl, WGSL_LEFT, byte)
        self._draw_bytes("NumPy", in_numpy, NUMPY_LEFT, byte)
        code = f"{struct(before, floats)}    array<Element>"
        self.words([Word(MARGIN, 180, code, 13, "left", code=True)])
        word = byte // 4
        owner_in_wgsl = _whose("WGSL", in_wgsl.owner(word))
        owner_in_numpy = _whose("NumPy", in_numpy.owner(word))
        return f"Byte {byte} is {owner_in_wgsl} and {owner_in_numpy}."

    def _draw_bytes(self, name: str, layout: Layout, left: float, byte: int) -> None:
        owners = [layout.owner(i // 4) for i in range(4 * WORDS)]
        numbers = [i if owner else np.nan for i, owner in enumerate(owners)]
        values = np.reshape(numbers, (-1, WIDE))
        elements = "1 element" if layout.count == 1 else f"{layout.count} elements"
        note = f"{elements} of {4 * layout.stride} bytes"
        grid = Grid(self, values, left, 52, BYTE, f"bytes in {name}", note, tensor="bytes")
        grid.empty = "nobody's"
        for element in range(layout.count):
            cells = [divmod(i, WIDE) for i, owner in enumerate(owners) if owner and owner[0] == element]
            grid.tinted(cells, SECTORS[element % len(SECTORS)], 1, 0.3)
        first = byte // 4 * 4
        grid.frame([divmod(first, WIDE), divmod(first + 3, WIDE)], BLUE)
        grid.tinted([divmod(byte, WIDE)], BLUE, 4, 0.1)
        grid.touch(name, "byte")


def _whose(name: str, owner: tuple[int, str] | None) -> str:
    if owner is None:
        return f"nobody's in {name}"
    element, number = owner
    return f"in {number} of element {element} in {name}"
