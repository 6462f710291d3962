"""The exercises of appendix B: the index of a dilated filter, and the channel that a weight of a group multiplies."""

from collections.abc import Mapping, Sequence
from functools import cache
from math import ceil, prod
from pathlib import Path

import numpy as np

from helpers.grading.drawn_choice import IN_THE_LAST
from helpers.grading.puzzle import Case, Dispatch, Drawn, Puzzle, Skill
from helpers.lessons.shared.dilated_planes import MOST_PRODUCTS, THREADS, facts_of_plane, plane, plane_sizes
from helpers.lessons.shared.drawn_numbers import Sizes, draw_numbers, kind, with_rounding
from helpers.lessons.shared.drawn_sizes import Random, check_not_empty
from helpers.lessons.shared.layers import draw, draw_quarters
from helpers.operations.convolution import reference
from helpers.operations.convolution.shapes import ConvShape

Array = np.ndarray
QUARTERS = "dilation_and_padding", "three_groups"  # the tests whose numbers are not whole

PICTURE = ConvShape(1, 1, 5, 5, 1, 2, 2, dilation=2)  # the layer of the lesson's first picture, as it begins
OF_GROUPS = ConvShape(1, 4, 5, 5, 4, 3, 3, groups=2)  # and that of its last one


def shown(s: ConvShape) -> tuple[Array, Array]:
    """The upstream gradient and the image of a layer in the lesson's pictures."""
    random = np.random.default_rng(0)
    image = np.float32(random.choice(range(5), s.input))
    return np.float32(random.choice((-1, 1, 2, 3), s.output)), image


def _case(name: str, s: ConvShape, params: Sequence[int], grad_output: Array, image: Array, rank: int) -> Case:
    """A test of a weight gradient, whose answer has the last `rank` axes of the weights."""
    expected = reference.grad_weight(grad_output, image, s)
    inputs = tuple(tensor.reshape(tensor.shape[-rank:]) for tensor in (grad_output, image))
    workgroups = ceil(expected.size / THREADS), 1, 1
    return Case(name, inputs, expected.reshape(s.weight[-rank:]), tuple(params), (Dispatch(workgroups),))


# --- A dilated filter -------------------------------------------------------------------------------------------


def _dilated_case(name: str, s: ConvShape, grad_output: Array, image: Array) -> Case:
    sizes = s.in_h, s.in_w, s.kernel_h, s.kernel_w
    params = *sizes, s.stride_h, s.dilation_h, s.padding_h, s.out_h, s.out_w
    return _case(name, s, params, grad_output, image, 2)


DILATED = {  # H, W, kH, kW, S, P, D
    "dilation_1": (5, 6, 2, 3, 1, 0, 1),
    "dilation_3": (8, 9, 3, 2, 1, 0, 3),
    "dilation_and_stride": (9, 12, 2, 3, 3, 0, 2),
    "dilation_and_padding": (6, 7, 3, 3, 2, 2, 3),
}


@cache
def _dilated_cases() -> tuple[Case, ...]:
    random = np.random.default_rng(31)
    cases = []
    for name, sizes in DILATED.items():
        s = plane(sizes)
        numbers = draw_quarters if name == QUARTERS[0] else draw
        cases.append(_dilated_case(name, s, numbers(random, *s.output), draw(random, *s.input)))
    cases.insert(2, _dilated_case("picture", PICTURE, *shown(PICTURE)))
    return tuple(cases)


def _larger_plane() -> Case:
    """Many weights, of which each meets four pixels."""
    s = plane((26, 27, 13, 14, 1, 0, 2))
    random = np.random.default_rng(32)
    return _dilated_case("larger", s, draw(random, *s.output), draw(random, *s.input))


def _drawn_plane(name: str, sizes: Sizes, random: Random) -> Case:
    *numbers, _ = sizes.values()
    s = plane(numbers)
    grad_output = draw_numbers(random, sizes, *s.output)
    image = draw_numbers(random, sizes, *s.input)
    case = _dilated_case(name, s, grad_output, image)
    return with_rounding(case, sizes, lambda *data: reference.grad_weight(*data, s), grad_output, image)


