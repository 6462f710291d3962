"""What the simulator reports, and where: small kernels, one for each rule."""

import re

import numpy as np
import pytest

from helpers import simulate
from helpers.simulator import run as simulator
from helpers.simulator.findings.trace import Trace
from helpers.simulator.launch import MOST_STEPS
from helpers.wgsl import Kernel, UnsupportedWgsl, WgslError

THREADS = 8
BINDINGS = """
@group(0) @binding(0) var<storage, read_write> numbers: array<u32>;  // 16
@group(0) @binding(1) var<storage, read_write> floats: array<f32>;   // 16
@group(0) @binding(2) var<storage, read_write> counters: array<atomic<u32>, 4>;
@group(0) @binding(3) var<uniform> sizes: array<vec4u, 2>;  // 1, 2, 3, 4, 5, 6, 7, 8
"""
MAIN = f"""{BINDINGS}
var<workgroup> tile: array<u32, {THREADS}>;
var<workgroup> total: u32;
var<workgroup> tally: atomic<u32>;
var<private> own: array<u32, 4>;
"""
BODY = """
@compute @workgroup_size(8)
fn main(@builtin(local_invocation_index) t: u32, @builtin(workgroup_id) id: vec3u) {
  let group = id.x;
"""


def text_of(body: str, declarations: str = "") -> str:
    """A kernel of 8 threads with this body."""
    return f"{MAIN}{declarations}{BODY}{body}\n}}\n"


def run(body: str, groups: int = 1, declarations: str = "", **options) -> Trace:
    """Simulate a body over two buffers of 16 zeros, 4 counters and the sizes 1 to 8; nothing need be written."""
    buffers = [
        np.zeros(16, np.uint32),
        np.zeros(16, np.float32),
        np.zeros(4, np.uint32),
        np.arange(1, 9, dtype=np.uint32),
    ]
    options = {"outputs": (), **options}
    return simulate(text_of(body, declarations), buffers, (groups, 1, 1), **options)


# --- Which finding, in which line -----------------------------------------------------------------------------
# A finding is expected where a comment has its kind, and no other one. Where a line ends in `// earlier`, it is the
# other one of a race; otherwise both accesses are in one line.

