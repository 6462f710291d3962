"""Kernels as text: what a source declares, how a lesson shows it, and where a compiler finds a mistake."""

import re

import numpy as np
import pytest

import helpers
from helpers import gpu, wgsl
from helpers.wgsl import Kernel, WgslError, load

SOURCE = """\
// Twice each number.
override COUNT: u32 = 64u;  // threads
const HALF: u32 = 32u;

@group(0) @binding(1) var<storage, read_write> output: array<f32>;  // (COUNT)
@group(0) @binding(0) var<storage, read> input: array<f32>;         // (COUNT)
// @group(0) @binding(7) var<storage, read> old: array<f32>;
@group(0) @binding(2) var<uniform> params: vec4u;

@compute @workgroup_size(COUNT)
fn main(@builtin(local_invocation_index) thread: u32) {
  // 1. Read.
  let x = input[thread];

  // 2. Double
  //    and write.
  output[thread] = 2.0 * x + 0.0 * f32(params.x);
}
"""

# --- What a source declares -----------------------------------------------------------------------------


def test_bindings_come_in_order_and_comments_do_not_count():
    assert Kernel(SOURCE).bindings == ("read-only-storage", "storage", "uniform")


@pytest.mark.parametrize(("old", "found"), [("binding(0)", "[1, 2, 3]"), ("binding(2)", "[0, 1, 3]")])
def test_a_gap_in_the_bindings_is_refused(old, found):
    with pytest.raises(WgslError, match=re.escape(f"doubler: its bindings are {found}; they must be 0, 1, 2")):
        _ = Kernel(SOURCE.replace(old, "binding(3)"), "doubler").bindings


def test_no_bindings_at_all_are_refused():
    with pytest.raises(WgslError, match=re.escape("its bindings are []")):
        _ = Kernel("@compute @workgroup_size(1) fn main() {}").bindings


def test_a_value_is_the_constants_or_the_sources():
    assert Kernel(SOURCE).value("COUNT") == 64
    assert Kernel(SOURCE).value("HALF") == 32
    assert Kernel(SOURCE, constants=(("COUNT", 8),)).value("COUNT") == 8


# --- How a lesson shows it ------------------------------------------------------------------------------


def test_a_part_is_its_lines_with_the_numbers_of_the_file():
    assert repr(Kernel(SOURCE).part(1)) == " 12    // 1. Read.\n 13    let x = input[thread];"
    assert Kernel(SOURCE).part(2).first_line == 15
    assert repr(Kernel(SOURCE).part(2)).endswith(" 18  }")


def test_a_part_that_is_not_there_names_those_that_are():
    with pytest.raises(ValueError, match=r"number = 3: your kernel has the parts \[0, 1, 2\]"):
        Kernel(SOURCE).part(3)


def test_a_listing_is_the_whole_file():
    shown = repr(Kernel(SOURCE).listing).split("\n")
    assert shown[0] == "  1  // Twice each number."
    assert shown[3] == "  4"  # no space at the end of an empty line
    assert len(shown) == SOURCE.count("\n") == 18
    assert [line[5:] for line in shown] == SOURCE.splitlines()


def test_a_listing_is_a_colored_code_block_in_a_notebook():
    assert Kernel("a\nb\n").listing._repr_markdown_() == "```rust\n  1  a\n  2  b\n```"


@pytest.mark.parametrize("operation", ["conv2d", "conv2d_grad_weight", "conv2d_grad_input", "conv2d_grad_bias"])
def test_parts_and_what_precedes_them_are_the_whole_kernel(operation):
    for rung in wgsl.rungs(operation):
        kernel = wgsl.load(operation, rung)
        numbers = [int(number) for number in wgsl.PART.findall(kernel.source)]
        parts = [kernel.part(number) for number in numbers]
        lines = kernel.source.rstrip().split("\n")
        for part in parts:
            text = part.text.split("\n")
            assert lines[part.first_line - 1 :][: len(text)] == text
        assert parts[-1].text.split("\n")[-1] == lines[-1]


