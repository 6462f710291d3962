"""Appendix B: its claim on exchanged roles, its kernels, and its pictures, which are among their tests."""

import numpy as np
import pytest
from support.legible import written

import helpers
from helpers.grading.drawn import NAME
from helpers.grading.grader import grade
from helpers.grading.verdict import RIGHT, WRONG
from helpers.lessons.dilation_and_groups import explorers
from helpers.lessons.dilation_and_groups.exercises import OF_GROUPS, PICTURE, shown
from helpers.lessons.exercises import PUZZLES
from helpers.operations.convolution.shapes import ConvShape
from helpers.widgets.touch import Touched


@pytest.mark.parametrize(("stride", "dilation"), [(1, 1), (1, 2), (2, 1), (2, 3), (3, 2)])
def test_the_forward_function_with_exchanged_roles_gives_the_weight_gradient(stride, dilation):
    """Also with batch and channels, which exchange their roles, too, where the stride leaves no rows unused."""
    random = np.random.default_rng(0)
    span = 2 * dilation + 1
    shape = ConvShape(2, 3, span + stride, span + 2 * stride, 4, 3, 3, stride, 0, dilation)
    image, upstream = (random.integers(-4, 5, size).astype(np.float32) for size in (shape.input, shape.output))
    gradient = helpers.conv2d_grad_weight(image, shape.weight, upstream, stride, 0, dilation)
    forward = helpers.conv2d(image.swapaxes(0, 1), upstream.swapaxes(0, 1), stride=dilation, dilation=stride)
    assert (forward.swapaxes(0, 1) == gradient).all()


@pytest.mark.parametrize(("explorer", "layer"), [(explorers.spread_filter, PICTURE), (explorers.groups, OF_GROUPS)])
def test_the_tests_contain_the_lessons_own_pictures(explorer, layer):
    picture = explorer().picture
    grad_output, image = shown(layer)
    assert picture.shape == layer
    assert (picture.lefts == grad_output).all()
    assert (picture.rights == image).all()


TRIED = {
    "spread_filter": ([{"kh": 1, "kw": 1}, "point"], [{"dilation": 1, "stride": 2}, ""]),
    "holes": ([{"ih": 3}, "point"], [{"stride": 1}, ""]),
    "groups": ([{"co": 2}, ""], [{"groups": 4}, ""], [{"groups": 1, "ci": 3}, ""]),
}


@pytest.mark.parametrize("name", TRIED)
def test_what_to_try_can_be_done(name):
    explorer = getattr(explorers, name)()
    assert not any(explorer.steps.done)
    for values, by in TRIED[name]:
        explorer._reach(values, by)
    assert all(explorer.steps.done)


def test_the_channel_of_a_group_is_written_beside_its_ci():
    picture = explorers.groups(co=2, ci=1).picture
    assert any("ci = 1 (channel 3)" in text for text in written(picture))


NARROW = {  # texts that pass the tests, and are wrong on other layers
    "dilated_weight": [("kh * D - P", "kh * min(D, 3u) - P"), ("kw * D - P", "kw * D - min(P, 2u)")],
    "grouped_weight": [("co / out_group * in_group", "min(co / out_group, 4u) * in_group")],
}


@pytest.mark.parametrize(("name", "old", "new"), [(name, *edit) for name, edits in NARROW.items() for edit in edits])
def test_a_text_that_is_right_for_the_tests_alone_fails_a_drawn_layer(name, old, new):
    puzzle = PUZZLES[name]
    *tests, drawn = grade(puzzle, puzzle.official.edit(old, new).source)
    assert {verdict.outcome for verdict in tests} == {RIGHT}
    assert (drawn.test, drawn.outcome) == (NAME, WRONG)


def test_a_reader_can_point_at_each_factor_of_the_first_picture():
    explorer = explorers.spread_filter()
    for name in "grad_output", "input", "terms":
        for cell in explorer.picture.touchable[name].values:
            explorer._touched(Touched(name, cell, chosen=False))
            assert "multiplies" in explorer.sentence
