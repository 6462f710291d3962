"""The order in which declarations are read: what they need comes first."""

from __future__ import annotations

from collections.abc import Mapping

from wgsl.syntax import tree


def needed(name: str, nodes: Mapping[str, tree.Node], known: set[str]) -> list[str]:
    """Return what a declaration needs and is not known, each name behind those that it needs itself.

    Names in a circle are left out: none of them can come first.
    """
    behind: list[str] = []
    circles: set[str] = set()
    path: dict[str, None] = {}
    visited = set(known)
    waiting = [(name, False)]
    while waiting:
        item, left = waiting.pop()
        if left:
            path.pop(item)
            behind.append(item)
        elif item in path:
            circles.update([*path][[*path].index(item) :])
        elif item not in visited:
            visited.add(item)
            path[item] = None
            waiting.append((item, True))
            waiting += [(other, False) for other in _names_in(nodes[item]) if other in nodes]
    return [item for item in behind if item not in circles and item != name]


def _names_in(node: tree.Node) -> list[str]:
    """Return the names that a declaration mentions, each once."""
    names = (str(part.name) for part in tree.walk(node) if isinstance(part, tree.Name))
    return [*dict.fromkeys(names)]