def test_an_unknown_rung_names_those_that_there_are():
    with pytest.raises(ValueError, match="kernel = '3_magic': conv2d_grad_input has 1_gather, 2_shared_weights"):
        wgsl.load("conv2d_grad_input", "3_magic")


# --- Where a compiler finds a mistake -------------------------------------------------------------------

HEAD = """\
// Comments, and letters outside ASCII (é, ×, ≤), must not move the line that is named.
/* Neither may
   a comment of several lines. */
struct Params { size: u32 }
@group(0) @binding(0) var<storage, read_write> data: array<f32>;  // (size)
@group(0) @binding(1) var<uniform> params: Params;
@group(0) @binding(2) var<storage, read> fixed: array<f32>;       // (size)

@compute @workgroup_size(64)  // line 9
fn main(@builtin(local_invocation_index) i: u32) {
  let first = fixed[0];       // line 11
"""
# What a learner types on line 12, what stands over the caret, and what the message says.
MISTAKES = [
    ("  data[i] = sum;", "sum;", "no definition in scope for identifier: `sum`"),
    ("  data[i] = mini(first, 1.0);", "mini(", "no definition in scope for identifier: `mini`"),
    ("  data[i] = min(first);", "min(", "wrong number of arguments: expected 2, found 1"),
    ("  let n = 3u + 1.0;", "1.0", "Abstract types may only appear in constant expressions"),
    ("  let n: f32 = params.size;", "n: f32", "the type of `n` is expected to be `f32`, but got `u32`"),
    ("  data[i] = f32(params.length);", "length", "invalid field accessor `length`"),
    ("  data[i] = (first + 1.0;", ";", 'expected `)`, found ";"'),
    ("  let x = first data[i] = x;", "data", 'expected `;`, found "data"'),
    ("  if (3u) { data[i] = first; }", "3u", "is not a boolean scalar"),
    ("  for (var k = 0; k < 3u; k++) {}", "k < 3u", "Operation Less can't work with i32 and u32"),
    ("  let x = 1.0; let x = 2.0;", "x = 1.0", "redefinition of `x`"),
    ("  fixed[i] = 2.0;", "fixed[i]", "doesn't relate to a valid destination for a store"),
    ("  /* × ≤ é */ data[i] = sum;", "sum;", "no definition in scope for identifier: `sum`"),
]


def mistaken(line: str) -> WgslError:
    with pytest.raises(WgslError) as caught:
        gpu.pipeline(Kernel(f"{HEAD}{line}\n}}\n"), "main")
    return caught.value


@pytest.mark.parametrize(("line", "pointed_at", "reason"), MISTAKES)
def test_a_mistake_is_named_with_its_place(line, pointed_at, reason):
    first, excerpt, caret, *_ = str(mistaken(line)).split("\n")
    column = line.index(pointed_at) + 1
    assert first.startswith(f"your kernel does not compile, line 12, column {column}: ")
    assert reason in first
    assert excerpt == f"12 │ {line}"
    assert caret.startswith("   │ ")
    assert caret.index("^") - len("   │ ") == column - 1


def test_a_mistake_in_two_lines_shows_both():
    first, declared, named, assigned, pointed = str(mistaken("  first = 2.0;")).split("\n")
    assert first.startswith("your kernel does not compile, line 11, column 7: invalid left-hand side")
    assert "consider declaring `first` with `var` instead of `let`" in first
    assert declared == "11 │   let first = fixed[0];       // line 11"
    assert named == "   │       ^^^^^ this is an immutable binding"
    assert assigned == "12 │   first = 2.0;"
    assert pointed == "   │   ^^^^^ cannot assign to this expression"


@pytest.mark.parametrize("line", [line for line, _, _ in MISTAKES])
def test_a_message_holds_no_words_of_the_launcher(line):
    for word in ("wgpu", "naga", "Validation Error", "Caused by", "Shader '"):
        assert word not in str(mistaken(line))


