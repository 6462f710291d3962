"""Pictures with sliders. Every state that the sliders can reach is a valid one, and each is also said in words."""

import html
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import ipywidgets
import numpy as np

from helpers import ops
from helpers.draw import Picture
from helpers.draw_conv import WeightGradientPicture
from helpers.draw_threads import ProductsPicture, ThreadsPicture, TreePicture
from helpers.shapes import ConvShape
from helpers.wgsl import load

Values = dict[str, int]
Rule = Callable[[Values], tuple[int, int]]  # the limits of one value, from those before it


class Explorer(ipywidgets.VBox):
    """One picture, a slider with a number box for each value, and one sentence that says what is seen.

    Parameters
    ----------
    draw : callable
        Takes the values by name and returns the picture, which it redraws in place.
    rules : mapping of name to rule
        The limits of each value, computed from the values before it; a value that no longer fits moves to the limit.
    values : mapping of name to int
        Where the sliders start.
    breaks : names
        Values with which a new row of sliders begins.

    The stored output of a cell is the picture and its sentence, so that they are there before anything runs.
    """

    def __init__(
        self, draw: Callable[..., Picture], rules: Mapping[str, Rule], values: Values, breaks: Sequence[str] = ()
    ) -> None:
        self._draw, self._rules, self._values, self._settling = draw, rules, dict(values), False
        self._values = self._allowed(values)
        self._picture = draw(**self._values)
        width, height = f"{self._picture.width}px", f"{self._picture.height}px"
        fit = {"max_width": "calc(100% - 4px)", "object_fit": "contain", "object_position": "left top"}
        layout = ipywidgets.Layout(width=width, height=height, flex="0 0 auto", **fit)
        self._image = ipywidgets.Image(format="png", layout=layout)
        self._words = ipywidgets.HTML()
        self._boxes = {name: _number_box(name) for name in rules}
        length = min(300, max(64, self._picture.width // len(rules) - 130))  # CSS pixels
        self._sliders = {name: _slider(box, length) for name, box in self._boxes.items()}
        pairs = [ipywidgets.HBox([self._boxes[name], self._sliders[name]]) for name in rules]
        starts = [0, *(i for i, name in enumerate(rules) if name in breaks), len(rules)]
        wrap = ipywidgets.Layout(flex_flow="row wrap", max_width=width)
        rows = [ipywidgets.Box(pairs[i:j], layout=wrap) for i, j in pairwise(starts)]
        super().__init__([*rows, self._image, self._words])
        self.set(**values)
        for box in self._boxes.values():
            box.observe(lambda change: self._settling or self.set(), "value")

    @property
    def sentence(self) -> str:
        """What the picture shows now."""
        return self._picture.sentence

    @property
    def values(self) -> Values:
        """Where the sliders stand."""
        return dict(self._values)

    def set(self, **values: int) -> str:
        """Move sliders from code; returns the new sentence.

        Raises ValueError for a name that has no slider.
        """
        if unknown := set(values) - set(self._rules):
            raise ValueError(f"{', '.join(sorted(unknown))}: the sliders are {', '.join(self._rules)}")
        self._settle({name: values.get(name, box.value) for name, box in self._boxes.items()})
        self._picture = self._draw(**self._values)
        self._image.value = self._picture.png()
        self._words.value = f'<p role="status" aria-live="polite">{html.escape(self.sentence)}</p>'
        return self.sentence

    def _allowed(self, wanted: Values) -> Values:
        """The nearest allowed values, in the order of the rules."""
        allowed = dict(wanted)
        for name, rule in self._rules.items():
            low, high = rule(allowed)
            allowed[name] = min(max(allowed[name], low), high)
        return allowed

    def _settle(self, wanted: Values) -> None:
        """Give every slider its limits and the nearest allowed value."""
        self._values, self._settling = self._allowed(wanted), True
        for name, rule in self._rules.items():
            low, high = rule(self._values)
            for control in (self._boxes[name], self._sliders[name]):
                with control.hold_trait_notifications():
                    control.min, control.max, control.value = low, high, self._values[name]
                control.disabled = low == high
        self._settling = False

    def _repr_mimebundle_(self, **kwargs) -> tuple[dict, dict]:
        data, metadata = self._picture._repr_mimebundle_()
        return super()._repr_mimebundle_(**kwargs) | data, metadata


def _number_box(name: str) -> ipywidgets.BoundedIntText:
    layout = ipywidgets.Layout(width="108px")
    return ipywidgets.BoundedIntText(description=name, layout=layout, style={"description_width": "54px"})


def _slider(box: ipywidgets.BoundedIntText, length: int) -> ipywidgets.IntSlider:
    layout = ipywidgets.Layout(width=f"{length}px", margin="2px 4px")
    slider = ipywidgets.IntSlider(readout=False, layout=layout)
    ipywidgets.link((box, "value"), (slider, "value"))
    return slider


def upto(limit: int) -> Rule:
    """The rule 0 <= value < limit."""
    return lambda values: (0, limit - 1)


# --- The weight gradient ----------------------------------------------------------------------------------


def weight_gradient(input: np.ndarray, grad_output: np.ndarray) -> Explorer:
    """Sliders kh and kw over one image and one pair of channels, with the pixels named by letters.

    Parameters
    ----------
    input : float32 array (1, 1, H, W)
    grad_output : float32 array (1, 1, oH, oW)
    """
    shape = _plain(input, grad_output)
    grad_weight = ops.conv2d_grad_weight(input, shape.weight, grad_output)
    picture = WeightGradientPicture(shape, input, grad_output, grad_weight, letters=True)
    return Explorer(picture.show, {"kh": upto(shape.kernel_h), "kw": upto(shape.kernel_w)}, {"kh": 0, "kw": 0})


def _plain(input: np.ndarray, grad_output: np.ndarray) -> ConvShape:
    """The sizes of one image and one pair of channels, with stride 1 and no padding; refuses anything else."""
    for name, array in (("input", input), ("grad_output", grad_output)):
        if array.shape[:2] != (1, 1):
            raise ValueError(f"{name} has shape {array.shape}: it must be one image of one channel, (1, 1, ., .)")
    return ConvShape.between(input.shape, grad_output.shape)


ANY_SHAPE: dict[str, Rule] = {
    "N": lambda v: (1, 3),
    "Ci": lambda v: (1, 3),
    "Co": lambda v: (1, 3),
    "H": lambda v: (1, 7),
    "W": lambda v: (1, 7),
    "stride": lambda v: (1, 3),
    "padding": lambda v: (0, 2),
    "kH": lambda v: (1, min(5, v["H"] + 2 * v["padding"])),
    "kW": lambda v: (1, min(5, v["W"] + 2 * v["padding"])),
    "n": lambda v: (0, v["N"] - 1),
    "co": lambda v: (0, v["Co"] - 1),
    "ci": lambda v: (0, v["Ci"] - 1),
    "kh": lambda v: (0, v["kH"] - 1),
    "kw": lambda v: (0, v["kW"] - 1),
}


def any_weight_gradient(seed: int = 0, **values: int) -> Explorer:
    """Sliders for every size, stride and padding, and for every index, over small random whole numbers."""
    pictures: dict[ConvShape, WeightGradientPicture] = {}

    def draw(N, Ci, Co, H, W, stride, padding, kH, kW, n, co, ci, kh, kw) -> Picture:
        shape = ConvShape(N, Ci, H, W, Co, kH, kW, stride, padding, padding)
        if shape not in pictures:
            pictures.clear()  # one at a time: the last shape is the only one on the screen
            pictures[shape] = _random_picture(shape, seed)
        return pictures[shape].show(kh, kw, co, ci, n)

    start = {"N": 2, "Ci": 2, "Co": 3, "H": 5, "W": 7, "stride": 1, "padding": 0, "kH": 3, "kW": 3}
    return Explorer(draw, ANY_SHAPE, {**dict.fromkeys(ANY_SHAPE, 0), **start, **values}, breaks=("stride", "n"))


def _random_picture(shape: ConvShape, seed: int) -> WeightGradientPicture:
    random = np.random.default_rng(seed)
    input = random.integers(0, 5, shape.input).astype(np.float32)
    grad_output = random.choice([-1, 1, 2, 3], shape.output).astype(np.float32)  # no zeros, which look like nothing
    padding = shape.padding_h, shape.padding_w
    grad_weight = ops.conv2d_grad_weight(input, shape.weight, grad_output, shape.stride, padding)
    return WeightGradientPicture(shape, input, grad_output, grad_weight)


# --- How threads share the work -----------------------------------------------------------------------------


def threads(shape: ConvShape) -> Explorer:
    """One slider over the threads of the first workgroup, each of which owns one weight, or none."""
    picture = ThreadsPicture(shape)
    return Explorer(picture.show, {"thread": upto(256)}, {"thread": 37})


def products(shape: ConvShape, count: int = 256) -> Explorer:
    """One slider over `count` threads that share one weight's products."""
    picture = ProductsPicture(shape, count)
    return Explorer(picture.show, {"thread": upto(count)}, {"thread": 37})


def tree(input: np.ndarray, grad_output: np.ndarray, count: int = 16) -> Explorer:
    """One slider over the halvings of the partial sums of `count` threads, for the weight at kh = kw = 0.

    Parameters
    ----------
    input : float32 array (1, 1, H, W)
    grad_output : float32 array (1, 1, oH, oW)
    count : int
        Threads, a power of two; the kernel really runs with so many.
    """
    shape = _plain(input, grad_output)
    kernel = load("conv2d_grad_weight", "2_workgroup_per_weight").with_constants(THREADS=count)
    grad_weight = ops.conv2d_grad_weight(input, shape.weight, grad_output, kernel=kernel)
    products = (input[0, 0, : shape.out_h, : shape.out_w].astype(float) * grad_output[0, 0]).ravel()
    partial = [float(products[t::count].sum()) for t in range(count)]
    picture = TreePicture(partial, float(grad_weight[0, 0, 0, 0]))
    return Explorer(picture.show, {"step": upto(len(picture.steps))}, {"step": len(picture.steps) - 1})
