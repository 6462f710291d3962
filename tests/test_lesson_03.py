"""Lesson 03: windows that drop, a test that is changed until it catches four faults, and a 9 that becomes a 3."""

import numpy as np
import pytest
from support import convolution_explorers as explorers
from support.legible import faults
from support.notebook_gate import NOTEBOOKS, Lesson

import helpers
from helpers.lessons.input_gradient.changed_digit import READ, STEPS, WANTED
from helpers.lessons.input_gradient.faults import FAULTS
from helpers.lessons.shared.small_image import UPSTREAM, WEIGHT
from helpers.operations.convolution import reference
from helpers.pictures.canvas import number

LESSON = Lesson.read(NOTEBOOKS / "03_input_gradient.ipynb")
RIGHT = reference.conv2d_grad_input((1, 1, 5, 5), WEIGHT, UPSTREAM)[0, 0]


# --- The first picture ------------------------------------------------------------------------------------------


def test_a_pixel_gathers_what_the_reference_computes_and_what_drops_adds_up_to_it():
    explorer = explorers.scatter_and_gather()
    for (ih, iw), right in np.ndenumerate(RIGHT):
        assert f" = {number(right)}, gathered from " in explorer.set(tensor=2, row=ih, column=iw)
    sentence = explorer.set(dropped=9)
    assert (explorer.picture.numbered[-1].values == RIGHT).all()
    assert sentence == "Output O drops its window. 25 of 25 pixels are hit, up to 9 times."


# --- The flipped filter -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", [explorers.input_gradient, explorers.any_input_gradient])
def test_factors_can_be_pointed_at_in_each_of_their_grids(make):
    picture = make().picture.show(2, 2)
    _, *factors = picture.touchable.values()

    def sentence(values: dict[str, int]) -> str:
        return picture.show(2, 2, **values).sentence

    products = {sentence(factors[0].values_at(cell)) for cell in factors[0].values}
    assert " multiplies " in min(products)
    for part in factors:
        assert {sentence(part.values_at(cell)) for cell in part.values} == products
    for part in factors[:-1]:
        for cell, values in part.values.items():
            assert number(part.grid.values[cell]) in sentence(values).partition(": ")[2]


# --- The test that is changed -------------------------------------------------------------------------------------


def test_the_easy_case_misses_all_faults_and_each_change_catches_its_own():
    explorer = explorers.four_faults()
    assert explorer.picture.caught == ["holes filled"]
    easy = {"stride": 1, "padding_h": 1, "padding_w": 1, "channels": 1, "weight": explorer.arrays["weight"]}
    changes = [{"weight": np.arange(-4, 5).clip(-2)}, {"stride": 2}, {"channels": 2}, {"padding_w": 0}]
    explorer.set(**easy)
    assert explorer.picture.caught == []
    for fault, change in zip(FAULTS, changes, strict=True):
        explorer.set(**easy | change)
        assert explorer.picture.caught == [fault]
    for change in changes:
        explorer.set(**change)
    assert explorer.picture.caught == [*FAULTS]
    assert explorer.steps.done == [True, True, True]


# --- The digit ------------------------------------------------------------------------------------------------------


def test_the_9_is_read_as_a_3_within_the_steps_and_the_slider_says_when():
    explorer = helpers.change_digit()
    picture = explorer.picture
    read = [picture.read(step) for step in range(STEPS + 1)]
    turns = read.index(WANTED)
    assert read == [READ] * turns + [WANTED] * (STEPS + 1 - turns)
    explorer.set(step=turns - 1)
    explorer._reach({"step": turns}, "play")
    assert explorer.steps.done == [True, True, False]
    assert not list(faults(picture))
