"""Layers that are drawn at random, for a text that passes its tests, by the names of their sizes."""

from collections.abc import Callable, Mapping
from itertools import combinations
from math import prod

import numpy as np

from helpers.lessons.shared.drawn_numbers import Sizes, kind

Random = np.random.Generator

ALIKE = "H W", "kH kW", "oH oW", "Ph Pw", "N Ci Co"  # what a text may confuse: it differs where it can
MOST_PRODUCTS = 90  # in one result: of the loops of one thread
MOST_ROUNDS = 2.2  # times the results that a workgroup computes
RESULT = {"output": "N Co oH oW", "grad_weight": "Co Ci kH kW", "grad_input": "N Ci H W"}
SUMMED = {"output": "Ci kH kW", "grad_weight": "N oH oW", "grad_input": "Co kH kW"}


def names_of(words: str) -> list[str]:
    """Return the sizes that a layer is known by, in their order, where a uniform has these words.

    Without kW the filter is square, F x F; without Pw the padding is the same on all sides, P.
    """
    has = words.split()
    names = ["H", "W"]
    if "Ci" in has:
        names = ["N", "Ci", "H", "W", "Co"]
    is_square = "kH" in has and "kW" not in has
    names += ["F"] if is_square else ["kH", "kW"]
    names += [name for name in ("S",) if name in has]
    if "Ph" in has:
        names += ["Ph", "Pw"] if "Pw" in has else ["P"]
    return names


def all_sizes(sizes: Sizes) -> dict[str, int]:
    """Return all sizes of a layer but its output's, where some are given by another, or are those of a plane."""
    known = {"N": 1, "Ci": 1, "Co": 1, "S": 1, "Ph": 0, "Pw": 0, **sizes}
    if "F" in sizes:
        known["kH"] = known["kW"] = sizes["F"]
    if "P" in sizes:
        known["Ph"] = known["Pw"] = sizes["P"]
    return known


def _with_outputs(known: Mapping[str, int]) -> dict[str, int]:
    """Return the sizes of a layer with those of its output."""
    outputs = {}
    for axis in "HW":
        padded = known[axis] + 2 * known["P" + axis.lower()]
        outputs[f"o{axis}"] = (padded - known[f"k{axis}"]) // known["S"] + 1
    return {**known, **outputs}


def draw_layer(result: str, words: str, at_once: int) -> Callable[[Random], Sizes]:
    """Return a function that draws the sizes of a layer of which a workgroup computes `at_once` results.

    Every third has more results than one workgroup computes.
    """
    names = names_of(words)

    def draw(random: Random) -> Sizes:
        wide = random.random() < 1 / 3
        while True:
            sizes = {name: _draw(name, wide, random) for name in names}
            if _fit(sizes, result, at_once, wide):
                return sizes | kind(random)

    return draw


def _draw(name: str, wide: bool, random: Random) -> int:
    """Draw one size; some strides are above the filter, and some paddings are as large."""
    least, most = {
        "N": (1, 4),
        "Ci": (1, 5),
        "Co": (1, 7),
        "H": (3, 12),
        "W": (3, 12),
        "kH": (1, 5),
        "kW": (1, 5),
        "F": (1, 5),
        "S": (1, 5),
    }.get(name, (0, 4))
    if wide and name in ("H", "W", "kH", "kW", "Ci", "Co"):
        most = most * 2
    return int(random.integers(least, most + 1))


def _fit(sizes: Sizes, result: str, at_once: int, wide: bool) -> bool:
    """Return True where the filter fits, no two sizes that may be confused are equal, and the work is small."""
    known = _with_outputs(all_sizes(sizes))
    if min(known["oH"], known["oW"]) < 1 or known["Ph"] > known["kH"] or known["Pw"] > known["kW"]:
        return False
    if prod(known[name] for name in SUMMED[result].split()) > MOST_PRODUCTS:
        return False
    results = prod(known[name] for name in RESULT[result].split())
    if results > MOST_ROUNDS * at_once or (results > at_once) != wide:
        return False
    return _differ(known, sizes)


def _differ(known: Mapping[str, int], sizes: Sizes) -> bool:
    """Return True where sizes that a text may confuse are different, as far as they are drawn."""
    for alike in ALIKE:
        drawn = [name for name in alike.split() if name in sizes or name.startswith("o")]
        for one, other in combinations(drawn, 2):
            if known[one] == known[other]:
                return False
    return True


def draw_indices(words: str, at_once: int) -> Callable[[Random], Sizes]:
    """Return a function that draws four sizes of which an index is made, all different; some need two workgroups."""

    def draw(random: Random) -> Sizes:
        wide = random.random() < 1 / 2
        while True:
            sizes = random.integers(1, 9, 4).tolist()
            if len({*sizes}) == 4 and (prod(sizes) > at_once) == wide:
                return dict(zip(words.split(), sizes, strict=True))

    return draw
