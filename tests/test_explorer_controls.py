"""An explorer under a reader's hand: controls, suggested steps, windows, cells, bars, the player, the tables."""

import re
from math import prod
from pathlib import Path

import numpy as np
import pytest
from support import convolution_explorers as explorers
from support.legible import faults
from support.threads import Busy, at_once

from helpers.data import digits
from helpers.lessons.meet_the_gpu import explorers as threads
from helpers.operations.convolution import reference
from helpers.operations.harness import whole
from helpers.pictures.canvas import Box, Picture, number
from helpers.pictures.marks import text_width
from helpers.pictures.parts import Bars
from helpers.widgets import shown
from helpers.widgets.controls import ByOne
from helpers.widgets.explorer import Explorer
from helpers.widgets.ranges import limits
from helpers.widgets.shown import filling

IMAGE, FILTER = whole((1, 1, 4, 5), 0), whole((1, 1, 2, 3), 1)
SMALL = explorers.weight_gradient, explorers.input_gradient, explorers.threads
ANY = explorers.any_forward, explorers.any_weight_gradient, explorers.any_input_gradient
MADE = {"forward": lambda: explorers.forward(IMAGE, FILTER)}
MADE |= {make.__name__: make for make in (*SMALL, *ANY)}


def touch(explorer: Explorer, grid: int, row: int, column: int, chosen: bool = True, numbers=None) -> None:
    """Send what the browser sends; the window comes after the last grid."""
    layer = explorer._layer
    place = {"grid": grid, "row": row, "column": column, "chosen": chosen, "numbers": numbers}
    layer.asked = {"number": layer.answered + 1, **place}


def beside(explorer: Explorer) -> tuple[set[str], set[str]]:
    """The values whose controls are beside the picture, and those behind the fold."""
    _, above, _, _, folds, behind, _ = (getattr(child, "children", child) for child in explorer.children)
    assert ("more settings" in {fold.description for fold in folds}) == bool(behind)
    return names_of(above), names_of(behind)


def names_of(widgets) -> set[str]:
    """The names of the number boxes and lists of names among some widgets, and in what they hold."""
    names = set()
    for widget in widgets:
        if type(widget).__name__ in ("BoundedIntText", "Dropdown"):
            names.add(widget.description)
        names |= names_of(getattr(widget, "children", ()))
    return names


