"""Pictures of a fused layer: the terms of its gradients, a product in tiles, activations, and formulas that fail."""

from collections.abc import Callable
from math import ceil, floor, prod
from typing import NamedTuple

import numpy as np

from helpers.gemm import reference
from helpers.gemm.indices import Cell, gemm_terms, tile_loads, tile_mates
from helpers.gemm.reference import CUBE, ROOT
from helpers.pictures.canvas import BLUE, GRAY, INK, LINE, ORANGE, PAPER, Box, Picture, Word, in_words, number, tint
from helpers.pictures.parts import MARGIN, Grid, conclusion, product_text, running_sum, side_by_side, table

# --- The terms of one element ---------------------------------------------------------------------------------


class Product(NamedTuple):
    """What one of the four products is called, what it multiplies, and its result."""

    title: str
    rule: str
    left: str
    right: str  # empty for a plain sum
    result: str


PRODUCTS = (
    Product("forward: pre = a @ b + bias", "a row of a times a column of b", "a", "b", "pre"),
    Product("gradient of a: d_a = grad_pre @ bᵀ", "a row of grad_pre times a row of b", "grad_pre", "b", "d_a"),
    Product("gradient of b: d_b = aᵀ @ grad_pre", "a column of a times a column of grad_pre", "a", "grad_pre", "d_b"),
    Product("gradient of bias: d_bias = grad_pre.sum(0)", "the sum of a column of grad_pre", "grad_pre", "", "d_bias"),
)
ELEMENTS = {  # one element as NumPy would say it
    "pre": "pre[{0},{1}] = a[{0},:] · b[:,{1}] + bias[{1}]",
    "d_a": "d_a[{0},{1}] = grad_pre[{0},:] · b[{1},:]",
    "d_b": "d_b[{0},{1}] = a[:,{0}] · grad_pre[:,{1}]",
    "d_bias": "d_bias[{1}] = grad_pre[:,{1}].sum()",
}


class GradientsPicture(Picture):
    """The four products of a relu layer on a small example: the terms of one element of the result.

    a (M, K), b (K, N), bias (N) and grad (M, N) have M and K up to 4 and N up to 5, otherwise ValueError; `returned`
    is what the GPU returned: pre (M, N), d_a (M, K), d_b (K, N) and d_bias (N).
    """

    def __init__(self, a, b, bias, grad, returned: dict[str, np.ndarray]) -> None:
        self.sizes = (*a.shape, b.shape[1])
        if any(size > most for size, most in zip(self.sizes, (4, 4, 5), strict=True)):
            raise ValueError(f"M, K, N = {self.sizes}: at most 4, 4 and 5 fit in the picture; take a smaller example")
        grad_pre = grad * reference.derivative(a @ b + bias, "relu")
        arrays = {"a": a, "b": b, "bias": bias, "grad_pre": grad_pre, **returned}
        self.matrices = {name: np.atleast_2d(values) for name, values in arrays.items()}
        super().__init__()

    def size(self, product: int) -> tuple[int, int]:
        """Rows and columns of a product's result."""
        return self.matrices[PRODUCTS[product].result].shape

    def show(self, product: int, row: int, column: int) -> "GradientsPicture":
        """Move to one element of the result of one of the PRODUCTS."""
        p = PRODUCTS[product]
        if self.starts(product):
            self._draw_grids(p)
            self.stands_still()
        terms = gemm_terms(p.result, self.sizes, row, column)
        cells = {name: [t[side] for t in terms] for side, name in enumerate((p.left, p.right)) if name}
        factors = [[float(self.matrices[name][found[i]]) for name, found in cells.items()] for i in range(len(terms))]
        if p.right:
            self.grids[p.left].factors({t.left: pair[1] for t, pair in zip(terms, factors, strict=True)})
        if p.result == "pre":
            cells["bias"] = [(0, column)]
            factors.append([float(self.matrices["bias"][0, column])])
        for name, found in cells.items():
            self.grids[name].mark(found)
        self.grids[p.result].mark([(row, column)], BLUE)
        element, returned = ELEMENTS[p.result].format(row, column), self.matrices[p.result][row, column]
        self.write(MARGIN, 46, f"{p.rule}:   {element}", 15)
        texts, products = [product_text(*term) for term in factors], [prod(term) for term in factors]
        total = conclusion(self, running_sum(texts, products), sum(products), returned)
        terms = " + ".join(f"({text})" if text[0] == "−" else text for text in texts)
        self.sentence = f"{element} = {terms} = {total}; the GPU returned {number(returned)}."
        return self

    def _draw_grids(self, p: Product) -> None:
        self.write(MARGIN, 18, p.title, 17, weight="bold")
        names, signs = [name for name in (p.left, p.right, p.result) if name], "•=" if p.right else "="
        matrices = [self._matrix(p, name) for name in names]
        self.grids = dict(zip(names, side_by_side(self, matrices, signs, 66, self.height - 154), strict=True))
        if p.result == "pre":
            b = self.grids["b"]
            self.grids["bias"] = bias = Grid(self, self.matrices["bias"], b.x, b.bottom + 14, (b.width, b.height))
            self.write(b.x - 10, bias.box(0, 0).middle[1], "+ bias", 15, weight="bold", align="right")

    def _matrix(self, p: Product, name: str) -> tuple:
        values = self.matrices[name]
        note = f"{len(values)} × {values.shape[1]}" if name != "d_bias" else str(values.shape[1])
        if name == "grad_pre":
            return values, name, f"{note}, grad · relu′(pre)", ORANGE, "bold"
        if f" {name}ᵀ" in p.title:  # drawn as it is in memory
            note += ", used transposed"
        return values, name, note, BLUE if name == p.result else INK


