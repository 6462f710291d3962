"""The counts of a simulated run, against counts made by hand: each factor says what it stands for."""

import re

import numpy as np
import pytest

import helpers
from helpers.operations.convolution.shapes import ConvShape
from helpers.operations.gemm.shapes import GemmShape
from helpers.operations.harness import drawn, operation_of, simulated
from helpers.operations.operation import Shape
from helpers.operations.summation.shapes import SumShape
from wgsl.simulator.counts import KEYS, MEANINGS, SUBGROUP, TEXTURES, Counts


def counts_of(operation: str, version: str, shape: Shape) -> tuple[Counts, dict[str, int]]:
    """The counts of a kernel of one pass, and the number of each line by what stands in it."""
    kernel = helpers.load(operation, version)
    (trace,) = simulated(kernel, shape, drawn(operation_of(kernel), shape))[1]
    assert trace.findings == ()
    return trace.counts, {text.strip(): i for i, text in enumerate(kernel.source.split("\n"), 1)}


def require(counts: dict[str, float], **wanted: float) -> None:
    """Raise AssertionError unless these are among the counts."""
    assert {key: counts[key] for key in wanted} == pytest.approx(wanted, rel=1e-12)


def line(counts: Counts, lines: dict[str, int], begin: str) -> dict[str, float]:
    """The counts of the only line that begins so."""
    (number,) = (number for text, number in lines.items() if text.startswith(begin))
    return counts.by_line[number]


# --- conv2d_grad_weight / 1_thread_per_weight -------------------------------------------------------------


def test_a_thread_per_weight_without_padding():
    # 8*2*4*4 = 256 weights for 256 threads; input 7 x 8, output 4 x 5
    counts, lines = counts_of("conv2d_grad_weight", "1_thread_per_weight", ConvShape(2, 2, 7, 8, 8, 4, 4))
    threads, warps = 256, 8
    rows = 2 * 4  # N*oH: what each thread goes through
    products = rows * 5  # N*oH*oW of each thread
    integer = 4 + 1 + 2  # index; taps; the guard's two products
    integer += 1 + 2 + 2 + 2  # kw, kh, ci and co from the index
    integer += 2  # n++ in N = 2 iterations
    integer += rows * (1 + 3 + (3 + 2) + (3 + 2))  # oh++; ih; the plane and row of grad_output, and those of input
    integer += products * (1 + 3 + 2)  # ow++; iw; one sum in each of the two indices
    require(
        counts.total,
        multiply_adds=threads * products,
        other_float=0,
        integer=threads * integer,
        loads_storage=threads * products * 2,  # grad_output and input
        stores_storage=threads,
        bytes_storage=4 * threads * (products * 2 + 1),
        # The 32 threads of a warp have one co: in grad_output they read one word. In input they read, in each of
        # Ci = 2 planes, kH = 4 rows of kW = 4 words; a row of 8 words is one sector. They store 32 words in 4 sectors.
        sectors=warps * (products * (1 + 2 * 4) + 4),
        **dict.fromkeys(["loads_workgroup", "stores_workgroup", "bytes_workgroup", "bank_conflicts", "barriers"], 0),
        active_share=1,
    )
    require(line(counts, lines, "sum += "), multiply_adds=threads * products, integer=threads * products * 2)


def test_a_thread_per_weight_with_padding_and_idle_threads():
    # 3*1*2*3 = 18 weights for 256 threads; input 4 x 5, one row of padding above and below, output 5 x 3
    counts, lines = counts_of("conv2d_grad_weight", "1_thread_per_weight", ConvShape(2, 1, 4, 5, 3, 2, 3, 1, (1, 0)))
    products = 2 * 4 * 3  # N times the H = 4 rows of the input, of oH = 5, that each weight passes; times oW
    require(
        counts.total,
        multiply_adds=18 * products,
        loads_storage=18 * products * 2,
        stores_storage=18,
        bytes_storage=4 * 18 * (products * 2 + 1),
    )
    require(line(counts, lines, "return;"), active_share=(256 - 18) / 256)  # in all 8 warps somebody returns
    # One warp goes on. For kh = 0 the first of oH = 5 rows lies in the padding, for kh = 1 the last one: there, 9 of
    # the 18 threads skip the sum, and run the `continue` that stands in the line of the `if`.
    require(line(counts, lines, "sum += "), active_share=(9 + 3 * 18 + 9) / (32 * 5))
    require(line(counts, lines, "if (ih >= "), active_share=(5 * 18 + 9 + 9) / (32 * (5 + 2)))


