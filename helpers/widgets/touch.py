"""Cells over a picture that a reader points at, drags along and reaches by the arrow keys, and a window to drag."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

import anywidget
from traitlets import Dict, Int, List

from helpers.pictures.touchable import Adjustable, Cell, Touchable, Window
from helpers.widgets import HERE, script, synced

Part = Touchable | Adjustable
WINDOW = "the window"  # what is touched where the reader drags the frame itself


class Touched(NamedTuple):
    """A reader's touch: the name of a grid, the cell in it, and whether it is chosen or only looked at.

    The name is None where the pointer has left the picture. Of WINDOW, the cell may lie outside of what is allowed.
    Where a number is changed, `numbers` are all of the grid, row by row. `before` are the values, and the steps that
    are done, of a picture in the place of which this one is shown.
    """

    grid: str | None
    cell: Cell
    chosen: bool
    numbers: list[float] | None = None
    before: tuple[Mapping[str, int], list[bool]] | None = None


class Touch(anywidget.AnyWidget):
    """Named cells over the grids of a picture.

    Parameters
    ----------
    width, height : int
        The size of the picture, in CSS pixels.
    act : callable
        Takes what the reader touches, redraws, and returns; the next touch is sent when it has returned.
    """

    _esm = script("touch")
    _css = HERE / "touch.css"
    sheet = synced(Dict)
    grids = synced(List)
    chosen = synced(List)
    numbers = synced(List)
    window = synced(Dict)
    asked = synced(Dict, {"number": 0})
    answered = synced(Int, 0)

    def __init__(self, width: int, height: int, act: Callable[[Touched], None], **options: object) -> None:
        self._names: list[str] = []
        super().__init__(sheet={"width": width, "height": height}, **options)
        self.observe(lambda change: self._act(act, change.new), "asked")

    def _act(self, act: Callable[[Touched], None], asked: Mapping) -> None:
        """Do what was asked, and say that it is done even where it failed: the next touch waits for that."""
        try:
            name = None
            if asked["grid"] >= 0:
                grids = [*self._names, WINDOW]
                name = grids[asked["grid"]]
            before = (asked["values"], asked["done"]) if "values" in asked else None
            act(Touched(name, (asked["row"], asked["column"]), asked["chosen"], asked["numbers"], before))
        finally:
            self.answered = asked["number"]

    def lay(self, parts: Mapping[str, Part], chosen: Mapping[str, Cell], window: Window | None) -> None:
        """Lay cells over these grids, say which are chosen, and where the window is that can be dragged."""
        self._names = [*parts]
        with self.hold_sync():
            self.grids = [_placed(name, part) for name, part in parts.items()]
            self.chosen = [[self._names.index(name), *cell] for name, cell in chosen.items()]
            self.numbers = [part.grid.values.ravel().tolist() if part.limits else [] for part in parts.values()]
            self.window = _dragged(window) if window else {}


def _placed(name: str, part: Part) -> dict:
    grid = part.grid
    rows, columns = grid.values.shape
    return {
        "x": float(grid.x),
        "y": float(grid.y),
        "width": float(columns * grid.width),
        "height": float(rows * grid.height),
        "label": name,
        "rows": rows,
        "columns": columns,
        "names": [*grid.names],
        "limits": part.limits,
        "passing": part.passing,
    }


def _dragged(window: Window) -> dict[str, float]:
    names = "x", "y", "width", "height", "row", "column", "down", "right"
    numbers = *window.box, *window.place, *window.step
    return dict(zip(names, map(float, numbers), strict=True))
