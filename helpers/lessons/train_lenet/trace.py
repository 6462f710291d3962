"""One digit on its way through a network and back: every tensor, and what any number in it is made of.

The tensors are read from the GPU once. Here they are those of a single image, and have no axis for it: conv1.output of
LeNet is (6, 24, 24), and a gradient has the shape of what it is the gradient of.
"""

from collections.abc import Mapping
from functools import cached_property
from itertools import chain
from math import prod
from typing import NamedTuple

import numpy as np

from helpers.checks.arguments import as_int, check_shape, check_size, check_tensor
from helpers.checks.tolerance import SMALLEST_NORMAL
from helpers.data.turns import turn
from helpers.gpu.buffers import read_together
from helpers.lessons.train_lenet.indices import MADE, Factor, Term, pixels_of_window
from helpers.lessons.train_lenet.kernel_lines import Line, line_of
from helpers.network.layers import Step, gradient_of
from helpers.network.network import Network, Size
from helpers.operations.activations import act, derivative
from helpers.operations.network import check, reference
from helpers.pictures.canvas import number
from helpers.pictures.terms import product_text

Index = tuple[int, ...]
Place = tuple[str, Index]  # a tensor, and a place in it


class Row(NamedTuple):
    """One of the numbers that a number is made of: what it is, its factors and where they lie; or how it is called."""

    value: float
    factors: tuple[float, ...] = ()
    places: tuple[Place, ...] = ()
    name: str = ""

    @property
    def product(self) -> str:
        """The factors, as one writes them."""
        return product_text(*self.factors) if len(self.factors) > 1 else ""

    @property
    def label(self) -> str:
        """The factors by their names."""
        return self.name or " · ".join(written(*place) for place in self.places)


Finished = tuple[list[Row], str]  # the rows that count, and what is done with them


class Opened(NamedTuple):
    """One number, opened.

    Attributes
    ----------
    name, index : str, tuple of int
        The tensor, and the place in it.
    step : Step
        What computed it.
    rows : list of Row
        What it is made of: their sum is `total`. Of a maximum, the one row that won.
    total, result, returned : float
        In float64, from the rows alone; after the activation; and as the kernel wrote it.
    bound : float
        How far a right float32 sum of these rows may be from `result`.
    read : dict
        The places that were read, by tensor; also those that only decide, such as a window's other pixels.
    how : str
        In words, what is done with the rows.
    """

    name: str
    index: Index
    step: Step
    rows: list[Row]
    total: float
    result: float
    returned: float
    bound: float
    read: dict[str, list[Index]]
    how: str

    @property
    def label(self) -> str:
        """Its name as Python writes it."""
        return written(self.name, self.index)


def written(name: str, index: Index) -> str:
    """A number's name: conv1.grad_weight[3,0,2,1]."""
    return f"{name}[{','.join(map(str, index))}]"


