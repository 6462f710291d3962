"""Mistakes that break training: wrong kernels planted in a network, and what one step or a loss curve shows."""

from functools import cache

import numpy as np
import pytest
from support.sample import at_night

from helpers.data.digits import seen_and_unseen
from helpers.lessons.exercises import MATCHINGS
from helpers.lessons.train_lenet import in_training
from helpers.lessons.train_lenet.in_training import NAMES, SMALL, SmallRun, planted, train_small
from helpers.network.check_layers import UPDATE, check_step
from helpers.network.layers import AvgPool2d, Conv2d, Linear
from helpers.network.network import Network
from helpers.operations.kernels import load

IMAGES, LABELS, _, _ = seen_and_unseen()
BLIND = "pooling gives to the last of equal pixels"  # the adjoint test does not see it
WITH_ALL = *SMALL[:-1], Linear("fc1", 12), Linear("fc2", 10, activation="none")


@cache
def run(name: str) -> SmallRun:
    return train_small(name)


# --- One step ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in NAMES if name != BLIND])
def test_one_step_names_the_wrong_kernel_in_every_layer_and_no_other(name):
    network = Network(SMALL, kernels=planted(name))
    reports = check_step(network, IMAGES[:8], LABELS[:8])
    (operation,) = planted(name) or [""]
    assert reports.wrong == [step for step in reports if step.endswith(f": {operation}")]
    assert repr(reports).count("\n") == len(reports)
    assert repr(reports).count("wrong: ") == len(reports.wrong)


def test_every_step_of_other_layers_is_judged_too_and_a_wrong_one_is_named():
    layers = Conv2d("conv1", 3, 5, activation="none"), AvgPool2d("pool1", 3, 2, 1), *WITH_ALL[2:]
    network = Network(layers)
    reports = check_step(network, IMAGES[:4], LABELS[:4])
    assert not reports.wrong
    assert {step.name for step in network.workspace(4).all_steps} | {UPDATE} == {*reports}
    official = load("gemm_bias_act_backward", "1_thread_per_element")
    wrong = official.edit("d_bias[n] = sum;", "d_bias[n] = -sum;")
    network = Network(layers, kernels={"gemm_bias_act_backward": wrong})
    assert check_step(network, IMAGES[:4], LABELS[:4]).wrong == [f"fc{i}: gemm_bias_act_backward" for i in (2, 1)]


def test_lenet_is_right_and_the_step_is_taken_back():
    network = Network()
    network.step(IMAGES[:8], LABELS[:8])
    before = network.state()
    assert not check_step(network, IMAGES[8:16], LABELS[8:16]).wrong
    for array, old in zip(network.state(), before, strict=True):
        np.testing.assert_array_equal(array, old)


def test_a_tie_is_a_blind_spot_and_makes_no_difference_here():
    """Equal pixels are zeros, whose gradient the ReLU drops, or lie over empty paper, where the input is the same."""
    network, right = Network(SMALL, kernels=planted(BLIND)), Network(SMALL)
    assert not check_step(network, IMAGES[:8], LABELS[:8]).wrong
    network.step(IMAGES[:8], LABELS[:8])
    right.step(IMAGES[:8], LABELS[:8])
    name = "conv1.grad_output"
    assert (network.workspace(8).tensor(name) != right.workspace(8).tensor(name)).any()
    for name, gradient in right.gradients().items():
        np.testing.assert_allclose(network.gradients()[name], gradient, rtol=1e-4, atol=1e-6)


# --- A whole run ---------------------------------------------------------------------------------------------


def read_off(losses: tuple[float, ...]) -> str:
    """The mistake that a curve shows, beside that of a right run."""
    right = np.array(run("right").losses)
    if len(losses) < len(right) or max(losses) > 10:
        return "relu" if min(losses) < 1.8 else "sign"
    late = np.mean(losses[30:50]) > np.mean(right[30:50]) + 0.5
    return "batch" if late else "bias"


@at_night
def test_each_curve_shows_the_word_that_belongs_on_its_card():
    question, words = MATCHINGS["four_curves"], {"batch": "weight", "relu": "ReLU", "sign": "adds", "bias": "bias"}
    recorded = in_training.recorded()
    assert np.allclose(recorded["Right"], run("right").losses, atol=0.1)
    for card, word in zip(question.cards, question.right, strict=True):
        name = in_training._CURVES[card.removeprefix("Curve ")]
        for losses in (run(name).losses, recorded[card]):
            assert read_off(losses) == word
        assert np.allclose(recorded[card][:20], run(name).losses[:20], rtol=0.05)
        assert words[word] in name


@at_night
def test_a_wrong_gradient_may_learn_nearly_as_well_and_its_run_says_so_in_a_line():
    right, wrong, ended = run("right"), run("bias gradient of one image"), run("update adds the gradient")
    assert right.accuracy > 0.5
    assert wrong.accuracy > right.accuracy - 0.15
    assert f"{wrong.accuracy:.0%} of unseen digits" in repr(wrong)
    assert repr(ended).endswith(f"NaN after {len(ended.losses)} steps")
