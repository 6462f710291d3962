"""Parts of fragment shaders alone: `discard`, and derivatives, which compare neighboring fragments."""

from __future__ import annotations

from collections.abc import Sequence

from wgsl.diagnostics import NotWgsl
from wgsl.syntax import tree
from wgsl.syntax.tree import frozen
from wgsl.types.conversions import concrete, converted, scalar_of, shaped
from wgsl.types.kinds import F32, components
from wgsl.types.program import Expression, Part, Statement
from wgsl.types.textures import TextureCall

DERIVATIVES = frozenset(f"{name}{kind}" for name in ("dpdx", "dpdy", "fwidth") for kind in ("", "Coarse", "Fine"))


@frozen
class Discard(Statement):
    """``discard``."""


@frozen
class Derivative(Part):
    """A function of `DERIVATIVES`."""

    name: str
    operand: Expression


def is_derivative(part: object) -> bool:
    """Return True for what takes a derivative, such as `textureSample`, to find the level of a texture."""
    return isinstance(part, Derivative) or (isinstance(part, TextureCall) and part.implicit)


def derivative(node: tree.Call, arguments: Sequence[Expression]) -> Derivative:
    """A call of such a function."""
    name = node.callee.name
    if len(arguments) != 1:
        raise NotWgsl("count", name, name=name, wanted=1, given=len(arguments))
    value = arguments[0]
    fitting = converted(value, shaped(value.type, F32)) if components(value.type) else None
    if fitting is None or scalar_of(fitting.type) != F32:
        raise NotWgsl("argument", name, name=name, i=0, arguments=arguments, scalars=(F32,))
    return Derivative(fitting.type, node, str(name), concrete(fitting))
