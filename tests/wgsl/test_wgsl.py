"""Kernels as text: what a source declares, and how a lesson shows it."""

import pytest

from helpers.gpu import passes
from helpers.kernels import load, versions
from wgsl import PART, SHARED, Kernel, without_comments

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


def edited(old: str, new: str) -> Kernel:
    """The doubler with a change in the line of its input."""
    line = next(line for line in SOURCE.splitlines() if "read> input" in line)
    assert old in line
    return Kernel("const ZERO = 0;\n" + SOURCE.replace(line, line.replace(old, new)))


@pytest.mark.parametrize(
    ("old", "new"),
    [
        *[("binding(0)", "binding(ZERO)"), ("binding(0)", "binding(0x0u)")],
        *[("storage, read", "storage, read"), ("storage, read", "storage"), ("storage, read", " storage , ")],
    ],
)
def test_bindings_come_in_order_and_comments_do_not_count(old, new):
    kernel = edited(old, new)
    assert kernel.buffer_types == ("read-only-storage", "storage", "uniform")
    assert kernel.bindings[0] == ("storage,read", "input", "array<f32>")
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
    assert kernel.buffer_types == ("storage",)
    passes.pipeline(kernel, "main")


def sized(size: str) -> Kernel:
    """The doubler in a workgroup of this size."""
    return DOUBLER.edit("size(COUNT)", f"size({size})")


@pytest.mark.parametrize(
    ("size", "threads"),
    [
        *[("64", 64), ("8u, 4", 32), ("COUNT", 64), ("COUNT, 2, HALF,", 4096), ("2 * COUNT", 128)],
        *[("(HALF + 0x20u) / 2", 32), ("1 << 4", 16), ("COUNT % 40u", 24), ("min(4, 8)", 4)],
    ],
)
def test_threads_are_counted(size, threads):
    assert sized(size).threads("main") == threads
    assert DOUBLER.threads("mian") == 0


def test_constants_change_values_and_must_be_whole_numbers():
    assert (DOUBLER.value("COUNT"), DOUBLER.value("HALF")) == (64, 32)
    kernel = Kernel("override A: u32 = 1u; override B: u32 = 2u;").with_constants(A=3).with_constants(B=4)
    assert (kernel.value("A"), kernel.value("B")) == (3, 4)


@pytest.mark.parametrize(
    ("declared", "held"),
    [
        *[("array<f32, COUNT>", 256), ("array<array<vec2f, 4>, HALF,>", 1024), ("array<vec3<f32>, 2>", 32)],
        *[("atomic<u32>", 4), ("Pair", 32), ("Pairs", 64), ("mat2x2f", 16), ("mat2x2h", 0)],
    ],
)
def test_workgroup_memory_of_any_type_is_counted(declared, held):
    types = "struct Pair { a: u32, b: vec3f } alias Pairs = array<Pair, 2>;"
    assert Kernel(f"{SOURCE}{types} var<workgroup> w: {declared};").workgroup_bytes == held


def test_values_that_are_given_count_wherever_a_constant_is_used():
    kernel = DOUBLER.edit("32u;", "COUNT_2 / 2u; const COUNT_2: u32 = 64u;").edit("size(COUNT)", "size(HALF)")
    assert (kernel.threads("main"), kernel.with_constants(COUNT_2=10).threads("main")) == (32, 5)
    assert kernel.with_constants(HALF=3).threads("main") == 3


DEEP = "{" * 40 + "}" * 40


@pytest.mark.parametrize("body", ["let x = ;", "fn struct const override", DEEP])
def test_what_is_declared_does_not_depend_on_the_bodies(body):
    kernel = DOUBLER.edit("// 1. Read.", f"\n{body}\n")
    assert kernel.entry_points == ("main",)
    assert (kernel.bindings, kernel.threads("main")) == (DOUBLER.bindings, 64)


def test_an_edit_replaces_what_occurs_exactly_once():
    assert DOUBLER.edit("2.0", "3.0").source == SOURCE.replace("2.0", "3.0")


def test_a_long_text_is_read_in_time_that_grows_as_the_text():
    """A copy of the rest for each comment would take a minute."""
    assert not without_comments("// for\n/* a /* b */ c */\n" * 40_000).strip()


def test_a_comment_ends_where_the_line_does():
    for end in "\n\r\u2028":
        assert without_comments(f"a // b{end}c").split() == ["a", "c"]


# --- How a lesson shows it (the stored outputs of lessons show numbers of lines, and functions) -------------------


def test_the_parts_of_a_file_are_the_whole_file():
    for version in versions("conv2d_grad_input"):
        kernel = load("conv2d_grad_input", version)
        numbers = range(1 + len(PART.findall(kernel.source)))
        parts = [kernel.part(name) for name in (*numbers, *SHARED.findall(kernel.source))]
        lines = [line for part in parts for line in part.text.split("\n") if line]
        assert lines == [line for line in kernel.source.split("\n") if line]
