"""Products of matrices that lessons 06 to 08 ask for: what each adds up, and the layers on which it is tried."""

from functools import cache
from math import ceil
from pathlib import Path
from typing import NamedTuple

import numpy as np

from helpers.grading.puzzle import STEPS, TWICE, Case, Dispatch, Puzzle, Skill
from helpers.operations.gemm import reference
from helpers.operations.gemm.shapes import GemmShape

Array = np.ndarray

TILES = Skill(
    "tiles that all threads of a workgroup load together, neighbors from neighboring places of memory",
    "three_tiles",
    {"steps": STEPS, "loads_storage": 2, "sectors": 1.5, "thread_loads": TWICE, "results": TWICE},
)


LESSONS = {  # the layer of lesson 06
    "a": [[1, 0, 2, -1], [0, 3, 1, 1], [2, 1, 0, 1]],
    "b": [[1, 2], [0, -1], [1, 0], [2, 1]],
    "bias": [-1, 1],
    "grad": [[5, 2], [-1, 4], [2, -3]],
}


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
    ragged = {"M": 19, "K": 21 if summed == "M" else 11, "N": 37} | {summed: 70}  # nor one tile high
    shapes = {
        "tiny": GemmShape(3, 4, 2, 1, "relu"),
        "one_full_tile": GemmShape(16, 16, 16, 1, "relu"),
        "three_tiles": GemmShape(*long.values(), 1, "relu"),
        "past_the_edges": GemmShape(*ragged.values(), 1, "relu"),
        "batch_of_2": GemmShape(18, 35, 20, 2, "relu"),
        "300_columns": GemmShape(5, 4, 300, 2, "relu"),
    }
    names = "a", "b", "bias", "grad"
    draw = {name: {t: random.integers(-3, 4, s.of(t)).astype(np.float32) for t in names} for name, s in shapes.items()}
    if shown:
        draw["tiny"] = {
            name: np.float32([rows]) if name in ("a", "grad") else np.float32(rows) for name, rows in LESSONS.items()
        }
    draw["past_the_edges"] = {name: whole / 4 for name, whole in draw["past_the_edges"].items()}
    return {name: (shape, draw[name] | _results(**draw[name])) for name, shape in shapes.items()}


def _results(a: Array, b: Array, bias: Array, grad: Array) -> dict[str, Array]:
    grad_pre = grad * reference.derivative(reference.pre(a, b, bias), "relu")
    d_a, d_b, d_bias = reference.sums(a, b, grad_pre, per_item=False)
    results = {"b_rows": b.T, "c": (a @ b)[0], "grad_pre": grad_pre, "d_a": d_a, "d_b": d_b, "d_bias": d_bias}
    return {name: array.astype(np.float32) for name, array in results.items()}


def sizes(shape: GemmShape, letters: str) -> tuple[int, ...]:
    """The sizes of a layer by their letters, where B is the batch."""
    return tuple({"M": shape.m, "K": shape.k, "N": shape.n, "B": shape.batch_size}[letter] for letter in letters)


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


def puzzle(name: str, of: Summed, folder: Path) -> Puzzle:
    """Return a puzzle whose official kernel is in a folder; only where a batch is given, it has one in a test."""
    tests = IN_COLUMNS if of.output == "d_bias" else TILED if "B" in of.words else TILED[:-1]
    skill = TILES if "three_tiles" in tests else Skill.one_thread_for("column", "300_columns")
    if name == "product":
        skill = Skill.one_thread_for("element", "three_tiles")
    return Puzzle(name, folder, of.axes, lambda: tuple(_case(of, test) for test in tests), skill)


def _case(of: Summed, test: str) -> Case:
    shape, arrays = _layers(of.along, "B" not in of.words)[test]
    layers, rows, columns = (1, 1, *arrays[of.output].shape)[-3:]
    grid = (ceil(columns / 16), ceil(rows / 16), layers) if rows > 1 else (ceil(columns / 256), 1, 1)
    given = tuple(arrays[name] for name in of.inputs.split())
    return Case(test, given, arrays[of.output], sizes(shape, of.words), (Dispatch(grid),))
