"""Pictures of a network to touch: a digit on its way, any number opened, a run seen live and rewound, the mistakes."""

from collections.abc import Sequence

import numpy as np

from helpers.data.digits import seen_and_unseen
from helpers.data.turns import turn
from helpers.lessons.shared.pictures.curves import FiltersPicture
from helpers.lessons.train_lenet.live import Live, Unseen
from helpers.lessons.train_lenet.pictures.mistakes import MOST as MISTAKES
from helpers.lessons.train_lenet.pictures.mistakes import Mistake, MistakesPicture
from helpers.lessons.train_lenet.pictures.network import NetworkPicture
from helpers.lessons.train_lenet.pictures.opened import OpenedPicture
from helpers.lessons.train_lenet.pictures.softmax import SoftmaxPicture
from helpers.lessons.train_lenet.trace import NetworkTrace, moved
from helpers.network.network import Network as Net
from helpers.network.network import check_batch
from helpers.network.training import Training, check_training
from helpers.operations.convolution.shapes import ConvShape
from helpers.operations.network.reference import cross_entropy, softmax
from helpers.widgets.controls import Values, by_dragging, by_playing, by_pointing
from helpers.widgets.explorer import Explorer
from helpers.widgets.stepper import stepper
from wgsl import Kernel
from wgsl.simulator.run import simulate

Array = np.ndarray

MOST = 20  # digits of one picture
FRAMES = 60  # about this many pictures of a run that is played
PACE = 200  # milliseconds of each


def _traces(net: Net, images: Array, labels: Array) -> list[NetworkTrace]:
    """The tensors of each digit, read from the GPU now: touching a picture needs no GPU."""
    check_batch(net, images, labels)
    if len(images) > MOST:
        raise ValueError(f"{len(images)} images: a picture takes 1 to {MOST} digits")
    return [NetworkTrace(net, image, label) for image, label in zip(images, labels, strict=True)]


def network(net: Net | None = None, images: Array | None = None, labels: Array = (), **values: int) -> Explorer:
    """A slider over the steps of a digit's trace through a network and back, and what each layer makes of it.

    Parameters
    ----------
    net : Network
        As it is now: what is shown is read at once. Without one, a LeNet that nobody has trained.
    images, labels
        float32 (N, C, H, W) and integers (N,), up to 20 digits; the first ten of the data if not given.
    values
        Where the sliders start: digit, step, tensor, map.
    """
    if images is None:
        images, labels, *_ = seen_and_unseen()
        images = images[:10]
        labels = labels[:10]
    picture = NetworkPicture(_traces(net or Net(seed=0), images, labels))
    forward = len(picture.columns) - 1
    steps = {
        "Play: the gradient walks back.": by_playing({"step": picture.last}),
        "Set step to 0, and play again.": by_playing({"step": 1}),
        "Point at a map of a gradient.": by_pointing(lambda v: v["tensor"] > forward + 1),
    }
    rules = {
        "digit": len(images),
        "step": picture.last + 1,
        "tensor": lambda v: v["step"] + 1,
        "map": lambda v: picture.maps(v["tensor"]),
    }
    start = {"step": forward} | values
    choices = {"tensor": [picture.name(tensor) for tensor in range(picture.last + 1)]}
    return Explorer(picture.show, rules, start, play="step", front=["step"], choices=choices, steps=steps)


def loss_of_logits(right: int = 3) -> Explorer:
    """Ten logits to drag, the probabilities that the softmax makes of them, and the gradient of the loss for each."""
    logits = np.array([0.5, -1, 0.2, 1, -0.5, 2, -2, 0, 0.4, -0.3])

    def has_small_loss(values: Values) -> bool:
        (loss,), _ = cross_entropy(values["logits"][None], [values["right"]])
        return loss < 0.1

    def has_equal_tops(values: Values) -> bool:
        second, first = np.sort(values["logits"])[-2:]
        return first - second < 0.05

    steps = {
        "Drag logits until the loss is below 0.1.": by_dragging(has_small_loss),
        "Drag one bar until the two largest are equal.": by_dragging(has_equal_tops),
        "Choose another right class: what changes?": lambda v: v["right"] != right,
    }
    picture = SoftmaxPicture()
    return Explorer(picture.show, {"right": len(logits)}, {"right": right}, arrays={"logits": logits}, steps=steps)