RACES = {
    "a neighbor's slot is read before a barrier": """
  tile[t] = t;  // earlier
  numbers[t] = tile[t ^ 1u];  // data race""",
    "a neighbor's slot is overwritten before a barrier": """
  numbers[t] = tile[t ^ 1u];  // earlier
  tile[t] = t;  // data race""",
    "in storage": """
  numbers[t] = t;  // earlier
  floats[t] = f32(numbers[t ^ 1u]);  // data race""",
    "in one statement: every thread reads, then writes": """
  numbers[0] += t;  // data race""",
    "two threads write different values": """
  numbers[t / 2u] = t;  // data race""",
    "different values in two statements": """
  if (t == 0u) { numbers[0] = 5u; }  // earlier
  if (t == 1u) { numbers[0] = 6u; }  // data race""",
    "two threads write the same value": """
  numbers[t / 2u] = 7u;  // overlapping writes""",
    "the same value in two statements": """
  if (t == 0u) { numbers[0] = 5u; }  // earlier
  if (t == 1u) { numbers[0] = 5u; }  // overlapping writes""",
    "some write the same value, some another one": """
  numbers[0] = t / 2u;  // data race, overlapping writes""",
    "a flag that says the data is there": """
  if (t == 0u) { numbers[1] = 5u; atomicStore(&counters[0], 1u); }  // earlier
  if (t == 1u && atomicLoad(&counters[0]) == 1u) {
    numbers[2] = numbers[1];  // data race
  }""",
    "through a pointer and a function": """
  tile[t] = t;  // earlier
  numbers[t] = neighbor(t);
}
fn neighbor(t: u32) -> u32 {
  return tile[t ^ 1u];  // data race""",
    "a struct and a whole vector": """
  pairs[t].x = t;  // earlier
  numbers[t] = dot(pairs[t ^ 1u], vec2u(1u));  // data race""",
    "only one of the ways to the read has a barrier": """
  tile[t] = t;  // earlier
  if (sizes[0].x == 2u) { workgroupBarrier(); }
  numbers[t] = tile[t ^ 1u];  // data race""",
    "a loop's next round overwrites what others still read": """
  for (var i = 0u; i < 2u; i++) {
    tile[t] = i;  // data race
    workgroupBarrier();
    numbers[t] = tile[t ^ 1u];  // earlier
  }""",
    "a workgroupBarrier does not order storage": """
  numbers[t] = t;  // earlier
  workgroupBarrier();
  floats[t] = f32(numbers[t ^ 1u]);  // data race""",
    "a storageBarrier does not order workgroup memory": """
  tile[t] = t;  // earlier
  storageBarrier();
  numbers[t] = tile[t ^ 1u];  // data race""",
}
ORDERED = {
    "each thread its own": """
  numbers[t] = t; tile[t] = numbers[t]; numbers[t] += tile[t];""",
    "all read one": """
  tile[t] = numbers[0] + sizes[0].x;""",
    "a workgroupBarrier between": """
  tile[t] = t;
  workgroupBarrier();
  numbers[t] = tile[t ^ 1u];""",
    "a storageBarrier between": """
  numbers[t] = t;
  storageBarrier();
  floats[t] = f32(numbers[t ^ 1u]);""",
    "a barrier in a function": """
  tile[t] = t;
  wait();
  numbers[t] = tile[t ^ 1u];
}
fn wait() { workgroupBarrier();""",
    "workgroupUniformLoad is a barrier before and after": """
  if (t == 3u) { total = 5u; }
  numbers[t] = workgroupUniformLoad(&total);
  if (t == 4u) { total = 6u; }""",
    "atomics do not race with atomics": """
  atomicAdd(&counters[0], t);
  atomicStore(&counters[1], t);
  numbers[t] = atomicLoad(&counters[1]) + atomicMax(&tally, t);""",
    "a number that one thread writes twice": """
  if (t == 0u) { numbers[0] = 1u; numbers[0] = 2u; }""",
    "two barriers in a loop": """
  for (var i = 0u; i < 2u; i++) {
    tile[t] = i;
    workgroupBarrier();
    numbers[t] = tile[t ^ 1u];
    workgroupBarrier();
  }""",
    "private memory and variables": """
  own[0] = t;
  var mine = t;
  mine += own[0];
  numbers[t] = mine;""",
    "neighboring members of a struct and of an array": """
  if (t < 2u) { numbers[t] = 1u; } else if (t == 2u) { pairs[0].x = 1u; } else if (t == 3u) { pairs[1].x = 1u; }""",
}
BETWEEN_WORKGROUPS = {
    "a read of another workgroup's number": """
  if (t == 0u) { numbers[group] = 5u; }  // earlier
  storageBarrier();
  if (t == 0u) { numbers[group + 2u] = numbers[1u - group]; }  // data race""",
    "two workgroups write one number": """
  if (t == 0u) { numbers[0] = group; }  // data race""",
    "two workgroups write the same number": """
  if (t == 0u) { numbers[0] = 3u; }  // overlapping writes""",
    "each workgroup has its own workgroup memory": """
  tile[t] = group;
  workgroupBarrier();
  if (t == 0u) { numbers[group] = tile[1]; }""",
    "both add to one counter": """
  atomicAdd(&counters[0], 1u);""",
}
OUT_OF_RANGE = {
    "a read of a buffer": """
  tile[t] = numbers[t + 9u];  // out-of-range read""",
    "a write to a buffer": """
  numbers[t + 9u] = t;  // out-of-range write""",
    "both": """
  numbers[t + 9u] += t;  // out-of-range read, out-of-range write""",
    "a negative index": """
  tile[t] = numbers[i32(t) - 1];  // out-of-range read""",
    "workgroup memory": """
  if (t == 7u) { tile[t + 1u] = t; }  // out-of-range write""",
    "private memory": """
  own[t] = t;  // out-of-range write""",
    "a function's array": """
  var mine: array<u32, 4>;
  numbers[t] = mine[t];  // out-of-range read""",
    "the array of a value": """
  let mine = array(5u, 6u, 7u);
  numbers[t] = mine[t];  // out-of-range read""",
    "a component of a vector": """
  var mine = vec3u(5u, 6u, 7u);
  numbers[t] = mine[t];  // out-of-range read""",
    "a uniform array": """
  numbers[t] = sizes[t].x;  // out-of-range read""",
    "an array in an array": """
  numbers[t] = grid[1][t];  // out-of-range read""",
    "an atomic": """
  atomicAdd(&counters[t], 1u);  // out-of-range write""",
    "an atomic read": """
  numbers[t] = atomicLoad(&counters[t]);  // out-of-range read""",
    "in a called function": """
  numbers[t] = read(t + 9u);
}
fn read(i: u32) -> u32 {
  return numbers[i];  // out-of-range read""",
    "through a pointer": """
  var mine: array<u32, 4>;
  let slot = &mine[t];  // out-of-range write
  *slot = 1u;""",
    "a place that is named and never used": """
  let slot = &own[t];""",
    "a guard on the left of &&": """
  if (t + 9u < arrayLength(&numbers) && numbers[t + 9u] == 0u) { tile[t] = 1u; }""",
    "a guard on the right of && comes too late": """
  if (numbers[t + 9u] == 0u && t + 9u < arrayLength(&numbers)) { tile[t] = 1u; }  // out-of-range read""",
    "both arms of a select are evaluated": """
  tile[t] = select(0u, numbers[t + 9u], t + 9u < 16u);  // out-of-range read""",
}
MISSED_BARRIERS = {
    "in an if": """
  if (t < 3u) { workgroupBarrier(); }  // non-uniform barrier""",
    "behind an early return": """
  if (t == 3u) { return; }
  workgroupBarrier();  // non-uniform barrier""",
    "in a loop that some leave early": """
  for (var i = 0u; i < t; i++) {
    workgroupBarrier();  // non-uniform barrier
  }""",
    "behind a break": """
  loop {
    if (t == 0u) { break; }
    storageBarrier();  // non-uniform barrier
    break;
  }""",
    "behind a continue": """
  for (var i = 0u; i < 2u; i++) {
    if (t == i) { continue; }
    workgroupBarrier();  // non-uniform barrier
  }""",
    "one barrier in each branch": """
  if (t < 3u) {
    workgroupBarrier();  // non-uniform barrier
  } else {
    workgroupBarrier();  // non-uniform barrier
  }""",
    "in a switch": """
  switch t { case 0u, 1u: { workgroupBarrier(); } default: {} }  // non-uniform barrier""",
    "in a function that not all call": """
  if (t < 3u) { wait(); }
}
fn wait() {
  workgroupBarrier();  // non-uniform barrier""",
    "workgroupUniformLoad": """
  if (t < 3u) { tile[t] = workgroupUniformLoad(&total); }  // non-uniform barrier""",
    "on the right of &&": """
  if (t < 3u && workgroupUniformLoad(&total) == 0u) { tile[t] = 1u; }  // non-uniform barrier""",
    "in a branch that all take": """
  if (sizes[0].x == 1u) { workgroupBarrier(); }""",
    "in a loop of the same length for all": """
  for (var i = 0u; i < sizes[0].w; i++) { workgroupBarrier(); }""",
    "whole workgroups skip it": """
  if (group == 1u) { return; }
  workgroupBarrier();""",
    "each workgroup its own number of rounds": """
  for (var i = 0u; i <= group; i++) { workgroupBarrier(); }""",
    "only one workgroup divides": """
  if (group == 1u && t == 2u) { return; }
  workgroupBarrier();  // non-uniform barrier""",
}
OVERFLOWS = {
    "a wrap that is used": """
  tile[t] = numbers[t - 1u];  // index overflow, out-of-range read""",
    "a wrap that lands inside": """
  tile[t] = numbers[t * 0x80000000u / 0x40000000u];  // index overflow""",
    "a wrap that a guard catches": """
  let left = t - 1u;
  if (left < 8u) { tile[t] = numbers[left]; }""",
    "a wrap that is undone": """
  tile[t] = numbers[t - 1u + 1u];""",
    "a wrap that is undone later, by way of a variable, a function and a vector": """
  var at = vec2u(t - 5u, t);
  at.x += 2u;
  tile[t] = numbers[back(at.x)];
}
fn back(x: u32) -> u32 {
  return x + 3u;""",
    "a wrap in a variable and a function": """
  var at = vec2u(t - 5u, t);
  at.x += 2u;
  tile[t] = numbers[back(at.x)];  // index overflow, out-of-range read
}
fn back(x: u32) -> u32 {
  return x + 1u;""",
    "a remainder by a power of two": """
  tile[t] = numbers[(t - 1u) % 16u] + numbers[(t - 5u) & 7u];""",
    "a large product's remainder by a power of two": """
  tile[t] = numbers[(t + 4000000000u) * 2654435761u % 16u];""",
    "a remainder by another number": """
  tile[t] = numbers[(t - 1u) % 7u];  // index overflow""",
    "a hash": """
  var hash = (t + 1u) * 2654435761u;
  hash ^= hash << 13u;
  hash ^= hash >> 17u;
  tile[t] = numbers[hash >> 28u];""",
    "a countdown": """
  for (var i = t; i < 8u; i--) { tile[t] = numbers[i]; }""",
    "an i32 below 0 as u32": """
  tile[t] = numbers[u32(i32(t) - 1)];  // index overflow, out-of-range read""",
    "an i32 that comes back before it is used": """
  tile[t] = numbers[u32(i32(t) - 1 + 1)];""",
    "max keeps it away": """
  tile[t] = numbers[min(t - 1u, 15u)];
  tile[t] = numbers[u32(max(i32(t) - 1, 0))];""",
    "a comparison and a value are no index": """
  if (t - 1u > 5u) { numbers[t] = t - 1u; }""",
    "select keeps it away": """
  tile[t] = numbers[select(t - 1u, 0u, t == 0u)];""",
}
NOT_NUMBERS = {
    "the root of -1": """
  floats[t] = sqrt(f32(t) - 1.0);  // not-a-number""",
    "0 / 0": """
  floats[t] = f32(t) / f32(t);  // not-a-number""",
    "infinity - infinity": """
  let huge = exp(f32(t) * 100.0);
  let rest = huge - huge;  // not-a-number
  floats[t] = rest;""",
    "0 * infinity": """
  floats[t] = exp(f32(t) * 100.0) * exp(f32(t) * -200.0);  // not-a-number""",
    "a logarithm": """
  floats[t] = log(f32(t) - 1.0);  // not-a-number""",
    "a remainder": """
  floats[t] = 1.0 % f32(t);  // not-a-number""",
    "a power": """
  floats[t] = pow(f32(t) - 1.0, 0.5);  // not-a-number""",
    "the direction of a vector of zeros": """
  floats[t] = normalize(vec2f(f32(t), 0.0)).x;  // not-a-number""",
    "born in a function, stored elsewhere": """
  let x = root(f32(t) - 1.0);
  var y = x + 1.0;
  y *= 2.0;
  floats[t] = y;
}
fn root(x: f32) -> f32 {
  return sqrt(x);  // not-a-number""",
    "through other functions": """
  let x = sqrt(f32(t) - 1.0);  // not-a-number
  floats[t] = abs(exp(x)) * floor(vec2f(x, 1.0)).x;""",
    "by way of workgroup memory": """
  parts[t] = sqrt(f32(t) - 1.0);  // not-a-number
  workgroupBarrier();
  floats[t] = parts[t ^ 1u];""",
    "by way of another buffer's element": """
  floats[t] = sqrt(f32(t) - 1.0);  // not-a-number
  floats[t + 8u] = floats[t];""",
    "in a sum": """
  var sum = 0.0;
  for (var i = 0u; i < 4u; i++) {
    sum += sqrt(f32(i) - f32(t));  // not-a-number
  }
  floats[t] = sum;""",
    "two places of birth": """
  floats[t] = sqrt(f32(t) - 1.0);  // not-a-number
  floats[t + 8u] = log(f32(t) - 1.0);  // not-a-number""",
    "not stored": """
  if (sqrt(f32(t) - 1.0) > 0.5) { floats[t] = 1.0; }""",
    "a select takes the other one": """
  floats[t] = select(sqrt(f32(t) - 1.0), 0.0, t == 0u);""",
    "infinities are numbers of a kind": """
  floats[t] = exp(f32(t) * 100.0) + 1.0 / f32(t);""",
}
DECLARED = """
var<workgroup> pairs: array<vec2u, 8>;
var<workgroup> parts: array<f32, 8>;
var<private> grid: array<array<u32, 4>, 2>;
"""


