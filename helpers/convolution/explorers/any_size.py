"""Any convolution and its gradients: sliders for all sizes, steps and indices, over small random whole numbers."""

from collections.abc import Callable, Sequence

import numpy as np

from helpers.convolution import operations
from helpers.convolution.indices import output_channels_of
from helpers.convolution.pictures.forward import WindowPicture
from helpers.convolution.pictures.input_gradient import InputGradientPicture
from helpers.convolution.pictures.parameter_gradients import WeightGradientPicture
from helpers.convolution.shapes import ConvShape
from helpers.gpu import adapter_info
from helpers.pictures.canvas import Picture
from helpers.widgets.controls import Trials, Values
from helpers.widgets.explorer import Explorer, Rule

OF_A_SHAPE = "N", "Ci", "H", "W", "Co", "kH", "kW", "stride", "padding", "dilation", "groups"
AXES = ("H", "kH"), ("W", "kW")
LEGIBLE = 9  # rows and columns of the padded input
LEGIBLE_WITH_ZEROS = 11  # rows and columns of the upstream gradient with zeros around it, for the input gradient


def _shape(v: Values) -> ConvShape:
    return ConvShape(*(v[name] for name in OF_A_SHAPE))


def _channels(v: Values) -> tuple[int, int]:
    """From one channel in each group to four in all, or a little fewer where the groups do not divide four."""
    return v["groups"], 4 // v["groups"] * v["groups"]


def _padded(v: Values) -> dict[str, int]:
    return {size: v[size] + 2 * v["padding"] for size, _ in AXES}


