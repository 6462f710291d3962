"""The adjoint identity in one small case: kernels that the simulator runs, and data that hide a mistake."""

from collections.abc import Callable
from functools import cache
from typing import NamedTuple

import numpy as np

from helpers.convolution.reference import conv2d
from helpers.convolution.shapes import ConvShape
from helpers.gradient_checks.harness import Tensors, operation_of, simulated
from helpers.gradient_checks.wrong_kernels import INPUT_1, WEIGHT_1, named
from helpers.kernels import load

SHAPE = ConvShape(2, 1, 3, 4, 1, 2, 2)
KERNELS = {"grad_weight": WEIGHT_1, "grad_input": INPUT_1}
MISTAKES = (  # of the kernels 1, 2, ...; kernel 0 has none
    ("grad_weight", "filter flipped"),
    ("grad_weight", "batch not summed"),
    ("grad_weight", "last output row left out"),
    ("grad_input", "every image is image 0"),
    ("grad_input", "correlated, not flipped"),
    ("grad_input", "last filter column left out"),
)


def _random() -> Tensors:
    random, names = np.random.default_rng(56), ("input", "weight", "grad_output")
    return {name: random.integers(-1, 4, SHAPE.of(name)).astype(np.float32) for name in names}


def _equal_rows() -> Tensors:
    tensors = _random()
    return tensors | {"weight": np.repeat(tensors["weight"][:, :, :1], 2, axis=2)}


def _ones() -> Tensors:
    return {name: np.ones_like(tensor) for name, tensor in _random().items()}


def _one_image() -> Tensors:
    tensors, first = _random(), np.float32([1, 0]).reshape(2, 1, 1, 1)
    return tensors | {name: tensors[name] * first for name in ("input", "grad_output")}


DATA: dict[str, Callable[[], Tensors]] = {
    "random numbers": _random,
    "a filter with two equal rows": _equal_rows,
    "all ones": _ones,
    "zeros in image 1": _one_image,
}


class Case(NamedTuple):
    """What comes out of two kernels, and what should."""

    mistake: str  # "" where both kernels are right
    gradient: str  # the one with the mistake
    tensors: Tensors
    output: np.ndarray
    got: dict[str, np.ndarray]
    right: dict[str, np.ndarray]

    @property
    def loss(self) -> int:
        """<conv2d(x, w), grad_output>."""
        return int(np.vdot(self.output, self.tensors["grad_output"]))

    def dot(self, gradient: str) -> int:
        """<w, grad_weight> or <x, grad_input>, with the gradient that came out."""
        return int(np.vdot(self.tensors[gradient.removeprefix("grad_")], self.got[gradient]))


@cache
def case(kernel: int, data: int) -> Case:
    """One of the kernels 0 to 6 on one kind of data, by its place in DATA."""
    tensors = list(DATA.values())[data]()
    gradient, mistake = MISTAKES[kernel - 1] if kernel else ("", "")
    got, right = {}, {}
    for name, version in KERNELS.items():
        run = named(version, mistake).wrong if name == gradient else load(*version.split("/"))
        (got[name],), _ = simulated(run, SHAPE, tensors)
        (right[name],) = operation_of(run).right(SHAPE, tensors)
    return Case(mistake, gradient, tensors, conv2d(tensors["input"], tensors["weight"]), got, right)
