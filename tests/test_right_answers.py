"""Each right answer to a question, and its likely mistakes, computed from kernels and equations: one table for each."""

import re
from ast import literal_eval
from functools import cache
from itertools import permutations
from math import log, log2, log10, prod
from pathlib import Path

import numpy as np
import pytest
from support import convolution_explorers as explorers
from support import lesson_04, lesson_08
from support.small_kernels import run

import helpers
from helpers import load
from helpers.bench.gpu_limits import H200
from helpers.grading.verdict import RIGHT
from helpers.lessons.exercises import PUZZLES, QUESTIONS
from helpers.network.layers import Conv2d
from helpers.operations.convolution import indices, reference
from helpers.operations.convolution.shapes import ConvShape


@cache
def asked(name: str, w: str = "") -> list[np.ndarray]:
    """The matrices that a question gives, for pen and paper; `w` is in the place of a number that it asks for."""
    texts = re.findall(r"`(\[\[.*?\]\])`", QUESTIONS[name].asked)
    return [np.array(literal_eval(text.replace("w", w)), np.float32) for text in texts]


# --- 01: the forward convolution --------------------------------------------------------------------------------

CONV1 = ConvShape(4, 1, 28, 28, 6, 5, 5)


def shifted() -> str:
    """The direction in which a dot of ink goes under the filter whose only weight is to the right of the middle."""
    image, weight = np.zeros((1, 1, 5, 5)), np.zeros((1, 1, 3, 3))
    image[0, 0, 2, 2] = weight[0, 0, 1, 2] = 1
    ((row, column),) = np.argwhere(reference.conv2d(image, weight, None, 1, 1)[0, 0])
    return {(2, 1): "left", (2, 3): "right", (1, 2): "up", (3, 2): "down"}[row, column]


def weight_by_hand(row: int, column: int, change=lambda filter: filter) -> float:
    """The missing weight, with the window of that output; in the filter as it is, or changed."""
    image, with_zero = asked("output_by_hand", "0")
    _, with_one = asked("output_by_hand", "1")
    window = image[row : row + 2, column : column + 2]
    known = (window * change(with_zero)).sum()
    more = (window * change(with_one)).sum()
    return float((11 - known) / (more - known))


def square(size: int, kernel: int, *steps: int) -> ConvShape:
    """A layer of square images of one channel."""
    return ConvShape(1, 1, size, size, 1, kernel, kernel, *steps)


def corner(stride: int = 2, padding: int = 2, *place: int) -> int:
    """The number of outputs that a pixel has a part in; the corner's, unless another is named."""
    return len(indices.taps_of_pixel(square(6, 5, stride, padding), *place or (0, 0)))


# --- 03: the input gradient -------------------------------------------------------------------------------------


def windows(shape: ConvShape, ih: int, iw: int) -> int:
    """The number of windows in which a pixel lies."""
    return len(indices.taps_of_pixel(shape, ih, iw))


def pixel_by_hand(change=lambda filter: filter) -> float:
    """dX[1,1] of the case with pen and paper; of the filter as it is, or changed."""
    filter, upstream = asked("dX[1,1]")
    return helpers.conv2d_grad_input((1, 1, 3, 3), change(filter)[None, None].copy(), upstream[None, None])[0, 0, 1, 1]


def unsigned_pixel_by_hand() -> float:
    """dX[1,1] of the case with pen and paper, without any minus sign."""
    filter, upstream = asked("dX[1,1]")
    return np.vdot(abs(filter[::-1, ::-1]), abs(upstream))


def blurred() -> int:
    """The number of the four faults that the easy case finds, with the filter that the question gives."""
    explorer = explorers.four_faults()
    explorer.set(stride=1, weight=asked("faults_seen_by_the_easy_case")[0])
    return len(explorer.picture.caught)


def rows_enlarged(padding: int = 1, stride: int = 3) -> int:
    """The fewest rows of an image of which a convolution makes six: the last window ends with the padding."""
    rows = (rows for rows in range(1, 50) if rows + 2 * padding >= 6)
    return next(rows for rows in rows if square(rows, 6, stride, padding).out_h == 6)


