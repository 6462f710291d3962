"""Explorers: each state that the sliders can reach is valid and legible, and what it says is what was computed."""

import random
import re
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
from support.threads import Busy, at_once

import helpers
from helpers.data import digits
from helpers.lessons.meet_the_gpu import explorers as threads
from helpers.lessons.shared import small_image as cases
from helpers.operations.convolution import reference
from helpers.operations.convolution.shapes import ConvShape
from helpers.pictures.canvas import BLUE, Box, Picture, number, text_width
from helpers.pictures.parts import Bars, Grid
from helpers.widgets.controls import ByOne
from helpers.widgets.explorer import Explorer, limits


def whole(*shape: int) -> np.ndarray:
    """Random whole numbers."""
    return np.random.default_rng(shape).integers(-4, 5, shape).astype(np.float32)


def both(words: str, first: str, second: str) -> list[str]:
    """What the picture computed and what the kernel wrote, at the end of a sentence."""
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
    explorer, rng = make(H=7, W=7, padding=1, kH=3, kW=3, dilation=3), random.Random(3)
    for _ in range(40 if ALL else 6):
        state_is_right(explorer, make)
        moved = ("dilation", "groups", *rng.sample(list(explorer.values), 4))
        explorer.set(**{name: rng.randint(-3, 9) for name in moved})


def state_is_right(explorer: Explorer, make) -> None:
    picture, values, shape = explorer.picture, explorer.values, shape_of(explorer)
    assert not list(faults(picture, 9.9)), values
    assert picture.caption().height <= 50, explorer.sentence  # two lines: a third would move the page
    assert "−0" not in written(picture)
    total, returned = both(explorer.sentence, "add up to ", "; the kernel wrote ")
    assert total == returned
    assert last_sums(picture) in ((total, total), ("running sum", total))  # no term, no sum so far
    sizes = {"n": shape.batch, "oh": shape.out_h, "ow": shape.out_w, "kh": shape.kernel_h, "kw": shape.kernel_w}
    sizes |= {"ih": shape.in_h, "iw": shape.in_w, "ci": shape.in_channels if make is PIXEL else shape.weight[1]}
    for name, rule in explorer._rules.items():
        low, high = limits(rule, values)
        assert name not in sizes or (low, high) == (0, sizes[name] - 1)
        for control in explorer._controls[name]:
            assert (control.min, control.max, control.value) == (low, high, values[name])
            assert control.disabled == (low == high)


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
        bias = explorer.picture.bias[explorer.values["co"]] if make is FORWARD else 0
        total = number(bias + sum(grid.values[cell] * factor for cell, factor in factors.items()))
        assert both(explorer.sentence, "add up to ", "; the kernel wrote ") == [total, total]


@pytest.mark.parametrize("dilation", [1, 2])
def test_holes_and_divisions_are_the_same(dilation):
    """A row of the frame is orange in the table just where it holds upstream gradients."""
    explorer = PIXEL(H=6, W=7, padding=1, kH=3, kW=2, dilation=dilation)
    for ih, iw in np.ndindex(6, 7):
        explorer.set(ih=ih, iw=iw)
        lines = [", so o" in text for text in written(explorer.picture) if text.startswith(("kh =", "kw ="))]
        held = ~np.isnan(explorer.picture.window_grid.values)
        rows = [held[ih + i * dilation].any() for i in range(3)]
        assert lines == rows + [held[:, iw + j * dilation].any() for j in range(2)]


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
    explorer, right = make(), right(*tensors)[0, 0]
    named = zip(explorer.picture.names, reversed(tensors), strict=True)
    values = {name: value for names, array in named for name, value in zip(names.flat, array.flat, strict=True)}
    for place in np.ndindex(right.shape):
        words, value = explorer.set(**dict(zip(explorer._play, place, strict=True))), number(right[place])
        element, terms, rest = words.split(" = ")
        assert element.endswith(f"[{place[0]},{place[1]}]")
        assert sum(prod(values[name] for name in term.split("·")) for term in terms.split(" + ")) == right[place]
        assert rest.startswith((f"{value}.", f"{value}: "))
        assert rest.endswith(f"The kernel wrote {value}.")


def test_letters_do_not_mix_with_axes_that_are_not_explained_yet():
    assert not [word for word in written(explorers.forward(IMAGE, FILTER).picture) if "n = " in word or "ci = " in word]


