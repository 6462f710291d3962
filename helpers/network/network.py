"""A network on the GPU: its parameters in one buffer, its passes prepared once, and one submission a step.

All parameters lie one after the other in one buffer, and their gradients and velocities in two more at the same
places: one dispatch updates them all, and one copy saves them. What depends on the size of the batch is in a
`Workspace`: the outputs of the layers, their gradients, and the passes over them.

Several threads may use one network. Batches of one size share their buffers, so a thread has the network for itself
from the first number that it writes to the last one that it reads.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import ceil, prod, sqrt

import numpy as np

from helpers.checks.arguments import as_int, check_shape, check_size, check_tensor
from helpers.data.turns import in_turn, turn
from helpers.gpu import Pass, empty, read, run
from helpers.gpu.buffers import ALIGNMENT, Slice, read_together, require_binding, write
from helpers.network.choice import prepared, version_for_a_long_run
from helpers.network.construction import (
    SMALLER,
    Kernels,
    checked_kernels,
    checked_layers,
    checked_size,
    checked_values,
)
from helpers.network.ink import warn_of_inverted_ink
from helpers.network.layers import DIGIT, LENET, Layer, Size, Step, gradient_of
from helpers.operations.network.operations import CROSS_ENTROPY, INITIALIZE, SGD, check_finite, check_labels
from helpers.operations.network.shapes import LossShape, StartShape, UpdateShape

Array = np.ndarray


class Network:
    """Layers one after the other, with their parameters on the GPU.

    Parameters
    ----------
    layers : list or tuple of Layer
        Convolutions and pooling come first, as they take images, (C, H, W); a Linear takes any size. The last layer
        gives one number for each class, (classes,) or (classes, 1, 1).
    input_size : tuple of int
        The size of one image, (C, H, W), or (features,) where all layers are Linear.
    seed : int
        Of the random start, from 0 to 2**32 - 1; the same seed is the same start on every adapter.
    kernels : mapping, optional
        By the name of an operation, the kernel that computes it in every layer: a version's name, a Kernel, or what
        `student_kernels` (in helpers.lessons.shared) makes of a puzzle's kernel. An operation that is left out takes
        the best version for this adapter.

    Attributes
    ----------
    values : dict of tuple
        The sizes of one item of what is computed forward, by name: images, conv1.output, ...
    shapes : dict of tuple
        Those of the parameters: conv1.weight, ...

    Raises
    ------
    TypeError, ValueError
        Two layers have one name, a layer does not fit the output of the one before, no layer has weights, the last one
        does not give a number for each class, `kernels` names another operation or version, or the seed is out of
        range.
    GpuError
        The parameters, or the output of a layer for one image, are too large for a binding.
    """

    def __init__(
        self, layers: Sequence[Layer] = LENET, input_size: Size = DIGIT, seed: int = 0, kernels: Kernels | None = None
    ) -> None:
        self.layers = checked_layers(layers)
        self.kernels = checked_kernels(kernels)
        self.values = checked_values(self.layers, checked_size(input_size))
        self.shapes = self._parameter_shapes()
        self._offsets: dict[str, int] = {}  # of each parameter in its buffer, in words
        self.words = 0
        step = ALIGNMENT // 4  # in words: a slice begins at a multiple of it
        for name, shape in self.shapes.items():
            self._offsets[name] = self.words
            self.words += ceil(prod(shape) / step) * step
        self._check_words()
        self.buffers = {name: empty(4 * self.words, name) for name in ("parameters", "gradients", "velocities")}
        self._workspaces: dict[int, Workspace] = {}
        self.initialize(seed)

    def _parameter_shapes(self) -> dict[str, Size]:
        """The shapes of all parameters by name, in the order of the layers."""
        shapes = {}
        for layer, input_size in zip(self.layers, self.values.values(), strict=False):
            for name, shape in layer.parameters(input_size).items():
                shapes[f"{layer.name}.{name}"] = shape
        return shapes

    def _check_words(self) -> None:
        """Refuse a network that has nothing to train, or more parameters than a buffer holds."""
        if not self.words:
            names = [layer.name for layer in self.layers]
            raise ValueError(f"layers = {names}: none of them has weights to train: add a Conv2d or a Linear")
        require_binding(4 * self.words, "the buffer of all parameters", SMALLER)

    @property
    def classes(self) -> int:
        """The number of classes that the network tells apart."""
        logits = list(self.values)[-1]
        return prod(self.values[logits])

    def slices(self) -> dict[str, Slice]:
        """Each parameter and its gradient, by name, as a part of the network's buffers."""
        slices = {}
        for name, shape in self.shapes.items():
            offset = 4 * self._offsets[name]
            size = 4 * prod(shape)
            slices[name] = Slice(self.buffers["parameters"], offset, size)
            slices[gradient_of(name)] = Slice(self.buffers["gradients"], offset, size)
        return slices

    @in_turn
    def initialize(self, seed: int = 0) -> None:
        """Start anew: numbers from -1/sqrt(terms) to 1/sqrt(terms) of each sum, as PyTorch's layers; no velocity."""
        slices = self.slices()
        passes = []
        for stream, (name, shape) in enumerate(self.shapes.items()):
            layer = name.partition(".")[0]
            weight = self.shapes[f"{layer}.weight"]
            terms = prod(weight[1:]) if len(weight) == 4 else weight[0]
            start = StartShape(prod(shape), 1 / sqrt(terms), seed, stream)
            passes += INITIALIZE.prepare((slices[name],), start)
        run(*passes)
        write(self.buffers["velocities"], np.zeros(self.words, np.float32))

    @in_turn
    def workspace(self, batch: int) -> "Workspace":
        """The buffers and passes for a size of batch; they are made once."""
        check_size("batch", as_int(batch))
        if batch not in self._workspaces:
            self._workspaces[batch] = Workspace(self, int(batch))
        return self._workspaces[batch]

    def update(self, learning_rate: float, momentum: float) -> tuple[Pass, ...]:
        """The pass that moves all parameters against their gradients."""
        shape = UpdateShape(self.words, learning_rate, momentum)
        return prepared(SGD, list(self.buffers.values()), shape, self.kernels.get(SGD.name))

    # --- Arrays in, arrays out ----------------------------------------------------------------------------

    @in_turn
    def step(self, images: Array, labels: Array, learning_rate: float = 0.05, momentum: float = 0.9) -> float:
        """One step of training on a batch, in one submission; returns the mean loss before it.

        images float32 (N, C, H, W), labels integers (N,). With the learning rate 0, it computes all gradients and
        leaves parameters and velocities as they are.
        """
        check_batch(self, images, labels)
        update = self.update(learning_rate, momentum)
        space = self.workspace(len(images))
        space.fill(images, labels)
        passes = [*space.forward, *space.backward]
        if learning_rate:
            passes += update
        run(*passes)
        return float(space.tensor("losses").mean())

    @in_turn
    def logits(self, images: Array, batch: int = 250) -> Array:
        """The network's outputs for images (N, C, H, W), computed `batch` images at a time: (N, classes)."""
        check_images(self, images)
        check_size("batch", as_int(batch))
        logits = []
        for first in range(0, len(images), batch):
            some = images[first : first + batch]
            space = self.workspace(len(some))
            space.fill(some)
            run(*space.forward)
            logits.append(space.tensor(space.logits).reshape(len(some), self.classes))
        return np.concatenate(logits)

    def predict(self, images: Array, batch: int = 250) -> Array:
        """The class of each image (N, C, H, W), as int (N,): the largest output.

        Warns where images are mostly ink, and those that `Training` gave were mostly paper.
        """
        classes = self.logits(images, batch).argmax(1)
        warn_of_inverted_ink(self, images)
        return classes

    def parameters(self) -> dict[str, Array]:
        """All parameters by name, as float32 arrays."""
        return self._split(read(self.buffers["parameters"], (self.words,)))

    def gradients(self) -> dict[str, Array]:
        """The gradients of the last step, by the names of their parameters."""
        return self._split(read(self.buffers["gradients"], (self.words,)))

    def _split(self, flat: Array) -> dict[str, Array]:
        """Views of a buffer's numbers (words,): one parameter each, by name."""
        views = {}
        for name, shape in self.shapes.items():
            offset = self._offsets[name]
            views[name] = flat[offset : offset + prod(shape)].reshape(shape)
        return views

    def load_parameters(self, parameters: Mapping[str, Array]) -> None:
        """Take parameters by name; the velocities become zero.

        Numbers of another float dtype are rounded to float32. Raises TypeError for another kind of dtype, ValueError
        where a parameter is missing, unknown, of another shape, not finite or too large for float32; nothing is taken
        then.
        """
        _check_parameters(parameters, self.shapes)
        flat = np.zeros(self.words, np.float32)
        for name, view in self._split(flat).items():
            view[...] = parameters[name]
        self.restore((flat, np.zeros(self.words, np.float32)))

    def state(self) -> tuple[Array, Array]:
        """All parameters and velocities as they lie in their buffers: what `restore` takes."""
        shape = (self.words,)
        return read_together([(self.buffers["parameters"], shape), (self.buffers["velocities"], shape)])

    @in_turn
    def restore(self, state: tuple[Array, Array]) -> None:
        """Take parameters and velocities as `state` gave them: NaN and infinity as they are.

        Raises TypeError or ValueError for what is not two float32 arrays of this network's size; nothing is taken then.
        """
        if not isinstance(state, tuple | list) or len(state) != 2:
            raise ValueError("state: it must be two arrays, parameters and velocities, as `state()` returns them")
        named = dict(zip(("parameters", "velocities"), state, strict=True))
        for name, flat in named.items():
            check_tensor("network", name, flat, "words")
            check_shape("network", name, flat, (self.words,), lambda: "the layers")
        for name, flat in named.items():
            write(self.buffers[name], flat)


