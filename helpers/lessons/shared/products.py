"""Products of matrices that lessons 06 to 08 ask for: what each adds up, and the layers on which it is tried."""

from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from math import ceil, prod
from pathlib import Path
from typing import NamedTuple

import numpy as np

from helpers.checks.tolerance import tolerance_of_sums
from helpers.grading.drawn_choice import numbers_of_facts
from helpers.grading.puzzle import STEPS, TWICE, Case, Dispatch, Drawn, Puzzle, Skill
from helpers.lessons.shared.drawn_numbers import FLOATS, NUMBERS, Sizes, draw_numbers, kind, with_rounding
from helpers.lessons.shared.drawn_sizes import Random, different, length
from helpers.operations.gemm import reference
from helpers.operations.gemm.shapes import GemmShape

Array = np.ndarray

TILE = 16  # rows and columns
TILES = Skill(
    "tiles that all threads of a workgroup load together, neighbors from neighboring places of memory",
    "three_tiles",
    {
        "steps": STEPS,
        "loads_storage": 2,
        "sectors": 1.5,
        "thread_loads": TWICE,
        "results": TWICE,
    },
)


LESSONS = {  # the layer of lesson 06
    "a": [
        [1, 0, 2, -1],
        [0, 3, 1, 1],
        [2, 1, 0, 1],
    ],
    "b": [
        [1, 2],
        [0, -1],
        [1, 0],
        [2, 1],
    ],
    "bias": [-1, 1],
    "grad": [
        [5, 2],
        [-1, 4],
        [2, -3],
    ],
}

# the tests of kernels in tiles, and of those that sum columns
TILED = ("tiny", "one_full_tile", "three_tiles", "past_the_edges", "batch_of_2")
IN_COLUMNS = ("tiny", "past_the_edges", "batch_of_2", "300_columns")


@cache
def _layers(summed: str, shown: bool) -> dict[str, tuple[GemmShape, dict[str, Array]]]:
    """The layers of the tests, with relu: each one's sizes and arrays, by the test's name.

    `summed` is the letter along which the pass adds up: M, K or N. Past the edges the numbers are quarters, and no grid
    of workgroups is square. The first layer is that of lesson 06 where it is `shown` there.
    """
    random = np.random.default_rng(6)
    long = {letter: 48 if letter == summed else 16 for letter in "MKN"}
    large = {letter: 16 if letter == summed else 48 for letter in "MKN"}
    ragged = {"M": 19, "K": 21 if summed == "M" else 11, "N": 37} | {summed: 70}  # nor one tile high
    shapes = {
        "tiny": GemmShape(3, 4, 2, 1, "relu"),
        "one_full_tile": GemmShape(16, 16, 16, 1, "relu"),
        "three_tiles": GemmShape(*long.values(), 1, "relu"),
        "past_the_edges": GemmShape(*ragged.values(), 1, "relu"),
        "batch_of_2": GemmShape(18, 35, 20, 2, "relu"),
        "300_columns": GemmShape(5, 4, 300, 2, "relu"),
        "nine_tiles": GemmShape(*large.values(), 1, "relu"),
        "600_columns": GemmShape(2, 2, 600, 1, "relu"),
    }
    layers = {}
    for name, shape in shapes.items():
        arrays = _drawn(shape, random)
        if name == "tiny" and shown:
            arrays = _shown_layer()
        if name == "past_the_edges":
            arrays = {operand: whole / 4 for operand, whole in arrays.items()}
        layers[name] = shape, arrays | _results(**arrays)
    return layers


def _drawn(shape: GemmShape, random: np.random.Generator) -> dict[str, Array]:
    """The operands of a layer, as random whole numbers."""
    arrays = {}
    for operand in ("a", "b", "bias", "grad"):
        arrays[operand] = random.integers(-3, 4, shape.of(operand)).astype(np.float32)
    return arrays


def _shown_layer() -> dict[str, Array]:
    """The layer of lesson 06, as a batch of one."""
    return {
        "a": np.float32([LESSONS["a"]]),
        "b": np.float32(LESSONS["b"]),
        "bias": np.float32(LESSONS["bias"]),
        "grad": np.float32([LESSONS["grad"]]),
    }


def _results(a: Array, b: Array, bias: Array, grad: Array) -> dict[str, Array]:
    grad_pre = grad * reference.derivative(reference.pre(a, b, bias), "relu")
    return {"b_rows": b.T.copy(), "grad_pre": grad_pre.astype(np.float32)} | _sums(a, b, grad_pre)


def _sums(a: Array, b: Array, grad_pre: Array) -> dict[str, Array]:
    """The results that are sums of products."""
    d_a, d_b, d_bias = reference.sums(a, b, grad_pre, per_item=False)
    product = a.astype(float) @ b
    results = {
        "c": product[0],
        "d_a": d_a,
        "d_b": d_b,
        "d_bias": d_bias,
    }
    return {name: array.astype(np.float32) for name, array in results.items()}


def sizes(shape: GemmShape, letters: str) -> tuple[int, ...]:
    """The sizes of a layer by their letters, where B is the batch."""
    by_letter = {
        "M": shape.m,
        "K": shape.k,
        "N": shape.n,
        "B": shape.batch_size,
    }
    return tuple(by_letter[letter] for letter in letters)


class Summed(NamedTuple):
    """A kernel that adds up along one letter, M, K or N: axes of its output, names of arrays, letters of its uniform.

    Among the last ones, B is the batch.
    """

    axes: str
    along: str
    inputs: str
    output: str
    words: str


