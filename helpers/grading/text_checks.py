"""Slips that a kernel's text shows, by itself or beside the skeleton, each with what leads to its cure."""

import re
from collections.abc import Iterator, Sequence
from itertools import combinations, zip_longest

from helpers.grading.puzzle import Puzzle
from wgsl import Kernel, WgslError
from wgsl.diagnostics import Lines
from wgsl.simulator.findings import quoted_line
from wgsl.syntax import tree

LOOPS = tree.For | tree.While | tree.Loop


# --- Beside the skeleton --------------------------------------------------------------------------------------


def missing(kernel: Kernel, puzzle: Puzzle, error: WgslError) -> str:
    """What of the skeleton a text lacks, where a name that it uses is declared nowhere; else nothing."""
    if error.line is None:
        return ""
    name = re.match(r"\w*", kernel.source.split("\n")[error.line - 1][error.column - 1 :])[0]
    for node in _given(puzzle):
        line = _line(puzzle.official, node)[1].partition("//")[0].strip()
        if node.name == name and Kernel(puzzle.skeleton).code.strip() and not _declares(kernel.code, node):
            text = puzzle.official.source[node.at : node.end] if isinstance(node, tree.Parameter) else line
            cure = f"the skeleton's line `{text}` is missing" if line in puzzle.skeleton else "which step declares it?"
            return f"line {error.line}, column {error.column}: `{name}` is declared nowhere: {cure}"
    return ""


def _given(puzzle: Puzzle) -> Iterator[tree.Node]:
    """What the official kernel declares outside of its functions, and the parameters of `main`."""
    for node in puzzle.official.module.declarations:
        yield from node.parameters if tree.attribute(node, "compute") else [node] if hasattr(node, "name") else []


def _declares(code: str, node: tree.Node) -> bool:
    """Whether a text declares something of this name, or at this binding, or with this built-in value."""
    numbers = [tree.attribute(node, kind) for kind in ("builtin", "binding")]
    places = [f"@{given.name}\\s*\\(\\s*{_first(given)}\\b" for given in numbers if given]
    named = rf"\b(?:fn|struct|alias|let|const|override|var(?:\s*<[^>]*>)?)\s+{node.name}\b"
    return bool(re.search("|".join([named, *places]), code))


def _first(attribute: tree.Attribute) -> str:
    argument = attribute.arguments[0]
    return getattr(argument, "text", None) or argument.name


def exchanged(kernel: Kernel, official: Kernel) -> str:
    """Bindings that have each other's names."""
    mine, wanted = ({binding.name: i for i, binding in enumerate(each.bindings)} for each in (kernel, official))
    moved = [name for name in wanted if mine.get(name, wanted[name]) != wanted[name]]
    if not moved or {mine[name] for name in moved} != {wanted[name] for name in moved}:
        return ""
    numbers = " and ".join(str(number) for number in sorted(mine[name] for name in moved))
    return f"bindings {numbers} are exchanged: which number has `{moved[0]}` in the task?"


def renamed(kernel: Kernel, passes: Sequence[str]) -> str:
    """A pass, of several that are run, that a text lacks, or has under another name."""
    missing = [name for name in passes if name not in kernel.entry_points]
    others = [name for name in kernel.entry_points if name not in passes]
    if not missing or len(passes) == 1:
        return ""
    if len(missing) == len(others) == 1:
        return f"the pass `{others[0]}` must be called `{missing[0]}`: that is the name by which it is run"
    run = " and then ".join(f"`{name}`" for name in passes)
    return f"the passes {run} are run: which of your functions, with @compute before it, is `{missing[0]}`?"


def retyped(kernel: Kernel, official: Kernel) -> str:
    """A member of the uniform's struct that is not a u32, where the task has one."""
    try:
        pairs = zip_longest(_members(kernel), _members(official))
    except WgslError:  # the text is refused for another reason, which is said
        return ""
    for mine, wanted in pairs:
        if mine and wanted and mine.type.name in ("i32", "f32") and wanted.type.name == "u32":
            place = f"line {_line(kernel, mine)[0]}"
            given, cure = f"`{mine.name}` is an {mine.type.name}", f"write `{mine.name}: u32`"
            return f"{place}: the words of the struct are u32, and {given}: {cure}"
    return ""


def _members(kernel: Kernel) -> tuple[tree.Parameter, ...]:
    """The members of the struct that is the uniform."""
    types = (binding.type for binding in kernel.bindings if binding.space == "uniform")
    return getattr(kernel.outline.nodes.get(next(types, "")), "members", ())


# --- By itself ------------------------------------------------------------------------------------------------


def hidden(kernel: Kernel) -> str:
    """A variable that a block declares again, so that it alone changes, and ends with the block."""
    functions = [node for node in kernel.module.declarations if isinstance(node, tree.Function)]
    for nodes in ([*tree.walk(function.body)] for function in functions):
        declared = [node for node in nodes if isinstance(node, tree.Declaration)]
        for outer, inner in combinations(declared, 2):
            if outer.name == inner.name and outer.kind == "var" and (later := _read_later(nodes, outer, inner)):
                (line, text), (last, _) = _line(kernel, inner), _line(kernel, later)
                ends = "the loop" if any(isinstance(node, LOOPS) for node in _around(nodes, inner)) else "its braces"
                second = f"this is a second `{inner.name}`, which ends with {ends}"
                return f"{quoted_line(line, text)}: {second}: which of the two is in line {last}?"
    return ""


def _read_later(nodes: list[tree.Node], outer: tree.Node, inner: tree.Node) -> tree.Node | None:
    """Where a variable is read after the block that declares it again, if it never changes outside of that block."""
    scope, block = _around(nodes, outer)[-1], _around(nodes, inner)[-1]
    targets = [node.target for node in nodes if isinstance(node, tree.Assignment | tree.Increment) and node.target]
    changed = {next(_names(target, outer.name), target).at for target in targets}
    uses = [use for use in _names(scope, outer.name) if not block.at <= use.at < block.end]
    if block is scope or not scope.at <= inner.at < scope.end or any(use.at in changed for use in uses):
        return None
    return next((use for use in uses if use.at > block.end), None)


def _names(node: tree.Node, name: str) -> Iterator[tree.Name]:
    return (part for part in tree.walk(node) if isinstance(part, tree.Name) and part.name == name)


def _around(nodes: list[tree.Node], inner: tree.Node) -> list[tree.Node]:
    """The blocks and loops around a node, the innermost last."""
    outer = (node for node in nodes if isinstance(node, tree.Block | LOOPS))
    return [node for node in outer if node.at <= inner.at and inner.end <= node.end]


def _line(kernel: Kernel, node: tree.Node) -> tuple[int, str]:
    """The line in which a node begins: its number and its text."""
    number, _ = Lines(kernel.source).place(node.at)
    return number, kernel.source.split("\n")[number - 1]
