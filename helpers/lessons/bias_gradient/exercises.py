"""The exercises of lesson 04: steps of a tree and whole ones, and the gradient of the bias."""

from collections.abc import Callable
from functools import cache, partial
from math import prod
from pathlib import Path

import numpy as np

from helpers.grading.drawn_choice import IN_THE_LAST, numbers_of_facts
from helpers.grading.puzzle import STEPS, TWICE, Case, Dispatch, Drawn, Puzzle, Skill
from helpers.lessons.shared import layers, planted
from helpers.lessons.shared.classroom_tests import classroom_cases, differences
from helpers.lessons.shared.drawn_numbers import NUMBERS, Sizes, draw_numbers, kind, with_rounding
from helpers.lessons.shared.drawn_sizes import (
    FULL,
    Random,
    check_not_empty,
    different,
    length,
    low_numbers,
    one_long,
    one_of,
)
from helpers.lessons.shared.layers import draw, draw_quarters
from helpers.lessons.shared.small_image import BATCH
from helpers.lessons.shared.sums import EIGHT, case, tree_steps
from helpers.operations.convolution import reference
from helpers.operations.convolution.shapes import ConvShape

Array = np.ndarray
FOLDER = Path(__file__).with_name("puzzles")
LENGTHS = {"tree_1_number": 1, "tree_100_numbers": 100, "tree_256_numbers": 256, "tree_2100_numbers": 2100}


@cache
def _tree_cases() -> tuple[Case, ...]:
    """Fewer numbers than threads, the same number, and, in quarters, more than eight for each thread."""
    random = np.random.default_rng(6)
    *few, (most, n) = LENGTHS.items()
    whole = [case(name, random.integers(1, 10, n)) for name, n in few]
    return *whole, case(most, random.integers(-40, 30, n) / 4)


