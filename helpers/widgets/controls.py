"""The controls beside a picture: a number box above a slider, the buttons that play, folds, and what to try."""

import html
from collections.abc import Callable, Mapping, Sequence
from math import ceil
from typing import NamedTuple

import ipywidgets
from traitlets import Bunch

from helpers.pictures.marks import text_width

# what a reader does, where a step may ask for nothing else
POINT = "point"
DRAG = "drag"
PLAY = "play"
PACE = 800  # milliseconds for which each picture is shown while it plays
Values = dict[str, int]  # and arrays, where a reader changes numbers in the picture
Goal = Values | Callable[[Values], bool]  # the values at which a step is done


class ByOne(NamedTuple):
    """A goal that counts only where the reader reaches it by this: POINT, DRAG or PLAY."""

    goal: Goal
    action: str


Trials = Mapping[str, Goal | ByOne]  # by a short sentence


def by_pointing(goal: Goal) -> ByOne:
    """A goal to reach by pointing at a cell."""
    return ByOne(goal, POINT)


def by_dragging(goal: Goal) -> ByOne:
    """A goal to reach by dragging a frame or a bar."""
    return ByOne(goal, DRAG)


def by_playing(goal: Goal) -> ByOne:
    """A goal to reach while the picture plays."""
    return ByOne(goal, PLAY)


def number_box(name: str) -> ipywidgets.BoundedIntText:
    """A box to type a value into, labeled by its name."""
    label = max(54, ceil(text_width(name, 13)) + 4)  # CSS pixels
    layout = ipywidgets.Layout(width=f"{label + 58}px", max_width="calc(100% - 6px)", margin="2px 0 0")
    return ipywidgets.BoundedIntText(description=name, layout=layout, style={"description_width": f"{label}px"})


def slider() -> ipywidgets.IntSlider:
    """A slider, to stand below a number box."""
    layout = ipywidgets.Layout(width="calc(100% - 16px)", height="22px", margin="0 8px")
    return ipywidgets.IntSlider(readout=False, layout=layout)


def choice(name: str) -> ipywidgets.Dropdown:
    """A list of names to choose from, labeled by what they are."""
    label = max(54, ceil(text_width(name, 13)) + 4)  # CSS pixels
    layout = ipywidgets.Layout(width="calc(100% - 6px)", margin="2px 0 0")
    return ipywidgets.Dropdown(description=name, layout=layout, style={"description_width": f"{label}px"})


def offer(names: ipywidgets.Dropdown, texts: Sequence[str], allowed: Sequence[int], value: int) -> None:
    """Offer those of the names whose numbers are allowed, and choose that of the value."""
    options = tuple((texts[number], number) for number in allowed)
    if names.options != options:
        names.options = options
    names.value = value
    names.disabled = len(options) == 1


def player(leap: int, pace: int) -> ipywidgets.Play:
    """Buttons that play and go back to the start."""
    layout = ipywidgets.Layout(width="60px", height="28px", margin="2px 0 0 2px", flex="0 0 auto")
    return ipywidgets.Play(interval=pace, step=leap, show_repeat=False, layout=layout)


def control(
    box: ipywidgets.Widget, slider: ipywidgets.Widget | None = None, player: ipywidgets.Widget | None = None
) -> ipywidgets.Widget:
    """All that moves one value; a list of names has no slider."""
    if slider is None:
        return box
    pair = ipywidgets.VBox([ipywidgets.HBox([box, player]) if player else box, slider])
    pair.add_class("convgrad-control")
    return pair


def in_a_row(*controls: ipywidgets.Widget) -> ipywidgets.HBox:
    """All that moves the only value in front, and what plays it or the others: the picture needs the height."""
    for one in controls:
        if isinstance(one, ipywidgets.IntSlider | ipywidgets.Dropdown):
            one.layout.width = "180px"
    row = ipywidgets.HBox(controls)
    row.add_class("convgrad-control")
    return row


def fold(name: str, act: Callable[[bool], None]) -> ipywidgets.ToggleButton:
    """A button that opens something in place, closed at first: `act` takes whether it is open."""
    button = ipywidgets.ToggleButton(description=name)
    button.add_class("convgrad-fold")

    def opened(change: Bunch) -> None:
        act(change.new)
        if change.new:
            button.add_class("convgrad-open")  # read by touch.js
        else:
            button.remove_class("convgrad-open")

    button.observe(opened, "value")
    return button


class Steps(ipywidgets.GridBox):
    """Suggested steps in a row: each with a box that gets a tick, and keeps it, when the reader has reached its values.

    A goal by one action is reached by that one alone; all others are reached by all but playing, which passes through
    many values.
    """

    def __init__(self, trials: Trials) -> None:
        self.trials = trials
        self._done = [False] * len(trials)
        layout = {"grid_template_columns": f"repeat({len(trials)}, minmax(0, 1fr))"} if trials else {"display": "none"}
        super().__init__([ipywidgets.HTML() for _ in trials], layout=layout)
        self.add_class("convgrad-steps")
        self._write()

    @property
    def done(self) -> list[bool]:
        """The steps that are ticked."""
        return [*self._done]

    def tick(self, values: Values, by: str = "") -> None:
        """Tick what these values reach, where what the reader does is what was asked for."""
        for i, trial in enumerate(self.trials.values()):
            if _asks_for(trial, by) and reaches(trial, values):
                self._done[i] = True
        self._write()

    def keep(self, done: Sequence[bool]) -> None:
        """Tick the steps that were done before, in another picture of the same kind."""
        self._done = [is_done or before for is_done, before in zip(self._done, done, strict=True)]

    def _write(self) -> None:
        for i, (child, text, done) in enumerate(zip(self.children, self.trials, self._done, strict=True), 1):
            state = "done" if done else "not done yet"
            sign = "✓" if done else ""
            box = f'<span class="convgrad-tick" role="img" aria-label="{state}">{sign}</span>'
            child.value = f'<p class="convgrad-step"><b>{i}</b>{box}<span>{html.escape(text)}</span></p>'


def _asks_for(trial: Goal | ByOne, by: str) -> bool:
    """Return whether a step asks for what the reader does."""
    if isinstance(trial, ByOne):
        return by == trial.action
    return by != PLAY


def reaches(trial: Goal | ByOne, values: Values) -> bool:
    """Return whether these values are a step's goal."""
    goal = trial.goal if isinstance(trial, ByOne) else trial
    if callable(goal):
        return bool(goal(values))
    return goal.items() <= values.items()
