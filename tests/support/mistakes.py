"""Mistakes that learners make in WGSL, with what the compiler's message is explained to mean."""

import random

from helpers.compile_errors.expressions import TOKEN
from helpers.wgsl import load, without_comments

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

# What a learner types, what the caret points at ("" is the end of the line), and the cure.
HABITS = [
    # Python
    ("let h = idx // params.F;", "//", "WGSL divides with one `/`"),
    ("let h = idx // params.F % params.C;", "//", "WGSL divides with one `/`"),
    ("let h = (idx // 2u) % params.F;", "//", "`2u) % params.F;` is not read"),
    ("let h = idx // (params.F * params.F) % params.C;", "//", "WGSL divides with one `/`"),
    ("total += input[idx // step];", "//", "WGSL divides with one `/`"),
    ("let h = 1.0 if idx > 3u else 2.0;", "if", "write `select(2.0, 1.0, idx > 3u)`"),
    ("if (idx > 3u and idx < 9u) { return; }", "and", "`&&` for `and`"),
    ("let h = idx > 3u or idx < 9u;", "or", "`||` for `or`"),
    ("if (not idx > 3u) { return; }", "not", "`!` for `not`"),
    ("let h = not (idx > 3u);", "not", "`!` for `not`"),
    ("for b in range(3):", "b in", "write `for (var b = 0u; b < 3u; b++) {`"),
    ("for b in range(1, params.F, 2) { }", "b in", "write `for (var b = 1u; b < params.F; b += 2u) {`"),
    ("for x in input { }", "x in", "`for (var x = 0u; x < n; x++) {`"),
    ("if (idx > 3u): return;", ":", "without a `:`"),
    ("def work(x) {", "def", "begins with `fn`"),
    ("h = idx % params.F;", "h =", "`h` is not declared: write `let h = idx % params.F;`"),
    ("h += input[idx];", "h +=", "`var h = 0.0;`"),
    ("let h = True;", "True", "`true`"),
    ("let h = idx ** 2u;", "**", "write `idx * idx`"),
    ("let h = 2.0 ** input[idx];", "**", "WGSL has no `**`"),
    ("let h = exp(input[idx]) if idx > 1u else 0.0;", "if", "`select(0.0, exp(input[idx]), idx > 1u)`"),
    ("let h = np.exp(input[idx]);", "np", "`exp(...)`"),
    ("let h = len(input);", "len", "`arrayLength(&name)`"),
    ("# a comment", "#", "a comment begins with `//`"),
    # C
    ("let h = idx > 3u ? 1.0 : 2.0;", "?", "write `select(2.0, 1.0, idx > 3u)`"),
    ("total = abs(idx > 3u ? 1.0 : 2.0);", "?", "write `select(y, x, c)`"),
    ("int b = 0;", "int", "write `var b = 0u;`"),
    ("float x = 0.0;", "float", "write `var x: f32 = 0.0;`"),
    ("const int n = 3;", "int", "write `let n = 3u;`"),
    ("float part[3];", "float", "`var part: array<f32, 3>;`"),
    ("for (int b = 0; b < 3; b++) { }", "int", "write `var b = 0u;`"),
    ("for (int b = 0; b < params.F; b++) { }", "int", "write `var b = 0u;`"),
    ("for (i32 b = 0; b < F; b++) { }", "i32", "write `var b = 0u;`"),
    ("for (int b = 3; b >= 0; b--) { }", "int", "write `var b = 3;`"),
    ("for (int b = 0; b < i32(params.F); b++) { }", "int", "write `var b = 0;`"),
    ("int h = idx / F;", "int", "write `var h = idx / F;`"),
    ("for (b = 0; b < params.F; b++) { }", "b =", "write `for (var b = 0u;`"),
    ("let h = input[idx][3];", "[3]", "`input` is a flat array and takes one index"),
    ("output[idx][step] = 1.0;", "[step]", "`output` is a flat array and takes one index"),
    ("let h = input[idx, 3u];", ",", "flat and takes one index"),
    ("for (var b = 0u; b < 3u; ++b) { }", "++", "`b++`"),
    ("let h = idx++;", "++", "`idx++` is a statement"),
    ("if (idx > 3u) return;", "return", "braces are required"),
    ("if (idx = 3u) { return; }", "= 3u", "compared with `==`"),
    ("if (idx + 1u => params.F) { return; }", "=>", "`>=` is written with `=` last"),
    ("idx + 1u => n;", "=>", "`>=` is written with `=` last"),
    ("if (idx =< params.F) { return; }", "=<", "`<=` is written with `=` last"),
    ("output(idx) = 1.0;", "output", "written with brackets: `output[idx]`"),
    ("output(idx + 1u) += input(idx);", "output", "written with brackets: `output[idx + 1u]`"),
    ("let h = (float)idx;", "(float)", "`f32(x)`"),
    ("let h = expf(input[idx]);", "expf", "`exp`"),
    # CUDA
    ("let h = threadIdx.x;", "threadIdx", "`local_invocation_id`"),
    ("let h = blockIdx.x * 64u;", "blockIdx", "`workgroup_id`"),
    ("let h = blockDim.x;", "blockDim", "`@workgroup_size(...)`"),
    ("__syncthreads();", "__syncthreads", "`workgroupBarrier()`"),
    # Names
    ("let h = idx / F;", "F;", "write `params.F`"),
    ("let h = idx / paramsF;", "paramsF", "write `params.F`"),
    ("let h = inptu[idx];", "inptu", "do you mean `input`?"),
    ("let h = input[ixd];", "ixd", "do you mean `idx`?"),
    ("let h = params.f;", "f;", "do you mean `F`?"),
    ("let h = idx.x;", "x;", "a single number (u32)"),
    ("let h = remainder(idx, 2u);", "remainder", "WGSL has no function of that name"),
    # What not every adapter has, or what stands elsewhere
    ("let h = subgroupAdd(input[idx]);", "subgroupAdd", "not every adapter offers subgroup functions"),
    ("let h = subgroupElect();", "subgroupElect", "share values in workgroup memory, with a `workgroupBarrier()`"),
    ("var<private> h: f32;", "private", "`var<private>` is declared outside of every function"),
    # Semicolons and brackets
    ("let h = idx + 1u", "", "a `;` is missing at the end of this line"),
    ("total += 1.0", "", "a `;` is missing at the end of this line"),
    ("let h = input[idx]  // one of them", "  //", "a `;` is missing at the end of this line"),
    ("let h = (idx + 1u;", ";", "is never closed: a `)` is missing"),
    ("let h = input[idx;", ";", "is never closed: a `]` is missing"),
    ("for (var b = 0u; b < 3u; b++) { if (b > 1u) { continue } }", " } }", "a `;` is missing after `continue`"),
    ("for (var b = 0u; b < 3u; b++) { if (b > 1u) { break } }", " } }", "a `;` is missing after `break`"),
    # What may not change
    ("let output[idx] = 1.0;", "let", "to assign to `output`, leave it out"),
    ("var output[idx] = 1.0;", "var", "to assign to `output`, leave it out"),
    ("let total += 1.0;", "let", "to assign to `total`, leave it out"),
    ("const i = idx + 1u;", "const", "write `let i = idx + 1u`: a `const` must be known before"),
    ("const x = input[idx];", "const", "write `let x = input[idx]`: a `const` must be known before"),
    ("step += 1u;", "step", "write `var` there: `var step = 2u`"),
    ("idx++;", "idx", "never changes"),
    ("input[idx] = 2.0;", "input[idx]", "the result belongs in `output`"),
    ("params.F = 2u;", "params.F", "can only be read"),
    # Types
    ("var s = 0; s += input[idx];", "s +=", "write `var s = 0.0`"),
    ("output[idx] = select(0, 1, idx > 3u);", "output", "write `select(0.0, 1.0, idx > 3u)`"),
    ("var s = select(0, 1, idx > 3u); output[idx] = s;", "output", "write `select(0.0, 1.0, idx > 3u)`"),
    ("var b = 0; let h = idx + b;", "idx + b", "by `var b = 0`, and `idx` is a u32: write `var b = 0u`"),
    (
        "for (var b = 0; b < params.F; b++) { }",
        "b < params",
        "by `var b = 0`, and `params.F` is a u32: write `var b = 0u`",
    ),
    ("for (var b: i32 = 0; b < params.F; b++) { }", "b < params", "write `var b = 0u`"),
    ("for (var b = 0; b < params.F; b++) { let h = b - 1; }", "b < params", "write `var b = 0u`"),
    ("for (var b = 0; b < 3; b++) { let h = idx + b - params.F; }", "idx + b", "write `var b = 0u`"),
    ("var b = 0; var c = 1; let h = idx + (b * 3 + c);", "idx +", "write `var b = 0u` and `var c = 1u`"),
    ("let i = i32(idx); if (i >= params.F) { return; }", "i >=", "leave out the `i32(...)`: write `let i = idx`"),
    ("if (i32(idx) >= params.F) { return; }", "i32", "leave out the `i32(...)`: write `idx`"),
    ("var s = 0u; s += input[idx];", "s +=", "write `var s = 0.0`"),
    ("var s = 0u; s = s + input[idx] * 2.0;", "s + input", "write `var s = 0.0`"),
    ("var s: u32 = 0; s = input[idx] + s;", "s = input", "write `var s = 0.0`"),
    ("let h = input[idx] ^ 2.0;", "input", "write `input[idx] * input[idx]`"),
    ("let h = 1.0 + 3.0 * input[idx] ^ 2;", "1.0", "write `input[idx] * input[idx]`"),
    ("let h = input[idx] ^ 3.0;", "input", "the product, or `pow(a, b)` for f32"),
    ("let h = params.F ^ 2.0;", "2.0", "write `params.F * params.F`"),
    ("let h = f32(params.F) + 2.0 * params.C;", "2.0", "`params.C` is a u32: write `f32(params.C)`"),
    ("let h = i32(idx) - 1; if (h < params.F) { }", "h < params", "write `i32(params.F)`"),
    ("let h = i32(idx) - 1u;", "i32(", "write `1`"),
    ("let i = i32(idx) - 1; let h = input[i * params.C + params.F];", "i * params", "write `u32(i)`"),
    ("let i = i32(idx) - 1; let h = input[params.C * params.F + i];", "params.C *", "write `u32(i)`"),
    ("let i = i32(idx) - 1; let j = i; let h = input[i * params.C + j];", "i * params", "write `u32(i)` and `u32(j)`"),
    ("let i = i32(idx) - 1; let at = params.C * i + params.F;", "params.C *", "write `u32(i)`"),
    ("let i = i32(idx) - 1; let at = i + params.F; if (at < 0) { }", "i + params", "write `i32(params.F)`"),
    ("let i = i32(idx) * params.C + params.F;", "i32(idx)", "write `i32(params.C)` and `i32(params.F)`"),
    ("let i = i32(idx) - 1; if (!(i >= params.C && i < params.F)) { }", "i >=", "`i32(params.C)` and `i32(params.F)`"),
    ("let h = input[i32(idx) * params.C];", "i32(", "write `idx`"),
    ("let h = 1.0f * idx;", "1.0f", "write `f32(idx)`"),
    ("let h = idx / 2.0;", "2.0", "write `f32(idx)`, or `2u`"),
    ("let h = idx * 0.5;", "idx", "write `f32(idx)`"),
    ("let h = input[params.F / 2.0];", "2.0", "`params.F` is a u32: write `2u`"),
    ("let h = input[idx] & 1u;", "input", "`&` is for the bits of whole numbers, and `input[idx]` is an f32"),
    ("total--;", "total", "write `total -= 1.0`"),
    ("let h = input[idx] * idx;", "input[idx] *", "write `f32(idx)`"),
    ("let h = input[idx] * 2u;", "input[idx] *", "write `2.0`"),
    ("total = idx;", "total", "write `f32(idx)`"),
    ("total += 1u;", "total", "write `1.0`"),
    ("let h: f32 = idx;", "h:", "write `f32(idx)`"),
    ("let h: f32 = select(0, 1, idx > 3u);", "h:", "write `select(0.0, 1.0, idx > 3u)`"),
    ("let h: u32 = 0.0;", "h:", "write `0u`"),
    ("let h = input[f32(idx)];", "f32(idx)", "an index is a whole number: write `idx`"),
    ("let h = input[0.5];", "0.5", "an index must be a whole number"),
    ("if (idx == -1) { return; }", "-1", "a u32 is never negative"),
    ("while (idx >= -1) { }", "-1", "a u32 is never negative"),
    ("if (idx) { return; }", "idx)", "as in `idx != 0u`"),
    ("let h = idx > 3u && idx;", "idx >", "as in `idx != 0u`"),
    ("let h = idx == 3u || 4u;", "idx ==", "as in `i == 4u`"),
    ("let h = idx & 1u == 0u;", "idx &", "write `(idx & 1u) == 0u`"),
    ("let h = exp(idx);", "exp", "write `exp(f32(idx))`"),
    ("let h = max(input[idx], 0u);", "max", "write `0.0`"),
    ("let h = select(idx > 3u, 1.0, 2.0);", "select", "write `select(2.0, 1.0, idx > 3u)`"),
    ("output = 1.0;", "output", "is an index like [i] missing?"),
    ("output = 3.0 * input + 1.0;", "output", "is an index like [i] missing?"),
    ("total += 3.0 * input;", "input", "is an index like [i] missing?"),
    ("let h = exp(input);", "input", "is an index like [i] missing?"),
    ("let h = arrayLength(input);", "input", "write `arrayLength(&input)`"),
    ("if (input > 0.0) { return; }", "input", "is an index like [i] missing?"),
    # Letters from elsewhere
    ("let h = idx − 1u;", "−", "write `-`"),
    ("let h = idx × step;", "×", "write `*`"),
    ("if (idx ≤ step) { return; }", "≤", "write `<=`"),
    ("let h = “idx”;", "“", "is no sign of WGSL"),
    ("let h\u00a0= idx;", "\u00a0", "an invisible letter (no-break space, U+00A0)"),
    ("let h = idx\0;", "\0", "an invisible letter (nul, U+0000)"),
]