def table(groups: int, *tables: dict[str, str]) -> list:
    return [pytest.param(body, groups, id=name) for bodies in tables for name, body in bodies.items()]


def marked(text: str) -> tuple[list[tuple[str, int]], int | None]:
    """The kinds and lines that a text's comments announce, and the line of `// earlier`."""
    kinds, earlier = [], None
    for number, line in enumerate(text.split("\n"), 1):
        comment = line.partition("// ")[2]
        if comment == "earlier":
            earlier = number
        elif re.fullmatch(r"([a-z -]+)(, [a-z -]+)*", comment):
            kinds += [(kind, number) for kind in comment.split(", ")]
    return sorted(kinds), earlier


@pytest.mark.parametrize(
    ("body", "groups"),
    [
        *table(1, RACES, ORDERED, OUT_OF_RANGE, OVERFLOWS, NOT_NUMBERS),
        *table(2, BETWEEN_WORKGROUPS, MISSED_BARRIERS),
    ],
)
def test_each_mistake_is_found_where_it_is_and_nothing_else(body, groups):
    trace = run(body, groups, DECLARED)
    expected, earlier = marked(text_of(body, DECLARED).replace(MAIN, re.sub("//.*", "", MAIN)))
    assert sorted({(finding.kind, finding.line) for finding in trace.findings}) == expected, trace
    for finding in trace.findings:
        racing = finding.kind in ("data race", "overlapping writes")
        assert finding.other_line == ((earlier or finding.line) if racing else None)
        assert finding.source_line == text_of(body, DECLARED).split("\n")[finding.line - 1]


