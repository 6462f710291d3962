"""Problems of a text that are known before any run."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from wgsl.diagnostics import Limited, Lines, NotWgsl, Undefined, Unset, Unsupported
from wgsl.kernel import Kernel
from wgsl.suggestions import explained
from wgsl.syntax import tree
from wgsl.syntax.parser import parsed
from wgsl.types.declarations import Declarations, program_of
from wgsl.types.limits import passed_limits, too_long
from wgsl.types.noted import noting
from wgsl.types.uniformity import NotPortable, Uniformity
from wgsl.words import errors, findings

Fault = NotWgsl | Unsupported | NotPortable
MOST_EXPLAINED = 20  # faults of a text for which a cure is looked for, which may try the whole text again


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
        return _checked(kernel)
    except RecursionError:  # the caller is deep in Python's stack, and a thread has a stack of its own
        return _checked_in_a_thread(kernel)


def _checked(kernel: Kernel) -> tuple[Problem, ...]:
    try:
        declarations = Declarations(parsed(kernel.source), dict(kernel.constants))
    except (NotWgsl, Unsupported) as fault:
        return tuple(_problems(kernel.source, [fault]))
    with noting() as notes:
        faults = [*declarations.faults(), *_refused(declarations)]
    return tuple(sorted(_problems(kernel.source, [*declarations.passed, *notes, *faults])))


def _checked_in_a_thread(kernel: Kernel) -> tuple[Problem, ...]:
    try:
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(_checked, kernel).result()
    except RuntimeError:  # no room there either, or no threads: Python in a browser has none
        return tuple(_problems(kernel.source, [Unsupported("stack", 0)]))


def _refused(declarations: Declarations) -> Iterator[Fault]:
    """Yield the faults of each entry point, and those for which browsers refuse a function that none reaches."""
    uniformity = Uniformity()
    for name, node in declarations.nodes.items():
        if not tree.attribute(node, "compute"):
            continue
        try:
            program = program_of(declarations, name, Undefined)
            uniformity.add(program)
            yield from passed_limits(program)
        except (NotWgsl, Unsupported) as fault:
            yield fault
    uniformity.walk(declarations.functions)
    yield from uniformity.refused.values()


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
        return Problem(*lines.place(fault.part.at), "not portable", findings.message(fault.facts(lines)))
    if isinstance(fault, Unsupported):
        message = f"{errors.not_simulated(fault.feature)}, and so this is not checked"
        return Problem(*lines.place(fault.at), "not supported", message)
    fault = too_long(fault) or fault
    if not explain:
        return Problem(*lines.place(fault.at), _kind(fault), fault.reason)
    message, at, *_ = explained(lines.source, fault)
    return Problem(*lines.place(at or 0), _kind(fault), message)


def _kind(fault: NotWgsl) -> str:
    if isinstance(fault, Limited):
        return "not portable"
    if isinstance(fault, Unset):
        return "not supported"
    return "does not compile"