# --- Appendix B: dilation and groups ----------------------------------------------------------------------------

ONES = np.ones((2, 4, 9, 11), np.float32)
WRONG = {
    "dilation forgotten": ("tap % KERNEL_W * DILATION_W", "tap % KERNEL_W"),
    "first group only": ("co / GROUP_OUT * GROUP_IN + ci", "ci"),
}


def wrong_weights(fault: str, image: np.ndarray, padding: int = 0) -> int:
    """The number of weight gradients of the lesson's layer that a kernel with a fault gets wrong."""
    steps = 2, padding, 2, 2
    shape = ConvShape(*image.shape, 4, 3, 2, *steps)
    upstream = np.random.default_rng(0).choice([-3, -2, -1, 1, 2, 3], shape.output).astype(np.float32)
    got = helpers.conv2d_grad_weight(
        image, shape.weight, upstream, *steps, kernel=load("conv2d_grad_weight", "7_direct").edit(*WRONG[fault])
    )
    return int((got != reference.conv2d_grad_weight(image, shape.weight, upstream, *steps)).sum())


def test_pixels_that_differ_show_each_fault():
    random = np.random.default_rng(0).integers(-4, 5, ONES.shape).astype(np.float32)
    for fault in WRONG:
        assert 0 < wrong_weights(fault, random) <= 24
    assert wrong_weights("dilation forgotten", ONES, padding=1)  # so the question says that there is no padding


# --- 06: a fused layer ------------------------------------------------------------------------------------------


def elements_by_hand() -> np.ndarray:
    """d_b of the case with pen and paper."""
    a, pre, grad = asked("d_b[3,1]")
    return a.T @ (grad * (pre > 0))


def loads_of_a_thread(puzzle: str) -> float:
    """The number of loads of a thread of a product where K is 256."""
    a, b, c = (np.zeros(size, np.float32) for size in [(16, 256), (256, 16), (16, 16)])
    run = helpers.simulate(PUZZLES[puzzle].solution.text, (a, b, c, np.uint32([16, 256, 16])), (1, 1, 1))
    return run.counts.total["loads_storage"] / 256


# --- Appendix A: a simulator -------------------------------------------------------------------------------------


def statements_in_lockstep() -> int:
    """The number of statements that the simulator runs of two blocks, of 5 and of 7, for half of the threads each."""

    def steps(first: int, second: int) -> int:
        blocks = "own[0] = t;" * first, "own[0] = t;" * second
        return len(run(f"if (t < 4u) {{ {blocks[0]} }} else {{ {blocks[1]} }}").steps)

    return steps(5, 7) - steps(0, 0)


# --- The tables -------------------------------------------------------------------------------------------------


def rounds_of_exchange(workers: int) -> int:
    """Until each has all terms, where the workers at some distance exchange what they have; a bit stands for a term."""
    held = [1 << worker for worker in range(workers)]
    distance = 1
    while set(held) != {2**workers - 1}:
        held = [terms | held[worker ^ distance] for worker, terms in enumerate(held)]
        distance *= 2
    return distance.bit_length() - 1


