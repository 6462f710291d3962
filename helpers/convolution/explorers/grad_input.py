"""The input gradient: scatter and gather, the flipped filter, counts, and a simulated run of shared weights."""

from collections.abc import Sequence
from math import ceil, prod

import numpy as np

from helpers.convolution import operations
from helpers.convolution.explorers.sizes import ANY_PIXEL, SIZES, START, any_sizes_explorer, index_explorer
from helpers.convolution.pictures.input_gradient import InputGradientPicture, PixelCountsPicture
from helpers.convolution.pictures.scatter_gather import ScatterGatherPicture
from helpers.convolution.shapes import ConvShape
from helpers.kernels import load
from helpers.pictures.canvas import Picture
from helpers.stepper import stepper
from helpers.widgets.controls import Trials
from helpers.widgets.explorer import Explorer
from wgsl.simulator.run import simulate


def scatter_and_gather(weight: np.ndarray, grad_output: np.ndarray) -> Explorer:
    """Sliders over the outputs, on the left, and over the pixels, on the right, of one small case at stride 1.

    `weight` is (1, 1, kH, kW), `grad_output` (1, 1, oH, oW), each at most 3 x 3.
    """
    shape, grad_input = _whole_gradient(weight, grad_output)
    picture = ScatterGatherPicture(weight[0, 0], grad_output[0, 0], grad_input[0, 0])
    return index_explorer(picture, 1, oh=shape.out_h, ow=shape.out_w, ih=shape.in_h, iw=shape.in_w)


def input_gradient(weight: np.ndarray, grad_output: np.ndarray, steps: Trials | None = None) -> Explorer:
    """Sliders ih and iw that slide a filter (1, 1, kH, kW) over a gradient (1, 1, oH, oW), with letters.

    `steps` are what to try instead of what is suggested.
    """
    shape, grad_input = _whole_gradient(weight, grad_output)
    picture = InputGradientPicture(shape, weight, grad_output, grad_input, letters=True)
    bottom, right, middle = shape.in_h - 1, shape.in_w - 1, (shape.in_h // 2, shape.in_w // 2)
    suggested = {
        f"Point at pixel [{middle[0]},{middle[1]}] in grad_input: how many terms?": {"ih": middle[0], "iw": middle[1]},
        "Drag the frame to the bottom right: how many are left?": {"ih": bottom, "iw": right},
        "Find the pixel that only G and the weight a reach.": {"ih": 0, "iw": 0},
    }
    steps = suggested if steps is None else steps
    return index_explorer(picture, 1, play=("ih", "iw"), front=(), steps=steps, ih=shape.in_h, iw=shape.in_w)


def _whole_gradient(weight: np.ndarray, grad_output: np.ndarray) -> tuple[ConvShape, np.ndarray]:
    """The sizes at stride 1 without padding, and the gradient of the input as the GPU computes it."""
    (kH, kW), (oH, oW) = weight.shape[2:], grad_output.shape[2:]
    shape = ConvShape(1, 1, oH + kH - 1, oW + kW - 1, 1, kH, kW)
    return shape, operations.conv2d_grad_input(shape.input, weight, grad_output)


def any_input_gradient(
    seed: int = 0,
    front: Sequence[str] = ("stride", "padding", "ih", "iw"),
    steps: Trials | None = None,
    **values: int,
) -> Explorer:
    """Sliders for every size and step of a convolution, and for every index, over small random whole numbers."""
    suggested = {
        "Set stride to 1: where are the holes?": {"stride": 1},
        "Set stride to 3, then drag the frame to the right.": lambda v: v["stride"] == 3 and v["iw"] > 3,
        "Set padding to 1: which zeros are gone?": {"padding": 1},
    }
    steps = suggested if steps is None else steps
    start = {"N": 1, "Ci": 1, "Co": 1, "stride": 2, "ih": 2, "iw": 2}
    return any_sizes_explorer(_random_input_picture, ANY_PIXEL, START | start | values, seed, front, steps)


def _random_input_picture(shape: ConvShape, random: np.random.Generator) -> InputGradientPicture:
    sizes = shape.weight, shape.output
    weight, grad_output = (random.choice([-1, 1, 2, 3], size).astype(np.float32) for size in sizes)
    steps = shape.stride, shape.padding, shape.dilation, shape.groups
    grad_input = operations.conv2d_grad_input(shape.input, weight, grad_output, *steps)
    return InputGradientPicture(shape, weight, grad_output, grad_input)


def pixel_counts(in_h: int = 7, in_w: int = 9) -> Explorer:
    """Sliders for filter, stride and padding: in how many windows does each pixel of an image lie?"""
    picture = PixelCountsPicture()

    def draw(kH, kW, stride, padding) -> Picture:
        return picture.show(ConvShape(1, 1, in_h, in_w, 1, kH, kW, stride, padding))

    rules = {"kH": lambda v: (1, 5), "kW": lambda v: (1, 5), "stride": SIZES["stride"], "padding": lambda v: (0, 2)}
    return Explorer(draw, rules, {"kH": 3, "kW": 3, "stride": 1, "padding": 0})


def shared_weight_steps(weight: np.ndarray, grad_output: np.ndarray, padding: int = 0, **options) -> Explorer:
    """Sliders through a simulated run of 4 x 4 threads a tile that share the weights which they load, line by line.

    `weight` is (Co, 1, kH, kW), `grad_output` (1, Co, oH, oW), at stride 1. `options` are those of `stepper`, such as
    the step at first.
    """
    (channels, _, *filter), outputs, tile = weight.shape, grad_output.shape[2:], 4
    sizes = [o + k - 1 - 2 * padding for o, k in zip(outputs, filter, strict=True)]
    shape = ConvShape(1, 1, *sizes, channels, *filter, 1, padding, padding)
    kernel = load("conv2d_grad_input", "2_shared_weights").with_constants(TILE=tile)
    pixels, params = np.zeros(shape.input, np.float32), np.array(shape.params(), np.uint32)
    workgroups = ceil(shape.in_w / tile), ceil(shape.in_h / tile), 1
    trace = simulate(kernel, (grad_output, weight, pixels, params), workgroups)
    shapes = {"weight": weight.shape, "shared_weights": (prod(filter),)}
    shapes |= {"grad_output": grad_output.shape, "grad_input": shape.input}
    return stepper(trace, shapes, only=("workgroupBarrier", "shared_weights[i]", "grad_input["), **options)
