"""Pictures of a network to touch: a digit on its way, any number opened, a run seen live and rewound, the mistakes."""

from collections.abc import Sequence

import numpy as np

from helpers.data.digits import seen_and_unseen
from helpers.network.live import Live, Unseen
from helpers.network.network import Network as Net
from helpers.network.network import check_batch
from helpers.network.pictures.curves import FiltersPicture
from helpers.network.pictures.mistakes import MOST as MISTAKES
from helpers.network.pictures.mistakes import Mistake, MistakesPicture
from helpers.network.pictures.network import NetworkPicture
from helpers.network.pictures.opened import OpenedPicture
from helpers.network.pictures.softmax import SoftmaxPicture
from helpers.network.reference import cross_entropy, softmax
from helpers.network.trace import NetworkTrace, moved
from helpers.network.training import Training, check_training
from helpers.turns import turn
from helpers.widgets.explorer import Explorer

Array = np.ndarray

MOST = 20  # digits of one picture
FRAMES, PACE = 60, 200  # about this many pictures of a run that is played; milliseconds of each


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
        images, labels = (digits[:10] for digits in seen_and_unseen()[:2])
    picture = NetworkPicture(_traces(net or Net(seed=0), images, labels))
    forward = len(picture.columns) - 1
    steps = {
        "Play: the gradient walks back.": {"step": picture.last},
        "Set step to 0, and play again.": {"step": 1},
        "Point at a map of a gradient.": lambda v: v["tensor"] > forward + 1,
    }
    rules = {
        "digit": len(images),
        "step": picture.last + 1,
        "tensor": lambda v: v["step"] + 1,
        "map": lambda v: picture.maps(v["tensor"]),
    }
    start = {"step": forward} | values
    return Explorer(picture.show, rules, start, play="step", front=["step"], steps=steps)


def loss_of_logits(right: int = 3) -> Explorer:
    """Ten logits to drag, the probabilities that the softmax makes of them, and the gradient of the loss for each."""
    logits = np.array([0.5, -1, 0.2, 1, -0.5, 2, -2, 0, 0.4, -0.3])
    steps = {
        "Drag logits until the loss is below 0.1.": lambda v: cross_entropy(v["logits"][None], [v["right"]])[0] < 0.1,
        "Drag one bar until the two largest are equal.": lambda v: np.ptp(np.sort(v["logits"])[-2:]) < 0.05,
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
    for axis, own in enumerate(place):
        rules[own] = lambda v, axis=axis: picture.maps(v["tensor"])[axis]
    last = len(picture.names) - 1
    steps = {
        "Point at a number in its map.": lambda v: (v["row"], v["column"]) != (place["row"], place["column"]),
        "Click a map at the right: walk back.": lambda v: v["tensor"] < tensor,
        f"Set tensor to {last}: a pixel's gradient.": {"tensor": last},
    }
    return Explorer(picture.show, rules, {"tensor": tensor, **place}, steps=steps)


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
        "Play the run to its end: when do the filters take shape?": {"step": last},
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
        "Point at a digit: would you have read it?": lambda v: v["mistake"] > 0,
        "Find the digit of which the network is least sure.": {"mistake": len(shown) - 1},
    }
    return Explorer(picture.show, {"mistake": len(shown)}, play="mistake", steps=steps)
