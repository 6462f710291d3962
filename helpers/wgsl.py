"""Kernels as text: load them from `kernels/`, read their parts, and say where a compiler found a mistake."""

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache, cached_property
from math import prod
from pathlib import Path

from helpers.arguments import check_size

KERNELS = Path(__file__).resolve().parents[1] / "kernels"
ATTRIBUTE = r"@\w+\s*\([^)]*\)\s*"
BINDING = re.compile(rf"((?:{ATTRIBUTE})+)var\s*<\s*(uniform|storage)\s*(?:,\s*(\w+)\s*)?,?\s*>")
ENTRY_POINT = re.compile(r"@workgroup_size\s*\(([^)]*)\)[^{;]*?\bfn\s+(\w+)")
COMMENT = re.compile(r"//[^\n]*|/\*(?:(?!/\*|\*/).)*\*/", re.DOTALL)
SIZES = {"f32": 4, "u32": 4, "i32": 4, "vec2f": 8, "vec3f": 16, "vec4f": 16}  # bytes of an array's element
TYPES = {"Sint, width: 4": "i32", "Uint, width: 4": "u32", "Float, width: 4": "f32", "Bool, width: 1": "bool"}
PART = re.compile(r"^ *// (\d+)\. ", re.MULTILINE)


class WgslError(ValueError):
    """A kernel that does not compile: where, and what the compiler expected."""

    def _render_traceback_(self) -> list[str]:
        """What IPython shows: the message alone, without the launcher's frames above it."""
        return [f"{type(self).__name__}: {self}"]


@dataclass(frozen=True)
class Kernel:
    """A WGSL source with the values of its `override` constants.

    `name` is what messages call it: ``conv2d_grad_weight/1_thread_per_weight`` for a file, or any words for a
    text written in a notebook cell.
    """

    source: str
    name: str = "your kernel"
    constants: tuple[tuple[str, float], ...] = ()

    @cached_property
    def code(self) -> str:
        """The source without its comments."""
        code, found = self.source, 1
        while found:  # block comments nest: the inner ones go first
            code, found = COMMENT.subn(" ", code)
        return code

    @cached_property
    def bindings(self) -> tuple[str, ...]:
        """The buffer type at each binding of group 0, in WebGPU's words, as the source declares it.

        Raises WgslError where the bindings are not 0, 1, 2, ...
        """
        kinds = {}
        for attributes, space, access in BINDING.findall(self.code):
            (number,) = re.findall(r"@binding\s*\(\s*(\d+)", attributes) or [-1]
            storage = "storage" if access == "read_write" else "read-only-storage"
            kinds[int(number)] = "uniform" if space == "uniform" else storage
        if sorted(kinds) != list(range(len(kinds))) or not kinds:
            raise WgslError(f"{self.name}: its bindings are {sorted(kinds)}; they must be 0, 1, 2, ... in group 0")
        return tuple(kinds[number] for number in sorted(kinds))

    def threads(self, entry_point: str) -> int:
        """Invocations in one workgroup of an entry point; 0 where the source declares no such one."""
        sizes = {name: size for size, name in ENTRY_POINT.findall(self.code)}
        return prod(self.number(size) for size in sizes.get(entry_point, "0").split(",") if size.strip())

    @property
    def workgroup_bytes(self) -> int:
        """Workgroup memory that the kernel's arrays of numbers and vectors take."""
        types = re.findall(r"var\s*<\s*workgroup\s*>\s*\w+\s*:\s*([^;]+);", self.code)
        return sum(self._bytes(kind.strip()) for kind in types)

    def _bytes(self, kind: str) -> int:
        array = re.fullmatch(r"array\s*<(.*),([^,<>]*)>", kind, re.DOTALL)
        return self._bytes(array[1].strip()) * self.number(array[2]) if array else SIZES.get(kind, 0)

    @property
    def version(self) -> str:
        """The version that it is, or was before it was edited: the file stem in its name."""
        return self.name.rpartition("/")[2]

    def with_constants(self, **constants: int) -> "Kernel":
        """The same source with other values for its `override` constants.

        Raises ValueError for a name that the source does not declare as `override`.
        """
        for name, value in constants.items():
            check_size(name, value)
            if not re.search(rf"\boverride {name}\b", self.code):
                raise ValueError(f"{name} = {value}: {self.name} has no `override {name}`")
        return replace(self, constants=tuple(sorted({**dict(self.constants), **constants}.items())))

    def edit(self, old: str, new: str) -> "Kernel":
        """The kernel with one piece of its text replaced, to see what then goes wrong.

        Raises ValueError where `old` does not occur in the source exactly once.
        """
        if self.source.count(old) != 1:
            raise ValueError(
                f"old = {old!r}: {self.name} contains it {self.source.count(old)} times; it must occur exactly once"
            )
        return replace(self, source=self.source.replace(old, new))

    def value(self, name: str) -> int:
        """The value of an `override` or `const` of the kernel.

        Raises ValueError where the source declares no such one.
        """
        written = re.search(rf"\b(?:override|const)\s+{name}\b[^=;]*=([^;]*);", self.code)
        if not written:
            raise ValueError(f"name = {name!r}: {self.name} has no such `override` or `const`")
        return dict(self.constants).get(name) or self.number(written[1])

    def number(self, expression: str) -> int:
        """A whole number that the kernel writes as a product of numbers and constants, like ``TILE * 16u``."""
        factors = [factor.strip() for factor in expression.split("*")]
        return prod(int(f.rstrip("ui")) if f[:1].isdigit() else self.value(f) for f in factors)

    def part(self, number: int) -> "Listing":
        """The piece from the comment ``// number.`` to the next one; 0 is all that stands before the first."""
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
    """Source text that a notebook shows with the line numbers of its file."""

    text: str
    first_line: int
    language: str = "rust"  # what JupyterLab and GitHub color WGSL most like

    @classmethod
    def of(cls, function: Callable) -> "Listing":
        """The source of a Python function, with the line numbers of its module."""
        lines, first = inspect.getsourcelines(function)
        return cls("".join(lines).rstrip(), first, "python")

    def __repr__(self) -> str:
        lines = enumerate(self.text.split("\n"), self.first_line)
        return "\n".join(f"{number:3}  {line}".rstrip() for number, line in lines)

    def _repr_markdown_(self) -> str:
        return f"```{self.language}\n{self!r}\n```"


