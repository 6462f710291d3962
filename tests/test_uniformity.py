"""A barrier that some threads miss is found in the text, and no other one is called so."""

import re

import pytest

from helpers.exercises import PUZZLES
from helpers.gpu.passes import pipeline
from helpers.grading.judge import judged
from helpers.grading.uniformity import divergent_barrier
from helpers.grading.verdict import RIGHT, UNSAFE, WRONG
from helpers.wgsl import KERNELS, Kernel

FRAME = """
struct Params { n: u32, K: u32 }
struct Ids { @builtin(local_invocation_id) local: vec3u, @builtin(num_workgroups) groups: vec3u }
@group(0) @binding(0) var<storage, read> input: array<f32>;
@group(0) @binding(1) var<storage, read_write> total: array<f32>;
@group(0) @binding(2) var<uniform> params: Params;
var<workgroup> partial: array<f32, 256>;
var<private> mine: u32;
fn wait() { workgroupBarrier(); }
fn wait_below(limit: u32, i: u32) {
  if (i < limit) { workgroupBarrier(); }
}
fn twice(i: u32) -> u32 { return i + i; }
fn me() -> u32 { return mine; }
fn late() -> bool { if (mine > 3u) { return true; } return false; }
fn remember(i: u32) { mine = i; }
fn even(i: u32) -> bool { if (i % 2u == 0u) { return true; } return false; }
fn put(place: ptr<function, u32>, number: u32) { *place = number; }
@compute @workgroup_size(256)
fn main(
  @builtin(local_invocation_index) thread: u32,
  @builtin(global_invocation_id) place: vec3u,
  @builtin(workgroup_id) group: vec3u,
  ids: Ids,
) {
  total[0] = input[0] + partial[0];
BODY
}
"""
WAIT = "workgroupBarrier();"
FOR = "for (var half = 128u; half > 0u; half /= 2u)"

BROKEN = {  # the body: what parts the threads, and its mark in the sentence
    f"if (thread < 128u) {{ {WAIT} }}": "if",
    f"if (params.n > 3u && place.x < params.n) {{ {WAIT} }}": "if",
    f"if (ids.local.x == 0u) {{ total[0] = 1.0; }} else {{\n {WAIT} }}": "if",
    f"if (params.n > 1u) {{ {WAIT} }} else if (thread > 1u) {{ {WAIT} }}": "if",
    "if (thread < 128u) { storageBarrier(); }": "if",
    f"switch (thread) {{ case 0u: {{ {WAIT} }} default: {{ }} }}": "switch",
    f"let row = thread / 16u; let far = row + 1u; if (far < params.K) {{ {WAIT} }}": "if",
    f"var last = 0u; if (thread > 3u) {{ last = 1u; }}\n if (last == 1u) {{ {WAIT} }}": "if",
    f"var sum = 0.0; for (var i = thread; i < params.n; i++) {{ sum += 1.0; }}\n if (sum > 2.0) {{ {WAIT} }}": "if",
    f"for (var i = thread; i < params.n; i += 256u) {{ {WAIT} }}": "for",
    f"var i = 0u; while (i < thread) {{ i++; {WAIT} }}": "while",
    f"if (thread >= params.n) {{ return; }}\n {WAIT}": "return",
    f"if (params.n > 1u) {{ if (thread > params.n) {{ return; }} }}\n {WAIT}": "return",
    f"{FOR} {{\n if (thread >= half) {{ continue; }}\n {WAIT} }}": "continue",
    f"{FOR} {{\n if (thread >= half) {{ break; }}\n {WAIT} }}": "break",
    f"{FOR} {{\n {WAIT}\n if (thread >= half) {{ break; }} }}": "break",
    f"{FOR} {{\n {WAIT}\n if (thread >= half) {{ return; }} }}": "return",
    f"{FOR} {{\n {WAIT}\n if (thread >= half) {{ continue; }}\n partial[thread] = 1.0; }}": "continue",
    f"var i = 0u; loop {{ {WAIT} i++; if (i > thread) {{ break; }} }}": "break",
    f"var i = 0u; loop {{ {WAIT} continuing {{ i++; break if i > thread; }} }}": "break",
    "if (thread < 128u) { wait(); }": "if",
    "wait_below(params.n, thread);": "if",
    f"mine = thread; if (me() < 3u) {{ {WAIT} }}": "if",
    f"remember(thread); if (mine < 3u) {{ {WAIT} }}": "if",
    f"mine = thread; if (late()) {{ {WAIT} }}": "if",
    f"for (var i = 0u; i < 9u; i++) {{\n if (thread > i) {{ return; }} }}\n {WAIT}": "return",
    f"if (twice(thread) < 3u) {{ {WAIT} }}": "if",
    f"if (even(thread)) {{ {WAIT} }}": "if",
    f"var i = 0u; put(&i, thread); if (i < 3u) {{ {WAIT} }}": "if",
    f"var t: array<u32, 2>; t[1] = thread; if (t[0] < 3u) {{ {WAIT} }}": "if",
    f"if (input[thread] > 0.0) {{ {WAIT} }}": "if",
}
SOUND = (
    WAIT,
    f"if (params.K > 3u) {{ {WAIT} }}",
    f"if (group.x >= params.n) {{ return; }} {WAIT}",
    f"if (ids.groups.x > 0u) {{ {WAIT} }}",
    f"{FOR} {{ {WAIT} if (thread < half) {{ partial[thread] += partial[thread + half]; }} }}",
    f"if (thread == 0u) {{ total[0] = 1.0; }} {WAIT}",
    f"for (var i = thread; i < params.n; i += 256u) {{ total[i] = 0.0; }} for (var i = 0u; i < 3u; i++) {{ {WAIT} }}",
    f"var i = thread; i = 0u; while (i < params.n) {{ {WAIT} i += 16u; }}",
    f"{{ let i = thread; total[i] = 0.0; }} let i = params.n; if (i > 1u) {{ {WAIT} }}",
    f"let i = params.n; {{ let i = thread; total[i] = 0.0; }} if (i > 1u) {{ {WAIT} }}",
    f"for (var i = 0u; i < 9u; i++) {{ if (i > thread) {{ continue; }} total[i] = 1.0; }} {WAIT}",
    f"for (var i = 0u; i < 9u; i++) {{ if (i > thread) {{ break; }} total[i] = 1.0; }} {WAIT}",
    f"var count = 0u; for (var i = 0u; i < 9u; i++) {{ count++; if (i > thread) {{ continue; }} total[i] = 1.0; }}"
    f" if (count > 3u) {{ {WAIT} }}",
    f"for (var i = 0u; i < 9u; i++) {{ if (i == params.n) {{ break; }} if (i == 3u) {{ continue; }} {WAIT} }}",
    f"var i = 0u; loop {{ if (i >= params.n) {{ break; }} {WAIT} continuing {{ i += 16u; }} }}",
    f"switch (params.n) {{ case 0u, 1u: {{ if (thread > 1u) {{ break; }} total[0] = 1.0; }} default: {{ {WAIT} }} }}"
    f" {WAIT}",
    f"{{ let thread = params.n; if (thread > 3u) {{ {WAIT} }} }}",
    f"partial[thread] = 1.0; {WAIT} if (partial[0] > 3.0) {{ {WAIT} }}",
    f"// if (thread > 3u) {{ return; }}\n wait(); wait_below(params.n, params.K); {WAIT}",
    f"total[place.x] = select(0.0, 1.0, even(thread)); if (even(params.n)) {{ {WAIT} }}",
    f"mine = thread; mine = 1u; if (me() < 3u) {{ {WAIT} }}",
    f"var i = 0u; put(&i, params.n); if (i <= 3u) {{ i <<= 2u; {WAIT} }}",
)


