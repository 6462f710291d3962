"""Vertex and fragment shaders, read as programs that are checked and never run."""

from __future__ import annotations

from wgsl.syntax import tree
from wgsl.types.declarations import Declarations
from wgsl.types.program import Program
from wgsl.types.stages import check_io, check_use, parts_of, stage_of
from wgsl.types.usage import usage


def shader_of(declarations: Declarations, node: tree.Function) -> Program:
    """The program of a vertex or fragment shader. Raises NotWgsl where it uses what its stage has not."""
    stage = stage_of(node)
    check_io(node, stage, declarations.nodes, declarations.scope)
    function = declarations.find(node.name).function
    check_use(usage(function), stage, node.name)
    inputs = []
    for parameter in node.parameters:
        parts = parts_of(parameter, declarations.nodes, declarations.scope)
        inputs.append(tuple(map(_input, parts)))
    return Program(function, tuple(inputs), (1, 1, 1), (), (), ())


def _input(part: tree.Parameter) -> str:
    """The built-in value that an input holds, or its location."""
    builtin = tree.attribute(part, "builtin")
    return str(builtin.arguments[0].name) if builtin else "location"
