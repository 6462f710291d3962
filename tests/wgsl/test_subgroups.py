"""Subgroups in a run: the values, what is found, and what is counted."""

import numpy as np
import pytest

import wgsl
from wgsl.simulator.trace import Trace

TEXT = """enable subgroups;
@group(0) @binding(0) var<storage> x: array<u32>;
@group(0) @binding(1) var<storage, read_write> y: array<u32>;
var<workgroup> shared_words: array<u32, 64>;
@compute @workgroup_size(THREADS) fn main(
  @builtin(local_invocation_index) i: u32, @builtin(subgroup_size) size: u32,
  @builtin(subgroup_invocation_id) lane: u32, @builtin(subgroup_id) id: u32, @builtin(num_subgroups) count: u32,
) {
"""
NUMBERS = np.random.default_rng(5).integers(0, 1000, 64).astype(np.uint32)


def run(main: str, threads: int = 64, size: int = 32) -> Trace:
    text = f"{TEXT.replace('THREADS', str(threads))}{main}\n}}\n"
    buffers = [NUMBERS[:threads], np.zeros(threads, np.uint32)]
    return wgsl.simulate(text, buffers, (1, 1, 1), subgroup_size=size)


def output(main: str, threads: int = 64, size: int = 32) -> list[int]:
    trace = run(main, threads, size)
    assert [finding for finding in trace.findings if finding.kind != "not portable"] == []
    return trace.buffers[1].tolist()


def kinds(main: str, threads: int = 64, size: int = 32) -> list[str]:
    return [finding.kind for finding in run(main, threads, size).findings]