def spread(tensor: int, row: int, column: int) -> list[set[tuple[int, int]]]:
    """The cells of the other two tensors that a number has to do with: those that share a NaN with it."""
    tensors = [IMAGE, FILTER, reference.conv2d(IMAGE, FILTER)]

    def reached(source: int, place: tuple[int, int]) -> set[tuple[int, int]]:
        changed = [IMAGE.copy(), FILTER.copy()]
        changed[source][(0, 0, *place)] = np.nan
        return set(map(tuple, np.argwhere(np.isnan(reference.conv2d(*changed)[0, 0])).tolist()))

    if tensor == 2:
        return [
            {p for p in np.ndindex(t.shape[2:]) if (row, column) in reached(i, p)} for i, t in enumerate(tensors[:2])
        ]
    outputs = reached(tensor, (row, column))
    shift = np.subtract if tensor == 0 else np.add  # stride 1 and no padding: output + weight = pixel
    others = {tuple(map(int, shift((row, column), output))) for output in outputs}
    return [others, outputs]


def test_a_number_of_a_convolution_is_shown_with_all_that_it_has_to_do_with():
    explorer = explorers.contributions(IMAGE, FILTER)
    for values in sample(states(explorer), 25):
        words, picture = explorer.set(**values), explorer.picture
        grids = [grid for i, grid in enumerate(picture.grids) if i != values["tensor"]]
        tinted = [mark.path.vertices[::5] for mark in picture.marks if mark.line == 1.6 and mark.edge != BLUE]
        for grid, corners, cells in zip(grids, tinted, spread(*values.values()), strict=True):
            assert {tuple(corner) for corner in corners.tolist()} == {grid.box(*cell)[:2] for cell in cells}
        assert words.startswith(
            f"{('input', 'weight', 'output')[values['tensor']]}[{values['row']},{values['column']}] "
        )
        assert not list(faults(picture)), values


# --- Threads, and what is refused -----------------------------------------------------------------------------


def test_the_stored_output_is_the_picture_with_its_sentence():
    explorer = explorers.weight_gradient()
    data, metadata = explorer._repr_mimebundle_()
    assert data["text/plain"] == explorer.sentence
    assert data["image/png"].startswith("iVBOR")
    assert len(data["image/png"]) * 3 // 4 > len(explorer.picture.png())  # the sentence is drawn below the picture
    assert "application/vnd.jupyter.widget-view+json" in data
    assert metadata["image/png"]["width"] == 840


# --- What a reader touches ------------------------------------------------------------------------------------

SMALL = explorers.weight_gradient, explorers.input_gradient, explorers.threads
MADE = {
    "forward": lambda: explorers.forward(IMAGE, FILTER),
    **{make.__name__: make for make in (*SMALL, *ANY)},
}


def touch(explorer: Explorer, grid: int, row: int, column: int, chosen: bool = True, numbers=None) -> None:
    """What the browser sends; the window comes after the last grid."""
    layer = explorer._layer
    place = {"grid": grid, "row": row, "column": column, "chosen": chosen, "numbers": numbers}
    layer.asked = {"number": layer.answered + 1, **place}


def beside(explorer: Explorer) -> tuple[set[str], set[str]]:
    """The values whose controls are beside the picture, and those behind the fold."""
    _, above, _, _, folds, behind, _ = (getattr(child, "children", child) for child in explorer.children)
    names = [{pair.description for pair in in_all(part)} for part in (above, behind)]
    assert ("more settings" in {fold.description for fold in folds}) == bool(behind)
    return names[0], names[1]


def in_all(widgets) -> list:
    """The number boxes in some widgets, and in what they hold."""
    found = [widget for widget in widgets if type(widget).__name__ == "BoundedIntText"]
    return found + [box for widget in widgets for box in in_all(getattr(widget, "children", ()))]


FRONT = {
    explorers.any_forward: "stride padding n co",
    explorers.any_weight_gradient: "stride padding n co",
    explorers.any_input_gradient: "stride padding ih iw",
    explorers.own_filter: "",
    threads.dispatch_2d: "size_x size_y x y",
    lambda: explorers.contributions(IMAGE, FILTER): "",
}


@pytest.mark.parametrize("make", FRONT)
def test_at_most_four_controls_are_beside_a_picture_and_the_fold_opens_in_place(make):
    explorer = make()
    front, behind = beside(explorer)
    assert front == {*FRONT[make].split()}
    assert front | behind == {*explorer.values}
    _, _, _, _, below, box, _ = explorer.children
    more = next(fold for fold in below.children if getattr(fold, "description", "") == "more settings")
    assert (more.value, box.layout.display) == (False, "none")
    more.value = True
    assert box.layout.display is None
    more.value = False
    assert box.layout.display == "none"


def test_without_a_choice_the_last_four_values_are_in_front():
    picture, rules = Picture(), dict.fromkeys("abcdef", 2)
    explorer = Explorer(lambda **_: picture, rules, dict.fromkeys(rules, 0))
    assert beside(explorer) == ({*"cdef"}, {*"ab"})


