"""Problems of a text that are known before any run."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from wgsl.diagnostics import ALL, Lines, NotWgsl, Span, Undefined, Unsupported
from wgsl.kernel import Kernel, parsed
from wgsl.suggestions import explained
from wgsl.syntax import tree
from wgsl.syntax.recovery import Readable, read_on
from wgsl.types.declarations import Declarations, program_of
from wgsl.types.gathering import every_fault
from wgsl.types.names import Lost
from wgsl.types.uniformity import NotPortable, Uniformity
from wgsl.words import errors, findings

Fault = NotWgsl | Unsupported | NotPortable


@dataclass(frozen=True, order=True)
class Problem:
    """One thing that is wrong at one place of a text; `line` and `column` count from 1.

    The kinds are "does not compile"; "not portable", which some compilers or adapters take and others refuse; and "not
    supported", which may be right, and is named because it was not checked. `rule` is a finer name of the same, such as
    "already-declared". `refused_by` are those of "spec" (the specification), "chrome" and "naga" that refuse the text
    for it. `length` is that of the piece of the text, in letters.
    """

    line: int
    column: int
    kind: str
    message: str
    rule: str = field(default="", compare=False)
    length: int = field(default=1, compare=False)
    refused_by: frozenset[str] = field(default=frozenset(), compare=False)

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
        In the order of the text; empty for a right text. After a statement that is wrong the next one is checked, and
        where the grammar does not fit, the next declaration. No text raises an exception.
    """
    kernel = text if isinstance(text, Kernel) else Kernel(text)
    readable = read_on(kernel.source, parsed)
    problems = [_problem(*fault) for fault in readable.faults]
    problems += [_problem(readable.source, fault) for fault in _faults(readable, kernel)]
    by_place = {(problem.line, problem.column): problem for problem in problems}  # the last one of each place
    return tuple(sorted(by_place.values()))


def _faults(readable: Readable, kernel: Kernel) -> list[Fault]:
    """Return the faults of the declarations that can be read."""
    declarations, twice = _declared(readable, dict(kernel.constants))
    faults: list[Fault] = [*twice, *every_fault(declarations)]
    for name, node in declarations.nodes.items():
        if not tree.attribute(node, "compute"):
            continue
        try:
            faults += Uniformity(program_of(declarations, name, Undefined)).refused.values()
        except (NotWgsl, Unsupported) as fault:
            faults.append(fault)
    return [fault for fault in faults if not isinstance(fault, Lost)]


def _declared(readable: Readable, constants: dict[str, float]) -> tuple[Declarations, list[NotWgsl]]:
    """Return the declarations, of two of one name the first, and the faults of the other ones."""
    nodes = readable.module.declarations
    twice: list[NotWgsl] = []
    while True:
        try:
            return Declarations(tree.Module(nodes), constants, readable.lost), twice
        except NotWgsl as fault:
            twice.append(fault)
            nodes = tuple(node for node in nodes if _name_of(node).at != fault.at)


def _name_of(node: tree.Node) -> Span:
    return getattr(node, "name", node)


def _problem(source: str, fault: Fault) -> Problem:
    lines = Lines(source)
    if isinstance(fault, NotPortable):
        message, at, length = findings.message(fault.facts(lines)), fault.part.at, fault.part.end - fault.part.at
    elif isinstance(fault, Unsupported):
        message, at, length = f"{errors.not_simulated(fault.feature)}, and so this is not checked", fault.at, 1
    else:
        message, at, length, _ = explained(source, fault)
    place = lines.place(at or 0)
    rule = re.sub("[ _]", "-", fault.kind)
    return Problem(*place, _kind(fault), message, rule, max(1, length), fault.refused_by)


def _kind(fault: Fault) -> str:
    if not fault.refused_by:
        return "not supported"
    return "does not compile" if fault.refused_by == ALL else "not portable"
