"""The counting copy of a kernel: it computes the same, counts every iteration, and ends what would never end."""

import numpy as np
import pytest

from helpers import gpu
from helpers.grading.loops import counted, without_comments
from helpers.wgsl import Kernel

HEAD = "@group(0) @binding(0) var<storage, read_write> x: array<f32>;\n"
MAIN = "@compute @workgroup_size(4) fn main(@builtin(local_invocation_index) t: u32) {\n"


def run(text: str, budget: int = 1000) -> tuple[list[float], np.ndarray, int | None]:
    """What four threads write, their counts, and the line of an endless loop."""
    copy = counted(Kernel(HEAD + text), budget)
    x, counts = gpu.upload(np.zeros(4, np.float32), "x"), gpu.empty(copy.nbytes, "counts")
    gpu.run(gpu.Pass(copy.kernel, (x, counts), (1, 1, 1)))
    seen = gpu.read(counts, (copy.nbytes // 4,), np.uint32)
    return gpu.read(x, (4,)).tolist(), seen, copy.endless_line(seen)


FORMATS = {
    "nested for": ("var s = 0u; for (var i = 0u; i < t; i++) { for (var j = 0u; j < 3u; j++) { s++; } }", 3 + 9),
    "while": ("var s = 0u;\nwhile s < 3u * t {\n  s++; }", 9),
    "while()": ("var s = 0u; while(s<3u*t){s++;}", 9),
    "loop with continuing": ("var s = 0u; loop { if (s == 3u * t) { break; } continuing { s++; } }", 10),
    "loop with break if": ("var s = 0u; if (t > 0u) { loop\n{ continuing { s += 3u; break if s >= 3u * t; } } }", 3),
    "in a helper": ("let s = 3u * f(t);", 3),
    "in a helper in a loop": ("var s = 0u; for (var i = 0u; i < 3u; i++) { s += f(t); }", 3 + 9),
    "one after the other": ("var s = 0u; for (; s < t;) { s++; } for (; s < 3u * t; s++) { }", 9),
    "in a switch": ("var s = 3u * t; switch t { case 3u: { for (var i = 0u; i < 5u; i++) { s += i; } s = 9u; } default: { } }", 5),
    "comments": ("/* for { /* while { */ // */ var s = 0u; // loop {\nfor (/*{*/; s < 3u * t; s++) { /* } */ }", 9),
    "its own names": ("var counted_s = 0u; for (; counted_s < 3u * t; counted_s++) { } let s = counted_s;", 9),
    "none": ("let s = 3u * t;", 0),
}


@pytest.mark.parametrize(("text", "most"), FORMATS.values(), ids=FORMATS)
def test_a_copy_computes_the_same_and_counts_each_iteration(text, most):
    helper = "fn f(n: u32) -> u32 { var i = 0u; while (true) { if (i == n) { return i; } i++; } return 0u; }\n"
    helper = helper.replace("while (true)", "while (i < n)").replace("if (i == n) { return i; } ", "").replace("0u; }", "i; }")
    wrote, counts, line = run(f"{helper}{MAIN}{text}\nx[t] = f32(s); }}")
    assert wrote == [0, 3, 6, 9]
    assert (counts[0], line) == (most, None)


ENDLESS = {
    "counts down below 0": (4, "for (var i = 2u; i >= 0u; i--) {\n for (var j = 0u; j < 400u; j++) { s++; }\n}"),
    "the inner one": (5, "for (var i = 0u; i < 3u; i++) {\n for (var j = 0u; j < 400u; i++) { s++; }\n}"),
    "the inner one, later": (5, "for (var i = 0u; i < 9u; i++) {\n for (var j = 0u; j != 9u - i * 2u; j++) { s++; }\n}"),
    "the middle one": (
        5,
        "for (var i = 0u; i < 9u; i++) {\n for (var j = 9u; j < 10u; j--) {\n  for (var k = 0u; k < 9u; k++) { s++; } } }",
    ),
    "behind another": (5, "for (var i = 0u; i < 300u; i++) { s++; }\nwhile (true) { s++; }"),
    "one thread": (4, "while (t == 2u) { s++; }"),
}


@pytest.mark.parametrize(("line", "text"), ENDLESS.values(), ids=ENDLESS)
def test_an_endless_loop_ends_and_its_line_is_named(line, text):
    _, counts, named = run(f"{MAIN}var s = 0u;\n{text}\nx[t] = f32(s); }}")
    assert counts[0] > 1000
    assert named == line
