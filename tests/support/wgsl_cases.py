"""Every operator, conversion and built-in function as a WGSL expression, with what the simulator computes for it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from support import accuracy

from helpers.simulator.arithmetic.builtins import BUILTINS
from helpers.simulator.arithmetic.conversions import DTYPES, bitcast, convert
from helpers.simulator.arithmetic.operators import binary, unary

TYPES = {"f": "f32", "i": "i32", "u": "u32"}


class Free(NamedTuple):
    """Rows in which the specification leaves the result open, and why."""

    reason: str
    rows: Callable[..., np.ndarray]


@dataclass(frozen=True)
class Case:
    """An expression in a, b, c and d, which are of these types (one letter each), and our function of those arrays.

    Without a bound, the adapter's result and ours have the same bits, a NaN's apart. With one, they differ by no more
    than it allows (see `accuracy`) where the arguments and the result are normal and in the `domain`.
    """

    expression: str
    types: str
    result: str
    ours: Callable[..., np.ndarray]
    bound: Callable[..., np.ndarray] | None = None
    domain: Callable[..., np.ndarray] = lambda *_: np.True_
    free: Free | None = None

    def __str__(self) -> str:
        return f"{self.expression} of {' '.join(TYPES[each] for each in self.types)}"


def any_nan(*arguments: np.ndarray) -> np.ndarray:
    return np.logical_or.reduce([np.isnan(each) for each in arguments])


NO_NAN = Free("an implementation may assume that no NaN occurs", any_nan)


def function(name: str, types: str, result: str = "", **more) -> Case:
    """A built-in function of scalars."""

    def ours(*arguments: np.ndarray) -> np.ndarray:
        return BUILTINS[name](*((each,) for each in arguments))[0]

    return Case(f"{name}({', '.join('abcd'[: len(types)])})", types, result or TYPES[types[0]], ours, **more)


def of_vectors(expression: str, types: str, result: str, ours: Callable, **more) -> Case:
    """A built-in function of vectors; `ours` gives the tuple of components that the expression reads one of."""
    part = "xyzw".index(expression[-1]) if expression[-2] == "." else 0
    return Case(expression, types, result, lambda *arguments: ours(*arguments)[part], **more)


# --- Operators and conversions ------------------------------------------------------------------------------------

COMPARISONS = ("==", "!=", "<", "<=", ">", ">=")


def operation(operator: str, types: str) -> Case:
    result = "bool" if operator in COMPARISONS else TYPES[types[0]]
    more = {}
    if types == "ff" and operator == "/":
        more = {"bound": accuracy.ulps(2.5), "domain": lambda a, b: np.abs(b) <= 2.0**126}
    if types == "ff" and operator == "!=":
        more = {"free": NO_NAN}
    return Case(f"a {operator} b", types, result, lambda a, b: binary(operator, a, b), **more)


OPERATORS = [
    *(operation(operator, types) for types in ("ii", "uu", "ff") for operator in ("+", "-", "*", "/", "%")),
    *(operation(operator, types) for types in ("ii", "uu", "ff") for operator in COMPARISONS),
    *(operation(operator, types) for types in ("ii", "uu") for operator in "&|^"),
    *(operation(operator, types) for types in ("iu", "uu") for operator in ("<<", ">>")),
    *(
        Case(f"(a < b) {each} (a == c)", "iii", "bool", lambda a, b, c, each=each: binary(each, a < b, a == c))
        for each in ("&", "|", "==", "!=")
    ),
    *(Case("-a", letter, TYPES[letter], lambda a: unary("-", a)) for letter in "if"),
    *(Case("~a", letter, TYPES[letter], lambda a: unary("~", a)) for letter in "iu"),
    Case("!(a < b)", "ii", "bool", lambda a, b: unary("!", a < b)),
]
CONVERSIONS = [
    *(
        Case(
            f"{name}(a)",
            letter,
            name,
            lambda a, name=name: convert(a, name),
            free=NO_NAN if letter == "f" and name != "f32" else None,
        )
        for letter in "fiu"
        for name in DTYPES
    ),
    *(Case(f"{name}(a < b)", "ii", name, lambda a, b, name=name: convert(a < b, name)) for name in DTYPES),
    *(
        Case(f"bitcast<{name}>(a)", letter, name, lambda a, name=name: bitcast(a, name))
        for letter in "fiu"
        for name in TYPES.values()
    ),
]

# --- Built-in functions -------------------------------------------------------------------------------------------

EXACT = [
    *(function(name, "f") for name in ("abs", "ceil", "floor", "fract", "round", "trunc")),
    *(function(name, "f", free=NO_NAN) for name in ("saturate", "sign", "quantizeToF16")),
    *(function(name, "ff", free=NO_NAN) for name in ("max", "min", "step")),
    function("clamp", "fff", free=NO_NAN),
    *(function(name, letter) for name in ("abs", "sign") for letter in "iu" if name + letter != "signu"),
    *(function(name, letter * 2) for name in ("max", "min") for letter in "iu"),
    *(function("clamp", letter * 3) for letter in "iu"),
    *(
        function(name, letter)
        for name in ("countOneBits", "countLeadingZeros", "countTrailingZeros", "firstLeadingBit", "firstTrailingBit")
        for letter in "iu"
    ),
    *(function("reverseBits", letter) for letter in "iu"),
    *(function("extractBits", letter + "uu") for letter in "iu"),
    *(function("insertBits", letter * 2 + "uu") for letter in "iu"),
    *(
        Case(
            "select(a, b, a < c)",
            letter * 3,
            TYPES[letter],
            lambda a, b, c: BUILTINS["select"]((a,), (b,), (a < c,))[0],
        )
        for letter in "fiu"
    ),
    *(
        of_vectors(f"{name}(vec3(a < b, b < c, c < a))", "iii", "bool",
                   lambda a, b, c, name=name: BUILTINS[name]((a < b, b < c, c < a)))
        for name in ("all", "any")
    ),  # fmt: skip
    *(
        of_vectors("dot(vec3(a, b, c), vec3(c, a, b))", letter * 3, TYPES[letter],
                   lambda a, b, c: BUILTINS["dot"]((a, b, c), (c, a, b)))
        for letter in "iu"
    ),  # fmt: skip
]
SMALL = lambda *arguments: np.logical_and.reduce(  # noqa: E731
    [(np.abs(each) < 1e15) & ((np.abs(each) > 1e-15) | (each == 0)) for each in arguments]
)
INEXACT = [
    function("acos", "f", bound=accuracy.either(6.77e-5, 4096)),
    function("acosh", "f", bound=accuracy.acosh, domain=SMALL),
    function("asin", "f", bound=accuracy.either(6.81e-5, 4096)),
    function("asinh", "f", bound=accuracy.asinh, domain=SMALL),
    function("atan", "f", bound=accuracy.ulps(4096)),
    function("atan2", "ff", bound=accuracy.ulps(4096), domain=lambda y, x: (x != 0) & (y != 0) & (np.abs(x) <= 2.0**126)),
    function("atanh", "f", bound=accuracy.atanh),
    *(function(name, "f", bound=accuracy.absolute(2.0**-11), domain=lambda x: np.abs(x) <= 3.14) for name in ("cos", "sin")),
    function("tan", "f", bound=accuracy.tan, domain=lambda x: np.abs(x) <= 3.14),
    *(function(name, "f", bound=accuracy.hyperbolic, domain=lambda x: np.abs(x) < 80) for name in ("cosh", "sinh")),
    function("tanh", "f", bound=accuracy.tanh, domain=lambda x: np.abs(x) < 40),
    *(function(name, "f", bound=accuracy.ulps(2)) for name in ("degrees", "inverseSqrt", "radians")),
    *(function(name, "f", bound=accuracy.exponential) for name in ("exp", "exp2")),
    *(function(name, "f", bound=accuracy.logarithm) for name in ("log", "log2")),
    function("sqrt", "f", bound=accuracy.ulps(5)),
    function("pow", "ff", bound=accuracy.power, domain=lambda x, y: x > 0),
    function("fma", "fff", bound=accuracy.fma, domain=SMALL),
    function("mix", "fff", bound=accuracy.mix, domain=SMALL),
    function("smoothstep", "fff", bound=accuracy.smoothstep, domain=lambda a, b, x: SMALL(a, b, x) & (a < b)),
    function("ldexp", "fi", bound=accuracy.ulps(0), domain=lambda x, e: np.abs(e) <= 126),
    *(function(name, "f", "f32", bound=accuracy.ulps(8), domain=SMALL) for name in ("length",)),
    function("distance", "ff", bound=accuracy.ulps(8), domain=SMALL),
    of_vectors("length(vec3(a, b, c))", "fff", "f32", lambda *v: BUILTINS["length"](v), bound=accuracy.ulps(8), domain=SMALL),
    of_vectors("distance(vec2(a, b), vec2(c, a))", "fff", "f32", lambda a, b, c: BUILTINS["distance"]((a, b), (c, a)),
               bound=accuracy.ulps(8), domain=SMALL),
    of_vectors("dot(vec3(a, b, c), vec3(c, a, b))", "fff", "f32", lambda a, b, c: BUILTINS["dot"]((a, b, c), (c, a, b)),
               bound=accuracy.products((0, 2), (1, 0), (2, 1)), domain=SMALL),
    *(
        of_vectors(f"cross(vec3(a, b, c), vec3(c, a, b)).{part}", "fff", "f32",
                   lambda a, b, c: BUILTINS["cross"]((a, b, c), (c, a, b)), bound=accuracy.products(*pairs), domain=SMALL)
        for part, pairs in {"x": [(1, 1), (2, 0)], "y": [(2, 2), (0, 1)], "z": [(0, 0), (1, 2)]}.items()
    ),
    *(
        of_vectors(f"normalize(vec3(a, b, c)).{part}", "fff", "f32", lambda *v: BUILTINS["normalize"](v),
                   bound=accuracy.ulps(12), domain=SMALL)
        for part in "xyz"
    ),
]  # fmt: skip
PACKING = [
    *(
        of_vectors(f"{name}(vec4(a, b, c, d))", "ffff", "u32", lambda *v, name=name: BUILTINS[name](v), free=NO_NAN)
        for name in ("pack4x8snorm", "pack4x8unorm")
    ),
    *(
        of_vectors(f"{name}(vec2(a, b))", "ff", "u32", lambda *v, name=name: BUILTINS[name](v), free=NO_NAN)
        for name in ("pack2x16snorm", "pack2x16unorm", "pack2x16float")
    ),
    *(
        of_vectors(f"{name}(vec4(a, b, c, d))", letter * 4, "u32", lambda *v, name=name: BUILTINS[name](v))
        for letter, kind in (("i", "I"), ("u", "U"))
        for name in (f"pack4x{kind}8", f"pack4x{kind}8Clamp")
    ),
    *(
        of_vectors(f"{name}(a).{part}", "u", result, lambda a, name=name: BUILTINS[name]((a,)),
                   bound=accuracy.ulps(3) if "norm" in name else None)
        for name, parts, result in (
            ("unpack4x8snorm", "xyzw", "f32"), ("unpack4x8unorm", "xyzw", "f32"), ("unpack2x16snorm", "xy", "f32"),
            ("unpack2x16unorm", "xy", "f32"), ("unpack2x16float", "xy", "f32"), ("unpack4xI8", "xyzw", "i32"),
            ("unpack4xU8", "xyzw", "u32"),
        )
        for part in parts
    ),
]  # fmt: skip
CASES = [*OPERATORS, *CONVERSIONS, *EXACT, *INEXACT, *PACKING]
