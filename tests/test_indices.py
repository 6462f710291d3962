"""The index sets of the pictures equal what the kernels read: from the sets follows what they return, number by number.

The numbers are whole and random: another set of products would have another sum. Where a single cell is asked for, each
cell holds its own number, 1, 2, 3, ..., and 0 says none.
"""

import itertools
from dataclasses import replace
from math import prod
from operator import attrgetter

import numpy as np
import pytest
from support.problem_lists import problems
from support.problems import general_versions_of, versions_of

import helpers
from helpers.operations.convolution.indices import (
    input_channels_of,
    output_channels_of,
    products_of_thread,
    taps_of_output,
    taps_of_pixel,
    taps_of_weight,
    weight_of_thread,
)
from helpers.operations.convolution.shapes import ConvShape
from helpers.operations.gemm.indices import load_into_tile, tile_loads, tile_mates
from helpers.operations.gemm.operations import FORWARD
from helpers.operations.gemm.shapes import GemmShape
from helpers.operations.harness import launched
from helpers.operations.kernels import load
from wgsl import Kernel


def numbered(*shape: int) -> np.ndarray:
    """Every cell's own number, from 1."""
    return np.arange(1, prod(shape) + 1, dtype=np.float32).reshape(shape)


def whole(*shape: int) -> np.ndarray:
    """Random whole numbers, of which a kernel's sums are exact."""
    return np.random.default_rng(shape).integers(-99, 100, shape).astype(np.float32)


# --- Which elements of a convolution contribute ---------------------------------------------------------------

SHAPES = problems("index sets")
GENERAL = problems("index sets, any layer")
SETS = {  # what gives the products of one element of each result, and the loops of a kernel, the outermost first
    "conv2d": ("output", taps_of_output, attrgetter("kh", "kw")),
    "conv2d_grad_weight": ("weight", taps_of_weight, attrgetter("oh", "ow")),
    "conv2d_grad_input": ("input", taps_of_pixel, attrgetter("kh", "kw")),
}
DIRECT = {}  # the version of each operation that takes any layer
CASES = []
for operation in SETS:
    DIRECT[operation] = next(kernel for kernel in versions_of(operation) if "direct" in kernel.version)
    CASES += itertools.product(general_versions_of(operation), SHAPES)
CASES += itertools.product(DIRECT.values(), GENERAL)


def drawn(shape: ConvShape) -> dict[str, np.ndarray]:
    """The tensors of a layer."""
    tensors = {name: whole(*shape.of(name)) for name in ("input", "weight", "grad_output")}
    return tensors | {"bias": np.zeros(shape.out_channels, np.float32)}


def product(result: str, shape: ConvShape, t, input: np.ndarray, weight: np.ndarray, grad_output: np.ndarray, **_):
    """The addend of one product of places to one element of a result, in all images and channels."""
    if result == "output":
        channels = [input_channels_of(shape, co) for co in range(shape.out_channels)]
        pixels = [input[:, c, t.ih, t.iw] for c in channels]
        return np.stack([x @ w[:, t.kh, t.kw] for x, w in zip(pixels, weight, strict=True)], 1)
    if result == "weight":
        channels = [input_channels_of(shape, co) for co in range(shape.out_channels)]
        return np.stack([grad_output[:, i, t.oh, t.ow] @ input[:, c, t.ih, t.iw] for i, c in enumerate(channels)])
    channels = [output_channels_of(shape, ci) for ci in range(shape.in_channels)]
    weights = [weight[c, i % weight.shape[1], t.kh, t.kw] for i, c in enumerate(channels)]
    return np.stack([grad_output[:, c, t.oh, t.ow] @ w for c, w in zip(channels, weights, strict=True)], 1)


def summed(result: str, products_of, shape: ConvShape, other: ConvShape | None = None) -> np.ndarray:
    """A result as the sums of the products in the index sets, be they those of another shape."""
    tensors = drawn(shape)
    total = np.zeros(shape.of(result))
    for place in np.ndindex(total.shape[2:]):
        products = products_of(other or shape, *place)
        total[:, :, *place] = sum(product(result, shape, t, **tensors) for t in products)
    return total


@pytest.mark.parametrize(("kernel", "shape"), CASES, ids=str)
def test_the_products_of_an_element_are_those_that_the_kernel_adds_up(kernel, shape):
    result, products_of, loops = SETS[kernel.name.partition("/")[0]]
    (right,) = launched(kernel, shape, drawn(shape))
    assert (summed(result, products_of, shape) == right).all()
    first = products_of(shape, 0, 0)
    assert first == sorted(first, key=loops)


@pytest.mark.parametrize("operation", SETS)
def test_another_set_of_products_would_be_seen(operation):
    shape = ConvShape(2, 2, 5, 6, 2, 3, 2, 1, 1, groups=2)
    result, products_of, _ = SETS[operation]
    (right,) = launched(DIRECT[operation], shape, drawn(shape))
    for change in ({"stride": 2}, {"padding": (1, 0)}, {"padding": (0, 1)}, {"dilation": (2, 1)}):
        assert (summed(result, products_of, shape, replace(shape, **change)) != right).any()


# --- What a thread does -----------------------------------------------------------------------------------


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_thread_owns_the_weight_that_it_writes(shape):
    """Version 1 writes ``grad_weight[index]``; that it decodes the index so is what the gradient's values prove."""
    weights = list(np.ndindex(shape.weight))
    assert [weight_of_thread(shape, index) for index in range(256)] == weights + [None] * (256 - len(weights))


