"""The index sets of the pictures equal what the kernels read, product by product, as probes on the GPU show.

In a probe one operand holds its own cells' numbers, 1, 2, 3, ..., and the other one has a single 1 for each thing that
is asked. So what comes out names the cells that were multiplied; 0 says none.
"""

from dataclasses import replace
from math import prod

import numpy as np
import pytest
from support.problems import general_versions_of

import helpers
from helpers import gpu, wgsl
from helpers.convolution import indices
from helpers.convolution.indices import Contribution
from helpers.convolution.shapes import ConvShape
from helpers.gemm.indices import GemmTerm, gemm_terms, right_load, tile_loads, tile_mates
from helpers.gemm.operations import FORWARD
from helpers.gemm.shapes import GemmShape
from helpers.oracles.harness import launched
from helpers.summation.indices import tree_steps
from helpers.wgsl import Kernel


def numbered(*shape: int) -> np.ndarray:
    """Every cell's own number, from 1."""
    return np.arange(1, prod(shape) + 1, dtype=np.float32).reshape(shape)


# --- Which inputs contribute to a weight --------------------------------------------------------------------

SHAPES = [
    pytest.param(ConvShape(1, 1, 5, 5, 1, 3, 3), id="the 5x5 image of the lesson"),
    pytest.param(ConvShape(2, 2, 5, 7, 2, 3, 2), id="batch and rectangles"),
    pytest.param(ConvShape(1, 2, 4, 5, 1, 3, 3, 1, (1, 2)), id="padding"),
    pytest.param(ConvShape(2, 1, 7, 8, 2, 2, 3, 2, (1, 0)), id="stride"),
    pytest.param(ConvShape(1, 1, 7, 6, 1, 2, 2, 3, 3), id="stride over kernel, padding over kernel"),
]
DILATED = [
    pytest.param(ConvShape(1, 2, 7, 8, 1, 3, 2, dilation=2), id="dilation"),
    pytest.param(ConvShape(2, 1, 9, 8, 1, 3, 2, (2, 1), (1, 3), (2, 3)), id="each axis with steps of its own"),
]
every_shape = pytest.mark.parametrize("shape", SHAPES)
every_kernel = pytest.mark.parametrize(
    "kernel", general_versions_of("conv2d_grad_weight"), ids=lambda kernel: kernel.version
)


def contributions_on_the_gpu(shape: ConvShape, kernel: Kernel) -> dict[tuple[int, int, int], list[Contribution]]:
    """What contributes to each weight (ci, kh, kw), in the order n, oh, ow: one launch asks for every position.

    Output channel number i has a grad_output of 1 at output position i, so its gradients name the pixels read there.
    """
    positions = [(n, oh, ow) for n, _, oh, ow in np.ndindex(*replace(shape, out_channels=1).output)]
    probes = replace(shape, out_channels=len(positions))
    grad_output = np.zeros(probes.output, np.float32)
    for channel, (n, oh, ow) in enumerate(positions):
        grad_output[n, channel, oh, ow] = 1
    (named,) = launched(kernel, probes, {"grad_output": grad_output, "input": numbered(*shape.input)})
    found = {weight: [] for weight in np.ndindex(shape.weight[1:])}
    for channel, *weight in np.argwhere(named):
        n, ci, ih, iw = np.unravel_index(int(named[channel, *weight]) - 1, shape.input)
        assert (n, ci) == (positions[channel][0], weight[0]), "a weight read another image or channel"
        found[tuple(weight)].append(Contribution(*positions[channel], int(ih), int(iw)))
    return found


@every_shape
@every_kernel
def test_the_contributions_to_a_weight_are_what_the_kernel_reads(shape, kernel):
    for (_, kh, kw), contributions in contributions_on_the_gpu(shape, kernel).items():
        assert indices.contributions_to_weight(shape, kh, kw) == contributions


@pytest.mark.parametrize("shape", DILATED)
def test_the_contributions_to_a_weight_of_a_dilated_filter_are_too(shape):
    true = contributions_on_the_gpu(shape, wgsl.load("conv2d_grad_weight", "7_direct"))
    for (_, kh, kw), contributions in true.items():
        assert indices.contributions_to_weight(shape, kh, kw) == contributions
    assert indices.contributions_to_weight(replace(shape, dilation=1), 1, 1) != true[0, 1, 1]


