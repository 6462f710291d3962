"""Pictures with sliders of a convolution's weight gradient, and of the threads that compute it."""

import numpy as np

from helpers.convolution import operations
from helpers.convolution.indices import products_of_thread
from helpers.convolution.pictures.weight_gradient import SharedProductsPicture, ThreadsPicture, WeightGradientPicture
from helpers.convolution.shapes import ConvShape
from helpers.pictures.canvas import Picture
from helpers.pictures.explorer import Explorer, Rule, below
from helpers.summation.pictures import TreePicture
from helpers.wgsl import load

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


SIZES: dict[str, Rule] = {
    "N": lambda v: (1, 3),
    "Ci": lambda v: (1, 3),
    "Co": lambda v: (1, 3),
    "H": lambda v: (1, 7),
    "W": lambda v: (1, 7),
    "stride": lambda v: (1, 3),
    "padding": lambda v: (0, 2),
    "kH": lambda v: (1, min(5, v["H"] + 2 * v["padding"])),
    "kW": lambda v: (1, min(5, v["W"] + 2 * v["padding"])),
    "n": lambda v: (0, v["N"] - 1),
    "co": lambda v: (0, v["Co"] - 1),
    "ci": lambda v: (0, v["Ci"] - 1),
}
ANY_SHAPE: dict[str, Rule] = {
    **SIZES,
    "kh": lambda v: (0, v["kH"] - 1),
    "kw": lambda v: (0, v["kW"] - 1),
}


def any_weight_gradient(seed: int = 0, **values: int) -> Explorer:
    """Sliders for every size, stride and padding, and for every index, over small random whole numbers."""
    pictures: dict[ConvShape, WeightGradientPicture] = {}

    def draw(N, Ci, Co, H, W, stride, padding, kH, kW, n, co, ci, kh, kw) -> Picture:
        shape = ConvShape(N, Ci, H, W, Co, kH, kW, stride, padding, padding)
        if shape not in pictures:
            pictures.clear()  # one at a time: the last shape is the only one on the screen
            pictures[shape] = _random_picture(shape, seed)
        return pictures[shape].show(kh, kw, co, ci, n)

    start = {"N": 2, "Ci": 2, "Co": 3, "H": 5, "W": 7, "stride": 1, "padding": 0, "kH": 3, "kW": 3}
    return Explorer(draw, ANY_SHAPE, {**dict.fromkeys(ANY_SHAPE, 0), **start, **values}, columns=7)


def _random_picture(shape: ConvShape, seed: int) -> WeightGradientPicture:
    random = np.random.default_rng(seed)
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
    return Explorer(picture.show, {"step": below(len(picture.steps))}, {"step": len(picture.steps) - 1})
