"""One small case of a convolution and its gradients, a filter of one's own, and the threads that share the work."""

from collections.abc import Callable
from functools import lru_cache
from math import prod

import numpy as np

from helpers.convolution import operations, reference
from helpers.convolution.exercises.cases import BATCH, IMAGE, UPSTREAM, WEIGHT
from helpers.convolution.explorers.any_size import computed
from helpers.convolution.pictures.faults import FAULTS, FaultsPicture
from helpers.convolution.pictures.forward import ContributionPicture, WindowPicture
from helpers.convolution.pictures.input_gradient import InputGradientPicture
from helpers.convolution.pictures.own_filter import LEVEL, OwnFilterPicture
from helpers.convolution.pictures.parameter_gradients import (
    BiasGradientPicture,
    SharedProductsPicture,
    ThreadsPicture,
    WeightGradientPicture,
)
from helpers.convolution.pictures.scatter import ScatterGatherPicture
from helpers.convolution.pictures.sums import SumPicture
from helpers.convolution.shapes import ConvShape
from helpers.data import digits
from helpers.gpu import adapter_info
from helpers.kernels import load
from helpers.pictures.canvas import Picture
from helpers.stepper import stepper
from helpers.widgets.controls import Trials, Values
from helpers.widgets.explorer import Explorer
from wgsl import Kernel
from wgsl.simulator.run import simulate

Array = np.ndarray

SMALL_CASE = IMAGE, UPSTREAM
SMALL = ConvShape.between(IMAGE.shape, UPSTREAM.shape)
WIDER = np.array([[1, -1, 2, 0], [0, 3, -1, 1], [2, 1, 0, -2], [1, 0, -1, 2]], np.float32)[None, None]
LENET_CONV1 = ConvShape(1, 1, 28, 28, 6, 5, 5)

# --- With letters -----------------------------------------------------------------------------------------------


def forward(input: Array, weight: Array) -> Explorer:
    """Sliders oh and ow over an image (1, 1, H, W) and a filter (1, 1, kH, kW), with letters for pixels and weights."""
    shape, output = _convolved(input, weight)
    bottom, right = shape.out_h - 1, shape.out_w - 1
    steps = {
        f"Point at output [0,{right}]: which pixels make it?": {"oh": 0, "ow": right},
        "Drag the frame in the input to the bottom left corner.": {"oh": bottom, "ow": 0},
        "Press play, and watch the filter reach the last output.": {"oh": bottom, "ow": right},
    }
    return _with_letters(WindowPicture(shape, {"input": input, "weight": weight}, output, letters=True), 0, steps)


def weight_gradient() -> Explorer:
    """Sliders kh and kw over lesson 02's image and its gradient, with letters, for a filter of 3 x 3 or 2 x 2."""
    pictures = {}
    for upstream in (UPSTREAM, WIDER):
        shape = ConvShape.between(IMAGE.shape, upstream.shape)
        tensors = {"grad_output": upstream, "input": IMAGE}
        pictures[shape.kernel_h] = computed(WeightGradientPicture, shape, tensors, letters=True)

    def draw(filter: int, kh: int, kw: int, product: int = 0) -> Picture:
        return pictures[filter].show(kh, kw, product=product)

    steps = {
        "Point at weight [2,2]'s answer.": {"kh": 2, "kw": 2},
        "Drag the frame to the top right.": {"kh": 0, "kw": 2},
        "Set filter to 2: what changes?": {"filter": 2},
    }
    rules = {"filter": (2, 3), "kh": lambda v: v["filter"], "kw": lambda v: v["filter"]}
    return Explorer(draw, rules, {"filter": 3}, play=("kh", "kw"), front=["filter"], steps=steps)


def input_gradient() -> Explorer:
    """Sliders ih and iw that slide lesson 03's filter over its gradient, with letters."""
    tensors = {"grad_output": UPSTREAM, "weight": WEIGHT}
    steps = {
        "Point at pixel [2,2] in grad_input: how many terms?": {"ih": 2, "iw": 2},
        "Drag the frame to the bottom right: how many are left?": {"ih": 4, "iw": 4},
        "Find the pixel to which only G·w00 adds.": {"ih": 0, "iw": 0},
    }
    return _with_letters(computed(InputGradientPicture, SMALL, tensors, letters=True), 1, steps)


def _with_letters(picture: SumPicture, start: int, steps: Trials) -> Explorer:
    """Sliders over the rows and columns of a result with one plane; both begin at `start`."""

    def draw(product: int = 0, **place: int) -> Picture:
        return picture.show(*place.values(), product=product)

    names = picture.element
    rules, values = dict(zip(names, picture.returned.shape[2:], strict=True)), dict.fromkeys(names, start)
    return Explorer(draw, rules, values, play=names, front=(), steps=steps)


