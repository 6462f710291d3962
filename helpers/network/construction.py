"""Checks of what a network is made of: its layers, the size of an image, its kernels."""

from collections.abc import Mapping, Sequence
from math import prod
from typing import NoReturn, Protocol

from helpers.checks.arguments import as_int, check_size
from helpers.gpu import Pass
from helpers.gpu.buffers import require_binding
from helpers.network.layers import OF_LAYERS, Layer, Size
from helpers.operations.network.operations import CROSS_ENTROPY, SGD
from helpers.operations.operation import Shape
from wgsl import Kernel

OPERATIONS = {operation.name: operation for operation in (*OF_LAYERS, CROSS_ENTROPY, SGD)}
SMALLER = "choose a smaller input_size, or fewer channels or features"


class Replacement(Protocol):
    """Kernels that take an operation's place in layers, with bindings or parameters of their own."""

    def prepare(self, buffers: Sequence, shape: Shape) -> tuple[Pass, ...]:
        """The passes over the operation's tensors, in their order there."""


Kernels = Mapping[str, str | Kernel | Replacement]


def checked_layers(layers: Sequence[Layer]) -> tuple[Layer, ...]:
    """Return the layers; refuse what is not a list of at least one layer, each with a name of its own."""
    if not isinstance(layers, tuple | list):
        raise TypeError(f"layers is a {type(layers).__name__}: it must be a list or tuple of layers")
    for place, layer in enumerate(layers):
        if not isinstance(layer, Layer):
            rule = "it must be a layer, such as Linear('fc1', 10)"
            raise TypeError(f"layers[{place}] is a {type(layer).__name__}: {rule}")
    names = [layer.name for layer in layers]
    if not names:
        raise ValueError(f"layers = {layers!r}: a network has at least one layer")
    if len({*names}) < len(names):
        raise ValueError(f"layers = {names}: each needs a name of its own")
    return tuple(layers)


def checked_kernels(kernels: Kernels | None) -> Kernels:
    """Return the kernels by their operations; refuse an operation that no network has, or an unknown version."""
    if kernels is None:
        return {}
    if not isinstance(kernels, Mapping):
        rule = "it must be a dict, from the name of an operation to a kernel"
        raise TypeError(f"kernels is a {type(kernels).__name__}: {rule}")
    for name, kernel in kernels.items():
        if name not in OPERATIONS:
            raise ValueError(f"kernels has {name!r}: each name must be one of {', '.join(OPERATIONS)}")
        if kernel is not None and not hasattr(kernel, "prepare"):  # as a Replacement has
            OPERATIONS[name].kernel(kernel)
    return dict(kernels)


def checked_size(size: Size) -> Size:
    """Return the size of one image; refuse what is not (C, H, W) or (features,)."""
    if not isinstance(size, tuple | list):
        rule = "it must be a tuple, (channels, height, width)"
        raise TypeError(f"input_size = {size!r} is a {type(size).__name__}: {rule}")
    size = tuple(as_int(number) for number in size)
    for axis, number in enumerate(size):
        check_size(f"input_size[{axis}]", number)
    if len(size) == 2:
        raise ValueError(f"input_size = {size}, but a network takes (channels, height, width): write {(1, *size)}")
    if len(size) not in (1, 3):
        raise ValueError(f"input_size = {size}: it must be (channels, height, width), or (features,)")
    return size


def checked_values(layers: Sequence[Layer], size: Size) -> dict[str, Size]:
    """The sizes of one item: of the images, then of each layer's output. Refuse layers that do not fit together."""
    name = "images"
    values = {name: size}
    for layer in layers:
        require_binding(4 * prod(size), f"{name}, {size} an image,", SMALLER)
        if layer.takes_images and len(size) != 3:
            _refuse_features(layer, size, first=layer is layers[0])
        try:
            size = layer.output_size(size)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{layer.name} does not fit what it is given, {size} an image: {error}") from None
        name = f"{layer.name}.output"
        values[name] = size
    one_number_a_class = size[1:] in [(), (1, 1)]
    if not one_number_a_class:
        rule = "it must give one number for each class: add a Linear, such as Linear('classes', 10, activation='none')"
        raise ValueError(f"layers: the last one, {layer.name}, gives {size} an image: {rule}")
    return values


def _refuse_features(layer: Layer, size: Size, first: bool) -> NoReturn:
    """Refuse a layer of images that is given a list of features."""
    takes = f"the {type(layer).__name__} {layer.name} takes (channels, height, width)"
    if first:
        raise ValueError(f"input_size = {size}, but {takes}")
    raise ValueError(f"layers: {takes}, but the layer before it gives {size}: place it before the first Linear")
