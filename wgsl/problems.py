"""Problems of a text that are known before any run."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace

from wgsl.diagnostics import ALL, Lines, NotWgsl, Span, Undefined, Unsupported
from wgsl.kernel import Kernel
from wgsl.suggestions import explained
from wgsl.syntax import tree
from wgsl.syntax.parser import parsed
from wgsl.syntax.recovery import Readable, read_on
from wgsl.types.declarations import Declarations, program_of
from wgsl.types.derivative_uniformity import of_derivatives
from wgsl.types.gathering import every_fault
from wgsl.types.limits import passed_limits, too_long
from wgsl.types.names import Lost
from wgsl.types.noted import noting
from wgsl.types.program import Program
from wgsl.types.shaders import shader_of
from wgsl.types.stages import COMPUTE, FRAGMENT, VERTEX
from wgsl.types.subgroup_uniformity import Portability
from wgsl.types.uniformity import NotPortable
from wgsl.words import errors, findings

Fault = NotWgsl | Unsupported | NotPortable
MOST_EXPLAINED = 20  # faults of a text for which a cure is looked for, which may try the whole text again


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
    try:
        return _checked(kernel)
    except RecursionError:  # the caller is deep in Python's stack, and a thread has a stack of its own
        return _checked_in_a_thread(kernel)


def _checked(kernel: Kernel) -> tuple[Problem, ...]:
    readable = read_on(kernel.source, parsed)
    problems: list[Problem] = []
    for source, fault in readable.faults:
        problems += _problems(source, [fault])
    with noting() as notes:
        faults = _faults(readable, kernel)
    problems += _problems(readable.source, [*readable.module.passed, *notes, *faults])
    by_place = {(problem.line, problem.column): problem for problem in problems}
    return tuple(sorted(by_place.values()))


def _checked_in_a_thread(kernel: Kernel) -> tuple[Problem, ...]:
    try:
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(_checked, kernel).result()
    except RuntimeError:  # no room there either, or no threads: Python in a browser has none
        return tuple(_problems(kernel.source, [Unsupported("stack", 0)]))


def _faults(readable: Readable, kernel: Kernel) -> list[Fault]:
    """Return the faults of the declarations that can be read."""
    declarations, twice = _declared(readable, dict(kernel.constants))
    faults = [*twice, *every_fault(declarations), *_refused(declarations, readable.source)]
    return [fault for fault in faults if not isinstance(fault, Lost)]


def _declared(readable: Readable, constants: dict[str, float]) -> tuple[Declarations, list[NotWgsl]]:
    """Return the declarations, of two of one name the first, and the faults of the other ones."""
    nodes = readable.module.declarations
    twice: list[NotWgsl] = []
    while True:
        try:
            return Declarations(replace(readable.module, declarations=nodes), constants, readable.lost), twice
        except NotWgsl as fault:
            twice.append(fault)
            nodes = tuple(node for node in nodes if _name_of(node).at != fault.at)


def _name_of(node: tree.Node) -> Span:
    return getattr(node, "name", node)


def _refused(declarations: Declarations, source: str) -> Iterator[Fault]:
    """Yield the faults of each entry point, and those for which browsers refuse a function that none reaches."""
    portability = Portability(source)
    shaders: list[Program] = []
    for name, node in declarations.nodes.items():
        try:
            if tree.attribute(node, VERTEX) or tree.attribute(node, FRAGMENT):
                shaders.append(shader_of(declarations, node))
            if not tree.attribute(node, COMPUTE):
                continue
            program = program_of(declarations, name, Undefined)
            portability.add(program)
            yield from passed_limits(program)
        except (NotWgsl, Unsupported) as fault:
            yield fault
    portability.walk(declarations.functions)
    yield from portability.refused()
    yield from of_derivatives(shaders, source)


def _problems(source: str, faults: Sequence[Fault]) -> Iterable[Problem]:
    """A problem for each place that is at fault: the last one that is found there."""
    lines = Lines(source)
    by_place = {fault_place(fault): fault for fault in faults}
    return [_problem(lines, fault, i < MOST_EXPLAINED) for i, fault in enumerate(by_place.values())]


def fault_place(fault: Fault) -> int:
    """The offset of a fault."""
    return fault.part.at if isinstance(fault, NotPortable) else fault.at


def _problem(lines: Lines, fault: Fault, explain: bool) -> Problem:
    if isinstance(fault, NotPortable):
        message, at, length = findings.message(fault.facts(lines)), fault.part.at, fault.part.end - fault.part.at
    elif isinstance(fault, Unsupported):
        message, at, length = f"{errors.not_simulated(fault.feature)}, and so this is not checked", fault.at, 1
    else:
        fault = too_long(fault) or fault
        message, at, length = fault.reason, fault.at, fault.length
        if explain:
            message, at, length, _ = explained(lines.source, fault)
    place = lines.place(at or 0)
    rule = re.sub("[ _]", "-", fault.kind)
    return Problem(*place, _kind(fault), message, rule, max(1, length), fault.refused_by)


def _kind(fault: Fault) -> str:
    if not fault.refused_by:
        return "not supported"
    return "does not compile" if fault.refused_by == ALL else "not portable"