class Workspace:
    """A network's tensors on the GPU by name, and its passes in order, for one size of batch.

    Attributes
    ----------
    steps : tuple of Step
        The whole step in the order in which it runs: the layers forward, the loss, the layers backward.
    all_steps : tuple of Step
        The same, and the gradient of the images, which training leaves out.
    buffers : dict of buffers
        Each tensor by its name, such as "conv1.output" or "fc1.grad_weight".
    """

    def __init__(self, network: Network, batch: int) -> None:
        self.network = network
        self.batch = batch
        for name, size in network.values.items():
            require_binding(4 * batch * prod(size), name)
        self.logits = list(network.values)[-1]
        forward = self._forward_steps()
        backward = self._backward_steps()
        self.all_steps = (*forward, self._loss_step(), *backward)
        self.steps = self.all_steps
        if backward[-1].tensors[-1] == "grad_images":
            self.steps = self.all_steps[:-1]
        self._forward = len(forward)  # steps
        self.buffers = network.slices()
        self.sizes: dict[str, Size] = {}
        for step in self.all_steps:
            self._make_buffers(step)

    def _inputs(self) -> list[tuple[Layer, str, Size]]:
        """Each layer with the name of its input and the size of one item of it."""
        inputs = self.network.values.items()  # and the output of the last layer, which no layer reads
        return [(layer, name, size) for layer, (name, size) in zip(self.network.layers, inputs, strict=False)]

    def _forward_steps(self) -> list[Step]:
        """The steps of all layers, from the first one to the last."""
        steps = []
        for layer, name, size in self._inputs():
            steps += layer.forward(name, size, self.batch)
        return steps

    def _loss_step(self) -> Step:
        """The step that computes the losses and the gradient of the logits."""
        tensors = self.logits, "labels", "losses", gradient_of(self.logits)
        return Step("loss", CROSS_ENTROPY, LossShape(self.batch, self.network.classes), tensors)

    def _backward_steps(self) -> list[Step]:
        """The steps of all layers, from the last one back to the first."""
        steps = []
        for layer, name, size in reversed(self._inputs()):
            steps += layer.backward(name, size, self.batch)
        return steps

    def _make_buffers(self, step: Step) -> None:
        """Make the buffers of a step's tensors that no step before it had."""
        for name, tensor in zip(step.tensors, step.operation.tensors, strict=True):
            if name not in self.sizes:
                self.sizes[name] = step.shape.of(tensor)
            if name not in self.buffers:
                self.buffers[name] = empty(4 * prod(self.sizes[name]), name)

    @cached_property
    def forward(self) -> tuple[Pass, ...]:
        """From the images to the logits."""
        return self._prepared(self.steps[: self._forward])

    @cached_property
    def backward(self) -> tuple[Pass, ...]:
        """From the logits to the loss and all gradients of parameters; made at the first use, as is `to_images`."""
        return self._prepared(self.steps[self._forward :])

    @cached_property
    def to_images(self) -> tuple[Pass, ...]:
        """From the gradient of the first layer's output to that of the images, which training leaves out."""
        return self._prepared(self.all_steps[len(self.steps) :])

    def _prepared(self, steps: Sequence[Step]) -> tuple[Pass, ...]:
        passes = []
        for step in steps:
            passes += self.passes(step)
        return tuple(passes)

    def passes(self, step: Step) -> tuple[Pass, ...]:
        """The passes of a step, without labels: they share one compute pass."""
        kernel = self.network.kernels.get(step.operation.name, version_for_a_long_run(step, self.batch))
        buffers = [self.buffers[name] for name in step.tensors]
        passes = prepared(step.operation, buffers, step.shape, kernel)
        return tuple(replace(dispatch, label="") for dispatch in passes)

    def fill(self, images: Array, labels: Array | None = None) -> None:
        """Copy a batch to the GPU: images (batch, C, H, W) and labels (batch,) that `check_batch` has accepted."""
        write(self.buffers["images"], images)
        if labels is not None:
            write(self.buffers["labels"], labels.astype(np.uint32))

    def compute(self, images: Array, labels: Array) -> None:
        """Run all steps over a batch, also to the gradient of the images; no parameter is updated."""
        check_batch(self.network, images, labels)
        if len(images) != self.batch:
            raise ValueError(f"network: {len(images)} images: this workspace is for a batch of {self.batch}")
        with turn(self.network):
            self.fill(images, labels)
            run(*self.forward, *self.backward, *self.to_images)

    def tensor(self, name: str) -> Array:
        """One tensor of the last step by its name, such as "conv2.grad_output"."""
        if name not in list(self.sizes):  # in a list, as what cannot be hashed is refused, too
            raise ValueError(f"name = {name!r}: it must be one of {', '.join(self.sizes)}")
        dtype = np.uint32 if name == "labels" else np.float32
        return read(self.buffers[name], self.sizes[name], dtype)


