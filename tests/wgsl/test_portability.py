"""What runs here and not in a browser: barriers in control flow that may differ, and two ways to one variable.

The rules are those of WGSL's chapters "Uniformity" and "Alias Analysis"; the texts are ours, one or two for each rule,
and one for each situation of which those chapters give an example.
"""

import random

import numpy as np
import pytest
from support.sample import ALL
from support.wgsl_programs import rows

import helpers
from helpers.exercises import PUZZLES
from wgsl import Kernel
from wgsl.simulator.run import compiled
from wgsl.types.uniformity import Uniformity

MODULE = """
struct Sizes { rows: u32, columns: u32 }
struct Ids { group: u32, id: u32 }
@group(0) @binding(0) var<storage, read_write> y: array<u32>;
@group(0) @binding(1) var<storage, read> x: array<u32>;
@group(0) @binding(2) var<uniform> sizes: Sizes;
var<workgroup> w: array<u32, 4>;
var<workgroup> sum: atomic<u32>;
var<private> mine: u32;
fn wait_if(asked: bool) { if (asked) { workgroupBarrier(); } }
fn first(n: u32) -> u32 { if (n > 2u) { return n; } return 0u; }
fn give(p: ptr<function, u32>, n: u32) { *p = n; }
fn add(a: ptr<function, u32>, b: ptr<function, u32>) { *a += *b; }
fn both(a: ptr<function, u32>, b: ptr<function, u32>) -> u32 { return *a + *b; }
fn hand_on(a: ptr<function, u32>, b: ptr<function, u32>) { add(a, b); }
fn halved(a: u32, b: u32) -> u32 { let v = a / b; return v; }
fn take(p: ptr<private, u32>) { mine = *p; }
fn twofold(p: ptr<private, u32>) -> u32 { return mine + *p; }
fn bump(p: ptr<private, u32>) { *p += mine; }
fn fill(p: ptr<workgroup, array<u32, 4>>) { (*p)[0] = 1u; }
@compute @workgroup_size(4)
fn main(@builtin(local_invocation_index) t: u32, @builtin(workgroup_id) g: vec3u) {
  // body
  y[t] = 1u;
}
"""
WAIT = "{ workgroupBarrier(); }"


def places(body: str) -> list[str]:
    """The statements or arguments that are refused."""
    text = MODULE.replace("// body", body.replace("WAIT", WAIT))
    found = Uniformity(compiled(Kernel(text), "main")).refused.values()
    return [text[each.part.at : each.part.end] for each in found]


MISSED = """
if (y[0] == 0u) WAIT
if (w[0] == 0u) WAIT
if (mine == 0u) WAIT
if (x[t] == 0u) WAIT
if (atomicLoad(&sum) == 0u) WAIT
let a = t; let b = a * 2u; if (b == 0u) WAIT
var a = 0u; if (t == 0u) { a = 1u; } if (a == 0u) WAIT
var a = array(0u, 0u); a[t / 3u] = 1u; if (a[0] == 0u) WAIT
var a = vec2u(); a.x = t; a.y = 0u; if (a.y == 0u) WAIT
var a = 0u; let p = &a; *p = t; if (a == 0u) WAIT
var a = 0u; give(&a, t); if (a == 0u) WAIT
if (first(t) == 0u) WAIT
wait_if(t == 0u);
if (t == 0u && x[0] == 0u) WAIT
if (x[0] == 0u || t == 0u) WAIT
let v = workgroupUniformLoad(&w[t]);
if (t == 0u) { if (x[0] == 0u) WAIT }
if (t == 0u) { return; } workgroupBarrier();
switch t { case 1: WAIT default: { } }
switch t { case 1: { return; } default: { } } workgroupBarrier();
for (var i = 0u; i < t; i++) WAIT
for (var i = 0u; i < 4u; i++) { if (i == t) { break; } workgroupBarrier(); }
for (var i = 0u; i < 4u; i++) { workgroupBarrier(); if (i == t) { break; } }
for (var i = 0u; i < 4u; i++) { if (i == t) { continue; } workgroupBarrier(); }
for (var i = 0u; i < 4u; i++) { if (i == t) { return; } } workgroupBarrier();
loop { workgroupBarrier(); continuing { break if t == 0u; } }
var a = 0u; for (var i = 0u; i < 2u; i++) { if (a == 1u) WAIT a = t; }
var a = 0u; loop { if (i32(x[0]) == 1) { a = t; break; } break; } if (a == 0u) WAIT
"""


@pytest.mark.parametrize("body", MISSED.strip().split("\n"))
def test_a_barrier_that_some_may_miss_is_refused(body):
    assert len(places(body)) == 1


