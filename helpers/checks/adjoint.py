"""The adjoint identity: gradients checked by dot products, without a reference gradient.

Where the output y is linear in an argument v, the loss <y, dy> is <v, gradient>: both are the same sum of products, in
another order. So one dot product on each side decides whether a gradient can be right.
"""

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from helpers.checks.report import Array, Report, compare
from helpers.checks.tolerance import tolerance


def directions(shape: tuple[int, ...]) -> list[Array]:
    """Three random arguments, in whose directions a linear operation is judged.

    Its own one may be 0 where the mistake is, and one may by chance lie at right angles to the mistake.
    """
    return [np.random.default_rng(seed).standard_normal(shape, np.float32) for seed in range(3)]


class Identity(NamedTuple):
    """The number that <argument, gradient> must be, and the parts of its tolerance."""

    argument: Array  # the loss is linear in it
    loss: float  # <y, dy>
    total: float  # the same with absolute values: sum |terms|
    terms: int  # products in one number of the gradient
    data: tuple[Array, ...]  # the factors of the terms
    inherited: float = 0.0  # the error of the loss itself

    def allowed(self) -> Array:
        """The most by which the dot product with a right float32 gradient may differ from the loss."""
        scale = abs(self.argument).sum()
        one_more = self.terms + 1  # the dot product is rounded to float32 once more
        return tolerance(one_more, self.total, *self.data, scale=scale) + self.inherited


def compare_dots(identities: Mapping[str, Identity], gradients: Mapping[str, Array]) -> Report:
    """Check each gradient by the identity of its name. TypeError for a name without one, or for no gradient at all."""
    if not gradients or gradients.keys() - identities.keys():
        names = ", ".join(f"{name}=" for name in identities)
        raise TypeError(f"adjoint got {', '.join(gradients) or 'no gradient'}: give it one or more of {names}")
    for name, gradient in gradients.items():
        shape = identities[name].argument.shape
        if np.shape(gradient) != shape:
            return Report("adjoint", np.shape(gradient), reason=f"{name} must have the shape {shape}")
    with np.errstate(over="ignore", invalid="ignore"):  # a sum that overflows is wrong, and reported as such
        dots = [np.vdot(identities[name].argument, gradient) for name, gradient in gradients.items()]
        dots = np.array(dots, np.float32)
    losses = [identities[name].loss for name in gradients]
    allowed = [identities[name].allowed() for name in gradients]
    return compare("adjoint", dots, losses, allowed)
