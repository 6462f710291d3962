"""Any convolution and its gradients: sliders for all sizes, steps and indices, over small random whole numbers."""

from collections.abc import Mapping, Sequence
from functools import lru_cache

import numpy as np

from helpers.gpu import adapter_info
from helpers.lessons.shared.pictures.forward import WindowPicture
from helpers.lessons.shared.pictures.input_gradient import InputGradientPicture
from helpers.lessons.shared.pictures.sums import SumPicture
from helpers.lessons.shared.pictures.weight_gradient import WeightGradientPicture
from helpers.operations.convolution.indices import output_channels_of
from helpers.operations.convolution.operations import OPERATIONS
from helpers.operations.convolution.shapes import ConvShape
from helpers.pictures.canvas import WIDTH
from helpers.widgets.controls import Trials, Values, by_dragging, by_pointing
from helpers.widgets.explorer import Explorer, Rule

CHANNELS_AND_SIZES = "N", "Ci", "H", "W", "Co", "kH", "kW"
STEPS = "stride", "padding", "dilation", "groups"
AXES = {"H": "kH", "W": "kW"}  # sizes of the input and of the filter
UNEQUAL = -1, 1, 2, 3  # a zero would look like nothing
LEGIBLE = 9  # rows and columns of the padded input
LEGIBLE_WITH_ZEROS = 11  # rows and columns of the upstream gradient with zeros around it, for the input gradient


def _shape(v: Values) -> ConvShape:
    sizes = [v[name] for name in CHANNELS_AND_SIZES]
    steps = {name: v[name] for name in STEPS}
    return ConvShape(*sizes, **steps)


def _channels(v: Values) -> tuple[int, int]:
    """From one channel in each group to four in all, or a little fewer where the groups do not divide four."""
    groups = v["groups"]
    return groups, 4 // groups * groups


def _padded(v: Values) -> dict[str, int]:
    return {size: v[size] + 2 * v["padding"] for size in AXES}


