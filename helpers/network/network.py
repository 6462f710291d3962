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
from itertools import accumulate
from math import prod, sqrt

import numpy as np

from helpers.checks.arguments import as_int, check_shape, check_size, check_tensor
from helpers.data.turns import in_turn, turn
from helpers.gpu import Pass, adapter_info, empty, read, run
from helpers.gpu.buffers import ALIGNMENT, Slice, read_together, require_binding, write
from helpers.network.construction import (
    SMALLER,
    Kernels,
    Replacement,
    checked_kernels,
    checked_layers,
    checked_size,
    checked_values,
)
from helpers.network.ink import warn_of_inverted_ink
from helpers.network.layers import DIGIT, LENET, Layer, Size, Step, gradient_of
from helpers.operations.network.operations import CROSS_ENTROPY, INITIALIZE, SGD, check_finite, check_labels
from helpers.operations.network.shapes import LossShape, StartShape, UpdateShape
from helpers.operations.operation import Operation, Shape
from wgsl import Kernel

# Training runs each kernel thousands of times: on a software adapter, too, versions pay that compile for seconds. A few
# images at a time are only looked at.
FEW_IMAGES = 8
LONG_RUNS = {
    "conv2d_grad_weight": "5_register_windows",
    "conv2d_grad_input": "6_register_windows",
    "gemm_bias_act": "6_registers_only",
    "gemm_bias_act_backward": "4_registers_only",
}

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
        self.layers, self.kernels = checked_layers(layers), checked_kernels(kernels)
        self.values = checked_values(self.layers, checked_size(input_size))
        self.shapes = {
            f"{layer.name}.{own}": shape
            for layer, size in zip(self.layers, self.values.values(), strict=False)
            for own, shape in layer.parameters(size).items()
        }
        step = ALIGNMENT // 4  # in words: a slice begins at a multiple of it
        room = [-(-prod(shape) // step) * step for shape in self.shapes.values()]
        self.words, self._offsets = sum(room), [*accumulate(room, initial=0)]
        self._check_words()
        self.buffers = {name: empty(4 * self.words, name) for name in ("parameters", "gradients", "velocities")}
        self._workspaces: dict[int, Workspace] = {}
        self.initialize(seed)

    def _check_words(self) -> None:
        """Refuse a network that has nothing to train, or more parameters than a buffer holds."""
        if not self.words:
            names = [layer.name for layer in self.layers]
            raise ValueError(f"layers = {names}: none of them has weights to train: add a Conv2d or a Linear")
        require_binding(4 * self.words, "the buffer of all parameters", SMALLER)

    @property
    def classes(self) -> int:
        """How many classes the network tells apart."""
        return prod([*self.values.values()][-1])

    def slices(self) -> dict[str, Slice]:
        """Each parameter and its gradient, by name, as a part of the network's buffers."""
        found = {}
        for (name, shape), offset in zip(self.shapes.items(), self._offsets, strict=False):
            for own, buffer in (name, "parameters"), (gradient_of(name), "gradients"):
                found[own] = Slice(self.buffers[buffer], 4 * offset, 4 * prod(shape))
        return found

    @in_turn
    def initialize(self, seed: int = 0) -> None:
        """Start anew: numbers from -1/sqrt(terms) to 1/sqrt(terms) of each sum, as PyTorch's layers; no velocity."""
        slices, passes = self.slices(), []
        for stream, (name, shape) in enumerate(self.shapes.items()):
            weight = self.shapes[f"{name.partition('.')[0]}.weight"]
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
        return prepared(SGD, [*self.buffers.values()], shape, self.kernels.get(SGD.name))

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
        run(*space.forward, *space.backward, *(update if learning_rate else ()))
        return float(space.tensor("losses").mean())

    @in_turn
    def logits(self, images: Array, batch: int = 250) -> Array:
        """The network's outputs for images (N, C, H, W), computed `batch` images at a time: (N, classes)."""
        check_images(self, images)
        check_size("batch", as_int(batch))
        found = []
        for first in range(0, len(images), batch):
            some = images[first : first + batch]
            space = self.workspace(len(some))
            space.fill(some)
            run(*space.forward)
            found.append(space.tensor(space.logits).reshape(len(some), self.classes))
        return np.concatenate(found)

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
        places = zip(self.shapes.items(), self._offsets, strict=False)
        return {name: flat[offset : offset + prod(shape)].reshape(shape) for (name, shape), offset in places}

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
        return read_together([(self.buffers[name], (self.words,)) for name in ("parameters", "velocities")])

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
    """What a network needs for one size of batch: its tensors on the GPU by name, and its passes in order.

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
        self.network, self.batch = network, batch
        for name, size in network.values.items():
            require_binding(4 * batch * prod(size), name)
        self.logits = [*network.values][-1]
        walk = [*zip(network.layers, network.values.items(), strict=False)]
        forward = [step for layer, input in walk for step in layer.forward(*input, batch)]
        backward = [step for layer, input in reversed(walk) for step in layer.backward(*input, batch)]
        tensors = self.logits, "labels", "losses", gradient_of(self.logits)
        loss = Step("loss", CROSS_ENTROPY, LossShape(batch, network.classes), tensors)
        self.all_steps = (*forward, loss, *backward)
        self.steps = self.all_steps[:-1] if backward[-1].tensors[-1] == "grad_images" else self.all_steps
        self._forward = len(forward)  # steps
        self.buffers, self.sizes = network.slices(), {}
        for step in self.all_steps:
            for name, own in zip(step.tensors, step.operation.tensors, strict=True):
                self.sizes.setdefault(name, step.shape.of(own))
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
        return sum(map(self.passes, steps), ())

    def passes(self, step: Step) -> tuple[Pass, ...]:
        """The passes of a step, without labels: they share one compute pass."""
        kernel = self.network.kernels.get(step.operation.name, _for_a_long_run(step, self.batch))
        buffers = [self.buffers[name] for name in step.tensors]
        return tuple(replace(each, label="") for each in prepared(step.operation, buffers, step.shape, kernel))

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
        if name not in [*self.sizes]:
            raise ValueError(f"name = {name!r}: it must be one of {', '.join(self.sizes)}")
        dtype = np.uint32 if name == "labels" else np.float32
        return read(self.buffers[name], self.sizes[name], dtype)


# --- Which kernel computes a step -------------------------------------------------------------------------


def prepared(
    operation: Operation, buffers: Sequence, shape: Shape, kernel: str | Kernel | Replacement | None
) -> tuple[Pass, ...]:
    """The passes of an operation, by one of its versions, a kernel, or what takes its place."""
    if isinstance(kernel, str | Kernel | None):
        return operation.prepare(buffers, shape, kernel)
    return kernel.prepare(buffers, shape)


def _for_a_long_run(step: Step, batch: int) -> str | None:
    """The version that is fastest once it is compiled; None where the operation's own choice is as good."""
    version = LONG_RUNS.get(step.operation.name)
    if version is None or batch <= FEW_IMAGES or not adapter_info().few_threads:
        return None
    return None if step.operation.problem(step.shape, version) else version


# --- Checks ------------------------------------------------------------------------------------


def _check_parameters(parameters: Mapping[str, Array], shapes: Mapping[str, Size]) -> None:
    if not isinstance(parameters, Mapping):
        rule = "it must be a dict of arrays by name, as `parameters()` returns it"
        raise TypeError(f"parameters is a {type(parameters).__name__}: {rule}")
    for name, shape in shapes.items():
        if name not in parameters:
            raise ValueError(f"parameters: {name} {shape} is missing: they are of another network")
        given = parameters[name]
        if not isinstance(given, np.ndarray) or isinstance(given, np.ma.MaskedArray):
            raise TypeError(f"parameters: {name} is a {type(given).__name__}: it must be a plain NumPy array")
        if given.shape != shape:
            raise ValueError(f"parameters: {name} has shape {given.shape}: in this network it is {shape}")
        if given.dtype.kind != "f":
            raise TypeError(f"parameters: {name} has dtype {given.dtype}: it must be of floats, such as float32")
        check_finite("parameters", name, given)
    if unknown := [name for name in parameters if name not in shapes]:
        raise ValueError(f"parameters: this network has no {unknown[0]}: they are of another network")


def check_images(network: Network, images: Array) -> None:
    """Refuse images that the network cannot read, by the place of the first bad one.

    Raises TypeError for another dtype, ValueError for another shape or a number that is not finite.
    """
    if not isinstance(network, Network):
        raise TypeError(f"network is a {type(network).__name__}: it must be a Network")
    size = network.values["images"]
    check_tensor("network", "images", images, "N C H W" if len(size) == 3 else "N features")
    if images.shape[1:] != size:
        raise ValueError(f"network: images has shape {images.shape}: it must be (N, {str(size)[1:]}")
    check_finite("network", "images", images)


def check_batch(network: Network, images: Array, labels: Array) -> None:
    """Refuse images as `check_images` does, and labels that are not one class for each of them."""
    check_images(network, images)
    check_labels("network", labels, LossShape(len(images), network.classes), f"{len(images)} images")
