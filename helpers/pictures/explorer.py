"""Pictures with sliders. Every state that the sliders can reach is a valid one, and each is also said in words."""

import html
from collections.abc import Callable, Mapping, Sequence
from itertools import pairwise

import ipywidgets

from helpers.pictures.canvas import Picture

Values = dict[str, int]
Rule = Callable[[Values], tuple[int, int]]  # the limits of one value, from those before it


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
    breaks : names
        Values with which a new row of sliders begins.

    The stored output of a cell is the picture and its sentence, so that they are there before anything runs.
    """

    def __init__(
        self, draw: Callable[..., Picture], rules: Mapping[str, Rule], values: Values, breaks: Sequence[str] = ()
    ) -> None:
        self._draw, self._rules, self._values, self._settling = draw, rules, dict(values), False
        self._values = self._allowed(values)
        self._picture = draw(**self._values)
        width, height = f"{self._picture.width}px", f"{self._picture.height}px"
        fit = {"max_width": "calc(100% - 4px)", "object_fit": "contain", "object_position": "left top"}
        layout = ipywidgets.Layout(width=width, height=height, flex="0 0 auto", **fit)
        self._image = ipywidgets.Image(format="png", layout=layout)
        self._words = ipywidgets.HTML()
        self._boxes = {name: _number_box(name) for name in rules}
        length = min(300, max(64, self._picture.width // len(rules) - 130))  # CSS pixels
        self._sliders = {name: _slider(box, length) for name, box in self._boxes.items()}
        pairs = [ipywidgets.HBox([self._boxes[name], self._sliders[name]]) for name in rules]
        starts = [0, *(i for i, name in enumerate(rules) if name in breaks), len(rules)]
        wrap = ipywidgets.Layout(flex_flow="row wrap", max_width=width)
        rows = [ipywidgets.Box(pairs[i:j], layout=wrap) for i, j in pairwise(starts)]
        super().__init__([*rows, self._image, self._words])
        self.set(**values)
        for box in self._boxes.values():
            box.observe(lambda change: self._settling or self.set(), "value")

    @property
    def sentence(self) -> str:
        """What the picture shows now."""
        return self._picture.sentence

    @property
    def values(self) -> Values:
        """Where the sliders stand."""
        return dict(self._values)

    def set(self, **values: int) -> str:
        """Move sliders from code; returns the new sentence.

        Raises ValueError for a name that has no slider.
        """
        if unknown := set(values) - set(self._rules):
            raise ValueError(f"{', '.join(sorted(unknown))}: the sliders are {', '.join(self._rules)}")
        self._settle({name: values.get(name, box.value) for name, box in self._boxes.items()})
        self._picture = self._draw(**self._values)
        self._image.value = self._picture.png()
        self._words.value = f'<p role="status" aria-live="polite">{html.escape(self.sentence)}</p>'
        return self.sentence

    def _allowed(self, wanted: Values) -> Values:
        """The nearest allowed values, in the order of the rules."""
        allowed = dict(wanted)
        for name, rule in self._rules.items():
            low, high = rule(allowed)
            allowed[name] = min(max(allowed[name], low), high)
        return allowed

    def _settle(self, wanted: Values) -> None:
        """Give every slider its limits and the nearest allowed value."""
        self._values, self._settling = self._allowed(wanted), True
        for name, rule in self._rules.items():
            low, high = rule(self._values)
            for control in (self._boxes[name], self._sliders[name]):
                with control.hold_trait_notifications():
                    control.min, control.max, control.value = low, high, self._values[name]
                control.disabled = low == high
        self._settling = False

    def _repr_mimebundle_(self, **kwargs) -> tuple[dict, dict]:
        data, metadata = self._picture._repr_mimebundle_()
        return super()._repr_mimebundle_(**kwargs) | data, metadata


def _number_box(name: str) -> ipywidgets.BoundedIntText:
    layout = ipywidgets.Layout(width="108px")
    return ipywidgets.BoundedIntText(description=name, layout=layout, style={"description_width": "54px"})


def _slider(box: ipywidgets.BoundedIntText, length: int) -> ipywidgets.IntSlider:
    layout = ipywidgets.Layout(width=f"{length}px", margin="2px 4px")
    slider = ipywidgets.IntSlider(readout=False, layout=layout)
    ipywidgets.link((box, "value"), (slider, "value"))
    return slider


def below(limit: int) -> Rule:
    """The rule 0 <= value < limit."""
    return lambda values: (0, limit - 1)