# --- Groups -----------------------------------------------------------------------------------------------------


def _grouped_case(name: str, s: ConvShape, grad_output: Array, image: Array) -> Case:
    params = s.batch, s.in_channels, s.in_h, s.in_w, s.out_channels, s.kernel_h, s.kernel_w, s.groups
    return _case(name, s, params, grad_output, image, 4)


GROUPED = {  # N, Ci, H, W, Co, kH, kW, G
    "one_group": (1, 3, 4, 5, 2, 2, 3, 1),
    "depthwise": (2, 5, 3, 3, 5, 2, 1, 5),
    "two_groups": (2, 4, 4, 5, 6, 3, 2, 2),
    "three_groups": (1, 9, 3, 4, 6, 2, 2, 3),
}


def _layer(sizes: Sequence[int]) -> ConvShape:
    """A layer by the numbers of a row of GROUPED."""
    *planes, groups = sizes
    return ConvShape(*planes, groups=groups)


@cache
def _grouped_cases() -> tuple[Case, ...]:
    random = np.random.default_rng(33)
    cases = []
    for name, sizes in GROUPED.items():
        s = _layer(sizes)
        numbers = draw_quarters if name == QUARTERS[1] else draw
        cases.append(_grouped_case(name, s, numbers(random, *s.output), draw(random, *s.input)))
    cases.insert(2, _grouped_case("picture", OF_GROUPS, *shown(OF_GROUPS)))
    return tuple(cases)


def _larger_layer() -> Case:
    """Many weights, of which each meets two pixels."""
    s = _layer((1, 16, 4, 4, 16, 4, 3, 4))
    random = np.random.default_rng(34)
    return _grouped_case("larger", s, draw(random, *s.output), draw(random, *s.input))


def _layer_sizes(random: Random) -> Sizes:
    """A layer with up to six groups of up to four channels; often with more weights than a workgroup has threads."""
    while True:
        G = int(random.integers(1, 7))
        in_group, out_group = random.integers(1, 5, 2).tolist()
        N, oH, oW = random.integers(1, 5, 3).tolist()
        kH, kW = random.integers(1, 5, 2).tolist()
        H = oH + kH - 1
        W = oW + kW - 1
        if in_group != out_group and H != W and N * oH * oW <= MOST_PRODUCTS:
            channels = {"N": N, "Ci": G * in_group, "H": H, "W": W, "Co": G * out_group}
            return channels | {"kH": kH, "kW": kW, "G": G} | kind(random)


def _drawn_layer(name: str, sizes: Sizes, random: Random) -> Case:
    *numbers, _ = sizes.values()
    check_not_empty(*numbers)
    s = _layer(numbers)
    grad_output = draw_numbers(random, sizes, *s.output)
    image = draw_numbers(random, sizes, *s.input)
    case = _grouped_case(name, s, grad_output, image)
    return with_rounding(case, sizes, lambda *data: reference.grad_weight(*data, s), grad_output, image)


def _facts_of_layer(sizes: Sizes) -> Mapping[str, int]:
    *numbers, _ = sizes.values()
    names = list(sizes)[:-1]
    s = _layer(numbers)
    weights = prod(s.weight)
    in_a_group = {"Ci/G": s.weight[1], "Co/G": s.out_channels // s.groups}
    return dict(zip(names, numbers, strict=True)) | in_a_group | {"weights": weights, IN_THE_LAST: weights % THREADS}


FOLDER = Path(__file__).with_name("puzzles")
PUZZLES = (
    Puzzle(
        "dilated_weight",
        FOLDER,
        "kh kw",
        _dilated_cases,
        Skill.one_thread_for("weight", "dilation_3", _larger_plane),
        Drawn(plane_sizes("weights"), _drawn_plane, facts_of_plane("weights")),
    ),
    Puzzle(
        "grouped_weight",
        FOLDER,
        "co ci kh kw",
        _grouped_cases,
        Skill.one_thread_for("weight", "two_groups", _larger_layer),
        Drawn(_layer_sizes, _drawn_layer, _facts_of_layer),
    ),
)
