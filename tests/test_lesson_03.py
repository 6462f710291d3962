"""Lesson 03: its pictures show what the gather kernels read; its questions have the answers that were computed.

In a probe the upstream gradient holds its own cells' numbers, 1, 2, 3, ..., and each channel of the filter has a
single 1, at a place of its own. So each pixel names the output that it collects through that weight; 0 says none.
"""

import random
from dataclasses import replace
from math import prod

import numpy as np
import pytest
from support.legible import faults, last_sums, written
from support.problems import general_versions_of
from support.sample import sample

import helpers
from helpers.convolution import explorers, indices, reference
from helpers.convolution.exercises import GATHERS, INPUT_QUESTIONS
from helpers.convolution.indices import Gathered
from helpers.convolution.pictures.input_gradient import InputGradientPicture, PixelCountsPicture
from helpers.convolution.pictures.scatter_gather import ScatterGatherPicture
from helpers.convolution.shapes import ConvShape
from helpers.oracles.harness import launched
from helpers.pictures.canvas import number

# --- What the kernels read ------------------------------------------------------------------------------------

SHAPES = [
    pytest.param(ConvShape(1, 1, 5, 5, 1, 3, 3), id="the small case of the lesson"),
    pytest.param(ConvShape(2, 1, 5, 7, 2, 3, 2), id="batch and rectangles"),
    pytest.param(ConvShape(1, 1, 4, 5, 1, 3, 3, 1, (1, 2)), id="padding"),
    pytest.param(ConvShape(2, 1, 7, 8, 3, 2, 3, 2, (1, 0)), id="stride"),
    pytest.param(ConvShape(1, 1, 7, 6, 1, 2, 2, 3, 3), id="stride over kernel, padding over kernel"),
]
DILATED = [
    pytest.param(ConvShape(1, 1, 7, 8, 2, 3, 2, dilation=2), id="dilation"),
    pytest.param(ConvShape(2, 1, 9, 8, 1, 3, 2, (2, 1), (1, 3), (2, 3)), id="each axis with steps of its own"),
    pytest.param(ConvShape(1, 1, 8, 9, 1, 3, 3, 2, 0, 2), id="stride and dilation with a common divisor"),
]
KERNELS = general_versions_of("conv2d_grad_input")
every_shape = pytest.mark.parametrize("shape", SHAPES)
every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=lambda kernel: kernel.version)
SHARED = helpers.load("conv2d_grad_input", "2_shared_weights")


def contributions_on_the_gpu(shape: ConvShape, kernel) -> dict[tuple[int, int], list[Gathered]]:
    """What each pixel collects, in the order kh, kw: input channel i has a weight of 1 at place i alone.

    That weight belongs to output channel i % Co, which the upstream gradient's numbers tell from all others.
    """
    places = list(np.ndindex(shape.weight[2:]))
    probes = replace(shape, in_channels=len(places))
    weight = np.zeros(probes.weight, np.float32)
    for i, place in enumerate(places):
        weight[i % shape.out_channels, i, *place] = 1
    named = np.arange(1, prod(shape.output) + 1, dtype=np.float32).reshape(shape.output)
    (grad_input,) = launched(kernel, probes, {"grad_output": named, "weight": weight})
    found = {(n, *pixel): [] for n in range(shape.batch) for pixel in np.ndindex(shape.input[2:])}
    for n, i, ih, iw in np.argwhere(grad_input.transpose(0, 2, 3, 1))[:, [0, 3, 1, 2]]:
        image, co, oh, ow = np.unravel_index(int(grad_input[n, i, ih, iw]) - 1, shape.output)
        assert (image, co) == (n, i % shape.out_channels), "a pixel read another image or channel"
        found[n, ih, iw].append(Gathered(*places[i], int(oh), int(ow)))
    assert all(found[n, *pixel] == found[0, *pixel] for n, *pixel in found)
    return {pixel: found[0, *pixel] for pixel in np.ndindex(shape.input[2:])}


@every_shape
@every_kernel
def test_the_contributions_to_a_pixel_are_what_the_kernel_reads(shape, kernel):
    for pixel, contributions in contributions_on_the_gpu(shape, kernel).items():
        assert indices.contributions_to_pixel(shape, *pixel) == contributions, pixel


