"""Explorers: each state that the sliders can reach is valid and legible, and what it says is what was computed."""

import random
import re
from collections import defaultdict
from math import prod
from pathlib import Path

import numpy as np
import pytest
from support import convolution_explorers as explorers
from support.legible import faults, last_sums, states, written
from support.messages import every, said, stored
from support.notebook_gate import FRAMED, NOTEBOOKS, Cell, Lesson, lessons_of, texts
from support.sample import ALL, sample
from support.speakers import lesson

import helpers
from helpers.lessons.shared import small_image as cases
from helpers.operations.convolution import reference
from helpers.operations.convolution.shapes import ConvShape
from helpers.pictures.canvas import BLUE, number
from helpers.pictures.parts import Grid
from helpers.widgets.explorer import Explorer
from helpers.widgets.ranges import limits


def whole(*shape: int) -> np.ndarray:
    """Random whole numbers."""
    return np.random.default_rng(shape).integers(-4, 5, shape).astype(np.float32)


def both(words: str, first: str, second: str) -> list[str]:
    """The picture's number and the kernel's, at the end of a sentence."""
    return words.rsplit(first, 1)[1].rstrip(".").split(second)


# --- Any convolution --------------------------------------------------------------------------------------

FORWARD, WEIGHT, PIXEL = ANY = explorers.any_forward, explorers.any_weight_gradient, explorers.any_input_gradient
every_explorer = pytest.mark.parametrize("make", ANY)
SIZES = "N Ci H W Co kH kW stride padding dilation groups"  # as ConvShape takes them


def shape_of(explorer: Explorer) -> ConvShape:
    """The convolution that the sliders say; raises where there is no such convolution."""
    return ConvShape(*(explorer.values[name] for name in SIZES.split()))


@every_explorer
def test_any_values_become_a_valid_and_legible_convolution(make):
    """Also with the largest images, where the zeros around the upstream gradient leave the least room."""
    explorer = make(H=7, W=7, padding=1, kH=3, kW=3, dilation=3)
    rng = random.Random(3)
    for _ in range(40 if ALL else 6):
        state_is_right(explorer, make)
        moved = ("dilation", "groups", *rng.sample(list(explorer.values), 4))
        explorer.set(**{name: rng.randint(-3, 9) for name in moved})


def state_is_right(explorer: Explorer, make) -> None:
    """Require a legible picture, one result in picture, sentence and kernel, and controls with the layer's limits."""
    picture = explorer.picture
    assert not list(faults(picture, 9.9)), explorer.values
    assert picture.caption().height <= 50, explorer.sentence  # two lines: a third would move the page
    assert "−0" not in written(picture)
    total, returned = both(explorer.sentence, "add up to ", "; the kernel wrote ")
    assert total == returned
    assert last_sums(picture) in ((total, total), ("running sum", total))  # no term, no sum so far
    sizes = sizes_of(shape_of(explorer), make)
    for name, rule in explorer._rules.items():
        low, high = limits(rule, explorer.values)
        if name in sizes:
            assert (low, high) == (0, sizes[name] - 1)
        for control in explorer._controls[name]:
            assert (control.min, control.max, control.value) == (low, high, explorer.values[name])
            assert control.disabled == (low == high)


def sizes_of(shape: ConvShape, make) -> dict[str, int]:
    """The number of places that each index has."""
    sizes = {"n": shape.batch, "oh": shape.out_h, "ow": shape.out_w, "kh": shape.kernel_h, "kw": shape.kernel_w}
    sizes |= {"ih": shape.in_h, "iw": shape.in_w}
    sizes["ci"] = shape.in_channels if make is PIXEL else shape.weight[1]
    return sizes


