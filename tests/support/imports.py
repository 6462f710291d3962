"""Who imports whom, in functions and for types only, too: circles, and imports that climb."""

import ast
import re
from collections.abc import Iterator
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

Graph = dict[str, set[str]]


def modules(root: Path, *packages: str) -> Graph:
    """Each module of some packages with those of them that it imports."""
    paths = {_name(path.relative_to(root)): path for package in packages for path in (root / package).rglob("*.py")}
    return {name: {*_imported(path, name, paths)} - {name} for name, path in paths.items()}


def _name(path: Path) -> str:
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def _imported(path: Path, name: str, known: dict[str, Path]) -> Iterator[str]:
    package = name if path.name == "__init__.py" else name.rpartition(".")[0]
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name in known)
        if isinstance(node, ast.ImportFrom):
            above = package.split(".")[: package.count(".") + 2 - node.level] if node.level else []
            source = ".".join([*above, *([node.module] if node.module else [])])
            targets = (f"{source}.{alias.name}" for alias in node.names)
            yield from (found for target in targets if (found := target if target in known else source) in known)


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
    return {name: floor for floor, names in enumerate(listed.split("then")) for name in re.findall(r"`(\w+)`", names)}


def climbing(graph: Graph, floors: dict[str, int]) -> list[str]:
    """The imports of what lies higher, of a part that the order does not name, and of `helpers` in `wgsl`."""
    said = []
    for name, imported in sorted(graph.items()):
        own, *part = name.split(".")[:2]
        for other in sorted(each for each in imported if part or own == "wgsl"):
            package, *theirs = other.split(".")[:2]
            if own == "wgsl":
                climbs = package != "wgsl"
            else:
                climbs = package != "wgsl" and floors.get(part[0], -1) < floors.get(theirs[0] if theirs else "", 99)
            said += [f"{name} imports {other}"] * climbs
    return said


def between_lessons(graph: Graph) -> list[str]:
    """The imports of another lesson in a lesson; what two of them need is in `lessons/shared`."""
    said = []
    for name, imported in sorted(graph.items()):
        lesson = _lesson(name)
        others = sorted(other for other in imported if lesson and _lesson(other) not in ("", "shared", lesson))
        said += [f"{name} imports {other}" for other in others]
    return said


def _lesson(module: str) -> str:
    """The folder of a lesson that has a module; nothing where none has."""
    package, room, *rest = [*module.split("."), "", ""][:5]
    return rest[0] if (package, room) == ("helpers", "lessons") and rest[1] else ""


def arrows(graph: Graph) -> set[tuple[str, str]]:
    """The pairs of rooms of `helpers` of which the first imports the second."""
    pairs = set()
    for name, imported in graph.items():
        for other in imported:
            if name.startswith("helpers.") and other.startswith("helpers."):
                pairs.add((name.split(".")[1], other.split(".")[1]))
    return {(room, other) for room, other in pairs if room != other}
