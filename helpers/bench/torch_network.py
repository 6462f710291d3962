"""A network in PyTorch's own layers, from the same parameters: to compare accuracy, gradients and speed with ours."""

from collections.abc import Iterator
from math import prod

import numpy as np
import torch
from torch import Tensor, nn

from helpers.network.layers import AvgPool2d, Conv2d, Linear, MaxPool2d
from helpers.network.network import Network

ACTIVATIONS = {"relu": nn.ReLU, "tanh": nn.Tanh, "sigmoid": nn.Sigmoid, "silu": nn.SiLU}


def torch_network(network: Network, device: str = "cpu") -> nn.Sequential:
    """The same layers with the same parameters, on a device."""
    model = nn.Sequential(*_modules(network)).to(device)
    load(model, network.parameters())
    return model


def _modules(network: Network) -> Iterator[nn.Module]:
    for layer, size in zip(network.layers, network.values.values(), strict=False):
        match layer:
            case Conv2d():
                yield nn.Conv2d(size[0], layer.out_channels, layer.kernel_size, layer.stride, layer.padding)
            case MaxPool2d() | AvgPool2d():  # which have PyTorch's names
                yield getattr(nn, type(layer).__name__)(layer.kernel_size, layer.stride, layer.padding)
            case Linear():
                if len(size) > 1:
                    yield nn.Flatten()
                yield nn.Linear(prod(size), layer.out_features)
        activation = getattr(layer, "activation", "none")
        if activation != "none":
            yield ACTIVATIONS[activation]()


def train_step(forward: nn.Module, optimizer: torch.optim.Optimizer, images: Tensor, right: Tensor) -> Tensor:
    """Forward, loss, backward and update; returns the loss."""
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(forward(images), right)
    loss.backward()
    optimizer.step()
    return loss.detach()


def _other_layout(array: np.ndarray) -> np.ndarray:
    """A parameter as the other side stores it: the weight of a Linear is transposed, all others are the same."""
    if array.ndim == 2:
        return array.T
    return array


def load(model: nn.Sequential, parameters: dict[str, np.ndarray]) -> None:
    """Take a network's parameters, which come in the same order."""
    with torch.no_grad():
        for tensor, array in zip(model.parameters(), parameters.values(), strict=True):
            tensor.copy_(torch.from_numpy(np.ascontiguousarray(_other_layout(array))))


def gradients(model: nn.Sequential, network: Network) -> dict[str, np.ndarray]:
    """The gradients of the last backward pass, by our names and in our shapes."""
    arrays = {}
    for name, tensor in zip(network.shapes, model.parameters(), strict=True):
        arrays[name] = _other_layout(tensor.grad.cpu().numpy())
    return arrays
