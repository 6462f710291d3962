"""Small right and wrong WGSL programs, from `wgsl_programs.toml`, and those that browsers judge, `wgsl_judged.toml`.

Those in `wgsl_judged_f16.toml` need a browser with numbers of 16 bits.
"""

import re
from functools import cache
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from helpers.data import tables

PROGRAMS = Path(__file__).with_name("wgsl_programs.toml")
FOR_BROWSERS = Path(__file__).with_name("wgsl_judged.toml")
OF_HALVES = Path(__file__).with_name("wgsl_judged_f16.toml")
HEAD = """\
struct Params { n: u32, k: u32, scale: f32, shift: i32 }
@group(0) @binding(0) var<storage, read_write> output: array<f32>;
@group(0) @binding(1) var<storage, read> input: array<f32>;
@group(0) @binding(2) var<storage, read_write> counts: array<atomic<u32>>;
@group(0) @binding(3) var<uniform> params: Params;
var<workgroup> tile: array<f32, 64>;
var<workgroup> counter: atomic<u32>;
var<private> total: f32;
override TILE: u32 = 8u;
fn half(x: f32) -> f32 { return x * 0.5; }
fn none() {}
fn inc(p: ptr<function, f32>) { *p += 1; }
fn bump(p: ptr<private, f32>) { *p += 1; }
@must_use fn must() -> f32 { return 1; }
"""
MAIN = """
@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) global: vec3u, @builtin(local_invocation_index) thread: u32) {
let i = global.x;
"""


JUDGED = """\
@group(0) @binding(0) var<storage, read_write> y: array<u32>;
@group(0) @binding(1) var<uniform> u: vec4u;
var<workgroup> flag: u32;
var<workgroup> sum: atomic<u32>;
fn early(a: u32) -> u32 { if a > 3u { return a; } return workgroupUniformLoad(&flag); }
fn rd(p: ptr<function, u32>) -> u32 { workgroupBarrier(); return *p; }
fn id(m: mat2x2f) -> mat2x2f { return m; }
%s
@compute @workgroup_size(4) fn main(@builtin(local_invocation_index) i: u32) {
%s
}
"""
JUDGED_HALVES = """\
enable f16;
@group(0) @binding(0) var<storage, read_write> h: array<f16>;
@group(0) @binding(1) var<storage, read_write> o: array<f32>;
%s
@compute @workgroup_size(4) fn main(@builtin(local_invocation_index) i: u32) {
let x = h[i]; let v = vec3h(x); let w = vec2h(x); let q = vec4h(x); let f = o[i]; let m = mat2x2h(w, w);
let s = i32(i); let b = i > 1u; var r = x;
%s
}
"""
# A text in which each rule of the grammar is used.
RICH = """\
requires pointer_composite_access;
diagnostic(off, derivative_uniformity);
alias Row = array<vec4<f32>, 1 << 2>;
const SIZE = 4u;
const_assert SIZE < 8u;
override WIDTH: u32 = 2u * SIZE;
@id(3) override other = 1.5e-3;
struct Pair { @align(16) first: vec2<f32>, @size(16) second: u32, last: array<mat2x2<f32>, 2> }
var<private> count: u32 = 0x10u;
var<workgroup> tile: array<array<f32, SIZE>, (SIZE + 1u) / 2u>;
@group(0) @binding(0) var<storage, read_write> output: array<f32>;
fn helper(p: ptr<function, u32>, q: bool) -> u32 { *p += 1u; if q { return *p; } return (*p) & 0xffu; }
@compute @workgroup_size(SIZE, WIDTH, 1)
fn main(@builtin(global_invocation_id) g: vec3<u32>, @builtin(local_invocation_index) l: u32,) {
  var x = select(1, 2, (g.x < 3u && !(g.y >= (g.z >> 1u))) || false);
  let y: vec3<f32> = vec3<f32>(1.0, -2.5f, .5) * f32(x);
  const z = array<i32, 2>(1, -2);
  _ = y.xy[1] + f32(z[0]);
  var k: u32;
  for (var i = 0u; i < SIZE; i++) { if (i == 2u) { continue; } else if i > 3u { break; } else { x -= 1; } }
  while (x > 0) { x >>= 1u; k ^= ~1u % 3u; }
  loop { k += helper(&k, true); continuing { k++; break if k > 100u; } }
  switch k { case 1u, 2u, { output[0] = 1.0; } case 3u: { } default: { return; } }
  { let p = &output[g.x]; *p = fma(y.x, 2.0, -y[2]); }
  (output[1]) = f32((k << 2u) | 3u) / 2.0; k--;
  workgroupBarrier(); ;
  for (;;) { break; }
  if vec2<f32>(1.0, 2.0).x < vec2<f32>(2.0, 3.0).y { return; }
}
"""


class Program(NamedTuple):
    """The part that differs from program to program: statements of a kernel, and the declarations before it."""

    main: str = ""
    module: str = ""

    def __str__(self) -> str:
        return f"{self.module} {self.main}".strip()


@cache
def sections(file: Path = PROGRAMS) -> dict[str, list[Program]]:
    """Return the programs of a file by the names of their lists.

    Raises ValueError, which names the file, the row and the rule, where a row is no program.
    """
    lists = {}
    for heading, rows in tables.parse(file).items():
        place = f"{file.name}, {heading}, number"
        lists[heading] = [program(row, f"{place} {number}") for number, row in enumerate(rows, 1)]
    return lists


def program(row: object, place: str) -> Program:
    """Return the program of a row: text, or a table with what is declared in it."""
    if isinstance(row, str):
        return Program(row)
    tables.check(place, row, {"module": str}, {"main": str})
    return Program(**row)


def programs(heading: str) -> list[Program]:
    """Return the programs of all lists whose name begins so."""
    lists = [listed for name, listed in sections().items() if name.startswith(heading)]
    return [*chain.from_iterable(lists)]


def judged(heading: str) -> dict[str, str]:
    """Return the texts that browsers judge, by what differs in them: those they take ("right"), or "refused" ones."""
    return {str(program): JUDGED % (program.module, program.main) for program in sections(FOR_BROWSERS)[heading]}


def judged_halves(heading: str) -> dict[str, str]:
    """Return the same of the texts that enable f16."""
    return {str(program): JUDGED_HALVES % (program.module, program.main) for program in sections(OF_HALVES)[heading]}


def source(main: str, module: str = "") -> str:
    """Return the whole text of a program."""
    return HEAD + module.replace("  ", "\n") + MAIN + in_lines(main) + "\n}\n"


def in_lines(statements: str) -> str:
    """Statements, a line each."""
    return re.sub(r"([;{}]) ", r"\1\n", statements.strip())
