"""What the names of a text stand for, and where each is visible."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum

from helpers.simulator.grammar import tree
from helpers.simulator.grammar.errors import Refused
from helpers.simulator.types.kinds import Type
from helpers.simulator.types.program import Binding, Constant, Function, Variable


class Stage(IntEnum):
    """When the value of an expression must be known: with the text, with the values of the overrides, or in a run."""

    CONST = 0
    OVERRIDE = 1
    RUN = 2


@dataclass(frozen=True, slots=True)
class Known:
    """A `const`, or an `override`."""

    value: Constant
    stage: Stage


@dataclass(frozen=True, slots=True)
class Routine:
    """A function of the text, whether its result must be used, and whether it is an entry point."""

    function: Function
    must_use: bool
    entry: bool


@dataclass(frozen=True, slots=True)
class Alias:
    """Another name for a type, which is read where the name is used: there an array's length may be an override."""

    type: tree.Name
    scope: Scope


Meaning = Variable | Binding | Known | Routine | Alias | Type


class Scope:
    """The names of a block, and around it those of the outer blocks and of the module."""

    def __init__(self, find: Callable[[str], Meaning | None], stage: Stage = Stage.RUN) -> None:
        self._outer, self.stage = find, stage
        self._own: dict[str, tuple[Meaning, int]] = {}

    def inner(self) -> Scope:
        """A block in this one."""
        return Scope(self.find, self.stage)

    def known(self, stage: Stage) -> Scope:
        """This scope for an expression whose value must be known at a stage."""
        return Scope(self.find, stage)

    def find(self, name: str) -> Meaning | None:
        """What a name stands for here; None where the text declares no such name."""
        return self._own[name][0] if name in self._own else self._outer(name)

    def declare(self, name: str, meaning: Meaning, at: int) -> None:
        """Give a name a meaning from here on."""
        if name in self._own:
            raise redefinition(name, at)
        self._own[name] = meaning, at


def redefinition(name: str, at: int) -> Refused:
    """A name that a scope has already."""
    words = f"redefinition of `{name}`"
    return Refused(words, at, len(name), words)
