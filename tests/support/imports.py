"""The imports between modules, in functions and for types only, too: circles, and imports that climb."""

import ast
import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

Graph = dict[str, set[str]]


def modules(root: Path, *packages: str) -> Graph:
    """Each module of some packages with those of them that it imports."""
    paths = {}
    for package in packages:
        paths |= {_name(path.relative_to(root)): path for path in (root / package).rglob("*.py")}
    return {name: {*_imported(path, name, paths)} - {name} for name, path in paths.items()}


def _name(path: Path) -> str:
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def _imported(path: Path, name: str, known: dict[str, Path]) -> Iterator[str]:
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        if isinstance(node, ast.ImportFrom):
            source = _source(node, package)
            for alias in node.names:
                target = f"{source}.{alias.name}"
                module = target if target in known else source
                if module in known:
                    yield module


def _source(node: ast.ImportFrom, package: str) -> str:
    """The full name of the module from which something is imported in a module of `package`."""
    if not node.level:
        return node.module
    above = package.split(".")[: package.count(".") + 2 - node.level]
    return ".".join([*above, *([node.module] if node.module else [])])


def circle(graph: Graph) -> list[str]:
    """The modules of a circle of imports, the first one twice; nothing where there is none."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return error.args[1]
    return []


def order(text: str) -> dict[str, int]:
    """The floor of each part of `helpers`, as CONTRIBUTING.md lists them from the ground up."""
    (listed,) = re.findall(r"^Imports run one way: (.*?)\. ", text, re.MULTILINE)
    floors = {}
    for floor, names in enumerate(listed.split("then")):
        floors |= dict.fromkeys(re.findall(r"`(\w+)`", names), floor)
    return floors


def climbing(graph: Graph, floors: dict[str, int]) -> list[str]:
    """The imports of what lies higher, of a part that the order does not name, and of `helpers` in `wgsl`."""
    climbs = []
    for name, imported in sorted(graph.items()):
        climbs += [f"{name} imports {other}" for other in sorted(imported) if _climbs(name, other, floors)]
    return climbs


def _climbs(name: str, other: str, floors: dict[str, int]) -> bool:
    """Return True where the second module lies higher than the first, which imports it."""
    if other.split(".")[0] == "wgsl":
        return False
    if name.split(".")[0] == "wgsl":
        return True
    if "." not in name:  # `helpers` itself may import all
        return False
    return floors.get(_part(name), -1) < floors.get(_part(other), 99)


def _part(module: str) -> str:
    """The part of `helpers` that a module is in; nothing for `helpers` itself."""
    return module.split(".")[1] if "." in module else ""


def between_lessons(graph: Graph) -> list[str]:
    """The imports of another lesson in a lesson; what two of them need is in `lessons/shared`."""
    crossing = []
    for name, imported in sorted(graph.items()):
        lesson = _lesson(name)
        others = sorted(other for other in imported if lesson and _lesson(other) not in ("", "shared", lesson))
        crossing += [f"{name} imports {other}" for other in others]
    return crossing


def _lesson(module: str) -> str:
    """The folder of a lesson that has a module; nothing where none has."""
    parts = module.split(".")
    return parts[2] if parts[:2] == ["helpers", "lessons"] and len(parts) > 3 else ""


def arrows(graph: Graph) -> set[tuple[str, str]]:
    """The pairs of rooms of `helpers` of which the first imports the second."""
    pairs = set()
    for name, imported in graph.items():
        for other in imported:
            if name.startswith("helpers.") and other.startswith("helpers."):
                pairs.add((name.split(".")[1], other.split(".")[1]))
    return {(room, other) for room, other in pairs if room != other}
