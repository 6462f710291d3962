"""Slips that a kernel's text shows, by itself or beside the skeleton, each with what leads to its cure."""

import re
from collections.abc import Iterator, Sequence
from itertools import combinations, zip_longest

from helpers.grading.puzzle import Puzzle
from helpers.grading.reasons import (
    ExchangedBindings,
    MissingPass,
    NotU32,
    Reason,
    RenamedPass,
    SecondDeclaration,
    Undeclared,
)
from wgsl import Kernel, WgslError
from wgsl.diagnostics import Lines
from wgsl.facts import Line
from wgsl.syntax import tree

LOOPS = tree.For | tree.While | tree.Loop


# --- Beside the skeleton --------------------------------------------------------------------------------------


def missing(kernel: Kernel, puzzle: Puzzle, error: WgslError) -> Reason | None:
    """Return what of the skeleton a text lacks, where a name that it uses is declared nowhere; else None."""
    if error.line is None:
        return None
    name = re.match(r"\w*", kernel.source.split("\n")[error.line - 1][error.column - 1 :])[0]
    for node in _given(puzzle):
        line = _line(puzzle.official, node)[1].partition("//")[0].strip()
        if node.name == name and Kernel(puzzle.skeleton).code.strip() and not _declares(kernel.code, node):
            text = puzzle.official.source[node.at : node.end] if isinstance(node, tree.Parameter) else line
            return Undeclared(name, error.line, error.column, text if line in puzzle.skeleton else "")
    return None


def _given(puzzle: Puzzle) -> Iterator[tree.Node]:
    """The declarations of the official kernel outside of its functions, and the parameters of `main`."""
    for node in puzzle.official.module.declarations:
        if tree.attribute(node, "compute"):
            yield from node.parameters
        elif hasattr(node, "name"):
            yield node


def _declares(code: str, node: tree.Node) -> bool:
    """Return True where a text declares something of this name, or at this binding, or with this built-in value."""
    numbers = [tree.attribute(node, kind) for kind in ("builtin", "binding")]
    places = [f"@{number.name}\\s*\\(\\s*{_first(number)}\\b" for number in numbers if number]
    named = rf"\b(?:fn|struct|alias|let|const|override|var(?:\s*<[^>]*>)?)\s+{node.name}\b"
    return bool(re.search("|".join([named, *places]), code))


def _first(attribute: tree.Attribute) -> str:
    argument = attribute.arguments[0]
    return getattr(argument, "text", None) or argument.name


def unread(kernel: Kernel, puzzle: Puzzle) -> str:
    """Return the first input that a text names in its declaration alone; "" for none, and where it is unfinished."""
    try:
        kernel.module  # noqa: B018  it is read when it is asked for
    except WgslError:
        return ""
    for binding in puzzle.official.bindings[: len(puzzle.cases()[0].inputs)]:
        if len(re.findall(rf"\b{binding.name}\b", kernel.code)) == 1:
            return binding.name
    return ""


def exchanged(kernel: Kernel, official: Kernel) -> Reason | None:
    """Return the bindings that have each other's names, or None."""
    numbers = _numbers(kernel)
    wanted = _numbers(official)
    moved = [name for name in wanted if numbers.get(name, wanted[name]) != wanted[name]]
    if not moved or {numbers[name] for name in moved} != {wanted[name] for name in moved}:
        return None
    return ExchangedBindings(tuple(sorted(numbers[name] for name in moved)), moved[0])


def _numbers(kernel: Kernel) -> dict[str, int]:
    """Return the number of each binding by its name."""
    return {binding.name: number for number, binding in enumerate(kernel.bindings)}


def renamed(kernel: Kernel, passes: Sequence[str]) -> Reason | None:
    """Return which pass, of several that are run, a text lacks, or has under another name; else None."""
    missing = [name for name in passes if name not in kernel.entry_points]
    others = [name for name in kernel.entry_points if name not in passes]
    if not missing or len(passes) == 1:
        return None
    if len(missing) == len(others) == 1:
        return RenamedPass(others[0], missing[0])
    return MissingPass(tuple(passes), missing[0])


def retyped(kernel: Kernel, official: Kernel) -> Reason | None:
    """Return the member of the uniform's struct that is not a u32, where the task has one; else None."""
    try:
        pairs = zip_longest(members(kernel), members(official))
    except WgslError:  # the text is refused for another reason, which the verdict has
        return None
    for member, wanted in pairs:
        if member and wanted and member.type.name in ("i32", "f32") and wanted.type.name == "u32":
            return NotU32(_line(kernel, member)[0], member.name, member.type.name)
    return None


def members(kernel: Kernel) -> tuple[tree.Parameter, ...]:
    """Return the members of the struct that is the uniform."""
    types = (binding.type for binding in kernel.bindings if binding.space == "uniform")
    return getattr(kernel.outline.nodes.get(next(types, "")), "members", ())


# --- By itself ------------------------------------------------------------------------------------------------


def hidden(kernel: Kernel) -> Reason | None:
    """Return a variable that a block declares again, so that it alone changes, and ends with the block; else None."""
    functions = [node for node in kernel.module.declarations if isinstance(node, tree.Function)]
    for nodes in ([*tree.walk(function.body)] for function in functions):
        declared = [node for node in nodes if isinstance(node, tree.Declaration)]
        for outer, inner in combinations(declared, 2):
            if outer.name == inner.name and outer.kind == "var" and (later := _read_later(nodes, outer, inner)):
                in_loop = any(isinstance(node, LOOPS) for node in _around(nodes, inner))
                read_in, _ = _line(kernel, later)
                return SecondDeclaration(Line(*_line(kernel, inner)), inner.name, in_loop, read_in)
    return None


def _read_later(nodes: list[tree.Node], outer: tree.Node, inner: tree.Node) -> tree.Node | None:
    """Return the first use of a variable after the block that declares it again, if it changes only in that block."""
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
