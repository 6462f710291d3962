"""The last picture of lesson 01 has the outputs of the reader's kernel, once that is right."""

import numpy as np
import pytest
from support.legible import written

import helpers
from helpers import gpu
from helpers.convolution import explorers, reference
from helpers.data import digits
from helpers.exercises import PUZZLES


@pytest.mark.parametrize("puzzle", ["output_padding", "output_window"])
def test_the_digit_is_convolved_by_the_readers_kernel_once_it_is_right(puzzle, monkeypatch):
    first, launched, launch = explorers.own_filter(), [], gpu.launch
    first.set(weight=np.arange(-1, 2)[:, None] * np.ones((3, 3)))
    monkeypatch.setattr(gpu, "launch", lambda text, *given: launched.append(text) or launch(text, *given))
    right = PUZZLES[puzzle].solution.text
    for text, whose in (right.replace("sum +=", "sum ="), "the official kernel"), (right, f"your {puzzle}"):
        helpers.grade(puzzle, text)
        own = helpers.your_convolution(first)
        assert any(f"by {whose}" in word for word in written(own.picture))
        assert own.sentence == first.sentence
        assert np.array_equal(own.picture.output, first.picture.output)
    assert launched == [right]
    own.set(weight=np.eye(3))
    assert launched == [right] * 2
    expected = reference.conv2d(digits.conv1_input(1, first=7), np.eye(3)[None, None])[0, 0]
    assert np.array_equal(own.picture.output, expected)
