"""The last picture of a lesson is computed by the reader's kernels, once these are right."""

import numpy as np
import pytest
from support import convolution_explorers as explorers
from support.legible import written
from support.sample import ALL

import helpers
from helpers import gpu
from helpers.lessons.exercises import PUZZLES
from helpers.lessons.fused_gemm_backward import one_layer
from helpers.lessons.weight_gradient import filters
from helpers.widgets.explorer import Explorer


def convolved() -> Explorer:
    """With the filter of another picture, and then with one that is clicked."""
    first = explorers.own_filter()
    first.set(weight=np.arange(-1, 2)[:, None] * np.ones((3, 3)))
    yours = helpers.your_convolution(first)
    assert yours.sentence == first.sentence
    yours.set(weight=np.eye(3))
    return yours


MADE = {  # by puzzles: the picture, what of it is computed, and how often each kernel is launched
    **dict.fromkeys(("output_padding", "output_window"), (convolved, "output", 2)),
    "conv2d_grad_weight": (helpers.train_filters, "filters", 3),
    **dict.fromkeys(("pixel_window", "pixel_stride"), (helpers.change_digit, "gradient", 6)),  # for each filter
    "strided_grad_input": (helpers.change_digit, "gradient", 1),
    **dict.fromkeys(("product", "transposed_tile", "product transposed_tile"), (helpers.train_layer, "weights", 2)),
}


BY_DAY = "output_padding", "conv2d_grad_weight", "pixel_window", "strided_grad_input", "product transposed_tile"


@pytest.mark.parametrize("puzzles", MADE if ALL else BY_DAY)
def test_a_picture_is_computed_by_the_readers_kernels_once_they_are_right(puzzles, monkeypatch):
    make, part, times = MADE[puzzles]
    names = puzzles.split()
    texts = [PUZZLES[name].solution.text for name in names]
    for training in filters, one_layer:
        monkeypatch.setattr(training, "STEPS", 2)
    launched, launch = [], gpu.launch
    monkeypatch.setattr(gpu, "launch", lambda text, *arguments: launched.append(text) or launch(text, *arguments))
    pictures = []
    for right in False, True:
        for name, text in zip(names, texts, strict=True):
            puzzle = PUZZLES[name]
            helpers.grade(name, text if right else puzzle.with_mistake(puzzle.mistakes[0]).source)
        launched.clear()
        made = make()
        words = " ".join([made.sentence, *written(made.picture)]).replace("(until your ", "")
        assert [f"your {name}" in words for name in names] == [right] * len(names)
        pictures.append(getattr(made.picture, part))
    assert [text for text in launched if text in texts] == texts * times
    assert np.allclose(*pictures, atol=1e-5)
