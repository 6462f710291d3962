# ruff: noqa: E501 - an edit stands in one line
"""Advice: what a text with a usual slip is told, and what would mislead its writer; names that fit by accident."""

import re

import pytest
from support.grading import edited, graded, simulate_once  # noqa: F401
from support.sample import sample

from helpers.exercises import PUZZLES
from helpers.grading.grader import grade
from helpers.grading.verdict import WRONG

BIAS, WEIGHT, INPUT, STRIDED = "conv2d_grad_bias", "conv2d_grad_weight", "conv2d_grad_input", "strided_grad_weight"
INIT, GLOBAL = "var sum = 0.0;", "@builtin(global_invocation_id)"
LOCAL = (GLOBAL, "@builtin(local_invocation_id)")
ADDED = "for (var i = thread; i < params.n; i += 256u) { sum += input[i]; }"
TOTAL = "if (thread == 0u) { total[0] = partial[0]; }"
SWAPPED = ("@binding(0)", "@binding(9)", "@binding(1)", "@binding(0)", "@binding(9)", "@binding(1)")
GUARD = "ih >= params.H || iw >= params.W"
NOT_KNOWN = "declare it"
ABOVE = "one comparison with the size finds both sides"

SAID = [  # a puzzle, edits (old and new text), what must be said, and what must not, with | between
    # Numbers that are those of a known mistake
    ("guard", "3.0 * input[i] + 1.0", "input[i] * (1 / 3)", "yours is 0", "this is what"),
    ("guard", "output[i] = 3.0 * input[i] + 1.0;", "if (i > 999u) { output[i] = 1.0; }", "nothing was written", "this is what"),
    ("max_pool2d_backward", "var wins = true;", "var wins = false;", "when no pixel gets a gradient", "loses"),
    ("index_2d", *LOCAL, "which builtin counts all?", "row comes from"),
    # Types
    (BIAS, INIT, "var sum: i32 = 0;", "declare `sum` as f32, as in `var sum = 0.0;`", "i32(grad"),
    (BIAS, INIT, "var sum: i32;", "declare `sum` as f32, as in `var sum = 0.0;`", "i32(grad"),
    (BIAS, INIT, "var sum = i32(0);", "declare `sum` as f32, as in `var sum = 0.0;`", "i32(grad"),
    (WEIGHT, INIT, "var sum: u32;", "declare `sum` as f32, as in `var sum = 0.0;`", "u32(grad"),
    ("tree_sum", INIT, "var sum: i32;", "sum += input", "sum = sum + input", "declare `sum` as f32, as in `var sum = 0.0;`", "i32(input"),
    (BIAS, "Co: u32", "Co: i32", "line 2: the words of the struct are u32, and `Co` is an i32: write `Co: u32`", "i32(co)"),
    ("guard", "n: u32", "n: i32", "write `n: u32`", "i32(i)"),
    (STRIDED, "Pw: u32", "Pw: i32", "write `Pw: u32`", "i32(ow"),
    # What a line should do and no line does
    ("map", "output[i] = 3.0 * input[i] + 1.0;", "let y = 3.0 * input[i] + 1.0;", "no line stores to `output`", "yours is 0"),
    # Threads that take each other's work
    *((name, *LOCAL, "numbers its threads from 0: which builtin counts all?", "atomic|race|storageBarrier") for name in (BIAS, WEIGHT, INPUT, STRIDED, "conv2d", "guard", "weight_index", "max_pool2d_backward")),
    ("tree_sum", TOTAL, "", ADDED, "if (thread < params.n) { total[0] += input[thread]; }", "unsafe: line 14, …both write it", "in the output before"),
    ("tree_sum", TOTAL, "", ADDED, ADDED.replace("sum", "total[0]"), "unsafe: line 14, …both write it", "in the output before"),
    ("register_tile", "let row = 2u * local.y;", "let row = local.y;", "how many rows lie between", "storageBarrier"),
    ("register_tile", "let column = 2u * local.x;", "let column = local.x;", "how many columns lie between", "storageBarrier"),
    (BIAS, "let plane = n * params.Co + co;", "for (var c = 0u; c < params.Co; c++) { let plane = n * params.Co + c;", "params.oW + ow];", "params.oW + ow]; }", "your thread visits the numbers of all channels: which are its own?", ""),
    # Names
    (BIAS, "let plane =", "var sum = 0.0; let plane =", "line 21, `var sum = 0.0; …second `sum`, which ends with the loop: which of the two is in line 27?", ""),
    (BIAS, "sum += grad", "let sum = sum + grad", "second `sum`, which ends with the loop", ""),
    (WEIGHT, "for (var ow", "var sum = 0.0; for (var ow", "second `sum`, which ends with the loop", ""),
    (BIAS, f"{GLOBAL} global: vec3u", "", f"the skeleton's line `{GLOBAL} global: vec3u` is missing", NOT_KNOWN),
    (BIAS, "@group(0) @binding(0) var<storage, read> grad_output: array<f32>;", "", "the skeleton's line `@group(0) @binding(0) var<storage, read> grad_output: array<f32>;` is missing", NOT_KNOWN),
    (BIAS, "@group(0) @binding(2) var<uniform> params: Params;", "", "the skeleton's line `@group(0) @binding(2) var<uniform> params: Params;` is missing", "do you mean"),
    (BIAS, "struct Params { N: u32, Co: u32, oH: u32, oW: u32 }", "", "the skeleton's line `struct Params { N: u32, Co: u32, oH: u32, oW: u32 }` is missing", "do you mean"),
    ("tree_sum", "var<workgroup> partial: array<f32, 256>;", "", "the skeleton's line `var<workgroup> partial: array<f32, 256>;` is missing", NOT_KNOWN),
    ("tiled_product", "const TILE = 16u;", "", "the skeleton's line `const TILE = 16u;` is missing", NOT_KNOWN),
    ("tiled_product", "@builtin(local_invocation_id) local: vec3u,", "", "`@builtin(local_invocation_id) local: vec3u` is missing", NOT_KNOWN),
    (BIAS, "global: vec3u", "gid: vec3u", "nothing is called `global`", "is missing"),
    (STRIDED, GLOBAL + " global: vec3u", "", "nothing is called `global`", "skeleton"),  # a blank page
    (WEIGHT, *SWAPPED, "bindings 0 and 1 are exchanged: which number has `grad_output` in the task?", "check the guard"),
    (STRIDED, *SWAPPED, "bindings 0 and 1 are exchanged", "check the guard"),
    (BIAS, *SWAPPED, "bindings 0 and 1 are exchanged", "copy all bindings"),
    (BIAS, "// 2.", "fn at(n: u32) -> u32 { return n; } // 2.", "a function cannot stand inside of another one: move `at` above `main`", "is missing"),
    (BIAS, "  if (co >= params.Co) { return; }", "  if (co >= params.Co) { return; \n fn at(n: u32) -> u32 { return n; }", "a `}` is missing", "above `main`"),
    ("guard", "i >= sizes.n", "i >= length(input)", "write `arrayLength(&input)`", "index"),
    ("guard", "i >= sizes.n", "i >= length(&input)", "write `arrayLength(&input)`", "ptr"),
    ("guard", "i >= sizes.n", "i >= input.length()", "`arrayLength(&input)`", "operator"),
    ("guard", "i >= sizes.n", "i >= length(vec2f(input))", "is a whole array", "arrayLength"),
    # The pixel under a weight
    *((name, f"if ({GUARD}) {{ continue; }}", "", ABOVE, "before you subtract") for name in ("weight_padding", STRIDED, "conv2d")),
    *((name, "oh * params.S + kh", "oh + kh * params.S", "ow * params.S + kw", "ow + kw * params.S", "by how many rows does the window move", "") for name in ("weight_padding", STRIDED, "conv2d")),
    *((name, GUARD, GUARD.replace("||", "&&"), "if ih is outside and iw inside", "only the rows") for name in ("weight_padding", STRIDED, "conv2d")),
    *((name, "n * params.Ci + ci", "n * params.Ci + co", "which of co and ci counts the channels of the input?", "") for name in (WEIGHT, STRIDED, "conv2d")),
    ("weight_index", "params.kW % params.kH", "params.kW", "params.kH) % params.Ci", "params.kH)", "which kh and which ci has the first weight of filter co = 1?", ""),
]  # fmt: skip