# --- What an access past the end does -------------------------------------------------------------------------


def test_an_access_past_the_end_of_a_buffer_reads_0_and_is_not_written():
    trace = run("numbers[t] = 7u; tile[t] = numbers[t + 16u] + 5u; numbers[t + 16u] = 9u; numbers[8u + t] = tile[t];")
    assert list(trace.buffers[0]) == [7] * 8 + [5] * 8
    assert {finding.kind for finding in trace.findings} == {"out-of-range read", "out-of-range write"}


@pytest.mark.parametrize("name", ["own", "mine", "tile"])
def test_an_access_past_the_end_of_any_other_array_goes_to_its_last_element(name):
    size = 8 if name == "tile" else 4
    trace = run(f"""var mine: array<u32, 4>;
        if (t == 0u) {{ {name}[{size - 1}] = 5u; numbers[0] = {name}[t + 100u]; {name}[t + 100u] = 6u; }}
        if (t == 0u) {{ numbers[1] = {name}[{size - 1}]; }}""")
    assert list(trace.buffers[0][:2]) == [5, 6]


def test_an_update_reads_its_variable_before_its_right_side_changes_it():
    trace = run(
        "own[0] = 7u; own[0] += change(); numbers[t] = own[0]; }\nfn change() -> u32 { own[0] = 100u; return 1u;"
    )
    assert list(trace.buffers[0][:8]) == [8] * 8