# --- sum / 2_tree -----------------------------------------------------------------------------------------


def test_a_tree_of_full_rounds():
    counts, lines = counts_of("sum", "2_tree", SumShape(1024))
    tree = 128 + 64 + 32 + 16 + 8 + 4 + 2 + 1  # additions of the tree
    require(
        counts.total,
        multiply_adds=0,
        other_float=1024 + tree,
        integer=1024 + 8 * 256 + tree,  # i += THREADS; half /= 2 of all threads in 8 steps; thread + half
        loads_storage=1024,
        stores_storage=1,
        bytes_storage=4 * (1024 + 1),
        loads_workgroup=2 * tree + 1,  # both numbers of each addition; the total
        stores_workgroup=256 + tree,
        bytes_workgroup=4 * (2 * tree + 1 + 256 + tree),
        sectors=1024 // 8 + 1,
        bank_conflicts=0,
        barriers=8,
    )
    # The steps of 128, 64, 32, 16, ..., 1 threads run 4, 2, 1, 1, ..., 1 warps of 32.
    require(line(counts, lines, "partial[thread] += "), active_share=tree / (32 * (4 + 2 + 1 + 1 + 1 + 1 + 1 + 1)))
    require(line(counts, lines, "total[0] = "), active_share=1 / 32)


def test_the_lines_add_up_to_the_total():
    counts, _ = counts_of("gemm_bias_act", "2_tiled", GemmShape(17, 18, 19, activation="gelu"))
    assert tuple(counts.total) == KEYS
    assert {*MEANINGS} - {*KEYS} == {SUBGROUP, *TEXTURES}
    for key in KEYS[:-1]:
        assert sum(line[key] for line in counts.by_line.values()) == counts.total[key], key
    assert all(0 < line["active_share"] <= 1 for line in counts.by_line.values())


# --- One line at a time -------------------------------------------------------------------------------------

LINE = """
@group(0) @binding(0) var<storage, read> numbers: array<f32>;
@group(0) @binding(1) var<storage, read> fours: array<vec4f>;
@group(0) @binding(2) var<storage, read_write> output: array<f32>;
var<workgroup> tile: array<f32, 1056>;
var<workgroup> vec4s: array<vec4f, 256>;
var<workgroup> counter: atomic<u32>;

@compute @workgroup_size(32)
fn main(@builtin(local_invocation_index) thread: u32) {
  let i = i32(thread); let a = f32(thread); let b = a; let v = vec3f(1.5); var r = 0.0; var w = vec2f();
  // HERE
}
"""


def counted(statement: str, groups: int = 1) -> dict[str, float]:
    """The counts of one line that 32 invocations of each workgroup run: those that are not 0."""
    inputs = np.zeros(1024, np.float32), np.zeros(128, np.float32), np.zeros(1024, np.float32)
    trace = helpers.simulate(LINE.replace("// HERE", f"\n{statement}\n"), inputs, (groups, 1, 1), outputs=())
    number = LINE[: LINE.index("// HERE")].count("\n") + 2
    return {key: count for key, count in trace.counts.by_line[number].items() if count}


ONE = [
    ("r += a * b;", "multiply_adds=1"),
    ("r = a - b * a;", "multiply_adds=1"),
    ("r = a * b - 1.0;", "multiply_adds=1"),
    ("r = a * b + b * a;", "multiply_adds=1, other_float=1"),
    ("r = a * b * a;", "other_float=2"),
    ("r = (a + b) * a;", "other_float=2"),
    ("r = fma(a, b, a);", "multiply_adds=1"),
    ("r = dot(v, v);", "multiply_adds=3"),
    ("w += vec2f(a) * b;", "multiply_adds=2"),
    ("r = -a;", "other_float=1"),
    ("r = max(a, b) / sqrt(a);", "other_float=3"),
    ("r = select(a, b, a < b);", "nothing"),
    ("r = f32(thread * 2u + 1u);", "integer=2"),
    ("let j = vec2u(thread) + 1u;", "integer=2"),
    ("let j = max(i, 2) - (i << 1u);", "integer=3"),
    ("r = numbers[thread + 16u * 2u];", "integer=1, loads_storage=1, bytes_storage=4, sectors=0.125"),
    ("let n = arrayLength(&numbers);", "nothing"),
]


