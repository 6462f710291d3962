"""The built-in functions that take a pointer, and the barriers."""

from __future__ import annotations

from collections.abc import Sequence

from helpers.simulator.types.builtins import check_count
from helpers.simulator.types.kinds import BOOL, U32, Array, Atomic, Field, Pointer, Struct, Type
from helpers.simulator.types.overloads import converted, refused
from helpers.simulator.types.program import ArrayLength, AtomicCall, Expression, Part, Reference, UniformLoad
from helpers.simulator.types.references import dereferenced, loaded, origin
from helpers.simulator.types.type_names import is_constructible, is_runtime_sized

ATOMICS = {
    **{"atomicLoad": 0, "atomicStore": 1, "atomicExchange": 1, "atomicCompareExchangeWeak": 2},
    **{f"atomic{name}": 1 for name in ("Add", "Sub", "Max", "Min", "And", "Or", "Xor")},
}
BARRIERS = ("workgroupBarrier", "storageBarrier")
NAMES = (*ATOMICS, "arrayLength", "workgroupUniformLoad")


def call(name: str, arguments: Sequence[Reference | Expression], place: Part, callee: Part) -> Expression:
    """A call of one of these functions, of which the first argument must be a pointer."""
    check_count(name, 1 + ATOMICS.get(name, 0), arguments, callee)
    pointer, *values = arguments
    pointer = loaded(pointer) if isinstance(pointer.type, Pointer) else pointer
    if not isinstance(pointer.type, Pointer):
        raise refused(_wanted(name), pointer)
    reference = dereferenced(pointer, pointer.at, pointer.end)
    if name == "arrayLength":
        return _length(reference, pointer, place)
    if name == "workgroupUniformLoad":
        return _uniform(reference, pointer, place)
    return _atomic(name, reference, pointer, values, place)


def _length(reference: Reference, pointer: Expression, place: Part) -> ArrayLength:
    if not isinstance(reference.type, Array) or not is_runtime_sized(reference.type):
        raise refused(_wanted("arrayLength"), pointer)
    return ArrayLength(U32, place.at, place.end, reference)


def _uniform(reference: Reference, pointer: Expression, place: Part) -> UniformLoad:
    inner = reference.type.element if isinstance(reference.type, Atomic) else reference.type
    if origin(reference)[0] != "workgroup" or not is_constructible(inner):
        raise refused(_wanted("workgroupUniformLoad"), pointer)
    return UniformLoad(inner, place.at, place.end, reference)


def _atomic(
    name: str, reference: Reference, pointer: Expression, values: Sequence[Reference | Expression], place: Part
) -> AtomicCall:
    if not isinstance(reference.type, Atomic):
        raise refused(_wanted(name), pointer)
    element = reference.type.element
    given = []
    for value in map(loaded, values):
        wanted = converted(value, element)
        if wanted is None:
            raise refused(f"automatic conversions cannot convert elements of `{value.type}` to `{element}`", value)
        given.append(wanted)
    type = _result(name, element)
    return AtomicCall(type, place.at, place.end, name, reference, tuple(given))


def _wanted(name: str) -> str:
    if name in ATOMICS:
        return "atomic operation is done on a pointer to a non-atomic"
    memory = {"arrayLength": "a runtime-sized array, as in `arrayLength(&output)`"}
    return f"{name} takes a pointer to {memory.get(name, 'workgroup memory, as in `workgroupUniformLoad(&total)`')}"


def _result(name: str, element: Type) -> Type | None:
    if name == "atomicCompareExchangeWeak":
        fields = Field("old_value", element, 0), Field("exchanged", BOOL, 1)
        return Struct("__atomic_compare_exchange_result", fields, 2, 1)
    return None if name == "atomicStore" else element
