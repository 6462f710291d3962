"""Records of facts about textures: what a run finds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from wgsl.facts import Thread


class Texel(NamedTuple):
    """A texel of a variable: its number, and its coordinates, x first; the layer of an array is the last one."""

    variable: str
    index: int
    at: tuple[int, ...]


@dataclass(frozen=True)
class OutOfTexture:
    """A texel that a texture does not have.

    `source` is the call as it is written, and `axis` what of it is out of range: "x", "y", "z", "layer" or "level";
    there the texture has `size`.
    """

    thread: Thread
    access: str
    source: str
    variable: str
    axis: str
    index: int
    size: int

    @property
    def threads(self) -> tuple[Thread, ...]:
        """The thread of the first case."""
        return (self.thread,)
