"""What the simulator reports, and where: small kernels, one for each rule."""

import re
from ast import literal_eval

import numpy as np
import pytest
from support.messages import every
from support.small_kernels import DECLARED, MAIN, run, text_of
from support.wgsl_programs import rows

from wgsl import Kernel, simulate
from wgsl.simulator import run as simulator
from wgsl.simulator.settled import remark

# --- Which finding, in which line -----------------------------------------------------------------------------


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


@every("findings")
def test_each_mistake_is_found_where_it_is_and_said_and_nothing_else(family, heading, text, message):
    body = f"\n{text}"
    trace = run(body, int(heading[0]), DECLARED)
    assert str(trace) == message
    if "without marks" in heading:
        return
    expected, earlier = marked(text_of(body, DECLARED).replace(MAIN, re.sub("//.*", "", MAIN)))
    assert sorted({(finding.kind, finding.line) for finding in trace.findings}) == expected
    for finding in trace.findings:
        racing = finding.kind in ("data race", "overlapping writes")
        assert finding.other_line == ((earlier or finding.line) if racing else None)
        assert finding.source_line == text_of(body, DECLARED).split("\n")[finding.line - 1]


# --- What never changes ---------------------------------------------------------------------------------------

NEVER, ALWAYS, OPEN = (
    "t < 0|0u > t",
    "t >= 0u|0 <= t",
    "t <= 0|0 >= t|t > 0u|0 < t|t < 1|i32(t) < 0|0.0 > f32(t)|t == 0u",
)


