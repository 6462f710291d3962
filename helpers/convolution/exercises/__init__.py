"""What a learner works out in the convolution lessons: kernels to write, and questions to answer.

The questions of each lesson are in a file beside this one, and the steps to the kernel of lesson 02 in
`weight_gradient.py`.
"""

from functools import cache
from pathlib import Path

import numpy as np

from helpers.checks.differences import central_differences
from helpers.convolution import reference
from helpers.convolution.exercises import weight_gradient
from helpers.convolution.indices import contributions_to_pixel
from helpers.convolution.shapes import ConvShape
from helpers.data import digits
from helpers.grading.prediction import Question, questions, sum_of_products
from helpers.grading.puzzle import Case, Puzzle, Skill

Array = np.ndarray

HERE = Path(__file__)
CLASSROOM = (  # the tests' names in the classroom
    "conv_bw_tiny_3x3",
    "conv_bw_numerical_gradient_check",
    "conv_bw_lenet_conv1",
    "conv_bw_lenet_conv2",
)
OURS = "conv_bw_rectangular_batch"  # catches what they miss: no two sizes are equal, and the numbers are quarters


def draw(random: np.random.Generator, *size: int, largest: int = 4) -> Array:
    """Random whole numbers of at most that absolute value, as float32."""
    return random.integers(-largest, largest + 1, size).astype(np.float32)


def draw_quarters(random: np.random.Generator, *size: int) -> Array:
    """Random quarters from -2 to 2, as float32."""
    return draw(random, *size, largest=8) / 4


