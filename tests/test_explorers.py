"""Explorers: every state that the sliders can reach is valid, and what they say is what was computed."""

import random

import numpy as np
import pytest

from helpers.convolution import explorers, reference
from helpers.convolution.shapes import ConvShape
from helpers.oracles import explorers as oracles
from helpers.oracles.matrix import matrix
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


# --- Checks -----------------------------------------------------------------------------------------------


def test_a_step_is_said_with_both_errors():
    explorer = oracles.step_size()
    assert explorer.sentence == (
        "At step 1, the central difference of the convolution's loss is off by 1 part in 3 million (rounding alone). "
        "That of GELU is off by 1 part in 10 (mostly truncation)."
    )
    assert "GELU is off by 1 part in 100,000 (mostly truncation): this is its best step." in explorer.set(k=-7)
    assert explorer.set(k=-99).startswith("At step 1/1,048,576, ")
    assert explorer.set(k=99).startswith("At step 16, ")


def test_a_tolerance_is_said_with_the_terms_that_it_hides():
    explorer = oracles.tolerance()
    assert "33,000 of the sum, and the largest error of 50 sums was 1 part in 1.4 million." in explorer.sentence
    assert explorer.set(j=11).endswith("smaller than one average term, so a sum that lacks one fails.")
    assert explorer.set(j=12).endswith("as large as 2 average terms, so a sum that lacks 2 of them can pass.")
    assert explorer.set(j=0).startswith("1 term: the tolerance is 1 part in 4.2 million")


@pytest.mark.parametrize(
    ("kernel", "data", "words"),
    [
        (0, 0, "Both kernels are right, and all three dot products are 61."),
        (1, 0, "filter flipped. ⟨w, grad_weight⟩ is 88, but ⟨conv2d(x, w), dy⟩ is 61: the mistake is found."),
        (1, 1, "are 141, though 4 numbers of grad_weight are wrong: these data hide the mistake."),
        (4, 3, "are 45, though 8 numbers of grad_input are wrong: these data hide the mistake."),
        (1, 2, "every number of grad_weight is right on these data: no check can find the mistake with them."),
    ],
)
def test_the_adjoint_identity_is_said_with_what_it_finds(kernel, data, words):
    assert oracles.adjoint().set(kernel=kernel, data=data).endswith(words)


def test_a_row_of_the_matrix_is_said_with_what_catches_it():
    explorer = oracles.matrix("conv2d_grad_bias")
    assert explorer.sentence == (
        "“batch not summed”: on good data, the simulator misses it. "
        "On poor data, the reference misses it with batch 1 and the classroom test."
    )
    rows = [row.wrong.name for row in matrix("conv2d_grad_bias", "2_workgroup_per_channel").rows]
    race = explorer.set(version=2, row=rows.index("no barrier in the tree"))
    assert race.endswith("only the simulator catches it. On poor data, the reference misses it in each case.")
    assert "all six ways catch it" in explorer.set(row=rows.index("one element too many"))
    assert explorer.set(row=99).startswith(f"“{rows[-1]}”: ")


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"kernel": 0}, "The right kernel returns [10 11], [17 18], [24 25]: these are the pixels that it read"),
        ({"kernel": 1}, "returns [8 9], [15 16], [22 23]; right is [10 11], [17 18], [24 25]. 6 of its 6 numbers"),
        ({"kernel": 3}, "returns [24 25], [17 18], [10 11], the right pixels in a wrong order; right is"),
        (
            {"kernel": 5},
            "This wrong kernel returns [10 11], [17 18], [24 25], which is right here: try another",
        ),
        ({"kernel": 5, "oh": 0, "ow": 0}, "[0 0], [0 0], [6 7]; right is [0 0], [0 0], [0 0]. 2 of its 6 numbers are"),
        (
            {"kernel": 4, "oh": 2, "ow": 0},
            "[0 0], [29 0], [0 0]; right is [0 0], [0 0], [0 0]. 1 of its 6 numbers is wrong.",
        ),
    ],
)
def test_a_probe_is_said_with_the_pixels_that_were_read(values, words):
    assert words in oracles.one_hot(**values).sentence.replace("\N{NO-BREAK SPACE}", " ")
