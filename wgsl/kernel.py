"""Kernels as text, and what they declare."""

import inspect
import re
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any, NamedTuple, TypeVar

from wgsl.arguments import check_finite, check_size
from wgsl.diagnostics import Lines, NotWgsl, Span, Unsupported
from wgsl.suggestions import wgsl_error
from wgsl.syntax import tree
from wgsl.syntax.parser import check_comments, parsed
from wgsl.syntax.tokens import Word, without_bodies, without_comments
from wgsl.types.declarations import Declarations
from wgsl.types.kinds import byte_count, on_three_axes
from wgsl.types.memory import HANDLE, check_bindings, numbers, placed
from wgsl.types.names import Stage

PART = re.compile(r"^ *// (\d+)\. ", re.MULTILINE)
SHARED = re.compile(r"^// --- Shared with other files: (\w+) ---$", re.MULTILINE)  # above a block of `kernels/shared`
SECTION = re.compile(r"^// --- (Shared with other files|In this file only): (\w+) ---$", re.MULTILINE)
Read = TypeVar("Read")


class Binding(NamedTuple):
    """A variable of a kernel: its address space and access without blanks, its name, and its type as it is written.

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

    @property
    def module(self) -> tree.Module:
        """The syntax tree of the whole text. Raises WgslError where it is not WGSL, as the compiler does."""
        return self.read(lambda: parsed(self.source))

    @cached_property
    def outline(self) -> Declarations:
        """The declarations of the text, with its constants' values; a function is without its body.

        A text that is specialized for a layer is long, and nearly all of it is in the bodies.
        """
        return self.read(self._outlined)

    def _outlined(self) -> Declarations:
        check_comments(self.source)  # `code` has none
        return Declarations(parsed(without_bodies(self.code)), dict(self.constants))

    def read(self, read: Callable[[], Read]) -> Read:
        """Return what `read` makes of the text. Raises WgslError, with place, cause and cure, where it is refused."""
        try:
            return read()
        except (NotWgsl, Unsupported) as error:
            raise wgsl_error(self, error) from None

    def find(self, name: str) -> Any:
        """Return the meaning of a name that the text declares. Raises WgslError where its declaration is wrong."""
        return self.read(lambda: self.outline.find(name))

    @property
    def entry_points(self) -> tuple[str, ...]:
        """The names of the functions that a dispatch can start, in the order of the text."""
        return tuple(str(name) for name, node in self.outline.nodes.items() if tree.attribute(node, "compute"))

    @cached_property
    def _placed(self) -> dict[Word, tuple[str, str, int, int]]:
        """Address space, access, group and binding of each variable that is declared outside of the functions."""
        nodes = {name: node for name, node in self.outline.nodes.items() if getattr(node, "kind", "") == "var"}
        return self.read(lambda: {name: placed(node, self.outline.scope) for name, node in nodes.items()})

    @cached_property
    def bindings(self) -> tuple[Binding, ...]:
        """The variables at the bindings 0, 1, 2, ... of group 0.

        Raises WgslError where a binding is in another group, or a number is left out, or there is a texture.
        """
        names = {}
        variables = {}
        for name, (space, access, *place) in self._placed.items():
            if place[1] >= 0:
                type = self.outline.nodes[name].type
                if space == HANDLE:
                    raise wgsl_error(self, Unsupported("textures", type.at, name=type.name))
                written = Lines(self.code).quoted(type) if type else ""
                names[*place] = name
                variables[place[1]] = Binding(f"storage,{access}" if space == "storage" else space, str(name), written)
        self.read(lambda: check_bindings(names, Span(0, 0)))
        return tuple(variables[number] for number in sorted(variables))

    @cached_property
    def buffer_types(self) -> tuple[str, ...]:
        """WebGPU's buffer type at each binding of group 0.

        Raises WgslError as `bindings` does.
        """
        kinds = {"uniform": "uniform", "storage,read_write": "storage"}
        return tuple(kinds.get(variable.space, "read-only-storage") for variable in self.bindings)

    def workgroup_size(self, entry_point: str) -> tuple[int, int, int]:
        """Threads of a workgroup in x, y and z; (0, 1, 1) where the source declares no such entry point."""
        attribute = tree.attribute(self.outline.nodes.get(entry_point), "workgroup_size")
        if attribute is None:
            return 0, 1, 1
        return on_three_axes(self.read(lambda: numbers(attribute, self.outline.scope, Stage.OVERRIDE)))

    def threads(self, entry_point: str) -> int:
        """Threads in one workgroup of an entry point; 0 where the source declares no such entry point."""
        return prod(self.workgroup_size(entry_point))

    @property
    def workgroup_bytes(self) -> int:
        """Bytes of the workgroup memory that the kernel declares; what the simulator does not run counts as none."""
        total = 0
        for name, (space, *_) in self._placed.items():
            if space == "workgroup":
                with suppress(NotWgsl, Unsupported):
                    total += byte_count(self.outline.find(name).type)
        return total

    @property
    def specialized(self) -> bool:
        """True for the file of a version whose text is written again for each layer, with its sizes as constants."""
        return "Params" not in self.outline.nodes

    @property
    def version(self) -> str:
        """The version that this kernel is, or was before an edit: the file stem in its name."""
        return self.name.rpartition("/")[2]

    def with_constants(self, **constants: float) -> "Kernel":
        """The same kernel with other values for its constants.

        Those of `override` are set when its pipeline is made, those of `const` are written into the text that is
        specialized for a layer.

        Raises ValueError for a name that the source declares neither way.
        """
        for name, value in constants.items():
            check_finite(name, value)
            if self.kind(name) == "const":
                check_size(name, value)
            elif not self.kind(name):
                raise ValueError(f"{name} = {value}: {self.name} has no `override {name}` and no `const {name}`")
        return replace(self, constants=tuple(sorted({**dict(self.constants), **constants}.items())))

    def edit(self, old: str, new: str) -> "Kernel":
        """The same kernel with one piece of its text replaced.

        Raises ValueError where `old` does not occur in the source exactly once, TypeError where either is no text.
        """
        for name, text in ("old", old), ("new", new):
            if not isinstance(text, str):
                raise TypeError(f"{name} is a {type(text).__name__}: it must be text")
        count = self.source.count(old)
        if count != 1:
            raise ValueError(f"old = {old!r:.100}: {self.name} contains it {count} times; it must occur exactly once")
        return replace(self, source=self.source.replace(old, new))

    def paste(self, mark: str, text: str) -> "Kernel":
        """The same kernel with a learner's text in place of a mark, on lines of its own, which `pasted` remembers.

        Raises ValueError where the mark does not occur in the source exactly once.
        """
        first = self.source.partition(mark)[0].count("\n") + 2
        return replace(self.edit(mark, f"\n{text}\n"), pasted=range(first, first + text.count("\n") + 1))

    def kind(self, name: str) -> str:
        """Return "override" or "const", as a constant is declared; "" where the text declares none of this name."""
        kind = getattr(self.outline.nodes.get(name), "kind", "")
        return kind if kind in ("override", "const") else ""

    def value(self, name: str) -> int:
        """The value of an `override` or `const`.

        Raises ValueError where the source declares none of this name, WgslError where it has no value.
        """
        if not self.kind(name):
            raise ValueError(f"name = {name!r}: {self.name} has no such `override` or `const`")
        return self.find(name).value.leaves[0]

    def number(self, node: tree.Expression) -> int:
        """The value of an expression of whole numbers and constants. Raises WgslError where it is anything else."""
        attribute = tree.Attribute(node.at, node.end, Word("a loop"), (node,))
        return self.read(lambda: numbers(attribute, self.outline.scope, Stage.OVERRIDE))[0]

    def part(self, name: int | str) -> "Listing":
        """The lines from the comment ``// name.`` up to the next part; part 0 is what precedes all others.

        The parts that have no number are the sections of a file, each with the name in its line: the shared blocks, and
        what only this file has between them.

        Raises ValueError where there is no such part.
        """
        starts = {0: 0} | {int(match[1]): match.start() for match in PART.finditer(self.source)}
        starts |= {match[2]: match.start() for match in SECTION.finditer(self.source)}
        if name not in starts:
            raise ValueError(f"name = {name!r}: {self.name} has the parts {[*starts]}")
        end = min((start for start in starts.values() if start > starts[name]), default=None)
        first = self.source.count("\n", 0, starts[name]) + 1
        return Listing(self.source[starts[name] : end].rstrip(), first)

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
        for match in re.finditer(r"^fn (\w+)\(.*?^}", self.text, re.DOTALL | re.MULTILINE):
            if match[1] == name:
                return Listing(match[0], self.first_line + self.text.count("\n", 0, match.start()))
        raise ValueError(f"name = {name!r}: no such function in these lines")

    def __repr__(self) -> str:
        lines = enumerate(self.text.split("\n"), self.first_line)
        return "\n".join(f"{number:3}  {line}".rstrip() for number, line in lines)

    def _repr_markdown_(self) -> str:
        return f"```{self.language}\n{self!r}\n```"
