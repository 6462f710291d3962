"""Lesson 04: the bias gradient, the classroom's second half."""

from functools import cache

import numpy as np

from helpers.convolution import reference
from helpers.convolution.exercise.cases import CLASSROOM, draw
from helpers.convolution.exercise.slips import divided, unguarded
from helpers.convolution.shapes import ConvShape
from helpers.grading.prediction import Question
from helpers.grading.puzzle import Case, Puzzle, Skill, Slip


def bias_differences(input: np.ndarray, grad_output: np.ndarray) -> np.ndarray:
    """The bias gradient by finite differences, (K,): move each bias by 1 up and down, watch the loss."""
    s = ConvShape.between(input.shape, grad_output.shape)
    losses = [
        (reference.conv2d(input, np.zeros(s.weight), sign * np.eye(s.out_channels)[k]) * grad_output).sum()
        for k in range(s.out_channels)
        for sign in (1, -1)
    ]
    return (np.array(losses[::2]) - losses[1::2]) / 2


@cache
def _grad_bias_cases() -> tuple[Case, ...]:
    """The four tests of the classroom, and one of ours that catches what they miss."""
    random = np.random.default_rng(7)
    nudged = draw(random, 1, 1, 6, 6), draw(random, 1, 2, 4, 4)
    by_differences = bias_differences(*nudged)
    return (
        _grad_bias_case(CLASSROOM[0], np.arange(-3, 6, dtype=np.float32).reshape(1, 1, 3, 3)),
        _grad_bias_case(CLASSROOM[1], nudged[1], by_differences, 1e-3 * abs(by_differences)),
        _grad_bias_case(CLASSROOM[2], draw(random, 1, 6, 24, 24)),
        _grad_bias_case(CLASSROOM[3], draw(random, 1, 16, 8, 8)),
        _grad_bias_case("conv_bw_rectangular_batch", draw(random, 3, 300, 2, 5)),
    )


def _grad_bias_case(name, grad_output, expected=None, tolerance=0.0) -> Case:
    if expected is None:
        expected = reference.conv2d_grad_bias(grad_output)
    return Case(name, (grad_output,), expected, grad_output.shape, (-(-expected.size // 256), 1, 1), tolerance)


PLANE = "b * params.C_out + k"
ROW = "(plane * params.H_out + oh) * params.W_out"

GRAD_BIAS = Puzzle(
    "conv2d_grad_bias",
    "convolution",
    ("k",),
    (*CLASSROOM, "conv_bw_rectangular_batch"),
    _grad_bias_cases,
    (
        Slip(
            "only the first image of the batch is added up",
            "b < params.batch",
            "b < 1u",
            "to how many images was the bias added?",
        ),
        Slip(
            "every channel gets the sum of channel 0",
            PLANE,
            "b * params.C_out",
            "which letter is missing in the offset?",
        ),
        Slip(
            "H_out stands in the place of W_out in the offset",
            ROW,
            "(plane * params.H_out + oh) * params.H_out",
            "how many numbers are in one row?",
        ),
        Slip(
            "W_out stands in the place of H_out in the offset",
            ROW,
            "(plane * params.W_out + oh) * params.W_out",
            "how many rows are in one plane?",
        ),
        Slip(
            "the loop over oh ends at W_out",
            "oh < params.H_out",
            "oh < params.W_out",
            "how many rows are in one plane?",
        ),
        Slip(
            "b and k are swapped in the offset",
            PLANE,
            "k * params.batch + b",
            "in which order are the axes of grad_output?",
        ),
        Slip(
            "oh and ow are swapped in the offset, or H_out and W_out in the loops",
            f"{ROW} + ow",
            "(plane * params.H_out + ow) * params.W_out + oh",
            "which offsets does your kernel read in a plane of 2 rows and 5 columns?",
        ),
        Slip(
            "the offset has no b, and every image adds the numbers of image 0",
            PLANE,
            "k",
            "at which place of grad_output does image 1 begin?",
        ),
        Slip(
            "b is not multiplied by C_out in the offset",
            PLANE,
            "b + k",
            "how many planes does an image have?",
        ),
        Slip(
            "the offset of the plane is not multiplied by W_out",
            ROW,
            "plane * params.H_out + oh * params.W_out",
            "how many numbers are in one plane?",
        ),
        Slip(
            "oh is not multiplied by W_out in the offset",
            ROW,
            "plane * params.H_out * params.W_out + oh",
            "how far is it from the beginning of one row to that of the next?",
        ),
        divided("outputs", "params.batch * params.H_out * params.W_out"),
        divided("images", "params.batch"),
        Slip(
            "only the last output counts",
            "sum += grad",
            "sum = grad",
            "what becomes of the old sum when the next number comes?",
        ),
        Slip(
            "the last column is left out",
            "ow < params.W_out",
            "ow + 1u < params.W_out",
            "what is the last ow of your loop?",
        ),
        Slip(
            "the last row is left out",
            "oh < params.H_out",
            "oh + 1u < params.H_out",
            "what is the last oh of your loop?",
        ),
        unguarded("a channel", "k >= params.C_out"),
    ),
    Skill.one_thread_for("channel", "conv_bw_lenet_conv2"),
)

BIAS_QUESTIONS = {  # lesson 04
    "grad_bias_by_hand": Question(
        6,
        {
            2: "this is the sum over image 0; the bias was also added to the outputs of image 1",
            4: "this is the sum over image 1; the bias was also added to the outputs of image 0",
            11: "this is grad_bias[0]; the second index of grad_output is the channel",
            7: "this is the sum over channel 0 of image 0",
            17: "this is the sum over both channels; each channel has a bias of its own",
            9: "this is the sum over image 0; the second index of grad_output is the channel",
            8: "this is the sum over image 1; the second index of grad_output is the channel",
            0.75: "this is the mean; the gradient is the sum",
            12: "you get this without the minus signs",
        },
        "add up the numbers of grad_output[0,1] and grad_output[1,1]",
    ),
    "distance_of_neighbors": Question(
        576,
        {
            1: "neighboring threads own neighboring channels, and a channel is a whole plane of numbers",
            24: "24 is the distance from one row to the next",
            6: "there are 6 channels; how many numbers does each of them have?",
            3456: "3,456 is the distance from one image to the next",
        },
        "thread k begins at index k times the number of outputs in one plane",
    ),
    "additions_of_a_thread": Question(
        24,
        {
            16: "these are the numbers of each thread; the tree has 8 steps more",
            8: "these are the steps of the tree; first, each thread adds up its own numbers",
            4096: "this is right for version 1, where one thread does everything",
            12: "count the numbers of all 64 images",
        },
        "256 threads share 64 times 64 numbers, and then take part in 8 steps of a tree",
    ),
}