PROVEN = """
workgroupBarrier();
if (x[0] == sizes.rows) WAIT
if (g.x == 0u) WAIT
if (arrayLength(&y) > 2u) WAIT
if (workgroupUniformLoad(&w[0]) == 0u) WAIT
if (workgroupUniformLoad(&sum) == 0u) WAIT
if (first(x[1]) == 0u) WAIT
wait_if(x[0] == 0u);
var a = t; a = 0u; if (a == 0u) WAIT
var a = t; give(&a, 1u); if (a == 0u) WAIT
var a = 0u; let p = &a; *p = x[0]; if (a == 0u) WAIT
if (t == 0u) { y[0] = 2u; } workgroupBarrier();
switch t { case 1: { y[0] = 2u; } default: { break; } } workgroupBarrier();
for (var i = t; i < 4u; i++) { y[i] = 2u; } workgroupBarrier();
for (var i = 0u; i < 4u; i++) { if (i == t) { break; } } workgroupBarrier();
for (var i = 0u; i < sizes.rows; i++) { workgroupBarrier(); if (x[i] == 3u) { break; } }
var s = 2u; while (s > 0u) { if (t < s) { y[t] += s; } workgroupBarrier(); s /= 2u; }
_ = first(t); workgroupBarrier();
var a = 0u; for (var i = 0u; i < 2u; i++) { a = i; if (a == 1u) WAIT a = t; }
var a = 1u; var b = 2u; add(&a, &b);
var a = 1u; y[0] = both(&a, &a);
mine = 1u; var copy = mine; var other = 2u; add(&other, &copy);
"""


@pytest.mark.parametrize("body", PROVEN.strip().split("\n"))
def test_what_can_be_proven_is_accepted(body):
    assert not places(body)


BARRIER = "workgroupBarrier()"
EXAMPLES = """
a call in a branch on an id  if (t < 2u) WAIT workgroupBarrier();  workgroupBarrier()
the same branch on a uniform  if (sizes.rows < 2u) WAIT  nothing
a variable that is first filled from a buffer that is written  var a = y[0]; if (a > 0u) WAIT  workgroupBarrier()
and then from a uniform  var a = y[0]; a = sizes.rows; if (a > 0u) { storageBarrier(); }  nothing
a value with a part that differs  let both = Ids(g.x, t); if (both.group == 1u) WAIT  workgroupBarrier()
its parts one by one  let group = g.x; let id = t; if (group == 1u) WAIT  nothing
a loop that some leave behind the barrier  \
    for (var i = 0u; i < 9u; i++) { workgroupBarrier(); if (t + i > 7u) { break; } }  workgroupBarrier()
a function of an id  let half = halved(t, 2u); if (half > 1u) WAIT  workgroupBarrier()
the same function of a uniform  let half = halved(sizes.rows, 2u); if (half > 1u) WAIT  nothing
a pointer to an element whose index changes  var i = 1u; let p = &w[i]; i = 0u; *p = 5u;  nothing
a pointer through a `let`, to what an id says  \
    var a = 0u; let p = &a; let q = p; *q = t; if (a > 0u) WAIT  workgroupBarrier()
two pointers to one variable, written by the function called  var a = 1u; hand_on(&a, &a);  &a
two pointers to one variable, both only read  var a = 1u; let sum = both(&a, &a);  nothing
a variable written by its name, and read through a pointer  take(&mine);  &mine
a variable read by its name, and through a pointer  let twice = twofold(&mine);  nothing
"""


@pytest.mark.parametrize(
    ("body", "refused"), [row[1:] for row in rows(EXAMPLES)], ids=[row[0] for row in rows(EXAMPLES)]
)
def test_the_specifications_examples_are_judged_as_it_says(body, refused):
    assert (", ".join(BARRIER if "workgroupBarrier" in each else each for each in places(body)) or "nothing") == refused


@pytest.mark.parametrize(("inputs", "refused"), [("in: In", 1), ("@builtin(workgroup_id) group: vec3u, in: Id", 0)])
def test_a_struct_of_inputs_differs_where_one_of_them_does(inputs, refused):
    group = "in.group" if refused else "group"
    text = f"""
        struct In {{ @builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) id: u32 }}
        struct Id {{ @builtin(local_invocation_index) id: u32 }}
        @group(0) @binding(0) var<storage, read_write> y: array<u32>;
        @compute @workgroup_size(16) fn main({inputs}) {{ if {group}.x == 1 {{ workgroupBarrier(); }} y[in.id] = 1u; }}
    """
    assert len(Uniformity(compiled(Kernel(text), "main")).refused) == refused


