"""`wgsl.subgroup_sizes`: whether the outputs depend on the size, and the line that takes it for a number."""

from pathlib import Path

import numpy as np
import pytest

import wgsl

TRAP = (Path(wgsl.__file__).parent / "examples" / "subgroup_size.wgsl").read_text(encoding="utf-8")
NUMBERS = np.random.default_rng(1).standard_normal(256).astype(np.float32)
SUM = [None, NUMBERS.sum(keepdims=True)]
LINE = "line 14, `if subgroupElect() { sums[i / 32u] = sum; }`, takes the size of a subgroup for 32"


def message(old: str = "", new: str = "", expected: list | None = None, text: str = TRAP, **options) -> str:
    assert old in text
    buffers = [NUMBERS, np.zeros(1, np.float32)]
    return wgsl.subgroup_sizes(text.replace(old, new), buffers, (1, 1, 1), expected=expected, **options).message


def test_a_line_that_takes_the_size_for_a_number_is_named():
    said = message(expected=SUM)
    assert said == (
        f"right with 32, wrong with 4, 8, 16, 64 and 128: {LINE}; there are findings with 4, 8, 16, 64 and 128"
    )


def test_the_right_numbers_may_have_names():
    assert message(expected={"total": SUM[1]}) == message(expected={(0, 1): SUM[1]}) == message(expected=SUM)


def test_buffers_and_the_right_numbers_may_have_names():
    buffers = {"input": NUMBERS, (0, 1): np.zeros(1, np.float32)}
    runs = wgsl.subgroup_sizes(TRAP, buffers, (1, 1, 1), expected={"total": SUM[1]})
    assert runs.message == message(expected=SUM)
    assert wgsl.subgroup_sizes(TRAP, buffers, (1, 1, 1)).message == message()


def test_without_the_right_numbers_the_sizes_are_compared():
    """With one that has no findings: 64 and 128 read the same zeros, and agree."""
    assert message().startswith(f"the outputs with 4, 8, 16, 64 and 128 differ from those with 32: {LINE}; ")
    assert (
        message(sizes=(16, 32)) == f"the outputs with 16 differ from those with 32: {LINE}; there are findings with 16"
    )


@pytest.mark.parametrize("new", ["i >> 5u", "(i & ~31u) >> 5u", "i / 0x20u"])
def test_the_number_may_be_written_in_other_ways(new):
    said = message("i / 32u", new, SUM, sizes=(16, 32, 64))
    assert said.startswith(
        f"right with 32, wrong with 16 and 64: line 14, `if subgroupElect() {{ sums[{new}] = sum; }}`"
    )


def test_several_lines_can_take_it():
    said = message("k < subgroups", "k < 8u", SUM, sizes=(16, 32))
    assert "wrong with 16: line 14," in said
    assert "and line 18, `for (var k = 0u; k < 8u; k++) { all += sums[k]; }`, take the size" in said


def test_a_kernel_that_asks_for_its_subgroup_is_right_with_all():
    text = TRAP.replace("  @builtin(num", "  @builtin(subgroup_id) subgroup: u32,\n  @builtin(num")
    said = message("i / 32u", "subgroup", SUM, text=text)
    assert said == "the outputs are right with subgroups of 4, 8, 16, 32, 64 and 128 threads"


def test_where_no_number_explains_it_the_first_number_that_differs_is_named():
    said = message("total[0] = all;", "total[0] = f32(subgroups);", sizes=(16, 32))
    assert said.startswith(
        "the outputs with 16 differ from those with 32: with 16, `total[0]` is 16 and not 8 (line 19, "
    )


def test_a_kernel_can_be_wrong_with_all():
    said = message(expected=[None, np.zeros(1, np.float32)], sizes=(16, 32))
    assert said == "right with no size, wrong with 16 and 32; there are findings with 16"


def test_a_number_that_only_looks_like_the_size_is_not_blamed():
    """Line 13 has a 32, too, and is right with every size."""
    said = message("input[i]", "input[i] * 32.0 / f32(32u)", SUM, sizes=(16, 32))
    assert said.startswith("right with 32, wrong with 16: line 14,")


def test_the_order_of_a_sum_does_not_count():
    right = TRAP.replace("sums[i / 32u]", "sums[i / size]").replace(
        "  @builtin(num", "  @builtin(subgroup_size) size: u32,\n  @builtin(num"
    )
    runs = wgsl.subgroup_sizes(right, [NUMBERS, np.zeros(1, np.float32)], (1, 1, 1))
    totals = {float(trace.buffers[1][0]) for trace in runs.traces.values()}
    assert len(totals) > 1
    assert not runs.depends


def test_arguments_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match=r"^subgroup_size = 24: it must be a power of two from 4 to 128"):
        message(sizes=(24,))
    with pytest.raises(ValueError, match=r"^expected has 1 arrays: the kernel has 2 bindings"):
        message(expected=[None])
    with pytest.raises(ValueError, match=r"^expected has 'sum': the kernel has input, total"):
        message(expected={"sum": SUM[1]})
    with pytest.raises(ValueError, match=r"^expected\['total'\] has 2 numbers: the buffer has 1"):
        message(expected={"total": np.zeros(2, np.float32)})
