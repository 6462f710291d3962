"""What a learner works out in the convolution lessons: kernels to write, and questions to answer."""

from functools import cache

import numpy as np

from helpers.convolution import reference
from helpers.convolution.shapes import ConvShape
from helpers.data import digits
from helpers.grading.prediction import Question
from helpers.grading.puzzle import Case, Puzzle, Slip

CLASSROOM = (  # the tests' names in the classroom
    "conv_bw_tiny_3x3",
    "conv_bw_numerical_gradient_check",
    "conv_bw_lenet_conv1",
    "conv_bw_lenet_conv2",
)


def draw(random: np.random.Generator, *size: int, largest: int = 4) -> np.ndarray:
    """Random whole numbers of at most that absolute value, as float32."""
    return random.integers(-largest, largest + 1, size).astype(np.float32)


# --- The forward pass: lesson 01 ----------------------------------------------------------------------------


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


SIZE = "2u * params.P - params.k{0}) / params.S + 1u"
INPUT_ROW, INPUT_COLUMN = "ih = oh * params.S + kh - params.P", "iw = ow * params.S + kw - params.P"
BOTH = f"{INPUT_ROW};  // *\n        let {INPUT_COLUMN}"
BOTH_SIZES = f"{SIZE.format('H')};  // *\n  let oW = (params.W + {SIZE.format('W')}"
WEIGHT_AT = "((co * params.Ci + ci) * params.kH + kh) * params.kW + kw"

