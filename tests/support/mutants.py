"""Mutants of a kernel: every operator, comparison, constant, index letter and bound of it changed, one at a time.

And what the checker says of each, on problems that show the most.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple
from unittest.mock import patch

from support.problem_lists import by_name

from helpers.grading.edits import COMPARISONS, OPERATORS
from helpers.operations import dispatch
from helpers.operations.checker import reasons
from helpers.operations.convolution.schedules import conv2d_grad_input
from helpers.operations.gemm.shapes import ACTIVATIONS, GemmShape
from helpers.operations.harness import operation_of
from helpers.operations.operation import Operation, Shape
from wgsl import Kernel, UnsupportedWgsl, WgslError

TOKEN = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*|\d[\w.]*|&&|\|\||<<|>>|[-+*/%&|^<>=!]=|\+\+|--|\S")

# What is easily taken for each other: indices, sizes, components of a vector. One family a line.
LETTERS = [
    ["n", "co", "ci"],
    ["oh", "ow"],
    ["ih", "iw"],
    ["kh", "kw"],
    ["m", "n", "k", "load_k", "first"],
    ["row", "column"],
    ["thread", "half"],
    ["left", "right"],
    ["item", "workgroup.z"],
    ["local.x", "local.y"],
    ["workgroup.x", "workgroup.y", "workgroup.z"],
    ["params.in_h", "params.in_w", "params.out_h", "params.out_w", "params.kernel_h", "params.kernel_w"],
    ["params.padding_h", "params.padding_w"],
    ["params.stride_h", "params.stride_w"],
    ["params.rows", "params.classes"],
    ["mine", "other"],
    ["rows.x", "rows.y", "columns.x", "columns.y"],
    ["params.batch", "params.in_channels", "params.out_channels"],
    ["params.m", "params.n", "params.k", "params.batch_size"],
    ["params.b_stride", "params.d_b_stride"],
]
DECLARES = ("let", "var", "const", "override", "fn", "struct", ":", "->")


class Mutant(NamedTuple):
    """One change to a kernel: the text at an offset of its source, and what is there instead."""

    kernel: Kernel
    at: int
    old: str
    new: str

    @property
    def changed(self) -> Kernel:
        """The kernel with the change."""
        text = self.kernel.source
        source = text[: self.at] + self.new + text[self.at + len(self.old) :]
        return Kernel(source, self.kernel.name, self.kernel.constants)

    @property
    def line(self) -> int:
        """The line of the change, counted from 1."""
        return self.kernel.source.count("\n", 0, self.at) + 1

    def __str__(self) -> str:
        """The line as it was and as it is, without comments and blanks around it."""
        code, end = self.kernel.code, self.at + len(self.old)
        left, right = code[code.rfind("\n", 0, self.at) + 1 : self.at], code[end : code.find("\n", end)]
        before, after = ((left + text + right).strip() for text in (self.old, self.new))
        return f"{self.kernel.name}:{self.line}: `{before}` -> `{after or 'nothing'}`"


def mutants(kernel: Kernel) -> list[Mutant]:
    """All mutants of a kernel, in the order of its text; some of them do not compile."""
    code = kernel.code
    tokens = [token for token in TOKEN.finditer(code) if _may_change(code, token.start())]
    changed = []
    for token in tokens:
        changed += [Mutant(kernel, token.start(), token[0], new) for new in _changes(code, token)]
    return list(dict.fromkeys([*changed, *_without_a_statement(kernel)]))


def _may_change(code: str, at: int) -> bool:
    """Return True for a place outside of bindings, attributes, structs and parameters of functions."""
    line = code[code.rfind("\n", 0, at) + 1 : code.find("\n", at)]
    return not re.match(r"\s*(@|struct|var<|\w+: u32,?\s*$)|fn |\) |\}", line)


def _changes(code: str, token: re.Match) -> Iterator[str]:
    """The texts that may stand in the place of one token."""
    at, word = token.start(), token[0]
    # With a blank on each side, as the house style writes them; so `array<f32>` has none.
    if code[at - 1 : at] == " " == code[token.end() : token.end() + 1]:
        yield from (*OPERATORS.get(word, ()), *COMPARISONS.get(word, ()))
    if word == "++":
        yield " += 2u"
    if word[0].isdigit():
        yield from _other_numbers(word)
    before = code[:at].split()[-1:]
    if before and before[0] in DECLARES:
        return
    for family in LETTERS:
        yield from (other for other in family if word in family and other != word)
    if before and before[0] in COMPARISONS and word[0].isalpha():
        yield from (f"({word} {sign} 1u)" for sign in "+-")


def _other_numbers(word: str) -> tuple[str, ...]:
    """The other numbers that a constant could be."""
    digits = word.rstrip("u")
    suffix = word[len(digits) :]
    if digits.isdigit():
        return tuple(f"{other}{suffix}" for other in (int(digits) + 1, int(digits) - 1) if other >= 0)
    if digits.startswith("0x"):
        return (f"0x{int(digits, 16) // 2:x}u",)
    value = float(word)
    if value in (0.0, 1.0):
        return (f"{value + 1.0}",)
    return f"{value * 2}", f"{value / 2}"


def _without_a_statement(kernel: Kernel) -> Iterator[Mutant]:
    """The kernel without one statement that is a line of its own: a barrier, an assignment, a `return`."""
    for line in re.finditer(r"^ +(?!let |var |const )([^\s{}][^{};\n]*;) *$", kernel.code, re.MULTILINE):
        yield Mutant(kernel, line.start(1), line[1], "")


# --- Values that are right by luck ------------------------------------------------------------------------------

NAMES = re.compile(r"(?<![\w.@])[a-z]\w*(?:\.[A-Za-z_]\w*)*\b(?!\s*[(<:])")
ELEMENTS = re.compile(r"\b\w+\[[^][;]*(?:\[[^][;]*\][^][;]*)*\](?!\s*[-+*]?=[^=])")
WORDS = {
    "let",
    "var",
    "const",
    "for",
    "if",
    "else",
    "return",
    "while",
    "loop",
    "continue",
    "break",
    "fn",
    "struct",
    "true",
}
WORDS |= {
    "false",
    "array",
    "vec3u",
    "vec2u",
    "override",
    "storage",
    "read",
    "read_write",
    "uniform",
    "workgroup",
    "switch",
}
CONSTANTS = ("0u", "1u", "2u", "3u", "4u", "16u")
LUCKY = (
    *("({} + 1u)", "({} - 1u)", "max({}, 1u)", "({} / 2u * 2u)", "(1u << ({} - 1u))"),
    *("min({}, 1u)", "min({}, 2u)", "min({}, 4u)", "min({}, 5u)", "min({}, 8u)", "min({}, 16u)", "min({}, 100u)"),
    *("({} % 4u)", "({} % 16u)", "({} % 64u)", "({} % 256u)"),
)
ROUNDED = (
    *("unpack2x16float(pack2x16float(vec2f({}, 0.0))).x", "floor({})", "round({} * 256.0) / 256.0", "f32(i32({}))"),
    *("min({}, 1000.0)", "max({}, -1e30)", "abs({})"),
)


def of_values(kernel: Kernel) -> Iterator[Mutant]:
    """Yield a kernel with each value replaced by others, and with each element that is read rounded or limited."""
    code = kernel.code
    names = [name for name in NAMES.finditer(code) if name[0] not in WORDS and _may_change(code, name.start())]
    pool = sorted({name[0] for name in names})
    for name in names:
        before = code[: name.start()].split()[-1:]
        if before and before[0] in DECLARES:
            continue
        for other in (*pool, *CONSTANTS, *(form.format(name[0]) for form in LUCKY)):
            if other != name[0]:
                yield Mutant(kernel, name.start(), name[0], other)
    for element in ELEMENTS.finditer(code):
        if _may_change(code, element.start()):
            for form in ROUNDED:
                yield Mutant(kernel, element.start(), element[0], form.format(element[0]))


# --- What the checker says ------------------------------------------------------------------------------------

NO_COMPILE, REFUSED = "does not compile", "refused by the launcher"
# The kernels are `small`: their tiles have 4 x 4 threads, and 20 weights are held at once.
CASES = by_name("mutants")  # of a class of problems, or of one version; or else the examples
CASES["GemmShape"] += [GemmShape(3, 5, 6, 2, activation) for activation in ACTIVATIONS]
for name in "gemm_bias_act/7_deep_tiles", "gemm_bias_act_backward/5_deep_tiles":
    CASES[name] = CASES["GemmShape"] + CASES["deep tiles"]
CASES["sum/3_two_passes"] = CASES["SumShape"] + CASES["many workgroups"]
# More workgroups than a row of a dispatch holds, if that were 2 instead of 65,535.
IN_ROWS = by_name("mutants in rows")


def judged(mutant: Mutant) -> str:
    """The reason that rejects it: "wrong numbers", a kind of finding, "does not compile" ...; "" if there is none."""
    try:
        return next(filter(None, _kinds(mutant.changed, operation_of(mutant.kernel))), "")
    except UnsupportedWgsl:
        raise  # no mutant may be counted that was not judged
    except WgslError:
        return NO_COMPILE
    except ValueError as error:
        if "it must be a power of two" in str(error):  # the number of threads of a tree
            return REFUSED
        raise


def _kinds(kernel: Kernel, operation: Operation) -> Iterator[str]:
    """The first reason that each problem gives, or nothing."""
    kind = type(operation.examples[0]).__name__
    for shape in CASES.get(kernel.name) or CASES.get(kind, operation.examples[::-1]):
        yield _kind(kernel, shape)
    for rows in IN_ROWS.get(operation.name) or IN_ROWS.get(kind, []):
        with patch.object(dispatch, "MAX_WORKGROUPS", 2), patch.object(conv2d_grad_input, "MAX_WORKGROUPS", 2):
            yield _kind(kernel, rows)


def _kind(kernel: Kernel, shape: Shape) -> str:
    """The first reason that one problem gives, or nothing."""
    return next((reason.kind for reason in reasons(kernel, shape)), "")