def _most_padding(v: Values) -> tuple[int, int]:
    """Up to 2, where the padded input is still legible."""
    larger = max(v["H"], v["W"])
    return 0, min(2, (LEGIBLE - larger) // 2)


def _most_dilation(v: Values, longest: dict[str, int]) -> tuple[int, int]:
    """Up to the largest dilation with which a filter is at most this long along H and W."""
    most = 3
    for size, kernel in AXES.items():
        if v[kernel] > 1:
            most = min(most, (longest[size] - 1) // (v[kernel] - 1))
    return 1, most


def _legible_dilation(v: Values) -> tuple[int, int]:
    """The same, with a filter that also fits into the picture of an input gradient."""
    longest = {}
    for size, padded in _padded(v).items():
        longest[size] = min(padded, LEGIBLE_WITH_ZEROS + 1 - v[size])
    return _most_dilation(v, longest)


def _filters_of(v: Values) -> tuple[int, int]:
    """The first and the last output channel of input channel ci's group."""
    channels = output_channels_of(_shape(v), v["ci"])
    return channels[0], channels[-1]


SIZES: dict[str, Rule] = {
    "N": (1, 3),
    "groups": (1, 4),
    "Ci": _channels,
    "Co": _channels,
    "H": (1, 7),
    "W": (1, 7),
    "stride": (1, 3),
    "padding": _most_padding,
    "kH": lambda v: (1, min(5, _padded(v)["H"])),
    "kW": lambda v: (1, min(5, _padded(v)["W"])),
    "dilation": lambda v: _most_dilation(v, _padded(v)),
    "n": lambda v: v["N"],
}
OF_A_WEIGHT: dict[str, Rule] = {
    **SIZES,
    "co": lambda v: v["Co"],
    "ci": lambda v: v["Ci"] // v["groups"],
}
START = {
    "N": 2,
    "groups": 1,
    "Ci": 2,
    "Co": 3,
    "H": 5,
    "W": 7,
    "stride": 1,
    "padding": 0,
    "kH": 3,
    "kW": 3,
}


def any_forward(**values: int) -> Explorer:
    """Sliders for every size and step of a convolution, and for every index, over small random whole numbers.

    It begins with one image and one pair of channels, so that all products of an output are seen.

    `values` are where the sliders start.
    """
    steps = {
        "Set stride to 2: how many outputs remain?": {"stride": 2},
        "Set padding to 1, then point at the top row of the output.": by_pointing({"padding": 1, "oh": 0}),
        "Set kH to 5: how many rows of outputs are left?": {"kH": 5},
    }
    numbers = {"input": range(5), "weight": (-2, -1, 1, 2, 3)}
    rules = {
        **OF_A_WEIGHT,
        "oh": lambda v: _shape(v).out_h,
        "ow": lambda v: _shape(v).out_w,
    }
    values = {"N": 1, "Ci": 1, "Co": 1} | values
    front = ("stride", "padding", "kH", "kW")
    return _explorer(WindowPicture, numbers, rules, values, front=front, steps=steps)


TRY_A_WEIGHT: Trials = {
    "Set stride to 2: which pixels does the frame hold?": {"stride": 2},
    "Set padding to 1, then click the bottom row of grad_weight.": {"padding": 1, "kh": 2},
    "Set n to 1, the second image: what stays the same?": {"n": 1},
}


def any_weight_gradient(
    front: Sequence[str] = ("stride", "padding", "n", "co"), steps: Trials = TRY_A_WEIGHT, **values: int
) -> Explorer:
    """The gradient of the weights: sliders as of `any_forward`.

    `front` are the sliders beside the picture, `steps` what to try, `values` where the sliders start.
    """
    numbers = {"input": range(5), "grad_output": UNEQUAL}
    rules = {
        **OF_A_WEIGHT,
        "kh": lambda v: v["kH"],
        "kw": lambda v: v["kW"],
    }
    return _explorer(WeightGradientPicture, numbers, rules, values, front=front, steps=steps)


TRY_A_PIXEL: Trials = {
    "Set stride to 1: where are the holes?": {"stride": 1},
    "Set stride to 3, then drag the frame to the right.": by_dragging(lambda v: v["stride"] == 3 and v["iw"] > 3),
    "Set padding to 1: which zeros are gone?": {"padding": 1},
}


def any_input_gradient(
    front: Sequence[str] = ("stride", "padding", "ih", "iw"), steps: Trials = TRY_A_PIXEL, **values: int
) -> Explorer:
    """The gradient of the input: sliders as of `any_forward`.

    `front`, `steps` and `values` are those of `any_weight_gradient`.
    """
    numbers = {"weight": UNEQUAL, "grad_output": UNEQUAL}
    rules = {
        **SIZES,
        "dilation": _legible_dilation,
        "ci": lambda v: v["Ci"],
        "co": _filters_of,
        "ih": lambda v: v["H"],
        "iw": lambda v: v["W"],
    }
    start = {
        "N": 1,
        "Ci": 1,
        "Co": 1,
        "stride": 2,
        "ih": 1,
        "iw": 2,
    }
    values = start | values
    return _explorer(InputGradientPicture, numbers, rules, values, front=front, steps=steps)


def _explorer(
    kind: type[SumPicture], numbers: Mapping[str, Sequence[int]], rules: dict[str, Rule], values: Values, **options
) -> Explorer:
    """Sliders over the sizes and then the indices of `rules`; each new shape gets a picture with new random numbers.

    `numbers` are those that each tensor has; the picture's `show` takes the last two indices of `rules`, then co, ci, n
    and the product that is looked at. `options` are the Explorer's.
    """

    @lru_cache(1)  # the last shape is the only one on the screen
    def picture(shape: ConvShape) -> SumPicture:
        random = np.random.default_rng(0)
        tensors = {}
        for name, among in numbers.items():
            tensors[name] = np.float32(random.choice(among, shape.of(name)))
        return computed(kind, shape, tensors)

    def draw(n: int, co: int, ci: int, product: int = 0, **others: int) -> SumPicture:
        *_, row, column = others.values()
        return picture(_shape(others)).show(row, column, co, ci, n, product)

    return Explorer(draw, rules, START | values, multiples={"Ci": "groups", "Co": "groups"}, **options)


def computed(
    kind: type[SumPicture],
    shape: ConvShape,
    tensors: Mapping[str, np.ndarray],
    letters: bool = False,
    width: int = WIDTH,
) -> SumPicture:
    """A picture of these tensors, beside what the GPU makes of them."""
    operation = next(operation for operation in OPERATIONS.values() if operation.outputs == (kind.result,))
    (returned,) = operation.compute(shape, None, **tensors)
    picture = kind(shape, tensors, returned, letters, width)
    picture.on = adapter_info().short if kind is WeightGradientPicture else ""
    return picture