FORWARD = Puzzle(
    "conv2d",
    __file__,
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
    (
        Slip("the bias is left out", "sum = bias[co]", "sum = 0.0"),
        Slip(
            "the filter is flipped",
            WEIGHT_AT,
            "((co * params.Ci + ci) * params.kH + params.kH - 1u - kh) * params.kW + params.kW - 1u - kw",
        ),
        Slip("kh and kw are swapped in the weight's offset", "kH + kh) * params.kW + kw", "kH + kw) * params.kW + kh"),
        Slip("H stands in the place of W in the input's offset", "+ ih) * params.W", "+ ih) * params.H"),
        Slip("W stands in the place of H in the input's offset", "ci) * params.H + ih", "ci) * params.W + ih"),
        Slip("the + 1 is missing in oH and oW", BOTH_SIZES, BOTH_SIZES.replace(" + 1u", "")),
        Slip("the + 1 is missing in oH", SIZE.format("H"), SIZE.format("H").removesuffix(" + 1u")),
        Slip("the + 1 is missing in oW", SIZE.format("W"), SIZE.format("W").removesuffix(" + 1u")),
        Slip("H stands in the place of W in oW", "(params.W + 2u", "(params.H + 2u"),
        Slip("the padding is added where it must be subtracted", BOTH, BOTH.replace("- params.P", "+ params.P")),
        Slip("the padding is not subtracted", BOTH, BOTH.replace(" - params.P", "")),
        Slip("the padding is not skipped", "if (ih >= params.H || iw >= params.W) { continue; }", ""),
        Slip("only the columns of the padding are skipped", "ih >= params.H || iw", "iw"),
        Slip("only the rows of the padding are skipped", "ih >= params.H || iw >= params.W", "ih >= params.H"),
        Slip("the stride is left out in ih and iw", BOTH, BOTH.replace(" * params.S", "")),
        Slip("only the first input channel is added up", "ci < params.Ci", "ci < 1u"),
        Slip(
            "the bias is added once for each input channel",
            "sum += ",
            "sum += select(0.0, bias[co], ci > 0u && kh + kw == 0u) + ",
        ),
        Slip("co and ci are swapped in the weight's offset", "co * params.Ci + ci", "ci * params.Co + co"),
        Slip("Co stands in the place of Ci in the weight's offset", "co * params.Ci + ci", "co * params.Co + ci"),
        Slip("Co stands in the place of Ci in the input's offset", "n * params.Ci + ci", "n * params.Co + ci"),
        Slip("every image of the batch gets the output of the first", "(n * params.Ci + ci)", "ci"),
    ),
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
        {"right": "each output takes the pixel to the right of its own place; where does that pixel end up?"},
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
        {16_777_217: "this is exact; but float32 has only 24 binary digits, and this number needs 25"},
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


# --- The weight gradient: the classroom's first half --------------------------------------------------------


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
    __file__,
    ("k", "c", "fh", "fw"),
    (*CLASSROOM, "conv_bw_rectangular_batch"),
    _grad_weight_cases,
    (
        Slip("only the first image of the batch is added up", "b < params.batch", "b < 1u"),
        Slip("the filter is flipped", "params.H + oh + fh", "params.H + oh + params.F - 1u - fh"),
        Slip("W stands in the place of H in the input's offset", "c) * params.H", "c) * params.W"),
        Slip("the + 1 is missing in out_h", "params.H - params.F + 1u", "params.H - params.F"),
        Slip("the + 1 is missing in out_w", "params.W - params.F + 1u", "params.W - params.F"),
        Slip("fh and fw are swapped", "oh + fh) * params.W + ow + fw", "oh + fw) * params.W + ow + fh"),
        Slip("C stands in the place of K in grad_output's offset", "b * params.K + k", "b * params.C + k"),
    ),
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


# --- The bias gradient: the classroom's second half, lesson 04 ------------------------------------------------


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


GRAD_BIAS = Puzzle(
    "conv2d_grad_bias",
    __file__,
    ("k",),
    (*CLASSROOM, "conv_bw_rectangular_batch"),
    _grad_bias_cases,
    (
        Slip("only the first image of the batch is added up", "b < params.batch", "b < 1u"),
        Slip("every channel gets the sum of channel 0", "b * params.C_out + k", "b * params.C_out"),
        Slip("H_out stands in the place of W_out in the offset", "+ oh) * params.W_out", "+ oh) * params.H_out"),
        Slip("W_out stands in the place of H_out in the offset", "plane * params.H_out", "plane * params.W_out"),
        Slip("H_out and W_out are swapped in the loops", "oh < params.H_out", "oh < params.W_out"),
        Slip("b and k are swapped in the offset", "b * params.C_out + k", "k * params.batch + b"),
        Slip("only the last output counts (write +=, not =)", "sum += grad", "sum = grad"),
        Slip("the last column is left out", "ow < params.W_out", "ow + 1u < params.W_out"),
        Slip("the last row is left out", "oh < params.H_out", "oh + 1u < params.H_out"),
    ),
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


# --- The input gradient -------------------------------------------------------------------------------------

GATHERS = {  # each test adds one thing to those before it
    "gather_3x3": ConvShape(1, 1, 3, 3, 1, 2, 2),
    "gather_padding": ConvShape(1, 1, 3, 4, 1, 3, 2, padding_h=1),
    "gather_stride": ConvShape(1, 1, 5, 6, 1, 3, 3, stride=2, padding_w=1),
    "gather_channels": ConvShape(1, 2, 4, 5, 3, 2, 3),
    "gather_everything": ConvShape(2, 3, 6, 8, 5, 4, 5, 2, 1, 2),
}


@cache
def _gather_cases() -> tuple[Case, ...]:
    random = np.random.default_rng(7)
    return tuple(_gather_case(name, shape, random) for name, shape in GATHERS.items())


def _gather_case(name: str, s: ConvShape, random: np.random.Generator) -> Case:
    grad_output, weight = (
        random.choice([-3, -2, -1, 1, 2, 3], size).astype(np.float32) for size in (s.output, s.weight)
    )
    padding = s.padding_h, s.padding_w
    expected = reference.conv2d_grad_input(s.input, weight, grad_output, s.stride, padding)
    return Case(name, (grad_output, weight), expected, s.params(), (-(-expected.size // 256), 1, 1))


GATHER_STEP = """        let row = ih + params.Ph - kh;  // *
        let column = iw + params.Pw - kw;  // *
"""
GATHER_SIGNED = """        let row = i32(ih + params.Ph) - i32(kh);
        let column = i32(iw + params.Pw) - i32(kw);
        if (row % i32(params.S) != 0 || column % i32(params.S) != 0) { continue; }
        if (row / i32(params.S) >= i32(params.oH) || column / i32(params.S) >= i32(params.oW)) { continue; }
        let oh = u32(row / i32(params.S));
        let ow = u32(column / i32(params.S));
"""
DIVISIBLE = "if (row % params.S != 0u || column % params.S != 0u) { continue; }  // *"
SMALL_ENOUGH = "if (oh >= params.oH || ow >= params.oW) { continue; }  // *"
GATHER_TESTS = f"""{GATHER_STEP}        {DIVISIBLE}
        let oh = row / params.S;  // *
        let ow = column / params.S;  // *
        {SMALL_ENOUGH}
"""
GATHER_DECODED = """  let iw = index % params.W;  // *
  let ih = index / params.W % params.H;  // *
"""


def _places(row: str, column: str) -> str:
    """The step of the kernel that computes row and column, with other formulas."""
    return f"        let row = {row};\n        let column = {column};\n"


GRAD_INPUT = Puzzle(
    "conv2d_grad_input",
    __file__,
    ("n", "ci", "ih", "iw"),
    tuple(GATHERS),
    _gather_cases,
    (
        Slip(
            "the filter is not flipped: row is ih + kh - Ph",
            GATHER_STEP,
            _places("ih + kh - params.Ph", "iw + kw - params.Pw"),
        ),
        Slip(
            "kh and kw are added instead of subtracted",
            GATHER_STEP,
            _places("ih + params.Ph + kh", "iw + params.Pw + kw"),
        ),
        Slip("the padding is left out", GATHER_STEP, _places("ih - kh", "iw - kw")),
        Slip(
            "the padding is subtracted instead of added",
            GATHER_STEP,
            _places("ih - params.Ph - kh", "iw - params.Pw - kw"),
        ),
        Slip("Ph is used for the columns, too", "iw + params.Pw - kw", "iw + params.Ph - kw"),
        Slip("kh and kw are swapped in step 5", GATHER_STEP, _places("ih + params.Ph - kw", "iw + params.Pw - kh")),
        Slip(
            "the filter is flipped twice: the subtraction of kh and kw is the flip",
            "params.kH + kh) * params.kW + kw",
            "params.kH + params.kH - 1u - kh) * params.kW + params.kW - 1u - kw",
        ),
        Slip("no weight is skipped where row or column is not a multiple of S", DIVISIBLE, ""),
        Slip("only the rows are tested for multiples of S", "|| column % params.S != 0u", ""),
        Slip("only the columns are tested for multiples of S", "row % params.S != 0u || ", ""),
        Slip(
            "row and column are not divided by S",
            "row / params.S;  // *\n        let ow = column / params.S",
            "row;\n        let ow = column",
        ),
        Slip("outputs past the last one are not skipped", SMALL_ENOUGH, ""),
        Slip("oh = oH is not skipped (write >=)", "oh >= params.oH", "oh > params.oH"),
        Slip("ow = oW is not skipped (write >=)", "ow >= params.oW", "ow > params.oW"),
        Slip(
            "oh and ow are compared with H and W", SMALL_ENOUGH, "if (oh >= params.H || ow >= params.W) { continue; }"
        ),
        Slip("row and column are signed, and those below 0 are not skipped", GATHER_TESTS, GATHER_SIGNED),
        Slip(
            "H and W are swapped where the index is decoded",
            GATHER_DECODED,
            "  let iw = index % params.H;\n  let ih = index / params.H % params.W;\n",
        ),
        Slip(
            "ci and n are swapped where the index is decoded",
            "(params.W * params.H) % params.Ci;",
            "(params.W * params.H) / params.N;",
        ),
        Slip("co and ci are swapped in the weight's offset", "(co * params.Ci + ci)", "(ci * params.Co + co)"),
        Slip(
            "kH and kW are swapped in the weight's offset",
            "params.kH + kh) * params.kW + kw",
            "params.kW + kh) * params.kH + kw",
        ),
        Slip(
            "oH and oW are swapped in grad_output's offset",
            "params.oH + oh) * params.oW + ow",
            "params.oW + oh) * params.oH + ow",
        ),
        Slip("Ci stands in the place of Co in grad_output's offset", "n * params.Co + co", "n * params.Ci + co"),
        Slip("every image takes the upstream gradient of image 0", "(n * params.Co + co)", "co"),
        Slip("only the first output channel is added up", "co < params.Co", "co < 1u"),
        Slip("the sum keeps only its last product (write +=)", "sum += grad_output", "sum = grad_output"),
    ),
)


def _pixel_by_hand(weight: list, upstream: list, ih: int, iw: int) -> Question:
    """One pixel's gradient, worked out by hand from one filter and its upstream gradient."""
    filter, grad_output = (np.array(matrix, np.float32)[None, None] for matrix in (weight, upstream))
    size = 1, 1, *np.add(filter.shape[2:], grad_output.shape[2:]) - 1

    def gradient(filter: np.ndarray, upstream: np.ndarray) -> np.ndarray:
        return reference.conv2d_grad_input(size, filter, upstream)[0, 0]

    right = gradient(filter, grad_output)
    mistakes = {
        right[i]: f"it is dX[{i[0]},{i[1]}]; which outputs have the pixel [{ih},{iw}] in their windows?"
        for i in np.ndindex(right.shape)
        if right[i] != right[ih, iw]
    }
    for mistake, wrong in {
        "the minus signs of the upstream gradient are lost": (filter, abs(grad_output)),
        "the filter is transposed": (filter.swapaxes(2, 3), grad_output),
        "the filter is not flipped: the first output multiplies this pixel by its last weight": (
            filter[:, :, ::-1, ::-1],
            grad_output,
        ),
    }.items():
        mistakes[gradient(*wrong)[ih, iw]] = f"you get this when {mistake}"
    return Question(right[ih, iw], mistakes, "each output has the pixel under another weight: which one?")


INPUT_QUESTIONS = {  # lesson 03
    "dX[1,1]": _pixel_by_hand([[3, 4], [2, -3]], [[1, -1], [3, 2]], ih=1, iw=1),
    "windows_with_stride": Question(
        4,
        {
            9: "this is right for stride 1; now a window begins only in every second row and column",
            2: "2 is right for the rows alone; multiply by the number for the columns",
            1: "a window of 3 rows begins in row 0, another one in row 2, and both have row 2 in them",
            6: "rows and columns count alike: both have stride 2",
        },
        "count the windows that have row 2 in them, then those with column 2, and multiply",
    ),
    "row_below_zero": Question(
        2**32 - 1,
        {
            -1: "an unsigned integer has no value below 0",
            0: "an unsigned integer does not stop at 0",
            2**32: "the largest u32 is 2**32 - 1",
            2**31 - 1: "this is the largest i32; row is unsigned",
            2**16 - 1: "a u32 has 32 bits",
        },
        "an unsigned integer that falls below 0 wraps around to the largest one",
    ),
    "faults_seen_by_the_easy_case": Question(
        0,
        {
            1: "a filter that is the same when flipped hides the first fault as well",
            4: "go through the faults one at a time: what does each one change if all sizes are equal?",
            2: "with stride 1 every number is a multiple of S, and with one channel co = ci = 0",
            3: "with stride 1 every number is a multiple of S, and with one channel co = ci = 0",
        },
        "go through the faults one at a time: what does each one change if all sizes are equal?",
    ),
    "loads_in_version_2": Question(
        400 + 400 / 256,
        {
            800: "this is version 1, which loads two numbers for each product",
            400: "these are the loads of grad_output; the workgroup also has to load the weights",
            401: "do not round: 400 / 256 is 1.5625",
            402: "do not round: 400 / 256 is 1.5625",
            425: "every channel of the output has 25 weights of its own, and 256 threads share them",
            400 + 25 / 256: "25 weights are loaded for each of the 16 output channels",
        },
        "put T = 400, Co = 16, kH = kW = 5 and TILE = 16 into the cost line of version 2",
    ),
    "first_barrier_with_one_channel": Question(
        "no",
        {"yes": "the load runs only once then: could any thread still read old weights?"},
        "answer yes or no",
    ),
    "tests_that_pass": Question(
        4,
        {
            36: "36 is the number of tests",
            12: "a third of the rows passes, and of these a third of the columns",
            32: "32 is the number of tests that fail",
            9: "9 is s*s; one test in 9 passes",
            1: "one in s*s = 9 of the tests passes, and there are 36",
        },
        "with stride s, one test in s*s passes",
    ),
}


# --- All of them ------------------------------------------------------------------------------------------------

PUZZLES = (
    FORWARD,
    GRAD_WEIGHT,
    GRAD_INPUT,
    GRAD_BIAS,
)  # as their lessons appear

QUESTIONS: dict[str, Question] = {  # as their lessons appear
    **FORWARD_QUESTIONS,
    **WEIGHT_QUESTIONS,
    **INPUT_QUESTIONS,
    **BIAS_QUESTIONS,
}
