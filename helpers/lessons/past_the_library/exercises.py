"""The exercises of appendix D: an address in a matrix that is not stored, two passes, taps of a class, and F(2,3)."""

from collections.abc import Mapping
from dataclasses import replace
from functools import cache
from math import ceil
from pathlib import Path

import numpy as np

from helpers.grading.drawn_choice import IN_THE_LAST, SUMMED, numbers_of_facts
from helpers.grading.puzzle import TWICE, Case, Dispatch, Drawn, Puzzle, Skill
from helpers.lessons.past_the_library.small_layers import F23, IMAGE, PIXELS, WEIGHTS, rows_by_winograd
from helpers.lessons.shared import layers
from helpers.lessons.shared.drawn_layers import all_sizes, draw_layer, facts_of_layer
from helpers.lessons.shared.drawn_numbers import Sizes, draw_numbers, kind, with_rounding
from helpers.lessons.shared.drawn_sizes import Random, check_not_empty, different
from helpers.lessons.shared.layers import draw, draw_quarters, layer_puzzles
from helpers.operations.convolution.shapes import ConvShape

Array = np.ndarray
HERE = Path(__file__)
FOLDER = HERE.with_name("puzzles")
TILE, THREADS = 16, 64

# --- A matrix that is never stored --------------------------------------------------------------------------------

WORDS = "N Ci H W Co kH kW S oH oW"  # of the uniform
PRODUCTS = {  # the layers of the tests; the last one is in quarters
    "the_picture": IMAGE,
    "stride_2": ConvShape(1, 1, 7, 9, 2, 3, 3, stride=2),
    "two_images": ConvShape(2, 3, 5, 6, 4, 2, 3),
    "everything": ConvShape(3, 5, 8, 11, 18, 3, 2, stride=2),
}


@cache
def _product_cases() -> tuple[Case, ...]:
    random = np.random.default_rng(18)
    *whole, last = PRODUCTS
    cases = []
    for name in whole:
        s = PRODUCTS[name]
        cases.append(_product_case(name, s, draw(random, *s.input), draw(random, *s.weight, largest=3)))
    s = PRODUCTS[last]
    return *cases, _product_case(last, s, draw_quarters(random, *s.input), draw_quarters(random, *s.weight))


def _product_case(name: str, s: ConvShape, image: Array, weight: Array) -> Case:
    """A layer without a bias, with a workgroup for each tile of the product."""
    tensors = {"input": image, "weight": weight, "bias": np.zeros(s.out_channels, np.float32)}
    case = layers.layer(name, "output", s, WORDS, tensors)
    columns = s.batch * s.out_h * s.out_w
    dispatch = Dispatch((ceil(columns / TILE), ceil(s.out_channels / TILE), 1))
    return replace(case, inputs=case.inputs[:2], dispatches=(dispatch,))


def _drawn_product(name: str, sizes: Sizes, random: Random) -> Case:
    known = all_sizes(sizes)
    s = ConvShape(*(known[letter] for letter in layers.LETTERS), stride=known["S"])
    image = draw_numbers(random, sizes, *s.input)
    weight = draw_numbers(random, sizes, *s.weight)
    no_bias = np.zeros(s.out_channels, np.float32)

    def formula(image: Array, weight: Array) -> Array:
        return layers.ANSWERS["output"](image, weight, no_bias, s)

    return with_rounding(_product_case(name, s, image, weight), sizes, formula, image, weight)


_LAYER = draw_layer("output", WORDS, THREADS)


def _product_sizes(random: Random) -> Sizes:
    """Sizes of a layer; in one of four, the last tile of a sum has one term, which few filters leave."""
    sizes = _LAYER(random)
    if random.integers(4) > 0:
        return sizes
    return {**sizes, "Ci": int(random.choice([TILE + 1, 2 * TILE + 1])), "kH": 1, "kW": 1}


def _facts_of_product(sizes: Sizes) -> Mapping[str, int]:
    known = facts_of_layer("output", THREADS)(sizes)
    return known | {SUMMED: known["Ci"] * known["kH"] * known["kW"]}


IMPLICIT = Puzzle(
    "implicit_address",
    FOLDER,
    "n co oh ow",
    _product_cases,
    drawn=Drawn(_product_sizes, _drawn_product, _facts_of_product),
)

# --- Two passes ---------------------------------------------------------------------------------------------------

SLICED = {  # M, K, N and the number of slices; the last one is in quarters
    "one_slice": (2, 5, 3, 1),
    "four_slices": (3, 12, 2, 4),
    "90_results": (9, 70, 10, 7),
    "more_slices_than_results": (2, 301, 5, 43),
}


@cache
def _sliced_cases() -> tuple[Case, ...]:
    random = np.random.default_rng(19)
    cases = []
    for name, (m, k, n, slices) in SLICED.items():
        of = draw_quarters if name == "more_slices_than_results" else draw
        cases.append(_sliced_case(name, of(random, m, k), of(random, k, n), slices))
    return tuple(cases)


def _sliced_case(name: str, a: Array, b: Array, slices: int) -> Case:
    m, k = a.shape
    _, n = b.shape
    groups = ceil(m * n / THREADS)
    passes = Dispatch((groups, slices, 1), "first_pass"), Dispatch((groups, 1, 1), "second_pass")
    expected = (a.astype(float) @ b).astype(np.float32)
    return Case(name, (a, b), expected, (m, k, n, slices), passes, scratch=(slices * m * n,))


