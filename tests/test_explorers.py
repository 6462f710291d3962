"""Explorers: every state that the sliders can reach is valid, and what they say is what was computed."""

import random

import numpy as np
import pytest
from support.legible import faults, written
from support.sample import ALL

from helpers.convolution import explorers, reference
from helpers.convolution.shapes import ConvShape
from helpers.oracles import explorers as oracles
from helpers.oracles.matrix import matrix
from helpers.pictures.canvas import number
from helpers.pictures.explorer import Explorer

ONE = np.ones((1, 1, 5, 5), np.float32)
TWO = np.full((1, 1, 3, 3), 0.5, np.float32)


# --- The widget -------------------------------------------------------------------------------------------


def test_any_values_become_a_valid_convolution():
    explorer, rng = explorers.any_weight_gradient(), random.Random(3)
    for _ in range(40 if ALL else 15):
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
    with pytest.raises(ValueError, match="height: the sliders are N, groups, Ci"):
        explorers.any_weight_gradient().set(height=3)


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


# --- Dilation and groups ------------------------------------------------------------------------------------

ANY = explorers.any_forward, explorers.any_weight_gradient, explorers.any_input_gradient


@pytest.mark.parametrize("make", ANY)
def test_channels_are_multiples_of_the_groups(make):
    explorer = make(Ci=2, Co=3)
    for groups, wanted, found in [
        (2, {}, (2, 4)),
        (2, {"Ci": 3}, (4, 4)),
        (3, {}, (3, 3)),
        (4, {"Ci": 1, "Co": 9}, (4, 4)),
        (1, {"Co": 3}, (4, 3)),
    ]:
        explorer.set(groups=groups, **wanted)
        assert (explorer.values["Ci"], explorer.values["Co"]) == found
        for control in (*explorer._boxes.items(), *explorer._sliders.items()):
            assert control[1].step == (groups if control[0] in ("Ci", "Co") else 1)


@pytest.mark.parametrize("make", ANY)
def test_a_dilated_filter_keeps_within_the_padded_input(make):
    explorer = make(H=5, W=5, kH=3, kW=2)
    for moved, dilation in ({"dilation": 9}, 2), ({"padding": 1, "dilation": 9}, 3), ({"kH": 5}, 1), ({"kH": 1}, 1):
        explorer.set(**moved)
        assert explorer.values["dilation"] == dilation
    assert make(H=7, W=7, kH=1, kW=1, dilation=9).values["dilation"] == 3


@pytest.mark.parametrize("make", ANY)
def test_every_dilation_and_every_group_is_legible(make):
    """Also with the largest images, where the zeros around the upstream gradient leave the least room."""
    explorer, rng = make(H=7, W=7, padding=1, kH=3, kW=3, dilation=3), random.Random(4)
    assert explorer.values["dilation"] == (2 if make is explorers.any_input_gradient else 3)
    for _ in range(25 if ALL else 8):
        assert not list(faults(explorer.picture, 9.9)), explorer.values
        assert explorer.picture.caption().height <= 50, explorer.sentence  # two lines: a third would move the page
        moved = ("dilation", "groups", *rng.sample(list(explorer.values), 4))
        explorer.set(**{name: rng.randint(0, 9) for name in moved})


@pytest.mark.parametrize(
    ("make", "values", "words"),
    [
        (
            explorers.any_forward,
            {"dilation": 2, "oh": 0, "ow": 1},
            "9 pixels of channel 0 contribute to output[0,0,0,1]: rows 0, 2 and 4, columns 1, 3 and 5.",
        ),
        (
            explorers.any_forward,
            {"groups": 2, "Ci": 4, "Co": 2, "co": 1},
            "9 pixels of channel 2 (group 1: channels 2 and 3) contribute to output[0,1,0,0]: rows 0 to 2, ",
        ),
        (
            explorers.any_weight_gradient,
            {"dilation": 2, "kh": 1, "kw": 2},
            "3 pixels of image 0 contribute to grad_weight[0,0,1,2]: row 2, columns 4 to 6 (6 in the whole batch).",
        ),
        (
            explorers.any_weight_gradient,
            {"groups": 4, "co": 3},
            "15 pixels of image 0, channel 3 (group 3), contribute to grad_weight[3,0,0,0]: rows 0 to 2, ",
        ),
        (
            explorers.any_input_gradient,
            {"dilation": 2, "stride": 1, "kW": 2},
            "2 outputs contribute to grad_input[0,0,2,2]: output row 0, columns 0 and 2.",
        ),
        (
            explorers.any_input_gradient,
            {"dilation": 2, "stride": 2, "ih": 1, "kW": 2},
            "No output has the pixel under a weight, so nothing contributes to grad_input[0,0,1,2]. Its terms add up",
        ),
        (
            explorers.any_input_gradient,
            {"groups": 2, "Co": 4, "ci": 1},
            "4 outputs of each of channels 2 and 3 (group 1) contribute to grad_input[0,1,2,2]: output rows 0 and 1, ",
        ),
        (
            explorers.any_input_gradient,
            {"groups": 3, "ci": 1},
            "4 outputs of channel 1 (group 1) contribute to grad_input[0,1,2,2]: output rows 0 and 1, ",
        ),
    ],
)
def test_what_contributes_with_dilation_and_groups_is_said(make, values, words):
    assert make().set(**values).startswith(words)


