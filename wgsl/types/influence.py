"""The graph of what depends on what in a function, as WGSL's chapter "Uniformity" draws it.

A node is a value, the content of a variable, or the control flow at a place; its `causes` are what it depends on. The
graph is made in one walk over the function, and what each node depends on is found by going back from the sources.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field

from wgsl.facts import Differs
from wgsl.types import program as ir

MOST_STEPS = 3  # that lead to what differs
Place = ir.Part | ir.Statement


@dataclass(eq=False, slots=True)
class Node:
    """A node, with its place where a reader is told of it, and what it depends on, the most telling first.

    A source has a `source`: the reason why it `differs`, or what a call of the function decides.
    """

    place: Place | None = None
    causes: list[Node] = field(default_factory=list)
    source: Hashable = None


@dataclass(frozen=True, slots=True)
class Path:
    """The places from a node to a source."""

    steps: tuple[Place, ...]
    source: Hashable


class Graph:
    """The nodes of one function."""

    def __init__(self) -> None:
        self._nodes: list[Node] = []

    def node(self, place: Place | None, causes: Iterable[Node], source: Hashable = None) -> Node:
        """Make a node."""
        made = Node(place, [*dict.fromkeys(causes)], source)
        self._nodes.append(made)
        return made

    def joined(self, *causes: Node) -> Node:
        """Return a node that depends on all of these: itself, where it is one alone."""
        first = causes[0]
        if all(cause is first for cause in causes):
            return first
        return self.node(None, causes)

    def chain(self, steps: Iterable[Place], end: Node) -> Node:
        """Return a node that depends on another one by these steps."""
        for place in reversed([*steps]):
            end = self.node(place, [end])
        return end

    def paths(self, targets: list[Node]) -> list[list[Path]]:
        """Return for each target its paths to the sources that it depends on, at most one to each kind of source.

        All reasons why something differs are one kind: the first that is reached is enough.
        """
        effects: dict[Node, list[Node]] = {}
        kinds: dict[Hashable, list[Node]] = {}
        for node in self._nodes:
            if node.source is not None:
                kinds.setdefault(kind_of(node.source), []).append(node)
            for cause in node.causes:
                effects.setdefault(cause, []).append(node)
        paths: list[list[Path]] = [[] for _ in targets]
        for sources in kinds.values():
            distances = _distances(sources, effects)
            for target, of_target in zip(targets, paths, strict=True):
                if target in distances:
                    of_target.append(_path(target, distances))
        return paths


def kind_of(source: Hashable) -> Hashable:
    """Return what a source is one of: all reasons why something differs are one kind."""
    return Differs if isinstance(source, Differs) else source


def _distances(sources: list[Node], effects: dict[Node, list[Node]]) -> dict[Node, int]:
    """Return how far from the nearest of these sources each node is that depends on one of them."""
    distances = dict.fromkeys(sources, 0)
    reached = sources
    while reached:
        further = []
        for node in reached:
            for effect in effects.get(node, ()):
                if effect not in distances:
                    distances[effect] = distances[node] + 1
                    further.append(effect)
        reached = further
    return distances


def _path(node: Node, distances: dict[Node, int]) -> Path:
    """Return the path from a node: each time to the first cause that is nearer to a source."""
    steps: list[Place] = []
    while distances[node]:
        if node.place is not None and len(steps) < MOST_STEPS:
            steps.append(node.place)
        nearer = distances[node]
        node = next(cause for cause in node.causes if distances.get(cause, nearer) < nearer)
    return Path(tuple(steps), node.source)