PRODUCTS = {
    "product": Summed("m n", "K", "a b", "c", "MKN"),
    "tiled_product": Summed("m n", "K", "a b", "c", "MKN"),
    "transposed_tile": Summed("k n", "M", "a grad_pre", "d_b", "MKN"),
    "transposed_product": Summed("m n", "K", "a b_rows", "c", "MKN"),
    "gemm_bwd_grad_pre": Summed("item m n", "K", "a b bias grad", "grad_pre", "MKNB"),
    "gemm_bwd_da": Summed("item m k", "N", "grad_pre b", "d_a", "MKNB"),
    "gemm_bwd_db": Summed("k n", "M", "a grad_pre", "d_b", "MKNB"),
    "gemm_bwd_dbias": Summed("n", "M", "grad_pre", "d_bias", "MNB"),
}


def puzzle(name: str, summed: Summed, folder: Path) -> Puzzle:
    """Return a puzzle whose official kernel is in a folder; only a kernel that knows the batch has a test with one."""

    def cases() -> tuple[Case, ...]:
        return tuple(_case(summed, test) for test in _tests(summed))

    def larger() -> Case:
        return _case(summed, "600_columns" if summed.output == "d_bias" else "nine_tiles")

    drawn = Drawn(partial(_drawn_sizes, summed), partial(_drawn_case, summed), _facts)
    return Puzzle(name, folder, summed.axes, cases, _skill(name, summed, larger), drawn)


def _tests(summed: Summed) -> tuple[str, ...]:
    if summed.output == "d_bias":
        return IN_COLUMNS
    if "B" in summed.words:
        return TILED
    return tuple(name for name in TILED if name != "batch_of_2")


def _skill(name: str, summed: Summed, larger: Callable[[], Case]) -> Skill:
    if name == "product":
        return Skill.one_thread_for("element", "three_tiles", larger)
    if summed.output == "d_bias":
        return Skill.one_thread_for("column", "300_columns", larger)
    return replace(TILES, larger=larger)


def _case(summed: Summed, test: str) -> Case:
    return _of_a_layer(test, summed, *_layers(summed.along, "B" not in summed.words)[test])


def _of_a_layer(test: str, summed: Summed, shape: GemmShape, arrays: dict[str, Array]) -> Case:
    expected = arrays[summed.output]
    inputs = tuple(arrays[name] for name in summed.inputs.split())
    params = sizes(shape, summed.words)
    dispatch = Dispatch(_workgroups(expected.shape))
    return Case(test, inputs, expected, params, (dispatch,))


# --- Problems that are drawn ------------------------------------------------------------------------------------

NAMES = {"M": "M", "K": "K", "N": "N", "B": "batch"}  # as the kernels have them


def _drawn_sizes(summed: Summed, random: Random) -> Sizes:
    """Sizes up to three tiles, and of the summed one, more than five tiles and 1 mod 16 most often.

    Where that is long, there is one layer, and the others are a little more than a tile at most: a problem is
    simulated in a tenth of a second.
    """
    along = int(random.choice([1, 17, 33, 81, random.integers(71, 97)], p=[0.1, 0.15, 0.2, 0.35, 0.2]))
    m, k, n = different(random, 3, 18 if along > 33 else 35, but=along)
    batch = 1 if along > 33 else int(random.integers(1, 4))
    by_letter = {"M": m, "K": k, "N": n, "B": batch, summed.along: along}
    if summed.output == "d_bias":
        by_letter["N"] = length(random, past=300, most=800)
    drawn = {NAMES[letter]: by_letter[letter] for letter in summed.words}
    return drawn | kind(random)


def _facts(sizes: Sizes) -> dict[str, int]:
    """The sizes, and the rows of all layers."""
    return numbers_of_facts(sizes) | {"rows": sizes["M"] * sizes.get("batch", 1)}


def _drawn_case(summed: Summed, name: str, sizes: Sizes, random: Random) -> Case:
    by_letter = {letter: sizes.get(NAMES[letter], 1) for letter in NAMES}
    m, k, n, batch = by_letter.values()
    shape = GemmShape(m, k, n, batch, "relu")
    largest = 1 if sizes[NUMBERS] == FLOATS else 99  # some pre-activations are near 0
    arrays = {}
    for operand in ("a", "b", "bias", "grad"):
        arrays[operand] = draw_numbers(random, sizes, *shape.of(operand), largest=largest)
    if sizes[NUMBERS] == FLOATS:
        _without_doubt(**arrays)
    arrays |= _results(**arrays)
    exact = _of_a_layer(name, summed, shape, arrays)
    if summed.output == "grad_pre":
        return exact
    return with_rounding(
        exact, sizes, lambda *data: _sums(*data)[summed.output], arrays["a"], arrays["b"], arrays["grad_pre"]
    )


def _without_doubt(a: Array, b: Array, bias: Array, grad: Array) -> None:
    """Let no upstream gradient pass where rounding decides whether a pre-activation is positive."""
    off = tolerance_of_sums(reference.pre, a, b, bias)
    grad[abs(reference.pre(a, b, bias)) < off] = 0


def _workgroups(shape: tuple[int, ...]) -> tuple[int, int, int]:
    """The workgroups of a result (columns,), (rows, columns) or (layers, rows, columns): tiles, or 256 in a row."""
    if len(shape) == 1:
        return ceil(shape[0] / 256), 1, 1
    *layers, rows, columns = shape
    return ceil(columns / TILE), ceil(rows / TILE), prod(layers)
