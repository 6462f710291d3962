"""Record all states of a small picture, for a page without Python.

`front/recorded.js` looks them up, and has no rule of its own. `front_answers.py` and `lesson_pictures.py` say which
pictures are recorded.
"""

import json
import re

from helpers.widgets.controls import Values, reaches
from helpers.widgets.explorer import Explorer
from helpers.widgets.ranges import limits
from helpers.widgets.shown import filling
from helpers.widgets.touch import Touched

MOST_STATES = 450  # of a picture: more are left to Python
MOST_IMAGES = 2_000  # of all states, with what is seen at each cell that no slider has
ELEMENT = re.compile(r"<text.*?</text>|<style>.*?</style>|<[a-z]+[^>]*/>")


class NotRecordedError(ValueError):
    """A picture that has too many states, or numbers that the reader changes."""


class Recording:
    """All states of a picture; the elements of its images and the cells over it are kept once each.

    Raises NotRecordedError where there are too many states, or where the reader changes numbers in the picture.
    """

    def __init__(self, explorer: Explorer) -> None:
        if explorer.arrays:
            raise NotRecordedError("the reader changes numbers in it")
        self.explorer, self.layer = explorer, explorer._layer
        self.pieces: dict[str, int] = {}
        self.layouts: dict[str, int] = {}
        self.images = 0

    def data(self) -> dict:
        """The recording, for JSON."""
        explorer, start = self.explorer, self.explorer.values
        states = self._states()
        explorer.set(**start)
        steps = explorer.steps.trials.items()
        return {
            "sheet": self.layer.sheet,
            "width": filling(explorer.picture),
            "head": re.match("<svg[^>]*>", explorer.picture.svg()[0])[0],
            "names": [*start],
            "front": explorer.front,
            "played": explorer._play,
            "choices": {name: [*names] for name, names in explorer._choices.items()},
            "start": key(start.values()),
            "steps": [{"text": text, "by": getattr(goal, "action", "")} for text, goal in steps],
            "states": states,
            "layouts": [*map(json.loads, self.layouts)],
            "pieces": [*self.pieces],
        }

    def _states(self) -> dict[str, dict]:
        """All states. Raises NotRecordedError where one depends on what was seen before it."""
        values_of = states_of(self.explorer)
        states = {key(values.values()): self._state(values) for values in values_of}
        for values in reversed(values_of):
            self.explorer.set(**values)
            if not self._seen(values).items() <= states[key(values.values())].items():
                raise NotRecordedError("it remembers what was seen before")
        return states

    def _state(self, values: Values) -> dict:
        """A state, and what is seen of it when the reader points at a cell that no slider has."""
        self.explorer.set(**values)
        looks = {}
        for name, part in self.explorer.picture.touchable.items():
            if part.passing:
                looks |= {compact(extra): (name, cell) for cell, extra in part.values.items()}
        self.images += 1 + len(looks)
        if self.images > MOST_IMAGES:
            raise NotRecordedError(f"it has more than {MOST_IMAGES} images")
        layout = json.dumps(self._layout())
        return {
            **self._seen(values),
            "layout": self.layouts.setdefault(layout, len(self.layouts)),
            "chosen": self.layer.chosen,
            "window": self.layer.window,
            "looks": {extra: self._look(values, look, json.loads(extra)) for extra, look in looks.items()},
        }

    def _layout(self) -> dict:
        """The image that stands still, and the cells over it with the values that they stand for."""
        picture = self.explorer.picture
        parts = picture.touchable.values()
        return {
            "still": self._places(picture.svg()[0]),
            "grids": self.layer.grids,
            "cells": [{key(cell): {**extra} for cell, extra in part.values.items()} for part in parts],
            "clicked": [part.clicked for part in parts],
            "dragged": picture.window.values if picture.window else [],
        }

    def _look(self, values: Values, look: tuple, extra: Values) -> dict:
        """The picture when the reader points at a cell. Raises NotRecordedError where the cells themselves change."""
        before = self.layer.grids, self.layer.chosen, self.layer.window
        self.explorer._touched(Touched(*look, chosen=False))
        if (self.layer.grids, self.layer.chosen, self.layer.window) != before:
            raise NotRecordedError("its cells change where the reader points")
        seen = self._seen(values | extra)
        self.explorer._touched(Touched(None, (0, 0), chosen=False))
        return seen

    def _seen(self, values: Values) -> dict:
        """The image that moves, the sentence, and the steps that are reached."""
        explorer = self.explorer
        done = [i for i, goal in enumerate(explorer.steps.trials.values()) if reaches(goal, values)]
        return {"moving": self._places(explorer.picture.svg()[1]), "sentence": explorer.sentence, "done": done}

    def _places(self, image: str) -> list[int]:
        """The places of an image's elements among all."""
        inside = image[image.index(">") + 1 : image.rindex("</svg>")]
        return [self.pieces.setdefault(element, len(self.pieces)) for element in ELEMENT.findall(inside)]


def states_of(explorer: Explorer) -> list[Values]:
    """All values that the sliders reach. Raises NotRecordedError where they are too many."""
    states: list[Values] = [{}]
    for name, rule in explorer._rules.items():
        longer = []
        for values in states:
            low, high = limits(rule, values)
            step = explorer._ranges.step(name, values)
            longer += [{**values, name: value} for value in range(-(-low // step) * step, high + 1, step)]
        states = longer
        if len(states) > MOST_STATES:
            raise NotRecordedError(f"it has more than {MOST_STATES} states")
    return states


def compact(data: object) -> str:
    """Data as JavaScript writes it in JSON."""
    return json.dumps(data, separators=(",", ":"), ensure_ascii=False)


def key(values: object) -> str:
    """The name of a state, its values in the order of the sliders; or of a cell."""
    return " ".join(map(str, values))
