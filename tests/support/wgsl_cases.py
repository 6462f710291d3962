"""Every operator, conversion and built-in function as a WGSL expression, with how far two right results may differ."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from support import accuracy

from wgsl.arithmetic.operators import DTYPES

TYPES = {"f": "f32", "i": "i32", "u": "u32"}


class Free(NamedTuple):
    """Rows in which the adapter may differ from us, and why."""

    reason: str
    rows: Callable[..., np.ndarray]


@dataclass(frozen=True)
class Case:
    """An expression in a, b, c and d, which are of these types (one letter each).

    Without a bound, the adapter's result and ours have the same bits, a NaN's apart. With one, they differ by no more
    than it allows (see `accuracy`) where the arguments and the result are normal and in the `domain`.
    """

    expression: str
    types: str
    result: str
    bound: Callable[..., np.ndarray] | None = None
    domain: Callable[..., np.ndarray] = lambda *_: np.True_
    free: Free | None = None

    def __str__(self) -> str:
        return f"{self.expression} of {' '.join(TYPES[each] for each in self.types)}"


# --- Where the adapter may differ -----------------------------------------------------------------------------------


def any_nan(*values: np.ndarray) -> np.ndarray:
    return np.logical_or.reduce([np.isnan(each) for each in values])


def ties(scale: int) -> Free:
    """Values halfway between two integers once they are scaled; NaN too."""

    def rows(*values: np.ndarray) -> np.ndarray:
        scaled = [np.clip(each.astype(np.float64), -1, 1) * scale for each in values]
        return any_nan(*values) | np.logical_or.reduce([np.abs(each % 1 - 0.5) < 1e-3 for each in scaled])

    return Free("the specification rounds a tie up, as we do; the adapter rounds it to the even neighbor", rows)


NO_NAN = Free("an implementation may assume that no NaN occurs", any_nan)
ENDLESS = Free("the parts of an infinity, and the sign of a 0, are left open", lambda x: ~np.isfinite(x) | (x == 0))
SMALL = Free("and those of a subnormal number, which may become 0", lambda x: ~np.isfinite(x) | (np.abs(x) < 2.0**-126))
FLUSHED = Free("a number that is subnormal as an f16 may become 0", lambda x: np.isnan(x) | (np.abs(x) < 2.0**-14))


def moderate(*values: np.ndarray) -> np.ndarray:
    """Values whose squares are far from both ends of the range of f32."""
    return np.logical_and.reduce([(np.abs(each) < 1e15) & ((np.abs(each) > 1e-15) | (each == 0)) for each in values])


def one_sided(a: np.ndarray, b: np.ndarray, c: np.ndarray) -> np.ndarray:
    """Values for which rounding does not decide the sign of b * c + c * a."""
    return moderate(a, b, c) & (np.abs(b * c + c * a) > 1e-3 * (np.abs(b * c) + np.abs(c * a)))


def within(end: float) -> Callable[..., np.ndarray]:
    """A last argument in [-end, end]."""
    return lambda *values: np.abs(values[-1]) <= end


# --- Operators and conversions --------------------------------------------------------------------------------------

COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")


def operation(operator: str, types: str, **more) -> Case:
    return Case(f"a {operator} b", types, "bool" if operator in COMPARISONS else TYPES[types[0]], **more)


OPERATORS = [
    *(operation(operator, types) for types in ("ii", "uu") for operator in ("+-*/%&|^")),
    *(operation(operator, types) for types in ("iu", "uu") for operator in ("<<", ">>")),
    *(operation(operator, types) for types in ("ii", "uu") for operator in COMPARISONS),
    *(operation(operator, "ff") for operator in ("+", "-", "*", "%", "==", "<", "<=", ">", ">=")),
    operation("/", "ff", bound=accuracy.ulps(2.5), domain=within(2.0**126)),
    operation("!=", "ff", free=NO_NAN),
    *(Case(f"(a < b) {operator} (a == c)", "iii", "bool") for operator in ("&", "|", "==", "!=")),
    *(Case(f"{operator}a", letter, TYPES[letter]) for operator, letter in ("-i", "-f", "~i", "~u")),
    Case("!(a < b)", "ii", "bool"),
]
CONVERSIONS = [
    *(Case(f"{name}(a)", letter, name, free=NO_NAN if letter == "f" else None) for letter in "fiu" for name in DTYPES),
    *(Case(f"{name}(a < b)", "ii", name) for name in DTYPES),
    *(Case(f"bitcast<{name}>(a)", letter, name) for letter in "fiu" for name in TYPES.values()),
]

# --- Built-in functions ---------------------------------------------------------------------------------------------


def function(name: str, types: str, result: str = "", vectors: tuple[str, ...] = (), part: str = "", **more) -> Case:
    """A built-in function of a, b, ..., or of vectors of them such as "abc"; of its result one component or all."""
    vectors = vectors or tuple("abcd"[: len(types)])
    texts = (f"vec{len(each)}({', '.join(each)})" if len(each) > 1 else each for each in vectors)
    expression = f"{name}({', '.join(texts)})" + (f".{part}" if part else "")
    return Case(expression, types, result or TYPES[types[0]], **more)


def functions(names: str, *types: str, **more) -> Iterator[Case]:
    """Several functions, each of several types."""
    return (function(name, each, **more) for name in names.split() for each in types)


BITS = "countOneBits countLeadingZeros countTrailingZeros firstLeadingBit firstTrailingBit reverseBits"
PAIR = ("abc", "cab")
EXACT = [
    *functions("abs ceil floor fract round trunc", "f"),
    *functions("saturate sign", "f", free=NO_NAN),
    *functions("max min step", "ff", free=NO_NAN),
    *functions("quantizeToF16", "f", free=FLUSHED),
    *functions("clamp", "fff", free=NO_NAN),
    *functions("abs sign", "i"),
    *functions("abs", "u"),
    *functions("max min", "ii", "uu"),
    *functions("clamp", "iii", "uuu"),
    *functions(BITS, "i", "u"),
    *functions("extractBits", "iuu", "uuu"),
    *functions("insertBits", "iiuu", "uuuu"),
    *functions("dot", "iii", "uuu", vectors=PAIR),
    *(function("modf", "f", part=part, free=ENDLESS) for part in ("fract", "whole")),
    *(function("frexp", "f", result, part=part, free=SMALL) for part, result in (("fract", "f32"), ("exp", "i32"))),
    *(function(f"dot4{name}8Packed", "uu", result) for name, result in (("I", "i32"), ("U", "u32"))),
    *(Case("select(a, b, a < c)", letter * 3, TYPES[letter]) for letter in "fiu"),
    *(Case(f"{name}(vec3(a < b, b < c, c < a))", "iii", "bool") for name in ("all", "any")),
]
NORM = {"bound": accuracy.ulps(8), "domain": moderate}
CROSS = {"x": [(1, 1), (2, 0)], "y": [(2, 2), (0, 1)], "z": [(0, 0), (1, 2)]}
INEXACT = [
    function("acos", "f", bound=accuracy.either(6.77e-5, 4096)),
    function("acosh", "f", bound=accuracy.acosh, domain=moderate),
    function("asin", "f", bound=accuracy.either(6.81e-5, 4096)),
    function("asinh", "f", bound=accuracy.asinh, domain=moderate),
    function("atan", "f", bound=accuracy.ulps(4096)),
    function("atan2", "ff", bound=accuracy.ulps(4096), domain=lambda y, x: (x != 0) & (y != 0) & within(2.0**126)(x)),
    function("atanh", "f", bound=accuracy.atanh),
    *functions("cos sin", "f", bound=accuracy.absolute(2.0**-11), domain=within(3.14)),
    function("tan", "f", bound=accuracy.tan, domain=within(3.14)),
    *functions("cosh sinh", "f", bound=accuracy.hyperbolic, domain=within(80)),
    function("tanh", "f", bound=accuracy.tanh, domain=within(40)),
    *functions("degrees inverseSqrt radians", "f", bound=accuracy.ulps(2)),
    *functions("exp exp2", "f", bound=accuracy.exponential),
    *functions("log log2", "f", bound=accuracy.logarithm),
    function("sqrt", "f", bound=accuracy.ulps(5)),
    function("pow", "ff", bound=accuracy.power, domain=lambda x, y: (x > 0) & (np.abs(y) < 1e6)),
    function("fma", "fff", bound=accuracy.fma, domain=moderate),
    function("mix", "fff", bound=accuracy.mix, domain=moderate),
    function("mix", "fff", vectors=("ca", "ab", "c"), part="y", bound=accuracy.mix, domain=moderate),
    function("smoothstep", "fff", bound=accuracy.smoothstep, domain=lambda a, b, x: moderate(a, b, x) & (a < b)),
    function("ldexp", "fi", bound=accuracy.ulps(0), domain=within(126)),
    function("length", "f", **NORM),
    function("length", "fff", vectors=("abc",), **NORM),
    function("distance", "ff", **NORM),
    function("distance", "fff", vectors=("ab", "ca"), **NORM),
    function("dot", "fff", vectors=PAIR, bound=accuracy.products((0, 2), (1, 0), (2, 1)), domain=moderate),
    *(
        function("cross", "fff", vectors=PAIR, part=part, bound=accuracy.products(*pairs), domain=moderate)
        for part, pairs in CROSS.items()
    ),
    function("reflect", "ffff", vectors=("ab", "cd"), part="x", bound=accuracy.reflect, domain=moderate),
    function("faceForward", "fff", vectors=("ab", "bc", "ca"), part="x", bound=accuracy.ulps(0), domain=one_sided),
    *(function("normalize", "fff", vectors=("abc",), part=part, **NORM) for part in "xyz"),
]


def parts(name: str, result: str, letters: str, **more) -> Iterator[Case]:
    return (function(name, "u", result, part=part, **more) for part in letters)


PACKING = [
    function("pack2x16float", "ff", "u32", ("ab",), free=NO_NAN),
    function("pack2x16snorm", "ff", "u32", ("ab",), free=ties(2**15 - 1)),
    function("pack2x16unorm", "ff", "u32", ("ab",), free=ties(2**16 - 1)),
    function("pack4x8snorm", "ffff", "u32", ("abcd",), free=ties(2**7 - 1)),
    function("pack4x8unorm", "ffff", "u32", ("abcd",), free=ties(2**8 - 1)),
    *functions("pack4xI8 pack4xI8Clamp", "iiii", result="u32", vectors=("abcd",)),
    *functions("pack4xU8 pack4xU8Clamp", "uuuu", result="u32", vectors=("abcd",)),
    *parts("unpack2x16float", "f32", "xy"),
    *parts("unpack2x16snorm", "f32", "xy", bound=accuracy.ulps(3)),
    *parts("unpack2x16unorm", "f32", "xy", bound=accuracy.ulps(3)),
    *parts("unpack4x8snorm", "f32", "xyzw", bound=accuracy.ulps(3)),
    *parts("unpack4x8unorm", "f32", "xyzw", bound=accuracy.ulps(3)),
    *parts("unpack4xI8", "i32", "xyzw"),
    *parts("unpack4xU8", "u32", "xyzw"),
]
CASES = [*OPERATORS, *CONVERSIONS, *EXACT, *INEXACT, *PACKING]