# Mistakes that take more than one line: the text from line 8 on, the line of the message, and the cure.
LONGER = [
    (MAIN + "  return\n  output[idx] = 1.0;\n}\n", 11, "a `;` is missing at the end of this line"),
    (MAIN + "  let b = 1u +\n  let c = 2u;\n}\n", 11, "it ends in `+`"),
    (
        MAIN + "  for (var b = 0u; b < 3u; b++) {\n    output[b] = 1.0;\n  output[idx] = 2.0;\n}\n",
        14,
        "begins in line 11",
    ),
    (MAIN + "  output[idx] = 1.0;\n", 11, "a `}` is missing"),
    (MAIN + "  output[idx] = 1.0;\n}\n}\n", 13, "this `}` has no partner"),
    (MAIN + "  }\n  output[idx] = 1.0;\n}\n", 12, "stands outside of every function"),
    ("fn half(x: f32) -> f32 {\n  return 0.5 * x;\n" + MAIN + "}\n", 10, "look at the block that begins in line 8"),
    (MAIN + "  let b = (1u\n    + 2u;\n}\n", 12, "the `(` in line 11, column 11 is never closed"),
    (MAIN + "  if (idx > 3u) { let q = 1u; }\n  output[idx] = f32(q);\n}\n", 12, "only inside the braces"),
    (MAIN + "  let p = q;\n  let q = 1u;\n}\n", 11, "declared only in line 12"),
    ("def half(x):\n  return x\n" + MAIN + "}\n", 8, "a function begins with `fn`"),
    ("fn half(float x) -> f32 { return x; }\n" + MAIN + "}\n", 8, "write `x: f32`"),
    ("fn half(x: f32): f32 { return x; }\n" + MAIN + "}\n", 8, "`->`"),
    (
        "fn zero() -> f32 {\n  return 0u;\n}\n" + MAIN + "}\n",
        9,
        "`zero` returns an f32, and `0u` is a u32: write `0.0`",
    ),
    ("fn zero() -> u32 {\n  let z = 0;\n  return z;\n}\n" + MAIN + "}\n", 10, "write `u32(z)`"),
    ("fn zero() -> f32 {\n  let z = 0.0;\n}\n" + MAIN + "}\n", 8, "no `return` gives one"),
    (MAIN + "  return 1.0;\n}\n", 11, "`main` returns nothing: write `return;`"),
    (MAIN + "  return 3.0 * input[idx] + 1.0;\n}\n", 11, "write the value to its place in `output`, `output[i]`"),
    (MAIN + "  var sum = 0.0;\n  return sum;\n}\n", 12, "write the value to its place in `output`"),
    (MAIN + "  if (idx > 3u) {\n    continue\n  }\n}\n", 12, "a `;` is missing"),
    ("const size = params.F;\n" + MAIN + "}\n", 8, "inside of the function"),
    *(
        (MAIN + f"  let i = global;\n  {use}\n}}\n", 12, "`i` is a vec3u, and not one number: write `let i = global.x`")
        for use in (
            "if (i >= params.F) { return; }",
            "if (i < 3) { return; }",
            "output[i] = 3.0 * input[i] + 1.0;",
            "let h = i / 3u; output[h] = 1.0;",
            "output[idx] = f32(i);",
            "output[idx] = 2.0 * i;",
            "output[idx] = exp(i);",
            "for (var k = i; k.x < 3u; k++) { }",
            "let h: u32 = i;",
        )
    ),
    (MAIN + "  if (global >= params.F) { return; }\n}\n", 11, "write `global.x` for its first number"),
    ("fn half(x: f32) -> f32 { return 0.5 * x; }\n" + MAIN + "  output[0] = half(idx);\n}\n", 12, "write `f32(idx)`"),
    (MAIN.replace("@builtin(global_invocation_id) ", "") + "}\n", 9, "`@builtin(global_invocation_id) global: vec3u`"),
    (MAIN.replace("@builtin(global_invocation_id) global: vec3u", "i") + "}\n", 9, "write `@builtin(global_invoc"),
    (MAIN.replace("vec3u", "u32") + "}\n", 9, "`global_invocation_id` is a vec3u: write `global: vec3u`"),
    (MAIN.replace("vec3u", "vec3i") + "}\n", 9, "`global_invocation_id` is a vec3u: write `global: vec3u`"),
    ("fn f(x: ptr<storage, array<f32>>) { }\n" + MAIN + "}\n", 8, "`x` cannot be a parameter"),
    ("fn f(x: f32) -> f32 { if (x > 0.0) { return x; } }\n" + MAIN + "}\n", 8, "does not return a value on every path"),
    (MAIN.replace("vec3u", "uint3") + "}\n", 9, "`vec3u`"),
    (MAIN + "  let h = local_invocation_id.x;\n}\n", 11, "must be a parameter"),
    (MAIN + "  let h = thread_position_in_grid.x;\n}\n", 11, "here it is `global`"),
    ("@group(0) @binding(0) var<storage, read> more: array<f32>;\n" + MAIN + "  output[0] = more[0];\n}\n", 8, "twice"),
    ("const a = b;\nconst b = a;\n" + MAIN + "  output[idx] = a;\n}\n", 8, "uses itself"),
    ("var<workgroup> sum: atomic<f32>;\n" + MAIN + "  atomicAdd(&sum, 1.0);\n}\n", 8, "no `atomic<f32>`"),
    (MAIN + "  let h = params[idx];\n}\n", 11, "`params` is a struct and takes no index"),
    (MAIN + "  let h = idx[2];\n}\n", 11, "`idx` is a single number"),
    (MAIN + "  let h = 3u && idx < 4u;\n}\n", 11, "a whole comparison on each side, as in `i == 3u`"),
    (MAIN + "  for (var t = 0.0; t < 3.0; t++) { }\n}\n", 11, "counts only u32 and i32; it begins as `0.0`"),
    ("/* never closed\n" + MAIN + "}\n", 8, "`*/` is missing"),
    (MAIN + "  if (idx > 3u) { return; }\n  elif (idx > 2u) { return; }\n}\n", 12, "`else if` for `elif`"),
    (MAIN + "  let h = [1.0, 2.0];\n}\n", 11, "a value must come, and `[` is none"),
    (MAIN + "  __shared__ float part[64];\n}\n", 11, "`var<workgroup> name: array<f32, 64>;`"),
    (MAIN + "  unsigned int h = idx;\n}\n", 11, "`var h: u32 = ...`"),
    ("float half(float x) { return 0.5 * x; }\n" + MAIN + "}\n", 8, "a function begins with `fn`"),
    ("fn half(x) -> f32 { return 0.5 * x; }\n" + MAIN + "}\n", 8, "write `x: f32`"),
    (MAIN + "  workgroupBarrier;\n}\n", 11, "called with parentheses"),
    (MAIN + "  let h = 256U;\n}\n", 11, "`256U` is no number"),
    (MAIN + "  let h = 1; let h = 2;\n}\n", 11, "`h` is already declared"),
    (MAIN + "  let target = 1;\n}\n", 11, "a word of WGSL's own"),
    (MAIN + "  let h = -idx;\n}\n", 11, "`-` needs an f32 or i32"),
    (MAIN + "  if (!idx) { return; }\n}\n", 11, "`!` a condition"),
    (MAIN + "  output[idx] = input(idx);\n}\n", 11, "`input` is no function; an array's element is `input[...]`"),
    (MAIN + "  output[idx] = 3.0 (f32(idx));\n}\n", 11, "an operator, such as `*`"),
    (MAIN + "  let h = idx (2u);\n}\n", 11, "an operator such as `*`"),
    (MAIN + "  let h = Params.F;\n}\n", 11, "the variable of this type is `params`"),
    (MAIN + "  let h = max(1.0);\n}\n", 11, "takes 2 values, and 1 are given"),
    (MAIN + "  let h = exp(1.0, 2.0);\n}\n", 11, "values"),
    (MAIN + "  exp(1.0);\n}\n", 11, "is not used"),
    (MAIN + "  if (idx > 3u) { break; }\n}\n", 11, "`break` stands outside of every loop"),
    (MAIN + "  output[idx] = input[-1];\n}\n", 11, "negative"),
    (MAIN + "  var part: array<f32, 3>; part[3] = 1.0;\n}\n", 11, "past the end of the array"),
    (MAIN + "  var<workgroup> part: array<f32, 3>;\n}\n", 11, "outside of every function"),
    (MAIN.replace("global_invocation_id", "thread_id") + "}\n", 9, "no builtin `thread_id`"),
    (MAIN.replace("@workgroup_size(64)", "") + "}\n", 8, "`@workgroup_size(...)` is missing"),
    (MAIN.replace("@compute @workgroup_size(64)", "") + "}\n", 9, "is `@compute` missing"),
    ("@group(0) var<storage, read> more: array<f32>;\n" + MAIN + "}\n", 8, "needs a `@binding(...)`"),
    ("var<workgroup> part: array<f32>;\n" + MAIN + "}\n", 8, "an array needs a length here"),
    ("@group(0) @binding(3) var<storage, write> more: array<f32>;\n" + MAIN + "}\n", 8, "`read` or `read_write`"),
    (MAIN + "  atomicAdd(&output[idx], 1.0);\n}\n", 11, "atomic functions change an `atomic<u32>`"),
    (MAIN + "  let h: array = input[idx];\n}\n", 11, "needs a type behind it"),
    (MAIN + "  let h: f64 = 1.0;\n}\n", 11, "not every adapter has `f64`"),
    ("const size = 3u;\n" + MAIN + "  size = 4u;\n}\n", 12, "`size` is a `const`"),
    (MAIN + "  output[global] = 1.0;\n}\n", 11, "take a part of it, such as `global.x`"),
    (MAIN + "  let p = &input; (*p)[idx] = 1.0;\n}\n", 11, "cannot be written to"),
    ("fn half(x: f32) -> f32 { return 0.5 * x; }\n" + MAIN + "  let h = half;\n}\n", 12, "is a type or a function"),
    (MAIN + "  if (dot(vec2f(), vec2f())) { return; }\n}\n", 11, "do not go together"),
    ("fn half(x: f32) -> f32 { return 0.5 * x; }\n" + MAIN + "  let h = half(1.0, 2.0);\n}\n", 12, ""),
    (MAIN + "  let h = 3.0u;\n}\n", 11, "write `3u`"),
]


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
