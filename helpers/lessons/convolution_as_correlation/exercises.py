"""The exercises of lesson 01: a window, an edge, a dilated filter, an index and the whole kernel; cells to mark."""

from functools import cache
from math import ceil
from pathlib import Path

import numpy as np

from helpers.grading.puzzle import Case, Dispatch, Drawn, Puzzle, Skill
from helpers.lessons.shared import marking
from helpers.lessons.shared.dilated_planes import THREADS, facts_of_plane, plane, plane_sizes
from helpers.lessons.shared.drawn_numbers import Sizes, draw_numbers, with_rounding
from helpers.lessons.shared.drawn_sizes import Random
from helpers.lessons.shared.layers import NO_BIAS, draw, draw_quarters, layer_puzzles
from helpers.lessons.shared.small_image import IMAGE, SMALL_WEIGHT
from helpers.operations.convolution import reference
from helpers.operations.convolution.shapes import ConvShape

Array = np.ndarray
HERE = Path(__file__)
FOLDER = HERE.with_name("puzzles")

# --- A dilated filter -------------------------------------------------------------------------------------------

DILATED = {  # H, W, kH, kW, S, P, D
    "dilation_1": (5, 6, 2, 3, 1, 0, 1),
    "dilation_2": (4, 5, 2, 3, 1, 0, 2),  # the picture's image and filter
    "dilation_3": (9, 10, 3, 2, 1, 0, 3),
    "dilation_and_stride": (9, 12, 2, 3, 3, 0, 2),
    "dilation_and_padding": (6, 9, 3, 4, 2, 2, 3),
}


def _dilated_case(name: str, s: ConvShape, image: Array, weight: Array) -> Case:
    """A test of one plane of outputs."""
    expected = _outputs(image, weight, s)[0, 0]
    sizes = s.in_h, s.in_w, s.kernel_h, s.kernel_w
    params = *sizes, s.stride_h, s.dilation_h, s.padding_h, s.out_h, s.out_w
    workgroups = ceil(expected.size / THREADS), 1, 1
    return Case(name, (image[0, 0], weight[0, 0]), expected, params, (Dispatch(workgroups),))


def _outputs(image: Array, weight: Array, s: ConvShape) -> Array:
    return reference.output(image, weight, NO_BIAS["bias"], s)


@cache
def _dilated_cases() -> tuple[Case, ...]:
    random = np.random.default_rng(35)
    cases = []
    for name, sizes in DILATED.items():
        s = plane(sizes)
        numbers = draw_quarters if name == "dilation_and_padding" else draw
        tensors = numbers(random, *s.input), draw(random, *s.weight)
        if name == "dilation_2":
            tensors = IMAGE[:, :, :4], SMALL_WEIGHT
        cases.append(_dilated_case(name, s, *tensors))
    return tuple(cases)


def _larger_plane() -> Case:
    """Many outputs, each of four products."""
    s = plane((26, 27, 2, 2, 1, 0, 2))
    random = np.random.default_rng(36)
    return _dilated_case("larger", s, draw(random, *s.input), draw(random, *s.weight))


def _drawn_plane(name: str, sizes: Sizes, random: Random) -> Case:
    *numbers, _ = sizes.values()
    s = plane(numbers)
    image = draw_numbers(random, sizes, *s.input)
    weight = draw_numbers(random, sizes, *s.weight)
    case = _dilated_case(name, s, image, weight)
    return with_rounding(case, sizes, lambda *data: _outputs(*data, s), image, weight)


DILATED_OUTPUT = Puzzle(
    "dilated_output",
    FOLDER,
    "oh ow",
    _dilated_cases,
    Skill.one_thread_for("output", "dilation_3", _larger_plane),
    Drawn(plane_sizes("outputs"), _drawn_plane, facts_of_plane("outputs")),
)

WINDOW, PADDING, *OTHERS = layer_puzzles(HERE.with_name("layers.toml"), FOLDER)
PUZZLES = (WINDOW, PADDING, DILATED_OUTPUT, *OTHERS)
MARKINGS = marking.read(HERE.with_name("markings.toml"))
