"""The forward pass in small steps, each a puzzle of lesson 01, the whole kernel, and the same from a blank page."""

from functools import cache

import numpy as np

from helpers.convolution import reference
from helpers.convolution.exercises.weight_gradient import WORDS, case
from helpers.convolution.shapes import ConvShape
from helpers.data import digits
from helpers.grading.puzzle import Case, Puzzle, Skill

Array = np.ndarray

IMAGE = [[2, 0, 1, 3, 1], [1, 4, 2, 0, 2], [0, 1, 3, 1, 4], [2, 2, 0, 1, 0]]  # as in the lesson
FILTER = [[1, -1, 2], [0, 3, -2]]
WINDOWS = {  # from here on, each test adds one thing to those before it; in the last, no two sizes are equal
    "window_4x5": ConvShape(1, 1, 4, 5, 1, 2, 3),
    "window_tall_filter": ConvShape(1, 1, 7, 6, 1, 4, 2),
    "window_many_outputs": ConvShape(1, 1, 13, 17, 1, 3, 4),
}
PADDED = {
    "padding_of_one": ConvShape(1, 1, 3, 4, 1, 3, 3, padding=1),
    "padding_and_stride": ConvShape(1, 1, 6, 7, 1, 2, 3, stride=2, padding=1),
    "padding_everything": ConvShape(1, 1, 16, 13, 1, 5, 4, stride=2, padding=(1, 3)),
}
LAYERS = {
    "layer_tiny": ConvShape(1, 1, 3, 3, 1, 2, 2),
    "layer_stride": ConvShape(1, 1, 6, 7, 1, 2, 2, stride=2),
    "layer_padding": ConvShape(1, 1, 5, 6, 1, 3, 3, stride=2, padding=(1, 2)),
    "layer_channels": ConvShape(1, 2, 5, 7, 3, 4, 3, stride=2, padding=(2, 1)),
    "layer_everything": ConvShape(2, 7, 12, 13, 9, 4, 3, stride=3, padding=(1, 2)),
}
PLANES = {"output_padding": "H W kH kW S Ph Pw oH oW", "output_window": "W kH kW oH oW"}  # their uniform words
OUTPUTS = {"index_one_channel": (1, 1, 2, 3), "index_channels": (2, 3, 4, 5), "index_wide_output": (5, 3, 2, 7)}
IN_QUARTERS = "window_many_outputs", "padding_everything", "layer_everything", "conv2d_channels_and_batch"

# --- The cases --------------------------------------------------------------------------------------------------


def _draw(random: np.random.Generator, name: str, size: tuple[int, ...], largest: int = 4) -> Array:
    """Random whole numbers of at most that absolute value; in some tests, divided by 4."""
    return random.integers(-largest, largest + 1, size).astype(np.float32) / (4 if name in IN_QUARTERS else 1)


@cache
def _window_cases() -> tuple[Case, ...]:
    """The lesson's own image and filter, a filter that is higher than wide, and outputs for three workgroups."""
    random = np.random.default_rng(21)
    (first, s), *others = WINDOWS.items()
    lessons = _plane_case(first, s, "output_window", np.array(IMAGE, np.float32), np.array(FILTER, np.float32))
    return lessons, *(_random_plane(name, s, "output_window", random) for name, s in others)


@cache
def _padding_cases() -> tuple[Case, ...]:
    random = np.random.default_rng(22)
    return tuple(_random_plane(name, s, "output_padding", random) for name, s in PADDED.items())


@cache
def _index_cases() -> tuple[Case, ...]:
    """One channel, and then sizes of which no two are equal; a thread stores a row."""
    rows = {name: np.indices(size).reshape(4, -1).T.astype(np.float32) for name, size in OUTPUTS.items()}
    return tuple(case(name, (), rows[name], size, at_once=4 * 64) for name, size in OUTPUTS.items())


@cache
def _strided_cases() -> tuple[Case, ...]:
    random = np.random.default_rng(23)
    return tuple(_layer_case(name, s, random, s.params()) for name, s in LAYERS.items())


@cache
def _whole_cases() -> tuple[Case, ...]:
    """One output, then one difficulty after the other, and last a layer of LeNet."""
    random = np.random.default_rng(1)
    shapes = {
        "conv2d_one_output": ConvShape(1, 1, 3, 3, 1, 3, 3),
        "conv2d_rectangle": ConvShape(1, 1, 4, 6, 1, 2, 3),
        "conv2d_padding": ConvShape(1, 1, 4, 3, 1, 3, 2, padding=1),
        "conv2d_stride": ConvShape(1, 1, 6, 9, 1, 2, 3, stride=2),
        "conv2d_channels_and_batch": ConvShape(7, 4, 9, 11, 8, 2, 3, stride=2, padding=1),
        "conv2d_lenet_conv1": ConvShape(1, 1, 28, 28, 6, 5, 5),
    }
    return tuple(_layer_case(name, s, random, s.params()[:9]) for name, s in shapes.items())


def _layer_case(name: str, s: ConvShape, random: np.random.Generator, params: tuple[int, ...]) -> Case:
    """A whole layer, whose biases are not 0."""
    input = digits.conv1_input(1, first=3) if "lenet" in name else _draw(random, name, s.input)
    weight, bias = _draw(random, name, s.weight, 3), random.choice([-2, -1, 1, 2], s.out_channels).astype(np.float32)
    bias = bias / (4 if name in IN_QUARTERS else 1)
    expected = reference.conv2d(input, weight, bias, s.stride, s.padding)
    return case(name, (input, weight, bias), expected, params)


def _random_plane(name: str, s: ConvShape, puzzle: str, random: np.random.Generator) -> Case:
    return _plane_case(name, s, puzzle, _draw(random, name, s.input[2:]), _draw(random, name, s.weight[2:], 3))


def on_a_plane(puzzle: str, image: Array, weight: Array) -> Case:
    """An image (H, W) and a filter (kH, kW), at stride 1 and without padding, as one of PLANES takes them."""
    return _plane_case("plane", ConvShape(1, 1, *image.shape, 1, *weight.shape), puzzle, image, weight)


def _plane_case(name: str, s: ConvShape, puzzle: str, image: Array, weight: Array) -> Case:
    """One image and one filter of one channel."""
    expected = reference.conv2d(image[None, None], weight[None, None], None, s.stride, s.padding)[0, 0]
    sizes = dict(zip(WORDS, s.params(), strict=True))
    return case(name, (image, weight), expected, tuple(sizes[word] for word in PLANES[puzzle].split()), at_once=64)


# --- The puzzles ------------------------------------------------------------------------------------------------


PUZZLES = (
    Puzzle(
        "output_window", "convolution", "oh ow", _window_cases, Skill.one_thread_for("output", "window_many_outputs")
    ),
    Puzzle(
        "output_padding", "convolution", "oh ow", _padding_cases, Skill.one_thread_for("output", "padding_everything")
    ),
    Puzzle(
        "output_index", "convolution", "index column", _index_cases, Skill.one_thread_for("index", "index_wide_output")
    ),
    Puzzle(
        "strided_conv2d", "convolution", "n co oh ow", _strided_cases, Skill.one_thread_for("output", "layer_channels")
    ),
    Puzzle("conv2d", "convolution", "n co oh ow", _whole_cases, Skill.one_thread_for("output", "conv2d_stride")),
)
