"""The comment that opens a kernel file, key by key, and its line `cost` as formulas to compare with counts."""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, log2

from helpers.operations.convolution.shapes import ConvShape
from helpers.operations.gemm.shapes import GemmShape
from helpers.operations.harness import operation_of
from helpers.operations.network.shapes import ElementShape, LossShape, PoolShape, StartShape, UpdateShape
from helpers.operations.operation import Shape
from helpers.operations.summation.shapes import SumShape
from wgsl import Kernel

LETTERS = {  # of the sizes of each kind of problem, in the order of its parameters
    ConvShape: "N Ci H W Co kH kW S Ph oH oW Pw Sh Sw Dh Dw G",  # and its steps
    GemmShape: "M K N batch",
    SumShape: "n",
    PoolShape: "N C H W kH kW Sh Sw Ph Pw oH oW",
    ElementShape: "n",
    LossShape: "N C",
    UpdateShape: "n",
    StartShape: "n",
}


EQUATION = ["equation", "numpy"]  # what the operation computes: in its first version, for all of them
KEYS = ["in", "out", "dispatch", "barriers", "cost", "limits", "new here"]


def keys(kernel: Kernel) -> list[str]:
    """Return the keys that a header has, in their order."""
    if is_first(kernel):
        return ["title", *EQUATION, *KEYS]
    return ["title", *KEYS]


def is_first(kernel: Kernel) -> bool:
    """Return whether a kernel is its operation's first version."""
    return kernel.version.startswith("1_")


def header(kernel: Kernel) -> dict[str, str]:
    """The text at each key of the comment that opens a file; the first line is the title."""
    title, _, *lines = kernel.source.split("\n\n", 1)[0].split("\n")
    texts = {"title": title.removeprefix("// ")}
    key = ""
    for line in lines:
        key = line[3:13].strip() or key  # a line without a key continues the one above
        texts[key] = f"{texts.get(key, '')}\n{line[13:]}".strip()
    return texts


def letters_of(shape: Shape) -> dict[str, int]:
    """The sizes that the letters of a problem stand for."""
    sizes = shape.params()
    if isinstance(shape, ConvShape):
        sizes = *sizes, *shape.stride, *shape.dilation, shape.groups
    if isinstance(shape, PoolShape):
        sizes = *shape.of("input"), *sizes[3:]
    return dict(zip(LETTERS[type(shape)].split(), sizes, strict=False))


# --- The line `cost` --------------------------------------------------------------------------------------

Letters = Mapping[str, Fraction]

FUNCTIONS = {"ceil": ceil, "min": min, "log2": log2}
TABLE = "global loads, workgroup loads, multiply-adds\n"  # heads a row for each pass
ROW = re.compile(r"^(\w+)  +(.+(?:\n +.+)*)", re.MULTILINE)
NUMBERS = re.compile(r"(.+?) global loads?, (.+?) workgroup loads?, (.+?) multiply-adds?")
PER_ITEM = re.compile(r"(.+); or (.+) where d_b is per item")
DEFINITION = re.compile(r"\b([A-Z]) = (.+?)(?:, at most| workgroups)")
SHARE = re.compile(r"one thread has (.+?) of the \w+")
STEPS = re.compile(r"(\S+) = (\d+) steps")


@dataclass(frozen=True)
class Cost:
    """The cost of one result of a pass, or of all passes: the formulas by what they count.

    `at_most` says that some results may cost less. `share` is what one thread takes of the elements or products;
    `steps` is how often it waits at a barrier, as a formula and as the number that the header gives for it.
    """

    result: str
    formulas: tuple[str, str, str]  # global loads, workgroup loads, multiply-adds
    at_most: bool = False
    share: str | None = None
    steps: tuple[str, str] | None = None


def costs(kernel: Kernel, per_item: bool = False) -> list[Cost]:
    """The costs that a header states, one for each row of a table; `per_item` chooses where a row has two.

    Raises AssertionError where the numbers cannot be read.
    """
    before, _, after = (part.strip() for part in header(kernel)["cost"].partition(":"))
    if after.startswith(TABLE):
        rows = ROW.findall(after.removeprefix(TABLE))
        return [Cost(name, _formulas(" ".join(row.split()), per_item)) for name, row in rows]
    after = " ".join(after.split())
    numbers, share, steps = NUMBERS.match(after), SHARE.search(after), STEPS.search(after)
    assert numbers, f"{kernel.name}: the cost line has no global loads, workgroup loads and multiply-adds"
    result = re.match(r"per (\w+)", before)[1]
    return [Cost(result, numbers.groups(), "at most" in before, share and share[1], steps and steps.groups())]


def _formulas(row: str, per_item: bool) -> tuple[str, ...]:
    """The three formulas of a row, without the remark in brackets behind them."""
    if either := PER_ITEM.match(row):
        row = either[1 + per_item]
    return tuple(re.sub(r" \([a-z][^()]*\)$", "", row).split(", "))


def holds_for(kernel: Kernel, shape: Shape) -> bool:
    """Return True where the header's cost is about this problem: some are about full tiles only."""
    before = header(kernel)["cost"].partition(":")[0]
    known = letters(kernel, shape)
    if "where TILE divides M, K and N" in before:
        sides = "MKN"
    elif "of a full tile" in before:
        sides = "HW"
    else:
        sides = ""
    return all(known[side] % known["TILE"] == 0 for side in sides)


def letters(kernel: Kernel, shape: Shape) -> Letters:
    """The numbers that the letters of a header stand for in a problem."""
    sizes = letters_of(shape)
    text = operation_of(kernel).scheduled(shape, kernel)[0]
    sizes |= {name: text.value(name) for name in re.findall(r"\b(?:override|const) (\w+): u32", text.code)}
    known = {name: Fraction(size) for name, size in sizes.items()}
    for key in ("dispatch", "cost"):
        for name, formula in DEFINITION.findall(header(kernel)[key]):
            known[name] = value(formula, known)
    return known


def value(formula: str, letters: Letters) -> Fraction:
    """The value of a formula: letters, whole numbers, ``+ - * /``, `ceil`, `min` and `log2`.

    Raises AssertionError where it is anything else.
    """
    try:
        return Fraction(eval(formula, {"__builtins__": FUNCTIONS}, letters))
    except (SyntaxError, NameError, TypeError, ValueError) as error:
        raise AssertionError(f"{formula!r} is no formula: {error}") from None
