"""Cases for the kernels of a convolution and of its gradients: whole layers, and single planes."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, cached_property
from math import ceil
from pathlib import Path

import numpy as np

from helpers.data import digits, tables
from helpers.grading.puzzle import Case, Dispatch, Drawn, Puzzle, Skill
from helpers.lessons.shared.drawn_layers import (
    Sizes,
    all_sizes,
    draw_indices,
    draw_layer,
    facts_of_indices,
    facts_of_layer,
)
from helpers.lessons.shared.drawn_numbers import draw_numbers, with_rounding
from helpers.lessons.shared.small_image import SHOWN
from helpers.operations.convolution import reference
from helpers.operations.convolution.shapes import ConvShape

Array = np.ndarray
Tensors = Mapping[str, Array]

LAYER = "N Ci H W Co kH kW S Ph oH oW Pw"  # the words of `ConvShape.params`
ANSWERS = {
    "output": reference.output,
    "grad_weight": reference.grad_weight,
    "grad_input": reference.grad_input,
}
BOUND = {
    "output": "input weight bias",
    "grad_weight": "grad_output input",
    "grad_input": "grad_output weight",
}

THREADS, WORKGROUP = 64, 256  # of a workgroup, for a plane or an index, and for a layer
LETTERS = "N", "Ci", "H", "W", "Co", "kH", "kW"  # the first sizes of a `ConvShape`
NO_BIAS = {"bias": np.zeros(1, np.float32)}

# --- The puzzles of a lesson's table --------------------------------------------------------------------------

NEEDED = {
    "computes": str,
    "axes": str,
    "one_thread_for": str,
    "counted_in": str,
    "tests": dict,
}
OPTIONAL = {
    "also": list,
    "words": str,
    "seed": int,
    "quarters": list,
    "larger": list,
}


@dataclass(frozen=True)
class Task:
    """The task of a lesson's kernel, and the layers on which it is tried: a table of its ``layers.toml``.

    `computes` is a tensor of a convolution, or "index" where the kernel decodes an index, with the `axes` of the
    output. `words` are those of its uniform, as `ConvShape.params` has them: without Ci among them it computes one
    plane, and has no bias. Those of an index are its sizes. A row of `tests` has the sizes of a layer, in the order of
    N Ci H W Co kH kW S Ph Pw, or those of an index. Each test adds one thing to those before it; the numbers of those
    in `quarters` are quarters. `seed` is that of all numbers. `larger` are the sizes of a problem beyond the tests, in
    which work is counted.
    """

    computes: str
    axes: str
    one_thread_for: str
    counted_in: str
    tests: Mapping[str, list[int]]
    also: tuple[str, ...] = ()
    words: str = ""
    seed: int = 0
    quarters: tuple[str, ...] = ()
    larger: tuple[int, ...] = ()

    @cached_property
    def cases(self) -> tuple[Case, ...]:
        """The tests."""
        random = np.random.default_rng(self.seed)
        cases = []
        for name, sizes in self.tests.items():
            cases.append(self._case(name, sizes, random))
        return tuple(cases)

    def larger_case(self) -> Case:
        """The larger problem, in which the work is counted."""
        return self._case("larger", self.larger, np.random.default_rng(self.seed))

    def _case(self, name: str, row: Sequence[int], random: np.random.Generator) -> Case:
        """Return a test of a kernel that decodes an index, or computes a tensor from those that are BOUND before it."""
        if self.computes == "index":
            return _index_case(name, row)
        *sizes, padding_h, padding_w = row
        s = ConvShape(*sizes, padding=(padding_h, padding_w))
        divisor = 4 if name in self.quarters else 1
        fixed = _fixed(name, self.words)
        tensors = _drawn(self.computes, s, random, fixed, divisor)
        return layer(name, self.computes, s, self.words, tensors)

    def on_a_plane(self, s: ConvShape, **matrices: Array) -> Case:
        """Return what the kernel is given for one plane: the matrices of its tensors, by name."""
        planes = {name: matrix[None, None] for name, matrix in matrices.items()}
        tensors = planes | NO_BIAS
        bound = {name: tensors[name] for name in BOUND[self.computes].split()}
        return layer("plane", self.computes, s, self.words, bound)


@cache
def tasks(file: Path) -> dict[str, Task]:
    """Return the tasks of a lesson's ``layers.toml`` by their puzzles' names, in their order."""
    by_puzzle = {}
    for name, table in tables.read(file, NEEDED, OPTIONAL).items():
        task = Task(**table)
        by_puzzle[name] = task
        for other_name in task.also:
            by_puzzle[other_name] = task
    return by_puzzle


def layer_puzzles(file: Path, folder: Path) -> tuple[Puzzle, ...]:
    """Return the puzzles of a lesson's ``layers.toml``, whose official kernels are in a folder."""
    return tuple(_puzzle(name, task, folder) for name, task in tasks(file).items())