@pytest.mark.parametrize("row", SAID, ids=lambda row: f"{row[0]}-{row[2][:40]}")
def test_a_usual_slip_is_told_what_leads_to_its_cure(row):
    name, *edits, words, never = row
    said = re.sub(r"\s+", " ", repr(graded(name, *zip(edits[::2], edits[1::2], strict=True))))
    assert re.search(".*".join(map(re.escape, words.split("…"))), said), said
    assert not (never and re.search(re.escape(never).replace(r"\|", "|"), said)), said


# --- Names that fit by accident -------------------------------------------------------------------------------

VALUES = {"0.0": r"0.0", "a large number": r"1e30", "NaN": r"0.0 * (\2) / 0.0"}
SPOILED = [(name, value) for name in PUZZLES for value in VALUES]


@pytest.mark.parametrize(("name", "value"), sample(SPOILED, 25))
def test_a_kernel_that_stores_one_number_everywhere_gets_no_false_name(name, value):
    output = PUZZLES[name].official.bindings[len(PUZZLES[name].cases()[0].inputs)].name
    source, count = re.subn(rf"({output}\[[^=;]*\]) = ([^;]*);", rf"\1 = {VALUES[value]};", edited(name))
    assert count
    said = re.findall("this is what (?:comes out|happens) when (.*?):", repr(grade(PUZZLES[name], source)))
    assert said == ["no pixel gets a gradient"] * (name == "max_pool2d_backward" and value == "0.0")


# --- One test's numbers ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("name", "edits"),
    [
        (WEIGHT, [("n * params.Ci + ci", "n * params.Co + ci")]),  # the fourth test is wrong, and the last is smaller
        (WEIGHT, [("sum += g", "sum += f32(ci) * g")]),
        ("conv2d", [("ow * params.S + kw", "ow + kw"), ("kH + kh) * params.kW", "kH + kh) * params.kH")]),
        ("max_pool2d_backward", [("sum += grad_output[grad_at]", "sum += grad_output[grad_at] * f32(params.P + 1u)")]),
    ],
)
def test_the_numbers_that_a_verdict_names_are_those_that_are_drawn(name, edits):
    grades = graded(name, *edits)
    numbers = {v.test: re.findall(r"(?:yours|right) is (-?[\d.]+)", v.detail) for v in grades if v.outcome == WRONG}
    sizes = {case.name: case.expected.size for case in PUZZLES[name].cases()}
    (smallest,) = [test for test in numbers if numbers[test]]
    assert sizes[smallest] == min(sizes[test] for test in numbers)
    (drawn,) = [verdict for verdict in grades if verdict.drawing]
    assert drawn.test == smallest
    assert f"smallest test that fails is {smallest}." in drawn.drawing
    mine, right = numbers[smallest]
    assert re.search(rf"(?<![\d.-]){re.escape(mine)}\*", drawn.drawing)
    assert re.search(rf"(?<![\d.-]){re.escape(right)}(?![\d.*])", drawn.drawing)