def test_the_message_names_the_index_the_array_and_its_length():
    (finding,) = run("tile[t] = numbers[t + 9u];").findings
    assert finding.kind == "out-of-range read"
    for part in ("thread 7", "numbers[t + 9u]", "16"):
        assert part in finding.message
    (negative,) = run("if (t == 0u) { tile[t] = numbers[i32(t) - 3]; }").findings
    assert "-3" in negative.message


# --- Endless loops --------------------------------------------------------------------------------------------

LOOPS = {
    "no update": ("""
  for (var i = 0u; i < 8u;) {  // endless
    numbers[t] += 1u;
  }""", "i"),
    "a step that is none": ("""
  for (var half = 8u; half > 0u; half /= 1u) { numbers[t] += half; }  // endless""", "half"),
    "a countdown that never falls below 0": ("""
  for (var i = 7u; i >= 0u; i--) { tile[t] += i; }  // endless""", ""),
    "while": ("""
  var waiting = true;
  while (waiting) { numbers[t] += 1u; }  // endless""", "waiting"),
    "nobody changes the flag": ("""
  while (atomicLoad(&counters[0]) == 0u) {}  // endless""", ""),
    "loop": ("""
  var i = 0u;
  loop {  // endless
    if (i > 8u) { break; }
  }""", "i"),
    "break if": ("""
  var i = t + 1u;
  loop {  // endless
    continuing { i += 2u; break if i == 0u; }
  }""", ""),
    "a continue that skips the update": ("""
  var i = 0u;
  while (i < 8u) {  // endless
    if (i == 3u) { continue; }
    i++;
  }""", "i"),
    "only one thread": ("""
  for (var i = 0u; i != 70u; i++) {  // endless
    if (t == 5u && i > 50u) { i = 0u; }
    numbers[t] = i;
  }""", ""),
    "the outer loop, however long the inner one": ("""
  for (var i = 0u; i < 8u;) {  // endless
    for (var k = 0u; k < 90u; k++) { numbers[t] += k; }
  }""", "i"),
    "the outer loop, above three others": ("""
  for (var i = 0u; i < 8u;) {  // endless
    for (var k = 0u; k < 5u; k++) {
      for (var m = 0u; m < 5u; m++) { numbers[t] += m; }
    }
    for (var k = 0u; k < 50u; k++) { numbers[t] += k; }
  }""", "i"),
    "the inner loop, in a later round of the outer one": ("""
  for (var i = 0u; i < 8u; i++) {
    for (var k = 0u; k < 20u; k += u32(i < 3u)) { numbers[t] += k; }  // endless
  }""", "k"),
    "in a function": ("""
  numbers[t] = count();
}
fn count() -> u32 {
  var i = 0u;
  while (i < 5u) { i = min(i + 1u, 4u); }  // endless
  return i;""", "i"),
}  # fmt: skip


