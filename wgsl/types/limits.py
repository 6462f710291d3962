"""The memory that one thread may take for its own variables: compilers take minutes for more."""

from __future__ import annotations

from collections.abc import Iterator

from wgsl.diagnostics import Limited, NotWgsl, Span
from wgsl.types.kinds import Array, byte_count, has_long_array
from wgsl.types.program import Bind, Binding, Declare, Function, Program, Variable
from wgsl.types.usage import nodes, reached, usage

MAX_THREAD_BYTES = 8_192  # of private memory, and of one function's variables; WGSL promises as many

TOO_LONG = ("type of a variable", "type of a local variable")  # the faults of an array of 65,536 elements or more


def check_thread_memory(program: Program) -> None:
    """Refuse a program that has more private memory than WGSL promises, or a function with more variables."""
    _check("private", program.private)
    for function in reached(program.entry):
        _check("function", _declared(function))


MOST_GROUPS, MOST_NUMBER = 4, 1000  # of groups, and of the numbers of bindings in a group
MOST_BUFFERS = {"storage": 8, "uniform": 12}  # of one entry point


def passed_limits(program: Program) -> Iterator[Limited]:
    """Yield the buffers of an entry point that are past the limits that every adapter offers."""
    used = [variable for variable in program.bindings if variable in usage(program.entry).variables]
    for variable in used:
        if variable.group >= MOST_GROUPS:
            yield Limited("groups", variable.name, name=variable.name, group=variable.group, last=MOST_GROUPS - 1)
        elif variable.binding >= MOST_NUMBER:
            yield Limited("high binding", variable.name, number=variable.binding, most=MOST_NUMBER)
    for space, most in MOST_BUFFERS.items():
        buffers = [variable for variable in used if variable.space == space]
        if len(buffers) > most:
            facts = {"space": space, "count": len(buffers), "most": most}
            yield Limited("buffers", buffers[most].name, entry=program.entry.name, **facts)


def too_long(fault: NotWgsl) -> Limited | None:
    """Return what a fault is for a compiler that takes longer arrays than WGSL does; None for other faults."""
    if fault.kind not in TOO_LONG or not has_long_array(fault.facts["type"]):
        return fault if isinstance(fault, Limited) else None
    place = Span(fault.at, fault.at + fault.length)
    return Limited("array too long", place, type=fault.facts["type"], limit=MAX_THREAD_BYTES)


def _check(space: str, variables: tuple[Variable | Binding, ...]) -> None:
    held = 0
    for variable in variables:
        held += byte_count(variable.type)
        if held > MAX_THREAD_BYTES:
            facts = {"name": variable.name, "space": space, "held": held, "limit": MAX_THREAD_BYTES}
            raise Limited("too many bytes of a thread", variable.name, **facts)


def _declared(function: Function) -> tuple[Variable | Binding, ...]:
    """The variables and values that a function declares, in its order."""
    return tuple(_names(function))


def _names(function: Function) -> Iterator[Variable | Binding]:
    for node in nodes(function.body):
        if isinstance(node, Declare):
            yield node.variable
        elif isinstance(node, Bind) and isinstance(node.binding.type, Array):
            yield node.binding
