"""Kernels as text: load them from `kernels/`, and read what they declare."""

import ast
import inspect
import operator
import os
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, cached_property
from math import prod
from pathlib import Path
from typing import NamedTuple

from helpers.arguments import check_size
from helpers.wgsl.diagnostics import WgslError
from helpers.wgsl.syntax.tokens import without_comments

KERNELS = Path(__file__).resolve().parents[2] / "kernels"
ATTRIBUTE = r"@\w+\s*\([^)]*\)\s*"
BINDING = re.compile(rf"((?:{ATTRIBUTE})+)var\s*<([^>]*)>\s*(\w+)\s*:\s*([^;]+);")
ENTRY_POINT = re.compile(r"@workgroup_size\s*\(((?:[^()]|\([^()]*\))*)\)[^{;]*?\bfn\s+(\w+)")
OPERATORS = {
    **{ast.Add: operator.add, ast.Sub: operator.sub, ast.Mult: operator.mul, ast.Mod: operator.mod},
    **{ast.Div: operator.floordiv, ast.LShift: operator.lshift, ast.RShift: operator.rshift},
}
SIZES = {"f32": 4, "u32": 4, "i32": 4, "vec2f": 8, "vec3f": 16, "vec4f": 16}  # bytes of an array's element
PART = re.compile(r"^ *// (\d+)\. ", re.MULTILINE)


class Bound(NamedTuple):
    """A variable that a kernel binds: its address space and access without blanks, its name and its type.

    The access of ``var<storage>`` is ``read``, as WGSL defines it.
    """

    space: str
    name: str
    type: str


@dataclass(frozen=True)
class Kernel:
    """A WGSL source with the values of its `override` constants.

    `name` stands for it in messages: ``conv2d_grad_weight/1_thread_per_weight`` for a file, or any words for a text
    written in a notebook cell.
    `pasted` are the lines that a learner wrote, where the rest is a kernel around them: a compiler's message counts
    only those, and calls the first one line 1.
    """

    source: str
    name: str = "your kernel"
    constants: tuple[tuple[str, float], ...] = ()
    pasted: range | None = None

    @cached_property
    def code(self) -> str:
        """The source without its comments."""
        return without_comments(self.source)

    @cached_property
    def bound(self) -> tuple[Bound, ...]:
        """The variables at the bindings 0, 1, 2, ... of group 0.

        Raises WgslError where a binding is in another group, or a number is left out.
        """
        found = {}
        for attributes, space, name, kind in BINDING.findall(self.code):
            places = dict(re.findall(r"@(group|binding)\s*\(([^)]*)\)", attributes))
            group, number = (self.numbers(places.get(each, "0"))[0] for each in ("group", "binding"))
            if group:
                raise WgslError(f"{self.name}: `{name}` is in group {group}: write @group(0) for every binding")
            space = re.sub("^storage$", "storage,read", "".join(space.split()).rstrip(","))
            found[number] = Bound(space, name, kind.strip())
        if not found:
            example = "@group(0) @binding(0) var<storage, read_write> output: array<f32>;"
            raise WgslError(f"{self.name}: it declares no bindings; write one for each buffer, as in `{example}`")
        gap = next(number for number in range(len(found) + 1) if number not in found)
        if gap < len(found):
            listed = ", ".join(map(str, sorted(found)))
            raise WgslError(f"{self.name}: it has the bindings {listed}, and none with the number {gap}")
        return tuple(found[number] for number in sorted(found))

    @cached_property
    def bindings(self) -> tuple[str, ...]:
        """WebGPU's buffer type at each binding of group 0.

        Raises WgslError as `bound` does.
        """
        kinds = {"uniform": "uniform", "storage,read_write": "storage"}
        return tuple(kinds.get(each.space, "read-only-storage") for each in self.bound)

    def workgroup_size(self, entry_point: str) -> tuple[int, int, int]:
        """Threads of a workgroup in x, y and z; (0, 1, 1) where the source declares no such entry point."""
        sizes = {name: size for size, name in ENTRY_POINT.findall(self.code)}
        return (*self.numbers(sizes.get(entry_point, "0")), 1, 1)[:3]

    def threads(self, entry_point: str) -> int:
        """Threads in one workgroup of an entry point; 0 where the source declares no such entry point."""
        return prod(self.workgroup_size(entry_point))

    @property
    def workgroup_bytes(self) -> int:
        """Bytes of the workgroup memory in which the kernel declares its arrays."""
        types = re.findall(r"var\s*<\s*workgroup\s*>\s*\w+\s*:\s*([^;]+);", self.code)
        return sum(self._bytes(kind.strip()) for kind in types)

    def _bytes(self, kind: str) -> int:
        array = re.fullmatch(r"array\s*<(.*),([^,<>]*\w[^,<>]*),?\s*>", kind, re.DOTALL)
        return self._bytes(array[1].strip()) * self.numbers(array[2])[0] if array else SIZES.get(kind, 0)

    @property
    def specialized(self) -> bool:
        """Is this the file of a version whose text is written anew for each layer, with its sizes as constants?"""
        return "struct Params" not in self.code

    @property
    def version(self) -> str:
        """The version that this kernel is, or was before an edit: the file stem in its name."""
        return self.name.rpartition("/")[2]

    def with_constants(self, **constants: int) -> "Kernel":
        """The same kernel with other values for its constants.

        Those of `override` are set when its pipeline is made, those of `const` are written into the text that is
        specialized for a layer.

        Raises ValueError for a name that the source declares neither way.
        """
        for name, value in constants.items():
            check_size(name, value)
            if not re.search(rf"\b(override|const) {name}: ", self.code):
                raise ValueError(f"{name} = {value}: {self.name} has no `override {name}` and no `const {name}`")
        return replace(self, constants=tuple(sorted({**dict(self.constants), **constants}.items())))

    def edit(self, old: str, new: str) -> "Kernel":
        """The same kernel with one piece of its text replaced.

        Raises ValueError where `old` does not occur in the source exactly once.
        """
        count = self.source.count(old)
        if count != 1:
            raise ValueError(f"old = {old!r}: {self.name} contains it {count} times; it must occur exactly once")
        return replace(self, source=self.source.replace(old, new))

    def paste(self, mark: str, text: str) -> "Kernel":
        """The same kernel with a learner's text in place of a mark, on lines of its own, which `pasted` remembers.

        Raises ValueError where the mark does not occur in the source exactly once.
        """
        first = self.source.partition(mark)[0].count("\n") + 2
        return replace(self.edit(mark, f"\n{text}\n"), pasted=range(first, first + text.count("\n") + 1))

    def value(self, name: str) -> int:
        """The value of an `override` or `const`.

        Raises ValueError where the source declares none of this name.
        """
        written = re.search(rf"\b(?:override|const)\s+{name}\b[^=;]*=([^;]*);", self.code)
        if not written:
            raise ValueError(f"name = {name!r}: {self.name} has no such `override` or `const`")
        given = dict(self.constants)
        return given[name] if name in given else self.numbers(written[1])[0]

    def numbers(self, expressions: str) -> tuple[int, ...]:
        """The values of expressions of whole numbers and constants, like ``TILE * 16u``, between commas.

        Raises WgslError where one is anything else.
        """
        plain = re.sub(r"\b(0[xX][\da-fA-F]+|\d+)[ui]\b", r"\1", " ".join(expressions.split())).removesuffix(",")
        try:
            return tuple(map(self._number, ast.parse(f"({plain},)", mode="eval").body.elts))
        except (SyntaxError, ValueError, ArithmeticError):
            advice = "write the number, or constants that have a value"
            raise WgslError(f"{self.name}: the value of `{plain}` is not clear: {advice}") from None

    def _number(self, node: ast.expr) -> int:
        match node:
            case ast.Constant(value=int(value)):
                return value
            case ast.Name(id=name):
                return self.value(name)
            case ast.BinOp(left, op, right) if type(op) in OPERATORS:
                return OPERATORS[type(op)](self._number(left), self._number(right))
        raise ValueError

    def part(self, number: int) -> "Listing":
        """The lines from the comment ``// number.`` up to the next part; part 0 is what precedes part 1.

        Raises ValueError where there is no such part.
        """
        starts = {0: 0} | {int(found[1]): found.start() for found in PART.finditer(self.source)}
        if number not in starts:
            raise ValueError(f"number = {number}: {self.name} has the parts {sorted(starts)}")
        text = self.source[starts[number] : starts.get(number + 1)]
        first = self.source.count("\n", 0, starts[number]) + 1
        return Listing(text.rstrip(), first)

    @property
    def listing(self) -> "Listing":
        """The whole source, for display."""
        return Listing(self.source.rstrip(), 1)


