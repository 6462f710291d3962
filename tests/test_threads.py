"""Lesson 00: who a thread is and what it owns, two threads that swap, the questions, and the card."""

import re
from itertools import product
from textwrap import dedent

import nbformat
import numpy as np
import pytest
from support.notebook_gate import NOTEBOOKS

from helpers import gpu
from helpers.gpu.passes import pipeline
from helpers.grading.test_run import simulated
from helpers.lessons.exercises import QUESTIONS
from helpers.lessons.meet_the_gpu import exercises
from helpers.lessons.meet_the_gpu.indices import Dispatch, swap, workgroups_for
from helpers.lessons.shared.interleavings import orders
from wgsl import Kernel, WgslError

LESSON = nbformat.read(NOTEBOOKS / "00_meet_the_gpu.ipynb", as_version=4)
SOURCES = [cell.source for cell in LESSON.cells]
KERNELS = dict(re.findall(r'^(\w+) = """(\n.*?)"""', "\n".join(SOURCES), re.M | re.S))

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
  let at = 10 * (g.y * n.x * X + g.x);
  let all = array<u32, 10>(w.x, w.y, w.z, l.x, l.y, l.z, index, g.x, g.y, g.z);
  for (var i = 0u; i < 10; i++) { seen[at + i] = all[i]; }
}
"""
DISPATCHES = [Dispatch((3, 1), (4, 1), 1, 10), Dispatch((2, 2), (4, 3), 5, 7), Dispatch((1, 2), (3, 2), 8, 2)]
each_dispatch = pytest.mark.parametrize("dispatch", DISPATCHES, ids=str)


@each_dispatch
def test_ids_are_what_a_kernel_receives(dispatch):
    (wide, high), (x, y) = dispatch.grid, dispatch.size
    kernel = Kernel(IDS).with_constants(X=x, Y=y)
    seen = gpu.launch(kernel, [np.zeros((high, wide, 10), np.uint32)], dispatch.workgroups)
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
    empty = np.zeros(dispatch.elements, np.uint32)
    written = gpu.launch(kernel, [empty, (dispatch.rows, dispatch.columns)], dispatch.workgroups)
    want = empty.copy()
    for x, y in product(*map(range, dispatch.grid)):
        owned = dispatch.owned(x, y)
        if owned:
            want[dispatch.offset(*owned)] = 1 + 100 * y + x
    assert written.tolist() == want.tolist()
    assert dispatch.ownerless == (want == 0).sum()
    assert dispatch.idle == np.prod(dispatch.grid) - (want > 0).sum()


# --- A swap ---------------------------------------------------------------------------------------------------

TURNS = """
@group(0) @binding(0) var<storage, read_write> numbers: array<f32>;
@group(0) @binding(1) var<storage, read> order: array<u32>;
var<private> box: array<f32, 2>;  // one thread plays both
var<private> has_put: array<bool, 2>;

