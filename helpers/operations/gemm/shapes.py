"""The sizes of one fully connected layer, its activation, and the rules that they must keep."""

from dataclasses import dataclass

import numpy as np

from helpers.checks.arguments import keep_sizes
from helpers.operations.activations import ACTIVATIONS, check_activation


@dataclass(frozen=True)
class GemmShape:
    """Sizes of ``output = act(a @ b + bias)``: `a` is (batch, M, K), `b` (K, N), `output` (batch, M, N).

    With `b_per_item` each item has its own `b`, (batch, K, N); with `per_item` each has its own `d_b`, which
    otherwise is their sum.

    Raises
    ------
    TypeError
        A size is not an int, or one of the two flags is not a bool.
    ValueError
        A size is out of range, or there is no such activation.
    """

    m: int
    k: int
    n: int
    batch_size: int = 1
    activation: str = "none"
    b_per_item: bool = False
    per_item: bool = False

    def __post_init__(self) -> None:
        keep_sizes(self, "m", "k", "n", "batch_size")
        for name in ("b_per_item", "per_item"):
            value = getattr(self, name)
            if not isinstance(value, bool):
                raise TypeError(f"{name} = {value!r}: it must be True or False")
        check_activation(self.activation)

    def of(self, tensor: str) -> tuple[int, ...]:
        """The shape of a tensor, by its name: a, b, bias, output, grad, grad_pre, d_a, d_b or d_bias."""
        if tensor in ("a", "d_a"):
            return self.batch_size, self.m, self.k
        if tensor in ("bias", "d_bias"):
            return (self.n,)
        if tensor in ("b", "d_b"):
            per_item = self.per_item if tensor == "d_b" else self.b_per_item
            return (self.batch_size, self.k, self.n) if per_item else (self.k, self.n)
        return self.batch_size, self.m, self.n

    def params(self) -> tuple[int, ...]:
        """The eight u32 that all kernels of the layer take, in their struct's order."""
        b_stride = self.k * self.n if self.b_per_item else 0
        d_b_stride = self.k * self.n if self.per_item else 0
        activation = ACTIVATIONS.index(self.activation)
        return self.m, self.k, self.n, self.batch_size, activation, b_stride, d_b_stride, 0


def bias_alone(x: np.ndarray, activation: str) -> tuple[GemmShape, dict[str, np.ndarray]]:
    """A layer whose pre-activations are exactly `x` (n,), under an upstream gradient of ones: d_bias is act'(x)."""
    shape = GemmShape(1, 1, len(x), activation=activation)
    tensors = {name: np.zeros(shape.of(name), np.float32) for name in ("a", "b")}
    return shape, {**tensors, "bias": np.float32(x), "grad": np.ones(shape.of("grad"), np.float32)}
