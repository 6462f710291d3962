"""What a proof assumes: the length of each buffer, from the shape comment of its binding or from the command line."""

from __future__ import annotations

import ast
import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from helpers.simulator.proof.polynomial import Polynomial
from helpers.simulator.types.kinds import U32, Struct
from helpers.simulator.types.program import Program
from helpers.wgsl import Kernel

LONGEST = 2**30  # elements of a buffer: its bytes are a u32
MOST_GROUPS = 65_535
MEMBER = re.compile(r"^\s*(\w+)\s*:\s*u32,?\s*//\s*(\w+)\s*$", re.M)  # batch: u32,  // N
BUFFER = re.compile(r"var\s*<\s*storage[^>]*>\s*(\w+)\s*:[^;]*;\s*//\s*\(([\w\s,]*)\)")  # ...;  // (N, Co)
COMPARED = {ast.Eq: "==", ast.LtE: "<=", ast.GtE: ">=", ast.Lt: "<", ast.Gt: ">"}


@dataclass
class Assumptions:
    """`known` are unknowns with a value; each of the facts is a polynomial >= 0; `lines` say both to a reader."""

    known: dict[str, Polynomial] = field(default_factory=dict)
    facts: list[Polynomial] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, kernel: Kernel, program: Program, where: Sequence[str]) -> Assumptions:
        """What the shape comments and the command line say, and what WebGPU guarantees."""
        made, buffers = cls(), [variable.name for variable in program.bindings if variable.space == "storage"]
        names = _members(program)
        for text in where:
            made._assume(text, names, buffers)
        letters = {letter: name for name, letter in MEMBER.findall(kernel.source) if name in names}
        for name, shape in BUFFER.findall(kernel.source):
            made._shape(name, [letters.get(each.strip(), each.strip()) for each in shape.split(",")], names)
        for name in buffers:
            made._length(f"length of {name}")
        made._dispatch(program)
        return made

    def value(self, name: str) -> Polynomial:
        """The value of an unknown, which may be itself."""
        return self.known.get(name, Polynomial.unknown(name))

    def _shape(self, buffer: str, sizes: list[str], names: Sequence[str]) -> None:
        if f"length of {buffer}" in self.known or not all(size in names or size.isdigit() for size in sizes):
            return
        length = Polynomial.number(1)
        for size in sizes:
            length *= Polynomial.number(int(size)) if size.isdigit() else self.value(size)
        self.known[f"length of {buffer}"] = length
        self.lines.append(f"{buffer} has {'*'.join(sizes)} elements (the comment of its binding)")

    def _length(self, name: str) -> None:
        """A buffer has an element, so no factor of its length is 0; and it has no more than a u32 counts bytes."""
        length = self.value(name)
        self.facts += [Polynomial.number(LONGEST) - length, length - 1]
        if len(length.terms) == 1:
            self.facts += [Polynomial.unknown(each) - 1 for each in sorted(length.names)]
        self.facts = [each for each in dict.fromkeys(self.facts) if each.constant is None]

    def _dispatch(self, program: Program) -> None:
        size = program.workgroup_size
        limits = {"local_invocation_index": Polynomial.number(size[0] * size[1] * size[2])}
        for axis, threads in zip("xyz", size, strict=True):
            limits[f"local_invocation_id.{axis}"] = Polynomial.number(threads)
            limits[f"workgroup_id.{axis}"] = self.value(f"num_workgroups.{axis}")
            limits[f"num_workgroups.{axis}"] = Polynomial.number(MOST_GROUPS + 1)
        inputs = {name for names in program.inputs for name in names}
        for name, limit in limits.items():
            if name.split(".")[0] in inputs or (name.startswith("num") and "workgroup_id" in inputs):
                self.facts.append(limit - 1 - self.value(name))

    # --- The command line's --where ---------------------------------------------------------------------------

    def _assume(self, text: str, names: Sequence[str], buffers: Sequence[str]) -> None:
        """One comparison, such as ``b == k*n``."""
        try:
            tree = ast.parse(text, mode="eval").body
            (operator,), (right,) = tree.ops, tree.comparators
            sign = COMPARED[type(operator)]
            left, right = (self._polynomial(each, names, buffers) for each in (tree.left, right))
        except (SyntaxError, AttributeError, ValueError, KeyError) as error:
            rule = "it must compare two sums of products with ==, <, <=, > or >="
            raise ValueError(
                f"--where {text!r}: {rule}, of whole numbers and {', '.join([*names, *buffers])}"
            ) from error
        self.lines.append(text)
        if sign == "==" and len(left.names) == len(left.terms) == 1 and not left.names & right.names:
            self.known[next(iter(left.names))] = right
        else:
            less = {"<": [right - left - 1], "<=": [right - left], ">": [left - right - 1], ">=": [left - right]}
            self.facts += less.get(sign, [left - right, right - left])

    def _polynomial(self, node: ast.expr, names: Sequence[str], buffers: Sequence[str]) -> Polynomial:
        match node:
            case ast.Constant(value=int(number)):
                return Polynomial.number(number)
            case ast.Name(id=name) if name in names:
                return self.value(name)
            case ast.Name(id=name) if name in buffers:
                return self.value(f"length of {name}")
            case ast.Attribute(value=ast.Name(id="num_workgroups"), attr=axis) if axis in ("x", "y", "z"):
                return self.value(f"num_workgroups.{axis}")
            case ast.BinOp(left=left, op=operator, right=right):
                a, b = (self._polynomial(each, names, buffers) for each in (left, right))
                return {ast.Add: a + b, ast.Sub: a - b, ast.Mult: a * b}[type(operator)]
        raise ValueError(ast.unparse(node))


def _members(program: Program) -> list[str]:
    """The u32 members of uniform structs."""
    structs = [v.type for v in program.bindings if v.space == "uniform" and isinstance(v.type, Struct)]
    return [each.name for struct in structs for each in struct.fields if each.type == U32]
