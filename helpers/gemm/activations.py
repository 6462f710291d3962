"""Pictures of the six activations: their curves and derivatives, and where a formula that is right on paper fails."""

from collections.abc import Callable
from math import ceil, floor
from typing import NamedTuple

import numpy as np

from helpers.gemm import reference
from helpers.gemm.reference import CUBE, ROOT
from helpers.pictures.canvas import BLUE, GRAY, INK, LINE, ORANGE, Box, Line, Picture, Word, number, tint

WIDTH = 960
STEPS = 60  # tenths from 0 to either end of the x axis
NAMES = tuple(reference.ACTIVATIONS)
FORMULAS = {
    "none": "act(x) = x",
    "relu": "act(x) = max(x, 0)",
    "gelu": "act(x) = x · sigmoid(2u), with u = 0.798 (x + 0.0447 x³)",
    "silu": "act(x) = x · sigmoid(x)",
    "sigmoid": "act(x) = 1 / (1 + exp(−x))",
    "tanh": "act(x) = tanh(x)",
}


class Plot(NamedTuple):
    """A place on the sheet with a scale: x from -6 to 6, y from `low` to `high`, a tick at every `step`."""

    left: float
    low: float
    high: float
    step: float

    @property
    def box(self) -> Box:
        """Where it lies on the sheet."""
        return Box(self.left, 88, 390, 330)

    def at(self, x, y):
        """Where the point (x, y) lies."""
        box = self.box
        right = box.x + (np.asarray(x) + 6) / 12 * box.width
        return right, box.y + (self.high - np.asarray(y)) / (self.high - self.low) * box.height

    def ticks(self) -> np.ndarray:
        """The heights that have a number."""
        return np.arange(ceil(self.low / self.step), floor(self.high / self.step) + 1) * self.step


class ActivationsPicture(Picture):
    """An activation beside its derivative, with a marker at one x and the tangent that the derivative is about."""

    def __init__(self) -> None:
        self.drawn = None
        super().__init__(WIDTH, 460)

    def show(self, act: int, tenths: int) -> "ActivationsPicture":
        """Move to activation number `act` and to x = tenths / 10."""
        if self.drawn != act:
            self._draw_still(NAMES[act])
            self.drawn = act
        self._move(NAMES[act], tenths / 10)
        return self

    def _draw_still(self, name: str) -> None:
        self.clear()
        x = np.linspace(-6, 6, 12 * 20 + 1)
        y, derivative = reference.act(x, name), reference.derivative(x, name)
        step = 0.5 if y.max() <= 1 else 2
        self.curve = Plot(54, min(floor(y.min() / step), -0.5) * step, ceil(y.max() / step) * step, step)
        self.derivative = Plot(540, -0.25, 1.25, 0.25)
        self.words([Word(20, 22, f"{name}: {FORMULAS[name]}", 17, "left")], weight="bold")
        for plot, values, color in ((self.curve, y, BLUE), (self.derivative, derivative, ORANGE)):
            self._draw_axes(plot)
            self._draw_curve(plot, x, values, color)
        self._make_moving_parts()

    def _draw_axes(self, plot: Plot) -> None:
        left, bottom = plot.box.x, plot.box.y + plot.box.height
        marks = range(-6, 7, 2)
        self.boxes([plot.box])
        self.lines([Line(*plot.at(x, plot.low), *plot.at(x, plot.high)) for x in marks], LINE, 0.6)
        self.lines([Line(*plot.at(-6, y), *plot.at(6, y)) for y in plot.ticks()], LINE, 0.6)
        self.lines([Line(*plot.at(-6, 0), *plot.at(6, 0)), Line(*plot.at(0, plot.low), *plot.at(0, plot.high))], GRAY)
        self.words((Word(plot.at(x, 0)[0], bottom + 16, number(x), 13) for x in marks), GRAY)
        self.words((Word(left - 8, plot.at(0, y)[1], number(y), 13, "right") for y in plot.ticks()), GRAY)

    def _draw_curve(self, plot: Plot, x: np.ndarray, y: np.ndarray, color: str) -> None:
        right, down = plot.at(x, y)
        points = np.column_stack([right[:-1], down[:-1], right[1:], down[1:]])
        jumps = np.abs(np.diff(y)) > 0.9  # relu's derivative has no value between 0 and 1
        self.lines(points[~jumps], color, 3).set_capstyle("round")

    def _make_moving_parts(self) -> None:
        self.cross = self.moves(self.lines(color=INK, line=1))
        self.tangent = self.moves(self.lines(color=ORANGE, line=2))
        self.tangent.set_linestyle((0, (4, 2)))
        self.points = self.moves(self.boxes(edge=INK, face=INK, line=1))
        self.value = self.moves(self.words(color=BLUE, weight="bold"))
        self.rise = self.moves(self.words(color=ORANGE, weight="bold"))

    def _move(self, name: str, x: float) -> None:
        y, derivative = (float(function(x, name)) for function in (reference.act, reference.derivative))
        places = [(plot, plot.at(x, value)) for plot, value in ((self.curve, y), (self.derivative, derivative))]
        self.cross.put(Line(right, plot.box.y, right, plot.box.y + plot.box.height) for plot, (right, _) in places)
        self.points.put(Box(right - 5, down - 5, 10, 10) for _, (right, down) in places)
        self.tangent.put([self._tangent(x, y, derivative)])
        self.value.put([Word(self.curve.left, 62, f"act({number(x)}) = {number(y)}", 16, "left")])
        self.rise.put(
            [Word(self.derivative.left, 62, f"derivative act′({number(x)}) = {number(derivative)}", 16, "left")]
        )
        self.sentence = (
            f"{name} at x = {number(x)}: act(x) = {number(y)}, and its derivative is {number(derivative)}, so an upstream "
            f"gradient of 1 goes on as {number(derivative)}."
        )

    def _tangent(self, x: float, y: float, derivative: float) -> Line:
        """A piece of the tangent, cut off where it would leave the plot."""
        ends = [-2.0, 2.0]
        ends = np.clip(ends, -6 - x, 6 - x)
        if derivative:
            reach = sorted(((self.curve.low - y) / derivative, (self.curve.high - y) / derivative))
            ends = np.clip(ends, *reach)
        (left, right), (top, bottom) = self.curve.at(x + ends, y + derivative * ends)
        return Line(left, top, right, bottom)


