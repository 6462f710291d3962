"""The questions of the lesson that trains LeNet: their answers are computed, and their claims on training are tried."""

from math import log, prod

import numpy as np
import pytest
from support.sample import at_night

from helpers.data.digits import seen_and_unseen
from helpers.lessons.exercises import QUESTIONS
from helpers.lessons.train_lenet.in_training import SMALL, train_small
from helpers.network.network import Network
from helpers.operations.convolution.operations import GRAD_WEIGHT
from helpers.operations.network import reference
from helpers.operations.network.shapes import PoolShape

PARAMETERS = Network().shapes

# --- Questions ------------------------------------------------------------------------------------------------


def size_of(layer: str) -> int:
    """The number of a layer's parameters."""
    return sum(prod(shape) for name, shape in PARAMETERS.items() if name.startswith(f"{layer}."))


def gradient_of_a_tie() -> tuple[float, ...]:
    """The gradients of two pixels that are equal, and the largest of their window."""
    pixels = np.array([[[[7.0, 7, 3], [2, 5, 1]]]])
    upstream = np.array([[[[5.0, 2]]]])
    gradient = reference.max_pool2d_backward(pixels, upstream, PoolShape(1, 1, 2, 3, 2, 1))
    return tuple(gradient[0, 0, 0, :2])


ANSWERS = {
    "parameters_of_conv2": lambda: size_of("conv2"),
    "loss_of_100_classes": lambda: round(log(100), 1),
    "products_that_count": lambda: prod(PoolShape(1, 1, 24, 24, 2).outputs),
    "steps_called_wrong": lambda: [s.operation for s in Network().workspace(8).steps].count(GRAD_WEIGHT),
    "gradient_of_a_tie": gradient_of_a_tie,
}


@pytest.mark.parametrize("name", ANSWERS)
def test_an_answer_is_computed(name):
    assert QUESTIONS[name].right == ANSWERS[name]()


def test_numbers_in_the_explanations_are_those_of_lenet():
    assert {size_of("conv1"), prod(PARAMETERS["conv2.weight"])} <= {*QUESTIONS["parameters_of_conv2"].mistakes}


def test_a_batch_that_is_doubled_has_the_same_update_and_a_new_network_the_loss_of_ln_10():
    images, labels, _, _ = seen_and_unseen()
    network = Network(SMALL)
    loss = network.step(images[:8], labels[:8], learning_rate=0)
    once = np.linalg.norm(network.gradients()["fc1.weight"])
    doubled = np.concatenate([images[:8], images[:8]])
    network.step(doubled, np.concatenate([labels[:8], labels[:8]]), learning_rate=0)
    factor = np.linalg.norm(network.gradients()["fc1.weight"]) / once
    assert factor == pytest.approx(QUESTIONS["batch_doubled"].right, rel=1e-3)
    assert loss == pytest.approx(QUESTIONS["loss_of_100_classes"].right / 2, abs=0.1)


@at_night
@pytest.mark.parametrize("rate", [0.03, 0.3])
def test_the_largest_rate_learns_and_ten_times_as_much_does_not(rate):
    run = train_small(learning_rate=rate)
    learns = np.mean(run.losses[-10:]) < 0.7 * run.losses[0]
    assert learns == (rate <= QUESTIONS["largest_rate"].right)
