"""The buffers of a run, made from what the command line says of each: a size, values, or a file."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import prod

import numpy as np

from wgsl.arguments import check_size
from wgsl.arithmetic.operators import DTYPES
from wgsl.simulator.bindings import at_key, listed
from wgsl.simulator.memory import numbers, size_of
from wgsl.simulator.texture_arguments import smallest, texture_for, wanted
from wgsl.types import kinds
from wgsl.types.kinds import Atomic, Struct, Type
from wgsl.types.program import Program, Variable
from wgsl.types.textures import Texture
from wgsl.types.usage import usage

MOST = 2**24  # elements of a buffer
SIZE = re.compile(r"(\d+(?:x\d+)*)(?::(.+))?")  # 64 or 4x16, perhaps with a value
LARGEST = 4  # of the random numbers


def all_bindings(programs: Sequence[Program]) -> dict[tuple[int, int], Variable]:
    """Return the variable at each group and binding; of several, one that an entry point touches."""
    touched = set().union(*(usage(program.entry).variables for program in programs))
    variables = [variable for program in programs for variable in program.bindings]
    by_place: dict[tuple[int, int], Variable] = {}
    for variable in sorted(variables, key=lambda one: (one.group, one.binding, one not in touched)):
        by_place.setdefault((variable.group, variable.binding), variable)
    return by_place


def named(programs: Sequence[Program], name: str) -> Variable:
    """Return the binding of a name, or of group and binding as in "1:3". Raises ValueError where there is none."""
    variables = [variable for program in programs for variable in program.bindings]
    place = re.fullmatch(r"(\d+):(\d+)", name)
    key = (int(place[1]), int(place[2])) if place else name
    if variable := at_key(variables, key):
        return variable
    names = listed([*all_bindings(programs).values()]) or "none"
    raise ValueError(f"{name!r} is no binding of the kernel; these are {names}")


def buffers_for(programs: Sequence[Program], arguments: Mapping[str, str], seed: int) -> dict[tuple, np.ndarray]:
    """Return one array for each group and binding of programs that share them, in order.

    Raises ValueError where a binding has no size or does not exist, and where values do not fit.
    """
    variables = all_bindings(programs)
    texts: dict[tuple, str | None] = {}
    for name, text in arguments.items():
        variable = named(programs, name)
        if (variable.group, variable.binding) in texts:
            raise ValueError(f"{name}={text}: `{variable.name}` has a buffer already")
        texts[variable.group, variable.binding] = text
    touched = set().union(*(usage(program.entry).variables for program in programs))
    written = frozenset().union(*(program.written for program in programs))
    for place, variable in variables.items():
        texts.setdefault(place, _left_out(variable, variable in touched))
    if missing := [_wanted(variable) for place, variable in variables.items() if texts[place] is None]:
        raise ValueError("; ".join(missing))
    random = np.random.default_rng(seed)
    pairs = ((place, variable, variable in written) for place, variable in variables.items())
    return {place: _buffer(variable, texts[place], changes, random) for place, variable, changes in pairs}


def _left_out(variable: Variable, touched: bool) -> str | None:
    """The text for a binding that the command line does not name; None where it must name it."""
    if isinstance(variable.type, Texture):
        return None if touched else smallest(variable.type)
    if size_of(variable.type)[1]:
        return None if touched else "1"
    return None if touched and variable.space == "uniform" else ""


def _wanted(variable: Variable) -> str:
    """Return the request for a binding that the command line leaves out: what to write for it."""
    name = variable.name
    type = variable.type
    if isinstance(type, Texture):
        return wanted(variable)
    if size_of(type)[1]:
        return f"`{name}` is an {type} without a size: write {name}=64, {name}=1,2,3 or {name}=numbers.npy"
    return f"`{name}` has no values: write {name}= and the numbers of {_listed(type)}"


def _listed(type: Type) -> str:
    """A type in words, with the members of a struct."""
    members = type.fields if isinstance(type, Struct) else ()
    return f"{type} ({', '.join(f'{field.name}: {field.type}' for field in members)})" if members else str(type)


# --- One buffer -----------------------------------------------------------------------------------------------


def _buffer(variable: Variable, text: str, written: bool, random: np.random.Generator) -> np.ndarray:
    """The array of one binding."""
    if text.startswith("@") or text.endswith(".npy"):
        return _loaded(variable, text.removeprefix("@"))
    if isinstance(variable.type, Texture):
        return texture_for(variable, text, written, random)
    runtime_sized = size_of(variable.type)[1] > 0
    size = SIZE.fullmatch(text)
    try:
        if text and not (runtime_sized and size):
            return _valued(variable.type, [_number(piece) for piece in text.removesuffix(",").split(",")])
        shape = tuple(map(int, size[1].split("x"))) if size else (1,)
        check_size("the number of elements", prod(shape), 1, MOST)
        layout = Layout.of(variable.type, prod(shape))
        array = layout.array(_filling(variable, layout, size and size[2], written, random))
    except ValueError as error:
        raise ValueError(f"{variable.name}={text}: {error}") from None
    return array.reshape(shape) if array.size == prod(shape) else array


def _loaded(variable: Variable, path: str) -> np.ndarray:
    """Return the array of a file. Raises ValueError where it has none."""
    try:
        return np.load(path)
    except (ValueError, EOFError) as error:
        raise ValueError(f"{variable.name}={path}: this file holds no array that NumPy has saved") from error


def _filling(
    variable: Variable, layout: Layout, value: str | None, written: bool, random: np.random.Generator
) -> np.ndarray:
    """One number for each place of a buffer: the value, or what its use suggests."""
    count = len(layout.offsets)
    if value:
        return np.full(count, _number(value))
    if written or any(isinstance(part, Atomic) for part in kinds.parts(variable.type)):
        return np.zeros(count)
    numbers = random.integers(-LARGEST, LARGEST, count, endpoint=True)
    return np.where(layout.scalars == "u32", np.abs(numbers), numbers)


def _valued(type: Type, numbers: list[float]) -> np.ndarray:
    """A buffer with these numbers, one after another."""
    last = type.fields[-1].type if isinstance(type, Struct) else type
    repeated = len([*kinds.leaves(last)]) if size_of(type)[1] else 0
    before = len([*kinds.leaves(type)]) - repeated
    elements = max(1, (len(numbers) - before) // (repeated or 1))
    layout = Layout.of(type, elements)
    if len(layout.offsets) != len(numbers):
        more = f", and {repeated} for each further element" if repeated else ""
        raise ValueError(f"{len(numbers)} numbers, but {_listed(type)} has {len(Layout.of(type, 1).offsets)}{more}")
    return layout.array(np.array(numbers))


def _number(text: str) -> float:
    try:
        return int(text) if re.fullmatch(r"[+-]?\d{1,15}", text) else float(text)
    except ValueError:
        raise ValueError(f"{text!r} is no number") from None


# --- Layout ---------------------------------------------------------------------------------------------------------

# Where the numbers of a type lie in a buffer, and a buffer made of such numbers.


@dataclass(frozen=True)
class Layout:
    """The offsets of a buffer's numbers in words, the names of their types, and how many words there are in all."""

    offsets: np.ndarray
    scalars: np.ndarray
    words: kinds.Size

    @classmethod
    def of(cls, type: Type, elements: int) -> Layout:
        """The layout of a type; its runtime-sized array, if it has one, has at least this many elements."""
        least, step = size_of(type)
        first = type.fields[-1].offset if isinstance(type, Struct) else 0
        words = max(least, first + elements * step)
        return cls(*numbers(type, words), words)

    def array(self, numbers: np.ndarray) -> np.ndarray:
        """A buffer with these numbers; uint32 words where they are of several types.

        Raises ValueError for a number that its type does not have.
        """
        bits = np.zeros(int(self.words * 2), np.uint16)
        for name in dict.fromkeys(self.scalars):
            chosen = self.scalars == name
            first = (self.offsets[chosen] * 2).astype(int)
            for i, part in enumerate(_converted(numbers[chosen], name).view(np.uint16).reshape(len(first), -1).T):
                bits[first + i] = part
        return bits.view(DTYPES[name] if len({*self.scalars}) == 1 else np.uint32)


def _converted(numbers: np.ndarray, name: str) -> np.ndarray:
    kind = DTYPES[name]
    is_float = kind.kind == "f"
    ends = np.finfo(kind) if is_float else np.iinfo(kind)
    low, high = map(np.float32 if is_float else int, (ends.min, ends.max))
    held = (numbers >= low) & (numbers <= high)
    held = held | ~np.isfinite(numbers) if is_float else held & (numbers == np.floor(numbers))
    if not held.all():
        raise ValueError(f"{numbers[~held][0]} is no {name}, which goes from {low} to {high}")
    return numbers.astype(kind)