FRONT = {
    explorers.any_forward: "stride padding kH kW",
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
    picture = Picture()
    sizes = dict.fromkeys("abcdef", 2)
    explorer = Explorer(lambda **_: picture, sizes, dict.fromkeys(sizes, 0))
    assert beside(explorer) == ({"c", "d", "e", "f"}, {"a", "b"})


WAYS = {"", "point", "drag", "play"}  # to reach some values; "" is a slider or a number box
REACHED = {"thread": 150, "stride": 3, "iw": 5}  # by these values, where a step is a function of them


def goal_of(trial, explorer: Explorer) -> tuple[dict[str, int], str]:
    """The values that tick a step, and the only way to reach them that counts, or ""."""
    values, way = trial if isinstance(trial, ByOne) else (trial, "")
    if callable(values):
        values = {name: value for name, value in REACHED.items() if name in explorer.values}
    return values, way


def ways_that_do_not_count(way: str) -> set[str]:
    """The ways to reach the values of a step that do not tick it."""
    return WAYS - {way} if way else {"play"}


@pytest.mark.parametrize("name", MADE)
def test_each_suggested_step_is_short_and_ticked_only_by_who_does_it(name):
    explorer = MADE[name]()
    trials, start = explorer.steps.trials, explorer.values
    assert 0 < len(trials) <= 3
    assert not any(explorer.steps.done)
    assert all(text_width(text, 13) < 2 * 200 for text in trials)  # two lines, where three steps share 840 pixels
    for i, (text, trial) in enumerate(trials.items()):
        values, way = goal_of(trial, explorer)
        require_words(text, values, way, start)
        before = explorer.steps.done
        for other in ways_that_do_not_count(way):
            explorer._reach(values, other)
        assert explorer.steps.done == before, "this is not what was asked for"
        explorer._reach(values, way)
        assert explorer.steps.done[i]
    assert all(explorer.steps.done)
    explorer.set(**dict.fromkeys(explorer.values, 0))
    assert all(explorer.steps.done), "a tick stays"
    assert all("✓" in step.value and 'aria-label="done"' in step.value for step in explorer.steps.children)


def require_words(text: str, values: dict[str, int], way: str, start: dict[str, int]) -> None:
    """Require that the sentence of a step asks for the way that counts, and for more than the first values."""
    verbs = re.findall(r"\b(point|drag|play)\b", text.lower())
    assert way == (verbs[-1] if verbs else ""), "the sentence asks for what counts"
    if " then " in text and not verbs:
        assert not values.items() & start.items(), "its first half is enough"


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
    steps = {"stride": 2, "padding": 1}
    explorer.set(**{step: value for step, value in steps.items() if step in explorer.values})
    start = explorer.picture.window
    index = len(explorer.picture.touchable)
    for place in (1, 1), (1, 0), (0, 1):
        touch(explorer, index, *place)
        now = explorer.picture.window
        assert now.place == place == tuple(explorer.values[axis] for axis in now.values)
        moved = np.multiply(np.subtract(place, start.place), start.step)
        assert np.allclose(np.subtract(now.box[1::-1], start.box[1::-1]), moved)
        framed = [mark.path.vertices[0] for mark in explorer.picture.marks if mark.line in (3, 4)]
        assert any(np.allclose(corner, now.box[:2]) for corner in framed)
    touch(explorer, index, -7, 99)
    (top, _), (_, right) = (limits(explorer._rules[axis], explorer.values) for axis in now.values)
    assert explorer.picture.window.place == (top, right)


def test_weights_that_are_clicked_make_the_output_of_the_reference():
    explorer = explorers.own_filter()
    digit = digits.conv1_input(1, first=7)
    grid = [*explorer.picture.touchable].index("weight")
    assert explorer._layer.grids[grid]["limits"] == {"low": -2, "high": 2, "step": 1, "upright": False}
    assert explorer._layer.numbers[grid] == [0, 0, 0, 0, 1, 0, 0, 0, 0]
    bright = 3 * digit[0, 0, 1:-1, 1:-1] >= 2 * digit.max()  # each weight is 0 but the middle one
    on = sum(is_on_level_stroke(oh, ow) for oh, ow in np.argwhere(bright).tolist())
    assert explorer.sentence.startswith(
        f"{bright.sum()} outputs are two thirds of the largest or more, {on} of them on the horizontal stroke, "
    )
    touch(explorer, grid, 2, 2, numbers=[-2, -2, -2, 0, 0, 0, 1, 1, 9])  # what is out of range is taken to its limit
    assert explorer.arrays["weight"].tolist() == [[-2, -2, -2], [0, 0, 0], [1, 1, 2]]
    assert explorer.steps.done == [True, True, False]
    output = reference.conv2d(digit, explorer.arrays["weight"][None, None])[0, 0]
    for oh, ow in (6, 15), (20, 11):
        right = number(output[oh, ow])
        assert explorer.set(oh=oh, ow=ow).endswith(f"= {right}; the kernel wrote {right}.")
    assert not [*faults(explorer.picture)]


# The first and the last column of the 7's horizontal stroke in each of its rows, as one sees it.
STROKE = {7: (15, 20), 8: (12, 21), 9: (8, 21), 10: (7, 21), 11: (7, 21), 12: (6, 11), 13: (6, 10), 14: (6, 7)}


def is_on_level_stroke(oh: int, ow: int) -> bool:
    """Return True where the window of an output holds pixels of the stroke."""
    for row in range(oh, oh + 3):
        first, last = STROKE.get(row, (99, 0))
        if first <= ow + 2 and ow <= last:
            return True
    return False


SOBEL = np.array([[1, 2, 1], [0, 0, 0], [-1, -2, -1]])
PREWITT = np.sign(SOBEL)
BAR = np.array([[-1, -1, -1], [2, 2, 2], [-1, -1, -1]])
DOT = np.diag([0, 1, 0])
BLUR = np.ones((3, 3))


@pytest.mark.parametrize(
    ("weight", "finds"),
    [
        *((filter, True) for filter in (SOBEL, -SOBEL, PREWITT, -PREWITT, 2 * PREWITT, BAR)),
        *((filter, False) for filter in (SOBEL.T, -SOBEL.T, PREWITT.T, -PREWITT.T, BAR.T, DOT, BLUR, 0 * BLUR)),
    ],
)
def test_the_usual_filters_find_the_level_stroke_and_their_transposes_do_not(weight, finds):
    explorer = explorers.own_filter()
    explorer.set(weight=weight)
    _, found, _ = explorer.steps.done
    assert found == finds


LATER = re.search(r"--convgrad-around: (\d+)px", Path(shown.__file__).with_name("touch.css").read_text())[1]


@pytest.mark.parametrize(
    ("height", "window", "first", "later"),
    [
        (266, 720, 840, 1100),
        (320, 720, 840, 1100),
        (442, 720, 840, 840),
        (442, 860, 840, 1064),
        (266, 1080, 1100, 1100),
    ],
)
def test_a_picture_fills_its_column_where_the_window_is_high_enough(height, window, first, later):
    """At 1280 x 720, the first one is as large as its screen holds, with its text; further down is more room."""
    rule = filling(Picture(height)).replace("100vh", "").replace("var(--convgrad-around, ", "").replace("px))", "px)")
    least, around, ratio, most = map(float, re.findall(r"[\d.]+", rule))
    assert np.clip((window - around) * ratio, least, most) == first
    assert np.clip((window - float(LATER)) * ratio, least, most) == pytest.approx(later, abs=1)


def test_a_value_with_names_alone_in_front_is_chosen_from_them_and_played():
    explorer = Explorer(lambda step: Picture(260), {"step": 3}, choices={"step": ["1/4", "1/2", "1"]}, play="step")
    row = explorer.children[1]
    assert [type(one).__name__ for one in row.children] == ["Dropdown", "Play"]
    row.children[0].value = 2
    assert explorer._values["step"] == 2


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
    bars_drawn, *_ = (mark.path.vertices for mark in explorer.picture.marks if mark.face and mark.path)
    ends = [[corners[0][1], corners[2][1]] for corners in np.split(bars_drawn, 4)]
    assert np.allclose(np.ptp(ends, axis=1), [1, 70, 70, 4.2])
    zero = 110
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
    sizes = [explorer._controls[axis][0].max + 1 for axis in explorer._play]
    player = explorer._player
    assert (player.min, player.max) == (0, prod(sizes) - 1)
    for i, place in enumerate(np.ndindex(*sizes)):
        player.value = i  # as a browser does while it plays
        assert tuple(explorer.values[axis] for axis in explorer._play) == place
    explorer.set(**dict.fromkeys(explorer._play, 1))
    assert player.value == sizes[1] + 1


def test_the_numbers_are_tables_that_follow_the_picture_only_while_they_are_asked_for():
    explorer = explorers.any_weight_gradient(padding=1)
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
