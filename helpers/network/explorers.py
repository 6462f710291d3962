"""A training run that is watched, and one that is wound back."""

from helpers.network.live import Live, Unseen
from helpers.network.pictures.filters import FiltersPicture
from helpers.network.training import Training
from helpers.widgets.explorer import Explorer, below

FRAMES, PACE = 60, 200  # about so many pictures of a run that is played; milliseconds of each


def train(training: Training, epochs: float = 1, unseen: Unseen | None = None) -> Live:
    """Train in the background and show it: see `Live`. In a later cell, its `finish()` returns the trained training."""
    return Live(training, epochs, unseen)


def rewind(training: Training, step: int = 0) -> Explorer:
    """A slider through a run as it is recorded now: the first layer's filters and gradients, above the loss.

    `training.rewind(step)` goes back to a step, and training goes on from there.

    Raises ValueError where nothing is recorded, or the first layer is no convolution of one channel.
    """
    moments = [*training.moments]
    picture = FiltersPicture(moments, training.network.classes)
    last = len(moments) - 1
    worst = max(moments[1:] or moments, key=lambda moment: moment.loss).step
    leap = max(1, last // FRAMES)
    steps = {
        "Play the run: when do the filters take shape?": lambda values: values["step"] > last - leap,
        "Go to the step with the highest loss.": {"step": worst},
    }
    rules = {"step": below(last + 1)}
    return Explorer(picture.show, rules, {"step": step}, play="step", steps=steps, leap=leap, pace=PACE)