@every_kernel
def test_contributions_off_by_one_would_be_seen(kernel):
    shape = ConvShape(2, 1, 5, 6, 1, 3, 2, 1, 1)
    true = contributions_on_the_gpu(shape, kernel)[0, 0, 0]
    assert indices.contributions_to_weight(shape, 0, 1) != true
    assert indices.contributions_to_weight(replace(shape, padding=(2, shape.padding_w), in_h=3), 0, 0) != true
    assert indices.contributions_to_weight(replace(shape, stride=2), 0, 0) != true


# --- Which channels belong together -------------------------------------------------------------------------


@pytest.mark.parametrize(("channels", "groups"), [((2, 3), 1), ((4, 6), 2), ((6, 4), 2), ((3, 3), 3), ((2, 4), 2)])
def test_the_channels_of_a_group_are_those_that_the_kernels_read(channels, groups):
    """Channel i holds 2**i in one operand and the other one holds ones, so that a sum names its channels."""
    shape = ConvShape(1, channels[0], 1, 1, channels[1], 1, 1, groups=groups)
    powers = (2.0 ** np.arange(6)).astype(np.float32)
    input, upstream = (powers[:count].reshape(1, -1, 1, 1) for count in channels)
    ones = np.ones(shape.weight, np.float32)
    output = helpers.conv2d(input, ones, groups=groups)[0, :, 0, 0]
    grad_weight = helpers.conv2d_grad_weight(input, shape.weight, np.ones_like(upstream), groups=groups)[:, :, 0, 0]
    grad_input = helpers.conv2d_grad_input(shape.input, ones, upstream, groups=groups)[0, :, 0, 0]
    for co in range(channels[1]):
        read = indices.input_channels_of(shape, co)
        assert output[co] == powers[read].sum()
        assert grad_weight[co].tolist() == powers[read].tolist()
    for ci in range(channels[0]):
        assert grad_input[ci] == powers[indices.output_channels_of(shape, ci)].sum()
    assert groups == 1 or output[0] != powers[indices.input_channels_of(shape, channels[1] - 1)].sum()


# --- What a thread does -----------------------------------------------------------------------------------


@every_shape
def test_a_thread_owns_the_weight_that_it_writes(shape):
    """Version 1 writes ``grad_weight[index]``; that it decodes the index so is what the gradient's values prove."""
    owners = [indices.weight_of_thread(shape, index) for index in range(256)]
    weights = list(np.ndindex(shape.weight))
    assert owners[: len(weights)] == weights
    assert set(owners[len(weights) :]) == {None}


def partial_sums(shape: ConvShape, values: np.ndarray, smallest_half: int) -> list[int]:
    """The partial sums of a weight's 256 threads after the steps of the tree reduction down to `smallest_half`.

    The kernel is the real one, but each thread writes its own partial sum; only the first workgroup is launched.
    """
    real = wgsl.load("conv2d_grad_weight", "2_workgroup_per_weight")
    tree = real.source.split("  // 4. ")[0].replace("half > 0u", f"half >= {smallest_half}u")
    kernel = Kernel(tree + "  grad_weight[thread] = partial[thread];\n}\n")
    buffers = gpu.upload(values, "grad_output"), gpu.upload(np.ones(shape.input, np.float32), "input")
    written = gpu.empty(4 * 256, "partial sums")
    gpu.run(gpu.Pass(kernel, (*buffers, written, gpu.uniform(shape.params())), (1, 1, 1)))
    return gpu.read(written, (256,)).astype(int).tolist()


@pytest.mark.parametrize("sizes", [(1, 1, 7, 9), (2, 1, 17, 19), (3, 1, 21, 24)], ids=str)
def test_threads_share_the_products_and_add_them_in_a_tree_as_drawn(sizes):
    shape = ConvShape(*sizes, 1, 1, 1)
    values = np.random.default_rng(0).integers(0, 1000, shape.output).astype(np.float32)
    products = values.ravel().astype(int)  # the input is 1 everywhere: a product is its grad_output
    own = [int(products[indices.products_of_thread(shape, t, 256)].sum()) for t in range(256)]
    steps = tree_steps(own)
    assert [len(step) for step in steps] == [256, 128, 64, 32, 16, 8, 4, 2, 1]
    assert partial_sums(shape, values, 256) == steps[0]
    for step in steps[1:]:
        assert partial_sums(shape, values, len(step))[: len(step)] == step
    assert steps[-1] == [products.sum()]