COMPUTED = {
    "output_by_hand": lambda: weight_by_hand(1, 0),
    "output_size": lambda: square(12, 5, 2, 2).out_h,
    "output_size_with_dilation": lambda: square(21, 3, 1, 0, 4).out_h,
    "shifted_picture": shifted,
    "products_of_an_output": lambda: 6 * len(indices.taps_of_output(square(12, 5, 1, 2), 0, 0)),
    "after_2_to_the_24": lambda: int(sum([np.float32(1)] * 1000, np.float32(2**24))),
    "outputs_of_a_weight": lambda: CONV1.batch * len(indices.taps_of_weight(CONV1, 0, 0)),
    "outputs_of_a_corner": corner,
    "dX[1,1]": pixel_by_hand,
    "windows_with_stride": lambda: windows(ConvShape(1, 1, 7, 9, 1, 3, 3, 2), 2, 2),
    "rows_of_the_large_image": rows_enlarged,
    "row_below_zero": lambda: int(np.array(-1).astype(np.uint32)),
    "faults_seen_by_the_easy_case": blurred,
    **{name: lambda make=make: float(make()) for name, make in lesson_04.COMPUTED.items()},
    "pixels_with_dilation": lambda: len(indices.taps_of_weight(square(9, 3, 1, 0, 2), 0, 0)),
    "pixels_never_touched": lambda: [windows(square(9, 3, 2, 0, 2), *at) for at in np.ndindex(9, 9)].count(0),
    "weights_with_groups": lambda: prod(ConvShape(1, 8, 9, 9, 12, 3, 3, groups=4).weight),
    "faults_seen_with_ones": lambda: sum(wrong_weights(fault, ONES) > 0 for fault in WRONG),
    "statements_in_lockstep": statements_in_lockstep,
    "d_b[3,1]": lambda: elements_by_hand()[3, 1],
    "loads_with_tiles": lambda: loads_of_a_thread("tiled_product"),
    "loads_in_a_tile": lambda: lesson_08.tile_costs("loads"),
    "reads_of_8_by_8": lambda: lesson_08.tile_costs("reads"),
    "roof_of_tiles": lambda: round(2 * 16 / 8 * 4.8, 9),
    "threads_that_fit": lambda: H200.registers // 128,
    "numbers_to_add": lambda: sum(map(prod, Conv2d("conv2", 16, 5).parameters((6, 14, 14)).values())),
    "totals_by_arrival": lambda: len({sum(map(np.float32, order)) for order in permutations((2**24, 1, 1))}),
    "parts_lost": lambda: [worker in (2, 3) for worker, _ in np.ndindex(4, 9)].count(True),
    "rounds_for_all": lambda: rounds_of_exchange(1_024),
}
OF_LESSONS = "threads", "lesson_02", "lesson_05", "exercise_network", "appendix_a", "appendix_c", "appendix_d"
OF_LESSONS += "appendix_e", "page_for_cuda"


@pytest.mark.parametrize("name", COMPUTED)
def test_the_right_answer_is_what_is_computed(name):
    assert QUESTIONS[name].grade(name, COMPUTED[name]()).outcome == RIGHT


def test_no_question_is_left_out():
    """The tests of a lesson have the answers that its own cells compute."""
    paths = [Path(__file__).with_name(f"test_{name}.py") for name in OF_LESSONS]
    others = "".join(path.read_text(encoding="utf-8") for path in paths)
    assert [name for name in QUESTIONS if name not in COMPUTED and f'"{name}"' not in others] == []