def _sliced_sizes(random: Random) -> Sizes:
    """Sometimes more results than a workgroup has threads, and sometimes more slices than that."""
    slices = int(random.choice([1, 3, 17, 67]))
    m, n = different(random, 2, 5 if slices == 67 else 14)
    k = slices * int(random.integers(1, 4)) + int(random.integers(1, 4))
    return {"M": m, "K": k, "N": n, "S": slices} | kind(random)


def _drawn_sliced(name: str, sizes: Sizes, random: Random) -> Case:
    m, k, n, slices = (sizes[letter] for letter in "MKNS")
    check_not_empty(m, k, n, slices)
    a = draw_numbers(random, sizes, m, k, largest=99)
    b = draw_numbers(random, sizes, k, n, largest=9)
    return with_rounding(_sliced_case(name, a, b, slices), sizes, np.matmul, a, b)


def _facts_of_slices(sizes: Sizes) -> Mapping[str, int]:
    known = numbers_of_facts(sizes)
    results = known["M"] * known["N"]
    return known | {"results": results, "parts": results * known["S"], IN_THE_LAST: results % THREADS}


def _larger_sliced() -> Case:
    random = np.random.default_rng(20)
    return _sliced_case("larger", draw(random, 18, 4), draw(random, 4, 20), 2)


SECOND = Puzzle(
    "second_pass",
    FOLDER,
    "m n",
    _sliced_cases,
    Skill.one_thread_for("result", "90_results", _larger_sliced),
    Drawn(_sliced_sizes, _drawn_sliced, _facts_of_slices),
)

# --- Taps of a class ----------------------------------------------------------------------------------------------

(TAPS,) = layer_puzzles(HERE.with_name("layers.toml"), FOLDER)
TAPS = replace(
    TAPS,
    skill=replace(
        TAPS.skill,
        asked="loops over the taps of a pixel's class alone, without the others",
        limits={"steps": TWICE, "results": TWICE},
        least={},
    ),
)

# --- Winograd's method --------------------------------------------------------------------------------------------

ROWS = {  # Ci, W and Co of the tests; the last one is in quarters
    "by_hand": (1, 4, 1),
    "six_outputs": (1, 8, 2),
    "three_channels": (3, 10, 2),
    "many_outputs": (4, 146, 3),
}


@cache
def _row_cases() -> tuple[Case, ...]:
    random = np.random.default_rng(23)
    cases = [_row_case("by_hand", np.float32([PIXELS]), np.float32([[WEIGHTS]]))]
    for name, (channels, width, filters) in list(ROWS.items())[1:]:
        of = draw_quarters if name == "many_outputs" else draw
        cases.append(_row_case(name, of(random, channels, width), of(random, filters, channels, 3)))
    return tuple(cases)


def _correlated(image: Array, weight: Array) -> Array:
    """The sums of products of rows (Ci, W) with filters (Co, Ci, 3)."""
    windows = np.lib.stride_tricks.sliding_window_view(image, 3, 1)
    return np.einsum("cwk,ock->ow", windows, weight)


def _row_case(name: str, image: Array, weight: Array) -> Case:
    channels, width = image.shape
    filters = len(weight)
    outputs = width - 2
    expected = _correlated(image.astype(float), weight.astype(float)).astype(np.float32)
    first = Dispatch((ceil(filters * channels / THREADS), 1, 1), "transform")
    second = Dispatch((ceil(outputs / 2 / THREADS), filters, 1), "two_outputs")
    params = channels, width, filters, outputs
    return Case(name, (image, weight), expected, params, (first, second), scratch=(4 * filters * channels,))


def _row_sizes(random: Random) -> Sizes:
    channels, filters = different(random, 2, 7)
    width = 4 + 2 * int(random.choice([0, 3, 63, 64, 70], p=[0.1, 0.3, 0.2, 0.2, 0.2]))
    return {"Ci": channels, "W": width, "Co": filters} | kind(random)


def _drawn_row(name: str, sizes: Sizes, random: Random) -> Case:
    """Rows whose outputs may be off as far as rounding takes Winograd's sums, which are larger than their own."""
    channels, width, filters = (sizes[letter] for letter in ("Ci", "W", "Co"))
    check_not_empty(channels, width, filters)
    if width < 4 or width % 2:
        raise ValueError(f"W = {width}: it must be even, and at least 4")
    image = draw_numbers(random, sizes, channels, width)
    weight = draw_numbers(random, sizes, filters, channels, 3)

    def bounded(image: Array, weight: Array) -> Array:
        return rows_by_winograd(image, weight, F23.absolute())

    return with_rounding(_row_case(name, image, weight), sizes, bounded, image, weight)


def _facts_of_rows(sizes: Sizes) -> Mapping[str, int]:
    known = numbers_of_facts(sizes)
    outputs = known["W"] - 2
    pairs = known["Ci"] * known["Co"]
    return known | {"outputs": outputs, "filters": pairs, IN_THE_LAST: outputs // 2 % THREADS}


def _larger_rows() -> Case:
    random = np.random.default_rng(24)
    return _row_case("larger", draw(random, 2, 130), draw(random, 5, 2, 3))


WINOGRAD = Puzzle(
    "winograd_f23",
    FOLDER,
    "co ow",
    _row_cases,
    Skill(
        "four multiplications for two outputs of one channel, where the direct way makes six",
        "many_outputs",
        {"multiplications": 1.25, "thread_loads": TWICE, "results": TWICE},
        larger=_larger_rows,
    ),
    Drawn(_row_sizes, _drawn_row, _facts_of_rows),
)

PUZZLES = IMPLICIT, SECOND, TAPS, WINOGRAD
