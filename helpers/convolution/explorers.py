"""Pictures with sliders of a convolution and its gradients, and of the threads that compute them."""

from collections.abc import Callable
from math import ceil, prod

import numpy as np

from helpers.convolution import operations
from helpers.convolution.indices import products_of_thread
from helpers.convolution.pictures.bias_gradient import BiasGradientPicture
from helpers.convolution.pictures.forward import DependencePicture, EdgesPicture, WindowPicture
from helpers.convolution.pictures.input_gradient import (
    InputGradientPicture,
    PixelCountsPicture,
    ScatterGatherPicture,
)
from helpers.convolution.pictures.matrix import MatrixPicture
from helpers.convolution.pictures.weight_gradient import SharedProductsPicture, ThreadsPicture, WeightGradientPicture
from helpers.convolution.shapes import ConvShape
from helpers.data import digits
from helpers.pictures.canvas import Picture
from helpers.pictures.explorer import Explorer, Rule, below
from helpers.simulator.run import simulate
from helpers.stepper import stepper
from helpers.summation.pictures import TreePicture
from helpers.wgsl import load

# --- The sizes of any convolution, for the explorers whose sliders are all its letters ------------------------

SIZES: dict[str, Rule] = {
    "N": lambda v: (1, 3),
    "Ci": lambda v: (1, 3),
    "Co": lambda v: (1, 3),
    "H": lambda v: (1, 7),
    "W": lambda v: (1, 7),
    "stride": lambda v: (1, 3),
    "padding": lambda v: (0, min(2, (9 - max(v["H"], v["W"])) // 2)),  # 9 x 9 cells are legible
    "kH": lambda v: (1, min(5, v["H"] + 2 * v["padding"])),
    "kW": lambda v: (1, min(5, v["W"] + 2 * v["padding"])),
    "n": lambda v: (0, v["N"] - 1),
    "co": lambda v: (0, v["Co"] - 1),
    "ci": lambda v: (0, v["Ci"] - 1),
}
START = {"N": 2, "Ci": 2, "Co": 3, "H": 5, "W": 7, "stride": 1, "padding": 0, "kH": 3, "kW": 3}
ANY_OUTPUT: dict[str, Rule] = {
    **SIZES,
    "oh": lambda v: (0, (v["H"] + 2 * v["padding"] - v["kH"]) // v["stride"]),
    "ow": lambda v: (0, (v["W"] + 2 * v["padding"] - v["kW"]) // v["stride"]),
}
ANY_WEIGHT: dict[str, Rule] = {**SIZES, "kh": lambda v: (0, v["kH"] - 1), "kw": lambda v: (0, v["kW"] - 1)}
ANY_PIXEL: dict[str, Rule] = {**SIZES, "ih": lambda v: (0, v["H"] - 1), "iw": lambda v: (0, v["W"] - 1)}


def _of_any_sizes(random_picture: Callable, rules: dict[str, Rule], values: dict[str, int], seed: int) -> Explorer:
    """Sliders over the sizes and then the indices of `rules`; each new shape gets a picture with new random numbers.

    `random_picture` takes a ConvShape and a random generator; the picture's `show` takes the last two indices of
    `rules`, then co, ci and n.
    """
    pictures: dict[ConvShape, Picture] = {}

    def draw(N, Ci, Co, H, W, stride, padding, kH, kW, n, co, ci, **place) -> Picture:
        shape = ConvShape(N, Ci, H, W, Co, kH, kW, stride, padding)
        if shape not in pictures:
            pictures.clear()  # one at a time: the last shape is the only one on the screen
            pictures[shape] = random_picture(shape, np.random.default_rng(seed))
        return pictures[shape].show(*place.values(), co, ci, n)

    return Explorer(draw, rules, {**dict.fromkeys(rules, 0), **values}, columns=7)


# --- The forward pass -------------------------------------------------------------------------------------


def forward(input: np.ndarray, weight: np.ndarray) -> Explorer:
    """Sliders oh and ow over an image (1, 1, H, W) and a filter (1, 1, kH, kW), with letters for pixels and weights."""
    shape = _one_pair(input, weight)
    output = operations.conv2d(input, weight)
    picture = WindowPicture(shape, input, weight, output, np.zeros(1), letters=True)
    return Explorer(picture.show, {"oh": below(shape.out_h), "ow": below(shape.out_w)}, {"oh": 0, "ow": 0})


def _one_pair(input: np.ndarray, weight: np.ndarray, stride: int = 1, padding: int = 0) -> ConvShape:
    """The sizes of one image and one pair of channels; refuses more."""
    for name, array in (("input", input), ("weight", weight)):
        if array.shape[:2] != (1, 1):
            raise ValueError(f"{name} has shape {array.shape}: it must have one channel, (1, 1, ., .)")
    return ConvShape(*input.shape, 1, *weight.shape[2:], stride, padding)


def any_forward(seed: int = 0, **values: int) -> Explorer:
    """Sliders for every size, stride and padding, and for every index, over small random whole numbers."""
    return _of_any_sizes(_random_window, ANY_OUTPUT, START | values, seed)


def _random_window(shape: ConvShape, random: np.random.Generator) -> WindowPicture:
    input = random.integers(0, 5, shape.input).astype(np.float32)
    weight = random.choice([-2, -1, 1, 2, 3], shape.weight).astype(np.float32)  # no zeros, which look like nothing
    bias = random.choice([-1, 1, 2], shape.out_channels).astype(np.float32)
    output = operations.conv2d(input, weight, bias, shape.stride, shape.padding)
    return WindowPicture(shape, input, weight, output, bias)


def outputs_of_weight(input: np.ndarray, weight: np.ndarray) -> Explorer:
    """Sliders over the weights of a filter (1, 1, kH, kW), and stride and padding: which outputs does one reach?"""
    rows, columns = weight.shape[2:]
    return _dependence(input, weight, {"kh": below(rows), "kw": below(columns)})


def outputs_of_pixel(input: np.ndarray, weight: np.ndarray) -> Explorer:
    """Sliders over the pixels of an image (1, 1, H, W), and stride and padding: which outputs does one reach?"""
    rows, columns = input.shape[2:]
    return _dependence(input, weight, {"ih": below(rows), "iw": below(columns)})


def _dependence(input: np.ndarray, weight: np.ndarray, place: dict[str, Rule]) -> Explorer:
    """Raise one number by 1, and show how the outputs change."""

    def draw(stride: int, padding: int, **place: int) -> Picture:
        shape = _one_pair(input, weight, stride, padding)
        raised_input, raised_weight = input.copy(), weight.copy()
        (raised_weight if "kh" in place else raised_input)[0, 0, *place.values()] += 1
        output = operations.conv2d(input, weight, None, stride, padding)
        picture = DependencePicture(shape, input, weight, output)
        show = picture.show_weight if "kh" in place else picture.show_pixel
        return show(*place.values(), operations.conv2d(raised_input, raised_weight, None, stride, padding))

    rules = {**place, "stride": lambda v: (1, 3), "padding": lambda v: (0, 1)}
    return Explorer(draw, rules, {**dict.fromkeys(place, 0), "stride": 1, "padding": 0})


EDGES = {  # filters that turn a digit into something that the eye knows
    "the pixel itself": [[0, 0, 0], [0, 1, 0], [0, 0, 0]],
    "one to the left": [[0, 0, 0], [0, 0, 1], [0, 0, 0]],
    "blur": [[1, 1, 1], [1, 1, 1], [1, 1, 1]],
    "horizontal edges": [[-1, -2, -1], [0, 0, 0], [1, 2, 1]],
    "vertical edges": [[-1, 0, 1], [-2, 0, 2], [-1, 0, 1]],
    "outline": [[-1, -1, -1], [-1, 8, -1], [-1, -1, -1]],
}


def edges() -> Explorer:
    """Sliders for a digit, a filter of EDGES, stride, padding, and the output at which to look."""
    pictures: dict[tuple[int, ...], EdgesPicture] = {}

    def draw(digit, filter, stride, padding, oh, ow) -> Picture:
        chosen = digit, filter, stride, padding
        if chosen not in pictures:
            pictures.clear()
            pictures[chosen] = _edges(*chosen)
        return pictures[chosen].show(oh, ow)

    rules = {
        "digit": below(10),
        "filter": below(len(EDGES)),
        "stride": lambda v: (1, 3),
        "padding": lambda v: (0, 2),
        "oh": lambda v: (0, (25 + 2 * v["padding"]) // v["stride"]),
        "ow": lambda v: (0, (25 + 2 * v["padding"]) // v["stride"]),
    }
    return Explorer(draw, rules, {"digit": 3, "filter": 3, "stride": 1, "padding": 0, "oh": 4, "ow": 12})


def _edges(digit: int, filter: int, stride: int, padding: int) -> EdgesPicture:
    name, numbers = list(EDGES.items())[filter]
    input, weight = digits.conv1_input(1, first=digit), np.array(numbers, np.float32)[None, None]
    output = operations.conv2d(input, weight, None, stride, padding)
    return EdgesPicture(_one_pair(input, weight, stride, padding), input, weight, output, name)


def one_product(input: np.ndarray, weight: np.ndarray, windows: np.ndarray, product: np.ndarray) -> Explorer:
    """Sliders over the matrix of windows of an image (1, Ci, H, W), and over the filters (Co, Ci, kH, kW).

    `windows` is (oH*oW, Ci*kH*kW), and `product` (oH*oW, Co) what the GPU returned for its product with the filters.
    """
    shape = ConvShape(*input.shape, len(weight), *weight.shape[2:])
    if windows.shape != (rows_columns := (shape.out_h * shape.out_w, prod(weight.shape[1:]))):
        raise ValueError(f"windows has shape {windows.shape}: input and weight need {rows_columns}")
    picture = MatrixPicture(shape, input, weight, operations.conv2d(input, weight), windows, product)
    rules = {"row": below(len(windows)), "column": below(windows.shape[1]), "co": below(len(weight))}
    return Explorer(picture.show, rules, {"row": 0, "column": 0, "co": 0})


# --- The weight gradient ----------------------------------------------------------------------------------


def weight_gradient(input: np.ndarray, grad_output: np.ndarray) -> Explorer:
    """Sliders kh and kw over an image (1, 1, H, W) and a gradient (1, 1, oH, oW), with the pixels named by letters."""
    shape = _plain(input, grad_output)
    grad_weight = operations.conv2d_grad_weight(input, shape.weight, grad_output)
    picture = WeightGradientPicture(shape, input, grad_output, grad_weight, letters=True)
    return Explorer(picture.show, {"kh": below(shape.kernel_h), "kw": below(shape.kernel_w)}, {"kh": 0, "kw": 0})


def _plain(input: np.ndarray, grad_output: np.ndarray) -> ConvShape:
    """The sizes of one image and one pair of channels, with stride 1 and no padding; refuses anything else."""
    for name, array in (("input", input), ("grad_output", grad_output)):
        if array.shape[:2] != (1, 1):
            raise ValueError(f"{name} has shape {array.shape}: it must be one image of one channel, (1, 1, ., .)")
    return ConvShape.between(input.shape, grad_output.shape)


def any_weight_gradient(seed: int = 0, **values: int) -> Explorer:
    """Sliders for every size, stride and padding, and for every index, over small random whole numbers."""
    return _of_any_sizes(_random_picture, ANY_WEIGHT, START | values, seed)


def _random_picture(shape: ConvShape, random: np.random.Generator) -> WeightGradientPicture:
    input = random.integers(0, 5, shape.input).astype(np.float32)
    grad_output = random.choice([-1, 1, 2, 3], shape.output).astype(np.float32)  # no zeros, which look like nothing
    padding = shape.padding_h, shape.padding_w
    grad_weight = operations.conv2d_grad_weight(input, shape.weight, grad_output, shape.stride, padding)
    return WeightGradientPicture(shape, input, grad_output, grad_weight)


# --- How threads share the work -----------------------------------------------------------------------------


def threads(shape: ConvShape) -> Explorer:
    """One slider over the threads of the first workgroup, each of which owns one weight, or none."""
    picture = ThreadsPicture(shape)
    return Explorer(picture.show, {"thread": below(256)}, {"thread": 37})


def shared_products(shape: ConvShape, count: int = 256) -> Explorer:
    """One slider over `count` threads that share one weight's products."""
    picture = SharedProductsPicture(shape, count)
    return Explorer(picture.show, {"thread": below(count)}, {"thread": 37})


def tree_steps(input: np.ndarray, grad_output: np.ndarray, count: int = 16, **options) -> Explorer:
    """Sliders through a simulated run of `count` threads that share the weight at kh = kw = 0, line by line.

    `input` is (1, 1, H, W), `grad_output` (1, 1, oH, oW), `count` a power of two up to 16; `options` are those of
    `stepper`, such as the thread at first.
    """
    whole = _plain(input, grad_output)
    pixels = input[..., : whole.out_h, : whole.out_w]  # those that the weight multiplies: the only weight of a run
    shape = _plain(pixels, grad_output)
    kernel = load("conv2d_grad_weight", "2_workgroup_per_weight").with_constants(THREADS=count)
    buffers = grad_output, pixels, np.zeros(shape.weight, np.float32), np.array(shape.params(), np.uint32)
    shapes = {"partial": (count,), "grad_weight": shape.weight}
    return stepper(simulate(kernel, buffers, (1, 1, 1)), shapes, only=("partial[", "workgroupBarrier"), **options)


def tree_reduction(input: np.ndarray, grad_output: np.ndarray, count: int = 16) -> Explorer:
    """One slider over the steps of a tree reduction, for the weight at kh = kw = 0 and `count` threads.

    `input` is (1, 1, H, W), `grad_output` (1, 1, oH, oW), `count` a power of two; the kernel really runs with so many.
    """
    shape = _plain(input, grad_output)
    kernel = load("conv2d_grad_weight", "2_workgroup_per_weight").with_constants(THREADS=count)
    grad_weight = operations.conv2d_grad_weight(input, shape.weight, grad_output, kernel=kernel)
    products = (input[0, 0, : shape.out_h, : shape.out_w].astype(float) * grad_output[0, 0]).ravel()
    partial = [float(products[products_of_thread(shape, thread, count)].sum()) for thread in range(count)]
    picture = TreePicture(partial, float(grad_weight[0, 0, 0, 0]))
    return Explorer(picture.show, {"step": below(len(picture.steps))}, {"step": 0})


# --- The input gradient -------------------------------------------------------------------------------------


def scatter_and_gather(weight: np.ndarray, grad_output: np.ndarray) -> Explorer:
    """Sliders over the outputs, on the left, and over the pixels, on the right, of one small case at stride 1.

    `weight` is (1, 1, kH, kW), `grad_output` (1, 1, oH, oW), each at most 3 x 3.
    """
    shape, grad_input = _whole_gradient(weight, grad_output)
    picture = ScatterGatherPicture(weight[0, 0], grad_output[0, 0], grad_input[0, 0])
    limits = {"oh": shape.out_h, "ow": shape.out_w, "ih": shape.in_h, "iw": shape.in_w}
    return Explorer(picture.show, {name: below(limit) for name, limit in limits.items()}, dict.fromkeys(limits, 1))


def input_gradient(weight: np.ndarray, grad_output: np.ndarray) -> Explorer:
    """Sliders ih and iw that slide a filter (1, 1, kH, kW) over a gradient (1, 1, oH, oW), with letters."""
    shape, grad_input = _whole_gradient(weight, grad_output)
    picture = InputGradientPicture(shape, weight, grad_output, grad_input, letters=True)
    return Explorer(picture.show, {"ih": below(shape.in_h), "iw": below(shape.in_w)}, {"ih": 1, "iw": 1})


def _whole_gradient(weight: np.ndarray, grad_output: np.ndarray) -> tuple[ConvShape, np.ndarray]:
    """The sizes at stride 1 without padding, and the gradient of the input as the GPU computes it."""
    (kH, kW), (oH, oW) = weight.shape[2:], grad_output.shape[2:]
    shape = ConvShape(1, 1, oH + kH - 1, oW + kW - 1, 1, kH, kW)
    return shape, operations.conv2d_grad_input(shape.input, weight, grad_output)


def any_input_gradient(seed: int = 0, **values: int) -> Explorer:
    """Sliders for every size, stride and padding, and for every index, over small random whole numbers."""
    start = {"N": 1, "Ci": 1, "Co": 1, "stride": 2, "ih": 2, "iw": 2}
    return _of_any_sizes(_random_input_picture, ANY_PIXEL, START | start | values, seed)


def _random_input_picture(shape: ConvShape, random: np.random.Generator) -> InputGradientPicture:
    weight = random.choice([-1, 1, 2, 3], shape.weight).astype(np.float32)
    grad_output = random.choice([-1, 1, 2, 3], shape.output).astype(np.float32)
    padding = shape.padding_h, shape.padding_w
    grad_input = operations.conv2d_grad_input(shape.input, weight, grad_output, shape.stride, padding)
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


# --- The bias gradient --------------------------------------------------------------------------------------


def bias_gradient(grad_output: np.ndarray) -> Explorer:
    """One slider over the channels of a small upstream gradient (N, Co, oH, oW)."""
    picture = BiasGradientPicture(grad_output, operations.conv2d_grad_bias(grad_output))
    return Explorer(picture.show, {"co": below(grad_output.shape[1])}, {"co": 0})