@pytest.mark.parametrize(("body", "unmoved"), LOOPS.values(), ids=LOOPS)
def test_the_loop_that_does_not_end_is_blamed_and_what_does_not_move(body, unmoved):
    trace = run(body, max_steps=300)
    (finding,) = [each for each in trace.findings if each.kind == "endless loop"]
    assert "// endless" in finding.source_line, finding
    assert "300" in finding.message
    named = re.findall(r"`(\w+)`,? on which", finding.message)
    assert named == [unmoved] * bool(unmoved), finding
    if "t == 5u" in body:
        assert (finding.count, finding.invocations) == (1, (((0, 0, 0), 5),))


def test_the_budget_counts_the_rounds_of_one_thread_in_all_its_loops():
    two_loops = "for (var i = 0u; i < 50u; i++) {} for (var i = 0u; i < 50u; i++) { numbers[t] = i; }"
    assert not run(two_loops, max_steps=100).findings
    (finding,) = run(two_loops, max_steps=99).findings
    assert finding.kind == "endless loop"
    parted = "for (var i = 0u; i < 50u; i++) { if (t < 4u) { continue; } numbers[t] = i; }"
    assert not run(parted + parted, max_steps=100).findings


def test_a_call_without_a_budget_has_the_default_one(monkeypatch):
    assert simulator.MAX_STEPS == 65_536
    monkeypatch.setattr(simulator, "MAX_STEPS", 100)
    assert not run("for (var i = 0u; i < 100u; i++) {}").findings
    assert [finding.kind for finding in run("for (var i = 0u; i < 101u; i++) {}").findings] == ["endless loop"]


def test_an_endless_loop_ends_the_run_and_leaves_the_buffers_as_they_stand():
    trace = run("numbers[t] = t; storageBarrier(); while (numbers[8] == 0u) { numbers[9u] = 1u; } numbers[t] = 5u;",
                max_steps=10, outputs=None)  # fmt: skip
    assert list(trace.buffers[0][:10]) == [0, 1, 2, 3, 4, 5, 6, 7, 0, 1]
    assert "unwritten output" not in {finding.kind for finding in trace.findings}


# --- Outputs --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "outputs", "expected"),
    [
        ("numbers[t] = t; numbers[t + 8u] = t;", None, []),
        ("numbers[t] = t;", None, [("numbers", 8)]),
        ("numbers[t] = t;", [0], [("numbers", 8)]),
        ("numbers[t] = t;", (), []),
        ("numbers[t] = t;", [0, 1], [("numbers", 8), ("floats", 16)]),
        ("numbers[t] = t; if (t > 9u) { floats[t] = 1.0; }", None, [("numbers", 8), ("floats", 16)]),
        ("numbers[t] += t; numbers[2u * t + 1u] = 5u;", None, [("numbers", 4)]),
        ("if (t < 3u) { atomicStore(&counters[t], 0u); }", None, [("counters", 1)]),
        ("numbers[t + 9u] = t;", None, [("numbers", 9)]),
    ],
)  # fmt: skip
def test_numbers_that_nobody_writes_are_reported_where_their_buffer_is_declared(body, outputs, expected):
    found = [each for each in run(body, outputs=outputs).findings if each.kind == "unwritten output"]
    assert [(re.search(r"> (\w+):", each.source_line)[1], each.count) for each in found] == expected
    assert all(each.invocations == () and each.other_line is None for each in found)


def test_padding_is_no_output():
    text = """struct Point { at: vec3f, }
        @group(0) @binding(0) var<storage, read_write> points: array<Point>;
        @compute @workgroup_size(2) fn main(@builtin(local_invocation_index) t: u32) { points[t].at = vec3f(1.0); }"""
    trace = simulate(text, [np.zeros(8, np.float32)], (1, 1, 1))
    assert not trace.findings
    assert list(trace.buffers[0]) == [1, 1, 1, 0, 1, 1, 1, 0]


# --- One finding for each kind and place ----------------------------------------------------------------------


def test_a_finding_counts_all_its_invocations_and_names_the_first_eight():
    (finding,) = run("for (var i = 0u; i < 3u; i++) { tile[t] = numbers[t + 13u]; }", groups=4).findings
    assert finding.count == 3 * 5 * 4
    assert finding.invocations == tuple(((g, 0, 0), t) for g in range(2) for t in range(3, 8))[:8]


