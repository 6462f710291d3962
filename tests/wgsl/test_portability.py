"""Kernels that run here and not in a browser: barriers in control flow that may differ, two ways to one variable.

The rules are those of WGSL's chapters "Uniformity" and "Alias Analysis"; the texts are ours, one or two for each rule,
and one for each situation of which those chapters give an example.
"""

import random
from collections.abc import Sequence

import numpy as np
import pytest
from support.sample import ALL

import helpers
from helpers.lessons.exercises import PUZZLES
from wgsl import Kernel
from wgsl.simulator.run import compiled
from wgsl.simulator.trace import Trace
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


def text_of(body: str) -> str:
    return MODULE.replace("// body", body.replace("WAIT", WAIT))


def traced(text: str, x: Sequence[int] = (0, 0, 0, 0)) -> Trace:
    """A run in which `x` holds these numbers."""
    buffers = np.zeros(4, np.uint32), np.array(x, np.uint32), np.zeros(2, np.uint32)
    return helpers.simulate(text, buffers, (1, 1, 1), outputs=())


def places(body: str) -> list[str]:
    """The statements or arguments that are refused."""
    text = text_of(body)
    refused = Uniformity(compiled(Kernel(text), "main")).refused.values()
    return [text[place.part.at : place.part.end] for place in refused]


# Statements, what of them is refused, and the situation, where it is one of which the specification gives an example.
JUDGED = [
    ("if (y[0] == 0u) WAIT", "workgroupBarrier()"),
    ("if (w[0] == 0u) WAIT", "workgroupBarrier()"),
    ("if (mine == 0u) WAIT", "workgroupBarrier()"),
    ("if (x[t] == 0u) WAIT", "workgroupBarrier()"),
    ("if (atomicLoad(&sum) == 0u) WAIT", "workgroupBarrier()"),
    ("let a = t; let b = a * 2u; if (b == 0u) WAIT", "workgroupBarrier()"),
    ("var a = 0u; if (t == 0u) { a = 1u; } if (a == 0u) WAIT", "workgroupBarrier()"),
    ("var a = array(0u, 0u); a[t / 3u] = 1u; if (a[0] == 0u) WAIT", "workgroupBarrier()"),
    ("var a = vec2u(); a.x = t; a.y = 0u; if (a.y == 0u) WAIT", "workgroupBarrier()"),
    ("var a = 0u; let p = &a; *p = t; if (a == 0u) WAIT", "workgroupBarrier()"),
    ("var a = 0u; give(&a, t); if (a == 0u) WAIT", "workgroupBarrier()"),
    ("if (first(t) == 0u) WAIT", "workgroupBarrier()"),
    ("wait_if(t == 0u);", "workgroupBarrier()"),
    ("if (t == 0u && x[0] == 0u) WAIT", "workgroupBarrier()"),
    ("if (x[0] == 0u || t == 0u) WAIT", "workgroupBarrier()"),
    ("let v = workgroupUniformLoad(&w[t]);", "workgroupUniformLoad(&w[t])"),
    ("if (t == 0u) { if (x[0] == 0u) WAIT }", "workgroupBarrier()"),
    ("if (t == 0u) { return; } workgroupBarrier();", "workgroupBarrier()"),
    ("switch t { case 1: WAIT default: { } }", "workgroupBarrier()"),
    ("switch t { case 1: { return; } default: { } } workgroupBarrier();", "workgroupBarrier()"),
    ("for (var i = 0u; i < t; i++) WAIT", "workgroupBarrier()"),
    ("for (var i = 0u; i < 4u; i++) { if (i == t) { break; } workgroupBarrier(); }", "workgroupBarrier()"),
    ("for (var i = 0u; i < 4u; i++) { workgroupBarrier(); if (i == t) { break; } }", "workgroupBarrier()"),
    ("for (var i = 0u; i < 4u; i++) { if (i == t) { continue; } workgroupBarrier(); }", "workgroupBarrier()"),
    ("for (var i = 0u; i < 4u; i++) { if (i == t) { return; } } workgroupBarrier();", "workgroupBarrier()"),
    ("loop { workgroupBarrier(); continuing { break if t == 0u; } }", "workgroupBarrier()"),
    ("var a = 0u; for (var i = 0u; i < 2u; i++) { if (a == 1u) WAIT a = t; }", "workgroupBarrier()"),
    ("var a = 0u; loop { if (i32(x[0]) == 1) { a = t; break; } break; } if (a == 0u) WAIT", "workgroupBarrier()"),
    ("workgroupBarrier();", "nothing"),
    ("if (x[0] == sizes.rows) WAIT", "nothing"),
    ("if (g.x == 0u) WAIT", "nothing"),
    ("if (arrayLength(&y) > 2u) WAIT", "nothing"),
    ("if (workgroupUniformLoad(&w[0]) == 0u) WAIT", "nothing"),
    ("if (workgroupUniformLoad(&sum) == 0u) WAIT", "nothing"),
    ("if (first(x[1]) == 0u) WAIT", "nothing"),
    ("wait_if(x[0] == 0u);", "nothing"),
    ("var a = t; a = 0u; if (a == 0u) WAIT", "nothing"),
    ("var a = t; give(&a, 1u); if (a == 0u) WAIT", "nothing"),
    ("var a = 0u; let p = &a; *p = x[0]; if (a == 0u) WAIT", "nothing"),
    ("if (t == 0u) { y[0] = 2u; } workgroupBarrier();", "nothing"),
    ("switch t { case 1: { y[0] = 2u; } default: { break; } } workgroupBarrier();", "nothing"),
    ("for (var i = t; i < 4u; i++) { y[i] = 2u; } workgroupBarrier();", "nothing"),
    ("for (var i = 0u; i < 4u; i++) { if (i == t) { break; } } workgroupBarrier();", "nothing"),
    ("for (var i = 0u; i < sizes.rows; i++) { workgroupBarrier(); if (x[i] == 3u) { break; } }", "nothing"),
    ("var s = 2u; while (s > 0u) { if (t < s) { y[t] += s; } workgroupBarrier(); s /= 2u; }", "nothing"),
    ("_ = first(t); workgroupBarrier();", "nothing"),
    ("var a = 0u; for (var i = 0u; i < 2u; i++) { a = i; if (a == 1u) WAIT a = t; }", "nothing"),
    ("var a = 1u; var b = 2u; add(&a, &b);", "nothing"),
    ("var a = 1u; y[0] = both(&a, &a);", "nothing"),
    ("mine = 1u; var copy = mine; var other = 2u; add(&other, &copy);", "nothing"),
    ("if (t < 2u) WAIT workgroupBarrier();", "workgroupBarrier()", "a call in a branch on an id"),
    ("if (sizes.rows < 2u) WAIT", "nothing", "the same branch on a uniform"),
    (
        "var a = y[0]; if (a > 0u) WAIT",
        "workgroupBarrier()",
        "a variable that is first filled from a buffer that is written",
    ),
    ("var a = y[0]; a = sizes.rows; if (a > 0u) { storageBarrier(); }", "nothing", "and then from a uniform"),
    ("let both = Ids(g.x, t); if (both.group == 1u) WAIT", "workgroupBarrier()", "a value with a part that differs"),
    ("let group = g.x; let id = t; if (group == 1u) WAIT", "nothing", "its parts one by one"),
    (
        "for (var i = 0u; i < 9u; i++) { workgroupBarrier(); if (t + i > 7u) { break; } }",
        "workgroupBarrier()",
        "a loop that some leave behind the barrier",
    ),
    ("let half = halved(t, 2u); if (half > 1u) WAIT", "workgroupBarrier()", "a function of an id"),
    ("let half = halved(sizes.rows, 2u); if (half > 1u) WAIT", "nothing", "the same function of a uniform"),
    ("var i = 1u; let p = &w[i]; i = 0u; *p = 5u;", "nothing", "a pointer to an element whose index changes"),
    (
        "var a = 0u; let p = &a; let q = p; *q = t; if (a > 0u) WAIT",
        "workgroupBarrier()",
        "a pointer through a `let`, to what an id says",
    ),
    ("var a = 1u; hand_on(&a, &a);", "&a", "two pointers to one variable, written by the function called"),
    ("var a = 1u; let sum = both(&a, &a);", "nothing", "two pointers to one variable, both only read"),
    ("take(&mine);", "&mine", "a variable written by its name, and read through a pointer"),
    ("let twice = twofold(&mine);", "nothing", "a variable read by its name, and through a pointer"),
    ("var a = 1u; add(&a, &a);", "&a"),
    ("var a = 1u; let p = &a; add(p, &a);", "&a"),
    ("var a = array(1u, 2u); add(&a[0], &a[1]);", "&a[1]"),
    ("bump(&mine);", "&mine"),
    ("fill(&w);", "p"),
]