# --- A product in tiles ---------------------------------------------------------------------------------------

TILE, WRITE = 4, 4
PHASES = ("load", "barrier", "multiply", "barrier", "write")  # four for each pair of tiles; WRITE is the last step
CELL, SLOT, MEMORY = (21, 20), (42, 42), (466, 650)  # CSS pixels: cells of a matrix and of a tile; where tiles begin


class TilesPicture(Picture):
    """One workgroup of a product a @ b: its tiles move along K, and one of its threads loads, waits and multiplies.

    `result` (M, N) is what the GPU returned for a (M, K) @ b (K, N); the workgroup is the one of its last tile.
    ValueError where the matrices, or numbers in a or b, are too large for the sheet.
    """

    def __init__(self, a, b, result) -> None:
        (m, k), n = a.shape, b.shape[1]
        if m not in (4, 8) or n not in (4, 8) or not 9 <= k <= 12:
            raise ValueError(f"M, K, N = {m, k, n}: the picture has room for M and N of 4 or 8, and K of 9 to 12")
        for name, matrix in (("a", a), ("b", b)):
            if not np.isin(matrix, range(-9, 10)).all():
                raise ValueError(f"{name} has elements other than -9, -8, ... 9: a cell has room for one digit")
        self.result, self.corner, self.firsts = result, (m - TILE, n - TILE), range(0, k, TILE)
        self.moves = [(first, phase) for first in self.firsts for phase in range(4)] + [(self.firsts[-1], WRITE)]
        self.steps, past = len(self.moves), -k % TILE  # past: how many zeros fill the last tile
        self.operands = {
            "a": np.pad(a, ((0, 0), (0, past)), constant_values=np.nan),
            "b": np.pad(b, ((0, past), (0, 0)), constant_values=np.nan),
        }
        super().__init__(484)
        self.starts()
        left, top = 2 * MARGIN + (k + past) * CELL[0], 72 + (k + past) * CELL[1]
        self.grids = {
            "a": Grid(self, self.operands["a"], MARGIN, top, CELL, f"a  {m} × {k}"),
            "b": Grid(self, self.operands["b"], left, 36, CELL, f"b  {k} × {n}"),
            "result": Grid(self, result, left, top, CELL, f"a @ b  {m} × {n}", color=BLUE, numbers=False),
        }
        self._mark_tile("result", self.corner, BLUE)
        self._draw_steps_and_memory()
        self.stands_still()

    def _mark_tile(self, name: str, corner: Cell, color: str) -> None:
        self.boxes([self.grids[name].box(*corner, TILE, TILE)], color, tint(color), 3)

    def _draw_steps_and_memory(self) -> None:
        self.write(MARGIN, 20, "what each thread does", 15, weight="bold")
        for step, (first, phase) in enumerate(self.moves):
            y = 46 + 18 * step
            self.write(MARGIN, y, f"k {first} to {first + TILE - 1}" * (phase == 0), 13, GRAY)
            self.write(114, y, str(step), 13, GRAY, align="right")
            self.write(126, y, PHASES[phase], 13)
        names, empty = zip(MEMORY, ("left tile, from a", "right tile, from b"), strict=True), np.zeros((TILE, TILE))
        self.memory = [Grid(self, empty, x, 74, SLOT, name, numbers=False) for x, name in names]
        slots = [slot for grid in self.memory for slot in enumerate(grid.boxes)]
        self.words((Word(box.x + 5, box.y + 10, str(i), 12, "left") for i, box in slots), GRAY)
        self.write(MEMORY[0], 258, "small: the slot, and the thread that loads it", 13, GRAY)

    def show(self, step: int, thread: int) -> "TilesPicture":
        """Show what one thread does in one step."""
        self.starts()
        first, phase = self.moves[step]
        self.boxes([Box(92, 37 + 18 * step, 104, 18)], ORANGE, tint(ORANGE), 2)
        if phase == WRITE:
            self.write(MEMORY[0], 20, f"thread {thread} is done", 15, weight="bold")
        else:
            self._mark_tile("a", (self.corner[0], first), ORANGE)
            self._mark_tile("b", (first, self.corner[1]), ORANGE)
            self._fill_memory(thread, first, phase)
        owned = self.corner[0] + thread // TILE, self.corner[1] + thread % TILE
        box = self.grids["result"].box(*owned)
        self.boxes([box._replace(x=box.x - 2, width=box.width + 4)], ORANGE, PAPER, 3)
        self.write(*box.middle, f"t{thread}", 12, ORANGE, "bold", "middle")
        self.sentence = f"Step {step}, {PHASES[phase]}: {self._say(thread, first, phase, owned)}"
        return self

    def _fill_memory(self, thread: int, first: int, phase: int) -> None:
        """Write what the thread can be sure of, and mark the slots that the step is about."""
        self.write(MEMORY[0], 20, f"workgroup memory as thread {thread} sees it", 15, weight="bold")
        for grid, mates, values in zip(self.memory, tile_mates(TILE, thread), self._tiles(first), strict=True):
            self.boxes((grid.boxes[i] for i in (mates if phase in (1, 2) else [thread])), ORANGE, tint(ORANGE), 4)
            texts = [number(value) if phase > 0 or i == thread else "?" for i, value in enumerate(values)]
            self.words(Word(box.x + 25, box.y + 28, text, 16) for box, text in zip(grid.boxes, texts, strict=True))

    def _tiles(self, first: int) -> list[np.ndarray]:
        """The values of both tiles, slot by slot, with 0 past the edge."""
        loads = zip(*(tile_loads(TILE, self.corner, first, thread) for thread in range(TILE**2)), strict=True)
        return [np.nan_to_num([self.operands[name][c] for c in cells]) for name, cells in zip("ab", loads, strict=True)]

    def _terms(self, thread: int, first: int) -> list[tuple[float, float]]:
        """What the thread multiplies in one turn: its row of the left tile and its column of the right one."""
        (left, right), (row, column) = self._tiles(first), tile_mates(TILE, thread)
        return list(zip(left[row].tolist(), right[column].tolist(), strict=True))

    def _sum(self, thread: int, end: int) -> float:
        """The thread's sum over all tiles that begin before k = `end`."""
        return sum(x * y for first in self.firsts if first < end for x, y in self._terms(thread, first))

    def _fill_table(self, thread: int, first: int, phase: int, element: str) -> str:
        """Write the terms of the turn, if they are multiplied, and the thread's sum, which is returned as written."""
        terms = self._terms(thread, first) if phase >= PHASES.index("multiply") else []
        sums = running_sum((product_text(*t) for t in terms), [prod(t) for t in terms], self._sum(thread, first))
        columns = [(str(k), text, total) for k, (text, _, total) in enumerate(sums, first)]
        if terms:
            table(self, ("k", "term", "running sum"), columns, Box(MEMORY[0] - 10, 296, 372, 78))
        total, so_far = number(self._sum(thread, first + len(terms))), " so far" * (phase < WRITE)
        self.write(MEMORY[0], 404, f"thread {thread} owns {element}; sum{so_far}: {total}", 14.5, BLUE)
        return total

    def _say(self, thread: int, first: int, phase: int, owned: Cell) -> str:
        """What the thread does, once its sum is written; each phase in words of its own."""
        element, returned = f"(a @ b)[{owned[0]},{owned[1]}]", number(self.result[owned])
        total = self._fill_table(thread, first, phase, element)
        if phase == WRITE:
            self.write(MEMORY[0], 432, f"the GPU returned: {returned}", 14.5, BLUE)
            return f"thread {thread} alone writes {element} = {total}; the GPU returned {returned}."
        if PHASES[phase] == "barrier":
            return self._wait(thread, first, phase)
        return (self._multiply if phase else self._load)(thread, first)

    def _load(self, thread: int, first: int) -> str:
        cells, loads = tile_loads(TILE, self.corner, first, thread), []
        for (name, matrix), (y, x) in zip(self.operands.items(), cells, strict=True):
            value = "0 (past the edge)" if np.isnan(matrix[y, x]) else number(matrix[y, x])
            loads.append(f"{name}[{y},{x}] = {value}")
        return f"thread {thread} loads {' and '.join(loads)}. It cannot see whether the other 15 threads are done."

    def _multiply(self, thread: int, first: int) -> str:
        terms = " + ".join(product_text(*term) for term in self._terms(thread, first))
        before, after = (number(self._sum(thread, end)) for end in (first, first + TILE))
        return f"thread {thread} adds {terms} to its sum, {before}, and gets {after}. Both tiles are loaded."

    def _wait(self, thread: int, first: int, phase: int) -> str:
        row, column = (in_words("thread", mates) for mates in tile_mates(TILE, thread))
        if phase < PHASES.index("multiply"):
            reads = f"thread {thread} is about to read what {row} loaded on the left and {column} on the right."
            risk = "cells of the last tiles" if first else "whatever was in memory before"
            return f"{reads} Without this barrier it could multiply {risk}."
        if first == self.firsts[-1]:
            return "no tile follows, so nothing could be overwritten; the loop makes all 16 threads wait once more."
        read = f"{row} read what thread {thread} loaded on the left, and {column} what it loaded on the right."
        return f"{read} Without this barrier it could overwrite its cells while a slower thread still multiplies."