def open_number(
    net: Net,
    images: Array,
    labels: Array,
    name: str = "conv1.grad_weight",
    index: Sequence[int] = (),
) -> Explorer:
    """Sliders over all numbers that a network computes for a digit, forward and backward: what is each one made of?

    Parameters
    ----------
    net, images, labels
        Those of `network`.
    name, index
        Which number is open at first, such as "conv1.grad_weight" and (3, 0, 2, 1): zeros if there is no index.
    """
    picture = OpenedPicture(_traces(net, images, labels))
    trace = picture.traces[0]
    trace.maker(name)  # refuses the name of what is not computed
    shape = trace.shapes[name]
    if index == ():
        index = (0,) * len(shape)
    index = trace.open(name, index).index  # refuses a place that is not there
    tensor = picture.names.index(name)
    place = dict(zip(("map", "row", "column"), moved(index, shape, picture.maps(tensor)), strict=True))
    rules = {"digit": len(images), "tensor": len(picture.names)}
    for axis, value in enumerate(place):
        rules[value] = lambda v, axis=axis: picture.maps(v["tensor"])[axis]
    last = len(picture.names) - 1

    def has_moved(values: Values) -> bool:
        return values["row"] != place["row"] or values["column"] != place["column"]

    steps = {
        "Point at a number in its map.": by_pointing(has_moved),
        "Click a map at the right: walk back.": lambda v: v["tensor"] < tensor,
        f"Choose {picture.names[last]}: a pixel's gradient.": {"tensor": last},
    }
    return Explorer(picture.show, rules, {"tensor": tensor, **place}, choices={"tensor": picture.names}, steps=steps)


def train(training: Training, epochs: float = 1, unseen: Unseen | None = None) -> Live:
    """Train in the background and show it: see `Live`. In a later cell, its `finish()` returns the trained training."""
    return Live(training, epochs, unseen)


def rewind(training: Training, step: int = 0) -> Explorer:
    """A slider through a run as it is recorded now: the first layer's filters and gradients, above the loss.

    `step` is where it starts.

    `training.rewind(step)` goes back to a step, and training goes on from there.

    Raises ValueError where nothing is recorded, or the first layer is no convolution of one channel.
    """
    check_training(training)
    moments = [*training.moments]
    picture = FiltersPicture(moments, training.network.classes)
    last = len(moments) - 1
    worst = max(moments[1:] or moments, key=lambda moment: moment.loss).step
    leap = max(1, last // FRAMES)
    steps = {
        "Play the run to its end: when do the filters take shape?": by_playing({"step": last}),
        "Go to the step with the highest loss.": {"step": worst},
    }
    return Explorer(picture.show, {"step": last + 1}, {"step": step}, play="step", steps=steps, leap=leap, pace=PACE)


def mistakes(net: Net, images: Array, labels: Array) -> Explorer:
    """A slider over the digits that a network gets wrong, the surest first, with the pixels that mattered.

    `images` float32 (N, 1, H, W) and `labels` (N,) are best digits that it has not learned from.

    Raises ValueError where all are right.
    """
    check_batch(net, images, labels)
    shares = softmax(net.logits(images))
    wrong = np.flatnonzero(shares.argmax(1) != labels)
    if not wrong.size:
        raise ValueError(f"all {len(images)} digits are right: give more of them, or train for fewer steps")
    shown = wrong[np.argsort(-shares.max(1)[wrong], kind="stable")][:MISTAKES]
    space = net.workspace(len(shown))
    with turn(net):
        space.compute(images[shown], labels[shown])
        gradients = len(shown) * space.tensor("grad_images")[:, 0]  # of each digit's own loss, not of their mean
    rows = zip(shown.tolist(), images[shown, 0], labels[shown].tolist(), shares[shown], gradients, strict=True)
    picture = MistakesPicture([Mistake(*row) for row in rows], len(wrong), len(images))
    steps = {
        "Point at a digit: would you have read it?": by_pointing(lambda v: v["mistake"] > 0),
        "Find the digit of which the network is least sure.": {"mistake": len(shown) - 1},
    }
    return Explorer(picture.show, {"mistake": len(shown)}, play="mistake", steps=steps)


def weight_steps(kernel: Kernel) -> Explorer:
    """Sliders through a simulated run of a kernel with a thread for each of 2 x 2 weights, over two images.

    "Next stop" goes on to where it has done with the first one, as a kernel that forgets the batch has with all.
    """
    shape = ConvShape(2, 1, 3, 3, 1, 2, 2)
    values = np.random.default_rng(0).integers(0, 4, 26).astype(np.float32)
    input = values[:18].reshape(shape.input)
    grad_output = values[18:].reshape(shape.output)
    ids = "  @builtin(workgroup_id) workgroup: vec3u,\n  @builtin(num_workgroups) grid: vec3u,\n"
    small = kernel.edit("@workgroup_size(256)", "@workgroup_size(4)")
    small = small.edit(ids, "\n\n")  # the same lines, but fewer words
    small = small.edit("(workgroup.y * grid.x + workgroup.x) * 256u + thread", "thread")
    arrays = grad_output, input, np.zeros(shape.weight, np.float32), np.array(shape.params(), np.uint32)
    trace = simulate(small, arrays, (1, 1, 1), watch=["n", "oh", "ow", "sum"])
    steps = {
        "Press next stop: image 0 is done.": {"step": 7},
        "Go to the last step: what was not read?": {"step": 9},
        "Point at thread 3.": by_pointing({"thread": 3}),
    }
    return stepper(
        trace,
        {"input": shape.input, "grad_output": shape.output, "grad_weight": shape.weight},
        only=("for (var n", "sum"),
        stop="n is 1",
        steps=steps,
    )
