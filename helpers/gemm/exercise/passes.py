"""The kernels that a learner writes: the passes of the backward pass, and a product in tiles."""

from functools import cache
from math import ceil

import numpy as np

from helpers.gemm import reference
from helpers.gemm.shapes import GemmShape
from helpers.grading.puzzle import Case, Puzzle, Slip


@cache
def _layers(summed: str) -> dict[str, tuple[GemmShape, dict[str, np.ndarray]]]:
    """The layers of the tests, with relu: each one's sizes and arrays, by the test's name.

    `summed` is the letter along which the pass adds up: M, K or N.
    """
    random, long = np.random.default_rng(6), {letter: 48 if letter == summed else 16 for letter in "MKN"}
    shapes = {
        "tiny": GemmShape(3, 4, 2, 1, "relu"),
        "one_full_tile": GemmShape(16, 16, 16, 1, "relu"),
        "three_tiles": GemmShape(*long.values(), 1, "relu"),
        "past_the_edges": GemmShape(19, 21, 37, 1, "relu"),
        "batch_of_2": GemmShape(18, 35, 20, 2, "relu"),
        "300_columns": GemmShape(5, 4, 300, 2, "relu"),
    }
    names = "a", "b", "bias", "grad"
    draw = {name: {t: random.integers(-3, 4, s.of(t)).astype(np.float32) for t in names} for name, s in shapes.items()}
    return {name: (shape, draw[name] | _results(**draw[name])) for name, shape in shapes.items()}


def _results(a: np.ndarray, b: np.ndarray, bias: np.ndarray, grad: np.ndarray) -> dict[str, np.ndarray]:
    grad_pre = grad * reference.derivative(reference.pre(a, b, bias), "relu")
    d_a, d_b, d_bias = reference.sums(a, b, grad_pre, per_item=False)
    found = {"c": (a @ b)[0], "grad_pre": grad_pre, "d_a": d_a, "d_b": d_b, "d_bias": d_bias}
    return {name: array.astype(np.float32) for name, array in found.items()}


def _cases(summed: str, inputs: str, output: str, params: str, tests: tuple[str, ...]) -> tuple[Case, ...]:
    """The tests of one pass: the names of its arrays, and the letters of its uniform, where B is the batch."""
    cases = []
    for test in tests:
        shape, arrays = _layers(summed)[test]
        sizes = {"M": shape.m, "K": shape.k, "N": shape.n, "B": shape.batch_size}
        layers, rows, columns = (1, 1, *arrays[output].shape)[-3:]
        grid = (ceil(columns / 16), ceil(rows / 16), layers) if rows > 1 else (ceil(columns / 256), 1, 1)
        given = tuple(arrays[name] for name in inputs.split())
        cases.append(Case(test, given, arrays[output], tuple(sizes[letter] for letter in params), grid))
    return tuple(cases)


def _puzzle(
    name: str, axes: str, tests: tuple[str, ...], arrays: tuple[str, ...], slips: dict[str, tuple[str, str]]
) -> Puzzle:
    """A puzzle whose tests are `_cases(*arrays, tests)`; `slips` names each edit (old, new) of the official text."""
    listed = tuple(Slip(mistake, *edit) for mistake, edit in slips.items())
    return Puzzle(name, "gemm", tuple(axes.split()), tests, lambda: _cases(*arrays, tests), listed)


TILED = ("tiny", "one_full_tile", "three_tiles", "past_the_edges", "batch_of_2")
PRODUCT = "left[local.y * TILE + i] * right[i * TILE + local.x]"
READ = "reads the tiles any more.\n"  # above the barrier after the products, which the edit makes a comment
SHARED = {  # mistakes in the steps that all tiled kernels have
    "local.x and local.y are swapped in the products": (
        PRODUCT,
        "left[local.x * TILE + i] * right[i * TILE + local.y]",
    ),
    "the products stop before the last number of each tile": ("i < TILE; i++", "i < TILE - 1u; i++"),
    "no barrier stands between the products and the loads of the next turn": (READ, f"{READ}//"),
}
LOADS_OF_D_A = """read_grad_pre(item, m, first + local.x);  // *
    // 2. Load one number of b into right, so that the tile is transposed.
    let load_k = group.x * TILE + local.y;  // *
    right[local.x * TILE + local.y] = read_b(load_k, first + local.x);"""