def test_two_places_of_a_line_are_two_findings():
    found = run("tile[t] = numbers[t + 9u] + numbers[t + 12u];").findings
    assert [finding.line for finding in found] == [found[0].line] * 2
    assert [finding.source_line[finding.column - 1 :][:16] for finding in found] == [
        "numbers[t + 9u] ",
        "numbers[t + 12u]",
    ]
    assert [finding.count for finding in found] == [1, 4]


def test_both_threads_of_a_race_are_named_in_the_message_and_the_later_one_is_listed():
    body = "if (t == 5u) { numbers[3] = 1u; }\n if (t == 2u) { numbers[3] = 2u; }"
    (finding,) = run(body).findings
    assert (finding.count, finding.invocations) == (1, (((0, 0, 0), 2),))
    for part in ("thread 2", "thread 5", "numbers[3]", f"line {finding.line - 1}"):
        assert part in finding.message


def test_findings_stand_in_the_order_of_the_text():
    found = run("numbers[t + 9u] = t;\n tile[t] = numbers[t + 9u];\n if (t < 2u) { workgroupBarrier(); }").findings
    assert [finding.kind for finding in found] == ["out-of-range write", "out-of-range read", "non-uniform barrier"]
    assert [finding.line for finding in found] == sorted(finding.line for finding in found)


def test_a_windows_line_ending_and_a_comment_move_no_line():
    body = "/* one\n two */ tile[t] = numbers[t + 9u];"
    (plain,) = run(body).findings
    (windows,) = run(body.replace("\n", "\r\n")).findings
    assert (plain.line, plain.column, plain.source_line) == (windows.line, windows.column, windows.source_line)
    assert plain.source_line == " two */ tile[t] = numbers[t + 9u];"


def test_a_trace_shows_its_findings():
    trace = run("tile[t] = numbers[t + 9u];")
    assert repr(trace).startswith("your kernel: 1 finding\nline ")
    assert repr(run("numbers[t] = t;")) == "your kernel: no finding"


# --- Not-a-number: what was there before ----------------------------------------------------------------------


def test_a_nan_that_came_in_is_no_finding():
    def kinds(floats: list[float], body: str) -> list[str]:
        buffers = [np.zeros(16, np.uint32), np.float32(floats), np.zeros(4, np.uint32), np.arange(8, dtype=np.uint32)]
        trace = simulate(text_of(body), buffers, (1, 1, 1), outputs=())
        return [finding.kind for finding in trace.findings]

    copied = "floats[t + 8u] = sqrt(floats[t]) + 1.0;"
    assert kinds([np.nan] * 16, copied) == []
    assert kinds([-1.0] * 16, copied) == ["not-a-number"]
    assert kinds([-1.0] + [np.nan] * 15, copied) == ["not-a-number"]
    difference = "floats[t + 8u] = floats[t] - floats[t];"
    assert kinds([np.inf] * 16, difference) == []
    assert kinds([3e38] * 16, "floats[t + 8u] = floats[t] * 10.0 - floats[t] * 10.0;") == ["not-a-number"]


def test_a_stored_nan_is_the_usual_one():
    trace = run("floats[t] = sqrt(f32(t) - 1.0);")
    assert trace.buffers[1].view(np.uint32)[0] == 0x7FC00000


# --- Buffers and arguments ------------------------------------------------------------------------------------

SMALL = """@group(0) @binding(0) var<storage, read> input: array<f32>;
@group(0) @binding(1) var<storage, read_write> output: array<f32, 4>;
@group(0) @binding(2) var<uniform> count: u32;
override FACTOR: u32 = 2u;
@compute @workgroup_size(4) fn main(@builtin(local_invocation_index) t: u32) {
  output[t] = input[t % count] * f32(FACTOR);
}
@compute @workgroup_size(256) fn wide(@builtin(global_invocation_id) id: vec3u) { output[id.x % 4u] = 1.0; }
"""


def small(**changes) -> dict[str, object]:
    """Arguments of `simulate` that fit, with some changed."""
    buffers = [np.float32([[1, 2], [3, 4]]), np.full((2, 2), 9, np.float32), np.array([3], np.uint32)]
    return {"kernel": SMALL, "buffers": buffers, "workgroups": (1, 1, 1), **changes}


def test_the_given_buffers_stay_and_the_trace_has_new_ones_of_the_same_form():
    arguments = small()
    before = [array.copy() for array in arguments["buffers"]]
    for array in arguments["buffers"]:
        array.flags.writeable = False
    trace = simulate(**arguments)
    assert all(map(np.array_equal, arguments["buffers"], before))
    assert [(array.shape, array.dtype) for array in trace.buffers] == [(array.shape, array.dtype) for array in before]
    assert trace.buffers[1].tolist() == [[2, 4], [6, 2]]


