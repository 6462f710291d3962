"""What the kernels of a convolution and of its gradients are tried on: whole layers, and single planes."""

import re
from collections.abc import Iterator, Mapping
from functools import cache, partial
from pathlib import Path

import numpy as np

from helpers.convolution import reference
from helpers.convolution.shapes import ConvShape
from helpers.data import digits
from helpers.grading.puzzle import Case, Dispatch, Puzzle, Skill

Array = np.ndarray
Tensors = Mapping[str, Array]
Rows = Mapping[str, list[str]]  # of a table: numbers in words, by their test

LAYER = "N Ci H W Co kH kW S Ph oH oW Pw"  # the words of `ConvShape.params`
ANSWERS = {"output": reference.output, "grad_weight": reference.grad_weight, "grad_input": reference.grad_input}
BOUND = {"output": "input weight bias", "grad_weight": "grad_output input", "grad_input": "grad_output weight"}

# --- The small tensors that lessons 01 to 03 show, (1, 1, rows, columns) --------------------------------------


def _matrix(text: str) -> Array:
    return np.float32([row.split() for row in text.split(",")])[None, None]


IMAGE = _matrix("2 0 1 3 1, 1 4 2 0 2, 0 1 3 1 4, 2 2 0 1 0, 1 3 1 2 1")
UPSTREAM = _matrix("1 -1 2, 0 3 -1, 2 1 0")
WEIGHT = _matrix("2 0 -1, 1 3 0, -2 1 1")
BATCH = np.random.default_rng(4).integers(-4, 6, (2, 3, 3, 4)).astype(np.float32)  # of upstream gradients, in lesson 04
NO_BIAS = {"bias": np.zeros(1, np.float32)}
SHOWN = {  # and the tests with them
    "window_4x5": {"input": IMAGE[:, :, :4], "weight": _matrix("1 -1 2, 0 3 -2")},
    "window_5x5": {"input": IMAGE, "grad_output": UPSTREAM},
    "pixel_5x5": {"weight": WEIGHT, "grad_output": UPSTREAM},
}

# --- The puzzles of a table ------------------------------------------------------------------------------------

PART = re.compile(
    r"\[(.+)\]\n(\w+) of (.+?)(?:, given (.+))?: (?:seed (\d+), )?one thread for each (\w+) in (\w+)\n((?:.+\n)+)"
)
WORDS: dict[str, tuple[str, str]] = {}  # by the puzzle's name: what it computes, and the words of its uniform


def read_puzzles() -> Iterator[Puzzle]:
    """The puzzles of `layers.txt`, which says how it is read."""
    text = Path(__file__).with_name("layers.txt").read_text(encoding="utf-8")
    for names, result, axes, words, seed, item, test, rows in PART.findall(re.sub(r"(?m)^#.*\n|  #.*", "", text)):
        table = {name: sizes for name, *sizes in map(str.split, rows.splitlines())}
        make = partial(_indices, table) if result == "index" else partial(_random, result, words, int(seed), table)
        cases = cache(make)
        for name in names.split(", "):
            WORDS[name] = result, words
            yield Puzzle(name, "convolution", axes, cases, Skill.one_thread_for(item, test))


def _random(result: str, words: str, seed: int, table: Rows) -> tuple[Case, ...]:
    """Tests of a kernel that computes `result` from the tensors that are BOUND before it."""
    random, cases = np.random.default_rng(seed), []
    for name, (*sizes, height, width) in ((name, map(int, row[:10])) for name, row in table.items()):
        s = ConvShape(*sizes, (height, width))
        tensors = _drawn(result, s, random, _given(name, words), 4 if "quarters" in table[name] else 1)
        cases.append(layer(name, result, s, words, tensors))
    return tuple(cases)


def _given(test: str, words: str) -> Tensors:
    """The tensors of a test that are not random."""
    if test == "conv2d_lenet_conv1":
        return {"input": digits.conv1_input(1, first=3)}
    return SHOWN.get(test, {}) | ({} if "Ci" in words else NO_BIAS)


def _drawn(result: str, s: ConvShape, random: np.random.Generator, given: Tensors, divisor: int) -> Tensors:
    """The tensors of a test by name, in binding order; a random bias is never 0."""
    bound, tensors = BOUND[result].split(), dict(given)
    for name in ("input", "weight", "bias", "grad_output"):
        if name == "bias" and name in bound and name not in given:
            tensors[name] = np.float32(random.choice([-2, -1, 1, 2], s.out_channels)) / divisor
        elif name in bound and name not in given:
            tensors[name] = draw(random, *s.of(name), largest=3 if name == "weight" else 4) / divisor
    return {name: tensors[name] for name in bound}


def draw(random: np.random.Generator, *size: int, largest: int = 4) -> Array:
    """Random whole numbers of at most that absolute value, as float32."""
    return random.integers(-largest, largest + 1, size).astype(np.float32)


def draw_quarters(random: np.random.Generator, *size: int) -> Array:
    """Random quarters from -2 to 2, as float32."""
    return draw(random, *size, largest=8) / 4


# --- One test ---------------------------------------------------------------------------------------------------


def on_a_plane(puzzle: str, s: ConvShape, **matrices: Array) -> Case:
    """What a puzzle's kernel is given for one plane: the matrices of its tensors, by name."""
    result, words = WORDS[puzzle]
    given = {name: matrix[None, None] for name, matrix in matrices.items()} | NO_BIAS
    return layer("plane", result, s, words, {name: given[name] for name in BOUND[result].split()})


def layer(name: str, result: str, s: ConvShape, words: str, tensors: Tensors) -> Case:
    """A test of a kernel that computes a whole layer or, without channels, one plane, whose tensors are matrices."""
    sizes, inputs = dict(zip(LAYER.split(), s.params(), strict=True)), (*tensors.values(),)
    expected, params = ANSWERS[result](*inputs, s), tuple(sizes[word] for word in words.split())
    padding = s.padding if [*tensors][-1] == "input" else (0, 0)  # around what is drawn last
    if "Ci" in words:
        return case(name, inputs, expected, params, padding)
    matrices = tuple(tensor[0, 0] for tensor in inputs if tensor.ndim == 4)
    return case(name, matrices, expected[0, 0], params, padding, 64)


def _indices(table: Rows) -> tuple[Case, ...]:
    """Tests of a kernel that decodes an index."""
    sizes = {name: tuple(map(int, row)) for name, row in table.items()}
    rows = {name: np.indices(size).reshape(4, -1).T.astype(np.float32) for name, size in sizes.items()}
    return tuple(case(name, (), rows[name], size, at_once=4 * 64) for name, size in sizes.items())  # a row a thread


def case(
    name: str, inputs: tuple[Array, ...], expected: Array, params: tuple, padding: tuple = (0, 0), at_once: int = 256
) -> Case:
    """A test with a thread for each result, where a workgroup stores this many at once."""
    dispatches = (Dispatch((-(-expected.size // at_once), 1, 1)),)
    return Case(name, inputs, expected, params, dispatches, padding=padding)
