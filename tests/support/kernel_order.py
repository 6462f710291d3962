"""The order in which a kernel file is read: header, constants, bindings, its own passes, and helpers last."""

import re
from collections import Counter
from collections.abc import Iterator

from wgsl import PART, SECTION, SHARED, Kernel
from wgsl.syntax import tree

WORKGROUP_ID = re.compile(r"@builtin\(workgroup_id\)\s*(\w+)")


def disorder(kernel: Kernel) -> list[str]:
    """Return a sentence for each thing that stands in the wrong place of a file, or has a wrong name."""
    return [
        *late_constants(kernel),
        *sizes_below_the_bindings(kernel),
        *late_bindings(kernel),
        *borrowed_stories(kernel),
        *passes_without_a_number(kernel),
        *scattered_sections(kernel),
        *misnamed_workgroups(kernel),
    ]


def late_constants(kernel: Kernel) -> Iterator[str]:
    """Yield the constants that are used above their definition."""
    for constant in _constants(kernel):
        name = str(constant.name)
        first = re.search(rf"\b{name}\b", kernel.code).start()
        if first < constant.at:
            yield f"line {_line(kernel, first)} uses {name}, which line {_line(kernel, constant.at)} defines"


def sizes_below_the_bindings(kernel: Kernel) -> Iterator[str]:
    """Yield the constants, and the struct of sizes, that stand below a binding; a helper's constants may."""
    first_binding = min(binding.at for binding in _bindings(kernel))
    helpers = _end_of_the_story(kernel)
    structs = [node for node in kernel.module.declarations if isinstance(node, tree.Struct) and node.name == "Params"]
    for node in (*_constants(kernel), *structs):
        if first_binding < node.at < helpers:
            yield f"line {_line(kernel, node.at)}: {node.name} stands below a binding"


def late_bindings(kernel: Kernel) -> Iterator[str]:
    """Yield the bindings that stand below a function."""
    first_function = min(function.at for function in _functions(kernel))
    for binding in _bindings(kernel):
        if binding.at > first_function:
            yield f"line {_line(kernel, binding.at)}: the binding {binding.name} stands below a function"


def borrowed_stories(kernel: Kernel) -> Iterator[str]:
    """Yield the entry points, and the loops with a barrier in them, that stand in a shared block."""
    for function in _functions(kernel):
        if not _is_shared(kernel, function.at):
            continue
        line = _line(kernel, function.at)
        if _is_entry_point(function):
            yield f"line {line}: the entry point {function.name} stands in a shared block"
        if any(_waits(node) for node in tree.walk(function) if isinstance(node, tree.For | tree.While | tree.Loop)):
            yield f"line {line}: {function.name}, with a barrier in a loop, stands in a shared block"


def passes_without_a_number(kernel: Kernel) -> Iterator[str]:
    """Yield the entry points that stand above part 1 and have no parts in them."""
    first_part = min((part.start() for part in PART.finditer(kernel.source)), default=len(kernel.source))
    for function in _functions(kernel):
        if _is_entry_point(function) and function.end < first_part:
            yield f"line {_line(kernel, function.at)}: the entry point {function.name} is in no numbered part"


def scattered_sections(kernel: Kernel) -> Iterator[str]:
    """Yield the names that several sections have, and the entry points above the last section of the file's own."""
    names = Counter(section[2] for section in SECTION.finditer(kernel.source))
    for name, count in names.items():
        if count > 1:
            yield f"{count} sections have the name {name}"
    story = max(
        (section.start() for section in SECTION.finditer(kernel.source) if not _begins_block(section)), default=0
    )
    for function in _functions(kernel):
        if _is_entry_point(function) and function.at < story:
            yield f"line {_line(kernel, function.at)}: another section of the file's own follows {function.name}"


def misnamed_workgroups(kernel: Kernel) -> Iterator[str]:
    """Yield the parameters that have a workgroup's id under another name than `workgroup`."""
    for parameter in WORKGROUP_ID.finditer(kernel.code):
        if parameter[1] != "workgroup":
            line = _line(kernel, parameter.start())
            yield f"line {line}: the workgroup's id has the name {parameter[1]}, and not `workgroup`"


def _constants(kernel: Kernel) -> list[tree.Declaration]:
    return [node for node in kernel.module.declarations if getattr(node, "kind", "") in ("const", "override")]


def _bindings(kernel: Kernel) -> list[tree.Declaration]:
    variables = [node for node in kernel.module.declarations if getattr(node, "kind", "") == "var"]
    return [node for node in variables if any(attribute.name == "binding" for attribute in node.attributes)]


def _functions(kernel: Kernel) -> list[tree.Function]:
    return [node for node in kernel.module.declarations if isinstance(node, tree.Function)]


def _is_entry_point(function: tree.Function) -> bool:
    return any(attribute.name == "compute" for attribute in function.attributes)


def _waits(loop: tree.Node) -> bool:
    return any(isinstance(node, tree.Call) and node.callee.name == "workgroupBarrier" for node in tree.walk(loop))


def _begins_block(section: re.Match) -> bool:
    return SHARED.fullmatch(section[0]) is not None


def _is_shared(kernel: Kernel, at: int) -> bool:
    """Return whether this place of a file lies in a shared block."""
    above = [section for section in SECTION.finditer(kernel.source) if section.start() < at]
    return bool(above) and _begins_block(above[-1])


def _end_of_the_story(kernel: Kernel) -> int:
    """Return where the shared blocks begin that close a file."""
    end = len(kernel.source)
    for section in reversed([*SECTION.finditer(kernel.source)]):
        if not _begins_block(section):
            break
        end = section.start()
    return end


def _line(kernel: Kernel, at: int) -> int:
    return kernel.source.count("\n", 0, at) + 1
