"""The limits of any convolution's sizes and indices, for the explorers whose sliders are all its letters."""

from collections.abc import Callable, Sequence

import numpy as np

from helpers.convolution.indices import output_channels_of
from helpers.convolution.shapes import ConvShape
from helpers.pictures.canvas import Picture
from helpers.widgets.controls import Trials, Values
from helpers.widgets.explorer import Explorer, Rule, below

AXES = ("H", "kH"), ("W", "kW")
LEGIBLE = 9  # rows and columns of the padded input
LEGIBLE_WITH_ZEROS = 11  # rows and columns of the upstream gradient with zeros around it, for the input gradient


def _channels(v: Values) -> tuple[int, int]:
    """From one channel in each group to four in all, or a little fewer where the groups do not divide four."""
    return v["groups"], 4 // v["groups"] * v["groups"]


def _longest_filter(v: Values, size: str) -> int:
    return min(5, v[size] + 2 * v["padding"])


def _most_dilation(v: Values, longest: dict[str, int]) -> int:
    """The largest dilation with which a filter is at most this long along H and W."""
    return min([3, *((longest[size] - 1) // (v[kernel] - 1) for size, kernel in AXES if v[kernel] > 1)])


def _padded(v: Values) -> dict[str, int]:
    return {size: v[size] + 2 * v["padding"] for size, _ in AXES}


def _legible(v: Values) -> dict[str, int]:
    """As `_padded`, but no longer than what fits into the picture of an input gradient."""
    return {size: min(padded, LEGIBLE_WITH_ZEROS + 1 - v[size]) for size, padded in _padded(v).items()}


def _outputs(v: Values, size: str, kernel: str) -> int:
    span = (v[kernel] - 1) * v["dilation"] + 1
    return (v[size] + 2 * v["padding"] - span) // v["stride"] + 1


def _filters_of(v: Values) -> tuple[int, int]:
    """The first and the last output channel of input channel ci's group."""
    channels = output_channels_of(ConvShape(1, v["Ci"], 1, 1, v["Co"], 1, 1, groups=v["groups"]), v["ci"])
    return channels[0], channels[-1]


SIZES: dict[str, Rule] = {
    "N": lambda v: (1, 3),
    "groups": lambda v: (1, 4),
    "Ci": _channels,
    "Co": _channels,
    "H": lambda v: (1, 7),
    "W": lambda v: (1, 7),
    "stride": lambda v: (1, 3),
    "padding": lambda v: (0, min(2, (LEGIBLE - max(v["H"], v["W"])) // 2)),
    "kH": lambda v: (1, _longest_filter(v, "H")),
    "kW": lambda v: (1, _longest_filter(v, "W")),
    "dilation": lambda v: (1, _most_dilation(v, _padded(v))),
    "n": lambda v: (0, v["N"] - 1),
}
MULTIPLES = {"Ci": "groups", "Co": "groups"}
START = {"N": 2, "groups": 1, "Ci": 2, "Co": 3, "H": 5, "W": 7, "stride": 1, "padding": 0, "kH": 3, "kW": 3}
OF_A_WEIGHT: dict[str, Rule] = {
    **SIZES,
    "co": lambda v: (0, v["Co"] - 1),
    "ci": lambda v: (0, v["Ci"] // v["groups"] - 1),
}
ANY_OUTPUT: dict[str, Rule] = {
    **OF_A_WEIGHT,
    "oh": lambda v: (0, _outputs(v, "H", "kH") - 1),
    "ow": lambda v: (0, _outputs(v, "W", "kW") - 1),
}
ANY_WEIGHT: dict[str, Rule] = {**OF_A_WEIGHT, "kh": lambda v: (0, v["kH"] - 1), "kw": lambda v: (0, v["kW"] - 1)}
ANY_PIXEL: dict[str, Rule] = {
    **SIZES,
    "dilation": lambda v: (1, _most_dilation(v, _legible(v))),
    "ci": lambda v: (0, v["Ci"] - 1),
    "co": _filters_of,  # those that read input channel ci
    "ih": lambda v: (0, v["H"] - 1),
    "iw": lambda v: (0, v["W"] - 1),
}


def index_explorer(
    picture: Picture,
    start: int = 0,
    *,
    play: Sequence[str] = (),
    front: Sequence[str] | None = None,
    steps: Trials | None = None,
    **limits: int,
) -> Explorer:
    """One slider for each index of a picture, by its name, from 0 to below its limit; all begin at `start`."""
    rules, values = {name: below(limit) for name, limit in limits.items()}, dict.fromkeys(limits, start)
    return Explorer(lambda **place: picture.show(*place.values()), rules, values, play=play, front=front, steps=steps)


def any_sizes_explorer(
    random_picture: Callable, rules: dict[str, Rule], values: Values, seed: int, front: Sequence[str], steps: Trials
) -> Explorer:
    """Sliders over the sizes and then the indices of `rules`; each new shape gets a picture with new random numbers.

    `random_picture` takes a ConvShape and a random generator; the picture's `show` takes the last two indices of
    `rules`, then co, ci and n. `front` and `steps` are the Explorer's.
    """
    pictures: dict[ConvShape, Picture] = {}

    def draw(N, groups, Ci, Co, H, W, stride, padding, kH, kW, dilation, n, co, ci, **place) -> Picture:
        shape = ConvShape(N, Ci, H, W, Co, kH, kW, stride, padding, dilation, groups)
        if shape not in pictures:
            pictures.clear()  # one at a time: the last shape is the only one on the screen
            pictures[shape] = random_picture(shape, np.random.default_rng(seed))
        return pictures[shape].show(*place.values(), co, ci, n)

    start = {**dict.fromkeys(rules, 0), **values}
    return Explorer(draw, rules, start, multiples=MULTIPLES, front=front, steps=steps)
