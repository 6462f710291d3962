"""A whole network: its gradients beside finite differences and float64, its training beside float64, and bad input.

Float32 and float64 part where a pre-activation is within rounding of 0, since ReLU passes a gradient on one side only.
Gradients are compared on four digits of which no unit parts, which is asserted. A training parts in time: after such a
unit, the two walk two ways. Its learning rate is one at which a hundred steps stay together.
"""

from collections.abc import Iterator

import numpy as np
import pytest
from support import float64_network
from support.float64_network import Float64Network
from support.sample import ALL

from helpers.data.digits import seen_and_unseen
from helpers.gpu import buffers, passes
from helpers.lessons.shared.wrong_kernels import WEIGHT_1, named
from helpers.network import network
from helpers.network import training as module
from helpers.network.layers import LENET, AvgPool2d, Conv2d, Linear, MaxPool2d, gradient_of
from helpers.network.network import Network
from helpers.network.training import EVERY, DivergedError, Training, shuffled

Array = np.ndarray
IMAGES, LABELS, *_ = seen_and_unseen()
# Nothing as in LeNet: overlapping windows, padding, strides, a convolution without an activation, tanh, no pair of
# equal layers.
OTHER = (
    Conv2d("first", 3, 3, stride=2, padding=1, activation="none"),
    AvgPool2d("mean", 3, stride=2, padding=1),
    Conv2d("second", 5, 2, padding=1),
    MaxPool2d("largest", 3, stride=2),
    Linear("narrow", 7, activation="tanh"),
    Linear("plain", 9, activation="none"),
    Linear("classes", 10, activation="none"),
)
SMALL = (Conv2d("conv", 2, 5, stride=4), Linear("classes", 10, activation="none"))
NETWORKS = {"lenet": LENET, "other": OTHER}


@pytest.fixture(scope="module", params=NETWORKS)
def pair(request) -> tuple[Network, Float64Network]:
    """A network and its twin, both with the gradients of four digits."""
    network = Network(NETWORKS[request.param], seed=1)
    network.step(IMAGES[:4], LABELS[:4], learning_rate=0)
    twin = Float64Network(network)
    twin.gradients(IMAGES[:4], LABELS[:4])
    return network, twin


# --- Gradients ----------------------------------------------------------------------------------------------

STEP, ROUNDED = 1e-6, 3e-6  # of differences; and the relative errors of float32 sums, measured to be below 1.1e-6


def test_all_tensors_are_those_of_float64(pair) -> None:
    """Outputs and gradients, by their names; no unit is on at one side and off at the other."""
    network, twin = pair
    space = network.workspace(4)
    for name, right in twin.tensors.items():
        got = space.tensor(name).reshape(right.shape)
        if name.endswith("output") and "grad" not in name:
            assert np.array_equal(got > 0, right > 0), f"{name}: a unit parts: take other digits"
        assert np.linalg.norm(got - right) <= ROUNDED * np.linalg.norm(right), name


def differences(twin: Float64Network) -> Iterator[tuple[str, float]]:
    """Of some weights of each parameter, how far the gradient is from finite differences, beside the largest one."""
    gradients = {name: grad.copy() for name, grad in twin.gradients(IMAGES[:4], LABELS[:4]).items()}
    for name, grad in gradients.items():
        weights = twin.parameters[name].reshape(-1)
        for at in np.random.default_rng(0).permutation(weights.size)[:4]:
            losses, kept = [], weights[at]
            for weights[at] in kept + STEP, kept - STEP:
                losses.append(twin.forward(IMAGES[:4], LABELS[:4]))
            weights[at] = kept
            yield name, abs(grad.flat[at] - (losses[0] - losses[1]) / (2 * STEP)) / abs(grad).max()


def test_gradients_are_finite_differences_of_the_loss(pair) -> None:
    """In float64, so that nothing is lost; the kernels are beside float64 above."""
    far = {name: error for name, error in differences(pair[1]) if error > 1e-5}
    assert not far


def test_a_chain_rule_without_a_derivative_is_seen(pair, monkeypatch) -> None:
    """Behind a ReLU, the gradient is what came to it."""
    monkeypatch.setitem(float64_network.RIGHT, "relu_backward", lambda output, grad, shape: grad)
    assert max(error for _, error in differences(pair[1])) > 1e-2


# --- A training beside float64 ------------------------------------------------------------------------------

BATCH, COUNT, RATE = 16, 320, 0.02
FOLLOWS = 3e-4  # of the way that the parameters went; measured 3e-5 after a step, 1e-6 after a hundred