# --- Activations ----------------------------------------------------------------------------------------------

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

    box: Box
    low: float
    high: float
    step: float

    def at(self, x, y):
        """Where the point (x, y) lies."""
        left, top, width, height = self.box
        return left + (x + 6) / 12 * width, top + (self.high - y) / (self.high - self.low) * height

    def line(self, x0: float, y0: float, x1: float, y1: float) -> tuple[float, ...]:
        """A line between two points."""
        return *self.at(x0, y0), *self.at(x1, y1)

    def draw(self, picture: Picture, x: np.ndarray, y: np.ndarray, color: str) -> None:
        """The axes, and a curve with a gap where y jumps, as relu's derivative does."""
        across, up = range(-6, 7, 2), np.arange(ceil(self.low / self.step), self.high / self.step + 0.5) * self.step
        picture.boxes([self.box])
        grid = [self.line(v, self.low, v, self.high) for v in across] + [self.line(-6, v, 6, v) for v in up]
        picture.lines(grid, LINE, 0.6)
        picture.lines([self.line(-6, 0, 6, 0), self.line(0, self.low, 0, self.high)])
        picture.words((Word(self.at(v, 0)[0], self.box.y + self.box.height + 16, number(v), 13) for v in across), GRAY)
        picture.words((Word(self.box.x - 8, self.at(0, v)[1], number(v), 13, "right") for v in up), GRAY)
        jumps = np.abs(np.diff(y, prepend=y[0])) > 0.9
        picture.curve(*self.at(x, np.where(jumps, np.nan, y)), color)

    def tangent(self, x: float, y: float, derivative: float) -> tuple[float, ...]:
        """A piece of the line through (x, y) with that derivative, cut off where it would leave the plot."""
        ends = np.clip([-2.0, 2.0], -6 - x, 6 - x)
        if derivative:
            ends = np.clip(ends, *sorted(((self.low - y) / derivative, (self.high - y) / derivative)))
        return self.line(x + ends[0], y + derivative * ends[0], x + ends[1], y + derivative * ends[1])


