"""What the kernels of a convolution and of its gradients are tried on: whole layers, and single planes."""

from collections.abc import Callable, Mapping
from functools import cache
from types import MappingProxyType

import numpy as np

from helpers.convolution import reference
from helpers.convolution.shapes import ConvShape
from helpers.grading.puzzle import Case, Dispatch, Puzzle, Skill

Array = np.ndarray
Cases = Callable[[], tuple[Case, ...]]
Tensors = Mapping[str, Array]
NONE: Mapping = MappingProxyType({})

LAYER = "N Ci H W Co kH kW S Ph oH oW Pw"  # the words of `ConvShape.params`
ANSWERS = {"output": reference.output, "grad_weight": reference.grad_weight, "grad_input": reference.grad_input}
BOUND = {"output": "input weight bias", "grad_weight": "grad_output input", "grad_input": "grad_output weight"}


def draw(random: np.random.Generator, *size: int, largest: int = 4) -> Array:
    """Random whole numbers of at most that absolute value, as float32."""
    return random.integers(-largest, largest + 1, size).astype(np.float32)


def draw_quarters(random: np.random.Generator, *size: int) -> Array:
    """Random quarters from -2 to 2, as float32."""
    return draw(random, *size, largest=8) / 4


def random_cases(
    result: str,
    sizes: Mapping[str, ConvShape],
    seed: int,
    words: str = LAYER,
    given: Mapping[str, Tensors] = NONE,
    in_quarters: str = "",
) -> Cases:
    """Random tests of a kernel that computes `result` from the tensors that are BOUND before it.

    `words` are those of its uniform: without a number of channels, it computes one plane, and has no bias. `given` has
    tensors of some tests that are not random. The numbers of the last test, if not of another one, are quarters.
    """
    make = layer if "Ci" in words else plane
    fixed = NONE if make is layer else {"bias": np.zeros(1, np.float32)}

    @cache
    def made() -> tuple[Case, ...]:
        random, quarters = np.random.default_rng(seed), in_quarters or [*sizes][-1]
        return tuple(
            make(name, result, s, words, _drawn(result, s, random, {**fixed, **given.get(name, {})}, name == quarters))
            for name, s in sizes.items()
        )

    return made


def _drawn(result: str, s: ConvShape, random: np.random.Generator, given: Tensors, quarters: bool) -> Tensors:
    """The tensors of a test by name, in binding order; a random bias is never 0."""
    tensors = dict(given)
    for name in ("input", "weight", "bias", "grad_output"):
        if name in tensors or name not in BOUND[result].split():
            continue
        if name == "bias":
            whole = random.choice([-2, -1, 1, 2], s.out_channels)
        else:
            whole = draw(random, *s.of(name), largest=3 if name == "weight" else 4)
        tensors[name] = np.float32(whole) / (4 if quarters else 1)
    return {name: tensors[name] for name in BOUND[result].split()}


def layer(name: str, result: str, s: ConvShape, words: str, tensors: Tensors) -> Case:
    """A test of a kernel that computes a whole layer."""
    sizes, inputs = dict(zip(LAYER.split(), s.params(), strict=True)), (*tensors.values(),)
    padding = s.padding if [*tensors][-1] == "input" else (0, 0)  # around what is drawn last
    return case(name, inputs, ANSWERS[result](*inputs, s), tuple(sizes[word] for word in words.split()), padding)


def plane(name: str, result: str, s: ConvShape, words: str, tensors: Tensors) -> Case:
    """A test of a kernel that computes one plane: its tensors are matrices."""
    whole = layer(name, result, s, words, tensors)
    matrices = tuple(tensor[0, 0] for tensor in whole.inputs if tensor.ndim == 4)
    return case(name, matrices, whole.expected[0, 0], whole.params, whole.padding, 64)


def index_cases(last: str) -> Cases:
    """Tests of a kernel that decodes an index: one channel, and then sizes of which no two are equal."""

    @cache
    def made() -> tuple[Case, ...]:
        sizes = {"index_one_channel": (1, 1, 2, 3), "index_channels": (2, 3, 4, 5), last: (5, 3, 2, 7)}
        rows = {name: np.indices(size).reshape(4, -1).T.astype(np.float32) for name, size in sizes.items()}
        return tuple(case(name, (), rows[name], size, at_once=4 * 64) for name, size in sizes.items())  # a row a thread

    return made


def case(
    name: str, inputs: tuple[Array, ...], expected: Array, params: tuple, padding: tuple = (0, 0), at_once: int = 256
) -> Case:
    """A test with a thread for each result, where a workgroup stores this many at once."""
    dispatches = (Dispatch((-(-expected.size // at_once), 1, 1)),)
    return Case(name, inputs, expected, params, dispatches, padding=padding)


def puzzle(name: str, axes: str, cases: Cases, result: str, test: str) -> Puzzle:
    """A puzzle that asks, in one of its tests, for one thread for each result."""
    return Puzzle(name, "convolution", axes, cases, Skill.one_thread_for(result, test))