@pytest.mark.parametrize(("make", "row", "column"), [(FORWARD, "oh", "ow"), (WEIGHT, "kh", "kw"), (PIXEL, "ih", "iw")])
def test_the_frame_holds_the_products(make, row, column, monkeypatch):
    """The numbers in the frame times the factors below them add up to the sum."""
    frames = []
    monkeypatch.setattr(Grid, "window", lambda *frame: frames.append(frame))
    many, one = ("Ci", "Co") if make is PIXEL else ("Co", "Ci")  # each sum runs over one channel of a group
    moves = [(dict.fromkeys(("groups", "Ci", "Co"), 1), {row: i, column: j}) for i, j in np.ndindex(3, 2)]
    moves += [({"groups": 2, many: 4, one: 2}, {many.lower(): channel}) for channel in range(4)]
    for channels, place in moves:
        explorer = make(N=1, H=6, W=7, padding=1, stride=3, kH=3, kW=2, dilation=2, **channels, **place)
        grid, window, factors, _ = frames[-1]
        assert set(factors) <= set(window)
        assert len(window) == 6  # weights, or outputs
        total = number(sum(grid.values[cell] * factor for cell, factor in factors.items()))
        assert both(explorer.sentence, "add up to ", "; the kernel wrote ") == [total, total]


@pytest.mark.parametrize("dilation", [1, 2])
def test_holes_and_divisions_are_the_same(dilation):
    """A row of the frame is orange in the table just where it holds upstream gradients."""
    explorer = PIXEL(H=6, W=7, padding=1, kH=3, kW=2, dilation=dilation)
    for ih, iw in np.ndindex(6, 7):
        explorer.set(ih=ih, iw=iw)
        lines = [text for text in written(explorer.picture) if text.startswith(("kh =", "kw ="))]
        held = ~np.isnan(explorer.picture.window_grid.values)
        rows = [held[ih + i * dilation].any() for i in range(3)]
        columns = [held[:, iw + j * dilation].any() for j in range(2)]
        assert [", so o" in text for text in lines] == rows + columns


def test_a_result_that_differs_from_the_sum_of_its_terms_is_said():
    picture = FORWARD().picture
    right = picture.show(0, 0).sentence
    picture.returned += 1
    wrong = picture.show(0, 0).sentence
    assert right.rpartition("; ")[0] == wrong.rpartition("; ")[0]
    assert right != wrong


# --- Small cases --------------------------------------------------------------------------------------------

IMAGE, FILTER = whole(1, 1, 4, 5), whole(1, 1, 2, 3)
LETTERS = [  # what makes a picture with letters, what it computes, and its right and its left factors
    (lambda: explorers.forward(IMAGE, FILTER), reference.conv2d, (IMAGE, FILTER)),
    (
        explorers.weight_gradient,
        lambda x, dy: reference.conv2d_grad_weight(x, (1, 1, 3, 3), dy),
        explorers.SMALL_CASE,
    ),
    (
        explorers.input_gradient,
        lambda w, dy: reference.conv2d_grad_input((1, 1, 5, 5), w, dy),
        (cases.WEIGHT, cases.UPSTREAM),
    ),
]


@pytest.mark.parametrize(("make", "right", "tensors"), LETTERS)
def test_the_names_say_the_sum_that_the_reference_computes(make, right, tensors):
    explorer = make()
    result = right(*tensors)[0, 0]
    values = {}
    for names, array in zip(explorer.picture.names, reversed(tensors), strict=True):
        values |= dict(zip(names.flat, array.flat, strict=True))

    def value_of(term: str) -> float:
        return prod(values[name] for name in term.split("·"))

    for place in np.ndindex(result.shape):
        value = number(result[place])
        element, terms, rest = explorer.set(**dict(zip(explorer._play, place, strict=True))).split(" = ")
        assert element.endswith(f"[{place[0]},{place[1]}]")
        assert sum(map(value_of, terms.split(" + "))) == result[place]
        assert rest.startswith((f"{value}.", f"{value}: "))
        assert rest.endswith(f"The kernel wrote {value}.")


def test_letters_do_not_mix_with_axes_that_are_not_explained_yet():
    words = written(explorers.forward(IMAGE, FILTER).picture)
    assert not [word for word in words if "n = " in word or "ci = " in word]


TENSORS = "input", "weight", "output"
Cells = set[tuple[int, int]]


def related(tensor: int, row: int, column: int) -> list[Cells]:
    """The cells of the other two tensors that a number has to do with."""
    cell = row, column
    if tensor == 2:
        return [cells_that_reach(cell, IMAGE), cells_that_reach(cell, FILTER)]
    source, shift = IMAGE, np.subtract  # stride 1 and no padding: output + weight = pixel
    if tensor == 1:
        source, shift = FILTER, np.add
    outputs = reached(cell, source)
    others = {tuple(map(int, shift(cell, output))) for output in outputs}
    return [others, outputs]


