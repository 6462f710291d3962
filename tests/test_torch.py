"""Beside PyTorch, where it is installed: the same call, word for word, gives the same numbers."""

import numpy as np
import pytest
import random_problems
from hypothesis import given, settings
from support.problems import conv_shapes

import helpers
from helpers.convolution import reference
from helpers.convolution.shapes import ConvShape
from helpers.data.digits import seen_and_unseen
from helpers.network.layers import LENET, AvgPool2d, Conv2d, Linear
from helpers.network.network import Network
from helpers.oracles.harness import conv, normal

torch = pytest.importorskip("torch", reason="PyTorch is not installed")

LAYER = ConvShape(2, 4, 6, 7, 6, 3, 2, (2, 1), (1, 2), (1, 2), 2)


def close(got: np.ndarray, right: "torch.Tensor") -> None:
    """Raise AssertionError unless these are the same but for float32 rounding."""
    assert got.shape == tuple(right.shape)
    np.testing.assert_allclose(got, right.numpy(), rtol=1e-5, atol=1e-4)


def doubles(*arrays: np.ndarray) -> list["torch.Tensor"]:
    """As PyTorch's tensors in float64."""
    return [torch.from_numpy(array.astype(np.float64)) for array in arrays]


@settings(max_examples=15, deadline=None)
@given(conv_shapes(8, 3, 3, general=True))
def test_the_same_call_gives_the_same_numbers(shape: ConvShape) -> None:
    """With the same positional arguments."""
    x, w, b, dy = (normal(shape.of(name), seed) for seed, name in enumerate(["input", "weight", "bias", "output"]))
    tx, tw, tb, tdy = doubles(x, w, b, dy)
    steps = tuple(conv(shape).values())
    close(helpers.conv2d(x, w, b, *steps), torch.nn.functional.conv2d(tx, tw, tb, *steps))
    close(helpers.conv2d_grad_weight(x, w.shape, dy, *steps), torch.nn.grad.conv2d_weight(tx, tw.shape, tdy, *steps))
    close(helpers.conv2d_grad_input(x.shape, w, dy, *steps), torch.nn.grad.conv2d_input(tx.shape, tw, tdy, *steps))


# --- A whole network ----------------------------------------------------------------------------------------

OTHER = (
    Conv2d("conv", 3, 3, stride=2, padding=1, activation="none"),
    AvgPool2d("mean", 3, 2, 1),
    Linear("tanh", 7, activation="tanh"),
    Linear("classes", 10, activation="none"),
)


@pytest.mark.parametrize("layers", [LENET, OTHER], ids=["lenet", "other"])
def test_a_network_of_its_own_layers_has_the_same_loss_and_gradients(layers: tuple) -> None:
    """And the same logits, from the same parameters."""
    from helpers.bench.torch_network import gradients, torch_network

    images, labels, *_ = (array[:4] for array in seen_and_unseen())
    network = Network(layers, seed=1)
    loss, model = network.step(images, labels, learning_rate=0), torch_network(network).double()
    logits = model(torch.from_numpy(images).double())
    right = torch.nn.functional.cross_entropy(logits, torch.from_numpy(labels).long())
    right.backward()
    assert loss == pytest.approx(right.item(), rel=1e-6)
    np.testing.assert_allclose(network.logits(images), logits.detach().numpy(), atol=1e-6)
    for name, grad in gradients(model, network).items():
        got = network.gradients()[name]
        assert got.shape == grad.shape
        assert np.linalg.norm(got - grad) <= 3e-6 * np.linalg.norm(grad), name


# --- The random problems' comparison, broken --------------------------------------------------------------


@pytest.mark.parametrize("name", ["conv2d", "conv2d_grad_weight", "conv2d_grad_input", "conv2d_grad_bias"])
def test_a_wrong_float64_answer_is_noticed(name, monkeypatch):
    random_problems.judge_answers(LAYER)
    right = getattr(reference, name)
    monkeypatch.setattr(reference, name, lambda *data, **steps: right(*data, **steps) * (1 + 1e-9))
    with pytest.raises(AssertionError, match=f"{name}: ConvShape"):
        random_problems.judge_answers(LAYER)
