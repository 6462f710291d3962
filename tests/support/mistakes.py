"""Mistakes that learners make in WGSL, with what the compiler's message is explained to mean."""

import random

from helpers.kernels import load
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

# What a learner types, with a mark where the caret points, and the cure.
CURES = {
    # Python
    "let h = idx ▸// params.F;": "WGSL divides with one `/`",
    "let h = idx ▸// params.F % params.C;": "WGSL divides with one `/`",
    "let h = (idx ▸// 2u) % params.F;": "`2u) % params.F;` is not read",
    "let h = idx ▸// (params.F * params.F) % params.C;": "WGSL divides with one `/`",
    "total += input[idx ▸// step];": "WGSL divides with one `/`",
    "let h = 1.0 ▸if idx > 3u else 2.0;": "write `select(2.0, 1.0, idx > 3u)`",
    "if (idx > 3u ▸and idx < 9u) { return; }": "`&&` for `and`",
    "let h = idx > 3u ▸or idx < 9u;": "`||` for `or`",
    "if (▸not idx > 3u) { return; }": "`!` for `not`",
    "let h = ▸not (idx > 3u);": "`!` for `not`",
    "for ▸b in range(3):": "write `for (var b = 0u; b < 3u; b++) {`",
    "for ▸b in range(1, params.F, 2) { }": "write `for (var b = 1u; b < params.F; b += 2u) {`",
    "for ▸x in input { }": "`for (var x = 0u; x < n; x++) {`",
    "if (idx > 3u)▸: return;": "without a `:`",
    "▸def work(x) {": "begins with `fn`",
    "▸h = idx % params.F;": "`h` is not declared: write `let h = idx % params.F;`",
    "▸h += input[idx];": "`var h = 0.0;`",
    "let h = ▸True;": "`true`",
    "let h = idx ▸** 2u;": "write `idx * idx`",
    "let h = 2.0 ▸** input[idx];": "WGSL has no `**`",
    "let h = exp(input[idx]) ▸if idx > 1u else 0.0;": "`select(0.0, exp(input[idx]), idx > 1u)`",
    "let h = ▸np.exp(input[idx]);": "`exp(...)`",
    "let h = ▸len(input);": "`arrayLength(&name)`",
    "▸# a comment": "a comment begins with `//`",
    # C
    "let h = idx > 3u ▸? 1.0 : 2.0;": "write `select(2.0, 1.0, idx > 3u)`",
    "total = abs(idx > 3u ▸? 1.0 : 2.0);": "write `select(y, x, c)`",
    "▸int b = 0;": "write `var b = 0u;`",
    "▸float x = 0.0;": "write `var x: f32 = 0.0;`",
    "const ▸int n = 3;": "write `let n = 3u;`",
    "▸float part[3];": "`var part: array<f32, 3>;`",
    "for (▸int b = 0; b < 3; b++) { }": "write `var b = 0u;`",
    "for (▸int b = 0; b < params.F; b++) { }": "write `var b = 0u;`",
    "for (▸i32 b = 0; b < F; b++) { }": "write `var b = 0u;`",
    "for (▸int b = 3; b >= 0; b--) { }": "write `var b = 3;`",
    "for (▸int b = 0; b < i32(params.F); b++) { }": "write `var b = 0;`",
    "▸int h = idx / F;": "write `var h = idx / F;`",
    "for (▸b = 0; b < params.F; b++) { }": "write `for (var b = 0u;`",
    "let h = input[idx]▸[3];": "`input` is a flat array and takes one index",
    "output[idx]▸[step] = 1.0;": "`output` is a flat array and takes one index",
    "let h = input[idx▸, 3u];": "flat and takes one index",
    "for (var b = 0u; b < 3u; ▸++b) { }": "`b++`",
    "let h = idx▸++;": "`idx++` is a statement",
    "if (idx > 3u) ▸return;": "braces are required",
    "if (idx ▸= 3u) { return; }": "compared with `==`",
    "if (idx + 1u ▸=> params.F) { return; }": "`>=` is written with `=` last",
    "idx + 1u ▸=> n;": "`>=` is written with `=` last",
    "if (idx ▸=< params.F) { return; }": "`<=` is written with `=` last",
    "▸output(idx) = 1.0;": "written with brackets: `output[idx]`",
    "▸output(idx + 1u) += input(idx);": "written with brackets: `output[idx + 1u]`",
    "let h = ▸(float)idx;": "`f32(x)`",
    "let h = ▸expf(input[idx]);": "`exp`",
    # CUDA
    "let h = ▸threadIdx.x;": "`local_invocation_id`",
    "let h = ▸blockIdx.x * 64u;": "`workgroup_id`",
    "let h = ▸blockDim.x;": "`@workgroup_size(...)`",
    "▸__syncthreads();": "`workgroupBarrier()`",
    # Names
    "let h = idx / ▸F;": "write `params.F`",
    "let h = idx / ▸paramsF;": "write `params.F`",
    "let h = ▸inptu[idx];": "do you mean `input`?",
    "let h = input[▸ixd];": "do you mean `idx`?",
    "let h = params.▸f;": "do you mean `F`?",
    "let h = idx.▸x;": "a single number (u32)",
    "let h = ▸remainder(idx, 2u);": "WGSL has no function of that name",
    # What not every adapter has, or what stands elsewhere
    "let h = ▸subgroupAdd(input[idx]);": "not every adapter offers subgroup functions",
    "let h = ▸subgroupElect();": "share values in workgroup memory, with a `workgroupBarrier()`",
    "var<▸private> h: f32;": "`var<private>` is declared outside of every function",
    # Semicolons and brackets
    "let h = idx + 1u▸": "a `;` is missing at the end of this line",
    "total += 1.0▸": "a `;` is missing at the end of this line",
    "let h = input[idx]▸  // one of them": "a `;` is missing at the end of this line",
    "let h = (idx + 1u▸;": "is never closed: a `)` is missing",
    "let h = input[idx▸;": "is never closed: a `]` is missing",
    "for (var b = 0u; b < 3u; b++) { if (b > 1u) { continue▸ } }": "a `;` is missing after `continue`",
    "for (var b = 0u; b < 3u; b++) { if (b > 1u) { break▸ } }": "a `;` is missing after `break`",
    # What may not change
    "▸let output[idx] = 1.0;": "to assign to `output`, leave it out",
    "▸var output[idx] = 1.0;": "to assign to `output`, leave it out",
    "▸let total += 1.0;": "to assign to `total`, leave it out",
    "▸const i = idx + 1u;": "write `let i = idx + 1u`: a `const` must be known before",
    "▸const x = input[idx];": "write `let x = input[idx]`: a `const` must be known before",
    "▸step += 1u;": "write `var` there: `var step = 2u`",
    "▸idx++;": "never changes",
    "▸input[idx] = 2.0;": "the result belongs in `output`",
    "▸params.F = 2u;": "can only be read",
    # Types
    "var s = 0; ▸s += input[idx];": "declare `s` as f32, as in `var s = 0.0;`",
    "▸output[idx] = select(0, 1, idx > 3u);": "write `select(0.0, 1.0, idx > 3u)`",
    "var s = select(0, 1, idx > 3u); ▸output[idx] = s;": "write `select(0.0, 1.0, idx > 3u)`",
    "var b = 0; let h = ▸idx + b;": "by `var b = 0`, and `idx` is a u32: write `var b = 0u`",
    "for (var b = 0; ▸b < params.F; b++) { }": "by `var b = 0`, and `params.F` is a u32: write `var b = 0u`",
    "for (var b: i32 = 0; ▸b < params.F; b++) { }": "write `var b = 0u`",
    "for (var b = 0; ▸b < params.F; b++) { let h = b - 1; }": "write `var b = 0u`",
    "for (var b = 0; b < 3; b++) { let h = ▸idx + b - params.F; }": "write `var b = 0u`",
    "var b = 0; var c = 1; let h = ▸idx + (b * 3 + c);": "write `var b = 0u` and `var c = 1u`",
    "let i = i32(idx); if (▸i >= params.F) { return; }": "leave out the `i32(...)`: write `let i = idx`",
    "if (▸i32(idx) >= params.F) { return; }": "leave out the `i32(...)`: write `idx`",
    "var s = 0u; ▸s += input[idx];": "declare `s` as f32, as in `var s = 0.0;`",
    "var s = 0u; s = ▸s + input[idx] * 2.0;": "declare `s` as f32, as in `var s = 0.0;`",
    "var s: u32 = 0; s = ▸input[idx] + s;": "declare `s` as f32, as in `var s = 0.0;`",
    "let h = ▸input[idx] ^ 2.0;": "write `input[idx] * input[idx]`",
    "let h = ▸1.0 + 3.0 * input[idx] ^ 2;": "write `input[idx] * input[idx]`",
    "let h = ▸input[idx] ^ 3.0;": "the product, or `pow(a, b)` for f32",
    "let h = params.F ^ ▸2.0;": "write `params.F * params.F`",
    "let h = f32(params.F) + ▸2.0 * params.C;": "`params.C` is a u32: write `f32(params.C)`",
    "let h = i32(idx) - 1; if (▸h < params.F) { }": "write `i32(params.F)`",
    "let h = ▸i32(idx) - 1u;": "write `1`",
    "let i = i32(idx) - 1; let h = input[▸i * params.C + params.F];": "write `u32(i)`",
    "let i = i32(idx) - 1; let h = input[▸params.C * params.F + i];": "write `u32(i)`",
    "let i = i32(idx) - 1; let j = i; let h = input[▸i * params.C + j];": "write `u32(i)` and `u32(j)`",
    "let i = i32(idx) - 1; let at = ▸params.C * i + params.F;": "write `u32(i)`",
    "let i = i32(idx) - 1; let at = ▸i + params.F; if (at < 0) { }": "write `i32(params.F)`",
    "let i = ▸i32(idx) * params.C + params.F;": "write `i32(params.C)` and `i32(params.F)`",
    "let i = i32(idx) - 1; if (!(▸i >= params.C && i < params.F)) { }": "`i32(params.C)` and `i32(params.F)`",
    "let h = input[▸i32(idx) * params.C];": "write `idx`",
    "let h = ▸1.0f * idx;": "write `f32(idx)`",
    "let h = idx / ▸2.0;": "write `f32(idx)`, or `2u`",
    "let h = idx * ▸0.5;": "write `f32(idx)`",
    "let h = input[params.F / ▸2.0];": "`params.F` is a u32: write `2u`",
    "let h = ▸input[idx] & 1u;": "`&` is for the bits of whole numbers, and `input[idx]` is an f32",
    "▸total--;": "write `total -= 1.0`",
    "let h = ▸input[idx] * idx;": "write `f32(idx)`",
    "let h = ▸input[idx] * 2u;": "write `2.0`",
    "▸total = idx;": "write `f32(idx)`",
    "▸total += 1u;": "write `1.0`",
    "let ▸h: f32 = idx;": "write `f32(idx)`",
    "let ▸h: f32 = select(0, 1, idx > 3u);": "write `select(0.0, 1.0, idx > 3u)`",
    "let ▸h: u32 = 0.0;": "write `0u`",
    "let h = input[▸f32(idx)];": "an index is a whole number: write `idx`",
    "let h = input[▸0.5];": "an index must be a whole number",
    "if (idx == ▸-1) { return; }": "a u32 is never negative",
    "while (idx >= ▸-1) { }": "a u32 is never negative",
    "if (▸idx) { return; }": "as in `idx != 0u`",
    "let h = ▸idx > 3u && idx;": "as in `idx != 0u`",
    "let h = ▸idx == 3u || 4u;": "as in `i == 4u`",
    "let h = ▸idx & 1u == 0u;": "write `(idx & 1u) == 0u`",
    "let h = ▸exp(idx);": "write `exp(f32(idx))`",
    "let h = ▸max(input[idx], 0u);": "write `0.0`",
    "let h = ▸select(idx > 3u, 1.0, 2.0);": "write `select(2.0, 1.0, idx > 3u)`",
    "▸output = 1.0;": "is an index like [i] missing?",
    "output = 3.0 * ▸input + 1.0;": "is an index like [i] missing?",
    "total += 3.0 * ▸input;": "is an index like [i] missing?",
    "let h = exp(▸input);": "is an index like [i] missing?",
    "let h = arrayLength(▸input);": "write `arrayLength(&input)`",
    "if (▸input > 0.0) { return; }": "is an index like [i] missing?",
    # Letters from elsewhere
    "let h = idx ▸− 1u;": "write `-`",
    "let h = idx ▸× step;": "write `*`",
    "if (idx ▸≤ step) { return; }": "write `<=`",
    "let h = ▸“idx”;": "is no sign of WGSL",
    "let h▸\u00a0= idx;": "an invisible letter (no-break space, U+00A0)",
    "let h = idx▸\u0000;": "an invisible letter (nul, U+0000)",
}
HABITS = [(line.replace("▸", ""), line.partition("▸")[2], cure) for line, cure in CURES.items()]