# --- Which elements a matrix product multiplies -------------------------------------------------------------

SIZES = [(3, 4, 5), (5, 18, 3), (17, 3, 4), (4, 3, 18)]  # M, K, N: on one tile of 16, and past its edge
PRODUCTS = ["pre", "d_a", "d_b"]


def one_hot(rows: int, columns: int) -> np.ndarray:
    """One item for each cell, with a 1 there."""
    return np.eye(rows * columns, dtype=np.float32).reshape(-1, rows, columns)


def backward(a: np.ndarray, b: np.ndarray, grad: np.ndarray, **options) -> tuple[np.ndarray, ...]:
    """The gradients of a layer without activation, in which grad_pre is grad."""
    return helpers.gemm_bias_act_backward(a, b, np.zeros(b.shape[-1], np.float32), grad, **options)


def probed(product: str, sizes: tuple[int, int, int]) -> tuple[np.ndarray, tuple[int, int], tuple[int, int]]:
    """What the GPU makes of the probes (items, rows, columns), and the shapes of the left and the right operand."""
    m, k, n = sizes
    if product == "pre":
        return helpers.gemm_bias_act(one_hot(m, k), numbered(k, n), np.zeros(n, np.float32)), (m, k), (k, n)
    if product == "d_a":
        return backward(np.zeros((m * n, m, k), np.float32), numbered(k, n), one_hot(m, n))[0], (m, n), (k, n)
    grad = np.repeat(numbered(m, n)[None], m * k, axis=0)
    return backward(one_hot(m, k), np.zeros((k, n), np.float32), grad, per_item=True)[1], (m, k), (m, n)


def terms_on_the_gpu(product: str, sizes: tuple[int, int, int]) -> dict[tuple[int, int], list[GemmTerm]]:
    """The terms of every element of a result, in the order of the left operand's cells."""
    named, left, right = probed(product, sizes)
    found = {element: [] for element in np.ndindex(named.shape[1:])}
    for item, *element in np.argwhere(named):
        cells = np.unravel_index(item, left), np.unravel_index(int(named[item, *element]) - 1, right)
        found[tuple(map(int, element))].append(GemmTerm(*(tuple(map(int, cell)) for cell in cells)))
    return found


@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("product", PRODUCTS)
def test_an_element_has_the_terms_that_the_kernel_reads(product, sizes):
    found = terms_on_the_gpu(product, sizes)
    assert len(found) == prod({"pre": sizes[::2], "d_a": sizes[:2], "d_b": sizes[1:]}[product])
    for element, terms in found.items():
        assert gemm_terms(product, sizes, *element) == terms


@pytest.mark.parametrize("product", PRODUCTS)
def test_terms_off_by_one_would_be_seen(product):
    true = terms_on_the_gpu(product, (3, 3, 3))[1, 2]
    assert gemm_terms(product, (3, 3, 3), 1, 2) == true
    wrong = [(1, 1), (0, 2), (2, 1)]  # a neighbor, or the element of the transposed result
    assert true not in [gemm_terms(product, (3, 3, 3), *element) for element in wrong]
    assert true not in [gemm_terms(other, (3, 3, 3), 1, 2) for other in {*PRODUCTS, "d_bias"} - {product}]


@pytest.mark.parametrize("sizes", [(3, 4, 5), (24, 2, 1)], ids=str)
def test_a_bias_adds_up_the_cells_of_its_column(sizes):
    """Each cell of grad is a power of two of its own, so that a sum names its cells."""
    m, k, n = sizes
    grad = (2.0 ** np.arange(m * n)).astype(np.float32).reshape(1, m, n)
    _, _, d_bias = backward(np.zeros((1, m, k), np.float32), np.zeros((k, n), np.float32), grad)
    for column, total in enumerate(d_bias):
        cells = [divmod(i, n) for i in range(m * n) if int(total) >> i & 1]
        assert gemm_terms("d_bias", sizes, 0, column) == [GemmTerm(cell, None) for cell in cells]


def test_an_unknown_product_is_refused():
    with pytest.raises(ValueError, match="product = 'd_c': it must be one of pre, d_a, d_b, d_bias"):
        gemm_terms("d_c", (1, 1, 1), 0, 0)