@pytest.mark.parametrize("shape", DILATED)
def test_the_contributions_through_a_dilated_filter_are_too(shape):
    true = contributions_on_the_gpu(shape, helpers.load("conv2d_grad_input", "8_direct"))
    for pixel, contributions in true.items():
        assert indices.contributions_to_pixel(shape, *pixel) == contributions, pixel
    assert any(indices.contributions_to_pixel(replace(shape, dilation=1), *pixel) != true[pixel] for pixel in true)


@every_kernel
def test_contributions_off_by_one_would_be_seen(kernel):
    shape = ConvShape(1, 1, 5, 6, 1, 3, 2, 1, 1)
    true = contributions_on_the_gpu(shape, kernel)[2, 3]
    assert indices.contributions_to_pixel(shape, 2, 4) != true
    assert indices.contributions_to_pixel(replace(shape, padding=(2, shape.padding_w), in_h=3), 2, 3) != true
    assert indices.contributions_to_pixel(replace(shape, stride=2), 2, 3) != true


@pytest.mark.parametrize("shape", SHAPES + DILATED)
def test_scatter_and_gather_are_the_same_products(shape):
    """Each product of the forward pass reaches back to its pixel, and nothing else does."""
    forward = {(tap.ih, tap.iw, tap.kh, tap.kw, tap.oh, tap.ow) for tap in indices.taps(shape)}
    pixels = np.ndindex(shape.input[2:])
    assert {(*p, *c) for p in pixels for c in indices.contributions_to_pixel(shape, *p)} == forward


# --- Explorers ------------------------------------------------------------------------------------------------

WEIGHT = np.array([[2, 0, -1], [1, 3, 0], [-2, 1, 1]], np.float32)[None, None]
UPSTREAM = np.array([[1, -1, 2], [0, 3, -1], [2, 1, 0]], np.float32)[None, None]
RIGHT = reference.conv2d_grad_input((1, 1, 5, 5), WEIGHT, UPSTREAM)[0, 0]


def test_scatter_and_gather_say_what_the_reference_computes():
    explorer = explorers.scatter_and_gather(WEIGHT, UPSTREAM)
    for ih, iw in np.ndindex(5, 5):
        value = number(RIGHT[ih, iw])
        assert f" = {value}; the GPU returned {value}." in explorer.set(ih=ih, iw=iw)


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ((1, 1, 1, 1), "Pixel [1,1] collects K·a + J·b + H·d + G·e = 8; the GPU returned 8. K·a is in both."),
        ((0, 2, 1, 1), "G·e = 8; the GPU returned 8. No product is in both."),
        ((2, 2, 4, 4), "Output O adds one product to each of 9 pixels. Pixel [4,4] collects O·i = 0"),
    ],
)
def test_sentences_of_scatter_and_gather(values, words):
    explorer = explorers.scatter_and_gather(WEIGHT, UPSTREAM)
    assert words in explorer.set(**dict(zip(("oh", "ow", "ih", "iw"), values, strict=True)))


def test_capitals_go_backward_as_small_letters_go_forward():
    words = explorers.input_gradient(WEIGHT, UPSTREAM).set(ih=2, iw=2)
    assert words.startswith("dX[2,2] = O·a + N·b + M·c + L·d + K·e + J·f + I·g + H·h + G·i = 2: ")


def test_any_values_become_a_valid_input_gradient():
    explorer, rng = explorers.any_input_gradient(), random.Random(3)
    for _ in range(40):
        words = explorer.set(**{name: rng.randint(-3, 9) for name in rng.sample(list(explorer.values), 4)})
        total, returned = words.rsplit("add up to ", 1)[1].rstrip(".").split("; the GPU returned ")
        assert total == returned


def test_sentences_of_the_counts():
    explorer = explorers.pixel_counts()
    words = "The corner pixel lies in {}, the middle of the top edge in {}, the center in {}."
    assert explorer.sentence == words.format("1 window", "3 windows", "9 windows")
    assert explorer.set(padding=1) == words.format("4 windows", "6 windows", "9 windows")
    assert explorer.set(padding=2) == words.format(*["9 windows"] * 3)
    assert explorer.set(padding=0, stride=3, kH=2, kW=2).endswith("39 pixels lie in none, so the gradient there is 0.")
    assert explorer.set(stride=3, kH=3, kW=3).endswith("9 pixels lie in none, so the gradient there is 0.")


