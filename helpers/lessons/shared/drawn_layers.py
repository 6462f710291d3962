"""Layers that are drawn at random, for a text that passes its tests, by the names of their sizes."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from itertools import combinations
from math import prod

import numpy as np

from helpers.grading.drawn_choice import IN_THE_LAST, numbers_of_facts
from helpers.lessons.shared.drawn_numbers import Sizes, kind

Random = np.random.Generator

ALIKE = "H W", "kH kW", "oH oW", "Ph Pw", "N Ci Co"  # what a text may confuse: it differs where it can
MOST_PRODUCTS = 44  # in one result: of the loops of one thread
MOST_ROUNDS = 2.5  # times the results that a workgroup computes
TENSORS = {
    "input": ("N", "Ci", "H", "W"),
    "weight": ("Co", "Ci", "kH", "kW"),
    "output": ("N", "Co", "oH", "oW"),
}
SUMMED = {"output": "Ci kH kW", "grad_weight": "N oH oW", "grad_input": "Co kH kW"}
RESULT = {"output": "output", "grad_weight": "weight", "grad_input": "input"}  # the tensor that has its sizes

# What a layer is like: small, or with more results than a workgroup computes, with one size that is long, or with
# powers of two, whose results fill workgroups; the least and the most of each size.
SMALL, WIDE, LONG, FULL = "small", "wide", "long", "full"
LIKE = SMALL, SMALL, WIDE, WIDE, LONG, LONG, LONG, FULL
RANGES = {
    SMALL: {
        "N": (1, 4),
        "Ci": (1, 5),
        "Co": (1, 7),
        "H": (3, 12),
        "W": (3, 12),
        "kH": (1, 5),
        "kW": (1, 5),
        "F": (1, 5),
    },
    WIDE: {
        "N": (1, 4),
        "Ci": (1, 10),
        "Co": (1, 14),
        "H": (3, 24),
        "W": (3, 24),
        "kH": (1, 10),
        "kW": (1, 10),
        "F": (1, 5),
    },
    LONG: {
        "N": (2, 3),
        "Ci": (2, 3),
        "Co": (1, 3),
        "H": (1, 6),
        "W": (1, 6),
        "kH": (1, 3),
        "kW": (1, 3),
        "F": (1, 3),
        "S": (1, 2),
    },
    FULL: {
        "N": (0, 2),
        "Ci": (0, 3),
        "Co": (0, 3),
        "H": (0, 4),
        "W": (0, 4),
        "kH": (0, 3),
        "kW": (0, 3),
        "F": (0, 2),
        "S": (0, 2),
    },
}


OTHERS = {"S": (1, 5), "P": (0, 4), "Ph": (0, 4), "Pw": (0, 4)}


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


def facts_of_layer(result: str, at_once: int) -> Callable[[Sizes], dict[str, int]]:
    """Return a function of a layer's sizes: what a text may limit, or confuse with something else.

    These are all sizes, the planes and rows of each tensor, the numbers of the result, and those of its last workgroup.
    """

    def facts(sizes: Sizes) -> dict[str, int]:
        known = _with_outputs(all_sizes(numbers_of_facts(sizes)))
        for tensor, (outer, inner, rows, columns) in TENSORS.items():
            planes = known[outer] * known[inner]
            known[f"planes of {tensor}"] = planes
            known[f"rows of {tensor}"] = planes * known[rows]
            known[f"numbers of {tensor}"] = planes * known[rows] * known[columns]
        known[IN_THE_LAST] = _results(known, result) % at_once
        return known

    return facts


def draw_layer(result: str, words: str, at_once: int) -> Callable[[Random], Sizes]:
    """Return a function that draws the sizes of a layer of which a workgroup computes `at_once` results."""
    names = names_of(words)
    can_be_long = [name for name in names if name in RANGES[SMALL]]

    def draw(random: Random) -> Sizes:
        like = str(random.choice(LIKE))
        long = str(random.choice(can_be_long))
        while True:
            sizes = _sizes_like(like, names, random)
            if like == LONG:
                _make_long(sizes, long, random)
            if like == FULL and result == "output":
                _with_inputs(sizes)
            if _fit(sizes, result, at_once, like):
                return sizes | kind(random)

    return draw


def _sizes_like(like: str, names: Sequence[str], random: Random) -> dict[str, int]:
    """Draw sizes; some strides are above the filter, and some paddings are as large."""
    least, below = _ranges(like, *names)
    sizes = dict(zip(names, random.integers(least, below).tolist(), strict=True))
    if like == FULL:
        for name in RANGES[FULL].keys() & sizes.keys():
            sizes[name] = 2 ** sizes[name]
    return sizes


@cache
def _ranges(like: str, *names: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the least of each size, and the first number above the most."""
    least, most = np.transpose([RANGES[like].get(name) or OTHERS[name] for name in names])
    return least, most + 1


