"""Derivatives to which not all fragments can be proven to come together, as they must.

Browsers refuse them, unless the text turns it off with `diagnostic(off, derivative_uniformity)`. It is the walk of
`uniformity`, in which a value is uniform where all fragments have the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from wgsl.types.flow import Flow
from wgsl.types.fragments import is_derivative
from wgsl.types.influence import Node, Place
from wgsl.types.program import Program
from wgsl.types.subgroup_uniformity import REFUSED, severity
from wgsl.types.uniformity import NotPortable, Uniformity

RULE = "derivative_uniformity"


class _DerivativeFlow(Flow):
    """The walk for the fragments of a draw call, of which derivatives are the only concern."""

    asks_of_derivatives = True

    def _ask(self, place: Place, node: Node) -> None:
        if is_derivative(place):
            super()._ask(place, node)


class _DerivativeUniformity(Uniformity):
    flow = _DerivativeFlow
    uniform_inputs = ()


def of_derivatives(shaders: Sequence[Program], source: str) -> Iterator[NotPortable]:
    """Yield the places in shaders that browsers refuse."""
    uniformity = _DerivativeUniformity(*shaders)
    for at, place in uniformity.refused.items():
        if not is_derivative(place.part) or severity(source, at, RULE) == REFUSED:
            yield place
