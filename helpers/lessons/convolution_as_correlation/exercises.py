"""The exercises of lesson 01, to write and to mark: a window, an edge, an index, and the whole kernel."""

from pathlib import Path

from helpers.lessons.shared import marking
from helpers.lessons.shared.layers import layer_puzzles

HERE = Path(__file__)
PUZZLES = layer_puzzles(HERE.with_name("layers.toml"), HERE.with_name("puzzles"))
MARKINGS = marking.read(HERE.with_name("markings.toml"))