def _puzzle(name: str, task: Task, folder: Path) -> Puzzle:
    skill = Skill.one_thread_for(task.one_thread_for, task.counted_in, task.larger_case)
    return Puzzle(name, folder, task.axes, lambda: task.cases, skill, drawn_layers(task.computes, task.words))


def drawn_layers(computes: str, words: str) -> Drawn:
    """Return the problems that are drawn for a kernel with these words in its uniform."""
    if computes == "index":
        return Drawn(draw_indices(words, THREADS), _drawn_index_case, facts_of_indices(THREADS))

    def drawn_case(name: str, sizes: Sizes, random: np.random.Generator) -> Case:
        whole = all_sizes(sizes)
        padding = whole["Ph"], whole["Pw"]
        s = ConvShape(*(whole[letter] for letter in LETTERS), stride=whole["S"], padding=padding)
        tensors = {tensor: draw_numbers(random, sizes, *s.of(tensor)) for tensor in BOUND[computes].split()}
        if "Ci" not in words and "bias" in tensors:
            tensors |= NO_BIAS
        made = layer(name, computes, s, words, tensors)
        return with_rounding(made, sizes, lambda *data: ANSWERS[computes](*data, s), *tensors.values())

    at_once = WORKGROUP if "Ci" in words else THREADS
    return Drawn(draw_layer(computes, words, at_once), drawn_case, facts_of_layer(computes, at_once))


def _fixed(test: str, words: str) -> Tensors:
    """The tensors of a test that are not random."""
    if test == "conv2d_lenet_conv1":
        return {"input": digits.conv1_input(1, first=3)}
    shown = SHOWN.get(test, {})
    if "Ci" in words:
        return shown
    return shown | NO_BIAS


def _drawn(result: str, s: ConvShape, random: np.random.Generator, fixed: Tensors, divisor: int) -> Tensors:
    """The tensors of a test by name, in binding order: those that are fixed, and random ones."""
    bound = BOUND[result].split()
    tensors = dict(fixed)
    for name in ("input", "weight", "bias", "grad_output"):  # this order decides which numbers each has
        if name in bound and name not in fixed:
            tensors[name] = _draw_tensor(name, s, random) / divisor
    return {name: tensors[name] for name in bound}


def _draw_tensor(name: str, s: ConvShape, random: np.random.Generator) -> Array:
    """Random whole numbers; a bias is never 0."""
    if name == "bias":
        return np.float32(random.choice([-2, -1, 1, 2], s.out_channels))
    largest = 3 if name == "weight" else 4
    return draw(random, *s.of(name), largest=largest)


def draw(random: np.random.Generator, *size: int, largest: int = 4) -> Array:
    """Random whole numbers of at most that absolute value, as float32."""
    return random.integers(-largest, largest + 1, size).astype(np.float32)


def draw_quarters(random: np.random.Generator, *size: int) -> Array:
    """Random quarters from -2 to 2, as float32."""
    return draw(random, *size, largest=8) / 4


# --- One test ---------------------------------------------------------------------------------------------------


def layer(name: str, result: str, s: ConvShape, words: str, tensors: Tensors) -> Case:
    """A test of a kernel that computes a whole layer or, without channels, one plane, whose tensors are matrices."""
    sizes = dict(zip(LAYER.split(), s.params(), strict=True))
    inputs = (*tensors.values(),)
    expected = ANSWERS[result](*inputs, s)
    params = tuple(sizes[word] for word in words.split())
    last = next(reversed(tensors))
    padding = s.padding if last == "input" else (0, 0)  # around what is drawn last
    if "Ci" in words:
        return case(name, inputs, expected, params, padding)
    matrices = tuple(tensor[0, 0] for tensor in inputs if tensor.ndim == 4)
    return case(name, matrices, expected[0, 0], params, padding, at_once=THREADS)


def _drawn_index_case(name: str, sizes: Sizes, random: np.random.Generator) -> Case:
    """Return the test of an index with these sizes; it has no numbers that are drawn."""
    return _index_case(name, (*sizes.values(),))


def _index_case(name: str, size: Sequence[int]) -> Case:
    """Return a test of a kernel that decodes an index: each thread stores a row."""
    rows = np.indices(size).reshape(4, -1).T.astype(np.float32)
    return case(name, (), rows, tuple(size), at_once=4 * THREADS)


def case(
    name: str,
    inputs: tuple[Array, ...],
    expected: Array,
    params: tuple,
    padding: tuple = (0, 0),
    at_once: int = WORKGROUP,
) -> Case:
    """A test with a thread for each result, where a workgroup stores this many at once."""
    workgroups = ceil(expected.size / at_once), 1, 1
    return Case(name, inputs, expected, params, (Dispatch(workgroups),), padding=padding)
