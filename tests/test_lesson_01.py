"""Lesson 01: its pictures show what the forward kernel reads; its questions and its puzzle are right.

In a probe the input holds its own cells' numbers, 1, 2, 3, ..., and each filter has a single 1, at a place of its own.
So each output names the pixel that lies under that weight; 0 says none.
"""

import random
from dataclasses import replace
from math import prod

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view
from support.legible import faults, last_sums, written
from support.notebook_gate import NOTEBOOKS, Lesson
from support.problems import general_versions_of
from support.sample import sample

from helpers.convolution import explorers, indices, reference
from helpers.convolution.exercises import FORWARD_QUESTIONS
from helpers.convolution.indices import Tap
from helpers.convolution.pictures.forward import DependencePicture, EdgesPicture, WindowPicture
from helpers.convolution.pictures.matrix import MatrixPicture
from helpers.convolution.shapes import ConvShape
from helpers.data import digits
from helpers.grading.verdict import RIGHT
from helpers.oracles.harness import launched
from helpers.pictures.canvas import Box, Picture
from helpers.wgsl import load

LESSON = Lesson.read(NOTEBOOKS / "01_convolution_as_correlation.ipynb")

# --- What the kernel reads ------------------------------------------------------------------------------------

SHAPES = [
    pytest.param(ConvShape(1, 1, 4, 5, 1, 2, 3), id="the image of the lesson"),
    pytest.param(ConvShape(2, 2, 5, 7, 2, 3, 2), id="batch and rectangles"),
    pytest.param(ConvShape(1, 2, 4, 5, 1, 3, 3, 1, (1, 2)), id="padding"),
    pytest.param(ConvShape(2, 1, 7, 8, 2, 2, 3, 2, (1, 0)), id="stride"),
    pytest.param(ConvShape(1, 1, 7, 6, 1, 2, 2, 3, 3), id="stride over kernel, padding over kernel"),
]
DILATED = [
    pytest.param(ConvShape(1, 2, 7, 8, 1, 3, 2, dilation=2), id="dilation"),
    pytest.param(ConvShape(2, 1, 9, 8, 1, 3, 2, (2, 1), (1, 3), (2, 3)), id="each axis with steps of its own"),
]
every_shape = pytest.mark.parametrize("shape", SHAPES)
every_kernel = pytest.mark.parametrize("kernel", general_versions_of("conv2d"), ids=lambda kernel: kernel.version)


def taps_on_the_gpu(shape: ConvShape, kernel) -> list[Tap]:
    """All products of an image and a pair of channels, in the order oh, ow, kh, kw; the same in all of them."""
    places = list(np.ndindex(shape.weight[1:]))
    probes, weight = replace(shape, out_channels=len(places)), np.eye(len(places), dtype=np.float32)
    input = np.arange(1, prod(shape.input) + 1, dtype=np.float32).reshape(shape.input)
    tensors = {"input": input, "weight": weight.reshape(probes.weight), "bias": np.zeros(len(places), np.float32)}
    (named,) = launched(kernel, probes, tensors)
    found = {pair: [] for pair in np.ndindex(shape.batch, shape.in_channels)}
    for n, channel, oh, ow in np.argwhere(named):
        at = np.unravel_index(int(named[n, channel, oh, ow]) - 1, shape.input)
        ci, kh, kw = places[channel]
        assert at[:2] == (n, ci), "an output read another image or channel"
        found[n, ci].append(Tap(*map(int, (oh, ow, kh, kw, *at[2:]))))
    first, *others = (sorted(taps) for taps in found.values())
    assert all(taps == first for taps in others)
    return first


@every_shape
@every_kernel
def test_the_products_are_those_that_the_kernel_adds_up(shape, kernel):
    require_products(shape, kernel)


@pytest.mark.parametrize("shape", DILATED)
def test_the_products_of_a_dilated_filter_are_too(shape):
    require_products(shape, load("conv2d", "5_direct"))
    with pytest.raises(AssertionError):
        require_products(shape, load("conv2d", "5_direct").edit("kh * DILATION_H", "kh"))


def require_products(shape, kernel):
    """Assert that the kernel reads what the pictures' sets hold."""
    true = taps_on_the_gpu(shape, kernel)
    assert list(indices.taps(shape)) == true
    for oh, ow in np.ndindex(shape.output[2:]):
        assert indices.taps_of_output(shape, oh, ow) == [tap for tap in true if tap[:2] == (oh, ow)]
    for kh, kw in np.ndindex(shape.weight[2:]):
        assert indices.taps_of_weight(shape, kh, kw) == [tap for tap in true if tap[2:4] == (kh, kw)]
    for ih, iw in np.ndindex(shape.input[2:]):
        assert indices.taps_of_pixel(shape, ih, iw) == [tap for tap in true if tap[4:] == (ih, iw)]