def _case(name, inputs, expected, params, tolerance=0.0) -> Case:
    """A test with a thread for each result."""
    return Case(name, inputs, expected, params, (-(-expected.size // 256), 1, 1), tolerance)


# --- Lesson 01: the forward pass -------------------------------------------------------------------------------


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
        _forward_case("conv2d_channels_and_batch", random, draw_quarters(random, 7, 4, 9, 11), (8, 4, 2, 3), 2, 1),
        _forward_case("conv2d_lenet_conv1", random, digit, (6, 1, 5, 5)),
    )


def _forward_case(name, random, input, weight_size, stride: int = 1, padding: int = 0) -> Case:
    weight, bias = draw(random, *weight_size, largest=3), random.choice([-2, -1, 1, 2], weight_size[0])
    if "batch" in name:
        weight, bias = weight / 4, bias / 4
    expected = reference.conv2d(input, weight, bias, stride, padding)
    params = (*input.shape, weight_size[0], *weight_size[2:], stride, padding)
    return _case(name, (input, weight, bias.astype(np.float32)), expected, params)


FORWARD = Puzzle(
    "conv2d",
    "convolution",
    "n co oh ow",
    _forward_cases,
    Skill.one_thread_for("output", "conv2d_stride"),
)

FORWARD_QUESTIONS = questions(HERE.with_name("forward"))

# --- Lesson 02: the weight gradient, the classroom's first half ------------------------------------------------


def differences(input: Array, grad_output: Array) -> Array:
    """The weights' gradient by finite differences, (Co, Ci, F, F).

    The loss is sum(output * grad_output): its gradient for the output is grad_output, and it is linear in each weight.
    """
    size = ConvShape.between(input.shape, grad_output.shape).weight
    return central_differences(lambda weight: np.vdot(reference.conv2d(input, weight), grad_output), np.zeros(size))


@cache
def _grad_weight_cases() -> tuple[Case, ...]:
    """The four tests of the classroom, and ours."""
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
        _grad_weight_case(OURS, draw_quarters(random, 2, 8, 6, 7), draw_quarters(random, 2, 9, 4, 5)),
    )


def _grad_weight_case(name, input, grad_output, expected=None, tolerance=0.0) -> Case:
    s = ConvShape.between(input.shape, grad_output.shape)
    if expected is None:
        expected = reference.conv2d_grad_weight(input, s.weight, grad_output)
    params = s.batch, s.in_channels, s.in_h, s.in_w, s.out_channels, s.kernel_h
    return _case(name, (grad_output, input), expected, params, tolerance)


GRAD_WEIGHT = Puzzle(
    "conv2d_grad_weight",
    "convolution",
    "co ci kh kw",
    _grad_weight_cases,
    Skill.one_thread_for("weight", CLASSROOM[1]),
)


def _weight_question(image: list, upstream: list, kh: int, kw: int) -> Question:
    """One weight's gradient, worked out by hand from one image and its upstream gradient."""
    input, grad_output = (np.array(matrix, np.float32)[None, None] for matrix in (image, upstream))
    size = ConvShape.between(input.shape, grad_output.shape).weight

    def gradient(upstream: Array) -> Array:
        return reference.conv2d_grad_weight(input, size, upstream)[0, 0]

    right = gradient(grad_output)
    mistakes = {
        right[i]: f"it is dW[{i[0]},{i[1]}]; where does the window of dW[{kh},{kw}] begin?"
        for i in np.ndindex(2, 2)
        if right[i] != right[kh, kw]
    }
    for mistake, wrong in {
        "taken without its minus signs; which of its numbers are negative": abs(grad_output),
        "transposed; which of its numbers belongs to the second pixel of the window": grad_output.swapaxes(2, 3),
        "flipped; does a correlation flip it": grad_output[:, :, ::-1, ::-1],
    }.items():
        mistakes[gradient(wrong)[kh, kw]] = f"you get this when the upstream gradient is {mistake}?"
    advice = f"place the upstream gradient's corner on the pixel at row {kh}, column {kw}"
    asked = f"What is dW[{kh},{kw}] of this image and this upstream gradient?"
    pixels = input[0, 0, kh:, kw:][: len(upstream), : len(upstream[0])]
    return Question(
        right[kh, kw], mistakes, advice, asked, sum_of_products([*zip(grad_output.flat, pixels.flat, strict=True)])
    )


WEIGHT_QUESTIONS = questions(HERE.with_name("weight_gradient")) | {
    "dW[0,1]": _weight_question([[1, 2, 3], [3, 1, 4], [0, 4, 1]], [[2, 1], [-1, 3]], kh=0, kw=1)
}

# --- Lesson 03: the input gradient -----------------------------------------------------------------------------

GATHERS = {  # each test adds one thing to those before it; in the last, no two sizes are equal, and there are quarters
    "gather_3x3": ConvShape(1, 1, 3, 3, 1, 2, 2),
    "gather_padding": ConvShape(1, 1, 3, 4, 1, 3, 2, padding=(1, 0)),
    "gather_stride": ConvShape(1, 1, 5, 6, 1, 3, 3, stride=2, padding=(0, 1)),
    "gather_channels": ConvShape(1, 2, 4, 5, 3, 2, 3),
    "gather_everything": ConvShape(2, 8, 11, 12, 7, 3, 4, 2, (0, 1)),
}


@cache
def _gather_cases() -> tuple[Case, ...]:
    random = np.random.default_rng(7)
    return tuple(_gather_case(name, shape, random) for name, shape in GATHERS.items())


def _gather_case(name: str, s: ConvShape, random: np.random.Generator) -> Case:
    grad_output, weight = (
        random.choice([-3, -2, -1, 1, 2, 3], size).astype(np.float32) / (4 if name == "gather_everything" else 1)
        for size in (s.output, s.weight)
    )
    padding = s.padding_h, s.padding_w
    expected = reference.conv2d_grad_input(s.input, weight, grad_output, s.stride, padding)
    return _case(name, (grad_output, weight), expected, s.params())


GRAD_INPUT = Puzzle(
    "conv2d_grad_input",
    "convolution",
    "n ci ih iw",
    _gather_cases,
    Skill.one_thread_for("pixel", "gather_channels"),
)


def _pixel_question(weight: list, upstream: list, ih: int, iw: int) -> Question:
    """One pixel's gradient, worked out by hand from one filter and its upstream gradient."""
    filter, grad_output = (np.array(matrix, np.float32)[None, None] for matrix in (weight, upstream))
    size = 1, 1, *np.add(filter.shape[2:], grad_output.shape[2:]) - 1

    def gradient(filter: Array, upstream: Array) -> Array:
        return reference.conv2d_grad_input(size, filter, upstream)[0, 0]

    right = gradient(filter, grad_output)
    mistakes = {
        right[i]: f"this is dX[{i[0]},{i[1]}]; which outputs have the pixel [{ih},{iw}] in their windows?"
        for i in np.ndindex(right.shape)
        if right[i] != right[ih, iw]
    }
    for mistake, wrong in {
        "the minus signs of the upstream gradient are lost; which of its numbers are negative": (
            filter,
            abs(grad_output),
        ),
        "the filter is transposed; under which weight does output [0,1] have this pixel": (
            filter.swapaxes(2, 3),
            grad_output,
        ),
        "the filter is not flipped; under which weight does the window of output [0,0] have this pixel": (
            filter[:, :, ::-1, ::-1],
            grad_output,
        ),
    }.items():
        mistakes[gradient(*wrong)[ih, iw]] = f"you get this when {mistake}?"
    advice = "each output has the pixel under another weight: which one?"
    asked = (
        f"The filter is `{weight}` and the upstream gradient `{upstream}` (stride 1, no padding), so the image has "
        f"{size[2]} × {size[3]} pixels. What is dX[{ih},{iw}], the gradient of the pixel [{ih},{iw}]?"
    )
    reached = sorted(contributions_to_pixel(ConvShape.between(size, grad_output.shape), ih, iw), key=lambda at: at[2:])
    pairs = [(grad_output[0, 0, oh, ow], filter[0, 0, kh, kw]) for kh, kw, oh, ow in reached]
    why = f"Each of the outputs has the pixel under another weight: {sum_of_products(pairs)}"
    return Question(right[ih, iw], mistakes, advice, asked, why)


INPUT_QUESTIONS = questions(HERE.with_name("input_gradient")) | {
    "dX[1,1]": _pixel_question([[3, 4], [2, -3]], [[1, -1], [3, 2]], ih=1, iw=1)
}

# --- Lesson 04: the bias gradient, the classroom's second half -------------------------------------------------


def bias_differences(input: Array, grad_output: Array) -> Array:
    """The bias gradient by finite differences, (Co,)."""
    s = ConvShape.between(input.shape, grad_output.shape)
    weight, bias = np.zeros(s.weight), np.zeros(s.out_channels)
    return central_differences(lambda bias: np.vdot(reference.conv2d(input, weight, bias), grad_output), bias)


@cache
def _grad_bias_cases() -> tuple[Case, ...]:
    """The four tests of the classroom, and ours."""
    random = np.random.default_rng(7)
    nudged = draw(random, 1, 1, 6, 6), draw(random, 1, 2, 4, 4)
    by_differences = bias_differences(*nudged)
    return (
        _grad_bias_case(CLASSROOM[0], np.arange(-3, 6, dtype=np.float32).reshape(1, 1, 3, 3)),
        _grad_bias_case(CLASSROOM[1], nudged[1], by_differences, 1e-3 * abs(by_differences)),
        _grad_bias_case(CLASSROOM[2], draw(random, 1, 6, 24, 24)),
        _grad_bias_case(CLASSROOM[3], draw(random, 1, 16, 8, 8)),
        _grad_bias_case(OURS, draw_quarters(random, 3, 300, 2, 5)),
    )


def _grad_bias_case(name, grad_output, expected=None, tolerance=0.0) -> Case:
    if expected is None:
        expected = reference.conv2d_grad_bias(grad_output)
    return _case(name, (grad_output,), expected, grad_output.shape, tolerance)


GRAD_BIAS = Puzzle(
    "conv2d_grad_bias",
    "convolution",
    "co",
    _grad_bias_cases,
    Skill.one_thread_for("channel", "conv_bw_lenet_conv2"),
)

BIAS_QUESTIONS = questions(HERE.with_name("bias_gradient"))

DILATION_QUESTIONS = questions(HERE.with_name("dilation_and_groups"))  # of appendix B

PUZZLES = (  # as their lessons appear
    FORWARD,
    *weight_gradient.STEPS,
    weight_gradient.STRIDED,
    GRAD_WEIGHT,
    GRAD_INPUT,
    GRAD_BIAS,
)
QUESTIONS = FORWARD_QUESTIONS | WEIGHT_QUESTIONS | INPUT_QUESTIONS | BIAS_QUESTIONS | DILATION_QUESTIONS
