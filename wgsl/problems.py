"""Problems of a text that are known before any run."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from wgsl.diagnostics import Limited, Lines, NotWgsl, Undefined, Unset, Unsupported
from wgsl.kernel import Kernel, parsed
from wgsl.suggestions import explained
from wgsl.syntax import tree
from wgsl.syntax.tokens import without_comments
from wgsl.types.declarations import Declarations, check_shader, program_of
from wgsl.types.program import Call
from wgsl.types.stages import COMPUTE, FILTERED, FRAGMENT, VERTEX, unproven
from wgsl.types.subgroup_uniformity import not_portable
from wgsl.types.uniformity import NotPortable
from wgsl.words import errors, findings


@dataclass(frozen=True, order=True)
class Problem:
    """One thing that is wrong at one place of a text; `line` and `column` count from 1.

    The kinds are "does not compile"; "not portable", which some compilers or adapters take and others refuse; and "not
    supported", which may be right, and is named because it was not checked.
    """

    line: int
    column: int
    kind: str
    message: str

    def __str__(self) -> str:
        return f"line {self.line}, column {self.column}: {self.kind}: {self.message}"


def check(text: str | Kernel) -> tuple[Problem, ...]:
    """Return the problems of a WGSL text, without a run.

    All of it is checked: each declaration, whether an entry point uses it or not, and for each compute entry point
    what browsers refuse before a run, such as a barrier that some threads may miss. Any groups and bindings will do.

    Parameters
    ----------
    text : str or Kernel
        The text. A Kernel brings the values of its `override` constants.

    Returns
    -------
    tuple of Problem
        In the order of the text, at most one for each declaration; empty for a right text. Where the grammar does not
        fit, it is that one. No text raises an exception.
    """
    kernel = text if isinstance(text, Kernel) else Kernel(text)
    try:
        declarations = Declarations(parsed(kernel.source), dict(kernel.constants))
    except (NotWgsl, Unsupported) as fault:
        return (_problem(kernel.source, fault),)
    faults: list[NotWgsl | Unsupported | NotPortable] = [*declarations.faults()]
    for name, node in declarations.nodes.items():
        try:
            if tree.attribute(node, VERTEX) or tree.attribute(node, FRAGMENT):
                faults += _of_shader(declarations, node, kernel.source)
            if not tree.attribute(node, COMPUTE):
                continue
            faults += not_portable(program_of(declarations, name, Undefined), kernel.source)
        except (NotWgsl, Unsupported) as fault:
            faults.append(fault)
    problems = [_problem(kernel.source, fault) for fault in faults]
    by_place = {(problem.line, problem.column): problem for problem in problems}  # the last one of each place
    return tuple(sorted(by_place.values()))


def _of_shader(declarations: Declarations, node: tree.Function, source: str) -> Iterator[Unsupported]:
    """Yield what of a vertex or fragment shader is not checked. Raises NotWgsl where it is wrong."""
    part = unproven(check_shader(declarations, node))
    if part and tree.attribute(node, FRAGMENT) and not FILTERED.search(without_comments(source)):
        named = part.function if isinstance(part, Call) else part
        yield Unsupported("uniformity of derivatives", part.at, name=str(named.name))


def _problem(source: str, fault: NotWgsl | Unsupported | NotPortable) -> Problem:
    lines = Lines(source)
    if isinstance(fault, NotPortable):
        return Problem(*lines.place(fault.part.at), "not portable", findings.message(fault.facts(lines)))
    if isinstance(fault, Unsupported):
        message = f"{errors.not_simulated(fault.feature)}, and so this is not checked"
        return Problem(*lines.place(fault.at), "not supported", message)
    message, at, *_ = explained(source, fault)
    return Problem(*lines.place(at or 0), _kind(fault), message)


def _kind(fault: NotWgsl) -> str:
    if isinstance(fault, Limited):
        return "not portable"
    if isinstance(fault, Unset):
        return "not supported"
    return "does not compile"
