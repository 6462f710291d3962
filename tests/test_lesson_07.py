"""Lesson 07: the filters of a run are drawn from its moments, and a wrong kernel is planted by its name."""

import numpy as np
import pytest

from helpers.lessons.shared.pictures.curves import FILTERS, FiltersPicture
from helpers.lessons.train_lenet.in_training import NAMES, planted
from helpers.network.training import Moment


def moment(*filters: int) -> Moment:
    """The first step of a run, whose first layer has filters of this shape."""
    tensors = {name: np.ones(filters, np.float32) for name in ("conv1.weight", "conv1.grad_weight")}
    return Moment(step=0, loss=2.3, accuracy=0.1, tensors=tensors)


def test_as_many_filters_are_drawn_as_fit_in_a_row():
    picture = FiltersPicture([moment(FILTERS, 1, 5, 5)], classes=10)
    assert len(picture.places) == FILTERS


def test_a_run_without_a_step_is_not_drawn():
    with pytest.raises(ValueError, match=r"training\.moments is empty: no step is recorded yet; train first"):
        FiltersPicture([], classes=10)


@pytest.mark.parametrize("filters", [(FILTERS + 1, 1, 5, 5), (FILTERS, 3, 5, 5), (FILTERS, 25)], ids=str)
def test_filters_that_do_not_fit_are_not_drawn(filters):
    with pytest.raises(ValueError, match=r"conv1\.weight has shape .*: only up to 6 filters of one channel"):
        FiltersPicture([moment(*filters)], classes=10)


def test_a_kernel_is_planted_by_a_name_of_the_list_alone():
    assert planted("right") == {}
    for name in NAMES[1:]:
        ((operation, kernel),) = planted(name).items()
        assert kernel.name.startswith(operation)
    with pytest.raises(ValueError, match="name = 'no such fault': it must be one of right, "):
        planted("no such fault")
