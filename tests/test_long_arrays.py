"""Limits by length: what takes minutes, or all memory, is refused before anything is made."""

from time import process_time

import pytest

from helpers.gpu import compiled
from helpers.lessons.launcher.launch import MOST_BYTES, create_buffer
from helpers.lessons.trusting_a_gradient.written_test import shape
from wgsl import Kernel, WgslError, check
from wgsl.types.limits import MAX_THREAD_BYTES

TEXT = """@group(0) @binding(0) var<storage, read_write> output: array<f32>;
OUTSIDE
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) global: vec3u) {
  let i = global.x;
  INSIDE
  output[i] = 1.0;
}
"""


def kernel(outside: str, inside: str) -> Kernel:
    return Kernel(TEXT.replace("OUTSIDE", outside).replace("INSIDE", inside))


@pytest.mark.parametrize(
    ("outside", "inside", "reason"),
    [
        ("var<private> p: array<f32, 1000000>;", "p[i] = 1.0;", "`array<f32, 1000000>` is too long"),
        ("var<private> p: array<f32, 16000>;", "p[i] = 1.0;", "64,000 bytes of private memory"),
        ("", "var p: array<f32, 16000>; p[i] = 1.0;", "64,000 bytes of function memory"),
        ("", "let p = array<f32, 16000>(); output[0] = p[i];", "64,000 bytes of function memory"),
        ("fn f() { var p: array<f32, 2049>; p[0] = 1.0; }", "f();", "8,196 bytes of function memory"),
        ("", "var p: array<f32, 2000>; var q: array<f32, 49>; p[i] = q[i];", "8,196 bytes of function memory"),
    ],
)
def test_a_long_array_of_a_thread_is_refused_before_the_driver_compiles_it(outside, inside, reason):
    begun = process_time()
    with pytest.raises(WgslError) as caught:
        compiled.pipeline(kernel(outside, inside), "main")
    assert reason in str(caught.value)
    assert f"{MAX_THREAD_BYTES:,}" in str(caught.value)
    assert process_time() - begun < 5


def test_an_array_of_a_thread_that_wgsl_promises_compiles():
    compiled.pipeline(kernel("", "var p: array<f32, 2048>; p[i % 2048u] = 1.0;"), "main")


WORD = "QUJD" * 5_000


@pytest.mark.parametrize(
    "text",
    [WORD, f"fn f() {{ {WORD} }}", f"const a = {WORD};", f"const a = {WORD}(1);", f"@{WORD}", f"const a = 1 {WORD};"],
)
def test_a_word_of_20_000_letters_is_refused_at_once_and_shown_in_part(text):
    begun = process_time()
    (problem,) = check(text)
    assert process_time() - begun < 1
    assert len(problem.message) < 300


def test_a_buffer_and_a_padding_are_bounded_before_they_are_made():
    with pytest.raises(ValueError, match=r"size = 268,435,456: a buffer has at most 1,000,000 bytes here"):
        create_buffer(2**28)
    assert len(create_buffer(MOST_BYTES).numbers) == MOST_BYTES // 4
    with pytest.raises(
        ValueError, match=r"at most 100,000 pixels .*padding included, and this one has 4,398,050,705,409"
    ):
        shape(1, 1, 1, 1, 1, 1, 1, padding=2**20, stride=2**30)
    assert shape(2, 3, 3, 8, 2, 5, 4, stride=2, padding=(2, 1)).padding_h == 2