def _convolved(input: Array, weight: Array) -> tuple[ConvShape, Array]:
    """The sizes of one image and one pair of channels, and the output; refuses more."""
    for name, array in (("input", input), ("weight", weight)):
        if array.shape[:2] != (1, 1):
            raise ValueError(f"{name} has shape {array.shape}: it must be one image of one channel, (1, 1, ., .)")
    return ConvShape(*input.shape, 1, *weight.shape[2:]), operations.conv2d(input, weight)


# --- What belongs together --------------------------------------------------------------------------------------


def contributions(input: Array, weight: Array) -> Explorer:
    """A convolution to point at: an output shows its window, a weight its pixels, a pixel the outputs that it reaches.

    `input` is (1, 1, H, W), `weight` (1, 1, kH, kW). The sliders say which tensor (0 input, 1 weight, 2 output), and
    the row and the column in it.
    """
    shape, output = _convolved(input, weight)
    picture = ContributionPicture(shape, input, weight, output)
    sizes = [grid.values.shape for grid in picture.grids]
    rules = {"tensor": 3, "row": lambda v: sizes[v["tensor"]][0], "column": lambda v: sizes[v["tensor"]][1]}
    middle = {"row": input.shape[2] // 2, "column": input.shape[3] // 2}
    steps = {
        "Point at a weight: how many outputs does it reach?": {"tensor": 1},
        f"Point at the pixel [{middle['row']},{middle['column']}]: how many?": {"tensor": 0, **middle},
        "Point at the pixel [0,0]: which weight multiplies it?": {"tensor": 0, "row": 0, "column": 0},
    }
    return Explorer(picture.show, rules, {"tensor": 2}, front=(), steps=steps)


def scatter_and_gather() -> Explorer:
    """Lesson 03's gradient, at each number of which one can point, and windows that drop."""
    grad_input = operations.conv2d_grad_input(SMALL.input, WEIGHT, UPSTREAM)
    picture = ScatterGatherPicture(WEIGHT[0, 0], UPSTREAM[0, 0], grad_input[0, 0], adapter_info().short)
    sides = 3, 3, 5  # of each tensor
    rules = {"tensor": 3, "row": lambda v: sides[v["tensor"]], "column": lambda v: sides[v["tensor"]], "dropped": 10}
    steps = {
        "Point at M: what does it hit?": {"tensor": 0, "row": 2, "column": 0},
        "Point at the middle pixel.": {"tensor": 2, "row": 2, "column": 2},
        "Press play: windows drop.": {"dropped": 9},
    }
    start = {"tensor": 2, "row": 1, "column": 1}
    return Explorer(picture.show, rules, start, front=["dropped"], play="dropped", steps=steps)


def own_filter(
    weight: Array | None = None, convolve: Callable[[Array, Array], Array] = operations.conv2d, whose: str = ""
) -> Explorer:
    """A 7 and nine weights to click, from -2 to 2: make a filter that finds one of its strokes.

    `weight` (3, 3) are the weights at first: without them, the one in the middle is 1, and all others are 0. `convolve`
    takes an input and a weight, and returns the output; `whose` names its kernel.
    """
    digit = digits.conv1_input(1, first=7)

    @lru_cache(1)
    def picture(weight: bytes) -> OwnFilterPicture:
        filter = np.frombuffer(weight, np.float32).reshape(1, 1, 3, 3)
        return OwnFilterPicture(digit, filter, convolve(digit, filter), whose or adapter_info().short)

    def draw(oh: int, ow: int, weight: Array) -> Picture:
        return picture(np.float32(weight).tobytes()).show(oh, ow)

    def only_the_level_stroke(values: Values) -> bool:
        drawn = draw(**values)
        return len(drawn.found) >= LEVEL and not drawn.found_below

    start = np.diag([0.0, 1, 0]) if weight is None else np.asarray(weight, float)
    steps = {
        "Click a weight: what changes?": lambda v: (v["weight"] != start).any(),
        "Find only the horizontal stroke.": only_the_level_stroke,
        "Drag the frame to a blue edge.": lambda v: [v["oh"], v["ow"]] in draw(**v).found,
    }
    places = {"oh": 26, "ow": 26}
    return Explorer(draw, places, {"oh": 6, "ow": 14}, arrays={"weight": start}, front=(), steps=steps)


# --- How threads share the work ---------------------------------------------------------------------------------


def threads() -> Explorer:
    """One slider over the threads of the first workgroup, each of which owns one weight, or none."""
    steps = {
        "Find thread 99: which weight is its own?": {"thread": 99},
        "Point at a thread that owns no weight.": lambda values: values["thread"] >= prod(LENET_CONV1.weight),
    }
    return _over_threads(ThreadsPicture(LENET_CONV1), front=(), steps=steps)


def shared_products(shape: ConvShape) -> Explorer:
    """One slider over the threads of a workgroup that share one weight's products."""
    return _over_threads(SharedProductsPicture(shape, 256))


def _over_threads(picture: Picture, **options) -> Explorer:
    return Explorer(picture.show, {"thread": 256}, {"thread": 37}, play="thread", **options)


def bias_gradient() -> Explorer:
    """One slider over the channels of a small upstream gradient, two images of three channels of 3 x 4 outputs."""
    picture = BiasGradientPicture(BATCH, operations.conv2d_grad_bias(BATCH))
    steps = {
        "Point at grad_bias[1]: how many outputs are in it?": {"co": 1},
        "Point at an output of image 1, channel 2.": {"co": 2},
    }
    return Explorer(picture.show, {"co": BATCH.shape[1]}, front=["co"], play="co", steps=steps)


def four_faults() -> Explorer:
    """A test of the input gradient, to be changed until it catches four planted faults; at first a blur at stride 2."""
    gather = load("conv2d_grad_input", "1_gather")
    planted = {fault: gather.edit(*edit) for fault, edit in FAULTS.items()}

    @lru_cache(1)
    def results(shape: ConvShape, weight: bytes) -> tuple[Array, dict[str, Array]]:
        pairs = np.arange(1, 5).reshape(2, 2)[: shape.out_channels, : shape.in_channels]
        filters = np.float32(np.multiply.outer(pairs, np.frombuffer(weight, np.float32).reshape(3, 3)))
        upstream = np.random.default_rng(3).integers(-4, 5, shape.output).astype(np.float32)
        given = shape.input, filters, upstream, shape.stride, shape.padding
        got = {fault: operations.conv2d_grad_input(*given, kernel=kernel) for fault, kernel in planted.items()}
        return reference.grad_input(upstream, filters, shape), got

    def draw(stride: int, padding_h: int, padding_w: int, channels: int, weight: Array, pixel: int = 0) -> Picture:
        shape = ConvShape(1, channels, 6, 6, channels, 3, 3, stride, (padding_h, padding_w))
        return FaultsPicture(shape, weight, *results(shape, np.float32(weight).tobytes()), pixel)

    steps = {
        "Click a weight: which fault is caught now?": lambda v: "no flip" in draw(**v).caught,
        "Give rows and columns different paddings.": lambda v: v["padding_h"] != v["padding_w"],
        "Catch all four.": lambda v: len(draw(**v).caught) == len(FAULTS),
    }
    rules = {"stride": (1, 3), "padding_h": 3, "padding_w": 3, "channels": (1, 2)}
    start = {"stride": 2, "padding_h": 1, "padding_w": 1}
    return Explorer(draw, rules, start, arrays={"weight": np.outer([1, 2, 1], [1, 2, 1])}, steps=steps)


def weight_steps(kernel: Kernel) -> Explorer:
    """Sliders through a simulated run of a kernel with a thread for each of 2 x 2 weights, over two images.

    "Next stop" goes on to where it has done with the first one, as a kernel that forgets the batch has with all.
    """
    shape, values = ConvShape(2, 1, 3, 3, 1, 2, 2), np.random.default_rng(0).integers(0, 4, 26).astype(np.float32)
    input, grad_output = values[:18].reshape(shape.input), values[18:].reshape(shape.output)
    own = "  @builtin(workgroup_id) workgroup: vec3u,\n  @builtin(num_workgroups) grid: vec3u,\n"
    small = kernel.edit("@workgroup_size(256)", "@workgroup_size(4)").edit(
        own, "\n\n"
    )  # the same lines, but fewer words
    small = small.edit("(workgroup.y * grid.x + workgroup.x) * 256u + thread", "thread")
    arrays = grad_output, input, np.zeros(shape.weight, np.float32), np.array(shape.params(), np.uint32)
    trace = simulate(small, arrays, (1, 1, 1), watch=["n", "oh", "ow", "sum"])
    steps = {
        "Press next stop: image 0 is done.": {"step": 7},
        "Go to the last step: what was not read?": {"step": 9},
        "Point at thread 3.": {"thread": 3},
    }
    return stepper(
        trace,
        {"input": shape.input, "grad_output": shape.output, "grad_weight": shape.weight},
        only=("for (var n", "sum"),
        stop="n is 1",
        steps=steps,
    )