@pytest.mark.parametrize("name", MADE)
def test_each_suggested_step_is_short_and_ticked_only_by_who_does_it(name):
    explorer = MADE[name]()
    trials, start = explorer.steps._trials, explorer.values
    assert 0 < len(trials) <= 3
    assert not any(explorer.steps.done)
    assert all(text_width(text, 13) < 2 * 200 for text in trials)  # two lines, where three steps share 840 pixels
    reached = {"thread": 150, "stride": 3, "iw": 5}  # by these values, where a step is a function of them
    for i, (text, trial) in enumerate(trials.items()):
        wanted, asked = trial if isinstance(trial, ByOne) else (trial, "")
        wanted = {k: v for k, v in reached.items() if k in explorer.values} if callable(wanted) else wanted
        verbs = re.findall(r"\b(point|drag|play)\b", text.lower())
        assert asked == (verbs[-1] if verbs else ""), "the sentence asks for what counts"
        assert verbs or " then " not in text or not wanted.items() & start.items(), "its first half is enough"
        before = explorer.steps.done
        for by in {"", "point", "drag", "play"} - {asked, *({"point", "drag"} if not asked else ())}:
            explorer._reach(wanted, by)
        assert explorer.steps.done == before, "this is not what was asked for"
        explorer._reach(wanted, asked)
        assert explorer.steps.done[i]
    assert all(explorer.steps.done)
    explorer.set(**dict.fromkeys(explorer.values, 0))
    assert all(explorer.steps.done), "a tick stays"
    assert all("✓" in step.value and 'aria-label="done"' in step.value for step in explorer.steps.children)


def test_a_step_is_ticked_where_the_reader_only_points_and_can_be_the_lessons_own():
    reached = {"Here.": {"kh": 1, "kw": 2}, "On the diagonal.": lambda v: v["kh"] == v["kw"] > 0, "Stay.": {"kh": 0}}
    explorer = explorers.any_weight_gradient(steps=reached)
    assert explorer.steps.done == [False] * 3  # also where the first values are those of a step: nobody did it yet
    touch(explorer, 0, 1, 2, chosen=False)
    assert explorer.steps.done == [True, False, False]
    assert "not done yet" in explorer.steps.children[1].value
    touch(explorer, 0, 1, 1)
    assert explorer.steps.done == [True, True, False]
    data, _ = explorer._repr_mimebundle_()
    assert data["text/plain"] == explorer.sentence
    assert explorers.any_weight_gradient(steps={}).steps.children == ()


@pytest.mark.parametrize("name", [*(name for name in MADE if name != "threads"), "own_filter"])
def test_a_window_is_dragged_by_whole_steps_and_clamped(name):
    explorer = explorers.own_filter() if name == "own_filter" else MADE[name]()
    explorer.set(**{value: 2 - i for i, value in enumerate(("stride", "padding")) if value in explorer.values})
    start, index = explorer.picture.window, len(explorer.picture.touchable)
    for place in (1, 1), (1, 0), (0, 1):
        touch(explorer, index, *place)
        now = explorer.picture.window
        assert now.place == place == tuple(explorer.values[each] for each in now.values)
        moved = np.multiply(np.subtract(place, start.place), start.step)
        assert np.allclose(np.subtract(now.box[1::-1], start.box[1::-1]), moved)
        framed = [mark.path.vertices[0] for mark in explorer.picture.marks if mark.line in (3, 4)]
        assert any(np.allclose(corner, now.box[:2]) for corner in framed)
    touch(explorer, index, -7, 99)
    (top, _), (_, right) = (limits(explorer._rules[each], explorer.values) for each in now.values)
    assert explorer.picture.window.place == (top, right)


def test_weights_that_are_clicked_make_the_output_of_the_reference():
    explorer, digit = explorers.own_filter(), digits.conv1_input(1, first=7)
    grid = [*explorer.picture.touchable].index("weight")
    assert explorer._layer.grids[grid]["limits"] == {"low": -2, "high": 2, "step": 1, "upright": False}
    assert explorer._layer.numbers[grid] == [0, 0, 0, 0, 1, 0, 0, 0, 0]
    found = 3 * digit[0, 0, 1:-1, 1:-1] >= 2 * digit.max()  # each weight is 0 but the middle one
    on, below = found[:10].sum(), found[10:].sum()
    assert explorer.sentence.startswith(
        f"{on + below} outputs are two thirds of the largest or more, {on} of them on the horizontal stroke, "
    )
    touch(explorer, grid, 2, 2, numbers=[-2, -2, -2, 0, 0, 0, 1, 1, 9])  # what is out of range is taken to its limit
    assert explorer.arrays["weight"].tolist() == [[-2, -2, -2], [0, 0, 0], [1, 1, 2]]
    assert explorer.steps.done == [True, False, False]
    touch(explorer, grid, 2, 2, numbers=[-2, -2, -2, 0, 0, 0, 1, 1, 1])
    assert explorer.steps.done == [True, True, False]
    right = reference.conv2d(digit, explorer.arrays["weight"][None, None])[0, 0]
    for oh, ow in (6, 15), (20, 11):
        assert explorer.set(oh=oh, ow=ow).endswith(
            f"= {number(right[oh, ow])}; the kernel wrote {number(right[oh, ow])}."
        )
    assert not [*faults(explorer.picture)]