def kernel(body: str) -> Kernel:
    return Kernel(FRAME.replace("BODY", body))


@pytest.mark.parametrize("body", BROKEN)
def test_a_barrier_that_some_threads_miss_is_found_with_its_cause(body):
    broken, word = kernel(body), BROKEN[body]
    pipeline(broken, "main")  # it compiles
    line, sentence = divergent_barrier(broken)
    lines = broken.source.split("\n")
    assert "Barrier()" in lines[line - 1]
    assert f"the barrier in line {line}, because " in sentence
    where = int(re.findall(r"line (\d+)", sentence)[-1])
    assert re.search(rf"\b{word}\b", lines[where - 1])
    left = word in ("return", "break", "continue")
    assert ("some have left" in sentence) == left
    assert sentence.endswith("where you load or write" if left else " out")


@pytest.mark.parametrize("body", SOUND)
def test_a_barrier_that_all_threads_reach_is_not_called_missed(body):
    sound = kernel(body)
    pipeline(sound, "main")
    assert divergent_barrier(sound) is None


def test_the_sentences():
    def said(body: str) -> str:
        return divergent_barrier(kernel(body))[1].partition(", because ")[2]

    assert said(f"if (thread < 9u) {{\n {WAIT} }}") == "it stands in the `if` of line 27: move it out"
    assert said("\nif (thread < 9u) { wait(); }").startswith("its function is called in the `if` of line 28: move the")
    turns = "in which some threads take more turns than others: move it out"
    assert said(f"for (var i = thread; i < 9u; i++) {{ {WAIT} }}") == f"it stands in the loop of line 27, {turns}"
    cure = "keep all threads, and use the condition where you load or write"
    assert said(f"if (thread < 9u) {{ return; }} {WAIT}") == f"some have left in line 27 (`return`): {cure}"


def test_no_kernel_and_no_known_mistake_of_the_course_is_called_so():
    texts = [Kernel(path.read_text(encoding="utf-8")) for path in KERNELS.glob("*/*.wgsl")]
    for puzzle in PUZZLES.values():
        texts += [puzzle.official, Kernel(puzzle.skeleton), Kernel(puzzle.solution.text)]
        texts += [puzzle.official.edit(slip.old, slip.new) for slip in puzzle.slips]
    assert len(texts) > 150
    assert [found for text in texts if (found := divergent_barrier(text))] == []


