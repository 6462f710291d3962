"""Text for one layer: constants written in, marked loops written out, and nothing else changed."""

from dataclasses import replace

import pytest

from helpers import gpu
from helpers.gpu.passes import Pass, run
from wgsl import Kernel, WgslError
from wgsl.specialize import MOST_CHARACTERS, specialize

TEXT = """
const ROWS: u32 = 2u;     // of a layer
const SHIFT: i32 = 1i;
const SCALE: f32 = 1.0f;
const WHOLE: bool = false;
override COLUMNS: u32 = 3u;
@group(0) @binding(0) var<storage, read_write> x: array<f32>;
@compute @workgroup_size(1)
fn main() {
  for (var i = 0u; i < ROWS; i++) {  // unroll
    for (var j = 0u; j < COLUMNS; j++) {
      var at = i * COLUMNS + j;  // } for (;;) {
      for (var k = 0u; k < ROWS * 2u; k += 2u) {  // unroll
        x[at] += SCALE * f32(10u * i + j + k) + f32(SHIFT);
      }
      if (WHOLE) { x[at] = 7.0; }
    }
  }
}
"""
KERNEL = Kernel(TEXT, "text")


def result(kernel: Kernel, count: int) -> list[float]:
    x = gpu.empty(4 * count, "x")
    run(Pass(kernel, (x,), (1, 1, 1)))
    return gpu.read(x, (count,)).tolist()


def expected(rows: int, columns: int, shift: int = 1, scale: int = 1) -> list[float]:
    return [sum(scale * (10 * i + j + 2 * k) + shift for k in range(rows)) for i in range(rows) for j in range(columns)]


def test_the_text_as_it_stands_and_the_text_written_out_compute_the_same():
    special = specialize(KERNEL, {})
    assert result(KERNEL, 6) == result(special, 6) == expected(2, 3)
    assert special.code.count("for (") == 2  # those that are not marked: one for each copy of the outer loop
    assert special.code.count("const k = ") == 4


def test_constants_of_every_type_are_written_into_the_text():
    special = specialize(KERNEL, {"ROWS": 4, "SHIFT": -2, "SCALE": 3})
    assert "const ROWS: u32 = 4u;     // of a layer" in special.source
    assert result(special, 12) == expected(4, 3, -2, 3)
    assert result(specialize(KERNEL, {"WHOLE": True}), 6) == [7] * 6


def test_what_the_caller_set_comes_first_and_an_override_stays_one():
    special = specialize(KERNEL.with_constants(ROWS=3, COLUMNS=2), {"ROWS": 5})
    assert special.constants == (("COLUMNS", 2),)
    assert result(special, 6) == expected(3, 2)


def test_an_index_keeps_its_type():
    signed = KERNEL.edit("var i = 0u; i < ROWS", "var i = 0; i < 2").edit("i * COLUMNS", "u32(i) * COLUMNS")
    assert result(specialize(signed.edit("10u * i", "10u * u32(i)"), {}), 6) == expected(2, 3)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("i < ROWS", "i <= 1u"),
        ("i < ROWS", "COLUMNS > i + 1u"),
        ("i++", "i -= 0u - 1u"),
        ("  // unroll\n    for", "\n    for"),
    ],
)
def test_a_loop_of_another_form_stays_as_it_is(old, new):
    kernel = KERNEL.edit(old, new)
    assert "for (var i = 0u;" in specialize(kernel, {}).source
    assert result(specialize(kernel, {}), 6) == expected(2, 3)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("i < ROWS", "i < COUNT", "nothing is called `COUNT`"),
        ("if (WHOLE)", "if (WHOLE) { break; } if (WHOLE)", "no `break`"),
        ("k < ROWS * 2u", "k < ROWS * 600u", "600: .* at most 512 copies"),
        ("f32(SHIFT)", "f32(SHIFTED)", "nothing is called `SHIFTED`"),
    ],
)
def test_a_loop_that_cannot_be_written_out_or_does_not_compile_is_refused(old, new, message):
    with pytest.raises(ValueError, match=message):
        result(specialize(KERNEL.edit(old, new), {}), 6)


def test_a_text_has_at_most_100_000_characters():
    blanks = " " * (MOST_CHARACTERS - len(specialize(KERNEL, {"ROWS": 12}).source))
    longest = replace(KERNEL, source=TEXT + blanks)
    assert len(specialize(longest, {"ROWS": 12}).source) == MOST_CHARACTERS
    assert result(specialize(longest, {"ROWS": 12}), 36) == expected(12, 3)
    with pytest.raises(WgslError, match="for this layer has 100,001 characters: it may have at most 100,000"):
        specialize(replace(longest, source=longest.source + " "), {"ROWS": 12})


def test_a_constant_that_the_text_does_not_have_is_refused():
    with pytest.raises(ValueError, match=r"DEPTH = 3: text has no `const DEPTH: u32`"):
        specialize(KERNEL, {"DEPTH": 3})


def test_without_checks_the_same_numbers_come_out():
    x = gpu.empty(24, "x")
    run(Pass(specialize(KERNEL, {}), (x,), (1, 1, 1), checked=False))
    assert gpu.read(x, (6,)).tolist() == expected(2, 3)