class ActivationsPicture(Picture):
    """An activation beside its derivative, with a marker at one x and the tangent that the derivative is about."""

    def show(self, act: int, tenths: int) -> "ActivationsPicture":
        """Move to activation number `act` and to x = tenths / 10."""
        name, x = NAMES[act], tenths / 10
        if self.starts(act):
            self._draw_curves(name)
            self.stands_still()
        y, derivative = values = [float(of(x, name)) for of in (reference.act, reference.derivative)]
        self.lines((plot.line(x, plot.low, x, plot.high) for plot in self.plots), INK, 1)
        self.lines([self.plots[0].tangent(x, y, derivative)], ORANGE, 2.4, (8, 4))
        curves = zip(self.plots, ("act", "derivative act′"), values, (BLUE, ORANGE), strict=True)
        for plot, what, value, color in curves:
            right, down = plot.at(x, value)
            self.boxes([Box(right - 5, down - 5, 10, 10)], INK, INK)
            self.write(plot.box.x, 62, f"{what}({number(x)}) = {number(value)}", 16, color, "bold")
        self.sentence = (
            f"{name} at x = {number(x)}: act(x) = {number(y)}, and its derivative is {number(derivative)}, "
            f"so an upstream gradient of 1 goes on as {number(derivative)}."
        )
        return self

    def _draw_curves(self, name: str) -> None:
        x = np.linspace(-6, 6, 12 * 20 + 1)
        y = reference.act(x, name)
        step = 0.5 if y.max() <= 1 else 2
        low, high = min(floor(y.min() / step), -0.5) * step, ceil(y.max() / step) * step
        self.plots = Plot(Box(46, 84, 350, 316), low, high, step), Plot(Box(470, 84, 350, 316), -0.25, 1.25, 0.25)
        self.write(MARGIN, 20, f"{name}: {FORMULAS[name]}", 17, weight="bold")
        self.plots[0].draw(self, x, y, BLUE)
        self.plots[1].draw(self, x, reference.derivative(x, name), ORANGE)


