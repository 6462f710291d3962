"""Lessons 01, 02 and 03: mark the cells that feed an output, a weight's gradient or a pixel's gradient."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from helpers.data import tables
from helpers.grading.marking_question import Cell, Cells, Marking
from helpers.lessons.shared.layers import ANSWERS, BOUND
from helpers.lessons.shared.small_image import IMAGE, UPSTREAM, WEIGHT
from helpers.operations.convolution.indices import taps_of
from helpers.operations.convolution.shapes import ConvShape

if TYPE_CHECKING:
    from helpers.pictures.canvas import Picture  # which takes as long to import as all the rest

# of 5 x 5 pixels, and of 3 x 3 upstream gradients
LETTERS = "abcdefghijklmnopqrstuvwxy"
CAPITALS = "GHIJKLMNO"
NAMED = {(5, 5): LETTERS, (3, 3): CAPITALS}  # the cells of a matrix of this size
NAMES = {"output": "output ", "grad_weight": "dW", "grad_input": "dX"}  # of a result, before the place of an element
Likely = Mapping[str, Iterable[Cell]]  # wrong sets of cells, by the question that helps who marks one


def _marking(asked: str, likely: Likely, advice: str, result: str, shape: ConvShape, row: int, column: int) -> Marking:
    """An exercise whose likely wrong sets are computed; what falls outside the matrix cannot be marked.

    It is about the element (row, column) of a result; the cells of all others of its elements are likely, too.
    """
    size = shape.of(_marked(result))[2:]
    right = _contributing(result, shape, row, column)
    inside = frozenset(np.ndindex(size))
    mistakes: dict[Cells, str] = {}
    for question, cells in likely.items():
        mistakes.setdefault(inside.intersection(cells), question)
    for other in np.ndindex(shape.of(result)[2:]):
        cells = _contributing(result, shape, *other)
        if not cells <= right:  # some of the right ones are begun, and not mistaken
            mistakes.setdefault(cells, _of_another(result, other, (row, column)))
    for no_mistake in (frozenset(), right):
        mistakes.pop(no_mistake, None)
    marking = Marking(right, mistakes, advice, asked, size=size, letters=NAMED.get(size, ""))
    names = list(marking.names.values())
    return replace(marking, picture=lambda: _picture(result, shape, row, column, names))


def _of_another(result: str, other: Cell, wanted: Cell) -> str:
    """The question that helps who marks the cells of another element than the one that is asked for."""
    belong = f"these cells belong to {NAMES[result]}[{other[0]},{other[1]}]"
    return f"{belong}; how far is it from there to [{wanted[0]},{wanted[1]}], and in which direction?"


def _marked(result: str) -> str:
    """The tensor whose cells make a result, and can be marked."""
    return "output" if result == "grad_input" else "input"


def _contributing(result: str, shape: ConvShape, row: int, column: int) -> Cells:
    """The cells that contribute to one element of a result."""
    return frozenset(tap.at(_marked(result)) for tap in taps_of(result, shape, row, column))


def _picture(result: str, shape: ConvShape, row: int, column: int, names: list[str]) -> "Picture":
    """The lesson's picture of small numbers, with the element of the result framed."""
    from helpers.lessons.shared.pictures.forward import WindowPicture  # here, as the process apart draws none
    from helpers.lessons.shared.pictures.input_gradient import InputGradientPicture
    from helpers.lessons.shared.pictures.scatter import ScatterGatherPicture
    from helpers.lessons.shared.pictures.weight_gradient import WeightGradientPicture

    kinds = {
        "output": WindowPicture,
        "grad_weight": WeightGradientPicture,
        "grad_input": InputGradientPicture,
    }
    shown = {
        "input": IMAGE,
        "weight": WEIGHT,
        "bias": np.zeros(1),
        "grad_output": UPSTREAM,
    }
    tensors = {name: np.resize(shown[name], shape.of(name)) for name in BOUND[result].split()}
    returned = ANSWERS[result](*tensors.values(), shape)
    if result == "grad_input" and names[0] in CAPITALS:
        picture = ScatterGatherPicture(tensors["weight"][0, 0], tensors["grad_output"][0, 0], returned[0, 0])
    else:
        has_letters = result != "grad_input"
        picture = kinds[result](shape, tensors, returned, letters=has_letters)
    return picture.asks(row, column, names)


_AROUND = (
    "these are the pixels of output [{},{}], around the pixel [{},{}]; which corner of its window lies on that one?"
)


def _output(shape: ConvShape, oh: int, ow: int) -> Marking:
    """Lesson 01: one output of the forward pass."""
    asked = f"Mark the pixels that contribute to the output [{oh},{ow}] (5 × 5 pixels, 2 × 3 weights)."
    advice = "where does the filter's upper left corner lie for this output?"
    return _marking(asked, _likely_for_output(shape, oh, ow), advice, "output", shape, oh, ow)


def _likely_for_output(shape: ConvShape, oh: int, ow: int) -> Likely:
    """The wrong sets of pixels that are likely for an output."""
    pixels = partial(_contributing, "output", shape)
    return {
        _AROUND.format(oh - 1, ow - 1, oh, ow): pixels(oh - 1, ow - 1),
        "row and column are swapped; which of the two numbers comes first?": pixels(ow, oh),
        "this is only the first row of the window; how many rows does the filter have?": {
            (ih, iw) for ih, iw in pixels(oh, ow) if ih == oh
        },
        "this is one pixel; how many pixels does the filter cover?": {(oh, ow)},
        "this window has one row too many; which number of 2 × 3 counts the rows?": {
            (oh + kh, ow + kw) for kh, kw in np.ndindex(shape.kernel_h + 1, shape.kernel_w)
        },
        "this window has one column too few; which number of 2 × 3 counts the columns?": {
            (oh + kh, ow + kw) for kh, kw in np.ndindex(shape.kernel_h, shape.kernel_w - 1)
        },
        "this window is higher than wide; which number of 2 × 3 counts the rows?": {
            (oh + kw, ow + kh) for kh, kw in np.ndindex(shape.weight[2:])
        },
    }


