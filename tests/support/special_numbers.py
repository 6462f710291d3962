"""NaN and infinity: numbers to try, what is expected of them by PyTorch's rules, and the judge of a version."""

import numpy as np

from helpers.operations.harness import Array, Tensors, launched
from helpers.operations.harness import simulated as simulated_with_traces
from helpers.operations.network.shapes import LossShape, PoolShape
from helpers.operations.operation import Shape
from wgsl import Kernel

NAN, INF = np.nan, np.inf


def simulated(kernel: Kernel, shape: Shape, tensors: Tensors) -> tuple[Array, ...]:
    """The outputs by the simulator."""
    return simulated_with_traces(kernel, shape, tensors)[0]


def require(kernel: Kernel, shape: Shape, tensors: Tensors, *wanted: Array | None) -> None:
    """Raise AssertionError unless a version's outputs are these; None may be anything.

    To simulate a version that is specialized takes seconds, so it runs on the adapter alone.
    """
    runs = [launched] if kernel.specialized else [launched, simulated]
    for run in runs:
        for got, want in zip(run(kernel, shape, tensors), wanted, strict=True):
            if want is not None:
                message = f"{kernel.name}, {run.__name__}"
                np.testing.assert_allclose(got, np.reshape(want, got.shape), rtol=1e-5, err_msg=message)


WINDOWS = [  # 2 x 2 pixels, their maximum, and which of them takes the gradient
    ([-INF, -INF, -INF, -INF], -INF, 0),
    ([-INF, -INF, -INF, -3e38], -3e38, 3),
    ([NAN, 1, 2, 3], NAN, 0),
    ([1, NAN, 2, 3], NAN, 1),
    ([NAN, 1, NAN, 2], NAN, 2),
    ([NAN, NAN, NAN, NAN], NAN, 3),
    ([INF, NAN, INF, 1], NAN, 1),
    ([-INF, -INF, -INF, NAN], NAN, 3),
    ([1, INF, INF, 2], INF, 1),
    ([-INF, INF, -INF, INF], INF, 1),
    ([0, -0.0, 0, -0.0], 0, 0),
    ([1, 3, 3, 2], 3, 1),
]


def pools() -> tuple[PoolShape, Array, Array, Array, Array]:
    """All windows as channels: shape, input, output, its gradient, and the gradient of the input."""
    shape = PoolShape(1, len(WINDOWS), 2, 2, 2)
    pixels, output, taken = (np.float32(column) for column in zip(*WINDOWS, strict=True))
    grad_output = np.arange(1, len(WINDOWS) + 1, dtype=np.float32)
    grad_input = np.zeros((len(WINDOWS), 4), np.float32)
    grad_input[np.arange(len(WINDOWS)), taken.astype(int)] = grad_output
    inner, outer = shape.of("input"), shape.of("output")
    return shape, pixels.reshape(inner), output.reshape(outer), grad_output.reshape(outer), grad_input.reshape(inner)


ROWS = [  # logits of which the first one is the right answer, their loss, and the gradient of the loss
    ([NAN, 0, 1], NAN, [NAN] * 3),
    ([0, NAN, 1], NAN, [NAN] * 3),
    ([INF, 0, 1], NAN, [NAN] * 3),
    ([0, INF, 1], NAN, [NAN] * 3),
    ([INF, INF, INF], NAN, [NAN] * 3),
    ([INF, -INF, 0], NAN, [NAN] * 3),
    ([-INF, -INF, -INF], NAN, [NAN] * 3),
    ([NAN, INF, -INF], NAN, [NAN] * 3),
    ([-INF, 0, 1], INF, [-1, 1 / (1 + np.e), np.e / (1 + np.e)]),
    ([0, -INF, 1], np.log(1 + np.e), [-np.e / (1 + np.e), 0, np.e / (1 + np.e)]),
    ([0, -INF, -INF], 0, [0, 0, 0]),
]


def rows() -> tuple[LossShape, Tensors, Array, Array]:
    """All rows as a batch: shape, inputs, losses, and the gradient of their mean."""
    logits, losses, grads = (np.float32(column) for column in zip(*ROWS, strict=True))
    tensors = {"logits": logits, "labels": np.zeros(len(ROWS), np.uint32)}
    return LossShape(*logits.shape), tensors, losses, grads / len(ROWS)
