"""A picture in the page, with its sentence below it; a cell stores both."""

import html

import ipywidgets

from helpers.pictures.canvas import Picture
from helpers.widgets import displayed, wake

# CSS pixels: the widest picture, and what stands above and below it on the first screen of a lesson; a picture further
# down has less around it, which touch.css says
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
        """Draw the picture of this moment."""
        still, moving = self.picture.svg()
        self._still.value = still
        self._moving.value = moving

    def _write_sentence(self, sentence: str) -> None:
        """Write a sentence, which a screen reader reads aloud."""
        self._words.value = f'<p role="status" aria-live="polite" style="{SENTENCE}">{html.escape(sentence)}</p>'

    def _repr_mimebundle_(self, **kwargs) -> tuple[dict, dict]:
        data, metadata = self.picture._repr_mimebundle_(wake())
        widget = super()._repr_mimebundle_(**kwargs)
        return displayed(widget | data), metadata


def filling(picture: Picture) -> str:
    """The width of a picture in the page, in CSS: its column's, up to MOST, as far as the window is high enough."""
    ratio = picture.width / picture.height
    around = f"var(--convgrad-around, {ABOVE_AND_BELOW}px)"
    return f"clamp({picture.width}px, calc((100vh - {around}) * {ratio:.3f}), {MOST}px)"
