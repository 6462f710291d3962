"""Places of the mistakes that learners make in WGSL (`messages/compile_errors.txt` has them), and random mistakes."""

import random

from helpers.operations.kernels import load
from wgsl import without_comments
from wgsl.suggestions.context import TOKEN

HEAD = """\
// Comments, and letters outside ASCII (é, ×, ≤), must not change the line or the column.
/* Nor may
   a comment of several lines. */
struct Params { size: u32, C: u32, F: u32 }
@group(0) @binding(0) var<storage, read_write> output: array<f32>;  // (size)
@group(0) @binding(1) var<uniform> params: Params;
@group(0) @binding(2) var<storage, read> input: array<f32>;         // (size)
"""

MAIN = """\
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) global: vec3u) {
  let idx = global.x;
"""

KNOWN = "  let step = 2u;\n  var total = 0.0;\n"

PLACES = {  # where a line with a mistake stands: what is above it, its indent, and what is below it
    "in a kernel": (HEAD + MAIN + KNOWN, "  ", "\n  output[idx] = total;\n}\n"),
    "in a loop": (HEAD + MAIN + KNOWN + "  for (var n = 0u; n < 3u; n++) {\n", "    ", "\n  }\n}\n"),
    "in the last line": (HEAD + MAIN + KNOWN, "  ", "\n}"),
    "after a comment": (
        HEAD + MAIN + KNOWN + "  // total = 1 / 2\n",
        "  /* × ≤ é */ ",
        "  // and before one\n  return;\n}\n",
    ),
    "in a function": (HEAD + "fn work(idx: u32) {\n" + KNOWN, "\t", "\n}\n" + MAIN + "  work(idx);\n}\n"),
}


def mutants(count: int) -> list[tuple[str, int]]:
    """The official kernel with one token left out, doubled or replaced, and the line of that token."""
    chance, source = random.Random(16), load("conv2d_grad_weight", "1_thread_per_weight").source
    tokens = list(TOKEN.finditer(without_comments(source)))
    other = [token[0] for token in tokens] + ["//", "?", ":", "0", "1.0", "int", "float", "and", "F", "**"]
    texts = []
    for _ in range(count):
        token = chance.choice(tokens)
        new = chance.choice(["", f"{token[0]} {token[0]}", chance.choice(other), chance.choice(other)])
        line = source.count("\n", 0, token.start()) + 1
        texts.append((source[: token.start()] + new + source[token.end() :], line))
    return texts