@dataclass(frozen=True)
class Listing:
    """Source text that a notebook shows with line numbers."""

    text: str
    first_line: int
    language: str = "rust"  # what JupyterLab and GitHub color WGSL most like

    @classmethod
    def of(cls, function: Callable) -> "Listing":
        """The source of a Python function, with the line numbers of its file."""
        lines, first = inspect.getsourcelines(function)
        return cls("".join(lines).rstrip(), first, "python")

    def function(self, name: str) -> "Listing":
        """The lines of one WGSL function; ValueError where there is none of that name."""
        for found in re.finditer(r"^fn (\w+)\(.*?^}", self.text, re.DOTALL | re.MULTILINE):
            if found[1] == name:
                return Listing(found[0], self.first_line + self.text.count("\n", 0, found.start()))
        raise ValueError(f"name = {name!r}: no such function in these lines")

    def __repr__(self) -> str:
        lines = enumerate(self.text.split("\n"), self.first_line)
        return "\n".join(f"{number:3}  {line}".rstrip() for number, line in lines)

    def _repr_markdown_(self) -> str:
        return f"```{self.language}\n{self!r}\n```"


def versions(operation: str) -> tuple[str, ...]:
    """The versions of an operation, simplest first: the file stems of its folder."""
    return tuple(sorted(path.stem for path in (KERNELS / operation).glob("*.wgsl")))


def load(operation: str, version: str) -> Kernel:
    """The kernel in ``kernels/<operation>/<version>.wgsl``, read again after the file has changed.

    Raises ValueError where there is no such version; the message lists the versions that exist.
    """
    path = f"{KERNELS}/{operation}/{version}.wgsl"  # joined as text: every call of a public function comes here
    try:
        return _read(path, os.stat(path).st_mtime_ns)
    except OSError:
        listed = ", ".join(versions(operation)) or "no kernels"
        raise ValueError(f"kernel = {version!r}: {operation} has {listed}") from None


@cache
def _read(path: str, modified: int) -> Kernel:
    file = Path(path)
    return Kernel(file.read_text(encoding="utf-8"), f"{file.parent.name}/{file.stem}")
