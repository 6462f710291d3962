"""The memory of a run, counted before anything is made."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from wgsl.simulator.lanes import Dispatch
from wgsl.simulator.memory import has_halves
from wgsl.simulator.work import too_large
from wgsl.syntax.tree import children
from wgsl.types.kinds import Pointer, Type, words
from wgsl.types.program import Bind, Declare, Expression, Function, Program, Statement, Variable
from wgsl.types.usage import nodes, reached

WORD = 4  # bytes
BESIDE = 53  # bytes beside a word that is watched for races: four accesses, a value, and one that says it was written
COPIES = 3  # of the values of a statement, while it is computed
MOST_BYTES = 2**31
GIB = 2**30


class _Share(NamedTuple):
    """The bytes of a variable or a value, and where its words are."""

    name: str
    size: int
    place: str


def check_memory(program: Program, dispatch: Dispatch, arrays: Mapping[Variable, np.ndarray], watched: bool) -> int:
    """Return the bytes that are left when all variables and values of a run are made.

    Raises ValueError where there is no room for them.
    """
    shares = [*_shared(program, dispatch, arrays, watched), *_own(program, dispatch.lanes)]
    largest_statement = _of_functions(program.entry)[1]
    total = sum(share.size for share in shares) + WORD * COPIES * largest_statement * dispatch.lanes
    if total > MOST_BYTES:
        largest = max(shares, key=lambda share: share.size)
        raise too_large(
            f"a run takes {total / GIB:,.1f} GiB of memory, and the simulator has {MOST_BYTES / GIB:,.1f}; "
            f"`{largest.name}` takes most of it: {largest.place}"
        )
    return MOST_BYTES - total


def _shared(
    program: Program, dispatch: Dispatch, arrays: Mapping[Variable, np.ndarray], watched: bool
) -> Iterator[_Share]:
    """Yield the shares of buffers, which are copied if they are watched, and of workgroup memory."""
    for variable, array in arrays.items():
        beside = BESIDE if variable in program.written else 1
        if watched:
            size = array.nbytes // WORD * _in_each_word(variable.type)
            place = f"{size:,} words of {WORD} bytes, and {beside} bytes about each, to watch it"
            yield _Share(variable.name, size * (WORD + beside), place)
    for variable in program.workgroup:
        size = _words(variable.type)
        total = size * dispatch.group_count * (WORD + (BESIDE if watched else 0))
        yield _Share(variable.name, total, f"{size:,} words in each of {dispatch.group_count:,} workgroups")


def _own(program: Program, threads: int) -> Iterator[_Share]:
    """Yield the shares of what each thread has for itself."""
    own = [(variable.name, _words(variable.type)) for variable in program.private]
    for name, size in (*own, *_of_functions(program.entry)[0]):
        yield _Share(name, size * threads * WORD, f"{size:,} words in each of {threads:,} threads")


@lru_cache(maxsize=64)
def _of_functions(entry: Function) -> tuple[list[tuple[str, int]], int]:
    """Return names and words of variables and values in all functions that run, and the words of the longest statement.

    Those of a statement are the words of all values that are computed in it.
    """
    own = []
    longest = 0
    for function in reached(entry):
        own += [(parameter.name, _words(parameter.type)) for parameter in function.parameters]
        for statement in nodes(function.body):
            match statement:
                case Bind(binding=named) | Declare(variable=named):
                    own.append((named.name, _words(named.type)))
            if isinstance(statement, Statement):
                parts = nodes(tuple(children(statement, Expression)))
                longest = max(longest, sum(_words(part.type) for part in parts if isinstance(part, Expression)))
    return own, longest


def _words(type: Type | None) -> int:
    """Return the words of a value, in which an f16 has one, too; a pointer has one, and what returns nothing none."""
    if type is None:
        return 0
    return 1 if isinstance(type, Pointer) else int(words(type) * _in_each_word(type))


def _in_each_word(type: Type) -> int:
    """Return how many words of its own the simulator has for each word of memory."""
    return 2 if has_halves(type) else 1