def reached(cell: tuple[int, int], source: np.ndarray) -> Cells:
    """The outputs that a cell of the image or of the filter contributes to: those that are NaN if it is."""
    changed = source.copy()
    changed[0, 0][cell] = np.nan
    output = reference.conv2d(changed, FILTER) if source is IMAGE else reference.conv2d(IMAGE, changed)
    return set(map(tuple, np.argwhere(np.isnan(output[0, 0])).tolist()))


def cells_that_reach(output: tuple[int, int], source: np.ndarray) -> Cells:
    """The cells of the image or of the filter that contribute to an output."""
    return {cell for cell in np.ndindex(source.shape[2:]) if output in reached(cell, source)}


def test_a_number_of_a_convolution_is_shown_with_all_that_it_has_to_do_with():
    explorer = explorers.contributions(IMAGE, FILTER)
    for values in sample(states(explorer), 25):
        sentence = explorer.set(**values)
        picture = explorer.picture
        tensor, row, column = values["tensor"], values["row"], values["column"]
        grids = [grid for i, grid in enumerate(picture.grids) if i != tensor]
        tinted = [mark.path.vertices[::5] for mark in picture.marks if mark.line == 1.6 and mark.edge != BLUE]
        for grid, corners, cells in zip(grids, tinted, related(tensor, row, column), strict=True):
            assert {tuple(corner) for corner in corners.tolist()} == {grid.box(*cell)[:2] for cell in cells}
        assert sentence.startswith(f"{TENSORS[tensor]}[{row},{column}] ")
        assert not list(faults(picture)), values


def test_the_stored_output_is_the_picture_with_its_sentence():
    explorer = explorers.weight_gradient()
    data, metadata = explorer._repr_mimebundle_()
    assert data["text/plain"] == explorer.sentence
    assert data["image/png"].startswith("iVBOR")
    assert len(data["image/png"]) * 3 // 4 > len(explorer.picture.png())  # the sentence is drawn below the picture
    assert "application/vnd.jupyter.widget-view+json" in data
    assert metadata["image/png"]["width"] == 840


# --- Every explorer of every notebook ----------------------------------------------------------------------------


def first_code(path: Path) -> Cell:
    """The first code cell of a lesson."""
    return Lesson.read(path).code[0]


FRAMES = [path.stem for path in lessons_of(NOTEBOOKS) if FRAMED.search(first_code(path).source)]


@every("explorers")
def test_an_explorer_says_what_is_stored_and_is_legible(family, heading, text, message):
    """A fault that is stored is seen, and so is a kernel that wrote something else."""
    assert said(family, heading, text) == message
    assert not (heading[0].isdigit() and re.search(r"touches|leaves the sheet|the sheet is|−0\b(?!\.)", message))
    for before, value in re.findall(r"(.*)returned (\S+)\.", message, re.DOTALL):
        assert re.search(rf"(=|to|is|by) {re.escape(value)}[.;:,]", before), "the kernel wrote another number"


@pytest.mark.parametrize("name", FRAMES)
def test_the_frame_of_the_first_picture_names_the_adapter_which_nbval_does_not_compare(name, monkeypatch):
    explorer = next(iter(lesson(name).values()))()
    picture = explorer.picture
    assert [texts(output) for output in first_code(NOTEBOOKS / f"{name}.ipynb").outputs][-1] == [explorer.sentence]
    assert helpers.adapter_info().short in " ".join(written(picture))
    if hasattr(picture, "returned"):  # a wrong number is not hidden by a name
        monkeypatch.setattr(picture, "returned", picture.returned + 1)
        for drawn in "anew", "and as it was":
            picture._drawn = None
            explorer.set()
            assert ("the kernel wrote: " in " ".join(written(picture))) == (drawn == "anew")
            monkeypatch.undo()


def test_every_explorer_of_every_notebook_is_stored():
    names = defaultdict(set)
    for _, heading, text, _ in stored("explorers"):
        names[heading].add(text.partition("(")[0])
    for path in lessons_of(NOTEBOOKS):
        assert names[path.stem] == set(lesson(path.stem)), path
