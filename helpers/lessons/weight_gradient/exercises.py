"""The exercises of lesson 02, to write, to mark and to plant: a window, an edge, an index, and the whole kernel."""

from functools import cache
from pathlib import Path

import numpy as np

from helpers.data import digits
from helpers.grading.puzzle import Case, Puzzle, Skill
from helpers.lessons.shared import marking, planted
from helpers.lessons.shared.classroom_tests import CLASSROOM, classroom_cases, differences
from helpers.lessons.shared.layers import draw, draw_quarters, drawn_layers, layer, layer_puzzles
from helpers.operations.convolution.shapes import ConvShape

Array = np.ndarray
HERE = Path(__file__)
FOLDER = HERE.with_name("puzzles")
WORDS = "N Ci H W Co kH"  # of the classroom's uniform


@cache
def _grad_weight_cases() -> tuple[Case, ...]:
    random = np.random.default_rng(5)
    nudged = draw(random, 1, 1, 6, 6), draw(random, 1, 2, 4, 4)
    return classroom_cases(
        _grad_weight_case,
        differences("weight", *nudged),
        (
            np.arange(25, dtype=np.float32).reshape(1, 1, 5, 5) % 7,
            np.arange(-4, 5, dtype=np.float32).reshape(1, 1, 3, 3),
        ),
        nudged,
        (digits.conv1_input(), draw(random, 1, 6, 24, 24, largest=3)),
        (digits.conv2_input(), draw(random, 1, 16, 8, 8, largest=3)),
        (draw_quarters(random, 2, 8, 6, 7), draw_quarters(random, 2, 10, 4, 5)),
    )


def _grad_weight_case(name: str, input: Array, grad_output: Array) -> Case:
    s = ConvShape.between(input.shape, grad_output.shape)
    tensors = {"grad_output": grad_output, "input": input}
    return layer(name, "grad_weight", s, WORDS, tensors)


def _larger() -> Case:
    """Many weights, of which each meets two pixels."""
    random = np.random.default_rng(5)
    return _grad_weight_case("larger", draw(random, 1, 1, 25, 26), draw(random, 1, 1, 1, 2))


GRAD_WEIGHT = Puzzle(
    "conv2d_grad_weight",
    FOLDER,
    "co ci kh kw",
    _grad_weight_cases,
    Skill.one_thread_for("weight", CLASSROOM[1], _larger),
    drawn_layers("grad_weight", WORDS),
)

PUZZLES = (*layer_puzzles(HERE.with_name("layers.toml"), FOLDER), GRAD_WEIGHT)
MARKINGS = marking.read(HERE.with_name("markings.toml"))
PLANTED = planted.read(
    HERE.with_name("planted.toml"),
    fault_that_the_hard_case_misses=(
        ConvShape(4, 7, 19, 18, 8, 5, 6, stride=2, padding=(1, 3)),  # as in the lesson: all sizes differ
        {
            "stride 1 and a batch of 2": ConvShape(2, 3, 6, 9, 5, 4, 2, stride=1, padding=(2, 0)),
            "stride 3 and more channels": ConvShape(5, 10, 11, 8, 9, 2, 4, stride=3, padding=(3, 2)),
        },
    ),
)