def test_the_simulated_run_does_what_the_lesson_says():
    ones = np.ones((2, 1, 3, 6), np.float32), np.ones((1, 2, 3, 1), np.float32)
    explorer = explorers.shared_weight_steps(*ones, padding=1)
    assert "writes shared_weights[13]" in explorer.set(step=1, thread=13)
    assert "threads 0 and 1 of 16 are active" in explorer.set(step=2)
    for step, weight in (4, 1), (8, 7), (12, 13):
        assert f"reads shared_weights[{weight}] = 1 " in explorer.set(step=step, thread=4)
    assert "reads weight[1,0,0,4] = 1, and writes shared_weights[4]" in explorer.set(step=17)
    assert "threads 0 to 11 of 16 are active" in explorer.set(step=32)  # the others have no pixel


# --- Pictures -------------------------------------------------------------------------------------------------


def input_gradient(shape: ConvShape, letters: bool = False) -> InputGradientPicture:
    drawn = np.random.default_rng(0)
    weight, upstream = (drawn.choice([-1, 1, 2, 3], size).astype(float) for size in (shape.weight, shape.output))
    steps = shape.stride, shape.padding, shape.dilation, shape.groups
    right = reference.conv2d_grad_input(shape.input, weight, upstream, *steps)
    return InputGradientPicture(shape, weight, upstream, right, letters)


def test_every_state_of_scatter_and_gather_is_legible():
    picture = ScatterGatherPicture(-3 * WEIGHT[0, 0], 3 * UPSTREAM[0, 0], -9 * RIGHT)
    for state in sample([*np.ndindex(3, 3, 1, 1), *np.ndindex(1, 1, 5, 5)], 12):
        assert not list(faults(picture.show(*state))), state
        assert "−0" not in written(picture)


def test_only_a_pixel_of_several_outputs_races():
    picture = ScatterGatherPicture(WEIGHT[0, 0], UPSTREAM[0, 0], RIGHT)
    assert "9 threads add to grad_input[2,2];" in written(picture.show(0, 0, 2, 2))
    assert "no other thread does: no race here" in written(picture.show(0, 0, 0, 0))


@pytest.mark.parametrize(
    ("shape", "smallest"),
    [
        (ConvShape(1, 1, 5, 7, 1, 3, 3, 2), 11),
        (ConvShape(2, 1, 5, 7, 3, 3, 3), 11),
        (ConvShape(1, 1, 1, 1, 1, 1, 1), 12),
        (ConvShape(1, 1, 7, 7, 2, 5, 5, 1, 1), 9.9),
        (ConvShape(1, 1, 7, 7, 1, 5, 5, 3, 1), 9.9),
        (ConvShape(1, 1, 7, 7, 1, 1, 1), 11),
        (ConvShape(1, 1, 5, 1, 1, 5, 5, 1, 2), 9.9),
        (ConvShape(1, 1, 1, 7, 1, 3, 1, 3, 1), 12),
        (ConvShape(1, 1, 5, 7, 2, 3, 3, 2, 1, 2), 9.9),
        (ConvShape(1, 1, 5, 7, 1, 3, 2, 1, 1, 3), 9.9),
        (ConvShape(1, 4, 7, 7, 4, 5, 5, 1, 1, 1, 2), 9.9),
        (ConvShape(1, 4, 1, 1, 4, 1, 1, groups=4), 12),
    ],
    ids=str,
)
def test_every_state_of_an_input_gradient_is_legible(shape, smallest):
    picture = input_gradient(shape)
    for n, co, ih, iw in sample(np.ndindex(shape.batch, shape.out_channels, shape.in_h, shape.in_w), 12):
        ci = indices.input_channels_of(shape, co)[-1]
        assert not list(faults(picture.show(ih, iw, co, ci, n), smallest)), (n, co, ci, ih, iw)
        assert "−0" not in written(picture)
        ends, total = last_sums(picture)
        assert ends == total or not indices.contributions_to_pixel(shape, ih, iw)


def test_the_flipped_filter_with_letters_is_legible():
    picture = input_gradient(ConvShape(1, 1, 5, 5, 1, 3, 3), letters=True)
    for pixel in np.ndindex(5, 5):
        assert not list(faults(picture.show(*pixel))), pixel
    assert "★ correlation: slide, multiply, add" in written(picture)