def _most_dilation(v: Values, longest: dict[str, int]) -> tuple[int, int]:
    """Up to the largest dilation with which a filter is at most this long along H and W."""
    return 1, min([3, *((longest[size] - 1) // (v[kernel] - 1) for size, kernel in AXES if v[kernel] > 1)])


def _legible_dilation(v: Values) -> tuple[int, int]:
    """The same, with a filter that also fits into the picture of an input gradient."""
    return _most_dilation(v, {size: min(p, LEGIBLE_WITH_ZEROS + 1 - v[size]) for size, p in _padded(v).items()})


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
    "padding": lambda v: (0, min(2, (LEGIBLE - max(v["H"], v["W"])) // 2)),
    "kH": lambda v: (1, min(5, _padded(v)["H"])),
    "kW": lambda v: (1, min(5, _padded(v)["W"])),
    "dilation": lambda v: _most_dilation(v, _padded(v)),
    "n": lambda v: v["N"],
}
OF_A_WEIGHT: dict[str, Rule] = {**SIZES, "co": lambda v: v["Co"], "ci": lambda v: v["Ci"] // v["groups"]}
START = {"N": 2, "groups": 1, "Ci": 2, "Co": 3, "H": 5, "W": 7, "stride": 1, "padding": 0, "kH": 3, "kW": 3}


def any_forward(**values: int) -> Explorer:
    """Sliders for every size and step of a convolution, and for every index, over small random whole numbers.

    `values` are where the sliders start.
    """

    def random_picture(shape: ConvShape, random: np.random.Generator) -> WindowPicture:
        input = random.integers(0, 5, shape.input).astype(np.float32)
        weight = _drawn(random, shape.weight, -2, -1, 1, 2, 3)
        bias = _drawn(random, shape.out_channels, -1, 1, 2)
        return WindowPicture(shape, input, weight, operations.conv2d(input, weight, bias, *_how(shape)), bias)

    steps = {
        "Set stride to 2: how many outputs remain?": {"stride": 2},
        "Set padding to 1, then point at the top row of the output.": {"padding": 1, "oh": 0},
        "Set co to 1, another filter: what stays the same?": {"co": 1},
    }
    rules = OF_A_WEIGHT | {"oh": lambda v: _shape(v).out_h, "ow": lambda v: _shape(v).out_w}
    front = "stride", "padding", "n", "co"
    return _explorer(random_picture, rules, values, front=front, steps=steps)


def any_weight_gradient(
    front: Sequence[str] = ("stride", "padding", "n", "co"),
    steps: Trials | None = None,
    **values: int,
) -> Explorer:
    """The gradient of the weights: sliders as of `any_forward`.

    `front` are the sliders beside the picture, `steps` what to try instead of what is suggested, `values` where the
    sliders start.
    """

    def random_picture(shape: ConvShape, random: np.random.Generator) -> WeightGradientPicture:
        input = random.integers(0, 5, shape.input).astype(np.float32)
        grad_output = _drawn(random, shape.output, -1, 1, 2, 3)
        returned = operations.conv2d_grad_weight(input, shape.weight, grad_output, *_how(shape))
        picture = WeightGradientPicture(shape, input, grad_output, returned)
        picture.on = adapter_info().short
        return picture

    suggested = {
        "Set stride to 2: which pixels does the frame hold?": {"stride": 2},
        "Set padding to 1, then click the top row of grad_weight.": {"padding": 1, "kh": 0},
        "Set n to 1, the second image: what stays the same?": {"n": 1},
    }
    rules = OF_A_WEIGHT | {"kh": lambda v: v["kH"], "kw": lambda v: v["kW"]}
    return _explorer(random_picture, rules, values, front=front, steps=suggested if steps is None else steps)


def any_input_gradient(
    front: Sequence[str] = ("stride", "padding", "ih", "iw"),
    steps: Trials | None = None,
    **values: int,
) -> Explorer:
    """The gradient of the input: sliders as of `any_forward`.

    `front`, `steps` and `values` are those of `any_weight_gradient`.
    """

    def random_picture(shape: ConvShape, random: np.random.Generator) -> InputGradientPicture:
        weight, grad_output = (_drawn(random, size, -1, 1, 2, 3) for size in (shape.weight, shape.output))
        returned = operations.conv2d_grad_input(shape.input, weight, grad_output, *_how(shape))
        return InputGradientPicture(shape, weight, grad_output, returned)

    suggested = {
        "Set stride to 1: where are the holes?": {"stride": 1},
        "Set stride to 3, then drag the frame to the right.": lambda v: v["stride"] == 3 and v["iw"] > 3,
        "Set padding to 1: which zeros are gone?": {"padding": 1},
    }
    rules = SIZES | {"dilation": _legible_dilation, "ci": lambda v: v["Ci"], "co": _filters_of}
    rules |= {"ih": lambda v: v["H"], "iw": lambda v: v["W"]}
    values = {"N": 1, "Ci": 1, "Co": 1, "stride": 2, "ih": 1, "iw": 2} | values
    return _explorer(random_picture, rules, values, front=front, steps=suggested if steps is None else steps)


def _drawn(random: np.random.Generator, size: int | tuple[int, ...], *numbers: int) -> np.ndarray:
    """Random numbers among these, of which none is a zero: that would look like nothing."""
    return random.choice(numbers, size).astype(np.float32)


def _how(shape: ConvShape) -> tuple:
    return shape.stride, shape.padding, shape.dilation, shape.groups


def _explorer(random_picture: Callable, rules: dict[str, Rule], values: Values, **options) -> Explorer:
    """Sliders over the sizes and then the indices of `rules`; each new shape gets a picture with new random numbers.

    `random_picture` takes a ConvShape and a random generator; the picture's `show` takes the last two indices of
    `rules`, then co, ci, n and the product that is looked at. `options` are the Explorer's.
    """
    pictures: dict[ConvShape, Picture] = {}

    def draw(n: int, co: int, ci: int, product: int = 0, **others: int) -> Picture:
        shape, (*_, row, column) = _shape(others), others.values()
        if shape not in pictures:
            pictures.clear()  # one at a time: the last shape is the only one on the screen
            pictures[shape] = random_picture(shape, np.random.default_rng(0))
        return pictures[shape].show(row, column, co, ci, n, product)

    return Explorer(draw, rules, START | values, multiples={"Ci": "groups", "Co": "groups"}, **options)