# --- Formulas that fail in float32 ----------------------------------------------------------------------------


class Formula(NamedTuple):
    """A quantity at one x, a formula that is right on paper, and one that is also right in float32."""

    quantity: str
    x: float
    naive: str
    stable: str

    def values(self) -> tuple[float, float, float]:
        """Both formulas in float32, and the reference in float64."""
        name = self.quantity.removeprefix("derivative of ")
        reference_of = reference.act if name == self.quantity else reference.derivative
        with np.errstate(all="ignore"):
            values = (of(np.float32(self.x)) for of in COMPUTED[self.quantity])
            return *map(float, values), float(reference_of(np.float32(self.x), name))


def _sigmoid(x):
    """sigmoid as the kernels write it: exp only of numbers up to 0, so that it cannot overflow."""
    e = np.exp(-np.abs(x))
    return np.where(x > 0, np.ones_like(e), e) / (1 + e)


def _naive_gelu_derivative(x):
    """gelu's derivative as the product rule on x (1 + tanh u) / 2 writes it, in the precision of x."""
    root, cube = x.dtype.type(ROOT), x.dtype.type(CUBE)
    t = np.tanh(root * (x + cube * x * x * x))
    return (1 + t) / 2 + x / 2 * (1 - t * t) * root * (1 + 3 * cube * x * x)


