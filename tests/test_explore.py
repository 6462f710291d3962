"""Explorers: every state that the sliders can reach is valid, and what is said is what was computed."""

import random

import numpy as np
import pytest

from helpers import explore, reference
from helpers.draw import said
from helpers.shapes import ConvShape

ONE = np.ones((1, 1, 5, 5), np.float32)
TWO = np.full((1, 1, 3, 3), 0.5, np.float32)


def test_any_values_become_a_valid_convolution():
    explorer, rng = explore.any_weight_gradient(), random.Random(3)
    for _ in range(40):
        words = explorer.set(**{name: rng.randint(-3, 9) for name in rng.sample(list(explorer.values), 4)})
        total, returned = words.rsplit("add up to ", 1)[1].rstrip(".").split("; the GPU returned ")
        assert total == returned
        for name, (low, high) in ((name, rule(explorer.values)) for name, rule in explore.ANY_SHAPE.items()):
            assert low <= explorer.values[name] <= high


def test_a_start_that_cannot_be_is_moved_to_the_nearest_that_can():
    values = explore.any_weight_gradient(H=2, kH=5, kh=9).values
    assert (values["H"], values["kH"], values["kh"]) == (2, 2, 1)


def test_an_unknown_slider_is_named():
    with pytest.raises(ValueError, match="height: the sliders are N, Ci"):
        explore.any_weight_gradient().set(height=3)


def test_a_box_and_its_slider_move_each_other_and_the_picture():
    explorer = explore.weight_gradient(ONE, TWO)
    before, words = explorer._image.value, explorer.sentence
    explorer._sliders["kh"].value = 2
    assert explorer._boxes["kh"].value == 2
    assert explorer.values["kh"] == 2
    assert explorer._image.value != before
    assert explorer.sentence != words
    assert explorer.sentence.split("=")[0] in explorer._words.value


def test_fractions_are_not_rounded_away():
    assert "= 4.5: input rows" in explore.weight_gradient(ONE, TWO).sentence
    assert "The sum is 4.5; the GPU kernel with 8 threads returned 4.5" in explore.tree(ONE, TWO, 8).sentence


def test_the_letters_say_the_sum_that_the_reference_computes():
    rng = np.random.default_rng(1)
    image, upstream = (rng.integers(-4, 5, (1, 1, n, n)).astype(np.float32) for n in (5, 3))
    right = reference.conv2d_grad_weight(image, (1, 1, 3, 3), upstream)
    explorer = explore.weight_gradient(image, upstream)
    for kh, kw in np.ndindex(3, 3):
        value = f"{right[0, 0, kh, kw]:g}".replace("-", "\N{MINUS SIGN}")
        assert f"= {value}: input" in explorer.set(kh=kh, kw=kw)
        assert f"The GPU returned {value}." in explorer.sentence


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: explore.weight_gradient(np.ones((2, 1, 5, 5), np.float32), TWO), "it must be one image"),
        (lambda: explore.weight_gradient(ONE, np.ones((1, 1, 5, 5), np.float32)), "letters"),
        (lambda: explore.tree(ONE, TWO, 12), "power of two"),
    ],
)
def test_what_a_picture_cannot_show_is_refused(make, problem):
    with pytest.raises(ValueError, match=problem):
        make()


def test_a_thread_without_a_product_is_said():
    explorer = explore.products(ConvShape(1, 1, 5, 5, 1, 3, 3))
    assert "Thread 37 of 256 takes no product: 0 of 9." in explorer.sentence


def test_a_thread_without_a_weight_is_said():
    explorer = explore.threads(ConvShape(1, 1, 28, 28, 6, 5, 5))
    assert "Thread 149 owns grad_weight[5,0,4,4]" in explorer.set(thread=149)
    assert "Thread 150 owns nothing" in explorer.set(thread=150)


@pytest.mark.parametrize(
    ("numbers", "words"),
    [
        ([], "no row"),
        ([2], "row 2"),
        ([1, 2], "rows 1 and 2"),
        ([3, 1, 2], "rows 1 to 3"),
        ([0, 2, 4], "rows 0, 2 and 4"),
    ],
)
def test_numbers_are_said_as_a_person_says_them(numbers, words):
    assert said("row", numbers) == words


def test_the_stored_output_is_the_picture_and_its_sentence():
    data, metadata = explore.weight_gradient(ONE, TWO)._repr_mimebundle_()
    assert data["text/plain"].startswith("dW[0,0] = G·a")
    assert data["image/png"].startswith("iVBOR")
    assert "application/vnd.jupyter.widget-view+json" in data
    assert metadata["image/png"]["width"] == 960