def _make_long(sizes: dict[str, int], long: str, random: Random) -> None:
    """Make one size long; that of a filter with the image below it."""
    sizes[long] = int(random.integers(9, 10 if long == "F" else 40))
    for axis in "HW":
        if long in (f"k{axis}", "F"):
            sizes[axis] += sizes[long]


def _with_inputs(sizes: dict[str, int]) -> None:
    """Take the sizes of the image for those of the output."""
    known = all_sizes(sizes)
    for axis in "HW":
        window = known[f"k{axis}"] - 2 * known[f"P{axis.lower()}"]
        sizes[axis] = (sizes[axis] - 1) * known["S"] + window


def _fit(sizes: Sizes, result: str, at_once: int, like: str) -> bool:
    """Return True where the filter fits, the work is small, and the layer is what it is to be like."""
    known = _with_outputs(all_sizes(sizes))
    if (
        min(known[name] for name in ("H", "W", "oH", "oW")) < 1
        or known["Ph"] > known["kH"]
        or known["Pw"] > known["kW"]
    ):
        return False
    if prod(known[name] for name in SUMMED[result].split()) > MOST_PRODUCTS:
        return False
    results = _results(known, result)
    if results > MOST_ROUNDS * at_once:
        return False
    if like == FULL:
        return results % at_once == 0
    if like == LONG:
        return True
    return (results > at_once) == (like == WIDE) and _differ(known, sizes)


def _results(known: Mapping[str, int], result: str) -> int:
    return prod(known[name] for name in TENSORS[RESULT[result]])


def _differ(known: Mapping[str, int], sizes: Sizes) -> bool:
    """Return True where sizes that a text may confuse are different, as far as they are drawn."""
    for alike in ALIKE:
        drawn = [name for name in alike.split() if name in sizes or name.startswith("o")]
        for one, other in combinations(drawn, 2):
            if known[one] == known[other]:
                return False
    return True


def draw_indices(words: str, at_once: int) -> Callable[[Random], Sizes]:
    """Return a function that draws four sizes of which an index is made: all different, or one of them long.

    Some need two workgroups.
    """

    def draw(random: Random) -> Sizes:
        wide = random.random() < 1 / 2
        long = random.random() < 1 / 3
        while True:
            sizes = random.integers(1, 5 if long else 9, 4).tolist()
            if long:
                sizes[random.integers(4)] = int(random.integers(9, 41))
            if long or (len({*sizes}) == 4 and (prod(sizes) > at_once) == wide):
                return dict(zip(words.split(), sizes, strict=True))

    return draw


def facts_of_indices(at_once: int) -> Callable[[Sizes], dict[str, int]]:
    """Return a function of the sizes of which an index is made: these, their product, and its last workgroup."""

    def facts(sizes: Sizes) -> dict[str, int]:
        results = prod(sizes.values())
        return {**sizes, "results": results, IN_THE_LAST: results % at_once}

    return facts
