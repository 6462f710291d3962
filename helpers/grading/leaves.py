"""The smallest values of a program: sizes, indices and numbers, of which one may stand where another one should."""

from collections.abc import Iterable, Iterator

from helpers.grading.sites import Visible
from wgsl.diagnostics import Span
from wgsl.types import program as ir
from wgsl.types.kinds import F32, I32, U32, Scalar, Struct, Vector

Key = tuple
SIZE, INDEX, NUMBER, VARIABLE = "size", "index", "number", "variable"
LOWEST = -(2.0**128 - 2.0**104)  # of all f32: the search for a maximum may begin with it
NUMBERS = {U32: (0, 1, 2), I32: (0, 1, 2), F32: (0.0, 1.0, 2.0, LOWEST)}


def key_of(part: object) -> Key | None:
    """Return what a leaf stands for, the same for all that stand for it; None for what is no leaf."""
    if isinstance(part, ir.Constant) and isinstance(part.type, Scalar):
        return NUMBER, part.type, part.leaves
    if isinstance(part, ir.Named):
        return INDEX, part.binding, ()
    if isinstance(part, ir.Pick) and isinstance(part.operand, ir.Named):
        if isinstance(part.operand.type, Struct) and len(part.picked) == 1:  # of a copy of the uniform
            return SIZE, part.operand.type, (part.operand.type.fields[part.picked[0]].offset,)
        return INDEX, part.operand.binding, part.picked
    if isinstance(part, ir.Load):
        return _key_in_memory(part.reference)
    return None


def _key_in_memory(reference: ir.Reference) -> Key | None:
    """Return the variable that is loaded, with the offset in it; None for an element of an array."""
    offset = 0
    while isinstance(reference, ir.Member):
        offset += reference.offset
        reference = reference.base
    if not isinstance(reference, ir.Root):
        return None
    variable = reference.variable
    if variable.space == "uniform" and isinstance(variable.type, Struct):
        return SIZE, variable.type, (offset,)
    return VARIABLE, variable, (offset,)


def family(part: ir.Part) -> str:
    """Return the kind of thing that a leaf is: a size, an index, a number, or a variable of floats."""
    kind, *_ = key_of(part)
    if kind == SIZE and part.type == F32:
        return f"value of `{_whole(part)}`"
    if kind == VARIABLE and part.type in (U32, I32):
        return INDEX
    if kind == INDEX and part.type == F32:
        return VARIABLE
    return kind


def _whole(part: ir.Load | ir.Pick) -> str:
    """Return the name of the struct of which a leaf is a member."""
    if isinstance(part, ir.Pick):
        return str(part.operand.binding.name)
    reference = part.reference
    while isinstance(reference, ir.Member):
        reference = reference.base
    return str(reference.variable.name)


def leaves(place: Span, type: Scalar, visible: Visible, program: ir.Program) -> dict[Key, ir.Part]:
    """Return all leaves of a type that may stand at a place, by their keys."""
    made = [*_members(place, program), *_names(place, visible), *_numbers(place, type)]
    return {key_of(leaf): leaf for leaf in made if leaf.type == type}


def _members(place: Span, program: ir.Program) -> Iterator[ir.Part]:
    """Yield the sizes: the members of the uniform."""
    for variable in program.bindings:
        if variable.space == "uniform" and isinstance(variable.type, Struct):
            root = ir.Root(variable.type, place, variable)
            for field in variable.type.fields:
                yield ir.Load(field.type, place, ir.Member(field.type, place, root, field.offset))


def _names(place: Span, visible: Iterable[ir.Meaning]) -> Iterator[ir.Part]:
    """Yield the values of the names that a function declares, and the components of its vectors."""
    for name in sorted(visible, key=lambda name: name.at):
        if isinstance(name, ir.Variable):
            yield ir.Load(name.type, place, ir.Root(name.type, place, name))
        elif isinstance(name.type, Vector):
            whole = ir.Named(name.type, place, name)
            yield from (ir.Pick(name.type.element, place, whole, (i,)) for i in range(name.type.size))
        else:
            yield ir.Named(name.type, place, name)


def _numbers(place: Span, type: Scalar) -> Iterator[ir.Part]:
    for number in NUMBERS.get(type, ()):
        yield ir.Constant(type, place, (number,))
