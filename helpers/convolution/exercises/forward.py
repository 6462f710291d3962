"""Lesson 01: the forward pass."""

from functools import cache

import numpy as np

from helpers.convolution import reference
from helpers.convolution.exercises.cases import draw
from helpers.data import digits
from helpers.grading.prediction import Question
from helpers.grading.puzzle import Case, Puzzle, Skill


@cache
def _forward_cases() -> tuple[Case, ...]:
    """One output, then one difficulty after the other, and last a layer of LeNet."""
    random = np.random.default_rng(1)
    digit = digits.conv1_input(1, first=3)
    return (
        _forward_case("conv2d_one_output", random, draw(random, 1, 1, 3, 3), (1, 1, 3, 3)),
        _forward_case("conv2d_rectangle", random, draw(random, 1, 1, 4, 6), (1, 1, 2, 3)),
        _forward_case("conv2d_padding", random, draw(random, 1, 1, 4, 3), (1, 1, 3, 2), 1, 1),
        _forward_case("conv2d_stride", random, draw(random, 1, 1, 6, 9), (1, 1, 2, 3), 2),
        _forward_case("conv2d_channels_and_batch", random, draw(random, 2, 3, 5, 7), (2, 3, 3, 2), 2, 1),
        _forward_case("conv2d_lenet_conv1", random, digit, (6, 1, 5, 5)),
    )


def _forward_case(name, random, input, weight_size, stride: int = 1, padding: int = 0) -> Case:
    weight, bias = draw(random, *weight_size, largest=3), random.choice([-2, -1, 1, 2], weight_size[0])
    expected = reference.conv2d(input, weight, bias, stride, padding)
    params = (*input.shape, weight_size[0], *weight_size[2:], stride, padding)
    inputs = input, weight, bias.astype(np.float32)
    return Case(name, inputs, expected, params, (-(-expected.size // 256), 1, 1))


FORWARD = Puzzle(
    "conv2d",
    "convolution",
    ("n", "co", "oh", "ow"),
    (
        "conv2d_one_output",
        "conv2d_rectangle",
        "conv2d_padding",
        "conv2d_stride",
        "conv2d_channels_and_batch",
        "conv2d_lenet_conv1",
    ),
    _forward_cases,
    Skill.one_thread_for("output", "conv2d_channels_and_batch"),
)

FORWARD_QUESTIONS = {
    "output_by_hand": Question(
        5,
        {
            7: "you get this when the filter is flipped; there is no flip",
            1: "you get this when the filter is transposed: its rows became columns",
            9: "you get this without the minus sign of a weight",
            6: "it is output[0,0]; start the window at row 1, column 0",
            16: "it is output[0,1]; the first index is the row: start the window at row 1, column 0",
            8: "it is output[1,1]; start the window at row 1, column 0",
        },
        "place the filter's upper left corner on the pixel at row 1, column 0, and add up four products",
    ),
    "output_size": Question(
        6,
        {
            5: "either the + 1 is missing, or the padding is counted on one side only",
            4: "this is right without padding",
            7: "round (12 + 4 - 5) / 2 down: half a step does not count",
            6.5: "round the quotient down: half a step does not count",
            12: "this is right for stride 1",
        },
        "put H = 12, P = 2, kH = 5 and S = 2 into the formula",
    ),
    "shifted_picture": Question(
        "left",
        {
            "right": "each output takes the pixel to the right of its own place; where does that pixel end up?",
            "up": "the 1 stands in the middle row, so each output takes a pixel of its own row",
            "down": "the 1 stands in the middle row, so each output takes a pixel of its own row",
        },
        "answer left, right, up or down",
    ),
    "products_of_an_output": Question(
        150,
        {
            25: "these are the products of one input channel; an output adds up all of them",
            2400: "these are all weights of the layer; each output channel uses its own filter only",
            400: "an output adds up over the input channels, and there are 6 of these",
            96: "these are the pairs of channels; each pair has 5 x 5 weights",
        },
        "there is a product for each input channel and each weight of the filter in it",
    ),
    "offset": Question(
        200,
        {
            194: "H and W are swapped: multiply ih by W, the length of a row",
            165: "N and Ci are swapped: multiply n by Ci",
            182: "this is right where the channel comes last (NHWC)",
            95: "this is the offset in the first image; n is 1",
            201: "offsets begin at 0",
        },
        "put n = 1, ci = 2, ih = 3 and iw = 4 into the formula, with Ci = 3, H = 5 and W = 7",
    ),
    "output_of_a_thread": Question(
        (1, 17, 16),
        {
            (1, 16, 17): "oh and ow are swapped: the remainder belongs to the letter that changes fastest",
            (0, 17, 16): "1000 is more than the 576 outputs of channel 0",
            (0, 41, 16): "oh must be less than 24: there are 576 outputs in a channel",
            (2, 17, 16): "co counts from 0",
        },
        "1000 = co * 576 + a rest, and the rest is oh * 24 + ow",
    ),
    "after_2_to_the_24": Question(
        16_777_216,
        {
            16_777_217: "this is exact; but float32 has only 24 binary digits, and this number needs 25",
            16_777_218: "it is as near as the right one; of two, that one is taken whose 24th digit is 0",
        },
        "the exact sum, 16777217, lies between two numbers that float32 can hold; one of them is returned",
    ),
    "outputs_of_a_weight": Question(
        2304,
        {
            576: "this is right for one digit",
            24: "count rows and columns of the output, and the digits",
            3136: "this counts the pixels; the filter has only 24 positions in a row",
            13824: "this counts all six channels; each weight belongs to one output channel",
            3456: "these are all outputs of one digit; each weight belongs to one output channel",
            100: "the filter has 25 weights; count the positions of the filter",
        },
        "a weight contributes once at each position of its filter, in each digit",
    ),
    "outputs_of_a_corner": Question(
        4,
        {
            1: "this is right without padding",
            9: "this is right for a pixel in the middle",
            6: "this is right for a pixel on an edge that is not in a corner",
            3: "count the windows that contain the corner; with padding, a window may begin outside the image",
            2: "with padding, a window may begin one row above the image and one column to its left",
        },
        "count the windows that contain the corner; with padding, a window may begin outside the image",
    ),
    "matrix_of_windows": Question(
        (64, 150),
        {
            (150, 64): "a row belongs to an output position, a column to a weight of a filter",
            (64, 25): "a filter of conv2 has weights for each of its 6 input channels",
            (144, 150): "a row belongs to an output position, not to a pixel",
            (64, 2400): "2,400 are the weights of all 16 filters; a column belongs to a weight of one filter",
            (1024, 150): "1,024 counts all output channels; they share their windows",
        },
        "there is a row for each of the 8 x 8 output positions, and a column for each weight of one filter",
    ),
}
