"""Lesson 02: the weight gradient, the classroom's first half."""

from functools import cache

import numpy as np

from helpers.convolution import reference
from helpers.convolution.exercises.cases import CLASSROOM, draw
from helpers.convolution.shapes import ConvShape
from helpers.data import digits
from helpers.grading.prediction import Question
from helpers.grading.puzzle import Case, Puzzle, Skill


def differences(input: np.ndarray, grad_output: np.ndarray) -> np.ndarray:
    """The weights' gradient by finite differences, (K, C, F, F): move each weight by 1 up and down, watch the loss.

    The loss is sum(output * grad_output): its gradient for the output is grad_output, and it is linear in each
    weight, so that the step may be as large as 1.
    """
    want = np.zeros(ConvShape.between(input.shape, grad_output.shape).weight)
    for index in np.ndindex(want.shape):
        step = np.zeros(want.shape)
        step[index] = 1
        up, down = (reference.conv2d(input, sign * step) * grad_output for sign in (1, -1))
        want[index] = (up.sum() - down.sum()) / 2
    return want


@cache
def _grad_weight_cases() -> tuple[Case, ...]:
    """The four tests of the classroom, and one of ours that catches what they miss."""
    random = np.random.default_rng(5)
    tiny = np.arange(25, dtype=np.float32).reshape(1, 1, 5, 5) % 7
    nudged = draw(random, 1, 1, 6, 6), draw(random, 1, 2, 4, 4)
    by_differences = differences(*nudged)
    lenet1 = digits.conv1_input(), draw(random, 1, 6, 24, 24, largest=3)
    lenet2 = digits.conv2_input(), draw(random, 1, 16, 8, 8, largest=3)
    return (
        _grad_weight_case(CLASSROOM[0], tiny, np.arange(-4, 5, dtype=np.float32).reshape(1, 1, 3, 3)),
        _grad_weight_case(CLASSROOM[1], *nudged, by_differences, 1e-3 * abs(by_differences)),
        _grad_weight_case(CLASSROOM[2], *lenet1),
        _grad_weight_case(CLASSROOM[3], *lenet2),
        _grad_weight_case("conv_bw_rectangular_batch", draw(random, 2, 2, 5, 7), draw(random, 2, 3, 3, 5)),
    )


