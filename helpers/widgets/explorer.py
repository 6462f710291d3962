"""Pictures with sliders. Every state that the sliders can reach is a valid one, and each is also said in words."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from math import ceil
from reprlib import repr as shortened
from types import MappingProxyType

import ipywidgets
import numpy as np

from helpers.data.turns import in_turn
from helpers.pictures.canvas import Picture
from helpers.pictures.touchable import Adjustable, Touchable, Window
from helpers.widgets.controls import (
    DRAG,
    PACE,
    PLAY,
    POINT,
    Steps,
    Trials,
    Values,
    choice,
    control,
    fold,
    in_a_row,
    number_box,
    offer,
    player,
    slider,
)
from helpers.widgets.ranges import Ranges, Rule, limits
from helpers.widgets.shown import LAYER, Shown
from helpers.widgets.touch import WINDOW, Touch, Touched

# the most controls beside a picture, and CSS pixels of one
FRONT = 4
WIDEST = 280
BEHIND = 6  # controls in a row behind the fold


class Explorer(Shown):
    """One picture, a slider with a number box for each value, and one sentence that says what is seen.

    Parameters
    ----------
    draw : callable
        Takes the values by name and returns the picture, which it redraws in place.
    rules : mapping of name to rule
        The limits of each value, or a function that computes them from the values before it; a value that no longer
        fits moves to the limit.
    values : mapping of name to int
        Where the sliders start, if not at their first values.
    play : str or sequence of str
        The value that gets buttons to play it from its place to its end; several count as one number, the last of them
        fastest, as rows and columns do when a page is read.
    multiples : mapping of name to name
        Values that are multiples of another one before it, as their limits are; each moves to the nearest multiple.
    arrays : mapping of name to array
        Small arrays whose numbers the reader changes in the picture itself, and how they are at first: `draw` takes
        each by its name, as a new array of float64, and the picture says where it is, and what is allowed, by
        `Grid.adjust` (weights to click) or `Bars.drag_bars` (logits to drag)::

            def draw(weight: Array) -> Picture:
                picture = Picture()
                Grid(picture, weight, 16, 40, (40, 40), "weight").adjust("weight", -2, 2)
                picture.sentence = f"The weights add up to {number(weight.sum())}."
                return picture

            Explorer(draw, {}, arrays={"weight": np.zeros((3, 3))})
    front : sequence of str
        The values whose controls are always seen; the last four if not given. The others are behind "more settings".
    choices : mapping of name to sequence of str
        Values that are the numbers of things with names: each is chosen from the list of these names.
    steps : mapping of str to values or callable
        Up to three things to try, in short sentences. Each is ticked when the reader has reached its values
        (`by_pointing(values)`, `by_dragging` and `by_playing`: by this alone); a callable takes all values and arrays,
        and says whether they are reached.
    leap, pace : int
        How far each picture that is played is from the one before, and for how many milliseconds it is shown.

    The stored output of a cell is the picture and its sentence, so that they are there before anything runs. Where the
    picture has numbers in grids, "numbers" shows them as tables, which follow the picture (`Picture.tables`).
    """

    def __init__(
        self,
        draw: Callable[..., Picture],
        rules: Mapping[str, Rule],
        values: Values = MappingProxyType({}),
        *,
        arrays: Mapping[str, np.ndarray] = MappingProxyType({}),
        play: str | Sequence[str] = (),
        multiples: Mapping[str, str] | None = None,
        front: Sequence[str] | None = None,
        choices: Mapping[str, Sequence[str]] = MappingProxyType({}),
        steps: Trials = MappingProxyType({}),
        leap: int = 1,
        pace: int = PACE,
    ) -> None:
        super().__init__()
        self._draw = draw
        self._rules = rules
        self._settling = False
        self._play = [play] if isinstance(play, str) else list(play)
        self._ranges = Ranges(rules, multiples or {}, self._play)
        self._numbers = ipywidgets.HTML(layout={"display": "none"})
        self._layer = None
        self._open = fold("numbers", self._show_numbers)
        self._choices = choices
        self._controls = {name: self._controls_of(name) for name in rules}
        self._player = player(leap, pace) if play else None
        self._values = self._ranges.allowed({**dict.fromkeys(rules, 0), **values})
        self._arrays = {name: np.array(array, float) for name, array in arrays.items()}
        self._show(self._values)
        self._settle()
        self.steps = Steps(steps)
        self.front = [*(list(rules)[-FRONT:] if front is None else front)]
        above, below, behind = self._place(self.front)
        paper = self._paper(self._layer)
        self.children = [self.steps, above, paper, self._words, below, behind, self._numbers]
        self._listen()

    def _controls_of(self, name: str) -> list[ipywidgets.Widget]:
        """The controls that move one value."""
        if name in self._choices:
            return [choice(name)]
        return [number_box(name), slider()]

    # --- What is put where ------------------------------------------------------------------------------------

    def _place(self, front: Sequence[str]) -> tuple[ipywidgets.Widget, ...]:
        """The controls above the picture, what is below its sentence, and what is behind the first fold there."""
        rest = [name for name in self._rules if name not in front]
        behind = self._row(rest, BEHIND)
        behind.layout.display = "none"
        last_played = self._play[-1] if self._play else ""
        below = []
        if self._player and len(front) == 1:
            above = in_a_row(*self._controls[front[0]], self._player)
        elif last_played in front:
            above = self._row(front, len(front), last_played)
        else:
            above = self._row(front, len(front))
            if self._player:
                below.append(self._player)
        if rest:
            below.append(fold("more settings", lambda is_open: _show_or_hide(behind, is_open)))
        if self.picture.numbered:
            below.append(self._open)
        row = ipywidgets.HBox(below)
        row.add_class("convgrad-below")
        return above, row, behind

    def _row(self, names: Sequence[str], columns: int, played: str = "") -> ipywidgets.GridBox:
        """Controls in columns; the value that is `played`, if any, has the player beside it."""
        if not names:
            return ipywidgets.GridBox(layout={"display": "none"})
        width = min(self.picture.width // columns, WIDEST)
        pairs = []
        for name in names:
            beside = self._player if name == played else None
            pairs.append(control(*self._controls[name], player=beside))
        return ipywidgets.GridBox(pairs, layout={"grid_template_columns": f"repeat({columns}, {width}px)"})

    def _listen(self) -> None:
        """Follow what the reader does with the controls."""
        for name, controls in self._controls.items():
            for widget in controls:
                widget.observe(lambda change, name=name: self._used(lambda: self.set(**{name: change.new})), "value")
        if self._player:
            self._player.observe(lambda change: self._used(lambda: self._play_to(change.new)), "value")

    def _play_to(self, place: int) -> None:
        self._reach(self._ranges.values_at(place, self._values), PLAY)

    @in_turn
    def _used(self, act: Callable[[], object]) -> None:
        """Do what a control asks for, unless it only settles."""
        if not self._settling:
            act()

    # --- What is shown ----------------------------------------------------------------------------------------

    @property
    def sentence(self) -> str:
        """The picture's current sentence."""
        return self.picture.sentence

    @property
    def values(self) -> Values:
        """The values of the sliders."""
        return dict(self._values)

    @property
    def arrays(self) -> dict[str, np.ndarray]:
        """The numbers that the reader changes in the picture, as they are now."""
        return {name: array.copy() for name, array in self._arrays.items()}

    @in_turn
    def set(self, **values: int | np.ndarray) -> str:
        """Move sliders, or change arrays, from code; returns the new sentence.

        Raises ValueError for a name that has neither, and for an array of another size.
        """
        return self._reach(values)

    def _reach(self, values: Values, by: str = "") -> str:
        """Go to these values; `by` is how the reader does that, where a step may ask for it."""
        self._check_names(values)
        of_sliders = {}
        for name, value in values.items():
            if name in self._arrays:
                self._arrays[name] = self._read(name, value)
            else:
                of_sliders[name] = value
        self._values = self._ranges.allowed(self._values | of_sliders)
        self._show(self._values)
        self._settle()
        self.steps.tick(self._values | self._arrays, by)
        return self.sentence

    def _check_names(self, values: Values) -> None:
        """Refuse names that have neither sliders nor arrays."""
        known = [*self._rules, *self._arrays]
        unknown = sorted(set(values) - set(known))
        if unknown:
            raise ValueError(f"{', '.join(unknown)}: the sliders are {', '.join(known)}")

    def _read(self, name: str, numbers: object) -> np.ndarray:
        """An array as the picture allows it."""
        before = self._arrays[name]
        with suppress(TypeError, ValueError):  # of words, and of rows of several lengths
            array = np.array(numbers, float).ravel()
            if array.size == before.size and np.isfinite(array).all():
                return self.picture.touchable[name].read(array).reshape(before.shape)
        raise ValueError(f"{name} = {shortened(numbers)}: it must be {before.size} numbers")

    def _show(self, values: Values) -> None:
        """Draw the picture of these values, and say what it shows."""
        self.picture = self._draw(**values, **self.arrays)
        self._draw_paper()  # first, as this is what the reader waits for
        self._write_sentence(self.sentence)
        self._lay_cells()
        self._show_numbers(self._open.value)

    def _show_numbers(self, are_asked: bool) -> None:
        """Show the numbers of the picture as tables, or nothing."""
        self._numbers.value = self.picture.tables() if are_asked else ""
        _show_or_hide(self._numbers, are_asked)

    def _lay_cells(self) -> None:
        """Put cells to point at over the picture."""
        if self._layer is None:
            self._layer = Touch(self.picture.width, self.picture.height, self._act_on_touch, layout=LAYER)
        parts = self.picture.touchable
        chosen = {}
        for name, part in parts.items():
            cell = None if name in self._arrays else part.cell(self._values)
            if cell:
                chosen[name] = cell
        self._layer.lay(parts, chosen, self.picture.window)

    def _act_on_touch(self, touched: Touched) -> None:
        self._used(lambda: self._touched(touched))

    def _touched(self, touched: Touched) -> None:
        """Show what the reader points at; keep it where they choose it, and go back where the pointer leaves."""
        if touched.before is not None:
            values, done = touched.before
            self.steps.keep(done)
            self._reach(values)
        elif touched.grid is None:
            self._show(self._values)
            self._settle()
        elif touched.numbers is not None:
            is_bar = self._part(touched).upright
            self._reach({touched.grid: touched.numbers}, DRAG if is_bar else POINT)
        elif touched.chosen:
            self._reach(self._touched_values(touched), DRAG if touched.grid == WINDOW else POINT)
        elif not getattr(self._part(touched), "clicked", False):
            self._look_at(self._touched_values(touched))

    def _look_at(self, values: Values) -> None:
        """Show these values, without keeping them."""
        looked_at = self._ranges.allowed(self._values | values)
        self._show(looked_at)
        self._settle(looked_at)
        self.steps.tick(looked_at | self._arrays, POINT)

    def _part(self, touched: Touched) -> Touchable | Adjustable | Window:
        if touched.grid == WINDOW:
            return self.picture.window
        return self.picture.touchable[touched.grid]

    def _touched_values(self, touched: Touched) -> Values:
        return self._part(touched).values_at(touched.cell)

    def _settle(self, looked_at: Values | None = None) -> None:
        """Give every slider, number box and player its limits and its value: the chosen one, or the one looked at."""
        self._settling = True
        values = looked_at or self._values
        for name, rule in self._rules.items():
            low, high = limits(rule, values)
            if name in self._choices:
                (names,) = self._controls[name]
                offer(names, self._choices[name], range(low, high + 1), values[name])
                continue
            step = self._ranges.step(name, values)
            for widget in self._controls[name]:
                _give(widget, min=low, max=high, value=values[name], disabled=low == high, step=step)
        if self._play:
            self._settle_player(values)
        self._settling = False

    def _settle_player(self, values: Values) -> None:
        """Give the player its last place, and the place of these values."""
        leap = self._player.step
        last = ceil(self._ranges.last_place(values) / leap) * leap
        _give(self._player, max=last, value=self._ranges.place(values))


def _show_or_hide(widget: ipywidgets.Widget, is_shown: bool) -> None:
    """Show a widget, or leave no gap where it is."""
    widget.layout.display = None if is_shown else "none"


def _give(widget: ipywidgets.Widget, **wanted: int) -> None:
    """Set what differs, in one message, so that no limit moves a value on the way."""
    if any(getattr(widget, trait) != value for trait, value in wanted.items()):
        with widget.hold_sync(), widget.hold_trait_notifications():
            for trait, value in wanted.items():
                setattr(widget, trait, value)