def test_a_kernel_brings_its_constants_and_a_call_changes_them():
    tripled = Kernel(SMALL).with_constants(FACTOR=3)
    assert simulate(**small(kernel=tripled)).buffers[1].ravel()[0] == 3
    assert simulate(**small(kernel=tripled), constants={"FACTOR": 5}).buffers[1].ravel()[0] == 5


REFUSED = {
    "no text": ({"kernel": 5}, TypeError, "kernel is a int"),
    "too few buffers": ({"buffers": small()["buffers"][:2]}, ValueError, "buffers has 2 arrays"),
    "a list": ({"buffers": [[1.0], *small()["buffers"][1:]]}, TypeError, r"buffers\[0\] \(`input`\) is a list"),
    "float64": ({"buffers": [np.zeros(2), *small()["buffers"][1:]]}, ValueError, r"`input`.*float64"),
    "integers for floats": (
        {"buffers": [np.zeros(2, np.int32), *small()["buffers"][1:]]}, ValueError, "`input`.*int32.*float32"),
    "a wrong size": (
        {"buffers": [small()["buffers"][0], np.zeros(5, np.float32), small()["buffers"][2]]},
        ValueError, r"buffers\[1\] \(`output`\) has 5 numbers"),
    "an empty buffer": (
        {"buffers": [np.zeros(0, np.float32), *small()["buffers"][1:]]}, ValueError, "`input`.*0 numbers"),
    "two workgroup sizes": ({"workgroups": (1, 1)}, ValueError, r"workgroups = \(1, 1\)"),
    "no workgroup": ({"workgroups": (1, 0, 1)}, ValueError, "workgroups' y.* 0"),
    "too many workgroups": ({"workgroups": (65_536, 1, 1)}, ValueError, "workgroups' x.* 65"),
    "half a workgroup": ({"workgroups": (1.5, 1, 1)}, (TypeError, ValueError), "1.5"),
    "too many threads": (
        {"workgroups": (4097, 1, 1), "entry_point": "wide"}, ValueError, "1,048,832 invocations.*smaller"),
    "no such output": ({"outputs": [2]}, ValueError, r"outputs = \[2\].*1 output"),
    "no step": ({"max_steps": 0}, ValueError, "max_steps"),
    "too many steps": ({"max_steps": MOST_STEPS + 1}, ValueError, "max_steps"),
    "no such entry point": ({"entry_point": "other"}, WgslError, "`other`"),
    "no such constant": ({"constants": {"SPEED": 3}}, ValueError, "SPEED = 3"),
}  # fmt: skip


@pytest.mark.parametrize(("changes", "error", "message"), REFUSED.values(), ids=REFUSED)
def test_an_argument_that_does_not_fit_is_refused_by_its_name(changes, error, message):
    with pytest.raises(error, match=re.compile(message, re.DOTALL)):
        simulate(**small(**changes))


def test_too_much_workgroup_memory_is_refused():
    with pytest.raises(ValueError, match="words of workgroup memory"):
        simulate(
            "@group(0) @binding(0) var<storage, read_write> a: array<u32>; var<workgroup> m: array<u32, 4096>;"
            "@compute @workgroup_size(1) fn main() { m[0] = 1u; a[0] = m[0]; }",
            [np.zeros(1, np.uint32)],
            (2049, 1, 1),
        )


UNSUPPORTED = {
    "textures": "var image: texture_2d<f32>;",
    "derivatives": "fn f() -> f32 { return dpdx(1.0); }",
    "half precision": "fn f() { var x: f16; }",
    "matrices": "fn f() { var x: mat2x2f; }",
}


@pytest.mark.parametrize("line", UNSUPPORTED.values(), ids=UNSUPPORTED)
def test_what_the_simulator_does_not_run_is_refused_by_name_and_line(line):
    with pytest.raises(UnsupportedWgsl) as refused:
        run("numbers[t] = 1u;", declarations=f"\n\n{line}")
    assert refused.value.line == MAIN.count("\n") + 3
    assert refused.value.column >= 1


def test_what_is_not_wgsl_is_refused_with_line_and_column():
    with pytest.raises(WgslError) as refused:
        run("numbers[t] = 1.5;")
    assert not isinstance(refused.value, UnsupportedWgsl)
    assert refused.value.line == text_of("").count("\n") - 1
    assert refused.value.column == 1
