"""Lesson 06: one layer learns to read digits by the reader's kernels, and each of its steps is kept."""

from collections.abc import Callable

import numpy as np

from helpers.data import digits
from helpers.pictures.canvas import BLUE, MARGIN, Box, Picture, a_digit
from helpers.pictures.charts import Axes
from helpers.pictures.figures import draw_ink, draw_signed, explain
from helpers.pictures.parts import Bars, look
from helpers.widgets.controls import by_playing
from helpers.widgets.explorer import Explorer

Array = np.ndarray
Product = Callable[[Array, Array], Array]

# pixels; digits to learn from; the share to be read right
SIDE = 14
SEEN = 400
STEPS = 20
RATE = 1.0
ENOUGH = 0.7
# CSS pixels: of a class, from one to the next; where the lower half begins
PIXEL = 5
PANEL = 82
LOWER = 166


def explorer(forward: Product, grad_weight: Product, whose: str) -> Explorer:
    """A slider through the steps; `forward` makes a @ b, `grad_weight` a^T @ grad, and `whose` names their kernels."""
    picture = OneLayer(learned(forward, grad_weight), whose)
    enough = int((picture.right_of_all < ENOUGH).sum())
    steps = {
        "Play: ten images appear.": by_playing({"step": STEPS}),
        "Find the first step that reads 7 digits in 10.": {"step": enough},
        "Find a digit that is misread at the last step.": lambda v: v["step"] == STEPS and not picture.reads(**v),
    }
    rules = {"step": STEPS + 1, "digit": 100}
    return Explorer(picture.show, rules, {"digit": 3}, front=[*rules], play="step", steps=steps, pace=250)


def learned(forward: Product, grad_weight: Product) -> Array:
    """The weights (196, 10) of each step, from zeros on, without a bias; the loss is cross-entropy."""
    a, labels = _pixels(0, SEEN)
    truth = np.eye(10)[labels]
    weight = np.zeros((SIDE**2, 10), np.float32)
    weights = [weight]
    for _ in range(STEPS):
        scores = forward(a, weight)
        exponentials = np.exp(scores - scores.max(1, keepdims=True))
        softmax = exponentials / exponentials.sum(1, keepdims=True)
        grad = np.float32((softmax - truth) / SEEN)
        weight = weight - np.float32(RATE) * grad_weight(a, grad)
        weights.append(weight)
    return np.array(weights)


def _pixels(first: int, end: int) -> tuple[Array, Array]:
    """Some digits of 14 x 14 pixels from 0 to 1, each the mean of four, in rows; and what they are."""
    ink, labels = digits.load()
    in_fours = ink[first:end].reshape(-1, SIDE, 2, SIDE, 2)
    small = in_fours.mean((2, 4)) / 255
    rows = small.reshape(-1, SIDE**2)
    return np.float32(rows), labels[first:end]


class OneLayer(Picture):
    """The weights of each class as an image, how many unseen digits are read right, and one of them."""

    def __init__(self, weights: Array, whose: str) -> None:
        super().__init__(340)
        self.weights = weights
        self.whose = whose
        self.ink, self.labels = _pixels(SEEN, SEEN + 500)
        self.scores = self.ink @ weights  # (step, digit, class)
        is_right = self.scores.argmax(2) == self.labels
        self.right_of_all = is_right.mean(1)
        self.bold(MARGIN, 14, "weight: a column of b for each class, as an image", 15, look("weight").ink)
        explain(self, 560, 14, {"above 0": 0.6, "below 0": -0.6}, 92)
        self.panels = [Box(MARGIN + PANEL * i, 34, SIDE * PIXEL, SIDE * PIXEL) for i in range(10)]
        self.label(self.panels, range(10), down=SIDE * PIXEL / 2 + 12)
        self.bold(560, LOWER - 6, "unseen digits read right", 15, BLUE)
        self.chart = Axes(self, Box(604, LOWER + 14, 206, 120), (0, STEPS), (0, 1))
        self.chart.rows({share / 10: f"{share}0 %" for share in (2, 4, 6, 8)})
        self.chart.columns({0: "step 0"} | {step: str(step) for step in (5, 10, 15, 20)})
        self.chart.curve(np.arange(STEPS + 1), self.right_of_all, BLUE)
        self.stands_still()

    def reads(self, step: int, digit: int) -> bool:
        """Return whether a digit is read right after some steps."""
        return bool(self.scores[step, digit].argmax() == self.labels[digit])

    def draw(self, step: int, digit: int) -> str:
        """Go to one step, and look at one unseen digit."""
        images = self.weights[step].T.reshape(10, SIDE, SIDE)
        largest = abs(self.weights[-1]).max() / 2
        for box, image in zip(self.panels, images, strict=True):
            draw_signed(self, image, box, largest)
        self.bold(MARGIN, LOWER - 6, f"digit {digit}, unseen", 15)
        sheet = Box(MARGIN, LOWER + 14, 112, 112)
        draw_ink(self, self.ink[digit].reshape(SIDE, SIDE), sheet, 1)
        scores = self.scores[step, digit]
        says = "nothing yet"
        if step > 0:
            says = a_digit(int(scores.argmax()))
        box = Box(160, LOWER + 10, 370, 110)
        Bars(self, scores, box, -6, 8, range(10), f"ten scores: {says}", decimals=0)
        self.chart.mark(step, self.right_of_all[step], BLUE)
        begin = f"Step {step} of {STEPS}:"
        if step == 0:
            return f"{begin} all weights are 0, and so are the scores. The products are those of {self.whose}."
        percent = round(100 * self.right_of_all[step])
        share = f"{percent} % of {len(self.labels)} unseen digits are read right"
        return f"{begin} {share}. Digit {digit} is {a_digit(self.labels[digit])}, and is read as {says}."
