"""The weight gradient in small steps, each a puzzle of lesson 02, and the whole kernel from a blank page."""

from functools import cache

import numpy as np

from helpers.convolution import reference
from helpers.convolution.shapes import ConvShape
from helpers.grading.puzzle import Case, Dispatch, Puzzle, Skill

Array = np.ndarray

IMAGE = [[2, 0, 1, 3, 1], [1, 4, 2, 0, 2], [0, 1, 3, 1, 4], [2, 2, 0, 1, 0], [1, 3, 1, 2, 1]]  # as in the lesson
UPSTREAM = [[1, -1, 2], [0, 3, -1], [2, 1, 0]]
WORDS = "N", "Ci", "H", "W", "Co", "kH", "kW", "S", "Ph", "oH", "oW", "Pw"  # of `ConvShape.params`
WINDOWS = {
    "window_5x5": ConvShape(1, 1, 5, 5, 1, 3, 3),
    "window_rectangle": ConvShape(1, 1, 8, 11, 1, 3, 5),
    "window_many_weights": ConvShape(1, 1, 17, 20, 1, 8, 9),
}
PADDED = {  # from here on, each test adds one thing to those before it; in the last, no two sizes are equal
    "padding_1": ConvShape(1, 1, 4, 4, 1, 3, 3, padding=1),
    "padding_stride": ConvShape(1, 1, 5, 6, 1, 3, 3, stride=2, padding=1),
    "padding_rectangle": ConvShape(1, 1, 8, 11, 1, 6, 7, stride=2, padding=(3, 1)),
}
LAYERS = {
    "strided_tiny": ConvShape(1, 1, 4, 4, 1, 2, 2),
    "strided_stride": ConvShape(1, 1, 6, 7, 1, 2, 2, stride=2),
    "strided_padding": ConvShape(1, 1, 5, 6, 1, 3, 3, stride=2, padding=(1, 2)),
    "strided_channels": ConvShape(1, 2, 5, 7, 3, 4, 3, stride=2, padding=(2, 1)),
    "strided_everything": ConvShape(2, 7, 9, 11, 8, 5, 6, stride=3, padding=(1, 2)),
}

IN_QUARTERS = "window_many_weights", "padding_rectangle", "strided_everything"

# --- The cases --------------------------------------------------------------------------------------------------


@cache
def _index_cases() -> tuple[Case, ...]:
    """One pair of channels, and then sizes of which no two are equal."""
    sizes = {"index_one_channel": (1, 1, 2, 3), "index_channels": (2, 3, 4, 5), "index_wide_filter": (5, 3, 2, 7)}
    rows = {name: np.indices(size).reshape(4, -1).T.astype(np.float32) for name, size in sizes.items()}
    return tuple(
        case(name, (), rows[name], size, at_once=4 * 64) for name, size in sizes.items()
    )  # a thread stores a row


@cache
def _window_cases() -> tuple[Case, ...]:
    """The lesson's own image, a filter that is not square, and weights for two workgroups."""
    random = np.random.default_rng(11)
    (first, s), *others = WINDOWS.items()
    lessons = _plane_case(first, s, "H W oH oW", np.array(IMAGE, np.float32), np.array(UPSTREAM, np.float32))
    return lessons, *(_random_plane(name, s, "H W oH oW", random) for name, s in others)


@cache
def _padding_cases() -> tuple[Case, ...]:
    random = np.random.default_rng(12)
    return tuple(_random_plane(name, s, "H W kH kW S Ph Pw oH oW", random) for name, s in PADDED.items())


@cache
def _strided_cases() -> tuple[Case, ...]:
    random = np.random.default_rng(13)
    return tuple(
        _layer_case(name, s, _draw(random, name, s.input), _draw(random, name, s.output)) for name, s in LAYERS.items()
    )


def _draw(random: np.random.Generator, name: str, size: tuple[int, ...]) -> Array:
    """Random whole numbers from -4 to 4; in some tests, divided by 4."""
    return random.integers(-4, 5, size).astype(np.float32) / (4 if name in IN_QUARTERS else 1)


def _random_plane(name: str, s: ConvShape, words: str, random: np.random.Generator) -> Case:
    return _plane_case(name, s, words, _draw(random, name, s.input[2:]), _draw(random, name, s.output[2:]))


def _plane_case(name: str, s: ConvShape, words: str, image: Array, upstream: Array) -> Case:
    """One image and one pair of channels, for a kernel that takes the sizes named in `words`."""
    whole = _layer_case(name, s, image[None, None], upstream[None, None])
    sizes = dict(zip(WORDS, whole.params, strict=True))
    expected, params = whole.expected[0, 0], tuple(sizes[word] for word in words.split())
    return case(name, (upstream, image), expected, params, s.padding, 64)


def _layer_case(name: str, s: ConvShape, input: Array, grad_output: Array) -> Case:
    """A whole layer, for a kernel that takes the twelve words of the lessons' kernels."""
    expected = reference.conv2d_grad_weight(input, s.weight, grad_output, s.stride, s.padding)
    return case(name, (grad_output, input), expected, s.params(), s.padding)


def case(
    name: str, inputs: tuple[Array, ...], expected: Array, params: tuple, padding: tuple = (0, 0), at_once: int = 256
) -> Case:
    """A test with a thread for each result, where a workgroup stores this many at once."""
    dispatches = (Dispatch((-(-expected.size // at_once), 1, 1)),)
    return Case(name, inputs, expected, params, dispatches, padding=padding)


# --- The puzzles ------------------------------------------------------------------------------------------------

STEPS = (
    Puzzle(
        "weight_index",
        "convolution",
        "index co,ci,kh,kw",
        _index_cases,
        Skill.one_thread_for("index", "index_wide_filter"),
    ),
    Puzzle(
        "weight_window",
        "convolution",
        "kh kw",
        _window_cases,
        Skill.one_thread_for("weight", "window_rectangle"),
    ),
    Puzzle(
        "weight_padding",
        "convolution",
        "kh kw",
        _padding_cases,
        Skill.one_thread_for("weight", "padding_rectangle"),
    ),
)
STRIDED = Puzzle(
    "strided_grad_weight",
    "convolution",
    "co ci kh kw",
    _strided_cases,
    Skill.one_thread_for("weight", "strided_channels"),
)
