"""The exercises of lesson 03: a window, an edge, a stride and the whole kernel; cells to mark, cards, a barrier."""

from pathlib import Path

from helpers.grading.matching import matchings
from helpers.lessons.shared import marking, planted
from helpers.lessons.shared.layers import layer_puzzles
from helpers.operations.convolution.shapes import ConvShape

HERE = Path(__file__)
PUZZLES = layer_puzzles(HERE.with_name("layers.toml"), HERE.with_name("puzzles"))
MARKINGS = marking.read(HERE.with_name("markings.toml"))
BOUND = ("grad_output", "weight", "grad_input", "params.in_h")
MATCHINGS = matchings(HERE.with_name("matchings.toml"), enlarge=(BOUND, None))
PLANTED = planted.read(
    HERE.with_name("planted.toml"),
    barrier_that_one_channel_spares=(
        ConvShape(1, 1, 4, 4, 1, 3, 3),
        {
            "two output channels": ConvShape(1, 1, 4, 4, 2, 3, 3),
            "two images and a stride": ConvShape(2, 2, 7, 9, 3, 3, 2, stride=2, padding=(1, 0)),
        },
    ),
)