@pytest.mark.parametrize("row", JUDGED)
def test_barriers_that_some_may_miss_and_two_ways_to_one_variable_are_refused_and_nothing_else(row):
    body, refused = row[:2]
    assert (", ".join(places(body)) or "nothing") == refused


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


def test_the_finding_leads_from_the_barrier_to_the_value_that_may_differ():
    text = text_of("let a = y[0];\n  if (a == 0u) WAIT")
    finding = next(finding for finding in traced(text).findings if finding.kind == "not portable")
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
    findings = traced(text_of("if (t < 2u) WAIT")).findings
    assert [finding.kind for finding in findings] == ["non-uniform barrier"]


def test_a_puzzle_says_unsafe_although_every_number_is_right():
    text = PUZZLES["tree_sum"].solution.text
    barrier = next(line for line in text.splitlines() if "workgroupBarrier();" in line)
    wrong = text.replace(barrier, barrier.replace("workgroupBarrier();", f"if (sum > -1e30) {WAIT}"))
    grades = helpers.grade("tree_sum", wrong)
    assert {verdict.outcome for verdict in grades} == {"unsafe"}
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
        text = text_of(body)
        trace = traced(text, dice.choices([0, 1], k=4))
        in_run = {finding.column for finding in trace.findings if finding.kind == "non-uniform barrier"}
        before = {place.part.at for place in Uniformity(compiled(Kernel(text), "main")).refused.values()}
        columns = {at - text.rfind("\n", 0, at) for at in before}
        assert in_run <= columns, body
        missed += bool(in_run)
    assert missed > (25 if ALL else 10)