def _stable_gelu_derivative(x):
    """gelu's derivative as the kernel writes it, with z = 2u."""
    t = np.clip(x, *x.dtype.type([-11, 11]))
    root, cube = x.dtype.type(2 * ROOT), x.dtype.type(CUBE)
    z, dz = root * t * (1 + cube * t * t), root * (1 + 3 * cube * t * t)
    return _sigmoid(z) * (1 + t * dz * _sigmoid(-z))


UNSTABLE = (
    Formula("silu", 100, "x · exp(x) / (1 + exp(x))", "x · σ(x), with exp(−|x|) in σ"),
    Formula("tanh", 100, "(exp(x) − exp(−x)) / (exp(x) + exp(−x))", "σ(2x) − σ(−2x)"),
    Formula(
        "derivative of gelu",
        3e38,
        "(1 + t) / 2 + x (1 − t²) u′ / 2, t = tanh(u)",
        "σ(z) (1 + x z′ σ(−z)), x clamped to ±11, z = 2u",
    ),
    Formula("derivative of sigmoid", 20, "s · (1 − s), with s = sigmoid(x)", "σ(x) · σ(−x)"),
    Formula("derivative of tanh", 10, "1 − tanh(x)²", "4 σ(2x) σ(−2x)"),
)
COMPUTED: dict[str, tuple[Callable, Callable]] = {  # the same formulas, in the precision of x
    "silu": (lambda x: x * np.exp(x) / (1 + np.exp(x)), lambda x: x * _sigmoid(x)),
    "tanh": (
        lambda x: (np.exp(x) - np.exp(-x)) / (np.exp(x) + np.exp(-x)),
        lambda x: _sigmoid(2 * x) - _sigmoid(-2 * x),
    ),
    "derivative of gelu": (_naive_gelu_derivative, _stable_gelu_derivative),
    "derivative of sigmoid": (lambda x: _sigmoid(x) * (1 - _sigmoid(x)), lambda x: _sigmoid(x) * _sigmoid(-x)),
    "derivative of tanh": (lambda x: 1 - np.tanh(x) ** 2, lambda x: 4 * _sigmoid(2 * x) * _sigmoid(-2 * x)),
}


def unstable_formulas() -> Picture:
    """A table of five formulas that are right on paper and wrong in float32, each above one that is right in both."""
    picture, columns, broken = Picture(48 + 64 * len(UNSTABLE)), (MARGIN, 190, 560, 712), []
    heads = zip(columns, ("quantity, at x", "formula: textbook, kernel", "in float32", "in float64"), strict=True)
    picture.words((Word(x, 22, head, 15, "left") for x, head in heads), weight="bold")
    for i, formula in enumerate(UNSTABLE):
        top, at, (naive, stable, true) = 44 + 64 * i, number(formula.x), formula.values()
        picture.lines([(MARGIN, top, picture.width - MARGIN, top)], LINE, 1)
        rows = (formula.quantity, formula.naive, naive, number(true)), (f"x = {at}", formula.stable, stable, "")
        for y, (quantity, text, value, in_float64) in zip((top + 20, top + 44), rows, strict=True):
            right = is_right(value, true)
            color, sign = (BLUE, "✓") if right else (ORANGE, "✗")
            picture.boxes([Box(columns[2] - 8, y - 11, 130, 22)] * (not right), ORANGE, tint(ORANGE), 2)
            picture.write(columns[2], y, f"{sign}  {number(value)}", 14, color, "bold")
            for x, cell in zip(columns, (quantity, text, "", in_float64), strict=True):
                picture.write(x, y, cell)
        broken.append(f"{formula.quantity} at {at} becomes {number(naive)}, not {number(true)}")
    picture.sentence = f"Right on paper, wrong in float32: {'; '.join(broken)}."
    return picture


def is_right(value: float, true: float) -> bool:
    """Whether a float32 value is within a ten-thousandth of the true one; nan never is."""
    return abs(value - true) <= 1e-4 * abs(true)