class NetworkTrace:
    """All tensors of one digit, forward and backward, as the GPU computes them with the network as it is now.

    Parameters
    ----------
    network : Network
        Its parameters stay as they are; `network.gradients()` are this digit's afterwards.
    image, label
        float32 (C, H, W), and an int.
    """

    def __init__(self, network: Network, image: np.ndarray, label: int) -> None:
        if not isinstance(network, Network):
            raise TypeError(f"network is a {type(network).__name__}: it must be a Network")
        size = network.values["images"]
        check_tensor("network", "image", image, "C H W" if len(size) == 3 else "features")
        check_shape("network", "image", image, size, lambda: "the network's images")
        check_size("label", as_int(label), 0, network.classes - 1)
        self.network = network
        self.label = int(label)
        space = network.workspace(1)
        self.steps = space.all_steps
        self.shapes = _shapes(network)
        names = [name for name in space.sizes if name in self.shapes and name != "labels"]
        buffers_and_shapes = [(space.buffers[name], self.shapes[name]) for name in names]
        with turn(network):
            space.compute(image[None], np.array([label]))
            values = read_together(buffers_and_shapes)
        self.tensors: Mapping[str, np.ndarray] = dict(zip(names, values, strict=True))

    @cached_property
    def makers(self) -> dict[str, tuple[Step, str]]:
        """Each tensor that is computed, in this order, with the step that does it and the operation's name for it."""
        makers = {}
        for step in self.steps:
            for operand, name in zip(step.operation.tensors, step.tensors, strict=True):
                if (step.operation.name, operand) in MADE:
                    makers[name] = step, operand
        return makers

    def line(self, name: str) -> Line:
        """The kernel that computed a tensor and its line, in the version that runs here."""
        step, operand = self.maker(name)
        return line_of(step, operand, self.network.kernels.get(step.operation.name))

    def maker(self, name: str) -> tuple[Step, str]:
        """Return the step that computes a tensor, and the operation's name for it; refuse what no step computes."""
        if name not in list(self.makers):  # a list, as what has no hash is refused, too
            raise ValueError(f"name = {name!r}: it must be one of {', '.join(self.makers)}")
        return self.makers[name]

    def open(self, name: str, index: Index) -> Opened:
        """The origin of one number.

        Raises TypeError or ValueError for a tensor that no step computes, or a place that it does not have.
        """
        step, operand = self.maker(name)
        index = self._checked_index(name, index)
        made_of = MADE[step.operation.name, operand]
        made = made_of(step.shape, *moved(index, self.shapes[name], step.shape.of(operand)))
        read_rows = [self._row(step, term) for term in made.terms]
        apply_rule = getattr(self, f"_{made.rule}")
        rows, how = apply_rule(step, operand, index, read_rows)
        total = sum(row.value for row in rows)
        result = total
        if made.rule == "activated":
            result = float(act(np.float64(total), step.shape.activation))
        return Opened(
            name=name,
            index=index,
            step=step,
            rows=rows,
            total=total,
            result=result,
            returned=float(self.tensors[name][index]),
            bound=self._bound(made.rule, step, operand, index, rows),
            read=self._read_places(step, read_rows, made.decided_by),
            how=how,
        )

    def _checked_index(self, name: str, index: Index) -> Index:
        """An index as ints; refuse one that the tensor does not have."""
        shape = self.shapes[name]
        if not isinstance(index, tuple | list) or len(index) != len(shape):
            raise ValueError(f"index = {index!r}: it must be {len(shape)} ints, as {name} is {shape}")
        index = tuple(map(as_int, index))
        for axis, (place, size) in enumerate(zip(index, shape, strict=True)):
            check_size(f"index[{axis}] of {name}", place, 0, size - 1)
        return index

    def _read_places(self, step: Step, rows: list[Row], decided_by: tuple[Factor, ...]) -> dict[str, list[Index]]:
        """The places that were read, each once, by tensor."""
        places = list(chain.from_iterable(row.places for row in rows))
        for factor in decided_by:
            places.append(self._place(step, factor))
        different_places = dict.fromkeys(places)  # in their order
        read: dict[str, list[Index]] = {}
        for name, index in different_places:
            read.setdefault(name, []).append(index)
        return read

    def _bound(self, rule: str, step: Step, operand: str, index: Index, rows: list[Row]) -> float:
        """The most that a right float32 result may be off; of a sum of products, by the sum of their absolute values.

        Four roundings more than there are rows pay for a division and for this file's own float64 sums.
        """
        if rule != "softmax":
            total = sum(abs(row.value) for row in rows)
            return check.gamma(len(rows) + 4) * total + 4 * (len(rows) + 1) * SMALLEST_NORMAL
        logits = self.tensors[step.tensors[0]][None]
        labels = np.array([self.label])
        losses, grads = check.loss_errors(logits, labels, reference.cross_entropy(logits, labels))
        return float(losses[0] if operand == "losses" else grads[0, *index])

    # --- From an operation's names and places to the network's ----------------------------------------------------

    def _place(self, step: Step, factor: Factor) -> Place:
        """The place of a factor in the network's tensor."""
        operand, index = factor
        name = step.tensors[step.operation.tensors.index(operand)]
        return name, moved(index, step.shape.of(operand), self.shapes[name])

    def _row(self, step: Step, term: Term) -> Row:
        """A product, with its factors."""
        places = tuple(self._place(step, factor) for factor in term)
        factors = tuple(float(self.tensors[name][at]) for name, at in places)
        return Row(prod(factors), factors, places)

    # --- What an operation does with its terms, by the rule of `Made` -----------------------------------------------

    def _summed(self, step: Step, operand: str, index: Index, rows: list[Row]) -> Finished:
        """A sum of products, or of numbers alone."""
        noun = "product" if len(rows[0].places) > 1 else "number"
        if len(rows) == 1:
            return rows, f"one {noun}"
        return rows, f"the sum of {len(rows):,} {noun}s"

    def _largest(self, step: Step, operand: str, index: Index, rows: list[Row]) -> Finished:
        """The largest pixel of a window counts alone."""
        winner = max(rows, key=lambda row: row.value)  # the first of equal ones
        losers = [row._replace(value=0.0) for row in rows if row is not winner]
        return [winner, *losers], f"the largest of {len(rows)} pixels"

    def _won(self, step: Step, operand: str, index: Index, rows: list[Row]) -> Finished:
        """A window's gradient counts where this pixel is its first maximum."""
        pixels = self.tensors[step.tensors[0]]
        won = []
        for row in rows:
            (place,) = row.places
            _, (c, oh, ow) = place
            window = [(c, ih, iw) for ih, iw in pixels_of_window(step.shape, oh, ow)]
            winner = max(window, key=lambda pixel: pixels[pixel])  # the first of equal ones
            if winner == index:
                won.append(row)
        if not won:
            return won, "nothing, as it won no window"
        if len(won) == 1:
            return won, "the gradient of the window that it won"
        return won, f"the gradients of the {len(won)} windows that it won"

    def _switched(self, step: Step, operand: str, index: Index, rows: list[Row]) -> Finished:
        """One gradient times the derivative of the activation, which is read off the output."""
        name = f"{step.layer}.output"
        output = float(self.tensors[name][index])
        activation = getattr(step.shape, "activation", "relu")
        if activation == "relu":
            factor = 1.0 if output > 0 else 0.0
        else:
            pre = np.float64(self.open(name, index).total)
            factor = float(derivative(pre, activation))
        (row,) = rows
        switched = row._replace(value=row.value * factor, factors=(row.value, factor))
        why = f"as {name} is {number(output)}"
        if activation == "none":
            why = "as there is no activation"
        return [switched], f"{_in_words(factor)}, {why}"

    def _shared(self, step: Step, operand: str, index: Index, rows: list[Row]) -> Finished:
        """Each number divided by the pixels of a window."""
        pixels = prod(step.shape.kernel)
        shares = [row._replace(value=row.value / pixels, factors=(row.value, 1 / pixels)) for row in rows]
        if operand == "output":
            return shares, f"the mean of {pixels} pixels"
        return shares, f"a share of 1/{pixels}"

    def _activated(self, step: Step, operand: str, index: Index, rows: list[Row]) -> Finished:
        """A sum of products and a bias, before the activation."""
        activation = step.shape.activation
        count = len(rows) - 1
        products = "1 product" if count == 1 else f"{count:,} products"
        how = f"the sum of {products} and the bias"
        if activation == "none":
            return rows, how
        total = sum(row.value for row in rows)
        return rows, f"{activation} of {number(total)}, {how}"

    def _softmax(self, step: Step, operand: str, index: Index, rows: list[Row]) -> Finished:
        """Of logits: the loss, or softmax minus the right answer."""
        share = reference.softmax([row.value for row in rows])
        places = tuple(chain.from_iterable(row.places for row in rows))
        if operand == "losses":
            probability = share[self.label]
            loss = Row(float(-np.log(probability)), places=places, name=f"−log(softmax of {self.label})")
            return [loss], f"minus the logarithm of the probability {number(probability)} of the right answer"
        (c,) = index
        softmax = Row(float(share[c]), places=places, name=f"softmax of {c}")
        right = Row(-float(c == self.label), name="minus 1 where the answer is right")
        return [softmax, right], "the softmax minus the right answer"


def _in_words(factor: float) -> str:
    """Say what a factor makes of a gradient."""
    if factor == 1:
        return "passed on"
    if factor == 0:
        return "stopped"
    return f"times {number(factor)}"


def moved(index: Index, shape: Size, to: Size) -> Index:
    """The index of the same word of memory in another shape."""
    word = np.ravel_multi_index(index, shape)
    return tuple(map(int, np.unravel_index(word, to)))


def _shapes(network: Network) -> dict[str, Size]:
    """The shape of each tensor, of one image, without an axis for it."""
    before_activation = {name.replace(".output", ".pre"): size for name, size in network.values.items()}
    shapes = {**network.values, **before_activation, **network.shapes}
    gradients = {gradient_of(name): shape for name, shape in shapes.items()}
    return {**shapes, **gradients, "losses": (1,), "labels": (1,)}
