"""The signatures of WGSL's built-in functions of values."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from helpers.simulator.grammar.errors import Refused, Unsupported
from helpers.simulator.types.domains import check_known
from helpers.simulator.types.folding import fold_builtin
from helpers.simulator.types.kinds import ABSTRACT_FLOAT, BOOL, F32, I32, U32, Scalar, Type, Vector
from helpers.simulator.types.overloads import (
    ABSTRACT,
    FLOATS,
    NUMBERS,
    automatic,
    common,
    concrete,
    converted,
    refused,
    scalar_of,
    shaped,
    with_scalar,
)
from helpers.simulator.types.program import Builtin, Constant, Expression, Part

SIGNED = (F32, I32, *ABSTRACT)
"""What a family of functions takes; a result is of the first argument's type unless `result` says otherwise."""


@dataclass(frozen=True)
class Signature:
    """A built-in function whose arguments are all of one type, but for those that `others` names by their place.

    `scalars` are the scalar types it takes, of `shapes`: sizes of vectors, 1 for a scalar. Another argument is of a
    fixed scalar type, in the shape of the first one or as a single scalar.
    """

    count: int
    scalars: tuple[Scalar, ...]
    shapes: tuple[int, ...] = (1, 2, 3, 4)
    others: tuple[tuple[int, Scalar | None, str], ...] = ()
    result: Callable[[Type], Type] = lambda type: type


ALL = (1, 2, 3, 4)
VECTORS = (2, 3, 4)
BITS = (I32, U32)
SCALAR = scalar_of
SIGNATURES = {
    **dict.fromkeys(
        [
            "acos",
            "acosh",
            "asin",
            "asinh",
            "atan",
            "atanh",
            "ceil",
            "cos",
            "cosh",
            "degrees",
            "exp",
            "exp2",
            "floor",
            "fract",
            "inverseSqrt",
            "log",
            "log2",
            "radians",
            "round",
            "saturate",
            "sin",
            "sinh",
            "sqrt",
            "tan",
            "tanh",
            "trunc",
            "quantizeToF16",
        ],
        Signature(1, FLOATS),
    ),
    **dict.fromkeys(["abs"], Signature(1, NUMBERS)),
    **dict.fromkeys(["sign"], Signature(1, SIGNED)),
    **dict.fromkeys(["max", "min"], Signature(2, NUMBERS)),
    **dict.fromkeys(["clamp"], Signature(3, NUMBERS)),
    **dict.fromkeys(["atan2", "pow", "step"], Signature(2, FLOATS)),
    **dict.fromkeys(["fma", "smoothstep"], Signature(3, FLOATS)),
    "mix": Signature(3, FLOATS, others=((2, None, "either"),)),
    "ldexp": Signature(2, FLOATS, others=((1, I32, "same"),)),
    "length": Signature(1, FLOATS, result=scalar_of),
    "distance": Signature(2, FLOATS, result=scalar_of),
    "normalize": Signature(1, FLOATS, VECTORS),
    "dot": Signature(2, NUMBERS, VECTORS, result=scalar_of),
    "cross": Signature(2, FLOATS, (3,)),
    **dict.fromkeys(
        [
            "countOneBits",
            "countLeadingZeros",
            "countTrailingZeros",
            "firstLeadingBit",
            "firstTrailingBit",
            "reverseBits",
        ],
        Signature(1, BITS),
    ),
    "extractBits": Signature(3, BITS, others=((1, U32, "scalar"), (2, U32, "scalar"))),
    "insertBits": Signature(4, BITS, others=((2, U32, "scalar"), (3, U32, "scalar"))),
    **dict.fromkeys(["all", "any"], Signature(1, (BOOL,), result=scalar_of)),
    "select": Signature(3, (BOOL, *NUMBERS), others=((2, BOOL, "either"),)),
    **dict.fromkeys(["pack4x8snorm", "pack4x8unorm"], Signature(1, (F32,), (4,), result=lambda _: U32)),
    **dict.fromkeys(
        ["pack2x16snorm", "pack2x16unorm", "pack2x16float"], Signature(1, (F32,), (2,), result=lambda _: U32)
    ),
    **dict.fromkeys(["pack4xI8", "pack4xI8Clamp"], Signature(1, (I32,), (4,), result=lambda _: U32)),
    **dict.fromkeys(["pack4xU8", "pack4xU8Clamp"], Signature(1, (U32,), (4,), result=lambda _: U32)),
    **dict.fromkeys(["unpack4x8snorm", "unpack4x8unorm"], Signature(1, (U32,), (1,), result=lambda _: Vector(4, F32))),
    **dict.fromkeys(
        ["unpack2x16snorm", "unpack2x16unorm", "unpack2x16float"],
        Signature(1, (U32,), (1,), result=lambda _: Vector(2, F32)),
    ),
    "unpack4xI8": Signature(1, (U32,), (1,), result=lambda _: Vector(4, I32)),
    "unpack4xU8": Signature(1, (U32,), (1,), result=lambda _: Vector(4, U32)),
}
MISSING = {
    **dict.fromkeys(
        [
            "faceForward",
            "reflect",
            "refract",
            "frexp",
            "modf",
            "determinant",
            "transpose",
            "dot4U8Packed",
            "dot4I8Packed",
        ]
    ),
    **dict.fromkeys(
        ["dpdx", "dpdxCoarse", "dpdxFine", "dpdy", "dpdyCoarse", "dpdyFine", "fwidth", "fwidthCoarse", "fwidthFine"]
    ),
    **dict.fromkeys(
        ["subgroupAdd", "subgroupExclusiveAdd", "subgroupInclusiveAdd", "subgroupAll", "subgroupAnd", "subgroupAny"]
    ),
    **dict.fromkeys(["subgroupBallot", "subgroupBroadcast", "subgroupBroadcastFirst", "subgroupElect", "subgroupMax"]),
    **dict.fromkeys(["subgroupMin", "subgroupMul", "subgroupExclusiveMul", "subgroupInclusiveMul", "subgroupOr"]),
    **dict.fromkeys(
        ["subgroupShuffle", "subgroupShuffleDown", "subgroupShuffleUp", "subgroupShuffleXor", "subgroupXor"]
    ),
    **dict.fromkeys(
        ["quadBroadcast", "quadSwapDiagonal", "quadSwapX", "quadSwapY", "textureBarrier", "subgroupBarrier"]
    ),
}


