"""Mutants of a kernel: every operator, comparison, constant, index letter and bound of it changed, one at a time."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from helpers.wgsl import Kernel

TOKEN = re.compile(r"[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*|\d[\w.]*|&&|\|\||<<|>>|[-+*/%&|^<>=!]=|\+\+|--|\S")
OPERATORS = {  # with a blank on each side, as the house style writes them; so `array<f32>` has none
    **{"+": ("-",), "-": ("+",), "*": ("+", "/"), "/": ("*", "%"), "%": ("*", "/"), "&": ("|",), "|": ("&",)},
    **{"&&": ("||",), "||": ("&&",), "+=": ("=", "-="), "-=": ("=", "+="), "*=": ("/=",), "/=": ("*=", "-=")},
}
COMPARISONS = {
    **{"<": ("<=", ">", "!="), "<=": ("<", ">"), ">": (">=", "<", "!="), ">=": (">", "<"), "==": ("!=",)},
    "!=": ("==",),
}
# What is easily taken for each other: indices, sizes, components of a vector. One family a line.
LETTERS = [
    family.split()
    for family in """
    n co ci
    oh ow
    ih iw
    kh kw
    m n k load_k first
    row column
    thread half
    left right
    item group.z
    local.x local.y
    group.x group.y group.z
    workgroup.x workgroup.y workgroup.z
    params.in_h params.in_w params.out_h params.out_w params.kernel_h params.kernel_w
    params.padding_h params.padding_w
    params.batch params.in_channels params.out_channels
    params.m params.n params.k params.batch_size
    params.b_stride params.d_b_stride
    """.strip().split("\n")
]
BEFORE_A_BOUND = ("<", "<=", ">", ">=", "==", "!=")
DECLARES = ("let", "var", "const", "override", "fn", "struct", ":", "->")


class Mutant(NamedTuple):
    """One change to a kernel: the text at an offset of its source, and what stands there instead."""

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

    @property
    def text(self) -> str:
        """The line as it was, without comments and blanks around it."""
        return self.kernel.code.split("\n")[self.line - 1].strip()

    def __str__(self) -> str:
        line = self.changed.code.split("\n")[self.line - 1].strip()
        return f"{self.kernel.name}:{self.line}: `{self.text}` -> `{line or 'nothing'}`"


def mutants(kernel: Kernel) -> list[Mutant]:
    """All mutants of a kernel, in the order of its text; some of them do not compile."""
    code = kernel.code
    found = [token for token in TOKEN.finditer(code) if _may_change(code, token.start())]
    each = (Mutant(kernel, at, old, new) for token in found for at, old, new in _changes(code, token))
    return list(dict.fromkeys([*each, *_without_a_statement(kernel)]))


def _may_change(code: str, at: int) -> bool:
    """Whether a place is neither in a binding or an attribute, nor in a struct, nor in a function's parameters."""
    line = code[code.rfind("\n", 0, at) + 1 : code.find("\n", at)]
    if line.lstrip().startswith(("@", "struct", "var<")) or re.fullmatch(r"\s*\w+: u32,?\s*", line):
        return False
    return not line.startswith(("fn ", ") ", "}"))


def _changes(code: str, token: re.Match) -> Iterator[tuple[int, str, str]]:
    """The changes to one token, each as its offset, its text and the new one."""
    at, word = token.start(), token[0]
    spaced = code[at - 1 : at] == " " == code[token.end() : token.end() + 1]
    if spaced:
        yield from ((at, word, new) for new in (*OPERATORS.get(word, ()), *COMPARISONS.get(word, ())))
    if word == "++":
        yield at, word, " += 2u"
    if word[0].isdigit():
        yield from ((at, word, new) for new in _other_numbers(word))
    before = code[:at].split()[-1] if code[:at].split() else ""
    if before in DECLARES:
        return
    for family in LETTERS:
        if word in family:
            yield from ((at, word, other) for other in family if other != word)
    if before in BEFORE_A_BOUND and (word[0].isalpha() or word[0].isdigit()) and word[-1] != "(":
        yield from ((at, word, f"({word} {sign} 1u)") for sign in "+-" if not word[0].isdigit())


def _other_numbers(word: str) -> tuple[str, ...]:
    """What else a constant could be."""
    if re.fullmatch(r"\d+u?", word):
        value, suffix = int(word.rstrip("u")), word[len(word.rstrip("u")) :]
        return tuple(f"{other}{suffix}" for other in (value + 1, value - 1) if other >= 0)
    if word.startswith("0x"):
        return (f"0x{int(word[2:].rstrip('u'), 16) // 2:x}u",)
    value = float(word)
    return (f"{value + 1.0}",) if value in (0.0, 1.0) else (f"{value * 2}", f"{value / 2}")


def _without_a_statement(kernel: Kernel) -> Iterator[Mutant]:
    """The kernel without one statement that is a line of its own: a barrier, an assignment, a `return`."""
    for found in re.finditer(r"^ +(?!let |var |const )([^\s{}][^{};\n]*;) *$", kernel.code, re.MULTILINE):
        yield Mutant(kernel, found.start(1), found[1], "")
