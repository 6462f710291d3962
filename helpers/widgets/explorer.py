"""Pictures with sliders. Every state that the sliders can reach is a valid one, and each is also said in words."""

import html
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from math import ceil, prod
from reprlib import repr as shortened
from types import MappingProxyType

import ipywidgets
import numpy as np

from helpers.data.turns import in_turn
from helpers.pictures.canvas import Picture
from helpers.pictures.touchable import Adjustable, Touchable, Window
from helpers.widgets import displayed, wake
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
from helpers.widgets.touch import WINDOW, Touch, Touched

Limits = int | tuple[int, int]  # the first and the last value, or how many there are, from 0 on
Rule = Limits | Callable[[Values], Limits]  # the limits of one value, or how they follow from the values before it

# the most controls beside a picture, and CSS pixels of one
FRONT = 4
WIDEST = 280
BEHIND = 6  # controls in a row behind the fold
# CSS pixels: the widest picture, and what stands above and below it on the first screen of a lesson
MOST = 1100
ABOVE_AND_BELOW = 490
LAYER = {"grid_area": "1 / 1", "margin": "0", "width": "100%"}  # one over the other
SENTENCE = "margin: 0; padding: 0 16px; line-height: 1.35; min-height: 2.7em"  # as high with one line as with two


class Shown(ipywidgets.VBox):
    """A picture, drawn as two images one over the other, and the sentence below it; a cell stores both."""

    picture: Picture

    def __init__(self) -> None:
        super().__init__()
        self._still = ipywidgets.HTML(layout=LAYER)
        self._moving = ipywidgets.HTML(layout=LAYER)
        self._words = ipywidgets.HTML()
        self.add_class("convgrad-explorer")

    def _paper(self, *above: ipywidgets.Widget) -> ipywidgets.GridBox:
        """The picture, and what lies over it."""
        paper = ipywidgets.GridBox([self._still, self._moving, *above])
        paper.layout = ipywidgets.Layout(width=filling(self.picture), max_width="100%", flex="0 0 auto")
        paper.add_class("convgrad-picture")
        return paper

    def _draw_paper(self) -> None:
        self._still.value, self._moving.value = self.picture.svg()

    def _write_sentence(self, sentence: str) -> None:
        """Write a sentence, which a screen reader reads aloud."""
        self._words.value = f'<p role="status" aria-live="polite" style="{SENTENCE}">{html.escape(sentence)}</p>'

    def _repr_mimebundle_(self, **kwargs) -> tuple[dict, dict]:
        data, metadata = self.picture._repr_mimebundle_(wake())
        return displayed(super()._repr_mimebundle_(**kwargs) | data), metadata


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
        self._multiples = multiples or {}
        self._play = [play] if isinstance(play, str) else list(play)
        self._numbers = ipywidgets.HTML()
        self._layer = None
        self._numbers.layout.display = "none"
        self._open = fold("numbers", self._show_numbers)
        self._choices = choices
        self._controls = {}
        for name in rules:
            self._controls[name] = [choice(name)] if name in choices else [number_box(name), slider()]
        self._player = player(leap, pace) if play else None
        self._values = self._allowed({**dict.fromkeys(rules, 0), **values})
        self._arrays = {name: np.array(array, float) for name, array in arrays.items()}
        self._show(self._values)
        self._settle()
        self.steps = Steps(steps)
        above, below, behind = self._place(list(rules)[-FRONT:] if front is None else front)
        paper = self._paper(self._layer)
        self.children = [self.steps, above, paper, self._words, below, behind, self._numbers]
        self._listen()

    # --- What is put where ------------------------------------------------------------------------------------

    def _place(self, front: Sequence[str]) -> tuple[ipywidgets.Widget, ...]:
        """The controls above the picture, what is below its sentence, and what is behind the first fold there."""
        rest = [name for name in self._rules if name not in front]
        beside = {name: self._player for name in self._play[-1:] if name in front}
        behind = self._row(rest, BEHIND)
        behind.layout.display = "none"
        more = fold("more settings", lambda is_open: setattr(behind.layout, "display", None if is_open else "none"))
        alone = [self._player] if self._player and not beside else []
        if self._player and len(front) == 1:
            above = in_a_row(*self._controls[front[0]], self._player)
            alone = []
        else:
            above = self._row(front, len(front), beside)
        return above, self._row_below(alone, more if rest else None), behind

    def _row_below(self, alone: Sequence[ipywidgets.Widget], more: ipywidgets.Widget | None) -> ipywidgets.HBox:
        """The row below the sentence: a player that stands alone, and the folds."""
        row = list(alone)
        if more:
            row.append(more)
        if self.picture.numbered:
            row.append(self._open)
        below = ipywidgets.HBox(row)
        below.add_class("convgrad-below")
        return below

    def _row(
        self, names: Sequence[str], columns: int, beside: Mapping[str, ipywidgets.Widget] | None = None
    ) -> ipywidgets.GridBox:
        """Controls in columns, one of them with the player beside it."""
        if not names:
            return ipywidgets.GridBox(layout={"display": "none"})
        grid = f"repeat({columns}, {min(self.picture.width // columns, WIDEST)}px)"
        pairs = [control(*self._controls[name], player=(beside or {}).get(name)) for name in names]
        return ipywidgets.GridBox(pairs, layout={"grid_template_columns": grid})

    def _listen(self) -> None:
        """Follow what the reader does with the controls."""
        for name, controls in self._controls.items():
            for widget in controls:
                widget.observe(lambda change, name=name: self._used(lambda: self.set(**{name: change.new})), "value")
        if self._player:
            self._player.observe(lambda change: self._used(lambda: self._play_to(change.new)), "value")

    def _play_to(self, place: int) -> None:
        self._reach(self._played(place), PLAY)

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
        known = [*self._rules, *self._arrays]
        unknown = sorted(set(values) - set(known))
        if unknown:
            raise ValueError(f"{', '.join(unknown)}: the sliders are {', '.join(known)}")
        for name in values.keys() & self._arrays.keys():
            self._arrays[name] = self._read(name, values[name])
        of_sliders = {name: value for name, value in values.items() if name in self._rules}
        self._values = self._allowed(self._values | of_sliders)
        self._show(self._values)
        self._settle()
        self.steps.tick(self._values | self._arrays, by)
        return self.sentence

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
        self._numbers.layout.display = None if are_asked else "none"

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
        if touched.grid is None:
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
        looked_at = self._allowed(self._values | values)
        self._show(looked_at)
        self._settle(looked_at)
        self.steps.tick(looked_at | self._arrays, POINT)

    def _part(self, touched: Touched) -> Touchable | Adjustable | Window:
        if touched.grid == WINDOW:
            return self.picture.window
        return self.picture.touchable[touched.grid]

    def _touched_values(self, touched: Touched) -> Values:
        return self._part(touched).values_at(touched.cell)

    def _allowed(self, wanted: Values) -> Values:
        """The nearest allowed values, in the order of the rules."""
        allowed = dict(wanted)
        for name, rule in self._rules.items():
            low, high = limits(rule, allowed)
            step = self._step(name, allowed)
            within = min(max(allowed[name], low), high)
            allowed[name] = (within + step // 2) // step * step
        return allowed

    def _step(self, name: str, values: Values) -> int:
        """From one allowed value to the next."""
        return values[self._multiples[name]] if name in self._multiples else 1

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
            step = self._step(name, values)
            for widget in self._controls[name]:
                _give(widget, min=low, max=high, value=values[name], disabled=low == high, step=step)
        if self._play:
            self._settle_player(values)
        self._settling = False

    def _settle_player(self, values: Values) -> None:
        """Give the player its last place, and the place of these values."""
        lows, sizes = self._played_range(values)
        place = np.subtract([values[name] for name in self._play], lows)
        leaps = ceil((prod(sizes) - 1) / self._player.step)
        _give(self._player, max=leaps * self._player.step, value=int(np.ravel_multi_index(place, sizes)))

    def _played_range(self, values: Values) -> tuple[list[int], list[int]]:
        """The first of each value that is played, and their numbers."""
        lows = []
        sizes = []
        for name in self._play:
            low, high = limits(self._rules[name], values)
            lows.append(low)
            sizes.append(high - low + 1)
        return lows, sizes

    def _played(self, place: int) -> Values:
        """The values at a place of the player."""
        lows, sizes = self._played_range(self._values)
        last = prod(sizes) - 1
        indices = np.unravel_index(min(place, last), sizes)
        return dict(zip(self._play, np.add(indices, lows).tolist(), strict=True))


def filling(picture: Picture) -> str:
    """The width of a picture in the page, in CSS: its column's, up to MOST, as far as the window is high enough."""
    ratio = picture.width / picture.height
    return f"clamp({picture.width}px, calc((100vh - {ABOVE_AND_BELOW}px) * {ratio:.3f}), {MOST}px)"


def _give(widget: ipywidgets.Widget, **wanted: int) -> None:
    """Set what differs, in one message, so that no limit moves a value on the way."""
    if any(getattr(widget, trait) != value for trait, value in wanted.items()):
        with widget.hold_sync(), widget.hold_trait_notifications():
            for trait, value in wanted.items():
                setattr(widget, trait, value)


def limits(rule: Rule, values: Values) -> tuple[int, int]:
    """The first and the last value that a rule allows beside these values."""
    allowed = rule(values) if callable(rule) else rule
    if isinstance(allowed, int):
        return 0, allowed - 1
    return allowed
