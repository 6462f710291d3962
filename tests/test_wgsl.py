"""Kernels as text: what a source declares, and how a lesson shows it."""

from dataclasses import replace

import pytest

from helpers.gpu import passes
from helpers.wgsl import PART, Kernel, WgslError, load, versions, without_comments

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
DOUBLER = Kernel(SOURCE, "doubler")

# --- What a source declares -----------------------------------------------------------------------------


def test_bindings_come_in_order_and_comments_do_not_count():
    assert DOUBLER.bindings == ("read-only-storage", "storage", "uniform")
    passes.pipeline(DOUBLER, "main")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("binding(0)", "binding(3)", "it has the bindings 1, 2, 3, and none with the number 0"),
        ("@group(0) @binding(0)", "@binding(0) @group(1)", "`input` is in group 1: write @group(0) for every binding"),
        ("binding(0)", "binding(ZERO)", "the value of `ZERO` is not clear: write the number"),
    ],
)
def test_bindings_that_are_not_0_1_2_in_group_0_are_refused(old, new, words):
    with pytest.raises(WgslError) as caught:
        _ = Kernel(edited(old, new)).bindings
    assert words in str(caught.value)


def edited(old: str, new: str) -> str:
    """The doubler with a change in the line of its input."""
    line = next(line for line in SOURCE.splitlines() if "read> input" in line)
    assert old in line
    return SOURCE.replace(line, line.replace(old, new))


def test_a_text_without_bindings_is_refused():
    with pytest.raises(WgslError, match="it declares no bindings; write one for each buffer, as in `@group"):
        _ = Kernel("@compute @workgroup_size(1) fn main() { }").bindings


def test_a_binding_may_be_a_constant_or_a_hexadecimal_number():
    assert Kernel("const ZERO = 0;\n" + edited("binding(0)", "binding(ZERO)")).bindings == DOUBLER.bindings
    assert Kernel(edited("binding(0)", "binding(0x0u)")).bound[0] == ("storage,read", "input", "array<f32>")


@pytest.mark.parametrize("space", ["storage, read", "storage", " storage , "])
def test_storage_is_only_read_where_no_access_is_written(space):
    kernel = Kernel(edited("storage, read", space))
    assert (kernel.bound, kernel.bindings) == (DOUBLER.bound, DOUBLER.bindings)
    passes.pipeline(kernel, "main")


@pytest.mark.parametrize(
    "declared",
    [
        "@binding(0) @group(0) var<storage, read_write> data: array<f32>;",
        "@group(0u)\n@binding( 0u )\nvar <storage , read_write,> data: array<f32>;",
        "/* @binding(1) /* nested */ var<uniform> */ @group(0) @binding(0) var<storage,read_write> data: array<f32>;",
        "/* /* */ // */ @group(0) @binding(0) var<storage, read_write> data: array<f32>;",
    ],
)
def test_bindings_are_found_in_any_notation(declared):
    kernel = Kernel(declared + "@compute @workgroup_size(1) fn main() { data[0] = 1.0; }")
    assert kernel.bindings == ("storage",)
    passes.pipeline(kernel, "main")


@pytest.mark.parametrize(
    ("size", "threads"),
    [
        *[("64", 64), ("8u, 4", 32), ("COUNT", 64), ("COUNT, 2, HALF,", 4096), ("2 * COUNT", 128)],
        *[("(HALF + 0x20u) / 2", 32), ("1 << 4", 16), ("COUNT % 40u", 24)],
    ],
)
def test_threads_are_counted(size, threads):
    assert DOUBLER.edit("size(COUNT)", f"size({size})").threads("main") == threads
    assert DOUBLER.threads("mian") == 0


@pytest.mark.parametrize("size", ["min(4, 8)", "1 / 0", "COUNT[0]", "SIZE"])
def test_a_size_that_cannot_be_read_is_refused(size):
    with pytest.raises(WgslError, match=r"doubler: the value of .* is not clear: write the number, or constants"):
        DOUBLER.edit("size(COUNT)", f"size({size})").threads("main")


def test_constants_change_values_and_must_be_positive_whole_numbers():
    assert (DOUBLER.value("COUNT"), DOUBLER.value("HALF")) == (64, 32)
    kernel = Kernel("override A: u32 = 1u; override B: u32 = 2u;").with_constants(A=3).with_constants(B=4)
    assert (kernel.value("A"), kernel.value("B")) == (3, 4)
    assert replace(kernel, constants=(("A", 0), ("B", 4))).value("A") == 0
    with pytest.raises(TypeError, match=r"A = 2\.5"):
        kernel.with_constants(A=2.5)
    with pytest.raises(ValueError, match="A = 0"):
        kernel.with_constants(A=0)
    with pytest.raises(ValueError, match="C = 1: "):
        kernel.with_constants(C=1)
    with pytest.raises(ValueError, match="name = 'C'"):
        kernel.value("C")


def test_an_edit_replaces_what_occurs_exactly_once():
    assert DOUBLER.edit("2.0", "3.0").source == SOURCE.replace("2.0", "3.0")
    with pytest.raises(ValueError, match="doubler contains it 4 times"):
        DOUBLER.edit("COUNT", "SIZE")


def test_a_long_text_is_read_in_time_that_grows_as_the_text():
    """A copy of the rest for each comment would take a minute."""
    assert not without_comments("// for\n/* a /* b */ c */\n" * 40_000).strip()


def test_a_comment_ends_where_the_line_does():
    for end in "\n\r\u2028":
        assert without_comments(f"a // b{end}c").split() == ["a", "c"]


# --- How a lesson shows it ------------------------------------------------------------------------------


def test_a_part_is_its_lines_with_the_numbers_of_the_file():
    assert repr(DOUBLER.part(1)) == " 12    // 1. Read.\n 13    let x = input[thread];"
    assert repr(DOUBLER.part(2)).startswith(" 15")
    assert repr(DOUBLER.part(2)).endswith(" 18  }")
    with pytest.raises(ValueError, match=r"number = 3: doubler has the parts \[0, 1, 2\]"):
        DOUBLER.part(3)


def test_a_function_is_its_lines_with_the_numbers_of_the_file():
    part = load("conv2d_grad_input", "3_implicit_gemm").part(4)
    found = repr(part.function("go_to_tap")).split("\n")
    assert set(found) < set(repr(part).split("\n"))
    assert (found[0][5:], found[-1][5:]) == ("fn go_to_tap() {", "}")
    assert sum(line[5:] == "}" for line in found) == 1
    with pytest.raises(ValueError, match="name = 'go': no such function in these lines"):
        part.function("go")


def test_a_listing_is_the_whole_file_and_a_colored_block_in_a_notebook():
    assert [line[5:] for line in repr(DOUBLER.listing).split("\n")] == SOURCE.splitlines()
    assert Kernel("a\n\nb\n").listing._repr_markdown_() == "```rust\n  1  a\n  2\n  3  b\n```"


def test_the_parts_of_a_file_are_the_whole_file_and_a_missing_file_is_refused():
    for version in versions("conv2d_grad_input"):
        kernel = load("conv2d_grad_input", version)
        parts = [kernel.part(number) for number in range(1 + len(PART.findall(kernel.source)))]
        lines = [line for part in parts for line in part.text.split("\n") if line]
        assert lines == [line for line in kernel.source.split("\n") if line]
    with pytest.raises(ValueError, match="kernel = '3_magic': conv2d_grad_input has 1_gather, 2_shared_weights"):
        load("conv2d_grad_input", "3_magic")