def batches(steps: int) -> Iterator[tuple[Array, Array]]:
    """Those of a training."""
    for step in range(steps):
        epoch, place = divmod(step, COUNT // BATCH)
        chosen = shuffled(COUNT, 0, epoch)[place * BATCH : (place + 1) * BATCH]
        yield IMAGES[chosen], LABELS[chosen]


def distance(steps: int, rate: float = RATE, **kernels) -> float:
    """The distance of LeNet's parameters from their twins after some steps, beside the way that these went."""
    network = Network(kernels=kernels)
    twin = Float64Network(network)
    start = joined(twin.parameters)
    for images, labels in batches(steps):
        twin.step(images, labels, RATE)
    training = Training(network, IMAGES[:COUNT], LABELS[:COUNT], batch=BATCH, learning_rate=rate)
    training.run(steps / training.steps_per_epoch)
    assert training.step == steps
    got = joined(network.parameters())
    right = joined(twin.parameters)
    return float(np.linalg.norm(got - right) / np.linalg.norm(right - start))


def joined(parameters: dict[str, Array]) -> Array:
    """The numbers of all parameters, one after the other."""
    return np.concatenate([array.ravel() for array in parameters.values()])


def test_its_steps_follow_float64(record_property) -> None:
    """The parameters after them, in which all gradients, batches, rates and velocities are summed."""
    steps = 100 if ALL else 8
    off = distance(steps)
    record_property("told", f"{steps} steps of training LeNet: {off:.1e} of the way from float64")
    assert off < FOLLOWS


def test_a_learning_rate_off_by_a_hundredth_is_seen() -> None:
    """Five steps show it."""
    assert distance(5, RATE * 1.01) > 20 * FOLLOWS


@pytest.mark.parametrize("name", ["batch not summed", "filter flipped", "last output row left out"])
def test_a_wrong_kernel_is_seen(name: str) -> None:
    """One step shows it."""
    assert distance(1, conv2d_grad_weight=named(WEIGHT_1, name).wrong) > 20 * FOLLOWS


# --- The same again -----------------------------------------------------------------------------------------


def trained(steps: int, **options) -> Training:
    """A training of a small network."""
    training = Training(Network(SMALL), IMAGES[:40], LABELS[:40], batch=8, **options)
    return training.run(steps / training.steps_per_epoch)


def same(one: Network, other: Network) -> bool:
    """Return True where parameters and velocities are equal, bit for bit."""
    return all(map(np.array_equal, one.state(), other.state()))


def test_a_second_run_is_equal_bit_for_bit() -> None:
    first, second, other = trained(30), trained(30), trained(30, seed=1)
    assert same(first.network, second.network)
    assert [moment.loss for moment in first.moments] == [moment.loss for moment in second.moments]
    assert not same(first.network, other.network)


def test_what_is_recorded_of_a_step_is_what_the_network_had_then() -> None:
    """As in one step after the other, over batches that the host brings."""
    training = trained(8)
    network = Network(SMALL)
    space = network.workspace(8)
    for moment in training.moments:
        epoch, place = divmod(moment.step, 5)
        chosen = shuffled(40, 0, epoch)[8 * place : 8 * place + 8]
        before = network.parameters()
        assert network.step(IMAGES[chosen], LABELS[chosen]) == moment.loss
        assert (space.tensor(space.logits).reshape(8, 10).argmax(1) == LABELS[chosen]).mean() == moment.accuracy
        tensors = {name: array for name, array in before.items() if name.startswith("conv.")}
        tensors |= {gradient_of(name): network.gradients()[name] for name in tensors}
        assert [*moment.tensors] == [*tensors]
        assert all(np.array_equal(moment.tensors[name], array) for name, array in tensors.items())
    assert same(training.network, network)


def noted(monkeypatch: pytest.MonkeyPatch, name: str) -> list[tuple]:
    """The arguments of all further calls of a function of the training's module, which goes on as it did."""
    arguments = []
    function = getattr(module, name)

    def call(*passed: object) -> object:
        arguments.append(passed)
        return function(*passed)

    monkeypatch.setattr(module, name, call)
    return arguments


def test_a_recorded_step_takes_two_dispatches_more_and_a_fifth_of_a_submission(monkeypatch) -> None:
    """Nothing is copied but a state after 25 steps; the host sends the order of an epoch, and waits once."""
    training = Training(Network(SMALL), IMAGES[:400], LABELS[:400], batch=8)
    calls = {name: noted(monkeypatch, name) for name in ("run", "write", "read")}
    training.run(2)
    bare = len([*training._space.forward, *training._space.backward]) + 1
    submissions = [passes._batches(steps) for steps in calls["run"]]  # each in its compute passes, and copies
    sizes = [sum(map(len, submission)) for submission in submissions]
    with_a_copy = 5 * (bare + 2) + 2
    assert sizes == [*[5 * (bare + 2)] * 4, with_a_copy] * 4
    assert [len(submission) for submission in submissions] == [1, 1, 1, 1, 3] * 4
    assert [array.nbytes for _, array in calls["write"]] == [4 * 400] * 2
    assert len(calls["read"]) == 1


def test_going_back_and_on_is_equal_bit_for_bit() -> None:
    """To a step before the one that is asked for, with the velocities of that time."""
    whole, back = trained(30), trained(30)
    assert back.rewind(29) == EVERY == back.step == len(back.moments)
    assert not same(whole.network, back.network)
    back.advance(5)
    assert same(whole.network, back.network)
    assert [moment.loss for moment in back.moments] == [moment.loss for moment in whole.moments]


def test_a_network_with_the_parameters_of_another_is_like_it() -> None:
    network, other = trained(3).network, Network(SMALL, seed=5)
    other.load_parameters(network.parameters())
    for name, parameter in network.parameters().items():
        np.testing.assert_array_equal(other.parameters()[name], parameter)
    assert not other.state()[1].any(), "velocities"
    np.testing.assert_array_equal(other.logits(IMAGES[:3]), network.logits(IMAGES[:3]))


def test_predictions_do_not_depend_on_the_batch() -> None:
    network = Network(SMALL)
    np.testing.assert_array_equal(network.predict(IMAGES[:7], 3), network.logits(IMAGES[:7]).argmax(1))


def test_a_network_whose_parameters_fill_a_binding_is_trained_and_goes_back(monkeypatch) -> None:
    """A state, with the velocities, is twice as large, and need not be bound."""
    network = Network(SMALL, (1, 13, 13))
    images = IMAGES[:4, :, 7:20, 7:20].copy()
    monkeypatch.setattr(buffers, "MAX_BINDING", 4 * network.words)
    monkeypatch.setattr(module, "MOST_BYTES", 4 * network.words)
    assert images[:2].nbytes < 4 * network.words < images.nbytes
    training = Training(network, images[:2], LABELS[:2], batch=1).run()
    assert training.step == 2
    training.rewind(0)
    assert same(network, Network(SMALL, (1, 13, 13)))


# --- What is refused ----------------------------------------------------------------------------------------


def test_bad_input_leaves_the_network_as_it_was() -> None:
    network, images = Network(SMALL), IMAGES[:4].copy()
    images[2, 0, 5, 7] = np.nan
    for call in lambda: network.step(images, LABELS[:4]), lambda: Training(network, images, LABELS[:4]):
        with pytest.raises(ValueError, match=r"images\[2, 0, 5, 7\] = nan"):
            call()
    assert same(network, Network(SMALL))


def test_a_batch_is_looked_at_once_where_it_is_given(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not again in each step of a training, and not in each part of a batch."""
    model = Network(SMALL)
    seen = []
    monkeypatch.setattr(network, "check_finite", lambda *arguments: seen.append(len(arguments[-1])))
    model.step(IMAGES[:4], LABELS[:4])
    model.logits(IMAGES[:6], batch=2)
    Training(model, IMAGES[:8], LABELS[:8], batch=2).run(2)
    assert seen == [4, 6, 8]


def test_after_a_learning_rate_that_is_too_high_training_goes_on() -> None:
    """From the last good parameters, which are back."""
    training = trained(EVERY)
    good = training.network.state()
    training.learning_rate = 1e30
    with pytest.raises(DivergedError, match=r"the loss of step 2\d is (NaN|infinite) at learning_rate = 1e\+30: the p"):
        training.advance()
    assert all(map(np.array_equal, training.network.state(), good))
    assert training.step == len(training.moments) == EVERY
    training.learning_rate = 0.01
    training.advance(EVERY - 1)
    training.learning_rate = 1e30  # the state after this step, whose loss is a number, is lost already
    training.advance(1)
    with pytest.raises(DivergedError, match=f"the parameters of step {EVERY} are back"):
        training.advance()
    training.learning_rate = 0.01
    training.advance(5)
    assert all(np.isfinite(moment.loss) for moment in training.moments)
