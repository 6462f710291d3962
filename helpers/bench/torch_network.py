"""A network in PyTorch's own layers, from the same parameters: what accuracy, gradients and speed are compared with."""

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
                yield from [nn.Flatten()] * (len(size) > 1)
                yield nn.Linear(prod(size), layer.out_features)
        if (activation := getattr(layer, "activation", "none")) != "none":
            yield ACTIVATIONS[activation]()


def train_step(forward: nn.Module, optimizer: torch.optim.Optimizer, images: Tensor, right: Tensor) -> Tensor:
    """Forward, loss, backward and update; returns the loss."""
    optimizer.zero_grad()
    loss = nn.functional.cross_entropy(forward(images), right)
    loss.backward()
    optimizer.step()
    return loss.detach()


def _ours(array: np.ndarray) -> np.ndarray:
    """A parameter as the other side stores it: the weight of a Linear is transposed, all others are the same."""
    return array.T if array.ndim == 2 else array


def load(model: nn.Sequential, parameters: dict[str, np.ndarray]) -> None:
    """Take a network's parameters, which come in the same order."""
    with torch.no_grad():
        for own, array in zip(model.parameters(), parameters.values(), strict=True):
            own.copy_(torch.from_numpy(np.ascontiguousarray(_ours(array))))


def gradients(model: nn.Sequential, network: Network) -> dict[str, np.ndarray]:
    """The gradients of the last backward pass, by our names and in our shapes."""
    return {name: _ours(own.grad.cpu().numpy()) for name, own in zip(network.shapes, model.parameters(), strict=True)}
