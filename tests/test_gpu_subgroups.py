"""Subgroups through the launcher: the adapter adds over its own, a text keeps its line, and who has none says so."""

import numpy as np
import pytest

from helpers import gpu
from helpers.gpu import GpuError
from helpers.gpu.subgroups import FEATURES, without_enabling
from helpers.grading import grader
from helpers.grading.verdict import WRONG
from helpers.lessons.exercises import PUZZLES

SUM = """enable subgroups;

@group(0) @binding(0) var<storage, read> input: array<f32>;
@group(0) @binding(1) var<storage, read_write> output: array<f32>;  // (2): a sum, and over how many threads

@compute @workgroup_size(128)
fn main(@builtin(local_invocation_index) i: u32, @builtin(subgroup_size) size: u32) {
  let sum = subgroupAdd(input[i]);
  if (i == 0u) { output[0] = sum; output[1] = f32(size); }
}
"""
NUMBERS = np.arange(1, 129, dtype=np.float32)
WITHOUT = {*gpu.device().features} - {*FEATURES}
needs_subgroups = pytest.mark.skipif(gpu.device().features == WITHOUT, reason="this adapter has no subgroups")


@needs_subgroups
def test_a_kernel_adds_over_a_subgroup():
    total, size = gpu.launch(SUM, [NUMBERS, np.zeros(2, np.float32)])
    assert 4 <= size <= 128
    assert total == NUMBERS[: int(size)].sum()


def test_the_line_alone_is_blanked_and_every_place_stays():
    text = without_enabling(f"// enable subgroups;\n{SUM}")
    assert text == f"// enable subgroups;\n{SUM.replace('enable subgroups;', ' ' * 6 + ' ' + ' ' * 10)}"


def test_an_adapter_without_subgroups_says_so_before_it_compiles(monkeypatch):
    monkeypatch.setattr(type(gpu.device()), "features", WITHOUT)
    with pytest.raises(GpuError, match=r"has no subgroups, which this kernel uses: run it with `helpers\.simulate`"):
        gpu.launch(SUM.replace("output[0]", "output[0u]"), [NUMBERS, np.zeros(2, np.float32)])
    commented = SUM.replace("enable", "// enable").replace("subgroupAdd(input[i])", "input[i]").replace("size: ", "n: ")
    plain = commented.replace(", @builtin(subgroup_size) n: u32", "").replace("f32(size)", "0.0")
    assert gpu.launch(plain, [NUMBERS, np.zeros(2, np.float32)]).tolist() == [1, 0]


def test_an_exercise_that_does_without_subgroups_says_so():
    """Else a sum that is right with 32 lanes alone would pass: its tests have one size."""
    puzzle = PUZZLES["tree_sum"]
    text = f"// a tree\nenable subgroups;\n{puzzle.solution.text}"
    (first, *others) = grader.grade(puzzle, text)
    assert {verdict.outcome for verdict in (first, *others)} == {WRONG}
    assert first.detail.startswith("line 2 enables subgroups, and this exercise does without them")
