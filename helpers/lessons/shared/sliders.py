"""Sliders over the elements of a result with letters, and over the threads of a workgroup."""

import numpy as np

from helpers.lessons.shared.pictures.sums import SumPicture
from helpers.pictures.canvas import Picture
from helpers.widgets.controls import Trials
from helpers.widgets.explorer import Explorer

Array = np.ndarray


def with_letters(picture: SumPicture, start: int, steps: Trials) -> Explorer:
    """Sliders over the rows and columns of a result with one plane; both begin at `start`."""

    def draw(product: int = 0, **place: int) -> Picture:
        return picture.show(*place.values(), product=product)

    names = picture.element
    sizes = picture.returned.shape[2:]
    rules = dict(zip(names, sizes, strict=True))
    values = dict.fromkeys(names, start)
    return Explorer(draw, rules, values, play=names, front=(), steps=steps)


def over_threads(picture: Picture, **options) -> Explorer:
    """A slider over the 256 threads of a workgroup; `options` are the Explorer's."""
    return Explorer(picture.show, {"thread": 256}, {"thread": 37}, play="thread", **options)
