"""Lesson 00: who a thread is and what it owns, the four puzzles, the questions, and the card."""

import re
from itertools import product

import nbformat
import numpy as np
import pytest
from support.notebook_gate import NOTEBOOKS

from helpers import gpu, simulate
from helpers.gpu.passes import pipeline
from helpers.threads import exercises, explorers
from helpers.threads.indices import Dispatch, workgroups_for
from helpers.threads.operations import NO_VALUE, value_of
from wgsl import Kernel, WgslError

LESSON = nbformat.read(NOTEBOOKS / "00_meet_the_gpu.ipynb", as_version=4)
SOURCES = [cell.source for cell in LESSON.cells]
KERNELS = {
    name: text for source in SOURCES for name, text in re.findall(r'^(\w+) = """(\n.*?)"""', source, re.M | re.S)
}

# --- Which thread is which ------------------------------------------------------------------------------------

IDS = """
override X: u32 = 1;
override Y: u32 = 1;
@group(0) @binding(0) var<storage, read_write> seen: array<u32>;

@compute @workgroup_size(X, Y)
fn main(
  @builtin(global_invocation_id) g: vec3u,
  @builtin(local_invocation_id) l: vec3u,
  @builtin(local_invocation_index) index: u32,
  @builtin(workgroup_id) w: vec3u,
  @builtin(num_workgroups) n: vec3u,
) {
  let at = 13 * (g.y * n.x * X + g.x);
  let all = array<u32, 13>(g.x, g.y, g.z, l.x, l.y, l.z, index, w.x, w.y, w.z, n.x, n.y, n.z);
  for (var i = 0u; i < 13; i++) { seen[at + i] = all[i]; }
}
"""
DISPATCHES = [Dispatch((3, 1), (4, 1), 1, 10), Dispatch((2, 2), (4, 3), 5, 7), Dispatch((1, 2), (3, 2), 8, 2)]
each_dispatch = pytest.mark.parametrize("dispatch", DISPATCHES, ids=str)


@each_dispatch
def test_ids_are_what_a_kernel_receives(dispatch):
    (wide, high), (x, y) = dispatch.grid, dispatch.size
    kernel = Kernel(IDS).with_constants(X=x, Y=y)
    seen = gpu.launch(kernel, [np.zeros((high, wide, 13), np.uint32)], dispatch.workgroups)
    for row, column in np.ndindex(high, wide):
        assert seen[row, column].tolist() == np.hstack([*vars(dispatch.ids(column, row)).values()]).tolist()


OWNERS = """
struct Sizes { rows: u32, columns: u32 }
override X: u32 = 1;
override Y: u32 = 1;
@group(0) @binding(0) var<storage, read_write> owner: array<u32>;
@group(0) @binding(1) var<uniform> sizes: Sizes;

@compute @workgroup_size(X, Y)
fn main(@builtin(global_invocation_id) g: vec3u) {
  if (g.y >= sizes.rows || g.x >= sizes.columns) { return; }
  owner[g.y * sizes.columns + g.x] = 1 + 100 * g.y + g.x;
}
"""


@each_dispatch
def test_elements_belong_to_the_threads_that_write_them(dispatch):
    kernel = Kernel(OWNERS).with_constants(X=dispatch.size[0], Y=dispatch.size[1])
    empty, sizes = np.zeros(dispatch.elements, np.uint32), (dispatch.rows, dispatch.columns)
    written, want = gpu.launch(kernel, [empty, sizes], dispatch.workgroups), empty.copy()
    for x, y in product(*map(range, dispatch.grid)):
        if owned := dispatch.owned(x, y):
            want[dispatch.offset(*owned)] = 1 + 100 * y + x
    assert written.tolist() == want.tolist()
    assert dispatch.ownerless == (want == 0).sum()
    assert dispatch.idle == np.prod(dispatch.grid) - (want > 0).sum()


# --- Pictures and explorers -----------------------------------------------------------------------------------


def test_the_missing_barrier_of_the_lesson_is_a_race_and_the_whole_kernel_has_none():
    without = Kernel(KERNELS["swap"]).edit("workgroupBarrier();", "")
    said = explorers.steps(without.with_constants(SIZE=4), [np.ones(4, np.float32)], step=1).set(thread=1)
    assert "Data race: thread 1 reads box[2], which thread 2 wrote in line 9" in said
    arrays = [np.ones(256, np.float32)]
    found = [simulate(k, arrays, (1, 1, 1), constants={"SIZE": 256}).findings for k in (without, KERNELS["swap"])]
    assert [[finding.kind for finding in findings] for findings in found] == [["data race"], []]


# --- One launch over arrays -----------------------------------------------------------------------------------

TWO = """
struct Sizes { n: u32 }
@group(0) @binding(0) var<storage, read> input: array<f32>;
@group(0) @binding(1) var<storage, read_write> a: array<f32>;
@group(0) @binding(2) var<storage, read_write> b: array<u32>;
@group(0) @binding(3) var<uniform> sizes: Sizes;

@compute @workgroup_size(2)
fn main(@builtin(global_invocation_id) g: vec3u) {
  if (g.x < sizes.n) { a[g.x] = input[g.x] + 1; b[g.x] = g.x; }
}
"""