def versions(operation: str) -> tuple[str, ...]:
    """The versions of an operation, simplest first: the file stems of its folder."""
    return tuple(sorted(path.stem for path in (KERNELS / operation).glob("*.wgsl")))


def load(operation: str, version: str) -> Kernel:
    """The kernel in ``kernels/<operation>/<version>.wgsl``, as the file is now.

    Raises ValueError where there is no such version, and names those that there are.
    """
    path = KERNELS / operation / f"{version}.wgsl"
    try:
        return _read(path, path.stat().st_mtime_ns)
    except OSError:
        listed = ", ".join(versions(operation)) or "no kernels"
        raise ValueError(f"kernel = {version!r}: {operation} has {listed}") from None


@cache
def _read(path: Path, changed: int) -> Kernel:
    return Kernel(path.read_text(encoding="utf-8"), f"{path.parent.name}/{path.stem}")


def explain_compile_error(kernel: Kernel, message: str) -> str:
    """Shorten a compiler's message to the kernel's name, line and column, the reason, and the lines with their carets.

    Parameters
    ----------
    kernel : Kernel
        The source that was compiled.
    message : str
        What wgpu raised. The place stands in it as ``┌─ wgsl:3:14``; under it naga draws the lines behind ``│`` and
        writes notes behind ``=``.
    """
    for theirs, wgsl in TYPES.items():
        message = message.replace(f"Scalar(Scalar {{ kind: {theirs} }})", wgsl).replace(
            f"Scalar {{ kind: {theirs} }}", wgsl
        )
    message = re.sub(r"Vector \{ size: Tri, scalar: (\w+) \}", r"vec3<\1>", message)
    unlike = r"The type of \[\d+\] doesn't match the type stored in \[\d+\]"
    message = re.sub(unlike, "the two sides of = differ in type; is an index like [i] missing?", message)
    returned = r"The `return` expression [^\n]* does not match the declared return type [^\n]*"
    message = re.sub(returned, "what is returned has another type than declared; is 0 written for 0.0?", message)
    message = message.replace('found ""', "found the end of the text; is a } missing?")
    message = re.sub(r"\[\d+\] \(of type ([\w<>]+)\)", r"\1", message)
    lines = [re.sub(r" naga::.*", "", line.rstrip())[:160] for line in message.splitlines()]
    place = re.search(r"┌─ [^\n]*:(\d+):(\d+)", message)
    notes = [line.strip("= ") for line in lines if re.match(r"\s+= ", line) and not re.search(r"\[\d+\] is inv", line)]
    headline = re.search(r"Shader '[^']*' parsing error: (.*)", message)
    reasons = [headline[1]] if headline else []
    if not place:
        boilerplate = ("Validation Error", "Caused by:", "In wgpu")
        prose = [line.strip() for line in lines if line.strip() and not line.strip().startswith(boilerplate)]
        return f"{kernel.name} does not compile: {'; '.join(dict.fromkeys(prose))}"
    drawn = [line for line in lines if re.match(r"\s*\d* *│.*\S", line) and line.strip() != "│"]
    reason = "; ".join(dict.fromkeys(reasons + notes)) or lines[0]
    return "\n".join([f"{kernel.name} does not compile, line {place[1]}, column {place[2]}: {reason}", *drawn])