def _largest(terms: int) -> int:
    """The largest number of a sum that is exact in quarters, which 16 bits do not hold where they are above 512."""
    return min(650, 2**22 // terms)


def _tree_sizes(random: Random) -> Sizes:
    return {"n": length(random, past=2304, most=6000)} | kind(random)


def _drawn_tree_case(name: str, sizes: Sizes, random: Random) -> Case:
    check_not_empty(sizes["n"])
    terms = draw_numbers(random, sizes, sizes["n"], largest=_largest(sizes["n"]))
    return with_rounding(case(name, terms.astype(float)), sizes, np.sum, terms)


@cache
def _step_cases() -> tuple[Case, ...]:
    """The sums of the lesson's picture, and others, in quarters."""
    quarters = np.random.default_rng(2).integers(-40, 30, 8) / 4
    return _step_case("the_picture", np.array(EIGHT)), _step_case("in_quarters", quarters)


def _step_case(name: str, partial: np.ndarray) -> Case:
    return Case(name, (partial.astype(np.float32),), _after_steps(partial))


def _after_steps(partial: Array) -> Array:
    """The sums of all threads after each step: those that no longer add keep their sums."""
    after = [partial]
    for sums in tree_steps(partial.tolist())[1:]:
        after.append(np.append(sums, after[-1][len(sums) :]))
    return np.array(after[1:], float)


def _drawn_step_case(name: str, sizes: Sizes, random: Random) -> Case:
    partial = draw_numbers(random, sizes, len(EIGHT), largest=99)
    return with_rounding(_step_case(name, partial), sizes, _after_steps, partial)


@cache
def _max_cases() -> tuple[Case, ...]:
    """By hand; as low as float32 goes; some equal, in one thread and in several; in quarters, over eight a thread."""
    random = np.random.default_rng(9)
    low = -random.integers(331, 340, 256)
    equal = random.integers(-9, 6, 1000)
    most = random.integers(-400, 300, 2100)
    low[201] = -330
    equal[[456, 712, 776]] = 6  # 776 is in a thread left of that of 456 and 712
    most[1971] = 301
    return (
        _max_case("max_5_numbers", np.array([3, 7, 2, 7, 1])),
        _max_case("max_256_low_numbers", np.float32(low * 1e36)),
        _max_case("max_1000_some_equal", equal),
        _max_case("max_2100_numbers", most / 4),
    )


def _max_case(name: str, numbers: np.ndarray) -> Case:
    expected = np.array([[numbers.max(), numbers.argmax()]], float)
    return Case(name, (numbers.astype(np.float32),), expected, (numbers.size,))


LARGEST = ("last", "last", "first and last", "in three places")
LOW = "low"  # a kind of numbers


def _max_sizes(random: Random) -> Sizes:
    n = length(random, past=2304, most=6000)
    largest = "last" if n < FULL else one_of(random, *LARGEST)  # few numbers: the end that a tree begun at n / 2 skips
    sizes = {"n": n, "largest": largest} | kind(random)
    if random.random() < 0.25:
        sizes[NUMBERS] = LOW
    return sizes


def _drawn_max_case(name: str, sizes: Sizes, random: Random) -> Case:
    """Numbers of which the largest is where it is to be."""
    n = sizes["n"]
    check_not_empty(n)
    if sizes[NUMBERS] == LOW:
        scores = low_numbers(random, n)
        largest = np.float32(-3.3e38)
    else:
        scores = draw_numbers(random, sizes, n, largest=99)
        scores -= np.abs(scores).max() / 2  # the lowest is the farthest from 0
        largest = scores.max() + np.float32(0.25)
    places = {"last": [n - 1], "first and last": [0, n - 1], "in three places": random.integers(0, n, 3)}
    scores[places[sizes["largest"]]] = largest
    return _max_case(name, scores)


SHARED_OUT = {
    "steps": STEPS,
    "sectors": 1.5,
    "thread_loads": TWICE,
    "thread_elements": TWICE,  # a tree in steps of four or eight has up to 18
    "threads_at_a_word": 4,
}
READ_AGAIN = {**SHARED_OUT, "sectors": 5, "thread_loads": 4}  # a number, or the best one so far; shares take 7.7
# --- The gradient of the bias -----------------------------------------------------------------------------------


@cache
def _grad_bias_cases() -> tuple[Case, ...]:
    random = np.random.default_rng(7)
    nudged = draw(random, 1, 1, 6, 6), draw(random, 1, 2, 4, 4)
    classroom = classroom_cases(
        _grad_bias_case,
        differences("bias", *nudged),
        (np.arange(-3, 6, dtype=np.float32).reshape(1, 1, 3, 3),),
        nudged[1:],
        (draw(random, 1, 6, 24, 24),),
        (draw(random, 1, 16, 8, 8),),
        (draw_quarters(random, 3, 300, 2, 5),),
    )
    return *classroom, _grad_bias_case("the_picture", BATCH)


def _grad_bias_case(name: str, grad_output: Array) -> Case:
    return layers.case(name, (grad_output,), reference.conv2d_grad_bias(grad_output), grad_output.shape)


def _grad_bias_sizes(random: Random) -> Sizes:
    """Few channels of many numbers, or many channels of few, past the first workgroup."""
    channels, *others = different(random, 4, 6)
    like = one_of(random, "many channels", "one long", "small")
    if like == "many channels":
        channels = length(random, past=300, most=800)
    elif like == "one long":
        channels, *others = one_long(random, 4)
    batch, rows, columns = others
    return {"N": batch, "Co": channels, "oH": rows, "oW": columns} | kind(random)


def _drawn_grad_bias(case_of: Callable[[str, Array], Case], name: str, sizes: Sizes, random: Random) -> Case:
    shape = [sizes[letter] for letter in ("N", "Co", "oH", "oW")]
    check_not_empty(*shape)
    batch, _, *plane = shape
    grad_output = draw_numbers(random, sizes, *shape, largest=_largest(batch * prod(plane)))
    return with_rounding(case_of(name, grad_output), sizes, reference.conv2d_grad_bias, grad_output)


def _larger() -> Case:
    """Many channels of two numbers each."""
    return _grad_bias_case("larger", draw(np.random.default_rng(7), 1, 600, 1, 2))


GRAD_BIAS = Puzzle(
    "conv2d_grad_bias",
    FOLDER,
    "co",
    _grad_bias_cases,
    Skill.one_thread_for("channel", "conv_bw_lenet_conv2", _larger),
    Drawn(_grad_bias_sizes, partial(_drawn_grad_bias, _grad_bias_case)),
)

SLICE = 128  # numbers of a channel for each workgroup of the first pass
SLICES = {"one_slice": (1, 2, 3, 3), "three_slices": (3, 2, 9, 11), "71_slices": (5, 3, 42, 43)}  # the last in quarters


@cache
def _two_passes_cases() -> tuple[Case, ...]:
    random = np.random.default_rng(8)
    *whole, last = SLICES
    cases = [_two_passes_case(name, draw(random, *SLICES[name])) for name in whole]
    return *cases, _two_passes_case(last, draw_quarters(random, *SLICES[last]))


def _two_passes_case(name: str, grad_output: Array) -> Case:
    batch, channels, *plane = grad_output.shape
    slices = -(-batch * np.prod(plane) // SLICE)
    passes = Dispatch((slices, channels, 1), "sum_slices"), Dispatch((channels, 1, 1), "sum_parts")
    expected = reference.conv2d_grad_bias(grad_output)
    params = (batch, channels, np.prod(plane), slices)
    return Case(name, (grad_output,), expected, params, passes, scratch=(channels * slices,))


def _two_passes_sizes(random: Random) -> Sizes:
    """Slices of which there are few, or more than threads, or more than a slice has numbers; the last one is short."""
    channels, batch, rows = different(random, 3, 5)
    slices = random.choice([1, 3, 65, SLICE + 2], p=[0.1, 0.3, 0.3, 0.3])
    if slices == 3:
        channels, batch, rows = one_long(random, 3)
    elif slices > SLICE:
        channels = random.integers(1, 3)
    columns = SLICE * (slices - 1) // (batch * rows) + random.integers(1, 4)
    return {"N": batch, "Co": int(channels), "oH": rows, "oW": int(columns)} | kind(random)


def _facts_of_planes(sizes: Sizes) -> dict[str, int]:
    """The sizes, all planes, and the numbers of one, of a channel, and of its last slice."""
    known = numbers_of_facts(sizes)
    pixels = known["oH"] * known["oW"]
    terms = known["N"] * pixels
    return known | {"planes": known["N"] * known["Co"], "pixels": pixels, "terms": terms, IN_THE_LAST: terms % SLICE}


TWO_PASSES = Puzzle(
    "grad_bias_two_passes",
    FOLDER,
    "co",
    _two_passes_cases,
    Skill(
        "two passes, in which many workgroups read at once, and neighbors read neighboring numbers",
        "71_slices",
        SHARED_OUT,
    ),
    Drawn(_two_passes_sizes, partial(_drawn_grad_bias, _two_passes_case), _facts_of_planes),
)


PUZZLES = (
    Puzzle(
        "tree_step",
        FOLDER,
        "step thread",
        _step_cases,
        drawn=Drawn(kind, _drawn_step_case),
    ),
    Puzzle(
        "tree_sum",
        FOLDER,
        "i",
        _tree_cases,
        Skill(
            "a tree, in which many threads add at once, and in which neighbors read neighboring numbers",
            "tree_2100_numbers",
            SHARED_OUT,
        ),
        Drawn(_tree_sizes, _drawn_tree_case),
    ),
    GRAD_BIAS,
    TWO_PASSES,
    Puzzle(
        "arg_max_tree",
        FOLDER,
        "result number,place",
        _max_cases,
        Skill(
            "a tree, in which many threads compare at once, and in which neighbors read neighboring numbers",
            "max_2100_numbers",
            READ_AGAIN,
        ),
        Drawn(_max_sizes, _drawn_max_case),
    ),
)

PLANTED = planted.read(
    Path(__file__).with_name("planted.toml"),
    reads_far_apart=(
        ConvShape(4, 1, 28, 28, 6, 5, 5),
        {
            "the hard case": ConvShape(3, 2, 11, 12, 4, 3, 2, stride=2, padding=(0, 1)),
            "an image larger than a workgroup": ConvShape(1, 1, 21, 18, 2, 2, 1),
        },
    ),
)