def _grad_weight_case(name, input, grad_output, expected=None, tolerance=0.0) -> Case:
    s = ConvShape.between(input.shape, grad_output.shape)
    if expected is None:
        expected = reference.conv2d_grad_weight(input, s.weight, grad_output)
    params = s.batch, s.in_channels, s.in_h, s.in_w, s.out_channels, s.kernel_h
    return Case(name, (grad_output, input), expected, params, (-(-expected.size // 256), 1, 1), tolerance)


GRAD_WEIGHT = Puzzle(
    "conv2d_grad_weight",
    "convolution",
    ("k", "c", "fh", "fw"),
    (*CLASSROOM, "conv_bw_rectangular_batch"),
    _grad_weight_cases,
    Skill.one_thread_for("weight", "conv_bw_rectangular_batch"),
)


def _by_hand(image: list, upstream: list, kh: int, kw: int) -> Question:
    """One weight's gradient, worked out by hand from one image and its upstream gradient."""
    input, grad_output = (np.array(matrix, np.float32)[None, None] for matrix in (image, upstream))
    size = ConvShape.between(input.shape, grad_output.shape).weight

    def gradient(upstream: np.ndarray) -> np.ndarray:
        return reference.conv2d_grad_weight(input, size, upstream)[0, 0]

    right = gradient(grad_output)
    mistakes = {
        right[i]: f"it is dW[{i[0]},{i[1]}]; start the window at row {kh}, column {kw}"
        for i in np.ndindex(2, 2)
        if right[i] != right[kh, kw]
    }
    for mistake, wrong in {
        "taken without its minus signs": abs(grad_output),
        "transposed": grad_output.swapaxes(2, 3),
        "flipped; there is no flip": grad_output[:, :, ::-1, ::-1],
    }.items():
        mistakes[gradient(wrong)[kh, kw]] = f"you get this when the upstream gradient is {mistake}"
    advice = f"place the upstream gradient's corner on the pixel at row {kh}, column {kw}"
    return Question(right[kh, kw], mistakes, advice)


WEIGHT_QUESTIONS = {  # lesson 02
    "pixels_of_a_weight": Question(
        24 * 24,
        {
            25: "the filter covers 25 pixels at once; count those that one weight multiplies, at all positions",
            28 * 28: "no weight lies over every pixel: the filter would have to leave the image",
            24: "these are the pixels in one row; how many rows of outputs are there?",
            23 * 23: "28 - 5 + 1 positions fit into a row: the + 1 is missing",
        },
        "a weight multiplies one pixel for each output; how many outputs are there?",
    ),
    "dW[0,1]": _by_hand([[1, 2, 3], [3, 1, 4], [0, 4, 1]], [[2, 1], [-1, 3]], kh=0, kw=1),
    "pixels_with_stride": Question(
        2 * 2,
        {
            9: "9 is the number of weights; count the positions of the filter",
            25: "this is right for stride 1",
            2: "these are the pixels in one row; how many rows of outputs are there?",
            1: "from its first position, the filter can move by 3 and still lies inside the image",
        },
        "count the positions of the filter: from one to the next, it moves by 3 rows or columns",
    ),
    "pixels_with_dilation": Question(
        5 * 5,
        {
            7 * 7: "this is right for dilation 1; how many rows does the filter span now?",
            4 * 4: "the filter spans 5 rows, not 6: after its last row comes no gap",
            6 * 6: "the filter spans 5 rows, not 4: from each row to the next there are 2",
            9: "9 is the number of weights; count the positions of the filter",
            81: "no weight lies over every pixel: the filter would have to leave the image",
            5: "these are the pixels in one row; how many rows of outputs are there?",
        },
        "a weight multiplies one pixel for each output; at how many positions does the dilated filter fit?",
    ),
    "weights_with_groups": Question(
        12 * 2 * 9,
        {
            12 * 8 * 9: "this is right for one group; how many input channels does a filter read now?",
            12 * 9: "with 4 groups, each filter reads 2 channels, and has 9 weights for each of them",
            8 * 9: "the filters belong to the output channels: there are 12 of them",
            3 * 2 * 9: "these are the weights of one group; how many groups are there?",
            2 * 9: "these are the weights of one filter; how many filters are there?",
            12 * 2: "each of these pairs of channels has 3 x 3 weights",
            4 * 12 * 8 * 9: "groups take weights away: most pairs of channels have none",
        },
        "a filter reads Ci / G channels and has 9 weights for each; how many filters are there?",
    ),
    "owner_of_a_weight": Question(
        99,
        {
            100: "thread 100 owns the first weight of filter 4: all numbers start at 0",
            74: "thread 74 owns the last weight of filter 2: the filters have the numbers 0 to 5",
            124: "thread 124 owns the last weight of filter 4",
        },
        "put co = 3, ci = 0, kh = 4 and kw = 4 into the formula, with Ci = 1 and kH = kW = 5",
    ),
    "fault_in_small_case": Question(
        0, advice="the loop stops after the first image; how many images does this case have?"
    ),
    "products_of_a_thread": Question(
        3,
        {
            2: "two rounds of 256 threads leave 64 of the 576 products",
            2.25: "this is the average, but a thread takes whole products",
            256: "256 is the number of threads that share the products",
        },
        "256 threads share 576 products: how many rounds do they need?",
    ),
    "sum_after_a_step": Question(
        4,
        {
            8: "thread 2 does not add the sum of its neighbor, but the one 8 places to the right",
            24: "the sum 8 places to the right is -10, with its sign",
            14: "this is its own sum, before the step",
            11: "this is its sum after the second step",
        },
        "16 sums become 8: thread 2 adds the sum that is 8 places to the right",
    ),
    "faster_with_many_weights": Question(
        1,
        {2: "one thread for each weight already keeps this GPU busy; what does version 2 add?"},
        "answer with the number of a version, 1 or 2",
    ),
    "workgroups_for_conv2": Question(
        2400,
        {
            10: "this is version 1, with 256 weights in a workgroup",
            400: "every pair of an output and an input channel has weights of its own",
            1024: "1,024 is the number of outputs",
            614400: "this is the number of threads",
        },
        "version 2 has a workgroup for each weight; how many weights does conv2 have?",
    ),
}