@pytest.mark.parametrize(
    ("body", "place"),
    [
        ("var a = 1u; add(&a, &a);", "&a"),
        ("var a = 1u; let p = &a; add(p, &a);", "&a"),
        ("var a = array(1u, 2u); add(&a[0], &a[1]);", "&a[1]"),
        ("bump(&mine);", "&mine"),
        ("fill(&w);", "p"),
    ],
)
def test_two_ways_to_one_variable_and_pointers_that_not_every_compiler_takes(body, place):
    assert places(body) == [place]


def test_the_finding_leads_from_the_barrier_to_the_value_that_may_differ():
    text = MODULE.replace("// body", f"let a = y[0];\n  if (a == 0u) {WAIT}")
    buffers = np.zeros(4, np.uint32), np.zeros(4, np.uint32), np.zeros(2, np.uint32)
    finding = next(each for each in helpers.simulate(text, buffers, (1, 1, 1)).findings if each.kind == "not portable")
    lines = text.split("\n")
    assert "workgroupBarrier" in lines[finding.line - 1]
    assert "if (a == 0u)" in lines[finding.other_line - 1]
    for words in (
        "workgroupBarrier",
        "browsers",
        "`a == 0u`",
        "`let a = y[0]`",
        "`y` is a buffer that threads can write",
    ):
        assert words in finding.message


def test_a_barrier_that_a_run_misses_is_reported_once():
    text = MODULE.replace("// body", f"if (t < 2u) {WAIT}")
    buffers = np.zeros(4, np.uint32), np.zeros(4, np.uint32), np.zeros(2, np.uint32)
    assert [each.kind for each in helpers.simulate(text, buffers, (1, 1, 1)).findings] == ["non-uniform barrier"]


def test_a_puzzle_says_unsafe_although_every_number_is_right():
    text = PUZZLES["tree_sum"].solution.text
    barrier = next(line for line in text.splitlines() if "workgroupBarrier();" in line)
    wrong = text.replace(barrier, barrier.replace("workgroupBarrier();", f"if (sum > -1e30) {WAIT}"))
    grades = helpers.grade("tree_sum", wrong)
    assert {each.outcome for each in grades} == {"unsafe"}
    assert "browsers refuse" in " ".join(str(grades).split())


# --- Random programs ------------------------------------------------------------------------------------------

ASKED = ("t < 2u", "x[0] == 0u", "a == 1u", "b == 0u", "x[t] > 0u", "first(a) == 0u", "c[a % 2u] == 1u", "b < t")
SIMPLE = (
    "a = t;", "a = 1u;", "b += a;", "b = x[1];", "c[b % 2u] = a;", "c = array(0u, 1u);", "give(&a, b);",
    "a = first(b);", "workgroupBarrier();", "workgroupBarrier();", "workgroupBarrier();", "wait_if(b == 0u);",
    "b = first(t);",
)  # fmt: skip


def drawn(dice: random.Random, depth: int, loops: int) -> str:
    """Some statements; inside of a loop with jumps, too."""
    return " ".join(_statement(dice, depth, loops) for _ in range(dice.randint(1, 4)))


def _statement(dice: random.Random, depth: int, loops: int) -> str:
    asked, kind = dice.choice(ASKED), dice.random()
    if depth == 0 or kind < 0.4:
        return dice.choice(SIMPLE)
    if kind < 0.6:
        return f"if ({asked}) {{ {drawn(dice, depth - 1, loops)} }} else {{ {drawn(dice, depth - 1, loops)} }}"
    if kind < 0.7:
        return f"switch a {{ case 1: {{ {drawn(dice, depth - 1, loops)} }} default: {{ }} }}"
    if kind < 0.85:
        name = f"i{depth}{loops}"
        return f"for (var {name} = 0u; {name} < 3u; {name}++) {{ {drawn(dice, depth - 1, loops + 1)} }}"
    return f"if ({asked}) {{ {dice.choice(['break;', 'continue;', 'return;'] if loops else ['return;'])} }}"


def test_whatever_a_run_finds_non_uniform_is_refused_before_it():
    dice, missed = random.Random(7), 0
    for _ in range(1000 if ALL else 80):
        body = f"var a = 0u; var b = 1u; var c = array(0u, 0u); {drawn(dice, 3, 0)}"
        text = MODULE.replace("// body", body)
        buffers = np.zeros(4, np.uint32), np.array(dice.choices([0, 1], k=4), np.uint32), np.zeros(2, np.uint32)
        trace = helpers.simulate(text, buffers, (1, 1, 1), outputs=())
        in_run = {each.column for each in trace.findings if each.kind == "non-uniform barrier"}
        before = {each.part.at for each in Uniformity(compiled(Kernel(text), "main")).refused.values()}
        columns = {at - text.rfind("\n", 0, at) for at in before}
        assert in_run <= columns, body
        missed += bool(in_run)
    assert missed > (25 if ALL else 10)
