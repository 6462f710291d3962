"""Lesson 03's questions, and the last test of its puzzle: what is said is what is computed."""

import numpy as np
import pytest

import helpers
from helpers.convolution import indices
from helpers.convolution.exercises import GATHERS, INPUT_QUESTIONS
from helpers.convolution.operations import GRAD_INPUT
from helpers.convolution.shapes import ConvShape
from helpers.gradient_checks.harness import drawn, launched, simulated
from helpers.grading.verdict import RIGHT

GATHER = helpers.load("conv2d_grad_input", "1_gather")
SHARED = helpers.load("conv2d_grad_input", "2_shared_weights")


def windows(shape: ConvShape, ih: int, iw: int) -> int:
    """In how many windows a pixel lies."""
    return len(indices.contributions_to_pixel(shape, ih, iw))


def weights_that_pass() -> int:
    """With how many weights a pixel meets an output, the same for all pixels inside."""
    inside = ConvShape(1, 1, 40, 40, 1, 6, 6, 3)
    (count,) = {windows(inside, 20 + i, 20 + j) for i, j in np.ndindex(3, 3)}
    return count


BY_HAND = [[3, 4], [2, -3]], [[1, -1], [3, 2]]  # the filter and the upstream gradient


def pixel_by_hand() -> float:
    """dX[1,1] of the case with pen and paper."""
    filter, upstream = (np.array(matrix, np.float32)[None, None] for matrix in BY_HAND)
    return helpers.conv2d_grad_input((1, 1, 3, 3), filter, upstream)[0, 0, 1, 1]


EASY, HARD = ConvShape(1, 1, 6, 6, 1, 3, 3, 1, 1), ConvShape(2, 3, 10, 11, 4, 3, 2, 2, (1, 2))
BLUR = [[1, 2, 1], [2, 4, 2], [1, 2, 1]]
FAULTS = (
    ("params.padding_h - kh", "kh - params.padding_h"),  # no flip of the rows
    ("column % params.stride == 0u && ", ""),  # holes filled
    ("(co * params.in_channels + ci)", "(ci * params.out_channels + co)"),  # channels swapped
    ("iw + params.padding_w", "iw + params.padding_h"),  # one padding for both axes
)


def faults_seen(shape: ConvShape, **tensors) -> int:
    """How many of the four faults make a number wrong."""
    tensors = drawn(GRAD_INPUT, shape) | tensors
    (right,) = GRAD_INPUT.right(shape, tensors)
    results = [simulated(GATHER.edit(*fault), shape, tensors)[0][0] for fault in FAULTS]
    return sum(not np.array_equal(got, right) for got in results)


def barrier_that_may_go(channels: int) -> str:
    """Without which barrier version 2 is safe, with so many channels of the output."""
    shape = ConvShape(1, 1, 4, 4, channels, 3, 3)
    lines = {"before": "workgroupBarrier();  // no thread still", "after": "workgroupBarrier();  // the new weights"}
    kernels = {name: SHARED.edit(line, "// ") for name, line in lines.items()}
    traces = {name: simulated(kernel, shape, drawn(GRAD_INPUT, shape))[1] for name, kernel in kernels.items()}
    safe = [name for name, (trace,) in traces.items() if not trace.findings]
    return {0: "neither", 1: "".join(safe), 2: "both"}[len(safe)]


COMPUTED = {
    "threads_that_write_a_pixel": lambda: windows(ConvShape(1, 1, 5, 5, 1, 3, 3), 2, 2),
    "dX[1,1]": pixel_by_hand,
    "windows_with_stride": lambda: windows(ConvShape(1, 1, 7, 9, 1, 3, 3, 2), 2, 2),
    "row_below_zero": lambda: int(np.array(-1).astype(np.uint32)),
    "faults_seen_by_the_easy_case": lambda: faults_seen(EASY, weight=np.array(BLUR, np.float32)[None, None]),
    "loads_in_version_2": lambda: loads_in_version_2(),
    "barrier_before_the_load": lambda: "no" if barrier_that_may_go(1) == "before" else "yes",
    "barrier_that_may_go": lambda: barrier_that_may_go(1),
    "weights_that_pass": weights_that_pass,
}


@pytest.mark.parametrize("name", INPUT_QUESTIONS)
def test_the_right_answer_is_what_is_computed(name):
    assert INPUT_QUESTIONS[name].grade(name, COMPUTED[name]()).outcome == RIGHT


def test_what_the_questions_say_is_their_case_and_holds_for_it():
    for name, matrices in {"dX[1,1]": BY_HAND, "faults_seen_by_the_easy_case": [BLUR]}.items():
        assert all(f"`{matrix}`" in INPUT_QUESTIONS[name].asked for matrix in matrices)
    filter, upstream = np.array(BY_HAND)
    for wrong, words in (filter.T, "transposed"), (filter[::-1, ::-1], "flipped"):
        assert words in INPUT_QUESTIONS["dX[1,1]"].mistakes[np.vdot(wrong[::-1, ::-1], upstream)]
    assert faults_seen(HARD) == len(FAULTS)
    assert barrier_that_may_go(2) == "neither"
    likely = INPUT_QUESTIONS["threads_that_write_a_pixel"].mistakes
    assert "[1,1]" in likely[windows(ConvShape(1, 1, 5, 5, 1, 3, 3), 1, 1)]
    assert "stride 1" in INPUT_QUESTIONS["windows_with_stride"].mistakes[windows(ConvShape(1, 1, 7, 9, 1, 3, 3), 2, 2)]


def loads_in_version_2() -> float:
    """Each thread counts its loads of global memory, on one full tile of which each pixel lies in 16 windows."""
    shape = ConvShape(1, 1, 16, 16, 32, 4, 4, padding=3)
    tensors = {name: np.ones(shape.of(name), np.float32) for name in ("grad_output", "weight")}
    counting = SHARED.edit("sum += shared_weights[i] *", "sum += 1.0 + 0.0 *").edit(
        "shared_weights[i] = weight[", "sum += 1.0; shared_weights[i] = weight["
    )
    (loads,) = launched(counting, shape, tensors)
    return loads.mean()


def test_the_last_test_of_the_puzzle_sees_every_known_mistake():
    """Its sizes differ where a mistake may confuse them, and its kernel reaches past both ends of the output."""
    shape = GATHERS["gather_everything"]
    for one, other in ("in_h", "in_w"), ("kernel_h", "kernel_w"), ("out_h", "out_w"), ("padding_h", "padding_w"):
        assert getattr(shape, one) != getattr(shape, other)
    assert len({shape.batch, shape.in_channels, shape.out_channels}) == 3
    for axis in "hw":
        size, padding, weights, outputs = (getattr(shape, f"{n}_{axis}") for n in ("in", "padding", "kernel", "out"))
        assert padding - (weights - 1) <= -shape.stride_h
        assert (size - 1 + padding) // shape.stride_h >= outputs
