"""The index sets of the pictures equal what the kernels read, product by product, as probes on the GPU show."""

from dataclasses import replace
from math import prod

import numpy as np
import pytest
from problems import launched, rungs_of

from helpers import gpu, regions, wgsl
from helpers.regions import Meeting
from helpers.shapes import ConvShape
from helpers.wgsl import Kernel

SHAPES = [
    pytest.param(ConvShape(1, 1, 5, 5, 1, 3, 3), id="the 5x5 image of the lesson"),
    pytest.param(ConvShape(2, 2, 5, 7, 2, 3, 2), id="batch and rectangles"),
    pytest.param(ConvShape(1, 2, 4, 5, 1, 3, 3, 1, 1, 2), id="padding"),
    pytest.param(ConvShape(2, 1, 7, 8, 2, 2, 3, 2, 1, 0), id="stride"),
    pytest.param(ConvShape(1, 1, 7, 6, 1, 2, 2, 3, 3, 3), id="stride over kernel, padding over kernel"),
]
every_shape = pytest.mark.parametrize("shape", SHAPES)
every_kernel = pytest.mark.parametrize("kernel", rungs_of("conv2d_grad_weight"), ids=lambda kernel: kernel.rung)

# --- What a weight meets --------------------------------------------------------------------------------


def meetings_on_the_gpu(shape: ConvShape, kernel: Kernel) -> dict[tuple[int, int, int], list[Meeting]]:
    """What each weight (ci, kh, kw) meets, found by probing a kernel, in the order n, oh, ow.

    Each pixel of the input holds its own number, 1, 2, 3, ... Output channel number i has a grad_output of 1 at
    output position i and 0 elsewhere, so its weights' gradients name the pixel that each met there; 0 says none.
    One launch asks for every position.
    """
    outputs = [(n, oh, ow) for n, _, oh, ow in np.ndindex(*replace(shape, out_channels=1).output)]
    probes = replace(shape, out_channels=len(outputs))
    grad_output = np.zeros(probes.output, np.float32)
    for channel, (n, oh, ow) in enumerate(outputs):
        grad_output[n, channel, oh, ow] = 1
    numbers = np.arange(1, prod(shape.input) + 1, dtype=np.float32).reshape(shape.input)
    named = launched(kernel, probes, [grad_output, numbers])
    found = {tap: [] for tap in np.ndindex(shape.weight[1:])}
    for channel, *tap in np.argwhere(named):
        n, ci, ih, iw = np.unravel_index(int(named[channel, *tap]) - 1, shape.input)
        assert (n, ci) == (outputs[channel][0], tap[0]), "a weight met another image or channel"
        found[tuple(tap)].append(Meeting(*outputs[channel], int(ih), int(iw)))
    return found


@every_shape
@every_kernel
def test_a_weight_meets_what_the_kernel_reads(shape, kernel):
    for (_, kh, kw), meetings in meetings_on_the_gpu(shape, kernel).items():
        assert regions.weight_meets(shape, kh, kw) == meetings


@every_kernel
def test_meetings_off_by_one_would_be_seen(kernel):
    shape = ConvShape(2, 1, 5, 6, 1, 3, 2, 1, 1, 1)
    true = meetings_on_the_gpu(shape, kernel)
    assert regions.weight_meets(shape, 0, 1) != true[0, 0, 0]
    assert regions.weight_meets(replace(shape, padding_h=2, in_h=3), 0, 0) != true[0, 0, 0]
    assert regions.weight_meets(replace(shape, stride=2), 0, 0) != true[0, 0, 0]


# --- What a thread does ---------------------------------------------------------------------------------


@every_shape
def test_a_thread_owns_the_weight_that_it_writes(shape):
    """Rung 1 writes ``grad_weight[index]``; its own decoding of the index is what the gradient's values prove."""
    owners = [regions.weight_of_thread(shape, index) for index in range(256)]
    weights = list(np.ndindex(shape.weight))
    assert owners[: len(weights)] == weights
    assert set(owners[len(weights) :]) == {None}


def partial_sums(shape: ConvShape, values: np.ndarray, smallest_half: int) -> list[int]:
    """The partial sums of a weight's 256 threads, as the kernel's tree leaves them after it folded `smallest_half`.

    The kernel is the real one, but every thread writes its partial sum at the end, not thread 0 alone; 256 output
    channels would be its weights, and only the first workgroup is launched.
    """
    real = wgsl.load("conv2d_grad_weight", "2_workgroup_per_weight")
    tree, _ = real.source.split("  // 4. ")
    tree = tree.replace("half > 0u", f"half >= {smallest_half}u")
    kernel = Kernel(tree + "  grad_weight[thread] = partial[thread];\n}\n")
    buffers = gpu.upload(values, "grad_output"), gpu.upload(np.ones(shape.input, np.float32), "input")
    written = gpu.empty(4 * 256, "partial sums")
    gpu.run(gpu.Pass(kernel, (*buffers, written, gpu.uniform(shape.params())), (1, 1, 1)))
    return gpu.read(written, (256,)).astype(int).tolist()


@pytest.mark.parametrize(
    "shape", [ConvShape(1, 1, 7, 9, 1, 1, 1), ConvShape(2, 1, 17, 19, 1, 1, 1), ConvShape(3, 1, 21, 24, 1, 1, 1)]
)
def test_threads_share_the_products_and_fold_them_as_drawn(shape):
    values = np.random.default_rng(0).integers(0, 1000, shape.output).astype(np.float32)
    products = values.ravel().astype(int)  # input and weight count 1: a product is its grad_output
    shares = [int(products[regions.products_of_thread(shape, t, 256)].sum()) for t in range(256)]
    steps = regions.tree_steps(shares)
    assert [len(step) for step in steps] == [256, 128, 64, 32, 16, 8, 4, 2, 1]
    assert partial_sums(shape, values, 256) == steps[0]
    for step in steps[1:]:
        assert partial_sums(shape, values, len(step))[: len(step)] == step
    assert steps[-1] == [products.sum()]