@pytest.mark.parametrize(("conditions", "holds"), [(NEVER, "never"), (ALWAYS, "always"), (OPEN, "")])
def test_a_comparison_that_a_u32_settles_is_remarked_and_no_other(conditions, holds):
    for condition in conditions.split("|"):
        kernel = Kernel(text_of(f"numbers[t] = u32({condition});"))
        said = remark(simulator.compiled(kernel, "main", None), kernel.source)
        assert said.partition(" holds,")[0] == f"`{condition}` {holds}" * bool(holds)


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
    "no condition": ("""
  while (true) { tile[t] = 1u; }  // endless""", ""),
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
    "the inner loop, in a later iteration of the outer one": ("""
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
    assert ("nothing in it ends it" in finding.message) == ("while (true)" in body)
    assert ("a u32 is never below 0" in finding.message) == (">= 0u" in body)
    if "t == 5u" in body:
        assert (finding.count, finding.invocations) == (1, (((0, 0, 0), 5),))


def test_the_budget_counts_the_rounds_of_one_thread_in_all_its_loops():
    two_loops = "for (var i = 0u; i < 50u; i++) {} for (var i = 0u; i < 50u; i++) { numbers[t] = i; }"
    assert not run(two_loops, max_steps=100).findings
    assert len(run("for (var i = 0u; i < 2u; i++) {}").steps) == 1 + 1 + 3 + 2  # `let`, `var`, conditions, increments
    (finding,) = run(two_loops, max_steps=95).findings
    assert finding.kind == "endless loop"
    assert finding.message.startswith(
        "one thread has made 95 iterations in all its loops together, 46 of them in this loop"
    )
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


UNWRITTEN = """
numbers[t] = t; numbers[t + 8u] = t;                         None    nothing
numbers[t] = t;                                              None    numbers 8
numbers[t] = t;                                              [0]     numbers 8
numbers[t] = t;                                              []      nothing
numbers[t] = t;                                              [0, 1]  numbers 8, floats 16
numbers[t] = t; if (t > 9u) { floats[t] = 1.0; }             None    numbers 8, floats 16
numbers[t] += t; numbers[2u * t + 1u] = 5u;                  None    numbers 4
if (t < 3u) { atomicStore(&counters[t], 0u); }               None    counters 1
if (2u == 1u) { floats[t] = 1.0; } else { numbers[t] = t; }  None    numbers 8
numbers[t + 9u] = t;                                         None    numbers 9
"""


@pytest.mark.parametrize(("body", "outputs", "expected"), rows(UNWRITTEN))
def test_numbers_that_nobody_writes_are_reported_where_their_buffer_is_declared(body, outputs, expected):
    found = [each for each in run(body, outputs=literal_eval(outputs)).findings if each.kind == "unwritten output"]
    told = [re.search(r"> (\w+):", each.source_line)[1] + f" {each.count}" for each in found]
    assert (", ".join(told) or "nothing") == expected
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
    assert finding.count == 5 * 4  # however often each does it
    assert finding.invocations == tuple(((g, 0, 0), t) for g in range(2) for t in range(3, 8))[:8]


def test_two_places_of_a_line_are_two_findings():
    found = run("tile[t] = numbers[t + 9u] + numbers[t + 12u];").findings
    assert [finding.line for finding in found] == [found[0].line] * 2
    assert [finding.source_line[finding.column - 1 :][:16] for finding in found] == [
        "numbers[t + 9u] ",
        "numbers[t + 12u]",
    ]
    assert [finding.count for finding in found] == [1, 4]


def test_both_threads_of_a_race_are_named_in_the_message_and_listed():
    body = "if (t == 5u) { numbers[3] = 1u; }\n if (t == 2u) { numbers[3] = 2u; }"
    trace = run(body)
    (finding,) = trace.findings
    assert repr(trace) == f"your kernel: 1 finding\n{finding}"
    assert (finding.count, finding.invocations) == (2, (((0, 0, 0), 2), ((0, 0, 0), 5)))


def test_a_windows_line_ending_and_a_comment_move_no_line():
    body = "/* one\n two */ tile[t] = numbers[t + 9u];"
    (plain,) = run(body).findings
    (windows,) = run(body.replace("\n", "\r\n")).findings
    assert (plain.line, plain.column, plain.source_line) == (windows.line, windows.column, windows.source_line)
    assert plain.source_line == " two */ tile[t] = numbers[t + 9u];"


def test_findings_stand_in_the_order_of_the_text():
    found = run("numbers[t + 9u] = t;\n tile[t] = numbers[t + 9u];\n if (t < 2u) { workgroupBarrier(); }").findings
    assert [finding.kind for finding in found] == ["out-of-range write", "out-of-range read", "non-uniform barrier"]


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


def test_an_index_of_an_element_is_a_finding_of_its_own_with_the_elements_name():
    found = run("var a: array<array<u32, 2>, 3>; tile[t] = a[t % 4u][t % 3u];").findings
    assert [(each.count, each.source_line[each.column - 1 :][:6]) for each in found] == [(2, "a[t % "), (2, "t % 3u")]
    assert "but `a[t % 4u]` has 2 elements" in found[1].message


# --- NaN, and what only looks like one ------------------------------------------------------------------------


def test_a_stored_nan_is_the_usual_one():
    assert run("floats[t] = sqrt(f32(t) - 1.0);").buffers[1].view(np.uint32)[0] == 0x7FC00000


@pytest.mark.parametrize("value", ["normalize(v).x", "cross(v, vec3f(1.0)).y", "length(v)", "max(v.x, v.y) + v.y"])
def test_what_comes_of_a_nan_in_the_input_is_no_birth(value):
    text = """@group(0) @binding(0) var<storage, read> a: array<f32>;
        @group(0) @binding(1) var<storage, read_write> o: array<f32>;
        @compute @workgroup_size(1) fn main() { let v = vec3f(a[0], a[1], a[2]); o[0] = VALUE; }"""
    nan, one = np.float32([1, np.nan, 2]), np.zeros(1, np.float32)
    assert not simulate(text.replace("VALUE", value), [nan, one], (1, 1, 1)).findings


def test_no_bits_of_a_program_look_like_the_simulators_own_marks():
    text = """@group(0) @binding(0) var<storage, read> a: array<f32>;
        @group(0) @binding(1) var<storage, read_write> o: array<u32>;
        @group(0) @binding(2) var<storage, read_write> p: array<f32>;
        @compute @workgroup_size(1) fn main() {
          let born = sqrt(-a[1]); o[0] = bitcast<u32>(born); p[0] = a[0]; }"""
    marked = np.array([0x7FC00001, 0x3F800000], np.uint32).view(np.float32)
    trace = simulate(text, [marked, np.zeros(1, np.uint32), np.zeros(1, np.float32)], (1, 1, 1))
    assert not trace.findings
    assert trace.buffers[1][0] == 0x7FC00000


def test_a_wrapped_number_is_followed_through_an_array_without_a_place_in_memory():
    body = "let a = array(t - 2u, t + 40u); tile[a[(t + 2u) % 2u] / 2147483647u] = 1u;"
    assert "index overflow" in [finding.kind for finding in run(f"if (t < 1u) {{ {body} }}").findings]
