"""Explorers: every state that the sliders can reach is valid, and what they say is what was computed."""

import random

import numpy as np
import pytest

from helpers.convolution import explorers, reference
from helpers.convolution.shapes import ConvShape
from helpers.pictures.canvas import number

ONE = np.ones((1, 1, 5, 5), np.float32)
TWO = np.full((1, 1, 3, 3), 0.5, np.float32)


# --- The widget -------------------------------------------------------------------------------------------


def test_any_values_become_a_valid_convolution():
    explorer, rng = explorers.any_weight_gradient(), random.Random(3)
    for _ in range(40):
        words = explorer.set(**{name: rng.randint(-3, 9) for name in rng.sample(list(explorer.values), 4)})
        total, returned = words.rsplit("add up to ", 1)[1].rstrip(".").split("; the GPU returned ")
        assert total == returned
        sizes = explorer.values
        assert max(sizes["H"], sizes["W"]) + 2 * sizes["padding"] <= 9  # more rows and columns would be too small
        for name, (low, high) in ((name, rule(explorer.values)) for name, rule in explorers.ANY_WEIGHT.items()):
            assert low <= explorer.values[name] <= high
            for control in (explorer._boxes[name], explorer._sliders[name]):
                assert (control.min, control.max, control.value) == (low, high, explorer.values[name])
                assert control.disabled == (low == high)


def test_a_start_that_cannot_be_is_moved_to_the_nearest_that_can():
    values = explorers.any_weight_gradient(H=2, kH=5, kh=9).values
    assert (values["H"], values["kH"], values["kh"]) == (2, 2, 1)


def test_an_unknown_slider_is_named():
    with pytest.raises(ValueError, match="height: the sliders are N, Ci"):
        explorers.any_weight_gradient().set(height=3)


@pytest.mark.parametrize("moved", ["_boxes", "_sliders"])
def test_a_box_and_its_slider_move_each_other_and_the_picture(moved):
    explorer = explorers.weight_gradient(ONE, TWO)
    before, words = explorer._moving.value, explorer.sentence
    getattr(explorer, moved)["kh"].value = 2
    assert explorer._boxes["kh"].value == explorer._sliders["kh"].value == explorer.values["kh"] == 2
    assert explorer._moving.value != before
    assert explorer.sentence != words
    assert explorer.sentence.split("=")[0] in explorer._words.value


def test_a_step_sends_what_moves_first_and_nothing_twice():
    explorer, sent = explorers.any_weight_gradient(), []
    layers = {"still": explorer._still, "moving": explorer._moving, "words": explorer._words}
    for name, widget in (layers | explorer._boxes).items():
        widget.send_state = lambda key=None, name=name: sent.append(name)
    explorer._sliders["kh"].value = 1
    assert sent == ["moving", "words", "kh"]


def test_the_stored_output_is_the_picture_with_its_sentence():
    explorer = explorers.weight_gradient(ONE, TWO)
    data, metadata = explorer._repr_mimebundle_()
    assert data["text/plain"] == explorer.sentence
    assert data["image/png"].startswith("iVBOR")
    assert len(data["image/png"]) * 3 // 4 > len(explorer.picture.png())  # the sentence is drawn below the picture
    assert "application/vnd.jupyter.widget-view+json" in data
    assert metadata["image/png"]["width"] == 840


# --- A convolution ----------------------------------------------------------------------------------------


def test_fractions_are_not_rounded_away():
    assert "= 4.5: input rows" in explorers.weight_gradient(ONE, TWO).sentence
    tree = explorers.tree_reduction(ONE, TWO, 8)
    assert "The sum is" not in tree.sentence  # the lesson asks for a sum first
    assert "The sum is 4.5; the GPU kernel with 8 threads returned 4.5" in tree.set(step=3)
    assert tree.set(step=1).startswith("Step 1 of the tree reduction: after a barrier, threads 0 to 3 each add")


def test_the_letters_say_the_sum_that_the_reference_computes():
    rng = np.random.default_rng(1)
    image, upstream = (rng.integers(-4, 5, (1, 1, n, n)).astype(np.float32) for n in (5, 3))
    right = reference.conv2d_grad_weight(image, (1, 1, 3, 3), upstream)
    explorer = explorers.weight_gradient(image, upstream)
    for kh, kw in np.ndindex(3, 3):
        value = number(right[0, 0, kh, kw])
        assert f"= {value}: input" in explorer.set(kh=kh, kw=kw)
        assert f"The GPU returned {value}." in explorer.sentence


@pytest.mark.parametrize(
    ("make", "problem"),
    [
        (lambda: explorers.weight_gradient(np.ones((2, 1, 5, 5), np.float32), TWO), "it must be one image"),
        (lambda: explorers.weight_gradient(ONE, np.ones((1, 1, 5, 5), np.float32)), "letters"),
        (lambda: explorers.tree_reduction(ONE, TWO, 12), "power of two"),
    ],
)
def test_what_a_picture_cannot_show_is_refused(make, problem):
    with pytest.raises(ValueError, match=problem):
        make()


def test_threads_without_work_are_named():
    few = explorers.shared_products(ConvShape(1, 1, 5, 5, 1, 3, 3))
    assert "Thread 37 of 256 takes no product: 0 of 9." in few.sentence
    threads = explorers.threads(ConvShape(1, 1, 28, 28, 6, 5, 5))
    assert "Thread 149 owns grad_weight[5,0,4,4]" in threads.set(thread=149)
    assert "Thread 150 owns nothing" in threads.set(thread=150)
