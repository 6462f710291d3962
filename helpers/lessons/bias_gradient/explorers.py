"""Pictures to touch of the bias's gradient, and of threads that add up one sum."""

from collections.abc import Sequence

import numpy as np

from helpers import gpu
from helpers.gpu import adapter_info
from helpers.lessons.bias_gradient.pictures.channel_sums import BiasGradientPicture
from helpers.lessons.bias_gradient.pictures.loads import SHARE, LoadsPicture
from helpers.lessons.bias_gradient.pictures.loads import THREADS as LOADING_THREADS
from helpers.lessons.bias_gradient.pictures.race import RacePicture
from helpers.lessons.bias_gradient.pictures.tree import TreePicture
from helpers.lessons.shared.small_image import BATCH
from helpers.lessons.shared.sums import EIGHT, TERMS, run_schedule, schedules
from helpers.operations.convolution.operations import conv2d_grad_bias
from helpers.operations.kernels import load
from helpers.operations.summation.operations import total
from helpers.widgets.controls import Trials, Values, by_playing, by_pointing
from helpers.widgets.explorer import Explorer, Rule

RACING = """@group(0) @binding(0) var<storage, read_write> total: array<f32>;

@compute @workgroup_size(256)
fn main() {
  total[0] += 1.0;
}"""
RACING_WORKGROUPS = 256
RACING_THREADS = 256  # of each of them


def bias_gradient() -> Explorer:
    """One slider over the channels of a small upstream gradient, two images of three channels of 3 x 4 outputs."""
    picture = BiasGradientPicture(BATCH, conv2d_grad_bias(BATCH))
    steps = {
        "Point at grad_bias[1]: how many outputs are in it?": by_pointing({"co": 1}),
        "Point at an output of image 1, channel 2.": by_pointing({"co": 2}),
    }
    return Explorer(picture.show, {"co": BATCH.shape[1]}, front=["co"], play="co", steps=steps)


def race() -> Explorer:
    """Two threads that each load a total and store their sum: one clicks whose turn is next, and finds all orders."""
    (arrived,) = gpu.launch(RACING, [np.zeros(1, np.float32)], RACING_WORKGROUPS)
    picture = RacePicture(arrived, RACING_WORKGROUPS * RACING_THREADS, adapter_info().short)
    orders = schedules()

    def last_total(values: Values) -> int | None:
        if values["turn"] < 4:
            return None
        _, total = run_schedule(orders[values["order"]])[-1]
        return total

    steps: Trials = {
        "Click an order that loses what a thread added.": lambda v: last_total(v) in TERMS,
        "Click an order that loses nothing.": lambda v: last_total(v) == sum(TERMS),
        "Find all six orders.": lambda v: len(picture.found_orders) == 6,
    }
    rules: dict[str, Rule] = {"order": len(orders), "turn": 5}
    return Explorer(picture.show, rules, front=["turn"], play="turn", steps=steps)


def tree(numbers: Sequence[float] = EIGHT) -> Explorer:
    """A slider over the steps of a tree that adds up a list, of a power of two of numbers, and its threads.

    The kernel really runs with as many threads as numbers.
    """
    kernel = load("sum", "2_tree").with_constants(THREADS=len(numbers))
    (returned,) = total(np.float32(numbers), kernel=kernel).tolist()
    picture = TreePicture([*map(float, numbers)], returned)
    rules: dict[str, Rule] = {"step": len(picture.steps), "thread": lambda v: len(picture.steps[v["step"]])}
    last = len(picture.steps) - 1
    steps = {
        "Press play: how many sums are left after each step?": by_playing({"step": last}),
        "Point at thread 1 after step 2: which numbers are in it?": by_pointing({"step": 2, "thread": 1}),
        "Point at the last sum: how many steps did number 7 take?": by_pointing({"step": last, "thread": 0}),
    }
    return Explorer(picture.show, rules, front=["step"], play="step", steps=steps)


def loads() -> Explorer:
    """Sliders over the iterations in which 16 threads load 64 numbers, in turns or in shares, and over the threads."""
    steps = {
        "Press play: how many sectors does each iteration need?": by_playing({"iteration": SHARE - 1}),
        "Point at number 20 on both sides: who loads it, and when?": by_pointing({"thread": 5, "iteration": 0}),
    }
    rules: dict[str, Rule] = {"iteration": SHARE, "thread": LOADING_THREADS}
    return Explorer(LoadsPicture().show, rules, front=["iteration"], play="iteration", steps=steps)