_FLIPPED = "these are the pixels of dW[{},{}], as if flipped; does a correlation flip the filter?"


def _weight(shape: ConvShape, kh: int, kw: int) -> Marking:
    """Lesson 02: one weight's gradient."""
    outputs = f"{shape.out_h} × {shape.out_w}"
    how = f"5 × 5 pixels, {outputs} upstream gradients, stride {shape.stride_h}, no padding"
    asked = f"Mark the pixels that contribute to dW[{kh},{kw}] ({how})."
    advice = "this weight multiplies one pixel for each output; which one, for output [0,0]?"
    return _marking(asked, _likely_for_weight(shape, kh, kw), advice, "grad_weight", shape, kh, kw)


def _likely_for_weight(shape: ConvShape, kh: int, kw: int) -> Likely:
    """The wrong sets of pixels that are likely for a weight's gradient."""
    pixels = partial(_contributing, "grad_weight", shape)
    under_the_filter = _contributing("output", shape, 0, 0)
    taps = taps_of("weight", shape, kh, kw)
    flipped = (shape.kernel_h - 1 - kh, shape.kernel_w - 1 - kw)
    return {
        _FLIPPED.format(*flipped): pixels(*flipped),
        "row and column are swapped; which of the two numbers comes first?": pixels(kw, kh),
        "these pixels are neighbors; how far does the filter move from one output to the next?": {
            (tap.oh + kh, tap.ow + kw) for tap in taps
        },
        "this is what comes out for stride 1; how many positions does the filter have with stride 2?": (
            _contributing("grad_weight", replace(shape, stride=1), kh, kw)
        ),
        "these pixels belong to dW[0,0]; by how much does this weight move the frame?": pixels(0, 0),
        "this is only the first row of outputs; how many rows are there?": {
            (tap.ih, tap.iw) for tap in taps if tap.oh == 0
        },
        "this is the pixel of one output; how many outputs are there?": {(kh, kw)},
        "these pixels lie under the whole filter at one position; which pixel does one weight multiply there?": (
            under_the_filter
        ),
        "this is what comes out for a padding of 1; how much padding is there here?": {
            (tap.ih - 1, tap.iw - 1) for tap in taps
        },
    }


def _pixel(shape: ConvShape, ih: int, iw: int) -> Marking:
    """Lesson 03: the upstream gradients that reach one pixel's gradient."""
    padding = f"padding {shape.padding_h}" if shape.padding_h else "no padding"
    how = f"{shape.in_h} × {shape.in_w} pixels, 3 × 3 weights, stride 1, {padding}"
    pairs = " (oh, ow)" if shape.padding_h else ""
    asked = f"Mark the upstream gradients{pairs} that contribute to the gradient of the pixel [{ih},{iw}] ({how})."
    advice = "which windows contain this pixel? Take the weights one by one: for which output does it lie under each?"
    return _marking(asked, _likely_for_pixel(shape, ih, iw), advice, "grad_input", shape, ih, iw)


def _likely_for_pixel(shape: ConvShape, ih: int, iw: int) -> Likely:
    """The wrong sets of upstream gradients that are likely for a pixel's gradient."""
    reached = _contributing("grad_input", shape, ih, iw)
    weights = list(np.ndindex(shape.weight[2:]))
    return {
        "the padding is left out; which output has its window's upper left corner in the padding?": {
            (ih - kh, iw - kw) for kh, kw in weights
        },
        "these outputs begin at the pixel or after it; can a window that begins below the pixel contain it?": {
            (ih + kh, iw + kw) for kh, kw in weights
        },
        "row and column are swapped; which of the two numbers comes first?": {(ow, oh) for oh, ow in reached},
        "this is one output; how many windows contain the pixel?": {(ih, iw)},
        "this is only the first row of outputs; is there a window that begins one row lower?": {
            (oh, ow) for oh, ow in reached if oh == 0
        },
        "the left column is missing; does the window of an output there reach as far as this pixel?": {
            (oh, ow) for oh, ow in reached if ow > min(ow for _, ow in reached)
        },
        "these are all outputs; whose windows begin below the pixel?": set(np.ndindex(shape.out_h, shape.out_w)),
        "the right column is missing; where does the window of an output there begin?": {
            (oh, ow) for oh, ow in reached if ow < iw + shape.padding_w
        },
    }


KINDS = {"output": _output, "grad_weight": _weight, "grad_input": _pixel}  # by the result whose factors are marked
NEEDED = {"result": str, "place": list, "input": list, "weight": list}
OPTIONAL = {"stride": int, "padding": int}


def read(file: Path) -> dict[str, Marking]:
    """Return the exercises of a lesson's ``markings.toml`` by their names, in their order.

    A table has the result, the place of the element whose factors are marked, and rows and columns of input and weight.
    """
    markings = {}
    for name, table in tables.read(file, NEEDED, OPTIONAL).items():
        in_h, in_w = table["input"]
        kernel_h, kernel_w = table["weight"]
        row, column = table["place"]
        stride = table.get("stride", 1)
        padding = table.get("padding", 0)
        shape = ConvShape(1, 1, in_h, in_w, 1, kernel_h, kernel_w, stride, padding)
        markings[name] = KINDS[table["result"]](shape, row, column)
    return markings