def test_bars_are_dragged_by_their_steps_and_are_a_table():
    def draw(logits: np.ndarray) -> Picture:
        picture = Picture(260)
        Bars(picture, logits, Box(40, 40, 600, 140), -5, 5, range(4), "logits").drag_bars("logits")
        picture.sentence = f"The logits are {', '.join(map(number, logits))}."
        return picture

    explorer = Explorer(draw, {}, arrays={"logits": np.array([0, 1.5, -3, 5])}, front=())
    (bars,) = explorer._layer.grids
    assert (bars["limits"]["upright"], bars["names"], bars["rows"], bars["columns"]) == (True, [*"0123"], 1, 4)
    touch(explorer, 0, 0, 1, numbers=[0.04, -9, 4.96, 0.26])
    assert explorer.sentence == "The logits are 0, −5, 5, 0.3."
    assert explorer._layer.numbers == [[0, -5, 5, 0.3]]
    assert not [*faults(explorer.picture)]
    assert repr(explorer.picture.tables()) == "logits"
    zero, faces = 110, [mark.path.vertices for mark in explorer.picture.marks if mark.face and mark.path]
    ends = [[corners[0][1], corners[2][1]] for corners in np.split(faces[0], 4)]
    assert np.allclose(np.ptp(ends, axis=1), [1, 70, 70, 4.2])
    assert all(np.isclose(zero, end).any() for end in ends)


def test_what_two_threads_ask_for_is_drawn_one_after_the_other():
    """JupyterLab may run what a slider and what a pointer ask for in two threads."""
    busy = Busy()

    def draw(**values: int) -> Picture:
        busy()
        return Picture()

    explorer = Explorer(draw, {"row": 9, "column": 9})
    row, column = (explorer._controls[name][0] for name in explorer.values)
    at_once(lambda: setattr(row, "value", 3), lambda: setattr(column, "value", 4), lambda: explorer.set(row=3))
    assert (explorer.values, busy.together) == ({"row": 3, "column": 4}, 1)


@pytest.mark.parametrize("name", ["forward", "weight_gradient", "input_gradient"])
def test_rows_and_columns_are_played_as_one_number(name):
    explorer = MADE[name]()
    sizes = [explorer._controls[each][0].max + 1 for each in explorer._play]
    player = explorer._player
    assert (player.min, player.max) == (0, prod(sizes) - 1)
    for i, place in enumerate(np.ndindex(*sizes)):
        player.value = i  # as a browser does while it plays
        assert tuple(explorer.values[each] for each in explorer._play) == place
    explorer.set(**dict.fromkeys(explorer._play, 1))
    assert player.value == sizes[1] + 1


def test_the_numbers_are_tables_that_follow_the_picture_only_while_they_are_asked_for():
    explorer = WEIGHT(padding=1)
    assert explorer._numbers.value == ""
    explorer._open.value = True
    for n in range(2):
        explorer.set(n=n)
        assert explorer._numbers.value == explorer.picture.tables()
        assert f"<caption>input, n = {n}, ci = 0</caption>" in explorer._numbers.value
    explorer._open.value = False
    assert explorer._numbers.value == ""
    tables = explorer.picture.tables()
    assert repr(tables) == "input, n = 1, ci = 0; grad_output, n = 1, co = 0; grad_weight, co = 0, ci = 0"
    assert tables._repr_html_().count("<td>padding</td>") == 2 * 7 + 2 * 5 + 4
    assert '<th scope="row">−1</th><td>padding</td>' in tables
    for values in explorer.picture.rights[1, 0], explorer.picture.returned[0, 0]:
        assert "".join(f"<td>{number(value)}</td>" for value in values[0]) in tables


def first_code(path: Path) -> Cell:
    return Lesson.read(path).code[0]


FRAMES = [path.stem for path in lessons_of(NOTEBOOKS) if FRAMED.search(first_code(path).source)]


# --- What is said ------------------------------------------------------------------------------------------------


@every("explorers")
def test_an_explorer_says_what_is_stored_and_is_legible(family, heading, text, message):
    """Every explorer of every notebook. Where a fault is stored, or the kernel wrote something else, that is seen."""
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
    names = {heading: set() for _, heading, *_ in stored("explorers")}
    for _, heading, text, _ in stored("explorers"):
        names[heading].add(text.partition("(")[0])
    for path in lessons_of(NOTEBOOKS):
        assert names.get(path.stem, set()) == {*lesson(path.stem)}, path