# --- What the graders make of it ----------------------------------------------------------------------------

STEP = "    if (thread < half) { partial[thread] += partial[thread + half]; }"
WAIT_LINE = f"    {WAIT}\n"
ADVICE = "write only where there is such an element, with no `return` above a barrier"


def graded(name: str, old: str, new: str) -> list[tuple[str, str]]:
    """Outcome and detail of each test of the official text with an edit."""
    source = PUZZLES[name].solution.text
    assert source.count(old) == 1
    return [(verdict.outcome, verdict.detail) for verdict in judged(PUZZLES[name], source.replace(old, new))]


@pytest.mark.parametrize(
    ("name", "old", "new", "first"),  # first: what parts the threads
    [
        ("tree_sum", WAIT_LINE + STEP, STEP.replace("{ ", f"{{ {WAIT} "), "it stands in the `if`"),
        ("tree_sum", WAIT_LINE + STEP, f"if (thread >= half) {{ continue; }}\n{WAIT_LINE}{STEP}", "some have left"),
        ("tree_sum", STEP, f"    if (thread >= half) {{ break; }}\n{STEP}", "some have left"),
        ("tree_sum", "  for (var half", "  if (thread >= params.n) { return; }\n  for (var half", "some have left"),
        ("tiled_product", f"{WAIT_LINE}    for", f"if (m < params.M) {{ {WAIT} }}\n    for", "it stands in the `if`"),
        ("gemm_bwd_da", "  var sum", "  if (m >= params.M) { return; }\n  var sum", "some have left"),
    ],
)
def test_a_barrier_that_some_threads_miss_is_never_right_and_is_named_first(name, old, new, first):
    found = graded(name, old, new)
    assert RIGHT not in [outcome for outcome, _ in found]
    lucky = {UNSAFE: "each number is right, but only by luck: ", WRONG: ""}
    outcome, detail = found[0]
    assert re.match(rf"{lucky[outcome]}not all threads reach the barrier in line \d+, because {first}", detail)
    assert "as if" not in detail
    assert "only some threads" not in detail  # what a run shows is said once


@pytest.mark.parametrize(
    ("name", "old", "words"),
    [
        ("tree_sum", WAIT_LINE, "it has 0 workgroupBarrier() where 1 is needed; "),
        ("gemm_bwd_da", f"    {WAIT}\n    // 4", "it has 1 workgroupBarrier() where 2 are needed; "),
    ],
)
def test_a_barrier_too_few_is_said_first(name, old, words):
    _, detail = graded(name, old, old.replace(WAIT, ""))[0]
    assert detail.removeprefix("each number is right, but only by luck: ").startswith(words)


def test_a_barrier_after_the_first_step_of_the_tree_is_named():
    """Its numbers are right where the threads of a workgroup keep step by chance."""
    found = graded("tree_sum", WAIT_LINE + STEP, f"{STEP}\n{WAIT_LINE}")
    assert RIGHT not in [outcome for outcome, _ in found]
    assert "no barrier stands between line 15, which writes partial, and line 19, which reads it" in found[0][1]


@pytest.mark.parametrize(
    "new",  # in the place of the barrier
    [
        "    wait();",
        f"    let own = partial[thread] + sum * 0.0;\n    {WAIT}",  # its own number
        f"    if (params.n > 0u) {{ {WAIT} }}",
        f"    if (half > params.n + 999u) {{ continue; }}\n    {WAIT}",
    ],
)
def test_right_kernels_in_another_manner_are_right(new):
    source = PUZZLES["tree_sum"].solution.text.replace(f"    {WAIT}", new) + f"\nfn wait() {{ {WAIT} }}"
    assert {verdict.outcome for verdict in judged(PUZZLES["tree_sum"], source)} == {RIGHT}


def test_a_sum_that_doubles_itself_gets_no_false_name():
    """Its total is that of the known mistake `var i = 0u`: 256 times the first sum; the name holds for both."""
    detail = graded("tree_sum", "partial[thread + half]", "partial[2u * thread]")[0][1]
    assert "thread 0's own sum is counted 256 times" in detail
    assert "begins with number 0" not in detail


@pytest.mark.parametrize(
    ("name", "old", "new", "advice"),
    [
        ("tiled_product", "if (m < params.M && n < params.N)", "if (true)", ADVICE),
        ("gemm_bwd_dbias", "if (n >= params.N) { return; }", "", "return where there is no such element"),
        ("neighbor_difference", "input[i + 1u] -", "input[i + 2u] -", "check the guard and the offsets"),
        ("tree_sum", "i < params.n", "i <= params.n", "check the loop limits and the offsets"),
    ],
)
def test_advice_about_an_index_past_the_end_fits_the_kernel(name, old, new, advice):
    assert any(advice in detail for _, detail in graded(name, old, new))