NO_FIRST = LOADS_OF_D_A.replace("first + ", "")
PUZZLES: tuple[Puzzle, ...] = (
    _puzzle(
        "tiled_product",
        "m n",
        TILED[:-1],
        ("K", "a b", "c", "MKN"),
        {
            "past an edge, left is not filled with zeros": ("m < params.M && k_left < params.K", "true"),
            "past an edge, right is not filled with zeros": ("k_right < params.K && n < params.N", "true"),
            "rows of a are taken to be as long as those of b": ("m * params.K + k_left", "m * params.N + k_left"),
            "only the first tile is added up": ("first < params.K; first", "first < 1u; first"),
            "x and y are exchanged: x counts columns, so it belongs to n, and y to m": (
                "let n = group.x * TILE + local.x;  // *\n  let m = group.y * TILE + local.y;",
                "let n = group.y * TILE + local.y;  // *\n  let m = group.x * TILE + local.x;",
            ),
            "local.x and local.y are exchanged in n and m: x counts columns, so it belongs to n": (
                "let n = group.x * TILE + local.x;  // *\n  let m = group.y * TILE + local.y;",
                "let n = group.x * TILE + local.y;  // *\n  let m = group.y * TILE + local.x;",
            ),
            "local.x and local.y are exchanged in the slot, so that both tiles are transposed": (
                "let slot = local.y * TILE + local.x",
                "let slot = local.x * TILE + local.y",
            ),
            "x and y are exchanged in the loads: k goes along x in a, and along y in b": (
                "let k_left = first + local.x;  // *\n    let k_right = first + local.y;",
                "let k_left = first + local.y;  // *\n    let k_right = first + local.x;",
            ),
            "first is left out of the loads, so each turn loads the same tiles": (
                "let k_left = first + local.x;  // *\n    let k_right = first + local.y;",
                "let k_left = local.x;  // *\n    let k_right = local.y;",
            ),
            **SHARED,
        },
    ),
    _puzzle(
        "gemm_bwd_grad_pre",
        "item m n",
        TILED,
        ("K", "a b bias grad", "grad_pre", "MKNB"),
        {
            "the bias is not added": ("pre + bias[n] > 0.0", "pre > 0.0"),
            "the derivative is not multiplied": ("select(0.0, grad[at], pre + bias[n] > 0.0)", "grad[at]"),
            "the derivative at pre = 0 is 1; it is 0 here": ("bias[n] > 0.0", "bias[n] >= 0.0"),
            "the two values of select are swapped: the one for false comes first": ("0.0, grad[at]", "grad[at], 0.0"),
            "grad is multiplied by relu itself, not by its derivative": (
                "select(0.0, grad[at], pre + bias[n] > 0.0)",
                "grad[at] * max(0.0, pre + bias[n])",
            ),
            "a is read from item 0 for every item": ("read_a(item, m", "read_a(0u, m"),
            "threads below the last row write, too; test m, not only n": (
                "m < params.M && n < params.N",
                "n < params.N",
            ),
            **SHARED,
        },
    ),
    _puzzle(
        "gemm_bwd_da",
        "item m k",
        TILED,
        ("N", "grad_pre b", "d_a", "MKNB"),
        {
            "the tile of b is not transposed": ("right[local.x * TILE + local.y]", "right[local.y * TILE + local.x]"),
            "k and n are swapped in read_b, so that b itself is multiplied": (
                "read_b(load_k, first + local.x)",
                "read_b(first + local.x, load_k)",
            ),
            "row k of b is read; this thread loads row load_k = group.x * TILE + local.y": (
                "read_b(load_k",
                "read_b(k",
            ),
            "first is left out of both loads, so each turn loads the same tiles": (LOADS_OF_D_A, NO_FIRST),
            "first is left out of the load of left": ("m, first + local.x", "m, local.x"),
            "first is left out of the load of right": ("load_k, first + local.x", "load_k, local.x"),
            "grad_pre is read from item 0 for every item": ("read_grad_pre(item, m", "read_grad_pre(0u, m"),
            "threads below the last row write, too; test m, not only k": (
                "m < params.M && k < params.K",
                "k < params.K",
            ),
            **SHARED,
        },
    ),
    _puzzle(
        "gemm_bwd_db",
        "k n",
        TILED,
        ("M", "a grad_pre", "d_b", "MKNB"),
        {
            "only the first item of the batch is added up": ("item < params.batch", "item < 1u"),
            "the tile of a is not transposed": ("left[local.x * TILE + local.y]", "left[local.y * TILE + local.x]"),
            "threads below the last row write, too; test k, not only n": (
                "k < params.K && n < params.N",
                "n < params.N",
            ),
            "m and k are swapped in read_a": ("first + local.y, load_k", "load_k, first + local.y"),
            "only the first tile is added up": ("first < params.M; first", "first < 1u; first"),
            **SHARED,
        },
    ),
    _puzzle(
        "gemm_bwd_dbias",
        "n",
        ("tiny", "past_the_edges", "batch_of_2", "300_columns"),
        ("M", "grad_pre", "d_bias", "MNB"),
        {
            "only the first item of the batch is added up": ("row < params.batch * params.M", "row < params.M"),
            "M stands in the place of N in the offset": ("row * params.N", "row * params.M"),
            "n is compared with M, the number of rows": ("n >= params.N", "n >= params.M"),
            "the sum starts at row 1": ("var row = 0u", "var row = 1u"),
        },
    ),
)