def test_invocations_form_subgroups_in_their_order():
    """The last one of 20 threads has fewer."""
    numbers = output("y[i] = size + 100u * lane + 10000u * id + 1000000u * count;", threads=20, size=8)
    assert numbers == [8 + 100 * (i % 8) + 10000 * (i // 8) + 1000000 * 3 for i in range(20)]


@pytest.mark.parametrize("size", [4, 8, 16, 32, 64, 128])
@pytest.mark.parametrize("threads", [20, 64])
def test_a_sum_is_that_of_each_subgroup(size, threads):
    sums = [int(NUMBERS[first : min(first + size, threads)].sum()) for first in range(0, threads, size)]
    assert output("y[i] = subgroupAdd(x[i]);", threads, size) == [sums[i // size] for i in range(threads)]


def test_scans_are_those_up_to_each_thread():
    inclusive = output("y[i] = subgroupInclusiveAdd(x[i]);", size=16)
    assert inclusive == [int(NUMBERS[i // 16 * 16 : i + 1].sum()) for i in range(64)]
    exclusive = output("y[i] = subgroupExclusiveAdd(x[i]);", size=16)
    assert exclusive == [int(NUMBERS[i // 16 * 16 : i].sum()) for i in range(64)]


def test_an_operation_sees_the_threads_that_run_it():
    some = output("if lane % 3u == 1u { y[i] = subgroupMax(x[i]); } else { y[i] = subgroupBroadcastFirst(i); }", size=8)
    for first in range(0, 64, 8):
        chosen = NUMBERS[first + 1 : first + 8 : 3].max()
        assert some[first : first + 8] == [chosen if j % 3 == 1 else first for j in range(8)]


def test_in_a_loop_fewer_and_fewer_threads_take_part():
    counted = output("for (var k = 0u; k <= lane; k++) { y[i] = subgroupAdd(1u); }", threads=8, size=8)
    assert counted == [8, 7, 6, 5, 4, 3, 2, 1]


def test_votes_and_the_first_thread():
    assert output("y[i] = subgroupBallot(i % 2u == 0u)[1];", size=64)[0] == 0x55555555
    assert output("y[i] = u32(subgroupAll(i < 40u)) + 2u * u32(subgroupAny(i < 40u));")[::32] == [3, 2]
    assert output("if lane > 2u && subgroupElect() { y[i] = 1u; } else { y[i] = 2u; }", size=8)[:5] == [2, 2, 2, 1, 2]


def test_quads():
    assert output("y[i] = quadBroadcast(i, 2u);")[:8] == [2] * 4 + [6] * 4
    for which, other in (("X", 1), ("Y", 2), ("Diagonal", 3)):
        assert output(f"y[i] = quadSwap{which}(i);") == [i ^ other for i in range(64)]


# --- What is found ------------------------------------------------------------------------------------------------

SCAN = "var sum = x[i]; let up = subgroupShuffleUp(sum, 1u); if lane >= 1u { sum += up; } y[i] = sum;"


def test_a_value_that_is_dropped_is_no_finding():
    """Every scan takes values from threads that do not exist, and drops them."""
    assert kinds(SCAN) == []
    assert kinds(SCAN.replace("if lane >= 1u ", "")) == ["undefined lane"]


def test_a_value_of_a_thread_that_does_not_exist():
    (finding,) = run("y[i] = subgroupShuffleDown(x[i], 1u);", threads=40).findings
    assert (finding.kind, finding.count) == ("undefined lane", 2)
    assert [index for _, index in finding.invocations] == [31, 39]
    assert "thread 31 takes the value of the thread with subgroup_invocation_id 32. Its subgroup has only 0 to 31" in (
        finding.message
    )


def test_a_value_of_a_thread_that_does_not_take_part():
    _, finding = sorted(run("if lane < 5u { y[i] = subgroupShuffle(x[i], lane + 1u); } else { y[i] = 0u; }").findings,
                        key=lambda finding: finding.kind)  # fmt: skip
    assert (finding.kind, finding.count) == ("undefined lane", 2)
    assert "That thread does not call it at the same time" in finding.message


def test_each_function_is_judged_for_itself():
    """Of two that take undefined values, only the one on which the result depends is named."""
    (finding,) = run(f"{SCAN} y[i] += subgroupShuffleDown(1u, 1u);").findings
    assert "subgroupShuffleDown" in finding.message


def test_threads_that_run_together_race_all_the_same():
    """Nothing but a barrier orders a write and a read of another thread, however they run."""
    store, load = "shared_words[i] = x[i];", "y[i] = shared_words[i ^ 1u];"
    assert kinds(store + load) == ["data race"]
    assert kinds(f"{store} let sum = subgroupAdd(x[i]); {load} y[i] += sum;") == ["data race"]
    assert kinds(f"{store} workgroupBarrier(); {load}") == []


def test_not_a_number_is_named_where_it_is_born():
    text = TEXT.replace("THREADS", "64").replace("array<u32>", "array<f32>")
    numbers = np.full(64, 3e38, np.float32)
    main = "let sum = subgroupAdd(x[i]);\n let zero = sum - sum;\n y[i] = subgroupMax(zero);\n}"
    (finding,) = wgsl.simulate(text + main, [numbers, np.zeros(64, np.float32)], (1, 1, 1)).findings
    assert (finding.kind, finding.source_line.strip()) == ("not-a-number", "let zero = sum - sum;")


def test_operations_are_counted_where_there_are_some():
    counts = run("y[i] = subgroupAdd(x[i]) + 1u;").counts
    assert (counts.total["subgroup"], counts.total["integer"]) == (64, 64)
    assert "subgroup" not in run("y[i] = x[i];").counts.total


@pytest.mark.parametrize("size", [0, 2, 3, 48, 256, -4])
def test_a_size_is_a_power_of_two(size):
    with pytest.raises(ValueError, match=f"^subgroup_size = {size}: it must be"):
        run("y[i] = 1u;", size=size)


@pytest.mark.parametrize("size", [True, 32.0, "32"])
def test_a_size_is_a_whole_number(size):
    with pytest.raises(TypeError, match=r"^subgroup_size = "):
        run("y[i] = 1u;", size=size)