def products_read(kernel: Kernel, shape: ConvShape, threads: int) -> list[list[int]]:
    """The upstream gradients that each thread of a simulated workgroup reads, of the only output channel."""
    arrays = (np.ones(size, np.float32) for size in (shape.output, shape.input, shape.weight))
    buffers = *arrays, np.array(shape.params(), np.uint32)
    seen = helpers.simulate(kernel.with_constants(THREADS=threads), buffers, (1, 1, 1), outputs=()).accesses
    seen = seen[seen["binding"] == 0]
    return [seen["index"][seen["invocation"] == thread].tolist() for thread in range(threads)]


def test_threads_share_the_products_of_all_images():
    kernel = load("conv2d_grad_weight", "2_workgroup_per_weight")
    shape = ConvShape(3, 1, 7, 9, 1, 2, 2)
    shared = [list(products_of_thread(shape, thread, 8)) for thread in range(8)]
    assert products_read(kernel, shape, 8) == shared
    assert products_read(kernel.edit("i += THREADS", "i += THREADS + 1u"), shape, 8) != shared


# --- Tiles ------------------------------------------------------------------------------------------------

TILED = load("gemm_bias_act", "2_tiled").with_constants(TILE=4)


def forward(kernel: Kernel, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a @ b as a kernel computes it."""
    shape = GemmShape(len(a), len(b), b.shape[1])
    bias = np.zeros(shape.n, np.float32)
    return FORWARD.compute(shape, kernel, a=a[None], b=b, bias=bias)[0][0]


def in_slots(tile: str, first: int, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The numbers in the threads' slots of the tile "left" or "right" when the tiles begin at k = `first`.

    The kernel is the real one, but between the barriers a thread takes its own slot instead of a product.
    """
    take_slot = f"if (first == {first}u) {{ pre = {tile}[local.y * TILE + local.x]; }}"
    return forward(TILED.edit("pre += tile_product(local.y, local.x);", take_slot), a, b)


@pytest.mark.parametrize("first", [0, 4, 8])
def test_a_thread_loads_the_cells_that_are_drawn(first):
    operands = {"left": numbered(8, 10), "right": numbered(10, 8)}
    slots = {tile: in_slots(tile, first, *operands.values()) for tile in operands}
    for row, column in np.ndindex(8, 8):
        corner = row // 4 * 4, column // 4 * 4
        thread = row % 4 * 4 + column % 4
        loads = tile_loads(4, corner, first, thread)
        for (tile, matrix), (y, x) in zip(operands.items(), loads, strict=True):
            inside = y < matrix.shape[0] and x < matrix.shape[1]
            assert slots[tile][row, column] == (matrix[y, x] if inside else 0)
        assert load_into_tile("as it lies", 4, (first, corner[1]), thread) == (loads[1], thread)


def test_a_thread_reads_what_its_mates_loaded():
    """Each slot of one tile holds a power of two of its own and the other tile ones, so that a sum names its slots."""
    powers = (2.0 ** np.arange(16)).astype(np.float32).reshape(4, 4)
    ones = np.ones((4, 4), np.float32)
    from_left = forward(TILED, powers, ones)
    from_right = forward(TILED, ones, powers)
    for thread in range(16):
        assert tile_mates(4, thread) == (slots_in(from_left.flat[thread]), slots_in(from_right.flat[thread]))


def slots_in(total: float) -> list[int]:
    """The slots whose powers of two add up to a number."""
    return [slot for slot in range(16) if int(total) & 2**slot]


BACKWARD_TILED = load("gemm_bias_act_backward", "2_tiled").with_constants(TILE=4)
TRANSPOSED, STRIDED = "read_a(item, first + local.y, load_k)", "read_a(item, first + local.x, k)"
SAME_TILE = (  # with the coordinates exchanged in the reads
    f"left[local.x * TILE + local.y] = {TRANSPOSED};",
    f"left[local.y * TILE + local.x] = {STRIDED};",
)


def left_tile(kernel: Kernel, a: np.ndarray) -> np.ndarray:
    """The first tile of a in the pass of d_b, slot by slot, in the workgroup whose tile begins at k = 4."""
    take_slot = "\n      sum += left[local.y * TILE + local.x];\n"
    shown = kernel.edit("\n      sum += tile_product(local.y, local.x);\n", take_slot)
    b = np.zeros((a.shape[1], 4), np.float32)
    grad = np.zeros((1, len(a), 4), np.float32)
    _, d_b, _ = helpers.gemm_bias_act_backward(a[None], b, b[0], grad, kernel=shown)
    return d_b[4:8]


@pytest.mark.parametrize(
    ("load", "kernel", "read"),
    [("transposed", BACKWARD_TILED, TRANSPOSED), ("strided", BACKWARD_TILED.edit(*SAME_TILE), STRIDED)],
)
def test_a_tile_is_transposed_on_its_way_in_as_drawn(load, kernel, read):
    a = numbered(4, 8)
    slots = left_tile(kernel, a)
    threads = left_tile(kernel.edit(read, "f32(local.y * TILE + local.x)"), a)  # each thread puts its own number there
    for thread in range(16):
        cell, slot = load_into_tile(load, 4, (0, 4), thread)
        assert (slots.flat[slot], threads.flat[slot]) == (a[cell], thread)
