"""The weight gradient: what contributes to a weight, and how threads share the work."""

from collections.abc import Sequence
from math import prod
from string import ascii_lowercase

import numpy as np

from helpers.convolution import operations
from helpers.convolution.exercises.weight_gradient import IMAGE, UPSTREAM
from helpers.convolution.explorers.sizes import ANY_WEIGHT, START, any_sizes_explorer, index_explorer
from helpers.convolution.pictures.weight_gradient import SharedProductsPicture, ThreadsPicture, WeightGradientPicture
from helpers.convolution.shapes import ConvShape
from helpers.widgets.controls import Trials
from helpers.widgets.explorer import Explorer

SMALL_CASE = tuple(np.array(matrix, np.float32)[None, None] for matrix in (IMAGE, UPSTREAM))  # image, upstream gradient
LENET_CONV1 = ConvShape(1, 1, 28, 28, 6, 5, 5)


def weight_gradient(
    input: np.ndarray = SMALL_CASE[0], grad_output: np.ndarray = SMALL_CASE[1], steps: Trials | None = None
) -> Explorer:
    """Sliders kh and kw over an image (1, 1, H, W) and a gradient (1, 1, oH, oW), with the pixels named by letters.

    Without them, they are lesson 02's small case. `steps` are what to try instead of what is suggested.
    """
    picture = _with_letters(input, grad_output)
    kH, kW = picture.shape.weight[2:]
    steps = _to_touch(picture.shape) if steps is None else steps
    return index_explorer(picture, play=("kh", "kw"), front=(), steps=steps, kh=kH, kw=kW)


def _to_touch(shape: ConvShape) -> Trials:
    """What to try: a cell, the frame, and the way back from a product to its weight."""
    bottom, right = shape.kernel_h - 1, shape.kernel_w - 1
    inner = bottom // 2, 0
    pixel = ascii_lowercase[inner[0] * shape.in_w + inner[1]]
    return {
        f"Point at the weight [{bottom},{right}] in grad_weight.": {"kh": bottom, "kw": right},
        "Drag the frame in the input to the top right corner.": {"kh": 0, "kw": right},
        f"Find the weight whose first product is G·{pixel}.": dict(zip(("kh", "kw"), inner, strict=True)),
    }


def terms_of_weight(input: np.ndarray, grad_output: np.ndarray, kh: int, kw: int) -> str:
    """The sum of one weight's gradient in letters, such as "dW[1,0] = G·f + H·g + I·h = 7".

    `input` is (1, 1, H, W), `grad_output` (1, 1, oH, oW), as for `weight_gradient`, whose picture says the same.
    """
    picture = _with_letters(input, grad_output)
    for name, index, size in zip(("kh", "kw"), (kh, kw), picture.shape.weight[2:], strict=True):
        if not 0 <= index < size:
            raise ValueError(f"{name} = {index}: the weights have {name} from 0 to {size - 1}")
    return picture.show(kh, kw).equation


def _with_letters(input: np.ndarray, grad_output: np.ndarray) -> WeightGradientPicture:
    shape = _plain(input, grad_output)
    grad_weight = operations.conv2d_grad_weight(input, shape.weight, grad_output)
    return WeightGradientPicture(shape, input, grad_output, grad_weight, letters=True)


def _plain(input: np.ndarray, grad_output: np.ndarray) -> ConvShape:
    """The sizes of one image and one pair of channels, with stride 1 and no padding; refuses anything else."""
    for name, array in (("input", input), ("grad_output", grad_output)):
        if array.shape[:2] != (1, 1):
            raise ValueError(f"{name} has shape {array.shape}: it must be one image of one channel, (1, 1, ., .)")
    return ConvShape.between(input.shape, grad_output.shape)


def any_weight_gradient(
    seed: int = 0,
    front: Sequence[str] = ("stride", "padding", "n", "co"),
    steps: Trials | None = None,
    **values: int,
) -> Explorer:
    """Sliders for every size and step of a convolution, and for every index, over small random whole numbers."""
    suggested = {
        "Set stride to 2: which pixels does the frame hold?": {"stride": 2},
        "Set padding to 1, then click the top row of grad_weight.": {"padding": 1, "kh": 0},
        "Set n to 1, the second image: what stays the same?": {"n": 1},
    }
    steps = suggested if steps is None else steps
    return any_sizes_explorer(_random_picture, ANY_WEIGHT, START | values, seed, front, steps)


def _random_picture(shape: ConvShape, random: np.random.Generator) -> WeightGradientPicture:
    input = random.integers(0, 5, shape.input).astype(np.float32)
    grad_output = random.choice([-1, 1, 2, 3], shape.output).astype(np.float32)  # no zeros, which look like nothing
    steps = shape.stride, shape.padding, shape.dilation, shape.groups
    grad_weight = operations.conv2d_grad_weight(input, shape.weight, grad_output, *steps)
    return WeightGradientPicture(shape, input, grad_output, grad_weight)


# --- How threads share the work -------------------------------------------------------------------------------


def threads(shape: ConvShape = LENET_CONV1, steps: Trials | None = None) -> Explorer:
    """One slider over the threads of the first workgroup, each of which owns one weight, or none."""
    weights = prod(shape.weight)
    suggested: Trials = {"Find thread 99: which weight is its own?": {"thread": 99}}
    if weights < 256:
        suggested["Point at a thread that owns no weight."] = lambda values: values["thread"] >= weights
    steps = suggested if steps is None else steps
    return index_explorer(ThreadsPicture(shape), 37, play=("thread",), front=(), steps=steps, thread=256)


def shared_products(shape: ConvShape, count: int = 256) -> Explorer:
    """One slider over `count` threads that share one weight's products."""
    return index_explorer(SharedProductsPicture(shape, count), 37, play=("thread",), thread=count)