@every_kernel
def test_products_off_by_one_would_be_seen(kernel):
    shape = ConvShape(2, 1, 5, 6, 1, 3, 2, 1, 1)
    true = taps_on_the_gpu(shape, kernel)
    flipped = kernel.edit("(weight_plane + kh)", "(weight_plane + params.kernel_h - 1u - kh)")
    assert taps_on_the_gpu(shape, flipped) != true
    for other in (
        replace(shape, padding=(2, shape.padding_w), in_h=3),
        replace(shape, stride=2),
        replace(shape, padding=(shape.padding_h, 0)),
    ):
        assert list(indices.taps(other)) != true


# --- Pictures -------------------------------------------------------------------------------------------------


def drawn(shape: ConvShape) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Input, weight, output and bias, with wide numbers among them."""
    rng = np.random.default_rng(0)
    input, weight = rng.integers(0, 5, shape.input).astype(float), rng.choice([-2.0, -1.0, 1.0, 3.0], shape.weight)
    bias = rng.choice([-1, 2], shape.out_channels)
    output = reference.conv2d(input, weight, bias, shape.stride, shape.padding, shape.dilation, shape.groups)
    return input, weight, output, bias


@pytest.mark.parametrize(
    ("shape", "smallest"),
    [
        (ConvShape(1, 1, 4, 5, 1, 2, 3), 12),
        (ConvShape(2, 2, 5, 7, 2, 3, 3), 12),
        (ConvShape(1, 1, 1, 1, 1, 1, 1), 12),
        (ConvShape(1, 2, 7, 7, 1, 1, 1, 1, 2), 9.9),
        (ConvShape(2, 1, 7, 7, 1, 5, 5, 1, 2), 9.9),
        (ConvShape(1, 3, 7, 3, 1, 3, 5, 2, 2), 9.9),
        (ConvShape(1, 1, 5, 7, 1, 3, 3, dilation=2), 12),
        (ConvShape(1, 2, 7, 7, 1, 3, 3, 1, 1, 3), 9.9),
        (ConvShape(2, 4, 5, 6, 4, 2, 3, 1, 1, 2, 2), 11),
        (ConvShape(1, 4, 1, 1, 4, 1, 1, groups=4), 12),
    ],
    ids=str,
)
def test_every_window_is_legible(shape, smallest):
    picture = WindowPicture(shape, *drawn(shape), letters=shape.in_w == 5)
    for oh, ow, ci, n in sample(np.ndindex(*shape.output[2:], shape.weight[1], shape.batch), 12):
        co = (oh + ci) % shape.out_channels
        assert not list(faults(picture.show(oh, ow, co, ci, n), smallest)), (oh, ow, co, ci, n)
        assert "−0" not in written(picture)
        ends, total = last_sums(picture)
        assert ends == total


def test_letters_do_not_mix_with_axes_that_are_not_explained_yet():
    picture = explorers.forward(IMAGE, WEIGHT).picture
    assert not [word for word in written(picture) if "n = " in word or "ci = " in word]
    assert "n = 0, ci = 0" in written(explorers.any_forward().picture)


@pytest.mark.parametrize("padding", [0, 1])
@pytest.mark.parametrize("stride", [1, 2, 3])
def test_what_depends_on_a_number_is_legible(stride, padding):
    shape = ConvShape(1, 1, 4, 5, 1, 2, 3, stride, padding)
    input, weight, _, _ = drawn(shape)
    output = reference.conv2d(input, weight, None, stride, padding)
    picture = DependencePicture(shape, input, weight, output)
    for kh, kw in np.ndindex(2, 3):
        raised = reference.conv2d(input, weight + at(weight.shape, kh, kw), None, stride, padding)
        assert not list(faults(picture.show_weight(kh, kw, raised), 11.9)), (kh, kw)
    for ih, iw in np.ndindex(4, 5):
        raised = reference.conv2d(input + at(input.shape, ih, iw), weight, None, stride, padding)
        assert not list(faults(picture.show_pixel(ih, iw, raised), 11.9)), (ih, iw)


def at(shape: tuple[int, ...], row: int, column: int) -> np.ndarray:
    """A 1 in one place of the last two axes."""
    one = np.zeros(shape)
    one[..., row, column] = 1
    return one


@pytest.mark.parametrize("padding", [0, 1, 2])
@pytest.mark.parametrize("stride", [1, 3])
def test_digits_with_edges_are_legible(stride, padding):
    shape, digit = ConvShape(1, 1, 28, 28, 1, 3, 3, stride, padding), digits.conv1_input(1, first=8)
    for name, numbers in explorers.EDGES.items():
        weight = np.array(numbers)[None, None]
        output = reference.conv2d(digit, weight, None, stride, padding)
        picture = EdgesPicture(shape, digit, weight, output, name)
        for place in ((0, 0), (shape.out_h // 2, 3), (shape.out_h - 1, shape.out_w - 1)):
            assert not list(faults(picture.show(*place))), (name, place)


def matrices(rng: np.random.Generator) -> tuple[np.ndarray, ...]:
    """An image with two channels, two filters, the matrix of windows and its product with the filters."""
    input, weight = rng.integers(0, 4, (1, 2, 3, 4)), rng.integers(-1, 3, (2, 2, 2, 2))
    windows = sliding_window_view(input[0], (2, 2), (1, 2)).transpose(1, 2, 0, 3, 4).reshape(6, 8)
    return *(a.astype(np.float32) for a in (input, weight, windows)), windows @ weight.reshape(2, 8).T


@pytest.mark.parametrize("seed", range(3))
def test_the_matrix_of_windows_is_legible_and_true(seed):
    input, weight, windows, product = matrices(np.random.default_rng(seed))
    shape, output = ConvShape(1, 2, 3, 4, 2, 2, 2), reference.conv2d(input, weight)
    picture = MatrixPicture(shape, input, weight, output, windows, product)
    for row, column, co in sample(np.ndindex(6, 8, 2), 24):
        assert not list(faults(picture.show(row, column, co), 11.4)), (row, column, co)
        assert f"] = {windows[row, column]:.0f}. The row" in picture.sentence
        returned = f"{output[0, co].flat[row]:.0f}".replace("-", "−")
        assert picture.sentence.endswith(f"filter {co} is {returned}; the convolution returned {returned}.")


def test_a_wrong_result_differs_from_the_sum_of_its_terms():
    shape = ConvShape(1, 1, 4, 5, 1, 2, 3)
    input, weight, output, bias = drawn(shape)
    right = WindowPicture(shape, input, weight, output, bias).show(1, 1).sentence
    wrong = WindowPicture(shape, input, weight, output + 1, bias).show(1, 1).sentence
    assert right.rpartition("; ")[0] == wrong.rpartition("; ")[0]
    assert right != wrong


def test_an_image_is_shown_live_as_it_is_stored():
    picture = Picture(50, 100)
    picture.image(Box(10, 5, 40, 20), np.zeros((2, 4, 4), np.uint8))
    _, moving = picture.svg()
    assert '<image x="10" y="5" width="40" height="20" preserveAspectRatio="none"' in moving
    assert 'href="data:image/png;base64,iVBOR' in moving


# --- Explorers ------------------------------------------------------------------------------------------------

IMAGE = np.array([[2, 0, 1, 3, 1], [1, 4, 2, 0, 2], [0, 1, 3, 1, 4], [2, 2, 0, 1, 0]], np.float32)[None, None]
WEIGHT = np.array([[1, -1, 2], [0, 3, -2]], np.float32)[None, None]


def test_the_letters_say_the_sum_that_the_reference_computes():
    right, explorer = reference.conv2d_loops(IMAGE, WEIGHT)[0, 0], explorers.forward(IMAGE, WEIGHT)
    values = dict(zip("abcdefghijklmnopqrst", IMAGE.flat, strict=True)) | dict(zip("ABCDEF", WEIGHT.flat, strict=True))
    for oh, ow in np.ndindex(3, 3):
        terms, _, rest = explorer.set(oh=oh, ow=ow).partition(" = ")[2].partition(" = ")
        assert sum(prod(values[letter] for letter in term.split("·")) for term in terms.split(" + ")) == right[oh, ow]
        value = f"{right[oh, ow]:.0f}".replace("-", "−")
        assert rest == f"{value}. The GPU returned {value}."


SIZES = "N Ci H W Co kH kW stride padding dilation groups"  # as ConvShape takes them


def test_any_values_become_a_valid_convolution():
    explorer, rng = explorers.any_forward(), random.Random(3)
    for _ in range(40):
        words = explorer.set(**{name: rng.randint(-3, 9) for name in rng.sample(list(explorer.values), 4)})
        total, returned = words.rsplit("add up to ", 1)[1].rstrip(".").split("; the GPU returned ")
        assert total == returned
        v = explorer.values
        shape = ConvShape(*(v[name] for name in SIZES.split()))
        limits = dict(zip(("n", "co", "oh", "ow"), shape.output, strict=True)) | {"ci": shape.weight[1]}
        for name, limit in limits.items():
            assert explorers.ANY_OUTPUT[name](v) == (0, limit - 1)
            assert 0 <= v[name] < limit


@pytest.mark.parametrize(
    ("make", "places"), [(explorers.outputs_of_weight, "kh kw"), (explorers.outputs_of_pixel, "ih iw")]
)
def test_the_outputs_change_as_the_products_say(make, places):
    explorer, rng = make(IMAGE, WEIGHT), random.Random(5)
    for _ in range(40):
        words = explorer.set(
            **{name: rng.randint(0, 4) for name in rng.sample([*places.split(), "stride", "padding"], 3)}
        )
        if "none of the" in words:
            assert words.endswith("did not change.")
            continue
        predicted, changed = words.rstrip(".").split("together by ")[1].split("; on the GPU they changed by ")
        assert predicted == changed


def test_a_pixel_between_two_windows_reaches_no_output():
    explorer = explorers.outputs_of_pixel(IMAGE, WEIGHT)
    assert explorer.set(ih=3, stride=3) == (
        "Pixel [3,0] contributes to none of the 1 outputs; on the GPU, they did not change."
    )


def test_the_edges_of_a_digit_are_those_of_the_reference():
    explorer = explorers.edges()
    for filter, numbers in enumerate(explorers.EDGES.values()):
        words = explorer.set(digit=7, filter=filter, stride=2, padding=1, oh=6, ow=5)
        right = reference.conv2d(digits.conv1_input(1, first=7), np.array(numbers)[None, None], None, 2, 1)[0, 0, 6, 5]
        value = f"{right:.0f}".replace("-", "−")
        assert words.endswith(f"become 14 × 14 outputs. output[6,5] = {value}; the GPU returned {value}.")


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: explorers.forward(np.ones((2, 1, 5, 5), np.float32), WEIGHT), "input has shape"),
        (lambda: explorers.forward(np.ones((1, 1, 6, 6), np.float32), WEIGHT), "letters"),
        (lambda: explorers.outputs_of_pixel(IMAGE, np.ones((1, 2, 2, 2), np.float32)), "weight has shape"),
        (lambda: explorers.one_product(IMAGE, WEIGHT, np.ones((9, 5)), np.ones((9, 1))), "windows has shape"),
    ],
)
def test_what_a_picture_cannot_show_is_refused(make, problem):
    with pytest.raises(ValueError, match=problem):
        make()


# --- Questions ------------------------------------------------------------------------------------------------


def shifted() -> str:
    """Where a dot of ink goes under the filter whose only weight is to the right of the middle."""
    image, weight = np.zeros((1, 1, 5, 5)), np.zeros((1, 1, 3, 3))
    image[0, 0, 2, 2] = weight[0, 0, 1, 2] = 1
    ((row, column),) = np.argwhere(reference.conv2d(image, weight, None, 1, 1)[0, 0])
    return {(2, 1): "left", (2, 3): "right", (1, 2): "up", (3, 2): "down"}[row, column]


def by_hand() -> float:
    """output[1,0] of the case in the section with pen and paper."""
    return float((np.array([[3, 1], [2, 0]]) * np.array([[1, -2], [2, 3]])).sum())


CONV1, CONV2 = ConvShape(4, 1, 28, 28, 6, 5, 5), ConvShape(1, 6, 12, 12, 16, 5, 5)
COMPUTED = {
    "output_by_hand": by_hand,
    "output_size": lambda: ConvShape(1, 1, 12, 12, 1, 5, 5, 2, 2).out_h,
    "shifted_picture": shifted,
    "products_of_an_output": lambda: prod(CONV2.weight[1:]),
    "offset": lambda: int(np.ravel_multi_index((1, 2, 3, 4), (2, 3, 5, 7))),
    "output_of_a_thread": lambda: tuple(map(int, np.unravel_index(1000, CONV1.output[1:]))),
    "after_2_to_the_24": lambda: int(np.float32(2**24) + np.float32(1)),
    "outputs_of_a_weight": lambda: CONV1.batch * len(indices.taps_of_weight(CONV1, 0, 0)),
    "outputs_of_a_corner": lambda: len(indices.taps_of_pixel(ConvShape(1, 1, 6, 6, 1, 3, 3, 1, 1), 0, 0)),
    "matrix_of_windows": lambda: (prod(CONV2.output[2:]), prod(CONV2.weight[1:])),
}


@pytest.mark.parametrize("name", FORWARD_QUESTIONS)
def test_the_right_answer_is_what_is_computed(name):
    assert FORWARD_QUESTIONS[name].grade(name, COMPUTED[name]()).outcome == RIGHT


def test_the_mistakes_by_hand_are_what_they_are_said_to_be():
    window, weight = np.array([[3, 1], [2, 0]]), np.array([[1, -2], [2, 3]])
    wrong = {"flipped": weight[::-1, ::-1], "transposed": weight.T, "without the minus": abs(weight)}
    for mistake, other in wrong.items():
        assert mistake in FORWARD_QUESTIONS["output_by_hand"].mistakes[(window * other).sum()]