def is_builtin(name: str) -> bool:
    """Whether WGSL has a built-in function of values of this name."""
    return name in SIGNATURES or name in MISSING or name.startswith("texture")


def call(name: str, arguments: Sequence[Expression], place: Part, name_end: int) -> Expression:
    """A call of a built-in function, its arguments converted; constants are computed."""
    if name not in SIGNATURES:
        raise Unsupported(f"the built-in function `{name}`", place.at)
    signature = SIGNATURES[name]
    _check_count(name, signature.count, arguments, Part(place.type, place.at, name_end))
    arguments = list(_converted(name, signature, arguments, Part(place.type, place.at, name_end)))
    check_known(name, arguments, Part(place.type, place.at, name_end))
    if not all(isinstance(each, Constant) for each in arguments):
        arguments = [concrete(each) for each in arguments]
    type = signature.result(arguments[0].type)
    if all(isinstance(each, Constant) for each in arguments):
        return fold_builtin(name, arguments, type, place)
    return Builtin(type, place.at, place.end, name, tuple(arguments))


def _check_count(name: str, count: int, arguments: Sequence[Expression], callee: Part) -> None:
    if len(arguments) < count:
        reason = f"wrong number of arguments: expected {count}, found {len(arguments)}"
        raise refused(reason, callee, "wrong number of arguments")
    if len(arguments) > count:
        raise refused(f"too many arguments passed to `{name}`", callee)


def _size(type: Type) -> int:
    return type.size if isinstance(type, Vector) else 1 if isinstance(type, Scalar) else 0


def _converted(name: str, signature: Signature, arguments: Sequence[Expression], callee: Part) -> list[Expression]:
    special = {place: (scalar, shape) for place, scalar, shape in signature.others}
    same = [i for i in range(signature.count) if i not in special or special[i][0] is None]
    for i in same:
        if _size(arguments[i].type) not in signature.shapes or not _accepts(signature, arguments[i].type):
            raise wrong(name, i, arguments[i], callee, signature)
    scalar = _shared(name, signature, [arguments[i] for i in same], callee)
    result = list(arguments)
    for i in same:
        result[i] = with_scalar(arguments[i], scalar)
        if result[i].type != result[0].type and not (i in special and scalar_of(result[i].type) == result[i].type):
            raise inconsistent(name, i, result, callee)
    for i, (scalar, shape) in special.items():
        if scalar is not None:
            result[i] = _other(name, i, result, scalar, shape, callee)
    return result


def _accepts(signature: Signature, type: Type) -> bool:
    scalar = scalar_of(type)
    return scalar in signature.scalars or any(automatic(scalar, each) for each in signature.scalars)


def _shared(name: str, signature: Signature, arguments: list[Expression], callee: Part) -> Scalar:
    scalar = common([each.type for each in arguments])
    if scalar is None:
        first = next(i for i in range(2, len(arguments) + 1) if common([a.type for a in arguments[:i]]) is None)
        raise inconsistent(name, first - 1, arguments, callee)
    if scalar in signature.scalars:
        return scalar
    return next(each for each in (ABSTRACT_FLOAT, I32, U32, F32) if each in signature.scalars)


def _other(name: str, i: int, arguments: list[Expression], scalar: Scalar, shape: str, callee: Part) -> Expression:
    """An argument of a type of its own."""
    same = shaped(arguments[0].type, scalar)
    wanted = {"same": (same,), "scalar": (scalar,), "either": (scalar, same)}[shape]
    for type in wanted:
        if value := converted(arguments[i], type):
            return value
    if name == "select":
        raise refused(f"Expected selection condition to be a boolean value, got {arguments[i].type}", callee)
    raise refused(f"wrong type passed as argument #{i + 1} to `{name}`", callee)


def wrong(name: str, i: int, argument: Expression, callee: Part, signature: Signature) -> Refused:
    """An argument that the function never takes."""
    return refused(f"wrong type passed as argument #{i + 1} to `{name}`", callee)


def inconsistent(name: str, i: int, arguments: Sequence[Expression], callee: Part) -> Refused:
    """An argument that does not go with the first one."""
    if name == "select":
        return refused("type mismatch for reject and accept values in `select` call", arguments[0])
    return refused(f"inconsistent type passed as argument #{i + 1} to `{name}`", callee)