def test_only_output_channels_that_read_the_input_channel_are_shown():
    explorer = explorers.any_input_gradient(groups=2, Ci=4, Co=4)
    for ci, co, shown in (0, 9, 1), (2, 0, 2), (3, 3, 3), (1, 3, 1):
        explorer.set(ci=ci, co=co)
        assert explorer.values["co"] == shown
    assert "group 0: output channels 0 and 1 read only input channels 0 and 1" in written(explorer.picture)
    assert "co < 1" in written(explorer.picture)
    assert not [text for text in written(explorers.any_input_gradient().picture) if "group" in text]


@pytest.mark.parametrize("make", ANY)
def test_the_sums_of_each_group_are_what_the_gpu_returned(make):
    """Not only the words: the numbers in the frame and their factors are those of the channels that are named."""
    explorer = make(N=1, groups=2, Ci=4, Co=4)
    for co, ci in np.ndindex(4, 4 if make is explorers.any_input_gradient else 2):
        words = explorer.set(ci=ci, co=co)
        total, returned = words.rsplit("add up to ", 1)[1].rstrip(".").split("; the GPU returned ")
        assert total == returned


FRAMED = [
    (explorers.any_forward, "input_grid", ("oh", "ow"), lambda v: v["kH"] * v["kW"]),
    (explorers.any_weight_gradient, "input_grid", ("kh", "kw"), lambda v: 2 * 4),  # as many as outputs
    (explorers.any_input_gradient, "upstream", ("ih", "iw"), lambda v: v["kH"] * v["kW"]),
]
every_frame = pytest.mark.parametrize(("make", "grid", "place", "size"), FRAMED, ids=[make.__name__ for make in ANY])


def sum_in_the_frame(explorer: Explorer, grid: str, **at: int) -> tuple[str, int]:
    """What the numbers in the frame and the factors below them add up to, and of how many cells the frame is made."""
    cells, frames = getattr(explorer.picture, grid), []
    cells.window = lambda window, factors: frames.append((window, factors))
    explorer.set(**at)
    window, factors = frames[-1]
    assert set(factors) <= set(window)
    bias = explorer.picture.bias[explorer.values["co"]] if hasattr(explorer.picture, "bias") else 0
    return number(bias + sum(cells.values[cell] * factor for cell, factor in factors.items())), len(window)


@every_frame
def test_the_frame_of_a_dilated_filter_holds_the_products(make, grid, place, size):
    explorer = make(N=1, Ci=1, Co=1, H=6, W=7, padding=1, stride=2, kH=3, kW=2, dilation=2)
    for at in np.ndindex(3, 2):
        total, cells = sum_in_the_frame(explorer, grid, **dict(zip(place, at, strict=True)))
        assert f"add up to {total};" in explorer.sentence
        assert cells == size(explorer.values)


@every_frame
def test_the_frame_holds_the_numbers_of_its_group(make, grid, place, size):
    """Each sum runs over one channel of a group, so that all its terms are in the frame."""
    gathers = grid == "upstream"
    explorer = make(N=1, groups=2, Ci=4 if gathers else 2, Co=2 if gathers else 4)
    for channel in range(4):
        explorer.set(**{"ci" if gathers else "co": channel})
        total, _ = sum_in_the_frame(explorer, grid)
        assert f"add up to {total}; the GPU returned {total}." in explorer.sentence


def test_the_flipped_filter_has_the_weights_of_the_channel_within_its_group():
    explorer = explorers.any_input_gradient(groups=2, Ci=4, Co=4)
    for ci, co in (0, 0), (1, 1), (2, 2), (3, 2):
        explorer.set(ci=ci, co=co)
        shown, weight = explorer.picture.filter.values, explorer.picture.weight
        assert (shown == weight[co, ci % 2, ::-1, ::-1]).all()
        assert (shown != weight[co, 1 - ci % 2, ::-1, ::-1]).any()


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