# --- Tiles ------------------------------------------------------------------------------------------------

TILED = wgsl.load("gemm_bias_act", "2_tiled").with_constants(TILE=4)


def forward(kernel: Kernel, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """a @ b as a kernel computes it."""
    shape, bias = GemmShape(len(a), len(b), b.shape[1]), np.zeros(b.shape[1], np.float32)
    return FORWARD.compute(shape, kernel, a=a[None], b=b, bias=bias)[0][0]


def in_slots(tile: str, first: int, a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """What each thread's own slot of the tile "left" or "right" holds when the tiles begin at k = `first`.

    The kernel is the real one, but between the barriers a thread takes its own slot instead of a product.
    """
    own = f"if (first == {first}u) {{ pre = {tile}[local.y * TILE + local.x]; }}"
    return forward(TILED.edit("pre += tile_product(local.y, local.x);", own), a, b)


@pytest.mark.parametrize("first", [0, 4, 8])
def test_a_thread_loads_the_cells_that_are_drawn(first):
    operands = {"left": numbered(8, 10), "right": numbered(10, 8)}
    slots = {tile: in_slots(tile, first, *operands.values()) for tile in operands}
    for row, column in np.ndindex(8, 8):
        corner, thread = (row // 4 * 4, column // 4 * 4), row % 4 * 4 + column % 4
        for (tile, matrix), (y, x) in zip(operands.items(), tile_loads(4, corner, first, thread), strict=True):
            inside = y < matrix.shape[0] and x < matrix.shape[1]
            assert slots[tile][row, column] == (matrix[y, x] if inside else 0)


def test_a_thread_reads_what_its_mates_loaded():
    """Each slot of one tile holds a power of two of its own and the other tile ones, so that a sum names its slots."""
    powers, ones = (2.0 ** np.arange(16)).astype(np.float32).reshape(4, 4), np.ones((4, 4), np.float32)
    sums = forward(TILED, powers, ones), forward(TILED, ones, powers)
    for thread in range(16):
        read = [[i for i in range(16) if int(total.flat[thread]) >> i & 1] for total in sums]
        assert tile_mates(4, thread) == tuple(read)


BACKWARD_TILED = wgsl.load("gemm_bias_act_backward", "2_tiled").with_constants(TILE=4)
STRIDED = (  # the same tile as the kernel's, with the coordinates exchanged in the reads
    "right[local.x * TILE + local.y] = read_b(item, load_k, first + local.x);",
    "right[local.y * TILE + local.x] = read_b(item, k, first + local.y);",
)


def right_tile(kernel: Kernel, b: np.ndarray) -> np.ndarray:
    """What the first tile of b in the pass of d_a holds, slot by slot, in the workgroup whose tile begins at k = 4."""
    own = "\n    sum += right[local.y * TILE + local.x];\n"
    shown = kernel.edit("\n    sum += tile_product(local.y, local.x);\n", own)
    a, grad = np.zeros((1, 4, len(b)), np.float32), np.zeros((1, 4, b.shape[1]), np.float32)
    return helpers.gemm_bias_act_backward(a, b, np.zeros(b.shape[1], np.float32), grad, kernel=shown)[0][0, :, 4:8]


@pytest.mark.parametrize(
    ("load", "kernel", "read"),
    [
        ("transposed", BACKWARD_TILED, "read_b(item, load_k, first + local.x)"),
        ("strided", BACKWARD_TILED.edit(*STRIDED), "read_b(item, k, first + local.y)"),
    ],
)
def test_a_tile_is_transposed_on_its_way_in_as_drawn(load, kernel, read):
    b = numbered(8, 4)
    slots = right_tile(kernel, b)
    threads = right_tile(kernel.edit(read, "f32(local.y * TILE + local.x)"), b)  # each thread puts its own number there
    for thread in range(16):
        cell, slot = right_load(load, 4, (4, 0), thread)
        assert slots.flat[slot] == b[cell]
        assert threads.flat[slot] == thread


def test_a_tile_that_is_loaded_as_it_lies_holds_the_cells_that_are_drawn():
    b = numbered(8, 10)
    slots = in_slots("right", 4, numbered(8, 8), b)[:4, 4:8]
    for thread in range(16):
        cell, slot = right_load("as it lies", 4, (4, 4), thread)
        assert slots.flat[slot] == b[cell]