def test_a_launch_returns_what_the_kernel_may_write_and_changes_no_array():
    input, output = np.arange(4, dtype=np.float32).reshape(2, 2), np.zeros((2, 2), np.float32)
    a, b = gpu.launch(TWO, [input, output, np.zeros(4, np.uint32), (3,)], workgroups=2)
    assert a.tolist() == [[1, 2], [3, 0]]
    assert b.tolist() == [0, 1, 2, 0]
    assert not output.any()


@pytest.mark.parametrize(
    ("expression", "kind", "value"),
    [("1u", "f32", NO_VALUE), ("-7 / 2", "i32", "-3"), ("2u - 3u", "u32", str(2**32 - 1))],
)
def test_an_expression_is_worth_what_the_gpu_stores(expression, kind, value):
    assert value_of(expression, kind) == value


# --- Questions ------------------------------------------------------------------------------------------------


def test_the_answers_are_what_the_gpu_says():
    eight, ids = np.arange(1, 9, dtype=np.float32), Dispatch((4, 1), (64, 1), 1, 256).ids(3 * 64 + 5, 0)
    assert (ids.workgroup_id[0], ids.local_invocation_index) == (3, 5)
    assert workgroups_for(64, 64) == 1
    computed = {
        "changed_numbers": (gpu.launch(KERNELS["double"], [eight]) != eight).sum(),
        "global_number": ids.global_invocation_id[0],
        "idle_threads": Dispatch((workgroups_for(1000, 64), 1), (64, 1), 1, 1000).idle,
        "seven_halves": float(value_of("7 / 2", "f32")),
        "two_minus_three": int(value_of("a - b", "u32", before="let a = 2u; let b = 3u;")),
        "selected": float(value_of("select(10.0, 20.0, 5 > 3)", "f32")),
        "sum_up_to_10": gpu.launch(KERNELS["three_or_five"], [np.zeros(11, np.uint32)])[10],
        "offset_2d": np.ravel_multi_index((2, 3), (4, 7)),
        "bandwidth": pytest.approx(2 * 4 * 1_000_000 / 0.01e-3 / 1e9),
        "counted": "less" if gpu.launch(KERNELS["count"], [np.zeros(1, np.uint32)], 256)[0] < 65536 else "all",
    }
    assert {name: exercises.QUESTIONS[name].right for name in computed} == computed


# --- What the lesson claims -----------------------------------------------------------------------------------


def test_a_loop_that_counts_down_to_zero_is_endless():
    """It is only simulated."""
    endless = Kernel(KERNELS["countdown"]).edit("var step = 0u; step < 5u; step++", "; b >= 0u; ")
    endless = endless.edit("seen[2u * step] = b;", "").edit("seen[2u * step + 1u] = u32(b >= 0u);", "seen[0] = b;")
    (finding,) = simulate(endless, [np.zeros(10, np.uint32)], (1, 1, 1), outputs=[], max_steps=100).findings
    assert finding.kind == "endless loop"
    assert "for (" in finding.source_line


# --- The card -------------------------------------------------------------------------------------------------

CARD = next(source for source in SOURCES if source.startswith("## WGSL on one screen"))
AROUND = """
@group(0) @binding(3) var<storage, read_write> counter: atomic<u32>;

@compute @workgroup_size(1)
fn snippet(@builtin(global_invocation_id) global: vec3u) {{
  let i = global.x;
  let n = sizes.n;
  var x = 0.5;
  var sum = 0.0;
  var a = true;
  var b = false;
  var at = 1u;
  var if_false = 1.0;
  var if_true = 2.0;
  var row = 1u;
  var column = 1u;
  var columns = 4u;
  for (var once = 0u; once < 1u; once++) {{
    {{ {text} }}
  }}
  output[0] = sum + x + if_false + if_true + f32(row + column + at + columns) + f32(a) + f32(b);
}}
"""


def snippets(card: str) -> list[str]:
    """What the table has in backticks, as statements."""
    cells = re.findall(r"`([^`]+)`", card.split("```")[2].replace("\\|", "|"))
    return [text if text[-1] in ";}" else f"_ = {text};" for text in cells]


def wrong_snippets(card: str) -> list[str]:
    """The snippets that do not compile below the card's module; the module itself if it does not."""
    module = card.split("```rust\n")[1].split("```")[0]
    wrong = []
    for text in ["", *snippets(card)]:
        inside, outside = ("", text) if text.startswith("fn ") else (text, "")
        kernel = Kernel(module + outside + AROUND.format(text=inside), text or "the module")
        try:
            pipeline(kernel, "snippet")
            pipeline(kernel, "main")
        except WgslError as error:
            wrong.append(str(error).splitlines()[0])
    return wrong


def test_every_snippet_of_the_card_compiles():
    assert len(snippets(CARD)) >= 25
    assert wrong_snippets(CARD) == []


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("let y = 2.0;", "let y = 2.0u;", "2.0u"),
        ("2.0 * input", "2.0 input", "the module"),
    ],
)
def test_a_snippet_that_does_not_compile_is_noticed(old, new, said):
    assert CARD.count(old) == 1
    assert any(said in line for line in wrong_snippets(CARD.replace(old, new)))
