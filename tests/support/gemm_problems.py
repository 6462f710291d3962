"""What the tests of the fused layer share: problems to solve, and a launch that trusts no element of an output."""

from math import prod

import numpy as np
from hypothesis import strategies as st
from problems import whole

from helpers import check_gemm, gemm, gpu, wgsl
from helpers.check import Report
from helpers.gemm import BACKWARD, FORWARD, TENSORS, GemmShape
from helpers.wgsl import Kernel

Array = np.ndarray
Data = dict[str, Array]  # a, b, bias, grad by their names

FORWARD_KERNEL = wgsl.load(FORWARD, "1_tiled")
BACKWARD_KERNEL = wgsl.load(BACKWARD, "1_four_passes")
GUARD = np.full(64, 1234.5, np.float32)  # behind the end of an output, where no kernel may write
# Between two zeros of each sign and the ends of float32, and where float32 stops to tell exp(-x) from nothing.
EXTREMES = np.float32(
    [
        *(0.0, -0.0, 1e-38, -1e-38, 1e-3, -1e-3, 0.75, -0.75, 1.28, -1.28, 5, -5, 9, -9, 20, -20, 43, -43, 44, -44),
        *(45, -45, 86, -86, 87, -87, 88, -88, 89, -89, 100, -100, 1e4, -1e4, 1e13, -1e13, 1e30, -1e30, 3e38, -3e38),
    ]
)


@st.composite
def shapes(draw: st.DrawFn) -> GemmShape:
    """Up to three tiles along each axis, rarely full ones, with every way to store b and d_b."""
    sizes = (draw(st.integers(1, 40)) for _ in range(3))
    return GemmShape(*sizes, draw(st.integers(1, 4)), draw(st.booleans()), draw(st.booleans()))


def drawn(shape: GemmShape, draw=whole) -> Data:
    """The tensors that the backward pass reads."""
    return {name: draw(shape.of(name), seed) for seed, name in enumerate(["a", "b", "bias", "grad"])}


def bias_alone(x: Array) -> Data:
    """A layer whose pre-activations are exactly `x`, under an upstream gradient of ones: d_bias is act'(x)."""
    zeros = np.zeros((1, 1, 1), np.float32), np.zeros((1, len(x)), np.float32)
    return {"a": zeros[0], "b": zeros[1], "bias": np.float32(x), "grad": np.ones((1, 1, len(x)), np.float32)}


def shape_of(data: Data, per_item: bool = False) -> GemmShape:
    """The sizes of drawn tensors."""
    (batch, m, k), b = data["a"].shape, data["b"]
    return GemmShape(m, k, b.shape[-1], batch, b.ndim == 3, per_item)


def sizes_of(shape: GemmShape) -> dict[str, int | bool]:
    """The sizes as the resident layer takes them."""
    names = ("m", "n", "k", "batch_size", "b_per_item")
    return {name: getattr(shape, name) for name in names}


def resident(operation: str, shape: GemmShape, data: Data) -> dict[str, gpu.wgpu.GPUBuffer]:
    """The buffers of an operation in binding order; what it writes is full of NaN, with a guard behind its end."""

    def buffer(name: str) -> gpu.wgpu.GPUBuffer:
        poison = np.concatenate([np.full(prod(shape.of(name)), np.nan, np.float32), GUARD])
        return gpu.upload(data.get(name, poison), name)

    return {name: buffer(name) for name in TENSORS[operation]}


def outputs(shape: GemmShape, buffers: dict[str, gpu.wgpu.GPUBuffer], *names: str) -> tuple[Array, ...]:
    """Read tensors back; raises AssertionError where a launch wrote past the end of one."""
    found = []
    for name in names:
        count = prod(shape.of(name))
        written = gpu.read(buffers[name], (count + len(GUARD),))
        assert np.array_equal(written[count:], GUARD), f"wrote past the end of {name}"
        found.append(written[:count].reshape(shape.of(name)))
    return tuple(found)


def forward(data: Data, activation: str, kernel: Kernel | None = None) -> Array:
    """What a launch of the forward kernel writes over an output full of NaN."""
    shape = shape_of(data)
    inputs = {name: data[name] for name in ("a", "b", "bias")}
    buffers = resident(FORWARD, shape, inputs)
    gemm.launch_forward(tuple(buffers.values()), activation=activation, kernel=kernel, **sizes_of(shape))
    return outputs(shape, buffers, "output")[0]


def backward(data: Data, activation: str, per_item: bool = False, kernel: Kernel | None = None) -> tuple[Array, ...]:
    """What a launch of the four backward passes writes over gradients full of NaN: d_a, d_b, d_bias."""
    shape = shape_of(data, per_item)
    buffers = resident(BACKWARD, shape, data)
    options = {"activation": activation, "per_item": per_item, "kernel": kernel}
    gemm.launch_backward(tuple(buffers.values()), **options, **sizes_of(shape))
    return outputs(shape, buffers, "d_a", "d_b", "d_bias")


def forward_report(data: Data, activation: str, kernel: Kernel | None = None) -> Report:
    """The verdict on one forward launch."""
    inputs = (data[name] for name in ("a", "b", "bias"))
    return check_gemm.gemm_bias_act(forward(data, activation, kernel), *inputs, activation)


def require_backward(data: Data, activation: str, per_item: bool = False, kernel: Kernel | None = None) -> None:
    """Raise AssertionError unless one backward launch gave three right gradients."""
    got = backward(data, activation, per_item, kernel)
    for report in check_gemm.gemm_bias_act_backward(got, **data, activation=activation):
        report.require()
