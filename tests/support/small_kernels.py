"""Kernels of a few lines: a body and its declarations, run by the simulator over small buffers."""

import re

import numpy as np

from wgsl import simulate
from wgsl.simulator.trace import Trace

THREADS = 8
BINDINGS = """
@group(0) @binding(0) var<storage, read_write> numbers: array<u32>;  // 16
@group(0) @binding(1) var<storage, read_write> floats: array<f32>;   // 16
@group(0) @binding(2) var<storage, read_write> counters: array<atomic<u32>, 4>;
@group(0) @binding(3) var<uniform> sizes: array<vec4u, 2>;  // 1, 2, 3, 4, 5, 6, 7, 8
"""
MAIN = f"""{BINDINGS}
var<workgroup> tile: array<u32, {THREADS}>;
var<workgroup> total: u32;
var<workgroup> tally: atomic<u32>;
var<private> own: array<u32, 4>;
"""
DECLARED = """
var<workgroup> pairs: array<vec2u, 8>;
var<workgroup> parts: array<f32, 8>;
var<private> grid: array<array<u32, 4>, 2>;
"""
BODY = """
@compute @workgroup_size(8)
fn main(@builtin(local_invocation_index) t: u32, @builtin(workgroup_id) id: vec3u) {
  let group = id.x;
"""


def text_of(body: str, declarations: str = "") -> str:
    """A kernel of 8 threads with this body."""
    return f"{MAIN}{declarations}{BODY}{body}\n}}\n"


def expected(body: str) -> tuple[list[tuple[str, int]], int | None]:
    """The kinds and lines that the comments of a body announce, and the line of `// earlier`."""
    text = text_of(body, DECLARED).replace(MAIN, re.sub("//.*", "", MAIN))
    kinds, earlier = [], None
    for number, line in enumerate(text.split("\n"), 1):
        comment = line.partition("// ")[2]
        if comment == "earlier":
            earlier = number
        elif re.fullmatch(r"([a-z -]+)(, [a-z -]+)*", comment):
            kinds += [(kind, number) for kind in comment.split(", ")]
    return sorted(kinds), earlier


def run(body: str, groups: int = 1, declarations: str = "", **options) -> Trace:
    """Simulate a body over two buffers of 16 zeros, 4 counters and the sizes 1 to 8; nothing need be written."""
    options = {"outputs": (), **options}
    return simulate(text_of(body, declarations), buffers(), (groups, 1, 1), **options)


def buffers() -> list[np.ndarray]:
    """Return what a kernel runs over, in the order of the bindings."""
    zeros = np.zeros(16, np.uint32), np.zeros(16, np.float32), np.zeros(4, np.uint32)
    return [*zeros, np.arange(1, 9, dtype=np.uint32)]