# --- Where a formula fails ----------------------------------------------------------------------------------


class Tail(NamedTuple):
    """A quantity at one x, a formula that is right on paper, and one that is also right in float32."""

    quantity: str
    x: float
    naive: str
    naive_of: Callable[[np.float32], np.float32]
    stable: str
    stable_of: Callable[[np.float32], np.float32]
    true_of: Callable[[np.float64], np.float64]


def _gelu_derivative(x):
    """gelu's derivative as the product rule on x (1 + tanh u) / 2 writes it, in the precision of x."""
    root, cube = x.dtype.type(ROOT), x.dtype.type(CUBE)
    t = np.tanh(root * (x + cube * x * x * x))
    return (1 + t) / 2 + x / 2 * (1 - t * t) * root * (1 + 3 * cube * x * x)


def _hyperbolic(x):
    return (np.exp(x) - np.exp(-x)) / (np.exp(x) + np.exp(-x))


def _sigmoid(x):
    """sigmoid as the kernels write it: exp only of numbers up to 0, so that it cannot overflow."""
    e = np.exp(-np.abs(x))
    return np.where(x > 0, np.ones_like(e), e) / (1 + e)


def _stable_gelu_derivative(x):
    """gelu's derivative as the kernel writes it, with z = 2u."""
    t = np.clip(x, *x.dtype.type([-11, 11]))
    root, cube = x.dtype.type(2 * ROOT), x.dtype.type(CUBE)
    z, dz = root * t * (1 + cube * t * t), root * (1 + 3 * cube * t * t)
    return _sigmoid(z) * (1 + t * dz * _sigmoid(-z))