@compute @workgroup_size(1)
fn main() {
  for (var turn = 0u; turn < 4u; turn++) {
    let thread = order[turn];
    if (has_put[thread]) { numbers[thread] = box[1u - thread]; } else { box[thread] = numbers[thread]; }
    has_put[thread] = true;
  }
}
"""


def test_an_order_of_turns_leaves_what_a_kernel_leaves():
    assert len(orders(barrier=False)) == 6
    assert [order for order in orders(barrier=False) if order[0] == order[1]] == [(0, 0, 1, 1), (1, 1, 0, 0)]
    assert {*orders(barrier=True)} == {*orders(barrier=False)} - {(0, 0, 1, 1), (1, 1, 0, 0)}
    for order in orders(barrier=False):
        numbers = gpu.launch(TURNS, [np.float32([3, 8]), np.uint32(order)])
        assert swap(order, (3, 8))[0] == numbers.tolist()
    assert all(swap(order, (3, 8)) == ([8, 3], [3, 8]) for order in orders(barrier=True))


# --- Questions ------------------------------------------------------------------------------------------------


VECTORS = """
@group(0) @binding(0) var<storage, read> points: array<vec3f>;
@group(0) @binding(1) var<storage, read_write> result: array<u32>;
@compute @workgroup_size(1)
fn main() { result[0] = arrayLength(&points); }
"""


def test_the_answers_are_what_the_gpu_says():
    eight = np.arange(1, 9, dtype=np.float32)
    by_three = KERNELS["double"].replace("size(4)", "size(3)")
    assert workgroups_for(64, 64) == 1
    below = "@group(0) @binding(0) var<storage, read_write> x: array<u32>; @compute @workgroup_size(1)"
    two_minus_three = gpu.launch(f"{below} fn main() {{ x[0] = x[0] - 3u; }}", [np.uint32([2])])[0]
    (line,) = re.findall("`(f32[^`]+)`", QUESTIONS["value_of_a_line"].asked)
    result = below.replace("x: array<u32>", "result: array<f32>")
    value_of_a_line = gpu.launch(
        f"{result} fn main() {{ let i = 7u; let x = result[0]; result[0] = {line}; }}", [np.float32([2.5])]
    )
    reverse = exercises.PUZZLES[5]
    assert not simulated(reverse.with_mistake(reverse.mistakes[0]), reverse.cases()[0]).wrong.any()  # in step
    computed = {
        "changed_numbers": (gpu.launch(by_three, [eight], workgroups=2) != eight).sum(),
        "idle_threads": Dispatch((workgroups_for(1000, 64), 1), (64, 1), 1, 1000).idle,
        "two_minus_three": two_minus_three,
        "orders_of_a_swap": sum(swap(order, (3, 8))[0] != [8, 3] for order in orders(barrier=False)),
        "wrong_without_barrier": sum(3 - thread > thread for thread in range(4)),  # whose number is put later
        "value_of_a_line": value_of_a_line[0],
        "elements_of_vec3f": gpu.launch(VECTORS, [np.zeros(24, np.float32), np.zeros(1, np.uint32)])[0],
    }
    assert {name: QUESTIONS[name].right for name in computed} == computed


# --- A launch of the reader's own -----------------------------------------------------------------------------

LAUNCH = exercises.PYTHON_PUZZLES[0]
TASK = re.sub(r"^# ?", "", LAUNCH.skeleton, flags=re.MULTILINE)
KERNEL = dedent(TASK.partition("called kernel:")[2].partition("The call")[0])
MINE = LAUNCH.solution.text
REAL = {"kernel": KERNEL, "launch": gpu.launch, "zeros": lambda n: np.zeros(n, np.float32)}


def launched(text: str, n: int) -> object:
    """The result of lines that launch a kernel: on the adapter, and in short form."""
    given = next(case.given[0] for case in LAUNCH.cases() if case.given[0]["n"] == n)
    arrays = {name: np.float32(given[name].numbers) for name in "abd"}
    real = REAL | {"n": n, **arrays}
    exec(text, real)
    short = LAUNCH.read(text).run(given).value
    assert tuple(real["result"].tolist()) == short
    return short


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("zeros(n)", "zeros(n)"),
        ("(n + 3) // 4", "1"),
        ("[a, b, d,", "[d, b, a,"),
        ("d, zeros(n),", "zeros(n), d,"),
        ("(n,)", "(3,)"),
        ("zeros(n)", "zeros(2)"),
        ("zeros(n)", "d"),
    ],
)
def test_the_short_launch_computes_what_the_adapter_does(old, new):
    assert MINE.count(old) == 1
    for n in 4, 10:
        launched(MINE.replace(old, new), n)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (", (n,)]", "]"),
        ("(n,)", "n"),
        ("(n,)", "zeros(1)"),
        ("zeros(n)", "(n,)"),
        ("(n + 3) // 4", "0"),
    ],
)
def test_what_the_launcher_refuses_the_short_launch_refuses(old, new):
    with pytest.raises(WgslError):
        LAUNCH.read(MINE.replace(old, new)).run(LAUNCH.cases()[0].given[0])
    with pytest.raises((TypeError, ValueError, gpu.GpuError)):
        exec(MINE.replace(old, new), REAL | {"n": 4} | dict.fromkeys("abd", np.ones(4, np.float32)))


def test_threads_that_pass_the_guard_and_read_past_the_end_are_refused():
    with pytest.raises(WgslError, match="thread 10 does not return, and there are 10 elements"):
        LAUNCH.read(MINE.replace("(n,)", "(n + 1,)")).run(LAUNCH.cases()[2].given[0])
    with pytest.raises(WgslError, match="40 threads, for 10 elements: fewer workgroups"):
        LAUNCH.read(MINE.replace("(n + 3) // 4", "n")).run(LAUNCH.cases()[2].given[0])
    with pytest.raises(WgslError, match="8 threads, for 4 elements: fewer workgroups"):
        LAUNCH.read(MINE.replace("(n + 3) // 4", "n // 4 + 1")).run(LAUNCH.cases()[0].given[0])


def test_the_uniform_may_have_a_name():
    named = MINE.replace("result =", "sizes = (n,)\nresult =").replace("(n,)]", "sizes]")
    assert all(verdict.outcome == "right" for verdict in LAUNCH.grade(named))


# --- The card -------------------------------------------------------------------------------------------------

START = next(i for i, source in enumerate(SOURCES) if source.startswith("## WGSL on one screen"))
CARD = "\n".join(SOURCES[START : START + 2])
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
    """The texts that the table has in backticks, as statements."""
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
    ("old", "new", "named"),
    [
        ("let y = 2.0;", "let y = 2.0u;", "2.0u"),
        ("2.0 * input", "2.0 input", "the module"),
    ],
)
def test_a_snippet_that_does_not_compile_is_noticed(old, new, named):
    assert CARD.count(old) == 1
    assert any(named in line for line in wrong_snippets(CARD.replace(old, new)))