def test_a_notebook_shows_the_message_and_no_traceback():
    error = mistaken("  data[i] = sum;")
    assert error.__cause__ is None
    assert error.__suppress_context__
    assert error._render_traceback_() == [f"WgslError: {error}"]


@pytest.mark.parametrize(
    ("kernel", "entry_point", "reason"),
    [
        (Kernel(SOURCE, "doubler"), "mian", "Unable to find entry point 'mian'"),
        (Kernel(SOURCE, "doubler", (("WIDTH", 3),)), "main", "pipeline-overridable constant 'WIDTH' not found"),
    ],
)
def test_a_mistake_without_a_place_says_what_is_wrong(kernel, entry_point, reason):
    with pytest.raises(WgslError, match="doubler does not compile: ") as caught:
        gpu.pipeline(kernel, entry_point)
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_kernel_without_a_mistake_compiles():
    gpu.pipeline(Kernel(f"{HEAD}  data[i] = first;\n}}\n"), "main")
    gpu.pipeline(Kernel(SOURCE), "main")


@pytest.mark.parametrize(
    "declared",
    [
        "@group(0) @binding(0) var<storage, read_write> data: array<f32>;",
        "@binding(0) @group(0) var<storage, read_write> data: array<f32>;",
        "@group(0u)\n@binding( 0u )\nvar <storage , read_write,> data: array<f32>;",
        "/* @binding(1) /* nested */ var<uniform> */ @group(0) @binding(0) var<storage,read_write> data: array<f32>;",
    ],
)
def test_bindings_are_found_however_they_are_written(declared):
    kernel = Kernel(declared + "@compute @workgroup_size(1) fn main() { data[0] = 1.0; }")
    assert kernel.bindings == ("storage",)
    gpu.pipeline(kernel, "main")


def test_a_typo_in_a_binding_is_explained_by_the_compiler():
    with pytest.raises(WgslError, match="unknown attribute"):
        gpu.pipeline(Kernel(SOURCE.replace("@binding(0)", "@bindng(0)")), "main")


@pytest.mark.parametrize(
    ("size", "threads"), [("64", 64), ("8u, 4", 32), ("COUNT", 64), ("COUNT, 2, HALF,", 4096), ("2 * COUNT", 128)]
)
def test_threads_are_counted(size, threads):
    assert Kernel(SOURCE.replace("@workgroup_size(COUNT)", f"@workgroup_size({size})")).threads("main") == threads


def test_constants_add_up_and_must_be_whole():
    kernel = Kernel("override A: u32 = 1u; override B: u32 = 2u;")
    both = kernel.with_constants(A=3).with_constants(B=4)
    assert (both.value("A"), both.value("B")) == (3, 4)
    for wrong in (2.5, True, "8", None):
        with pytest.raises(TypeError, match=r"A = .* must be an int"):
            kernel.with_constants(A=wrong)
    with pytest.raises(ValueError, match="A = 0"):
        kernel.with_constants(A=0)
    with pytest.raises(ValueError, match="no such `override` or `const`"):
        kernel.value("C")


@pytest.mark.parametrize("threads", [3, 100, 255])
def test_a_tree_wants_a_power_of_two(threads):
    kernel = load("conv2d_grad_weight", "2_workgroup_per_weight").with_constants(THREADS=threads)
    one = np.ones((1, 1, 1, 1), np.float32)
    with pytest.raises(ValueError, match=f"THREADS = {threads}: it must be a power of two"):
        helpers.conv2d_grad_weight(one, one.shape, one, kernel=kernel)


def test_an_edited_file_is_read_again(tmp_path, monkeypatch):
    monkeypatch.setattr(wgsl, "KERNELS", tmp_path)
    (tmp_path / "op").mkdir()
    for words in ("first", "second, longer"):
        (tmp_path / "op" / "1_rung.wgsl").write_text(words)
        assert load("op", "1_rung").source == words