FLIPPED, TRANSPOSED = (lambda filter: filter[::-1, ::-1]), np.transpose
# Above dW[0,1] and dW[1,0] of the lesson's case, and the upstream gradients.
ABOVE, OTHER, UPSTREAM = np.array([[2, 3], [1, 4]]), np.array([[3, 1], [0, 4]]), np.array([[2, 1], [-1, 3]])
MISTAKES = {  # what is said of them, and how they come about
    "output_by_hand": lambda: {
        "flipped": weight_by_hand(1, 0, FLIPPED),
        "transposed": weight_by_hand(1, 0, TRANSPOSED),
        "without a minus": weight_by_hand(1, 0, abs),
        "make output[0,1]": weight_by_hand(0, 1),
        "the one with −2 among yours": weight_by_hand(1, 0, lambda filter: np.maximum(filter, 0)),
        "add up to 8, and not to 11; what is 3 · 0": weight_by_hand(1, 0) - 3 / 2,
    },
    "output_size": lambda: {
        "without padding": square(12, 5, 2).out_h,
        "stride 1;": square(12, 5, 1, 2).out_h,
        "stride 1 without padding": square(12, 5, 1).out_h,
        "fit without padding": square(12, 5, 2).out_h - 1,
        "moves down in all": 12 + 2 * 2 - 5,
    },
    "products_of_an_output": lambda: {
        "all weights of the layer": prod((16, 6, 5, 5)),
        "in the middle": 6 * len(indices.taps_of_output(square(12, 5, 1, 2), 5, 5)),
        "3 · 5 weights of each channel": 6 * len(indices.taps_of_output(square(12, 5, 1, 2), 0, 5)),
    },
    "output_size_with_dilation": lambda: {
        "dilation 1; how": square(21, 3).out_h,
        "spans 3 · 4 = 12": square(21, 12).out_h,
        "spans 11 rows": square(21, 11).out_h,
        "stride 4 and": square(21, 3, 4).out_h,
        "stride 4;": square(21, 3, 4, 0, 4).out_h,
    },
    "outputs_of_a_weight": lambda: {"23 positions": 4 * 23 * 23, "one row of each digit": CONV1.batch * CONV1.out_w},
    "outputs_of_a_corner": lambda: {
        "stride 1": corner(1),
        "without padding": corner(2, 0),
        "in the middle": corner(1, 2, 2, 2),
    },
    "dW[0,1]": lambda: {
        "does a correlation flip it": np.vdot(ABOVE[::-1, ::-1], UPSTREAM),
        "transposed": np.vdot(ABOVE.T, UPSTREAM),
        "minus signs": np.vdot(ABOVE, abs(UPSTREAM)),
        "dW[1,0] is": np.vdot(OTHER, UPSTREAM),
        "the four pixels of the frame": ABOVE.sum(),
        "the first row of the frame": np.vdot(ABOVE[0], UPSTREAM[0]),
        "corner on the pixel at row 0, column 1": 100,  # and anything else
    },
    "dX[1,1]": lambda: {
        "transposed": pixel_by_hand(TRANSPOSED),
        "flipped": pixel_by_hand(FLIPPED),
        "sign of the filter is lost": pixel_by_hand(abs),
        "both minus signs are lost": unsigned_pixel_by_hand(),
        "this is one of the four products": 1 * -3,
        "one of the four products; which other": -1 * 2,
    },
    "pixels_of_a_weight": lambda: {"filter of 3 × 3;": square(28, 3).out_h ** 2, "all 25 weights": 25 * 24**2},
    "rows_of_the_large_image": lambda: {"without padding": rows_enlarged(0), "stride 1": rows_enlarged(1, 1)},
    "windows_with_stride": lambda: {
        "stride 1": windows(ConvShape(1, 1, 7, 9, 1, 3, 3), 2, 2),
        "all windows": prod(ConvShape(1, 1, 7, 9, 1, 3, 3, 2).output),
    },
    "d_b[3,1]": lambda: {
        "from grad": -1 * -5 + 1 * 1 + 1 * 6,
        "d_b[3,0] is": elements_by_hand()[3, 0],
        **{f"d_b[{k},0] is": elements_by_hand()[k, 0] for k in range(3)},
        **{f"d_b[{k},1] is": elements_by_hand()[k, 1] for k in range(3)},
    },
    "loads_with_tiles": lambda: {
        "without tiles": loads_of_a_thread("product"),
        "all threads of the workgroup": 256 * loads_of_a_thread("tiled_product"),
    },
    "probe_reads": lambda: {f"the pixel [{row},{column}]": 7 * row + column + 1 for row, column in ((1, 0), (3, 1))},
    "loss_of_100_classes": lambda: {
        "for 10 classes": round(log(10), 3),
        "to the base 10": log10(100),
        "to the base 2": round(log2(100), 2),
        "logarithm of 1/100": round(log(1 / 100), 2),
    },
    **lesson_04.MISTAKES,
}


@pytest.mark.parametrize("name", MISTAKES)
def test_the_mistakes_are_what_they_are_said_to_be(name):
    for words, answer in MISTAKES[name]().items():
        assert words in QUESTIONS[name].grade(name, answer).detail