# --- Checks ------------------------------------------------------------------------------------


def _check_parameters(parameters: Mapping[str, Array], shapes: Mapping[str, Size]) -> None:
    if not isinstance(parameters, Mapping):
        rule = "it must be a dict of arrays by name, as `parameters()` returns it"
        raise TypeError(f"parameters is a {type(parameters).__name__}: {rule}")
    for name, shape in shapes.items():
        if name not in parameters:
            raise ValueError(f"parameters: {name} {shape} is missing: they are of another network")
        _check_parameter(name, parameters[name], shape)
    for name in parameters:
        if name not in shapes:
            raise ValueError(f"parameters: this network has no {name}: they are of another network")


def _check_parameter(name: str, array: Array, shape: Size) -> None:
    if not isinstance(array, np.ndarray) or isinstance(array, np.ma.MaskedArray):
        raise TypeError(f"parameters: {name} is a {type(array).__name__}: it must be a plain NumPy array")
    if array.shape != shape:
        raise ValueError(f"parameters: {name} has shape {array.shape}: in this network it is {shape}")
    if array.dtype.kind != "f":
        raise TypeError(f"parameters: {name} has dtype {array.dtype}: it must be of floats, such as float32")
    check_finite("parameters", name, array)


def check_images(network: Network, images: Array) -> None:
    """Refuse images that the network cannot read, by the place of the first bad one.

    Raises TypeError for another dtype, ValueError for another shape or a number that is not finite.
    """
    if not isinstance(network, Network):
        raise TypeError(f"network is a {type(network).__name__}: it must be a Network")
    size = network.values["images"]
    axes = "N C H W" if len(size) == 3 else "N features"
    check_tensor("network", "images", images, axes)
    if images.shape[1:] != size:
        raise ValueError(f"network: images has shape {images.shape}: it must be (N, {str(size)[1:]}")
    check_finite("network", "images", images)


def check_batch(network: Network, images: Array, labels: Array) -> None:
    """Refuse images as `check_images` does, and labels that are not one class for each of them."""
    check_images(network, images)
    check_labels("network", labels, LossShape(len(images), network.classes), f"{len(images)} images")
