"""Beside PyTorch, where it is installed: the same call, word for word, gives the same numbers."""

from collections.abc import Callable

import numpy as np
import pytest
import random_problems
from hypothesis import given, settings
from hypothesis import strategies as st
from support.launcher import python
from support.problems import conv_shapes, pool_shapes
from support.special_numbers import pools, rows

import helpers
from helpers.data.digits import seen_and_unseen
from helpers.network.layers import LENET, AvgPool2d, Conv2d, Linear
from helpers.network.network import Network
from helpers.operations.convolution import reference
from helpers.operations.convolution.shapes import ConvShape
from helpers.operations.harness import huge, normal, whole
from helpers.operations.network.shapes import PoolShape

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
    steps = tuple(shape.steps.values())
    close(helpers.conv2d(x, w, b, *steps), torch.nn.functional.conv2d(tx, tw, tb, *steps))
    close(helpers.conv2d_grad_weight(x, w.shape, dy, *steps), torch.nn.grad.conv2d_weight(tx, tw.shape, tdy, *steps))
    close(helpers.conv2d_grad_input(x.shape, w, dy, *steps), torch.nn.grad.conv2d_input(tx.shape, tw, tdy, *steps))


# --- Pooling, cross-entropy and updates ---------------------------------------------------------------------


def gradient(output: "torch.Tensor", argument: "torch.Tensor", upstream: "torch.Tensor") -> "torch.Tensor":
    """The gradient of <output, upstream> for an argument of it."""
    return torch.autograd.grad(output, argument, upstream)[0]


@settings(max_examples=15, deadline=None)
@given(pool_shapes(), st.sampled_from([whole, normal]))
def test_pooling_has_the_same_numbers_and_gives_ties_to_the_same_pixel(shape: PoolShape, draw: Callable) -> None:
    """Whole numbers from -4 to 4 have ties in most windows."""
    x, dy = draw(shape.of("input")), draw(shape.of("output"), 1)
    tx, tdy = doubles(x, dy)
    steps = shape.kernel, shape.stride, shape.padding
    largest = torch.nn.functional.max_pool2d(tx.requires_grad_(), *steps)
    mean = torch.nn.functional.avg_pool2d(tx, *steps)
    close(helpers.max_pool2d(x, *steps), largest.detach())
    close(helpers.avg_pool2d(x, *steps), mean.detach())
    close(helpers.max_pool2d_backward(x, dy, *steps), gradient(largest, tx, tdy))
    close(helpers.avg_pool2d_backward(x.shape, dy, *steps), gradient(mean, tx, tdy))


def test_the_steps_of_pooling_have_the_same_defaults() -> None:
    x = whole((1, 2, 7, 5))
    close(helpers.max_pool2d(x, 2), torch.nn.functional.max_pool2d(*doubles(x), 2))
    close(helpers.avg_pool2d(x, 3, padding=1), torch.nn.functional.avg_pool2d(*doubles(x), 3, padding=1))


def test_relu_passes_the_same_gradient() -> None:
    x, dy = whole((5, 7)), whole((5, 7), 1)
    tx, tdy = doubles(x, dy)
    close(helpers.relu_backward(np.maximum(x, 0), dy), gradient(torch.relu(tx.requires_grad_()), tx, tdy))


@pytest.mark.parametrize("draw", [whole, normal, huge])
def test_cross_entropy_has_the_same_losses_and_the_gradient_of_their_mean(draw: Callable) -> None:
    logits, labels = draw((9, 10)), np.arange(9)
    (right,) = doubles(logits)
    classes = torch.from_numpy(labels)
    losses, grad = helpers.cross_entropy(logits, labels)
    mean = torch.nn.functional.cross_entropy(right.requires_grad_(), classes)
    close(losses, torch.nn.functional.cross_entropy(right.detach(), classes, reduction="none"))
    close(grad, gradient(mean, right, torch.ones_like(mean)))


def test_special_numbers_go_the_same_way() -> None:
    """The windows and rows of support.special_numbers, and ReLU; NaN and infinity must stand in the same places."""
    _, input, _, grad_output, _ = pools()
    tx, tdy = doubles(input, grad_output)
    largest = torch.nn.functional.max_pool2d(tx.requires_grad_(), 2)
    close(helpers.max_pool2d(input, 2), largest.detach())
    close(helpers.max_pool2d_backward(input, grad_output, 2), gradient(largest, tx, tdy))
    mean = torch.nn.functional.avg_pool2d(tx, 2)
    close(helpers.avg_pool2d(input, 2), mean.detach())
    _, tensors, *_ = rows()
    logits, labels = tensors["logits"], torch.from_numpy(tensors["labels"].astype(np.int64))
    (right,) = doubles(logits)
    loss = torch.nn.functional.cross_entropy(right.requires_grad_(), labels, reduction="none")
    losses, grad = helpers.cross_entropy(**tensors)
    close(losses, loss.detach())
    close(grad, gradient(loss.mean(), right, torch.ones(())))
    pre = np.float32([np.nan, np.inf, -np.inf, 0, 1, np.nan])
    tpre, tgrad = doubles(pre, GRADIENTS)
    output = torch.relu(torch.from_numpy(pre)).numpy()
    close(helpers.relu_backward(output, GRADIENTS), gradient(torch.relu(tpre.requires_grad_()), tpre, tgrad))


GRADIENTS = np.float32([2, np.nan, np.nan, np.inf, -np.inf, np.nan])


@pytest.mark.parametrize("activation", ["relu", "sigmoid", "tanh"])
def test_activations_of_special_numbers_are_the_same(activation: str) -> None:
    """GELU and SiLU have their limit at -infinity, where PyTorch has NaN."""
    pre = np.float32([np.nan, np.inf, -np.inf, 0])
    layer = np.zeros((1, 1, 1), np.float32), np.zeros((1, 4), np.float32), pre
    theirs = getattr(torch, activation)(torch.from_numpy(pre))
    close(helpers.gemm_bias_act(*layer, activation), theirs[None, None])
    assert torch.isnan(torch.nn.functional.silu(torch.tensor([-torch.inf]))).all()


@pytest.mark.parametrize("momentum", [0.0, 0.9])
def test_three_updates_are_those_of_its_optimizer(momentum: float) -> None:
    """Its first velocity is the first gradient: momentum times zeros, and the gradient."""
    parameter, velocity = normal((4, 3)), np.zeros((4, 3), np.float32)
    (theirs,) = doubles(parameter)
    optimizer = torch.optim.SGD([theirs.requires_grad_()], lr=0.1, momentum=momentum)
    for step in range(3):
        grad = normal((4, 3), step)
        (theirs.grad,) = doubles(grad)
        optimizer.step()
        parameter, velocity = helpers.sgd(parameter, grad, velocity, 0.1, momentum)
        close(parameter, theirs.detach())


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
    loss = network.step(images, labels, learning_rate=0)
    model = torch_network(network).double()
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


def test_pytorch_loads_triton_after_an_adapter_was_opened():
    """Both have a compiler of their own, of one name: see `helpers/gpu/adapter.py`."""
    pytest.importorskip("triton", reason="Triton is not installed")
    code = "from helpers import gpu; gpu.device()\n"
    code += "import torch, triton; torch.optim.SGD([torch.ones(1)]); print('fine')"
    assert python(code) == "fine\n"
