"""The appendix on dilation and groups: its questions, and what it says of roles, blocks and tests."""

from math import prod

import numpy as np
import pytest
from support.notebook_gate import NOTEBOOKS, Lesson

import helpers
from helpers.convolution import indices, reference
from helpers.convolution.exercises import DILATION_QUESTIONS
from helpers.convolution.shapes import ConvShape
from helpers.grading.verdict import RIGHT

LESSON = Lesson.read(NOTEBOOKS / "appendix_b_dilation_and_groups.ipynb")
WRONG = {
    "dilation forgotten": ("tap % KERNEL_W * DILATION_W", "tap % KERNEL_W"),
    "first group only": ("co / GROUP_OUT * GROUP_IN + ci", "ci"),
}


def cell(beginning: str) -> str:
    """The source of the only cell that begins so."""
    (found,) = (cell.source for cell in LESSON.code if cell.source.startswith(beginning))
    return found


def pixels_never_touched() -> int:
    """How many pixels of 9 x 9 lie under no weight, with stride and dilation 2."""
    shape = ConvShape(1, 1, 9, 9, 1, 3, 3, 2, 0, 2)
    return [indices.contributions_to_pixel(shape, *pixel) for pixel in np.ndindex(9, 9)].count([])


def wrong_weights(fault: str, image: np.ndarray, padding: int = 0) -> int:
    """How many weight gradients of the lesson's layer a kernel with a fault gets wrong."""
    steps = 2, padding, 2, 2
    shape = ConvShape(*image.shape, 4, 3, 2, *steps)
    upstream = np.random.default_rng(0).choice([-3, -2, -1, 1, 2, 3], shape.output).astype(np.float32)
    kernel = helpers.load("conv2d_grad_weight", "7_direct").edit(*WRONG[fault])
    got = helpers.conv2d_grad_weight(image, shape.weight, upstream, *steps, kernel=kernel)
    return int((got != reference.conv2d_grad_weight(image, shape.weight, upstream, *steps)).sum())


ONES = np.ones((2, 4, 9, 11), np.float32)
COMPUTED = {
    "pixels_with_dilation": lambda: len(
        indices.contributions_to_weight(ConvShape(1, 1, 9, 9, 1, 3, 3, dilation=2), 0, 0)
    ),
    "pixels_never_touched": pixels_never_touched,
    "weights_with_groups": lambda: prod(ConvShape(1, 8, 9, 9, 12, 3, 3, groups=4).weight),
    "faults_seen_with_ones": lambda: sum(wrong_weights(fault, ONES) > 0 for fault in WRONG),
}


@pytest.mark.parametrize("name", DILATION_QUESTIONS)
def test_the_right_answer_is_what_is_computed(name):
    question = DILATION_QUESTIONS[name]
    assert question.grade(name, COMPUTED[name]()).outcome == RIGHT
    assert question.asked
    assert question.why


def test_the_faults_are_the_lessons_and_pixels_that_differ_show_each():
    text = cell("direct = ")
    random = np.random.default_rng(0).integers(-4, 5, ONES.shape).astype(np.float32)
    for fault, (old, new) in WRONG.items():
        assert f'"{fault}": direct.edit("{old}", "{new}")' in text
        assert 0 < wrong_weights(fault, random) <= 24
    assert wrong_weights("dilation forgotten", ONES, padding=1)  # so the question says that there is no padding


@pytest.mark.parametrize(("stride", "dilation"), [(1, 1), (1, 2), (2, 1), (2, 3), (3, 2)])
def test_the_forward_function_with_exchanged_roles_gives_the_weight_gradient(stride, dilation):
    """Also with batch and channels, which exchange their roles, too, where the stride leaves no rows unused."""
    span, random = 2 * dilation + 1, np.random.default_rng(0)
    shape = ConvShape(2, 3, span + stride, span + 2 * stride, 4, 3, 3, stride, 0, dilation)
    image, upstream = (random.integers(-4, 5, size).astype(np.float32) for size in (shape.input, shape.output))
    gradient = helpers.conv2d_grad_weight(image, shape.weight, upstream, stride, 0, dilation)
    forward = helpers.conv2d(image.swapaxes(0, 1), upstream.swapaxes(0, 1), stride=dilation, dilation=stride)
    assert (forward.swapaxes(0, 1) == gradient).all()
