"""Pictures with sliders. Every state that the sliders can reach is a valid one, and each is also said in words."""

import html
from collections.abc import Callable, Collection, Mapping
from math import ceil

import ipywidgets

from helpers.pictures.canvas import Picture, text_width
from helpers.widgets.touch import Touch, Touched

Values = dict[str, int]
Rule = Callable[[Values], tuple[int, int]]  # the limits of one value, from those before it

PACE = 800  # milliseconds for which each picture is shown while it plays
SENTENCE = "margin: 0; padding: 0 16px; line-height: 1.35; min-height: 2.7em"  # as high with one line as with two


class Explorer(ipywidgets.VBox):
    """One picture, a slider with a number box for each value, and one sentence that says what is seen.

    Parameters
    ----------
    draw : callable
        Takes the values by name and returns the picture, which it redraws in place.
    rules : mapping of name to rule
        The limits of each value, computed from the values before it; a value that no longer fits moves to the limit.
    values : mapping of name to int
        Where the sliders start.
    columns : int
        How many sliders are beside each other; all of them if not given.
    play : str
        The value that gets buttons to play it from its place to its end.
    multiples : mapping of name to name
        Values that are multiples of another one before it, as their limits are; each moves to the nearest multiple.
    sliders : collection of names
        The values that have a slider; all of them if it is empty. The others move only where they must.

    The stored output of a cell is the picture and its sentence, so that they are there before anything runs.
    """

    def __init__(
        self,
        draw: Callable[..., Picture],
        rules: Mapping[str, Rule],
        values: Values,
        columns: int | None = None,
        play: str | None = None,
        multiples: Mapping[str, str] | None = None,
        sliders: Collection[str] = (),
    ) -> None:
        self._draw, self._rules, self._values, self._settling = draw, rules, dict(values), False
        self._multiples = multiples or {}
        shown = [name for name in rules if name in (sliders or rules)]
        columns = columns or len(shown)
        layer = ipywidgets.Layout(grid_area="1 / 1", margin="0", width="100%")
        self._still, self._moving = ipywidgets.HTML(layout=layer), ipywidgets.HTML(layout=layer)
        self._words = ipywidgets.HTML()
        self._layer = None
        self._boxes = {name: _number_box(name) for name in shown}
        self._sliders = {name: ipywidgets.IntSlider(readout=False) for name in shown}
        self._players = {play: _player()} if play else {}
        kinds = self._boxes, self._sliders, self._players
        self._controls = {name: [kind[name] for kind in kinds if name in kind] for name in rules}
        self.set(**values)
        width = self.picture.width
        picture = ipywidgets.GridBox([self._still, self._moving, self._layer])  # one over the other
        picture.layout = ipywidgets.Layout(width=f"{width}px", max_width="100%", flex="0 0 auto")
        picture.add_class("convgrad-picture")
        grid = ipywidgets.Layout(grid_template_columns=f"repeat({columns}, {min(width // columns, 280)}px)")
        pairs = [_control(self._boxes[name], self._sliders[name], self._players.get(name)) for name in shown]
        super().__init__([ipywidgets.GridBox(pairs, layout=grid), picture, self._words])
        self.add_class("convgrad-explorer")
        for name, controls in self._controls.items():
            for control in controls:
                control.observe(lambda change, name=name: self._settling or self.set(**{name: change.new}), "value")

    @property
    def sentence(self) -> str:
        """What the picture shows now."""
        return self.picture.sentence

    @property
    def values(self) -> Values:
        """The values of the sliders."""
        return dict(self._values)

    def set(self, **values: int) -> str:
        """Move sliders from code; returns the new sentence.

        Raises ValueError for a name that has no slider.
        """
        if unknown := set(values) - set(self._rules):
            raise ValueError(f"{', '.join(sorted(unknown))}: the sliders are {', '.join(self._rules)}")
        self._values = self._allowed(self._values | values)
        self._show(self._values)
        self._settle()
        return self.sentence

    def _show(self, values: Values) -> None:
        """Draw the picture of these values, and say what it shows."""
        self.picture = self._draw(**values)
        self._still.value, self._moving.value = self.picture.svg()  # first, as this is what the reader waits for
        self._words.value = f'<p role="status" aria-live="polite" style="{SENTENCE}">{html.escape(self.sentence)}</p>'
        self._lay_cells()

    def _lay_cells(self) -> None:
        """Put cells to point at over the picture."""
        if self._layer is None:
            layer = {"grid_area": "1 / 1", "margin": "0", "width": "100%"}
            self._layer = Touch(self.picture.width, self.picture.height, self._touched, layout=layer)
        touchable = self.picture.touchable
        cells = {name: part.cell(self._values) for name, part in touchable.items()}
        grids = {name: part.grid for name, part in touchable.items()}
        self._layer.lay(grids, {name: cell for name, cell in cells.items() if cell})

    def _touched(self, touched: Touched) -> None:
        """Show what the reader points at; keep it where they choose it, and go back where the pointer leaves."""
        if touched.grid is None:
            self._show(self._values)
            return
        values = self.picture.touchable[touched.grid].said(touched.cell)
        if touched.chosen:
            self.set(**values)
        else:
            self._show(self._allowed(self._values | values))

    def _allowed(self, wanted: Values) -> Values:
        """The nearest allowed values, in the order of the rules."""
        allowed = dict(wanted)
        for name, rule in self._rules.items():
            low, high = rule(allowed)
            step = self._step(name, allowed)
            allowed[name] = (min(max(allowed[name], low), high) + step // 2) // step * step
        return allowed

    def _step(self, name: str, values: Values) -> int:
        """From one allowed value to the next."""
        return values[self._multiples[name]] if name in self._multiples else 1

    def _settle(self) -> None:
        """Give every slider and number box its limits and its value."""
        self._settling = True
        for name, rule in self._rules.items():
            low, high = rule(self._values)
            for control in self._controls[name]:
                wanted = {"min": low, "max": high, "value": self._values[name], "disabled": low == high}
                wanted["step"] = self._step(name, self._values)
                if any(getattr(control, trait) != value for trait, value in wanted.items()):
                    with control.hold_sync(), control.hold_trait_notifications():
                        for trait, value in wanted.items():
                            setattr(control, trait, value)
        self._settling = False

    def _repr_mimebundle_(self, **kwargs) -> tuple[dict, dict]:
        data, metadata = self.picture._repr_mimebundle_()
        return super()._repr_mimebundle_(**kwargs) | data, metadata


def _number_box(name: str) -> ipywidgets.BoundedIntText:
    label = max(54, ceil(text_width(name, 13)) + 4)  # CSS pixels
    layout = ipywidgets.Layout(width=f"{label + 58}px", max_width="calc(100% - 6px)", margin="2px 0 0")
    return ipywidgets.BoundedIntText(description=name, layout=layout, style={"description_width": f"{label}px"})


def _player() -> ipywidgets.Play:
    layout = ipywidgets.Layout(width="84px", height="28px", margin="2px 0 0 8px")
    return ipywidgets.Play(interval=PACE, show_repeat=False, layout=layout)


def _control(
    box: ipywidgets.BoundedIntText, slider: ipywidgets.IntSlider, player: ipywidgets.Play | None
) -> ipywidgets.VBox:
    slider.layout = ipywidgets.Layout(width="calc(100% - 16px)", height="22px", margin="0 8px")
    pair = ipywidgets.VBox([ipywidgets.HBox([box, player]) if player else box, slider])
    pair.add_class("convgrad-control")
    return pair


def below(limit: int) -> Rule:
    """The rule 0 <= value < limit."""
    return lambda values: (0, limit - 1)