TAILS = (
    Tail(
        "silu",
        100,
        "x · exp(x) / (1 + exp(x))",
        lambda x: x * np.exp(x) / (1 + np.exp(x)),
        "x · σ(x), with exp(−|x|) in σ",
        lambda x: x * _sigmoid(x),
        lambda x: reference.act(x, "silu"),
    ),
    Tail(
        "tanh",
        100,
        "(exp(x) − exp(−x)) / (exp(x) + exp(−x))",
        _hyperbolic,
        "σ(2x) − σ(−2x)",
        lambda x: _sigmoid(2 * x) - _sigmoid(-2 * x),
        lambda x: reference.act(x, "tanh"),
    ),
    Tail(
        "derivative of gelu",
        3e38,
        "(1 + t) / 2 + x (1 − t²) u′ / 2, with t = tanh(u)",
        _gelu_derivative,
        "σ(z) (1 + x z′ σ(−z)), x cut to ±11, z = 2u",
        _stable_gelu_derivative,
        lambda x: reference.derivative(x, "gelu"),
    ),
    Tail(
        "derivative of sigmoid",
        20,
        "s · (1 − s), with s = sigmoid(x)",
        lambda x: reference.sigmoid(x) * (1 - reference.sigmoid(x)),
        "σ(x) · σ(−x)",
        lambda x: _sigmoid(x) * _sigmoid(-x),
        lambda x: reference.derivative(x, "sigmoid"),
    ),
    Tail(
        "derivative of tanh",
        10,
        "1 − tanh(x)²",
        lambda x: 1 - np.tanh(x) * np.tanh(x),
        "4 σ(2x) σ(−2x)",
        lambda x: 4 * _sigmoid(2 * x) * _sigmoid(-2 * x),
        lambda x: reference.derivative(x, "tanh"),
    ),
)


def tails() -> Picture:
    """A table of five formulas that are right on paper and wrong in float32, each above one that is right in both."""
    found = [_computed(tail) for tail in TAILS]
    picture = Picture(WIDTH, 72 + 68 * len(TAILS))
    places = 20, 250, 640, 800
    heads = zip(places, ("quantity, at x", "formula", "in float32", "true value"), strict=True)
    picture.words((Word(x, 28, text, 15, "left") for x, text in heads), weight="bold")
    tops = [52 + 68 * i for i in range(len(TAILS))]
    picture.lines((Line(20, top, WIDTH - 20, top) for top in tops), LINE, 1)
    rows = list(zip(tops, TAILS, found, strict=True))
    picture.words(Word(20, top + 22, f"{t.quantity}, x = {number(t.x)}", 15, "left") for top, t, _ in rows)
    picture.words(Word(250, top + y, f, 15, "left") for top, t, _ in rows for y, f in ((22, t.naive), (48, t.stable)))
    picture.words(Word(800, top + 22, number(true), 15, "left") for top, _, (_, _, true) in rows)
    for y, which in ((22, 0), (48, 1)):
        _draw_verdicts(picture, [(top + y, values[which], values[2]) for top, _, values in rows])
    broken = [
        f"{t.quantity} at {number(t.x)} becomes {number(v[0])}, not {number(v[2])}"
        for t, v in zip(TAILS, found, strict=True)
    ]
    picture.sentence = f"Right on paper, wrong in float32: {'; '.join(broken)}."
    return picture


def _draw_verdicts(picture: Picture, values: list[tuple[float, float, float]]) -> None:
    """Write each value with its mark: a cross and a box where it is wrong, a check mark where it is right."""
    wrong = [(y, value) for y, value, true in values if not is_right(value, true)]
    right = [(y, value) for y, value, true in values if is_right(value, true)]
    picture.boxes((Box(632, y - 12, 128, 24) for y, _ in wrong), ORANGE, tint(ORANGE), 2)
    for rows, mark, color in ((wrong, "✗", ORANGE), (right, "✓", BLUE)):
        picture.words((Word(640, y, f"{mark}  {number(value)}", 15, "left") for y, value in rows), color, "bold")


def _computed(tail: Tail) -> tuple[float, float, float]:
    """The value of both formulas in float32, and the true one."""
    with np.errstate(all="ignore"):
        x = np.float32(tail.x)
        return float(tail.naive_of(x)), float(tail.stable_of(x)), float(tail.true_of(np.float64(tail.x)))


def is_right(value: float, true: float) -> bool:
    """Whether a float32 value is within a ten-thousandth of the true one; nan never is."""
    return abs(value - true) <= 1e-4 * abs(true)