# Mistakes in `main` that have one place only, each in a line of its own.
IN_MAIN = {
    "return 1.0;": "`main` returns nothing: write `return;`",
    "return 3.0 * input[idx] + 1.0;": "write the value to its place in `output`, `output[i]`",
    "if (global >= params.F) { return; }": "write `global.x` for its first number",
    "let h = local_invocation_id.x;": "must be a parameter",
    "let h = thread_position_in_grid.x;": "here it is `global`",
    "let h = params[idx];": "`params` is a struct and takes no index",
    "let h = idx[2];": "`idx` is a single number",
    "let h = 3.0[idx];": "`3.0` is a single number: no index",
    "let h = 3u && idx < 4u;": "a whole comparison on each side, as in `i == 3u`",
    "for (var t = 0.0; t < 3.0; t++) { }": "counts only u32 and i32; it begins as `0.0`",
    "let h = [1.0, 2.0];": "a value must come, and `[` is none",
    "__shared__ float part[64];": "`var<workgroup> name: array<f32, 64>;`",
    "unsigned int h = idx;": "`var h: u32 = ...`",
    "workgroupBarrier;": "called with parentheses",
    "let h = 256U;": "`256U` is no number",
    "let h = 1; let h = 2;": "`h` is already declared",
    "let target = 1;": "a word of WGSL's own",
    "let h = -idx;": "`-` needs an f32 or i32, and this is a u32",
    "if (!idx) { return; }": "`!` needs a condition",
    "output[idx] = input(idx);": "`input` is no function; an array's element is `input[...]`",
    "output[idx] = 3.0 (f32(idx));": "an operator, such as `*`",
    "let h = idx (2u);": "an operator such as `*`",
    "let h = Params.F;": "the variable of this type is `params`",
    "let h = max(1.0);": "takes 2 values, and 1 are given",
    "let h = exp(1.0, 2.0);": "`exp` takes 1 value, and 2 are given",
    "exp(1.0);": "is not used",
    "if (idx > 3u) { break; }": "`break` stands outside of every loop",
    "output[idx] = input[-1];": "negative",
    "var part: array<f32, 3>; part[3] = 1.0;": "past the end of the array",
    "var<workgroup> part: array<f32, 3>;": "outside of every function",
    "atomicAdd(&output[idx], 1.0);": "atomic functions change an `atomic<u32>`",
    "let h: array = input[idx];": "needs a type behind it",
    "let h: f64 = 1.0;": "not every adapter has `f64`",
    "output[global] = 1.0;": "take a part of it, such as `global.x`",
    "let p = &input; (*p)[idx] = 1.0;": "cannot be written to",
    "if (dot(vec2f(), vec2f())) { return; }": "as in `dot(vec2f(), vec2f()) != 0.0`",
    "let h = 3.0u;": "write `3u`",
    "let h = arrayLength(&params);": "as in `arrayLength(&output)`",
    "let h: u32 = 0.5;": "which no u32 can hold: write `h: f32`",
    "let h: vec3f = global;": "`h` is declared as a vec3f, and `global` is a vec3u, declared in line 9",
    "if (idx > 3u) { return\n  }": "a `;` is missing after `return`",
}
VECTORS = [  # wrong below `let i = global;`
    "if (i >= params.F) { return; }",
    "if (i < 3) { return; }",
    "output[i] = 3.0 * input[i] + 1.0;",
    "let h = i / 3u; output[h] = 1.0;",
    "output[idx] = f32(i);",
    "output[idx] = 2.0 * i;",
    "output[idx] = exp(i);",
    "for (var k = i; k.x < 3u; k++) { }",
    "let h: u32 = i;",
]
HEADERS = [  # pieces of the first lines of `main`, what replaces them, and the line of the message
    ("@builtin(global_invocation_id) ", "", 9, "`@builtin(global_invocation_id) global: vec3u`"),
    ("@builtin(global_invocation_id) global: vec3u", "i", 9, "write `@builtin(global_invoc"),
    ("vec3u", "u32", 9, "`global_invocation_id` is a vec3u: write `global: vec3u`"),
    ("vec3u", "vec3i", 9, "`global_invocation_id` is a vec3u: write `global: vec3u`"),
    ("vec3u", "uint3", 9, "`vec3u`"),
    ("global_invocation_id", "thread_id", 9, "no builtin `thread_id`"),
    ("@workgroup_size(64)", "", 8, "`@workgroup_size(...)` is missing"),
    ("@compute @workgroup_size(64)", "", 9, "is `@compute` missing"),
]
# Mistakes that take more than one line, with a mark before the line of the message; MAIN is the first lines of `main`.
SEVERAL_LINES = {
    "MAIN▸  return\n  output[idx] = 1.0;\n}\n": "a `;` is missing at the end of this line",
    "MAIN▸  let b = 1u +\n  let c = 2u;\n}\n": "it ends in `+`",
    "MAIN  for (var b = 0u; b < 3u; b++) {\n    output[b] = 1.0;\n  output[idx] = 2.0;\n▸}\n": "begins in line 11",
    "MAIN▸  output[idx] = 1.0;\n": "a `}` is missing",
    "MAIN  output[idx] = 1.0;\n}\n▸}\n": "this `}` has no partner",
    "MAIN  }\n▸  output[idx] = 1.0;\n}\n": "stands outside of every function",
    "fn half(x: f32) -> f32 {\n  return 0.5 * x;\n▸MAIN}\n": "look at the block that begins in line 8",
    "MAIN  let b = (1u\n▸    + 2u;\n}\n": "the `(` in line 11, column 11 is never closed",
    "MAIN  if (idx > 3u) { let q = 1u; }\n▸  output[idx] = f32(q);\n}\n": "only inside the braces",
    "MAIN▸  let p = q;\n  let q = 1u;\n}\n": "declared only in line 12",
    "▸def half(x):\n  return x\nMAIN}\n": "a function begins with `fn`",
    "▸fn half(float x) -> f32 { return x; }\nMAIN}\n": "write `x: f32`",
    "▸fn half(x: f32): f32 { return x; }\nMAIN}\n": "`->`",
    "fn zero() -> f32 {\n▸  return 0u;\n}\nMAIN}\n": "`zero` returns an f32, and `0u` is a u32: write `0.0`",
    "fn zero() -> u32 {\n  let z = 0;\n▸  return z;\n}\nMAIN}\n": "write `u32(z)`",
    "▸fn zero() -> f32 {\n  let z = 0.0;\n}\nMAIN}\n": "no `return` gives one",
    "MAIN  var sum = 0.0;\n▸  return sum;\n}\n": "write the value to its place in `output`",
    "MAIN  if (idx > 3u) {\n▸    continue\n  }\n}\n": "a `;` is missing",
    "▸const size = params.F;\nMAIN}\n": "inside of the function",
    "fn half(x: f32) -> f32 { return 0.5 * x; }\nMAIN▸  output[0] = half(idx);\n}\n": "write `f32(idx)`",
    "▸fn f(x: ptr<storage, array<f32>>) { }\nMAIN}\n": "`x` cannot be a parameter",
    "▸fn f(x: f32) -> f32 { if (x > 0.0) { return x; } }\nMAIN}\n": "does not return a value on every path",
    "▸@group(0) @binding(0) var<storage, read> more: array<f32>;\nMAIN  output[0] = more[0];\n}\n": "twice",
    "MAIN}\n▸fn half(@": "the text ends here, in the middle of a statement",
    "▸const a = b;\nconst b = a;\nMAIN  output[idx] = a;\n}\n": "uses itself",
    "▸var<workgroup> sum: atomic<f32>;\nMAIN  atomicAdd(&sum, 1.0);\n}\n": "no `atomic<f32>`",
    "▸/* never closed\nMAIN}\n": "`*/` is missing",
    "MAIN  if (idx > 3u) { return; }\n▸  elif (idx > 2u) { return; }\n}\n": "`else if` for `elif`",
    "▸float half(float x) { return 0.5 * x; }\nMAIN}\n": "a function begins with `fn`",
    "▸fn half(x) -> f32 { return 0.5 * x; }\nMAIN}\n": "write `x: f32`",
    "▸@group(0) var<storage, read> more: array<f32>;\nMAIN}\n": "needs a `@binding(...)`",
    "▸var<workgroup> part: array<f32>;\nMAIN}\n": "an array needs a length here",
    "▸@group(0) @binding(3) var<storage, write> more: array<f32>;\nMAIN}\n": "`read` or `read_write`",
    "const size = 3u;\nMAIN▸  size = 4u;\n}\n": "`size` is a `const`",
    "fn half(x: f32) -> f32 { return 0.5 * x; }\nMAIN▸  let h = half;\n}\n": "is a type or a function",
    "fn half(x: f32) -> f32 { return 0.5 * x; }\nMAIN▸  let h = half(1.0, 2.0);\n}\n": "",
}


def _longer(text: str, cure: str) -> tuple[str, int, str]:
    """The text from line 8 on, the line of its message, and the cure."""
    above, below = (part.replace("MAIN", MAIN) for part in text.split("▸"))
    return above + below, 8 + above.count("\n"), cure


A_VECTOR = "`i` is a vec3u, and not one number: write `let i = global.x`"
LONGER = [_longer(*row) for row in SEVERAL_LINES.items()]
LONGER += [_longer(f"MAIN▸  {line}\n}}\n", cure) for line, cure in IN_MAIN.items()]
LONGER += [_longer(f"MAIN  let i = global;\n▸  {line}\n}}\n", A_VECTOR) for line in VECTORS]
LONGER += [(f"{MAIN.replace(old, new)}}}\n", line, cure) for old, new, line, cure in HEADERS]


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
