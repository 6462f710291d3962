"""Pictures with sliders of gradients with dilation and groups."""

from dataclasses import replace
from functools import cache

from helpers.lessons.dilation_and_groups.exercises import PICTURE, shown
from helpers.lessons.shared.any_convolution import any_input_gradient, any_weight_gradient, computed
from helpers.lessons.shared.pictures.weight_gradient import WeightGradientPicture
from helpers.widgets.controls import Trials, by_pointing
from helpers.widgets.explorer import Explorer, Rule

TRY_TO_SPREAD: Trials = {
    "Point at all four weights: how far does the frame jump?": by_pointing({"dilation": 2, "kh": 1, "kw": 1}),
    "Set dilation to 1 and stride to 2: what is spread now?": {"dilation": 1, "stride": 2},
}
TRY_HOLES: Trials = {
    "Point at a pixel of row 3: what does the frame hold?": by_pointing({"stride": 2, "ih": 3}),
    "Set stride to 1: which holes are left?": {"stride": 1},
}
TRY_GROUPS: Trials = {
    "Move co from 1 to 2: which channel is read?": {"groups": 2, "co": 2},
    "Set groups to 4: how many values has ci left?": {"groups": 4},
    "Set groups to 1, and ci to 3.": {"groups": 1, "ci": 3},
}


def spread_filter() -> Explorer:
    """The gradient of a weight with a dilation: sliders over the steps, and the weights of one small filter."""

    @cache
    def picture(stride: int, dilation: int) -> WeightGradientPicture:
        layer = replace(PICTURE, stride=stride, dilation=dilation)
        grad_output, image = shown(layer)
        return computed(WeightGradientPicture, layer, {"input": image, "grad_output": grad_output}, letters=True)

    def draw(stride: int, dilation: int, kh: int, kw: int, product: int = 0) -> WeightGradientPicture:
        return picture(stride, dilation).show(kh, kw, product=product)

    rules: dict[str, Rule] = {"stride": (1, 2), "dilation": (1, 3), "kh": PICTURE.kernel_h, "kw": PICTURE.kernel_w}
    return Explorer(draw, rules, {"dilation": 2}, steps=TRY_TO_SPREAD)


def holes(**values: int) -> Explorer:
    """The gradient of a pixel with stride and dilation: sliders over the steps, and the pixels of one channel."""
    front = ("stride", "dilation", "ih", "iw")
    values = {"H": 7, "dilation": 2, "ih": 2, "iw": 2} | values
    return any_input_gradient(front, TRY_HOLES, **values)


def groups(**values: int) -> Explorer:
    """The gradient of a weight in groups: sliders over the groups, and over the channels of a weight."""
    values = {"groups": 2, "N": 1, "Ci": 4, "Co": 4, "W": 5} | values
    return any_weight_gradient(("groups", "co", "ci"), TRY_GROUPS, **values)
