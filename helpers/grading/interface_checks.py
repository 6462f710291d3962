"""Checks that a kernel may run in the official one's place: its bindings, its workgroups, and where it stores."""

from itertools import chain, zip_longest

from helpers.gpu.passes import pipeline
from helpers.gpu.subgroups import enables_subgroups, lacks_subgroups
from helpers.grading import reasons, text_checks
from helpers.grading.puzzle import Puzzle, declarations
from helpers.grading.reasons import Reason
from wgsl import Kernel
from wgsl.diagnostics import Lines
from wgsl.simulator.run import compiled
from wgsl.syntax import tree
from wgsl.types.usage import usage


def problem(kernel: Kernel, puzzle: Puzzle) -> Reason | None:
    """Return why it may not, although it compiles, or None.

    Raises WgslError where it does not compile.
    """
    official = puzzle.official
    enabled = enables_subgroups(kernel.source)
    if enabled and not enables_subgroups(official.source):
        return reasons.UnwantedSubgroups(1 + kernel.source.count("\n", 0, enabled.start()))
    if slip := text_checks.retyped(kernel, official) or text_checks.renamed(kernel, puzzle.entry_points):
        return slip
    for entry_point in puzzle.entry_points:
        if not lacks_subgroups(kernel.source):  # else the simulator alone reads it
            pipeline(kernel, entry_point)
    return _other_binding(kernel, puzzle) or _other_workgroup(kernel, puzzle) or _other_stage(kernel)


def _other_stage(kernel: Kernel) -> Reason | None:
    """Return the first vertex or fragment shader, which may be beside a right kernel; None where there is none."""
    for name, node in kernel.outline.nodes.items():
        for stage in ("vertex", "fragment"):
            if tree.attribute(node, stage):
                return reasons.OtherStage(Lines(kernel.source).place(name.at)[0], str(name), stage)
    return None


def _other_binding(kernel: Kernel, puzzle: Puzzle) -> Reason | None:
    """Return what is wrong with the first binding that is not the official kernel's, or None."""
    in_skeleton = Kernel(puzzle.skeleton).code.count("@binding")
    pairs = zip_longest(declarations(kernel), declarations(puzzle.official))
    for binding, (declared, wanted) in enumerate(pairs):
        if declared == wanted:
            continue
        slip = text_checks.exchanged(kernel, puzzle.official)
        if slip:
            return slip
        if binding < in_skeleton:
            return reasons.ChangedBinding(binding)
        if not wanted:
            return reasons.ExtraBinding(binding)
        space, type = wanted
        if isinstance(type, list):
            return reasons.WrongBinding(binding, space, members=len(type))
        return reasons.WrongBinding(binding, space, str(type))
    return None


def _other_workgroup(kernel: Kernel, puzzle: Puzzle) -> Reason | None:
    """Return whose workgroups have another size than the official kernel's, or None."""
    for entry_point in puzzle.entry_points:
        size, wanted = kernel.workgroup_size(entry_point), puzzle.official.workgroup_size(entry_point)
        if size != wanted:
            whose = entry_point if len(puzzle.entry_points) > 1 else ""
            return reasons.WorkgroupSize(size, wanted, whose)
    return None


def idle(kernel: Kernel, puzzle: Puzzle) -> Reason | None:
    """Return to which output no line that can run stores, or None.

    Raises UnsupportedWgsl where the simulator cannot run it.
    """
    output = len(puzzle.cases()[0].inputs)
    programs = [compiled(kernel, entry_point) for entry_point in puzzle.entry_points]
    written = chain.from_iterable(program.written for program in programs)
    if any(variable.binding == output for variable in written):
        return None
    return reasons.NothingStored(kernel.bindings[output].name, puzzle.entry_points[-1])


def unread(kernel: Kernel, puzzle: Puzzle) -> Reason | None:
    """Return an input of which no line that is run reads anything, though the official kernel does; else None."""
    missing = _read_bindings(puzzle.official, puzzle) - _read_bindings(kernel, puzzle)
    inputs = range(len(puzzle.cases()[0].inputs))
    first = next((binding for binding in inputs if binding in missing), None)
    return None if first is None else reasons.NothingRead(kernel.bindings[first].name)


def _read_bindings(kernel: Kernel, puzzle: Puzzle) -> set[int | None]:
    """The numbers of the bindings of which something is loaded; inputs are not stored to."""
    programs = [compiled(kernel, entry_point) for entry_point in puzzle.entry_points]
    touched = chain.from_iterable(usage(program.entry).touched for program in programs)
    return {variable.binding for variable in touched}