@pytest.mark.parametrize("dilation", [(1, 1), (1, 3), (2, 1), (2, 2)])
def test_holes_and_divisions_are_the_same(dilation):
    """A row of the frame is orange in the table just where it holds upstream gradients."""
    shape = ConvShape(1, 1, 8, 7, 1, 4, 3, 2, (1, 2), dilation)
    picture, (down, right) = input_gradient(shape), dilation
    for ih, iw in np.ndindex(8, 7):
        lines = [text for text in written(picture.show(ih, iw)) if text.startswith(("kh =", "kw ="))]
        held = ~np.isnan(picture.upstream.values)
        assert [", so oh" in line for line in lines[:4]] == [held[ih + i * down].any() for i in range(4)]
        assert [", so ow" in line for line in lines[4:]] == [held[:, iw + j * right].any() for j in range(3)]


def test_more_letters_than_there_are_names_are_refused():
    with pytest.raises(ValueError, match="more than 26 and 20 letters"):
        input_gradient(ConvShape(1, 1, 7, 7, 1, 3, 3), letters=True)
    with pytest.raises(ValueError, match="there is room for 3 x 3"):
        ScatterGatherPicture(np.ones((4, 3)), np.ones((3, 3)), np.ones((6, 5)))


def test_every_state_of_the_counts_is_legible_and_right():
    picture = PixelCountsPicture()
    for kh, kw, stride, padding in sample(np.ndindex(5, 5, 3, 3), 60):
        shape = ConvShape(1, 1, 7, 9, 1, kh + 1, kw + 1, stride + 1, padding)
        assert not list(faults(picture.show(shape))), shape
        ones = np.ones(shape.weight), np.ones(shape.output)
        counts = reference.conv2d_grad_input(shape.input, *ones, shape.stride, padding)
        texts = written(picture)
        assert f"the counts add up to {counts.sum():.0f}" in texts
        assert texts[texts.index("corner [0,0]") + 1] == f"{counts[0, 0, 0, 0]:.0f}"


# --- Questions and the exercise -------------------------------------------------------------------------------


def test_the_answers_are_what_is_computed():
    right = {name: question.right for name, question in INPUT_QUESTIONS.items()}
    windows = ConvShape(1, 1, 7, 9, 1, 3, 3, 2)
    assert right["windows_with_stride"] == len(indices.contributions_to_pixel(windows, 2, 2))
    dilated = ConvShape(1, 1, 9, 9, 1, 3, 3, 2, 0, 2)
    touched = [indices.contributions_to_pixel(dilated, *pixel) for pixel in np.ndindex(9, 9)]
    assert right["pixels_never_touched"] == touched.count([])
    assert right["row_below_zero"] == int(np.array(-1).astype(np.uint32))
    inside = ConvShape(1, 1, 40, 40, 1, 6, 6, 3)
    assert {len(indices.contributions_to_pixel(inside, 20 + i, 20 + j)) for i, j in np.ndindex(3, 3)} == {
        right["weights_that_pass"]
    }
    filter, upstream = (np.array(m, np.float32)[None, None] for m in ([[3, 4], [2, -3]], [[1, -1], [3, 2]]))
    assert right["dX[1,1]"] == helpers.conv2d_grad_input((1, 1, 3, 3), filter, upstream)[0, 0, 1, 1]


def test_version_2_loads_as_often_as_its_cost_line_says():
    """Each thread counts its loads of global memory, on one full tile of which each pixel lies in 16 windows."""
    shape = ConvShape(1, 1, 16, 16, 32, 4, 4, padding=3)
    tensors = {name: np.ones(shape.of(name), np.float32) for name in ("grad_output", "weight")}
    counting = SHARED.edit("sum += shared_weights[i] *", "sum += 1.0 + 0.0 *").edit(
        "shared_weights[i] = weight[", "sum += 1.0; shared_weights[i] = weight["
    )
    (loads,) = launched(counting, shape, tensors)
    assert loads.mean() == INPUT_QUESTIONS["loads_in_version_2"].right


def test_the_last_test_of_the_puzzle_sees_every_known_mistake():
    """Its sizes differ where a mistake may confuse them, and its kernel reaches past both ends of the output."""
    shape = GATHERS["gather_everything"]
    for one, other in ("in_h", "in_w"), ("kernel_h", "kernel_w"), ("out_h", "out_w"), ("padding_h", "padding_w"):
        assert getattr(shape, one) != getattr(shape, other)
    assert len({shape.batch, shape.in_channels, shape.out_channels}) == 3
    for axis in "hw":
        size, padding, weights, outputs = (getattr(shape, f"{n}_{axis}") for n in ("in", "padding", "kernel", "out"))
        assert padding - (weights - 1) <= -shape.stride_h
        assert (size - 1 + padding) // shape.stride_h >= outputs