@pytest.mark.parametrize(("statement", "counts"), ONE)
def test_what_one_invocation_counts(statement, counts):
    wanted = {key: 32 * float(count) for key, count in re.findall(r"(\w+)=([\d.]+)", counts)} | {"active_share": 1}
    require(counted(statement), **wanted)
    assert counted(statement).keys() == wanted.keys()


SECTORS = [
    ("numbers[thread]", 4),
    ("numbers[thread + 1u]", 5),
    ("numbers[thread * 2u]", 8),
    ("numbers[7]", 1),
    ("numbers[thread * 8u]", 32),
    ("numbers[thread * 16u]", 32),
    ("fours[thread]", 16.0),
]


@pytest.mark.parametrize(("place", "sectors"), SECTORS)
def test_sectors(place, sectors):
    assert counted(f"let x = {place};")["sectors"] == sectors
    assert counted(f"let x = {place};", groups=3)["sectors"] == 3 * sectors
    if place.startswith("numbers"):  # a store has as many
        assert counted(f"{place.replace('numbers', 'output')} = 1.0;")["sectors"] == sectors


CONFLICTS = [
    ("tile[thread]", 0),
    ("tile[thread * 32u]", 31, "all in one bank"),
    ("tile[thread * 33u]", 0, "a column of rows with a pad"),
    ("tile[thread * 2u]", 1, "16 banks, two words each"),
    ("tile[thread * 8u]", 7, "4 banks, 8 words each"),
    ("tile[thread / 2u]", 0, "two threads share each word"),
    ("tile[5]", 0),
    ("vec4s[thread].x", 3, "8 banks, 4 words each"),
    ("vec4s[thread]", 0, "128 words take 4 turns"),
    ("vec4s[thread * 8u]", 28, "4 banks, 32 words each: 32 turns instead of 4"),
]


@pytest.mark.parametrize("row", CONFLICTS)
def test_bank_conflicts(row):
    access, conflicts = row[:2]
    assert counted(f"let x = {access};").get("bank_conflicts", 0) == conflicts
    assert counted(f"let x = {access};", groups=3).get("bank_conflicts", 0) == 3 * conflicts
    if access.startswith("tile"):  # a store has the same, and an update has them twice
        assert counted(f"{access} += 1.0;").get("bank_conflicts", 0) == 2 * conflicts


def test_an_atomic_function_is_a_load_and_a_store():
    counts = counted("atomicAdd(&counter, 1u);")
    require(counts, loads_workgroup=32, stores_workgroup=32, bytes_workgroup=32 * 8)
    assert "integer" not in counts


def test_barriers_are_counted_for_each_workgroup():
    assert counted("workgroupBarrier();", groups=5)["barriers"] == 5
    assert counted("let first = workgroupUniformLoad(&tile[0]);", groups=5)["barriers"] == 10


# --- Divergence ---------------------------------------------------------------------------------------------

BRANCHES = """
@group(0) @binding(0) var<storage, read_write> output: array<f32>;
@compute @workgroup_size(80)
fn main(@builtin(local_invocation_index) thread: u32) {
  output[thread] = 0.0;
  if (thread % 4u == 0u) {
    output[thread] = 1.0;
  } else {
    output[thread] = 2.0;
  }
  if (thread < 32u) {
    output[thread] = 3.0;
  }
  if (thread >= 70u) {
    output[thread] = 4.0;
  }
}
"""


def test_the_active_share_is_that_of_the_warps_that_run():
    trace = helpers.simulate(BRANCHES, [np.zeros(80, np.float32)], (2, 1, 1), outputs=[])
    shares = {line: counts["active_share"] for line, counts in trace.counts.by_line.items()}
    assert shares[5] == 1  # the last warp of a workgroup has only 16 invocations, and all of them run
    assert (shares[7], shares[9]) == (1 / 4, 3 / 4)
    assert shares[12] == 1  # one warp, which is whole
    assert shares[15] == 10 / 16
    statements = 80 * (1 + 3) + 20 + 60 + 32 + 10  # run by the invocations of a workgroup, with the three `if`
    threads = 80 * (1 + 3) + 80 + 80 + 32 + 16
    assert trace.counts.total["active_share"] == pytest.approx(statements / threads, rel=1e-12)
