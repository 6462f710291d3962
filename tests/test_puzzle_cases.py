"""The tests of the puzzles tell a wrong kernel from a right one: whole numbers, equal sizes and small loops hide it."""

import re
from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest
from support.mutants import NO_COMPILE
from support.sample import sample
from support.substitutions import judged, substitutions

from helpers.lessons.exercises import PUZZLES
from helpers.operations.convolution.shapes import ConvShape
from wgsl import Kernel

# --- Numbers that are not whole, and numbers below 0 ----------------------------------------------------------

COARSE = ("f32(i32({}))", "abs({})", "floor({})", "round({})")


def coarse_kernels() -> Iterator[tuple[str, str, Kernel]]:
    """The official kernels in which all that is read of one input, or all that is stored, loses something."""
    for name, puzzle in PUZZLES.items():
        values = puzzle.cases()[0].inputs
        arrays = [binding.name for binding in puzzle.official.bindings if "storage" in binding.space]
        inputs = [array for array, value in zip(arrays, values, strict=False) if value.dtype == np.float32]
        output = arrays[len(values)]
        pieces = {input: rf"()\b({input}\[(?:[^][]|\[[^]]*\])*\])" for input in inputs}
        if inputs:  # weight_index has none: it stores indices, which are whole
            pieces[output] = rf"\b({output}\[[^;=]*\] = )([^;]+)"
        for how, (array, piece) in product(COARSE, pieces.items()):
            text = re.sub(piece, lambda match, how=how: match[1] + how.format(match[2]), puzzle.official.code)
            yield name, how.format(array), Kernel(text, name)


@pytest.mark.parametrize(("name", "what", "kernel"), sample(coarse_kernels(), 8))
def test_a_kernel_for_whole_or_positive_numbers_alone_is_not_right(name, what, kernel):
    assert judged(kernel) not in ("", NO_COMPILE), what


# --- Sizes ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chosen", sample(substitutions(), 12), ids=str)
def test_another_name_in_the_place_of_a_name_is_not_right(chosen):
    assert judged(chosen.changed)


LOADS = " ".join(f"if (thread + {i}u < params.n) {{ sum += input[thread + {i}u]; }}" for i in range(0, 1024, 256))
FOR_THE_TESTS = (
    ("tree_sum", "for (var i = thread; i < params.n; i += 256u) { sum += input[i]; }", LOADS),
    ("tiled_product", "first < params.K", "first < 48u"),
    ("tiled_product", "first < params.K", "first < 64u"),
    ("gemm_bwd_grad_pre", "pre + bias[n] > 0.0", "pre + bias[n] > 0.5"),
    ("gemm_bwd_grad_pre", "pre + bias[n] > 0.0", "pre + bias[n] >= 0.0"),
    ("max_pool2d_backward", "row % params.S != 0u || column % params.S", "row % 2u != 0u || column % 2u"),
    ("max_pool2d_backward", "row / params.S", "row / 2u"),
    ("max_pool2d_backward", "column / params.S", "column / 2u"),
    ("max_pool2d_backward", "var wins = true", "var wins = mine > -1e30"),
    ("conv2d_grad_weight", "n * params.out_channels + co", "n * taps + co"),
)  # right for sizes and numbers that a test had, once, alone


@pytest.mark.parametrize(("name", "old", "new"), FOR_THE_TESTS)
def test_a_kernel_for_the_sizes_of_the_tests_alone_is_not_right(name, old, new):
    assert judged(PUZZLES[name].official.edit(old, new)) not in ("", NO_COMPILE)


def test_the_last_test_of_the_input_gradient_sees_every_known_mistake():
    """Its sizes differ where a mistake may confuse them, and its kernel reaches past both ends of the output."""
    batch, ci, h, w, co, kh, kw, stride, ph, *_, pw = PUZZLES["conv2d_grad_input"].cases()[-1].params
    shape = ConvShape(batch, ci, h, w, co, kh, kw, stride, (ph, pw))
    for one, other in ("in_h", "in_w"), ("kernel_h", "kernel_w"), ("out_h", "out_w"), ("padding_h", "padding_w"):
        assert getattr(shape, one) != getattr(shape, other)
    assert len({shape.batch, shape.in_channels, shape.out_channels}) == 3
    for axis in "hw":
        size, padding, weights, outputs = (getattr(shape, f"{n}_{axis}") for n in ("in", "padding", "kernel", "out"))
        assert padding - (weights - 1) <= -shape.stride_h
        assert (size - 1 + padding) // shape.stride_h >= outputs
