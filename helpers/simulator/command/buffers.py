"""The buffers of a run, made from what the command line says of each: a size, values, or a file."""

from __future__ import annotations

import re
from collections.abc import Mapping
from math import prod
from typing import NamedTuple

import numpy as np

from helpers.arguments import check_size
from helpers.simulator.arithmetic.conversions import DTYPES
from helpers.simulator.launch import size_of
from helpers.simulator.types import kinds
from helpers.simulator.types.kinds import Atomic, Struct, Type
from helpers.simulator.types.program import Program, Variable
from helpers.simulator.types.usage import Usage, nodes

MOST = 2**24  # elements of a buffer
SIZE = re.compile(r"(\d+(?:x\d+)*)(?::(.+))?")  # 64 or 4x16, perhaps with a value
LARGEST = 4  # of the random numbers


def buffers_for(program: Program, given: Mapping[str, str], seed: int) -> list[np.ndarray]:
    """One array for each binding of a program, in order.

    Raises ValueError where a binding has no size or does not exist, and where values do not fit.
    """
    names = [variable.name for variable in program.bindings]
    for name, text in given.items():
        if name not in names:
            raise ValueError(f"{name}={text}: the kernel has no binding `{name}`; it has {', '.join(names)}")
    touched = Usage(program.entry).variables
    texts = [given.get(each.name, _left_out(each, each in touched)) for each in program.bindings]
    missing = [_wanted(each) for each, text in zip(program.bindings, texts, strict=True) if text is None]
    if missing:
        raise ValueError("; ".join(missing))
    random = np.random.default_rng(seed)
    pairs = zip(program.bindings, texts, strict=True)
    return [_buffer(each, text, each in program.written, random) for each, text in pairs]


def _left_out(variable: Variable, touched: bool) -> str | None:
    """What stands for a binding that the command line does not name; None where it must."""
    if size_of(variable.type)[1]:
        return None if touched else "1"
    return None if touched and variable.space == "uniform" else ""


def _wanted(variable: Variable) -> str:
    """What is missing."""
    name, type = variable.name, variable.type
    if size_of(type)[1]:
        return f"`{name}` is an {type} without a size: write {name}=64, {name}=1,2,3 or {name}=@numbers.npy"
    return f"`{name}` has no values: write {name}= and the numbers of {_listed(type)}"


def _listed(type: Type) -> str:
    """A type in words, with the members of a struct."""
    members = type.fields if isinstance(type, Struct) else ()
    return f"{type} ({', '.join(f'{each.name}: {each.type}' for each in members)})" if members else str(type)


# --- One buffer -----------------------------------------------------------------------------------------------


class _Layout(NamedTuple):
    """Where the numbers of a buffer lie: their offsets in words, the names of their types, and all its words."""

    offsets: np.ndarray
    scalars: np.ndarray
    words: int

    @classmethod
    def of(cls, type: Type, elements: int) -> _Layout:
        """The layout of a type whose runtime-sized array, if it has one, has at least so many elements."""
        least, step = size_of(type)
        before, repeated = _parts(type)
        first = type.fields[-1].offset if isinstance(type, Struct) and step else 0
        words = max(least, first + elements * step)
        rounds = (words - first) // step if step else 0
        each = np.array([offset for offset, _ in repeated], np.int64)
        offsets = [offset for offset, _ in before], (each + step * np.arange(rounds)[:, None]).ravel()
        scalars = [scalar.name for _, scalar in [*before, *repeated * rounds]]
        return cls(np.concatenate(offsets).astype(np.int64), np.array(scalars), words)


def _parts(type: Type) -> tuple[list, list]:
    """The numbers before the runtime-sized array of a type, or all if it has none; and those of an element."""
    leaves = list(kinds.leaves(type))
    if not size_of(type)[1]:
        return leaves, []
    first = type.fields[-1].offset if isinstance(type, Struct) else 0
    return [leaf for leaf in leaves if leaf[0] < first], [leaf for leaf in leaves if leaf[0] >= first]


def _buffer(variable: Variable, text: str, written: bool, random: np.random.Generator) -> np.ndarray:
    """The array of one binding."""
    if text.startswith("@"):
        return np.load(text[1:])
    step = size_of(variable.type)[1]
    if not text:
        layout = _Layout.of(variable.type, 1)
        return _array(layout, _start(variable, layout, written, random))
    size = SIZE.fullmatch(text)
    if not (step and size):
        return _valued(variable, text)
    shape = tuple(map(int, size[1].split("x")))
    check_size(f"{variable.name}={text}: the number of elements", prod(shape), 1, MOST)
    layout = _Layout.of(variable.type, prod(shape))
    if size[2]:
        array = _array(layout, _numbers(variable, text, size[2]).repeat(len(layout.offsets)), f"{variable.name}={text}")
    else:
        array = _array(layout, _start(variable, layout, written, random))
    return array.reshape(*shape, -1) if step > 1 else array.reshape(shape) if array.size == prod(shape) else array
