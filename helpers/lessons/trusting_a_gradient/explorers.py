"""Pictures to touch: which data show a fault, and which step of a central difference is good."""

import numpy as np

from helpers.gpu import adapter_info
from helpers.lessons.trusting_a_gradient import errors
from helpers.lessons.trusting_a_gradient.pictures.errors import StepPicture, power_of_two
from helpers.lessons.trusting_a_gradient.pictures.matrix import CoveredPicture, catch_all, states_of
from helpers.lessons.trusting_a_gradient.tried import DATA, KERNELS
from helpers.widgets.controls import by_playing
from helpers.widgets.explorer import Explorer


def covered() -> Explorer:
    """Six wrong kernels by five kinds of data: fields to uncover, each of which says whether the fault shows."""
    steps = {
        "Find a fault that is caught.": lambda values: True in states_of(values["fields"]).values(),
        "Find one that is missed.": lambda values: False in states_of(values["fields"]).values(),
        "Open a column that catches all.": lambda values: bool(catch_all(states_of(values["fields"]))),
    }
    fields = np.zeros((len(KERNELS), len(DATA)))
    return Explorer(CoveredPicture(adapter_info().short).show, {}, arrays={"fields": fields}, steps=steps)


def step_size() -> Explorer:
    """One slider over the steps of a central difference in float32: how far off is it?"""
    picture = StepPicture(errors.convolution_differences(), errors.gelu_differences())
    curved = errors.gelu_differences().errors
    last = len(errors.STEPS) - 1
    steps = {
        "Press play: which error falls first, and which rises again?": by_playing({"step": last}),
        "Find the best step for GELU.": {"step": int(curved.argmin())},
        "Go to step 1: which curve belongs to rounding alone?": {"step": errors.STEPS.index(0)},
    }
    choices = {"step": [power_of_two(power) for power in errors.STEPS]}
    return Explorer(picture.show, {"step": last + 1}, play="step", choices=choices, steps=steps)
