"""Lesson 03: a digit goes along the gradient of a small network's scores, until the network reads another digit."""

from collections.abc import Callable
from functools import cache

import numpy as np

from helpers.data import digits
from helpers.data.words import listed
from helpers.lessons.shared.edge_filters import TARGETS
from helpers.operations.convolution import operations
from helpers.operations.convolution.shapes import ConvShape
from helpers.pictures.canvas import BLUE, MARGIN, Box, Picture, number
from helpers.pictures.figures import draw_ink, draw_signed, explain
from helpers.pictures.parts import Bars, head
from helpers.widgets.controls import by_playing
from helpers.widgets.explorer import Explorer

Array = np.ndarray

LAYER = ConvShape(1, 1, 28, 28, 6, 5, 5)  # LeNet's first, for one digit; its filters find edges and lines
# the digit, what it shall become, and its place among the digits
READ = 9
WANTED = 3
WHERE = 489
# how many digits the scores are fitted to, and how strongly large weights are avoided
LEARNED = 300
SMOOTH = 1_000
# how far a step changes the pixel with the largest gradient, of 15 levels
STEPS = 40
LEVELS = 0.25
# CSS pixels
PIXEL = 7
TOP = 50


def explorer(grad_input: Callable[[Array, Array], Array], whose: str) -> Explorer:
    """A slider along the gradient; `grad_input` takes filters and an upstream gradient, `whose` names its kernel."""
    digit = digits.conv1_input(1, first=WHERE)

    @cache
    def picture(toward: int) -> ChangedDigit:
        return ChangedDigit(digit, grad_input(TARGETS, upstream(digit, toward)), toward, whose)

    def draw(step: int, toward: int) -> Picture:
        return picture(toward).show(step)

    to_wanted = picture(WANTED)
    turns = next(step for step in range(STEPS) if to_wanted.read(step) == WANTED)
    steps = {
        f"Play: when is it a {WANTED}?": by_playing(lambda v: v["toward"] == WANTED and v["step"] >= turns),
        f"Find the last step with a {READ}.": {"step": turns - 1, "toward": WANTED},
        "Set toward to 7, step to 40.": {"toward": 7, "step": STEPS},
    }
    rules = {"step": STEPS + 1, "toward": READ}
    return Explorer(draw, rules, {"toward": WANTED}, front=[*rules], play="step", steps=steps, pace=250)


def outputs_and_features(images: Array) -> tuple[Array, Array]:
    """The outputs of the convolution, and what the ReLU makes of them: a row of 3,456 features for each digit."""
    outputs = operations.conv2d(np.float32(images), TARGETS)
    return outputs, np.maximum(outputs, 0).reshape(len(images), -1) / 100


@cache
def second_layer() -> Array:
    """The weights of the ten scores, (10, 3456): least squares over the first digits."""
    _, features = outputs_and_features(digits.conv1_input(LEARNED))
    _, labels = digits.load()
    wanted = 100 * np.eye(10)[labels[:LEARNED]] - 10  # 90 for the digit that it is, -10 for the others
    features = features.astype(float)
    products = features @ features.T + SMOOTH * np.eye(LEARNED)
    of_digits = np.linalg.solve(products, wanted)
    return of_digits.T @ features


def upstream(digit: Array, toward: int) -> Array:
    """The gradient of the outputs, (1, 6, 24, 24), where the loss is one score minus that of the digit it is."""
    outputs, _ = outputs_and_features(digit)
    difference = second_layer()[toward] - second_layer()[READ]
    gradient = difference.reshape(outputs.shape) / 100
    return np.float32(np.where(outputs > 0, gradient, 0))


class ChangedDigit(Picture):
    """The digit as it is now, the gradient, and the ten scores."""

    def __init__(self, digit: Array, gradient: Array, toward: int, whose: str) -> None:
        super().__init__(278)
        self.digit = digit[0, 0]
        self.toward = toward
        self.whose = whose
        largest = abs(gradient).max() or 1
        self.gradient = gradient[0, 0] / largest
        side = 28 * PIXEL
        self.sheet = Box(MARGIN, TOP, side, side)
        self.map = Box(MARGIN + side + 24, TOP, side, side)
        draw_signed(self, self.gradient, self.map)
        head(self, self.sheet.x, TOP, "input", "28 × 28 pixels, 0 to 15")
        head(self, self.map.x, TOP, "grad_input", f"score of {toward} minus score of {READ}")
        explain(self, self.map.x, self.map.bottom + 16, {"above 0": 0.6, "below 0, hatched": -0.6}, 92, 3)
        self.stands_still()

    def changed(self, step: int) -> Array:
        """The digit after some steps; ink stays between 0 and 15."""
        return np.clip(self.digit + step * LEVELS * self.gradient, 0, 15)

    def scores(self, step: int) -> Array:
        """The ten scores after some steps."""
        image = self.changed(step)[None, None]
        _, features = outputs_and_features(image)
        return second_layer() @ features[0]

    def read(self, step: int) -> int:
        """The digit that the network reads after some steps."""
        return int(self.scores(step).argmax())

    def draw(self, step: int) -> str:
        """Go to one step."""
        draw_ink(self, self.changed(step), self.sheet, 15)
        scores = self.scores(step)
        box = Box(476, TOP + 6, 348, 28 * PIXEL - 36)
        read = int(scores.argmax())
        bars = Bars(self, scores, box, -40, 80, range(10), f"ten scores: it reads a {read}", decimals=0)
        bars.frame_bar(read, BLUE)
        two_scores = [f"{number(round(scores[k]))} for {k}" for k in (self.toward, READ)]
        change = "the digit itself"
        if step > 0:
            change = f"no pixel has changed by more than {number(step * LEVELS)} of 15 levels"
        return (
            f"Step {step} of {STEPS}: {change}. The scores are {listed(two_scores)}. "
            f"The gradient comes from {self.whose}."
        )
