"""Right kernels that learners could hand in: each has the skill that its puzzle asks for, but is not the official one.

The grader must find nothing wrong with any of them.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from helpers.exercises import PUZZLES
from wgsl import Kernel

MAIN = re.compile(r"(@compute[^{]*\bfn main\()(.*?)(\) \{[^\n]*\n)(.*)\n\}\Z", re.DOTALL)
PLACE = re.compile(r"^// (?:main|(\d)(?:-(\d))?)\n", re.MULTILINE)  # as in "// main", "// 4" and "// 4-6"
STEP = re.compile(r"^ *// (\d)\. ", re.MULTILINE)


@dataclass(frozen=True)
class Variant:
    """What differs from an official kernel.

    Parameters
    ----------
    text : str
        The body of `main`. After a line such as ``// 4-6`` it is only what replaces these numbered steps; the blocks
        that the steps before them open are closed after it. What stands above that line, or above ``// main``, is
        declared before `main`. An empty body is the official one.
    takes : str
        The parameters of `main`; "" leaves them as they are.
    edits : mapping
        Pieces of the kernel, each of which is there once, and what replaces them.
    names : str
        Words, each with the one that replaces it everywhere: "k:channel sum:total".
    """

    text: str = ""
    takes: str = ""
    edits: Mapping[str, str] = field(default_factory=dict)
    names: str = ""

    def source(self, puzzle: str) -> str:
        """The whole kernel, as a learner would hand it in.

        Raises ValueError where the official kernel lacks what is to be replaced.
        """
        official = PUZZLES[puzzle].solution.text
        before, takes, start, body = MAIN.search(official).groups()
        declared = official[: official.index(before)] + self._parts[0]
        kernel = f"{declared}{before}{self.takes or takes}{start}{self._body(body)}\n}}\n"
        for old, new in self.edits.items():
            kernel = Kernel(kernel, puzzle).edit(old, new).source
        for old, new in (pair.split(":") for pair in self.names.split()):
            kernel = re.sub(rf"(?<![.@])\b{old}\b", new, kernel)
        return kernel

    @property
    def _parts(self) -> tuple[str, tuple[int, int] | None, str]:
        """What is declared before `main`, the first and last step to replace, if not all, and the body's lines."""
        text = self.text.lstrip("\n")
        place = PLACE.search(text)
        if place is None:
            return "", None, text
        first, last = place.groups()
        return text[: place.start()], first and (int(first), int(last or first)), text[place.end() :]

    def _body(self, official: str) -> str:
        """The body of `main`."""
        _, steps, lines = self._parts
        if not lines or not steps:
            return lines.rstrip() or official
        starts = {int(step[1]): step.start() for step in STEP.finditer(official)}
        above, below = official[: starts[steps[0]]], official[starts.get(steps[1] + 1, len(official)) :]
        still_open = (above + lines + below).count("{") - (above + lines + below).count("}")
        return f"{above}{lines}{'}' * still_open}\n{below}".rstrip()


def right_variants() -> Iterator[tuple[str, str, str]]:
    """Each puzzle's name with the description and the text of each of its variants, from the table of its name."""
    for puzzle in PUZZLES:
        for description, variant in globals()[puzzle.upper()].items():
            yield puzzle, description, _variant(variant).source(puzzle)


def _variant(given: Variant | str | Mapping[str, str]) -> Variant:
    """A variant, which in the tables may be its text or its edits alone."""
    if isinstance(given, Variant):
        return given
    return Variant(given) if isinstance(given, str) else Variant(edits=given)


GROUP_AND_LOCAL = "@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u"
GLOBAL_AND_COUNT = "@builtin(global_invocation_id) global: vec3u, @builtin(num_workgroups) count: vec3u"
PADDED_TILES = {
    "left: array<f32, TILE * TILE>": "left: array<array<f32, TILE + 1>, TILE>",
    "right: array<f32, TILE * TILE>": "right: array<array<f32, TILE + 1>, TILE>",
}

# --- Lesson 00 ------------------------------------------------------------------------------------------------------

MAP = {
    "other names and a let for each step": """
  let me = global.x;
  let x = input[me];
  let three_times = 3.0 * x;
  let y = three_times + 1.0;
  output[me] = y;
""",
    "a function for the formula": Variant(
        """
fn formula(x: f32) -> f32 { return 1.0 + x * 3.0; }
// main
""",
        edits={"output[i] = 3.0 * input[i] + 1.0": "output[i] = formula(input[i])"},
    ),
    "number of the workgroup times 64, and the thread's number in it": Variant(
        takes=GROUP_AND_LOCAL, edits={"global.x;": "group.x * 64u + local.x;"}
    ),
    "a let for each step, from the number of the workgroup on": Variant(
        """
  let workgroup_number = group.x;
  let thread_number = local.x;
  let first = workgroup_number * 64u;
  let i = first + thread_number;
  let count = arrayLength(&output);
  if (i >= count) { return; }
  let x = input[i];
  let three_times = 3.0 * x;
  let y = three_times + 1.0;
  output[i] = y;
""",
        takes=GROUP_AND_LOCAL,
    ),
    "two elements in each of half the threads": """
  let first = 2u * global.x;
  if (first >= arrayLength(&output)) { return; }
  output[first] = 3.0 * input[first] + 1.0;
  output[first + 1u] = 3.0 * input[first + 1u] + 1.0;
""",
    "a guard that is not needed": """
// 2
  if (i < arrayLength(&input) && i < arrayLength(&output)) {
    output[i] = input[i] * 3.0 + 1.0;
  }
""",
    "the output changed in place": """
// 2
  output[i] = input[i];
  output[i] *= 3.0;
  output[i] += 1.0;
""",
    "a signed index and the dot product of two vectors": """
  let i = i32(global.x);
  let line = vec2f(3.0, 1.0);
  output[i] = dot(line, vec2f(input[i], 1.0));
""",
    "the parameters of main in a struct, and an override": Variant(
        """
struct Ids { @builtin(global_invocation_id) global: vec3u }
override SCALE: f32 = 3.0;
// main
""",
        takes="ids: Ids",
        edits={"global.x;": "ids.global.x;", "3.0 * input": "SCALE * input"},
    ),
}

GUARD = {
    "the guard around the body": """
// 2-3
  if (i < sizes.n) {
    output[i] = 3.0 * input[i] + 1.0;
  }
""",
    "the guard with arrayLength": {"i >= sizes.n": "i >= arrayLength(&output)"},
    "a function that returns early": """
fn work_on(i: u32) {
  if (i >= sizes.n) { return; }
  output[i] = 3.0 * input[i] + 1.0;
}
// main
  work_on(global.x);
""",
    "a loop in strides of the dispatch": Variant(
        """
  for (var i = global.x; i < sizes.n; i += 64u * count.x) {
    output[i] = 3.0 * input[i] + 1.0;
  }
""",
        takes=GLOBAL_AND_COUNT,
    ),
    "signed numbers": """
// 1-2
  let i = i32(global.x);
  if (i > i32(sizes.n) - 1) { return; }
""",
    "the formula in the else-branch": """
// 2-3
  if (i >= sizes.n) {
    return;
  } else {
    var y = input[i];
    y *= 3.0;
    y += 1.0;
    output[i] = y;
  }
""",
    "a switch, and an alias": """
alias Index = u32;
// main
  let i: Index = global[0];
  switch (u32(i < sizes.n)) {
    case 1u: {
      const SCALE = 3.0;
      output[i] = SCALE * input[i] + 1.0;
    }
    default: { return; }
  }
""",
    "other names for the buffers and the struct": Variant(
        names="i:me input:numbers output:results Sizes:Size sizes:size global:id"
    ),
}

INDEX_2D = {
    "other names and a let for each step": """
  let x = global.x;
  let y = global.y;
  let width = sizes.columns;
  let height = sizes.rows;
  if (x >= width) { return; }
  if (y >= height) { return; }
  let source = y * width + x;
  let to = x * height + y;
  let value = input[source];
  output[to] = value;
""",
    "a function for the index": Variant(
        """
fn flat(row: u32, column: u32, columns: u32) -> u32 { return column + row * columns; }
// main
""",
        edits={
            "column * sizes.rows + row": "flat(column, row, sizes.rows)",
            "row * sizes.columns + column": "flat(row, column, sizes.columns)",
        },
    ),
    "vectors": """
  let place = global.yx;  // row, column
  let size = vec2u(sizes.rows, sizes.columns);
  if (any(place >= size)) { return; }
  let to = dot(place.yx, vec2u(size.x, 1u));
  output[to] = input[dot(place, vec2u(size.y, 1u))];
""",
    "the guard around the body": """
  if (global.x < sizes.columns && global.y < sizes.rows) {
    output[global.x * sizes.rows + global.y] = input[global.y * sizes.columns + global.x];
  }
""",
    "number of the workgroup times 8": Variant(
        takes=GROUP_AND_LOCAL, edits={"global.x;": "group.x * 8u + local.x;", "global.y;": "group.y * 8u + local.y;"}
    ),
    "signed numbers": """
  let column = i32(global.x);
  let row = i32(global.y);
  let rows = i32(sizes.rows);
  let columns = i32(sizes.columns);
  if (row < rows && column < columns) {
    let source = row * columns + column;
    output[column * rows + row] = input[source];
  }
""",
    "through a tile with a pad column, so that neighbors also write neighboring addresses": Variant(
        """
var<workgroup> tile: array<array<f32, 9>, 8>;
// main
  let column = group.x * 8u + local.x;
  let row = group.y * 8u + local.y;
  if (column < sizes.columns && row < sizes.rows) {
    tile[local.y][local.x] = input[row * sizes.columns + column];
  }
  workgroupBarrier();
  let to_row = group.x * 8u + local.y;
  let to_column = group.y * 8u + local.x;
  if (to_row < sizes.columns && to_column < sizes.rows) {
    output[to_row * sizes.rows + to_column] = tile[local.x][local.y];
  }
""",
        takes=GROUP_AND_LOCAL,
    ),
    "a struct for the place": """
struct Place { row: u32, column: u32 }
fn exists(place: Place) -> bool { return place.row < sizes.rows && place.column < sizes.columns; }
// main
  let here = Place(global.y, global.x);
  if (!exists(here)) { return; }
  output[here.column * sizes.rows + here.row] = input[here.row * sizes.columns + here.column];
""",
}

NEIGHBOR_DIFFERENCE = {
    "the guard around the body": """
// 2-3
  if (i < sizes.n - 1u) {
    output[i] = input[i + 1u] - input[i];
  }
""",
    "the guard with the length of the output": {"i + 1u >= sizes.n": "i >= arrayLength(&output)"},
    "a function for the difference": """
fn has_neighbor(i: u32) -> bool { return i + 1u < sizes.n; }
fn difference(i: u32) -> f32 { return -input[i] + input[i + 1u]; }
// main
  if (has_neighbor(global.x)) { output[global.x] = difference(global.x); }
""",
    "a vector of two": """
// 2-3
  if (i + 1u < arrayLength(&input)) {
    let pair = vec2f(input[i], input[i + 1u]);
    output[i] = dot(pair, vec2f(-1.0, 1.0));
  }
""",
    "the output changed in place": """
// 3
  output[i] = input[i + 1u];
  output[i] -= input[i];
""",
    "signed numbers": """
  let i = i32(global.x);
  let last = i32(sizes.n) - 1;
  if (i >= last) { return; }
  output[i] = input[i + 1] - input[i];
""",
    "each number loaded once, into workgroup memory": Variant(
        """
var<workgroup> numbers: array<f32, 65>;
// main
  let thread = local.x;
  let i = group.x * 64u + thread;
  let count = sizes.n;
  if (i < count) { numbers[thread] = input[i]; }
  let is_first = thread == 0u;
  let next = i + 64u;
  if (is_first && next < count) { numbers[64] = input[next]; }
  workgroupBarrier();
  let has_neighbor = i + 1u < count;
  if (has_neighbor) {
    let left = numbers[thread];
    let right = numbers[thread + 1u];
    output[i] = right - left;
  }
""",
        takes=GROUP_AND_LOCAL,
    ),
    "two clamped reads, and a guarded write": """
  let last = sizes.n - 1u;
  let left = input[min(global.x, last)];
  let right = input[min(global.x + 1u, last)];
  if (global.x < last) { output[global.x] = right - left; }
""",
}

# --- Convolution ----------------------------------------------------------------------------------------------------

CONV2D = {
    "signed ih and iw, each tested where it is computed": """
// 4-6
  var sum = bias[co];
  for (var ci = 0u; ci < params.Ci; ci++) {
    for (var kh = 0u; kh < params.kH; kh++) {
      let ih = i32(oh * params.S + kh) - i32(params.P);
      if (ih < 0 || ih >= i32(params.H)) { continue; }
      for (var kw = 0u; kw < params.kW; kw++) {
        let iw = i32(ow * params.S + kw) - i32(params.P);
        if (iw < 0 || iw >= i32(params.W)) { continue; }
        let input_at = ((n * params.Ci + ci) * params.H + u32(ih)) * params.W + u32(iw);
        let weight_at = ((co * params.Ci + ci) * params.kH + kh) * params.kW + kw;
        sum += input[input_at] * weight[weight_at];
      }
    }
  }
""",
    "functions for both indices": """
fn input_index(n: u32, ci: u32, ih: u32, iw: u32) -> u32 {
  return ((n * params.Ci + ci) * params.H + ih) * params.W + iw;
}

fn weight_index(co: u32, ci: u32, kh: u32, kw: u32) -> u32 {
  return ((co * params.Ci + ci) * params.kH + kh) * params.kW + kw;
}
// 6
        sum += input[input_index(n, ci, ih, iw)] * weight[weight_index(co, ci, kh, kw)];
""",
    "the loops in the order kw, kh, ci, and nested ifs": """
// 4-6
  var sum = 0.0;
  for (var kw = 0u; kw < params.kW; kw++) {
    let iw = ow * params.S + kw - params.P;
    if (iw < params.W) {
      for (var kh = 0u; kh < params.kH; kh++) {
        let ih = oh * params.S + kh - params.P;
        if (ih < params.H) {
          for (var ci = 0u; ci < params.Ci; ci++) {
            let x = input[((n * params.Ci + ci) * params.H + ih) * params.W + iw];
            let w = weight[((co * params.Ci + ci) * params.kH + kh) * params.kW + kw];
            sum += x * w;
          }
        }
      }
    }
  }
  sum += bias[co];
""",
    "select and clamped places": """
// 5-6
        let ih = oh * params.S + kh - params.P;
        let iw = ow * params.S + kw - params.P;
        let inside = ih < params.H && iw < params.W;
        let row = min(ih, params.H - 1u);
        let column = min(iw, params.W - 1u);
        let x = input[((n * params.Ci + ci) * params.H + row) * params.W + column];
        let w = weight[((co * params.Ci + ci) * params.kH + kh) * params.kW + kw];
        sum += select(0.0, x * w, inside);
""",
    "vectors of two for places": """
// 4-6
  let size = vec2u(params.H, params.W);
  let start = vec2u(oh, ow) * params.S;
  var sum = bias[co];
  for (var ci = 0u; ci < params.Ci; ci++) {
    for (var kh = 0u; kh < params.kH; kh++) {
      for (var kw = 0u; kw < params.kW; kw++) {
        let place = start + vec2u(kh, kw) - params.P;
        if (all(place < size)) {
          let input_at = ((n * params.Ci + ci) * size.x + place.x) * size.y + place.y;
          let weight_at = ((co * params.Ci + ci) * params.kH + kh) * params.kW + kw;
          sum += input[input_at] * weight[weight_at];
        }
      }
    }
  }
""",
    "a function that decodes the index into a struct": """
struct Place { n: u32, co: u32, oh: u32, ow: u32 }

fn place_of(index: u32, oH: u32, oW: u32) -> Place {
  var place: Place;
  var rest = index;
  place.ow = rest % oW;
  rest /= oW;
  place.oh = rest % oH;
  rest /= oH;
  place.co = rest % params.Co;
  place.n = rest / params.Co;
  return place;
}
// 3-5
  let place = place_of(index, oH, oW);
  let co = place.co;
  let n = place.n;
  var sum = bias[co];
  for (var ci = 0u; ci < params.Ci; ci++) {
    for (var kh = 0u; kh < params.kH; kh++) {
      let ih = place.oh * params.S + kh - params.P;
      if (ih >= params.H) { continue; }
      for (var kw = 0u; kw < params.kW; kw++) {
        let iw = place.ow * params.S + kw - params.P;
        if (iw >= params.W) { continue; }
""",
    "the sum kept in the output": {
        "var sum = bias[co];": "output[index] = bias[co];",
        "sum += input": "output[index] += input",
        "  output[index] = sum;\n": "",
    },
    "the range guarded with arrayLength, in strides of the dispatch": Variant(
        takes=GLOBAL_AND_COUNT,
        edits={
            "let index = global.x;": "var index = global.x;\n  while (index < arrayLength(&output)) {",
            "  if (index >= params.N * params.Co * oH * oW) { return; }\n": "",
            "output[index] = sum;": "output[index] = sum;\n    index += 256u * count.x;\n  }",
        },
    ),
}

WEIGHT_INDEX = {
    "one letter after the other is divided off": """
// 1
  var rest = index;
  let kw = rest % params.kW;
  rest /= params.kW;
  let kh = rest % params.kH;
  rest /= params.kH;
  let ci = rest % params.Ci;
  let co = rest / params.Ci;
""",
    "what the letters before leave over, without %": """
// 1
  let co = index / (params.Ci * params.kH * params.kW);
  let in_filter = index - co * params.Ci * params.kH * params.kW;
  let ci = in_filter / (params.kH * params.kW);
  let in_channel = in_filter - ci * params.kH * params.kW;
  let kh = in_channel / params.kW;
  let kw = in_channel - kh * params.kW;
""",
    "a function with the place of a digit": Variant(
        """
fn digit(number: u32, place: u32, base: u32) -> u32 { return number / place % base; }
// 1
  let kw = digit(index, 1u, params.kW);
  let kh = digit(index, params.kW, params.kH);
  let ci = digit(index, params.kW * params.kH, params.Ci);
  let co = digit(index, params.kW * params.kH * params.Ci, params.Co);
"""
    ),
    "a function that returns a vector, and names for its parts": """
fn decode(index: u32) -> vec4u {
  let taps = params.kH * params.kW;
  let plane = index / taps;
  return vec4u(plane / params.Ci, plane % params.Ci, index % taps / params.kW, index % params.kW);
}
// 1
  let place = decode(index);
  let co = place.x;
  let ci = place.y;
  let kh = place.z;
  let kw = place.w;
""",
    "signed numbers": """
// 1
  let i = i32(index);
  let kW = i32(params.kW);
  let taps = kW * i32(params.kH);
  let kw = i % kW;
  let kh = i % taps / kW;
  let ci = i / taps % i32(params.Ci);
  let co = i / taps / i32(params.Ci);
""",
    "declared first, and decoded within a block": """
// 1
  var co: u32;
  var ci: u32;
  var kh: u32;
  var kw: u32;
  {
    let plane = index / (params.kH * params.kW);
    co = plane / params.Ci;
    ci = plane - co * params.Ci;
    let tap = index - plane * params.kH * params.kW;
    kh = tap / params.kW;
    kw = tap - kh * params.kW;
  }
""",
}

WEIGHT_WINDOW = {
    "a let for each place": """
// 1-2
  for (var oh = 0u; oh < params.oH; oh++) {
    for (var ow = 0u; ow < params.oW; ow++) {
      let ih = oh + kh;
      let iw = ow + kw;
      let grad = grad_output[oh * params.oW + ow];
      sum = sum + grad * input[ih * params.W + iw];
    }
  }
  grad_weight[index] = sum;
""",
    "one loop over all outputs": """
// 1-2
  for (var i = 0u; i < params.oH * params.oW; i++) {
    sum += grad_output[i] * input[(i / params.oW + kh) * params.W + i % params.oW + kw];
  }
  grad_weight[index] = sum;
""",
    "the loops in the order ow, oh": """
// 1-2
  for (var ow = 0u; ow < params.oW; ow++) {
    for (var oh = 0u; oh < params.oH; oh++) {
      sum = fma(input[kw + ow + params.W * (kh + oh)], grad_output[ow + params.oW * oh], sum);
    }
  }
  grad_weight[index] = sum;
""",
    "loops over the pixels of my window": """
// 1-2
  for (var ih = kh; ih < kh + params.oH; ih++) {
    for (var iw = kw; iw < kw + params.oW; iw++) {
      sum += input[ih * params.W + iw] * grad_output[(ih - kh) * params.oW + iw - kw];
    }
  }
  grad_weight[index] = sum;
""",
    "loops over the whole image, where oh and ow follow": """
// 1-2
  for (var ih = 0; ih < i32(params.H); ih++) {
    for (var iw = 0; iw < i32(params.W); iw++) {
      let oh = ih - i32(kh);
      let ow = iw - i32(kw);
      if (oh < 0 || ow < 0 || oh >= i32(params.oH) || ow >= i32(params.oW)) { continue; }
      sum += input[ih * i32(params.W) + iw] * grad_output[oh * i32(params.oW) + ow];
    }
  }
  grad_weight[index] = sum;
""",
    "functions for both tensors, and while loops": """
fn upstream(oh: u32, ow: u32) -> f32 { return grad_output[oh * params.oW + ow]; }
fn pixel(ih: u32, iw: u32) -> f32 { return input[ih * params.W + iw]; }
// 1-2
  var oh = 0u;
  while (oh < params.oH) {
    var ow = 0u;
    while (ow < params.oW) {
      sum += upstream(oh, ow) * pixel(oh + kh, ow + kw);
      ow++;
    }
    oh++;
  }
  grad_weight[index] = sum;
""",
    "the sum kept in the output": {
        "var sum = 0.0;": "grad_weight[index] = 0.0;",
        "sum += grad_output": "grad_weight[index] += grad_output",
        "  grad_weight[index] = sum;\n": "",
    },
}

SIGNED = {  # in place of u32 that wrap around
    "let ih = oh * params.S + kh - params.Ph;": "let ih = i32(oh * params.S + kh) - i32(params.Ph);",
    "let iw = ow * params.S + kw - params.Pw;": "let iw = i32(ow * params.S + kw) - i32(params.Pw);",
}
SIGNED_SKIP = "if (ih < 0 || iw < 0 || ih >= i32(params.H) || iw >= i32(params.W)) { continue; }"
SKIP = "if (ih >= params.H || iw >= params.W) { continue; }"
PAIR = "grad_output[oh * params.oW + ow] * input[ih * params.W + iw]"

WEIGHT_PADDING = {
    "signed places, and four comparisons": SIGNED
    | {SKIP: SIGNED_SKIP, "input[ih * params.W + iw]": "input[ih * i32(params.W) + iw]"},
    "only what lies on the image is added": {
        SKIP: "if (ih < params.H && iw < params.W) {",
        f"sum += {PAIR};": f"sum += {PAIR}; }}",
    },
    "the place in the padded image, compared before the padding is subtracted": {
        "let ih = oh * params.S + kh - params.Ph;": "let row = oh * params.S + kh;",
        "let iw = ow * params.S + kw - params.Pw;": "let column = ow * params.S + kw;",
        SKIP: """if (row < params.Ph || row >= params.H + params.Ph) { continue; }
      if (column < params.Pw || column - params.Pw >= params.W) { continue; }""",
        "input[ih * params.W + iw]": "input[(row - params.Ph) * params.W + column - params.Pw]",
    },
    "select and clamped places": {
        SKIP: "let inside = ih < params.H && iw < params.W;",
        f"sum += {PAIR};": """let x = input[min(ih, params.H - 1u) * params.W + min(iw, params.W - 1u)];
      sum += select(0.0, x, inside) * grad_output[oh * params.oW + ow];""",
    },
    "a function that gives 0 in the padding": Variant(
        """
fn pixel(ih: u32, iw: u32) -> f32 {
  if (ih >= params.H || iw >= params.W) { return 0.0; }
  return input[ih * params.W + iw];
}
// main
""",
        edits={
            f"      {SKIP}\n": "",
            "* input[ih * params.W + iw];": "* pixel(ih, iw);",
        },
    ),
    "vectors of two": {
        "let ih = oh * params.S + kh - params.Ph;": """let under = vec2u(oh, ow) * params.S + vec2u(kh, kw);
      let at = under - vec2u(params.Ph, params.Pw);""",
        "      let iw = ow * params.S + kw - params.Pw;\n": "",
        SKIP: "if (any(at >= vec2u(params.H, params.W))) { continue; }",
        "input[ih * params.W + iw]": "input[at.x * params.W + at.y]",
    },
    "the edges tested one after the other": Variant(
        edits=SIGNED
        | {
            SKIP: """if (ih < 0) { continue; }
      if (iw < 0) { continue; }
      if (u32(ih) >= params.H) { break; }
      if (u32(iw) >= params.W) { break; }""",
            "input[ih * params.W + iw]": "input[u32(ih) * params.W + u32(iw)]",
        }
    ),
}

CONV2D_GRAD_WEIGHT = {
    "variables without a value, in loops": """
// 4-5
  for (var n: u32; n < params.N; n++) {
    var of_image: f32;
    for (var oh: u32; oh < out_h; oh++) {
      for (var ow: u32; ow < out_w; ow++) {
        let grad_at = ((n * params.Co + co) * out_h + oh) * out_w + ow;
        let input_at = ((n * params.Ci + ci) * params.H + oh + kh) * params.W + ow + kw;
        of_image += grad_output[grad_at] * input[input_at];
      }
    }
    sum += of_image;
  }
""",
    "functions for both indices": Variant(
        """
fn out_size(size: u32) -> u32 { return size - params.F + 1u; }
fn grad_index(n: u32, co: u32, oh: u32, ow: u32) -> u32 {
  return ow + out_size(params.W) * (oh + out_size(params.H) * (co + params.Co * n));
}
fn input_index(n: u32, ci: u32, h: u32, w: u32) -> u32 {
  return w + params.W * (h + params.H * (ci + params.Ci * n));
}
// main
""",
        edits={
            "((n * params.Co + co) * out_h + oh) * out_w + ow": "grad_index(n, co, oh, ow)",
            "((n * params.Ci + ci) * params.H + oh + kh) * params.W + ow + kw": "input_index(n, ci, oh + kh, ow + kw)",
        },
    ),
    "one loop over all products": """
// 4-5
  for (var t = 0u; t < params.N * out_h * out_w; t++) {
    let ow = t % out_w;
    let oh = t / out_w % out_h;
    let n = t / (out_w * out_h);
    let grad_at = ((n * params.Co + co) * out_h + oh) * out_w + ow;
    let input_at = ((n * params.Ci + ci) * params.H + oh + kh) * params.W + ow + kw;
    sum += grad_output[grad_at] * input[input_at];
  }
""",
    "the loops in the order ow, oh, n": """
// 4-5
  for (var ow = 0u; ow < out_w; ow++) {
    for (var oh = 0u; oh < out_h; oh++) {
      for (var n = 0u; n < params.N; n++) {
        let x = input[((n * params.Ci + ci) * params.H + oh + kh) * params.W + ow + kw];
        sum = fma(grad_output[((n * params.Co + co) * out_h + oh) * out_w + ow], x, sum);
      }
    }
  }
""",
    "running indices": """
// 4-5
  for (var n = 0u; n < params.N; n++) {
    var grad_at = (n * params.Co + co) * out_h * out_w;
    var row_at = ((n * params.Ci + ci) * params.H + kh) * params.W + kw;
    for (var oh = 0u; oh < out_h; oh++) {
      for (var ow = 0u; ow < out_w; ow++) {
        sum += grad_output[grad_at] * input[row_at + ow];
        grad_at++;
      }
      row_at += params.W;
    }
  }
""",
    "a function that decodes the index into a vector, and one for the sum of an image": """
fn decoded(index: u32) -> vec4u {  // co, ci, kh, kw
  let window = params.F * params.F;
  let plane = index / window;
  return vec4u(plane / params.Ci, plane % params.Ci, index % window / params.F, index % params.F);
}

fn of_image(n: u32, place: vec4u) -> f32 {
  let size = vec2u(params.H, params.W) - params.F + 1u;
  var sum = 0.0;
  for (var oh = 0u; oh < size.x; oh++) {
    for (var ow = 0u; ow < size.y; ow++) {
      let at = vec2u(oh, ow) + place.zw;
      let x = input[((n * params.Ci + place.y) * params.H + at.x) * params.W + at.y];
      sum += x * grad_output[((n * params.Co + place.x) * size.x + oh) * size.y + ow];
    }
  }
  return sum;
}
// main
  if (global.x >= params.Co * params.Ci * params.F * params.F) { return; }
  let place = decoded(global.x);
  var sum = 0.0;
  for (var n = 0u; n < params.N; n++) { sum += of_image(n, place); }
  grad_weight[global.x] = sum;
""",
    "four sums in a vector": """
// 4-5
  var sums = vec4f(0.0);
  for (var n = 0u; n < params.N; n++) {
    for (var oh = 0u; oh < out_h; oh++) {
      for (var ow = 0u; ow < out_w; ow++) {
        let grad_at = ((n * params.Co + co) * out_h + oh) * out_w + ow;
        let input_at = ((n * params.Ci + ci) * params.H + oh + kh) * params.W + ow + kw;
        sums[ow % 4u] += grad_output[grad_at] * input[input_at];
      }
    }
  }
  sum = dot(sums, vec4f(1.0));
""",
    "the sum kept in the output": {
        "  var sum = 0.0;\n": "  grad_weight[index] = 0.0;\n",
        "sum += grad_output": "grad_weight[index] += grad_output",
        "  grad_weight[index] = sum;\n": "",
    },
    "loops over all of the input, where oh and ow follow": """
// 4-5
  for (var n = 0u; n < params.N; n++) {
    for (var ih = 0u; ih < params.H; ih++) {
      for (var iw = 0u; iw < params.W; iw++) {
        if (ih < kh || iw < kw) { continue; }
        let oh = ih - kh;
        let ow = iw - kw;
        if (oh >= out_h || ow >= out_w) { continue; }
        let grad_at = ((n * params.Co + co) * out_h + oh) * out_w + ow;
        sum += grad_output[grad_at] * input[((n * params.Ci + ci) * params.H + ih) * params.W + iw];
      }
    }
  }
""",
}

STRIDED_GRAD_WEIGHT = {
    "other names, and a word in each line of the struct": Variant(
        names="grad_output:upstream input:image grad_weight:result index:i taps:size sum:total",
        edits={"  N: u32, Ci: u32, H: u32, W: u32,\n": "  N: u32,\n  Ci: u32,\n  H: u32,\n  W: u32,\n"},
    ),
    "workgroups in rows": Variant(
        takes="@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) grid: vec3u,"
        " @builtin(local_invocation_index) thread: u32",
        edits={"let index = global.x;": "let index = (group.y * grid.x + group.x) * 256u + thread;"},
    ),
    "signed places, and four comparisons": SIGNED
    | {
        SKIP: SIGNED_SKIP,
        "params.H + ih) * params.W + iw": "params.H + u32(ih)) * params.W + u32(iw)",
    },
    "rows of the padding skipped before the loop over ow": """
// 3-5
  var sum = 0.0;
  for (var n = 0u; n < params.N; n++) {
    for (var oh = 0u; oh < params.oH; oh++) {
      let ih = oh * params.S + kh - params.Ph;
      if (ih >= params.H) { continue; }
      let grad_row = ((n * params.Co + co) * params.oH + oh) * params.oW;
      let input_row = ((n * params.Ci + ci) * params.H + ih) * params.W;
      for (var ow = 0u; ow < params.oW; ow++) {
        let iw = ow * params.S + kw - params.Pw;
        if (iw < params.W) { sum += grad_output[grad_row + ow] * input[input_row + iw]; }
      }
    }
  }
""",
    "one loop over all outputs of the channel": """
// 3-5
  var sum = 0.0;
  let pixels = params.oH * params.oW;
  for (var t = 0u; t < params.N * pixels; t++) {
    let n = t / pixels;
    let at = t % pixels;
    let ih = at / params.oW * params.S + kh - params.Ph;
    let iw = at % params.oW * params.S + kw - params.Pw;
    if (ih >= params.H || iw >= params.W) { continue; }
    let input_at = ((n * params.Ci + ci) * params.H + ih) * params.W + iw;
    sum += grad_output[(n * params.Co + co) * pixels + at] * input[input_at];
  }
""",
    "loops over all of the input, where oh and ow follow": """
// 3-5
  var sum = 0.0;
  for (var n = 0u; n < params.N; n++) {
    for (var ih = 0u; ih < params.H; ih++) {
      let row = ih + params.Ph;
      if (row < kh || (row - kh) % params.S != 0u) { continue; }
      let oh = (row - kh) / params.S;
      if (oh >= params.oH) { continue; }
      for (var iw = 0u; iw < params.W; iw++) {
        let column = iw + params.Pw;
        if (column < kw || (column - kw) % params.S != 0u) { continue; }
        let ow = (column - kw) / params.S;
        if (ow >= params.oW) { continue; }
        let grad_at = ((n * params.Co + co) * params.oH + oh) * params.oW + ow;
        sum += grad_output[grad_at] * input[((n * params.Ci + ci) * params.H + ih) * params.W + iw];
      }
    }
  }
""",
    "functions for both offsets, and the guard around the body": """
fn upstream(n: u32, co: u32, oh: u32, ow: u32) -> f32 {
  return grad_output[((n * params.Co + co) * params.oH + oh) * params.oW + ow];
}

fn pixel(n: u32, ci: u32, ih: u32, iw: u32) -> f32 {
  if (ih >= params.H || iw >= params.W) { return 0.0; }
  return input[((n * params.Ci + ci) * params.H + ih) * params.W + iw];
}
// main
  let kw = global.x % params.kW;
  let kh = global.x / params.kW % params.kH;
  let ci = global.x / (params.kW * params.kH) % params.Ci;
  let co = global.x / (params.kW * params.kH * params.Ci);
  if (co < params.Co) {
    var sum = 0.0;
    for (var n = 0u; n < params.N; n++) {
      for (var oh = 0u; oh < params.oH; oh++) {
        for (var ow = 0u; ow < params.oW; ow++) {
          let ih = oh * params.S + kh - params.Ph;
          let iw = ow * params.S + kw - params.Pw;
          sum += upstream(n, co, oh, ow) * pixel(n, ci, ih, iw);
        }
      }
    }
    grad_weight[global.x] = sum;
  }
""",
    "the guard with arrayLength": {"index >= params.Co * params.Ci * taps": "index >= arrayLength(&grad_weight)"},
}

CONV2D_GRAD_INPUT = {
    "signed places, tested one after the other": """
// 4-5
  let S = i32(params.S);
  for (var co = 0u; co < params.Co; co++) {
    for (var kh = 0u; kh < params.kH; kh++) {
      let row = i32(ih + params.Ph) - i32(kh);
      if (row < 0 || row % S != 0) { continue; }
      let oh = u32(row / S);
      if (oh >= params.oH) { continue; }
      for (var kw = 0u; kw < params.kW; kw++) {
        let column = i32(iw + params.Pw) - i32(kw);
        if (column < 0 || column % S != 0) { continue; }
        let ow = u32(column / S);
        if (ow >= params.oW) { continue; }
""",
    "only every S-th row and column of the filter": """
// 4-6
  for (var co = 0u; co < params.Co; co++) {
    for (var kh = (ih + params.Ph) % params.S; kh < params.kH; kh += params.S) {
      for (var kw = (iw + params.Pw) % params.S; kw < params.kW; kw += params.S) {
        if (kh > ih + params.Ph || kw > iw + params.Pw) { continue; }
        let oh = (ih + params.Ph - kh) / params.S;
        let ow = (iw + params.Pw - kw) / params.S;
        if (oh < params.oH && ow < params.oW) {
          let grad_at = ((n * params.Co + co) * params.oH + oh) * params.oW + ow;
          sum += grad_output[grad_at] * weight[((co * params.Ci + ci) * params.kH + kh) * params.kW + kw];
        }
      }
    }
  }
""",
    "loops over all of the output, where kh and kw follow": """
// 4-5
  for (var co = 0u; co < params.Co; co++) {
    for (var oh = 0u; oh < params.oH; oh++) {
      let kh = ih + params.Ph - oh * params.S;
      if (kh >= params.kH) { continue; }
      for (var ow = 0u; ow < params.oW; ow++) {
        let kw = iw + params.Pw - ow * params.S;
        if (kw >= params.kW) { continue; }
""",
    "one loop over all products": """
// 4-6
  let window = params.kH * params.kW;
  for (var t = 0u; t < params.Co * window; t++) {
    let co = t / window;
    let kh = t % window / params.kW;
    let kw = t % params.kW;
    let row = ih + params.Ph - kh;
    let column = iw + params.Pw - kw;
    let oh = row / params.S;
    let ow = column / params.S;
    let is_there = oh * params.S == row && ow * params.S == column && oh < params.oH && ow < params.oW;
    if (is_there) {
      let grad_at = ((n * params.Co + co) * params.oH + oh) * params.oW + ow;
      sum += grad_output[grad_at] * weight[(co * params.Ci + ci) * window + t % window];
    }
  }
""",
    "a load-or-zero function that divides": """
fn upstream_of(n: u32, co: u32, row: i32, column: i32) -> f32 {
  if (row < 0 || column < 0) { return 0.0; }
  let place = vec2u(u32(row), u32(column));
  if (any(place % params.S != vec2u(0u))) { return 0.0; }
  let at = place / params.S;
  if (any(at >= vec2u(params.oH, params.oW))) { return 0.0; }
  return grad_output[((n * params.Co + co) * params.oH + at.x) * params.oW + at.y];
}
// 5-6
        let weight_at = ((co * params.Ci + ci) * params.kH + kh) * params.kW + kw;
        let upstream = upstream_of(n, co, i32(ih + params.Ph) - i32(kh), i32(iw + params.Pw) - i32(kw));
        sum += upstream * weight[weight_at];
""",
    "select and clamped places": """
// 5-6
        let row = ih + params.Ph - kh;
        let column = iw + params.Pw - kw;
        let whole = ((row % params.S) | (column % params.S)) == 0u;
        let inside = row / params.S < params.oH && column / params.S < params.oW;
        let oh = min(row / params.S, params.oH - 1u);
        let ow = min(column / params.S, params.oW - 1u);
        let upstream = grad_output[((n * params.Co + co) * params.oH + oh) * params.oW + ow];
        let w = weight[((co * params.Ci + ci) * params.kH + kh) * params.kW + kw];
        sum += select(0.0, upstream, whole && inside) * w;
""",
    "the sum kept in the output": {
        "var sum = 0.0;": "grad_input[index] = 0.0;",
        "sum += grad_output": "grad_input[index] += grad_output",
        "  grad_input[index] = sum;\n": "",
    },
    "loops over all of the output and of the filter, where only what meets is added": """
// 4-6
  for (var co = 0u; co < params.Co; co++) {
    for (var oh = 0u; oh < params.oH; oh++) {
      for (var ow = 0u; ow < params.oW; ow++) {
        for (var kh = 0u; kh < params.kH; kh++) {
          for (var kw = 0u; kw < params.kW; kw++) {
            if (oh * params.S + kh != ih + params.Ph || ow * params.S + kw != iw + params.Pw) { continue; }
            let grad_at = ((n * params.Co + co) * params.oH + oh) * params.oW + ow;
            sum += grad_output[grad_at] * weight[((co * params.Ci + ci) * params.kH + kh) * params.kW + kw];
          }
        }
      }
    }
  }
""",
}

CONV2D_GRAD_BIAS = {
    "other names, and the guard around the body": """
  let channel = global.x;
  if (channel < params.Co) {
    var total = 0.0;
    for (var image = 0u; image < params.N; image++) {
      for (var y = 0u; y < params.oH; y++) {
        for (var x = 0u; x < params.oW; x++) {
          let number = ((image * params.Co + channel) * params.oH + y) * params.oW + x;
          total = total + grad_output[number];
        }
      }
    }
    grad_bias[channel] = total;
  }
""",
    "one loop over all contributions": """
// 3-4
  let pixels = params.oH * params.oW;
  for (var t = 0u; t < params.N * pixels; t++) {
    let n = t / pixels;
    let ow = t % params.oW;
    let oh = t % pixels / params.oW;
    sum += grad_output[((n * params.Co + co) * params.oH + oh) * params.oW + ow];
  }
""",
    "the loops in the order ow, oh, n": """
// 3-4
  for (var ow = 0u; ow < params.oW; ow++) {
    for (var oh = 0u; oh < params.oH; oh++) {
      for (var n = 0u; n < params.N; n++) {
        sum += grad_output[ow + params.oW * (oh + params.oH * (co + params.Co * n))];
      }
    }
  }
""",
    "a function for the index": Variant(
        """
fn grad_index(n: u32, co: u32, oh: u32, ow: u32) -> u32 {
  let plane = n * params.Co + co;
  let row = plane * params.oH + oh;
  return row * params.oW + ow;
}
// main
""",
        edits={
            "        let plane = n * params.Co + co;\n": "",
            "(plane * params.oH + oh) * params.oW + ow": "grad_index(n, co, oh, ow)",
        },
    ),
    "a function for the sum of a plane, with while loops": """
fn of_plane(plane: u32) -> f32 {
  let pixels = params.oH * params.oW;
  var sum = 0.0;
  var i = 0u;
  while (i < pixels) {
    sum += grad_output[plane * pixels + i];
    i++;
  }
  return sum;
}
// 3-4
  var plane = co;
  while (plane < params.N * params.Co) {
    sum += of_plane(plane);
    plane += params.Co;
  }
""",
    "four sums in a local array": """
// 2-4
  var sums = array<f32, 4>();
  for (var n = 0u; n < params.N; n++) {
    for (var oh = 0u; oh < params.oH; oh++) {
      for (var ow = 0u; ow < params.oW; ow++) {
        let plane = n * params.Co + co;
        sums[ow % 4u] += grad_output[(plane * params.oH + oh) * params.oW + ow];
      }
    }
  }
  let sum = (sums[0] + sums[1]) + (sums[2] + sums[3]);
""",
    "four pixels at once, and the rest one by one": """
// 2-4
  let pixels = params.oH * params.oW;
  var sum = 0.0;
  for (var n = 0u; n < params.N; n++) {
    let first = (n * params.Co + co) * pixels;
    var i = 0u;
    for (; i + 4u <= pixels; i += 4u) {
      let at = first + i;
      let four = vec4f(grad_output[at], grad_output[at + 1u], grad_output[at + 2u], grad_output[at + 3u]);
      sum += dot(four, vec4f(1.0));
    }
    for (; i < pixels; i++) { sum += grad_output[first + i]; }
  }
""",
    "sums of rows through a pointer, in a loop with break": """
// 3-4
  let total = &sum;
  var n = 0u;
  loop {
    if (n == params.N) { break; }
    for (var oh = 0u; oh < params.oH; oh++) {
      var of_row = 0.0;
      let first = ((n * params.Co + co) * params.oH + oh) * params.oW;
      for (var ow = 0u; ow < params.oW; ow++) { of_row += grad_output[first + ow]; }
      *total += of_row;
    }
    n++;
  }
""",
}

# --- Sums -----------------------------------------------------------------------------------------------------------

TREE_SUM = {
    "steps in which a thread adds four sums": """
// 3
  for (var last = 64u; last > 0u; last /= 4u) {
    workgroupBarrier();
    if (thread < last) {
      let right = thread + last;
      partial[thread] += partial[right] + partial[right + last] + partial[right + 2u * last];
    }
  }
""",
    "32 threads that add eight sums, and then a tree of 32": """
// 3
  workgroupBarrier();
  if (thread < 32u) {
    for (var i = 32u; i < 256u; i += 32u) { sum += partial[thread + i]; }
    partial[thread] = sum;
  }
  for (var half = 16u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (thread < half) { partial[thread] += partial[thread + half]; }
  }
""",
    "the numbers added by half of the threads": """
// 1
  var sum = 0.0;
  for (var i = thread; i < params.n && thread < 128u; i += 128u) { sum += input[i]; }
""",
    "half shifted, and other names": Variant(
        edits={"half /= 2u": "half >>= 1u"}, names="sum:mine i:at half:distance thread:me partial:sums"
    ),
    "barriers before and after each step": """
// 3
  workgroupBarrier();
  for (var half = 128u; half >= 1u; half = half >> 1u) {
    workgroupBarrier();
    if (thread < half) { partial[thread] += partial[thread + half]; }
    workgroupBarrier();
  }
  workgroupBarrier();
""",
    "each step written out": """
// 3
  workgroupBarrier();
  if (thread < 128u) { partial[thread] += partial[thread + 128u]; }
  workgroupBarrier();
  if (thread < 64u) { partial[thread] += partial[thread + 64u]; }
  workgroupBarrier();
  if (thread < 32u) { partial[thread] += partial[thread + 32u]; }
  workgroupBarrier();
  if (thread < 16u) { partial[thread] += partial[thread + 16u]; }
  workgroupBarrier();
  if (thread < 8u) { partial[thread] += partial[thread + 8u]; }
  workgroupBarrier();
  if (thread < 4u) { partial[thread] += partial[thread + 4u]; }
  workgroupBarrier();
  if (thread < 2u) { partial[thread] += partial[thread + 2u]; }
  workgroupBarrier();
  if (thread == 0u) { partial[0] += partial[1]; }
""",
    "the own sum stays in a register": """
// 3-4
  for (var half = 128u; half > 0u; half /= 2u) {
    workgroupBarrier();
    if (thread < half) {
      sum += partial[thread + half];
      partial[thread] = sum;
    }
  }
  if (thread == 0u) { total[0] = sum; }
""",
    "every thread adds in every step, as in a butterfly": """
// 3
  for (var distance = 1u; distance < 256u; distance *= 2u) {
    workgroupBarrier();
    let other = partial[thread ^ distance];
    workgroupBarrier();
    sum += other;
    partial[thread] = sum;
  }
""",
    "the numbers in a while loop, from the last turn to the first": """
// 1
  var sum = 0.0;
  var turn = (arrayLength(&input) + 255u) / 256u;
  while (turn > 0u) {
    turn--;
    let i = turn * 256u + thread;
    sum += select(0.0, input[min(i, params.n - 1u)], i < params.n);
  }
""",
    "the sum of each thread kept in workgroup memory": """
// 1-2
  partial[thread] = 0.0;
  for (var i = thread; i < params.n; i += 256u) { partial[thread] += input[i]; }
""",
    "no barrier after the last step, and the other threads return": """
// 3-4
  workgroupBarrier();
  var half = 128u;
  while (true) {
    if (thread < half) { partial[thread] += partial[thread + half]; }
    half /= 2u;
    if (half == 0u) { break; }
    workgroupBarrier();
  }
  if (thread > 0u) { return; }
  total[thread] = partial[thread];
""",
}

# --- Products in tiles ----------------------------------------------------------------------------------------------

TILED_PRODUCT = {
    "one tile loaded by each half of the threads": """
// 3
    for (var y = local.y % 8u; y < TILE; y += 8u) {
      let to = y * TILE + local.x;
      let row = group.y * TILE + y;
      let k = first + select(y, local.x, local.y < 8u);
      if (local.y < 8u) {
        left[to] = 0.0;
        if (row < params.M && k < params.K) { left[to] = a[row * params.K + k]; }
      } else {
        right[to] = 0.0;
        if (k < params.K && n < params.N) { right[to] = b[k * params.N + n]; }
      }
    }
""",
    "other names": Variant(
        names="left:tile_of_a right:tile_of_b group:block local:thread n:column m:row slot:place first:start i:j"
    ),
    "load-or-zero functions": """
fn a_or_zero(row: u32, column: u32) -> f32 {
  if (row < params.M && column < params.K) { return a[row * params.K + column]; }
  return 0.0;
}

fn b_or_zero(row: u32, column: u32) -> f32 {
  var number = 0.0;
  if (row < params.K && column < params.N) { number = b[row * params.N + column]; }
  return number;
}
// 3
    left[slot] = a_or_zero(m, first + local.x);
    right[slot] = b_or_zero(first + local.y, n);
""",
    "the tile of b stored transposed, without a pad": {
        "right[slot] = 0.0": "right[local.x * TILE + local.y] = 0.0",
        "right[slot] = b": "right[local.x * TILE + local.y] = b",
        "right[i * TILE + local.x]": "right[local.x * TILE + i]",
    },
    "a storage barrier beside each barrier": {
        "    workgroupBarrier();\n    for": "    workgroupBarrier();\n    storageBarrier();\n    for",
        "    workgroupBarrier();\n  }": "    storageBarrier();\n    workgroupBarrier();\n  }",
    },
    "vectors of two for places": """
  let size = vec2u(params.N, params.M);
  let place = group.xy * TILE + local.xy;
  let slot = dot(local.xy, vec2u(1u, TILE));
  var sum = 0.0;
  for (var first = 0u; first < params.K; first += TILE) {
    let k = first + local.xy;
    left[slot] = 0.0;
    right[slot] = 0.0;
    if (place.y < size.y && k.x < params.K) { left[slot] = a[place.y * params.K + k.x]; }
    if (place.x < size.x && k.y < params.K) { right[slot] = b[k.y * size.x + place.x]; }
    workgroupBarrier();
    for (var i = 0u; i < TILE; i++) {
      let at = vec2u(local.y * TILE + i, i * TILE + local.x);
      sum += left[at.x] * right[at.y];
    }
    workgroupBarrier();
  }
  if (all(place < size)) { c[place.y * size.x + place.x] = sum; }
""",
    "tiles that are 32 deep, of which each thread loads two numbers": Variant(
        """
// 1-5
  let n = group.x * TILE + local.x;
  let m = group.y * TILE + local.y;
  var sum = 0.0;
  for (var first = 0u; first < params.K; first += DEPTH) {
    for (var part = 0u; part < DEPTH; part += TILE) {
      let x = part + local.x;
      let y = part + local.y;
      left[local.y * DEPTH + x] = 0.0;
      right[y * TILE + local.x] = 0.0;
      if (m < params.M && first + x < params.K) { left[local.y * DEPTH + x] = a[m * params.K + first + x]; }
      if (n < params.N && first + y < params.K) { right[y * TILE + local.x] = b[(first + y) * params.N + n]; }
    }
    workgroupBarrier();
    for (var i = 0u; i < DEPTH; i++) { sum += left[local.y * DEPTH + i] * right[i * TILE + local.x]; }
""",
        edits={
            "const TILE = 16u;": "const TILE = 16u;\nconst DEPTH = 32u;",
            "left: array<f32, TILE * TILE>": "left: array<f32, TILE * DEPTH>",
            "right: array<f32, TILE * TILE>": "right: array<f32, TILE * DEPTH>",
        },
    ),
    "a let for each subexpression": """
  let tile_column = group.x * TILE;
  let tile_row = group.y * TILE;
  let x = local.x;
  let y = local.y;
  let n = tile_column + x;
  let m = tile_row + y;
  let has_row = m < params.M;
  let has_column = n < params.N;
  let row_of_a = m * params.K;
  let row_in_tile = y * TILE;
  let slot = row_in_tile + x;
  var sum = 0.0;
  for (var first = 0u; first < params.K; first += TILE) {
    let k_left = first + x;
    let k_right = first + y;
    let is_in_a = has_row && k_left < params.K;
    let is_in_b = has_column && k_right < params.K;
    var of_a = 0.0;
    var of_b = 0.0;
    if (is_in_a) {
      let a_at = row_of_a + k_left;
      of_a = a[a_at];
    }
    if (is_in_b) {
      let row_of_b = k_right * params.N;
      let b_at = row_of_b + n;
      of_b = b[b_at];
    }
    left[slot] = of_a;
    right[slot] = of_b;
    workgroupBarrier();
    for (var i = 0u; i < TILE; i++) {
      let left_at = row_in_tile + i;
      let row_in_right = i * TILE;
      let right_at = row_in_right + x;
      let factor_of_a = left[left_at];
      let factor_of_b = right[right_at];
      let product = factor_of_a * factor_of_b;
      let new_sum = sum + product;
      sum = new_sum;
    }
    workgroupBarrier();
  }
  let is_in_c = has_row && has_column;
  if (is_in_c) {
    let row_of_c = m * params.N;
    let c_at = row_of_c + n;
    c[c_at] = sum;
  }
""",
    "one array for both tiles, and a row of left copied into registers": """
const AREA = TILE * TILE;
var<workgroup> tiles: array<f32, 2 * AREA>;
// 2-5
  var row: array<f32, TILE>;
  var sum = 0.0;
  for (var first = 0u; first < params.K; first += TILE) {
    var numbers = vec2f(0.0);
    if (m < params.M && first + local.x < params.K) { numbers[0] = a[m * params.K + first + local.x]; }
    if (n < params.N && first + local.y < params.K) { numbers[1] = b[(first + local.y) * params.N + n]; }
    tiles[slot] = numbers[0];
    tiles[AREA + slot] = numbers[1];
    workgroupBarrier();
    for (var i = 0u; i < TILE; i++) { row[i] = tiles[local.y * TILE + i]; }
    for (var i = 0u; i < TILE; i++) { sum += row[i] * tiles[AREA + i * TILE + local.x]; }
""",
}

GEMM_BWD_GRAD_PRE = {
    "other names": Variant(names="left:of_a right:of_b pre:value first:tile at:place item:image i:j"),
    "the derivative as a factor": """
// 5
  if (m >= params.M || n >= params.N) { return; }
  let at = n + params.N * (m + params.M * item);
  let derivative = f32(pre + bias[n] > 0.0);
  grad_pre[at] = derivative * grad[at];
""",
    "a function for the derivative, by the sign": Variant(
        """
fn derivative(x: f32) -> f32 { return max(sign(x), 0.0); }
// main
""",
        edits={"select(0.0, grad[at], pre + bias[n] > 0.0)": "grad[at] * derivative(pre + bias[n])"},
    ),
    "grad loaded only where it is needed": """
// 5
  if (m < params.M && n < params.N) {
    let at = (item * params.M + m) * params.N + n;
    var result = 0.0;
    pre += bias[n];
    if (pre > 0.0) { result = grad[at]; }
    grad_pre[at] = result;
  }
""",
    "tiles as arrays of rows with a pad, and a slot through pointers": Variant(
        """
// 1-3
    let into_left = &left[local.y][local.x];
    let into_right = &right[local.y][local.x];
    *into_left = read_a(item, m, first + local.x);
    *into_right = read_b(first + local.y, n);
    workgroupBarrier();
    let row = &left[local.y];
    for (var i = 0u; i < TILE; i++) { pre = fma((*row)[i], right[i][local.x], pre); }
""",
        edits=PADDED_TILES,
    ),
    "two products at once, in a vector of sums": """
// 3
    var sums = vec2f(0.0, 0.0);
    for (var i = 0u; i < TILE; i += 2u) {
      let l = local.y * TILE + i;
      let r = i * TILE + local.x;
      sums += vec2f(left[l], left[l + 1u]) * vec2f(right[r], right[r + TILE]);
    }
    pre += sums.x + sums.y;
""",
    "more barriers than needed, and a flag for the edges": """
// 1-5
    workgroupBarrier();
    left[local.y * TILE + local.x] = read_a(item, m, first + local.x);
    workgroupBarrier();
    right[local.y * TILE + local.x] = read_b(first + local.y, n);
    workgroupBarrier();
    for (var i = TILE; i > 0u; i--) {
      let k = i - 1u;
      pre += left[local.y * TILE + k] * right[k * TILE + local.x];
    }
    workgroupBarrier();
  }
  let exists = m < params.M && n < params.N;
  if (!exists) { return; }
  let at = (item * params.M + m) * params.N + n;
  let is_positive = pre + bias[n] > 0.0;
  grad_pre[at] = select(0.0, grad[at], is_positive);
""",
    "the sum, bias and grad behind the loop in a let each": """
// 5
  let inside = m < params.M && n < params.N;
  let at = select(0u, (item * params.M + m) * params.N + n, inside);
  let b_n = bias[min(n, params.N - 1u)];
  let x = pre + b_n;
  let upstream = grad[at];
  let result = upstream * select(0.0, 1.0, x > 0.0);
  if (inside) { grad_pre[at] = result; }
""",
}

GEMM_BWD_DA = {
    "other names": Variant(names="left:upstream right:weights load_k:row sum:total first:start i:j item:image"),
    "the tile of b as it lies, read along its rows": """
// 2-4
    right[local.y * TILE + local.x] = read_b(group.x * TILE + local.y, first + local.x);
    workgroupBarrier();
    for (var i = 0u; i < TILE; i++) {
      sum += left[local.y * TILE + i] * right[local.x * TILE + i];
    }
""",
    "the tile of b as it lies, in rows with a pad": Variant(
        """
// 1-4
    left[local.y][local.x] = read_grad_pre(item, m, first + local.x);
    right[local.y][local.x] = read_b(group.x * TILE + local.y, first + local.x);
    workgroupBarrier();
    for (var i = 0u; i < TILE; i++) { sum = fma(left[local.y][i], right[local.x][i], sum); }
""",
        edits=PADDED_TILES,
    ),
    "select and clamped places": """
// 1-2
    let n = first + local.x;
    let load_k = group.x * TILE + local.y;
    let n_inside = min(n, params.N - 1u);
    let upstream = grad_pre[(item * params.M + min(m, params.M - 1u)) * params.N + n_inside];
    let weight = b[min(load_k, params.K - 1u) * params.N + n_inside];
    left[local.y * TILE + local.x] = select(0.0, upstream, m < params.M && n < params.N);
    right[local.x * TILE + local.y] = select(0.0, weight, load_k < params.K && n < params.N);
""",
    "a while loop with running places": """
  let k = group.x * TILE + local.x;
  let m = group.y * TILE + local.y;
  let b_row = group.x * TILE + local.y;
  let upstream_row = (group.z * params.M + m) * params.N;
  var n = local.x;
  var first = 0u;
  var sum = 0.0;
  while (first < params.N) {
    if (m < params.M && n < params.N) { left[local.y * TILE + local.x] = grad_pre[upstream_row + n]; }
    else { left[local.y * TILE + local.x] = 0.0; }
    if (b_row < params.K && n < params.N) { right[local.x * TILE + local.y] = b[b_row * params.N + n]; }
    else { right[local.x * TILE + local.y] = 0.0; }
    workgroupBarrier();
    for (var i = 0u; i < TILE; i++) { sum += left[local.y * TILE + i] * right[i * TILE + local.x]; }
    workgroupBarrier();
    n += TILE;
    first += TILE;
  }
  if (m < params.M && k < params.K) { d_a[(group.z * params.M + m) * params.K + k] = sum; }
""",
    "the loads in another order, and more barriers": """
// 1-4
    right[local.x * TILE + local.y] = read_b(group.x * TILE + local.y, local.x + first);
    workgroupBarrier();
    left[local.x + local.y * TILE] = read_grad_pre(item, m, local.x + first);
    workgroupBarrier();
    for (var i = TILE; i > 0u; i--) { sum += right[(i - 1u) * TILE + local.x] * left[local.y * TILE + i - 1u]; }
    workgroupBarrier();
""",
    "four products at once": """
// 4
    for (var i = 0u; i < TILE; i += 4u) {
      let l = local.y * TILE + i;
      let r = i * TILE + local.x;
      sum += left[l] * right[r] + left[l + 1u] * right[r + TILE];
      sum += left[l + 2u] * right[r + 2u * TILE] + left[l + 3u] * right[r + 3u * TILE];
    }
""",
    "two pairs of tiles in turns, and the products in a function": Variant(
        """
fn products(pair: u32, x: u32, y: u32) -> f32 {
  var sum = 0.0;
  for (var i = 0u; i < TILE; i++) { sum += left[pair][y][i] * right[pair][i][x]; }
  return sum;
}
// 1-5
    let pair = (first / TILE) & 1u;
    left[pair][local.y][local.x] = read_grad_pre(item, m, first + local.x);
    right[pair][local.x][local.y] = read_b(group.x * TILE + local.y, first + local.x);
    workgroupBarrier();
    sum += products(pair, local.x, local.y);
""",
        edits={
            "left: array<f32, TILE * TILE>": "left: array<array<array<f32, TILE>, TILE>, 2>",
            "right: array<f32, TILE * TILE>": "right: array<array<array<f32, TILE>, TILE>, 2>",
        },
    ),
}

GEMM_BWD_DB = {
    "other names": Variant(names="left:tile_of_a right:upstream load_k:column sum:total first:start i:j item:image"),
    "all items as one tall matrix": """
// 1-5
  let rows = params.batch * params.M;
  for (var first = 0u; first < rows; first += TILE) {
    let row = first + local.y;
    let load_k = group.y * TILE + local.x;
    left[local.x * TILE + local.y] = 0.0;
    right[local.y * TILE + local.x] = 0.0;
    if (row < rows) {
      if (load_k < params.K) { left[local.x * TILE + local.y] = a[row * params.K + load_k]; }
      if (n < params.N) { right[local.y * TILE + local.x] = grad_pre[row * params.N + n]; }
    }
    workgroupBarrier();
    for (var i = 0u; i < TILE; i++) { sum += left[local.y * TILE + i] * right[i * TILE + local.x]; }
    workgroupBarrier();
  }
""",
    "the loop over tiles around that over items": """
// 1
  for (var first = 0u; first < params.M; first += TILE) {
    for (var item = 0u; item < params.batch; item++) {
""",
    "the tile of a as it lies, read along its columns": """
// 2-4
      let load_k = group.y * TILE + local.x;
      let m = first + local.y;
      let slot = local.y * TILE + local.x;
      left[slot] = read_a(item, m, load_k);
      right[slot] = read_grad_pre(item, m, n);
      workgroupBarrier();
      for (var i = 0u; i < TILE; i++) {
        sum += left[i * TILE + local.y] * right[i * TILE + local.x];
      }
""",
    "tiles in rows with a pad": Variant(
        """
// 2-4
      left[local.x][local.y] = read_a(item, first + local.y, group.y * TILE + local.x);
      right[local.y][local.x] = read_grad_pre(item, first + local.y, n);
      workgroupBarrier();
      for (var i = 0u; i < TILE; i++) { sum = fma(left[local.y][i], right[i][local.x], sum); }
""",
        edits=PADDED_TILES,
    ),
    "while loops, and a sum for each item": """
// 1-5
  var item = 0u;
  while (item < params.batch) {
    var of_item = 0.0;
    var first = 0u;
    while (first < params.M) {
      left[local.x * TILE + local.y] = read_a(item, first + local.y, group.y * TILE + local.x);
      right[local.y * TILE + local.x] = read_grad_pre(item, first + local.y, n);
      workgroupBarrier();
      var i = 0u;
      while (i < TILE) {
        of_item += left[local.y * TILE + i] * right[i * TILE + local.x];
        i++;
      }
      workgroupBarrier();
      first += TILE;
    }
    sum += of_item;
    item++;
  }
""",
    "loops with break, and only as many products as are left": """
// 1-5
  var item = 0u;
  loop {
    if (item == params.batch) { break; }
    for (var first = 0u; first < params.M; first += TILE) {
      let load_k = group.y * TILE + local.x;
      left[local.x * TILE + local.y] = read_a(item, first + local.y, load_k);
      right[local.y * TILE + local.x] = read_grad_pre(item, first + local.y, n);
      workgroupBarrier();
      for (var i = 0u; i < TILE; i++) {
        if (first + i >= params.M) { break; }
        sum += left[local.y * TILE + i] * right[i * TILE + local.x];
      }
      workgroupBarrier();
    }
    continuing { item++; }
  }
""",
    "four products at once, and the edge with a return": """
// 4-6
      for (var i = 0u; i < TILE; i += 4u) {
        let l = local.y * TILE + i;
        let r = vec4u(i, i + 1u, i + 2u, i + 3u) * TILE + local.x;
        let of_a = vec4f(left[l], left[l + 1u], left[l + 2u], left[l + 3u]);
        sum += dot(of_a, vec4f(right[r.x], right[r.y], right[r.z], right[r.w]));
      }
      workgroupBarrier();
    }
  }
  if (k >= params.K) { return; }
  if (n >= params.N) { return; }
  d_b[n + k * params.N] = sum;
""",
}

GEMM_BWD_DBIAS = {
    "other names, and the guard around the body": """
  let column = global.x;
  let columns = params.N;
  if (column < columns) {
    var total = 0.0;
    let rows = params.M * params.batch;
    for (var r = 0u; r < rows; r++) {
      let place = r * columns + column;
      let upstream = grad_pre[place];
      total = total + upstream;
    }
    d_bias[column] = total;
  }
""",
    "a loop over items, and one over rows": """
// 2
  var sum = 0.0;
  for (var item = 0u; item < params.batch; item++) {
    for (var m = 0u; m < params.M; m++) {
      sum += grad_pre[(item * params.M + m) * params.N + n];
    }
  }
""",
    "a running place up to the length of the array": """
// 2
  var sum = 0.0;
  for (var at = n; at < arrayLength(&grad_pre); at += params.N) { sum += grad_pre[at]; }
""",
    "rows counted down": """
// 2
  var sum = 0.0;
  for (var rows = params.batch * params.M; rows > 0u; rows--) { sum += grad_pre[(rows - 1u) * params.N + n]; }
""",
    "functions for the place and for an item": """
fn place(item: u32, m: u32, n: u32) -> u32 { return (item * params.M + m) * params.N + n; }

fn of_item(item: u32, n: u32) -> f32 {
  var sum = 0.0;
  for (var m = 0u; m < params.M; m++) { sum += grad_pre[place(item, m, n)]; }
  return sum;
}
// main
  if (global.x >= arrayLength(&d_bias)) { return; }
  var sum = 0.0;
  for (var item = 0u; item < params.batch; item++) { sum += of_item(item, global.x); }
  d_bias[global.x] = sum;
""",
    "four sums in a vector": """
// 2
  var sums = vec4f(0.0);
  for (var row = 0u; row < params.batch * params.M; row++) {
    sums[row % 4u] += grad_pre[row * params.N + n];
  }
  let sum = sums.x + sums.y + sums.z + sums.w;
""",
    "two rows at once, in a loop with break": """
// 2
  let rows = params.batch * params.M;
  var sum = 0.0;
  var row = 0u;
  loop {
    if (row + 1u >= rows) { break; }
    sum += grad_pre[row * params.N + n] + grad_pre[(row + 1u) * params.N + n];
    row += 2u;
  }
  if (row < rows) { sum += grad_pre[row * params.N + n]; }
""",
    "the sum kept in the output": {
        "var sum = 0.0;": "d_bias[n] = 0.0;",
        "sum +=": "d_bias[n] +=",
        "  d_bias[n] = sum;\n": "",
    },
}

REGISTER_TILE = {
    "other names": Variant(
        names="left_0:upper left_1:lower right_0:west right_1:east sums:results m:y_of_c n:x_of_c i:corner row:top"
    ),
    "vectors of two, and early returns at the edges": """
  let corner = 2u * local.xy;
  var upper = vec2f();
  var lower = vec2f();
  for (var first = 0u; first < params.K; first += TILE) {
    load_tiles(thread, group.y * TILE, group.x * TILE, first);
    workgroupBarrier();
    for (var k = 0u; k < TILE; k++) {
      let of_b = vec2f(right[k][corner.x], right[k][corner.x + 1u]);
      upper += left[corner.y][k] * of_b;
      lower += left[corner.y + 1u][k] * of_b;
    }
    workgroupBarrier();
  }
  let m = group.y * TILE + corner.y;
  let n = group.x * TILE + corner.x;
  if (m >= params.M || n >= params.N) { return; }
  let is_two_wide = n + 1u < params.N;
  c[m * params.N + n] = upper.x;
  if (is_two_wide) { c[m * params.N + n + 1u] = upper.y; }
  if (m + 1u == params.M) { return; }
  c[(m + 1u) * params.N + n] = lower.x;
  if (is_two_wide) { c[(m + 1u) * params.N + n + 1u] = lower.y; }
""",
    "arrays of two and loops over them": """
  let row = 2u * local.y;
  let column = 2u * local.x;
  var sums = array<array<f32, 2>, 2>();
  for (var first = 0u; first < params.K; first += TILE) {
    load_tiles(thread, group.y * TILE, group.x * TILE, first);
    workgroupBarrier();
    for (var k = 0u; k < TILE; k++) {
      var of_a = array<f32, 2>();
      var of_b = array<f32, 2>();
      for (var i = 0u; i < 2u; i++) {
        of_a[i] = left[row + i][k];
        of_b[i] = right[k][column + i];
      }
      for (var i = 0u; i < 2u; i++) {
        for (var j = 0u; j < 2u; j++) { sums[i][j] += of_a[i] * of_b[j]; }
      }
    }
    workgroupBarrier();
  }
  for (var i = 0u; i < 2u; i++) {
    for (var j = 0u; j < 2u; j++) {
      let m = group.y * TILE + row + i;
      let n = group.x * TILE + column + j;
      if (m < params.M && n < params.N) { c[m * params.N + n] = sums[i][j]; }
    }
  }
""",
    "a function that writes one result": """
fn store(m: u32, n: u32, sum: f32) {
  if (m >= params.M) { return; }
  if (n >= params.N) { return; }
  c[m * params.N + n] = sum;
}
// 4
  let m = group.y * TILE + row;
  let n = group.x * TILE + column;
  store(m, n, sums[0]);
  store(m, n + 1u, sums[1]);
  store(m + 1u, n, sums[2]);
  store(m + 1u, n + 1u, sums[3]);
""",
    "a loop along the tile that counts down": {
        "for (var k = 0u; k < TILE; k++) {": "for (var i = TILE; i > 0u; i--) {\n      let k = i - 1u;"
    },
    "own loads with if and else, and tiles counted by their number": """
fn a_or_zero(m: u32, k: u32) -> f32 {
  if (m < params.M && k < params.K) { return a[m * params.K + k]; } else { return 0.0; }
}

fn b_or_zero(k: u32, n: u32) -> f32 {
  if (k < params.K && n < params.N) { return b[k * params.N + n]; } else { return 0.0; }
}
// main
  let row = 2u * local.y;
  let column = 2u * local.x;
  let x = thread % TILE;
  let y = thread / TILE;
  var sums = array<f32, 4>();
  let tiles = (params.K + TILE - 1u) / TILE;
  for (var t = 0u; t < tiles; t++) {
    for (var part = 0u; part < TILE; part += SIDE * SIDE / TILE) {
      left[y + part][x] = a_or_zero(group.y * TILE + y + part, t * TILE + x);
      right[y + part][x] = b_or_zero(t * TILE + y + part, group.x * TILE + x);
    }
    workgroupBarrier();
    for (var k = 0u; k < TILE; k++) {
      let left_0 = left[row][k];
      let left_1 = left[row + 1u][k];
      let right_0 = right[k][column];
      let right_1 = right[k][column + 1u];
      sums[0] += left_0 * right_0;
      sums[1] += left_0 * right_1;
      sums[2] += left_1 * right_0;
      sums[3] += left_1 * right_1;
    }
    workgroupBarrier();
  }
  for (var i = 0u; i < 4u; i++) {
    let place = group.yx * TILE + vec2u(row, column) + vec2u(i / 2u, i % 2u);
    if (all(place < vec2u(params.M, params.N))) { c[place.x * params.N + place.y] = sums[i]; }
  }
""",
    "tiles of pairs, so that each pair is one load": """
var<workgroup> pairs_of_a: array<array<vec2f, TILE>, SIDE>;  // [row / 2][k]: two rows
var<workgroup> pairs_of_b: array<array<vec2f, SIDE>, TILE>;  // [k][column / 2]: two columns

fn a_at(m: u32, k: u32) -> f32 {
  if (m < params.M && k < params.K) { return a[m * params.K + k]; }
  return 0.0;
}

fn b_at(k: u32, n: u32) -> f32 {
  if (k < params.K && n < params.N) { return b[k * params.N + n]; }
  return 0.0;
}

fn load_pairs(thread: u32, row: u32, column: u32, first: u32) {
  for (var slot = thread; slot < TILE * SIDE; slot += SIDE * SIDE) {
    let m = row + slot / TILE * 2u;
    let k = first + slot % TILE;
    pairs_of_a[slot / TILE][slot % TILE] = vec2f(a_at(m, k), a_at(m + 1u, k));
    let n = column + slot % SIDE * 2u;
    let k_of_b = first + slot / SIDE;
    pairs_of_b[slot / SIDE][slot % SIDE] = vec2f(b_at(k_of_b, n), b_at(k_of_b, n + 1u));
  }
}
// main
  var upper = vec2f();
  var lower = vec2f();
  for (var first = 0u; first < params.K; first += TILE) {
    load_pairs(thread, group.y * TILE, group.x * TILE, first);
    workgroupBarrier();
    for (var k = 0u; k < TILE; k++) {
      let of_a = pairs_of_a[local.y][k];
      let of_b = pairs_of_b[k][local.x];
      upper += of_a.x * of_b;
      lower += of_a.y * of_b;
    }
    workgroupBarrier();
  }
  let m = group.y * TILE + 2u * local.y;
  let n = group.x * TILE + 2u * local.x;
  let sums = array<f32, 4>(upper.x, upper.y, lower.x, lower.y);
  for (var i = 0u; i < 4u; i++) {
    let y = m + i / 2u;
    let x = n + i % 2u;
    if (y < params.M && x < params.N) { c[y * params.N + x] = sums[i]; }
  }
""",
    "a let for each subexpression": """
// 2-3
      let next_row = row + 1u;
      let next_column = column + 1u;
      let left_0 = left[row][k];
      let right_0 = right[k][column];
      let product_00 = left_0 * right_0;
      let sum_00 = sums[0] + product_00;
      sums[0] = sum_00;
      let right_1 = right[k][next_column];
      let product_01 = left_0 * right_1;
      let sum_01 = sums[1] + product_01;
      sums[1] = sum_01;
      let left_1 = left[next_row][k];
      let product_10 = left_1 * right_0;
      let sum_10 = sums[2] + product_10;
      sums[2] = sum_10;
      let product_11 = left_1 * right_1;
      let sum_11 = sums[3] + product_11;
      sums[3] = sum_11;
    }
    workgroupBarrier();
""",
}

# --- Lesson 07 ------------------------------------------------------------------------------------------------------

MAX_POOL2D_BACKWARD = {
    "other names, and a function that decides": Variant(
        """
fn is_first(place: u32, value: f32, plane: u32, top: u32, left: u32) -> bool {
  for (var other = 0u; other < params.k * params.k; other++) {
    let y = top + other / params.k - params.P;
    let x = left + other % params.k - params.P;
    if (y < params.H && x < params.W) {
      let rival = input[(plane * params.H + y) * params.W + x];
      if (rival > value) { return false; }
      if (rival == value && other < place) { return false; }
    }
  }
  return true;
}
// 5-6
      if (is_first(kh * params.k + kw, mine, plane, row, column)) {
        sum += grad_output[(plane * params.oH + oh) * params.oW + ow];
      }
""",
        names="mine:value sum:total row:from_row column:from_column",
    ),
    "two loops over the window, and a count of the rivals": """
// 5-6
      var rivals = 0u;
      for (var i = 0u; i < params.k; i++) {
        for (var j = 0u; j < params.k; j++) {
          let y = i32(row + i) - i32(params.P);
          let x = i32(column + j) - i32(params.P);
          if (y < 0 || x < 0 || y >= i32(params.H) || x >= i32(params.W)) { continue; }
          let other = input[(plane * params.H + u32(y)) * params.W + u32(x)];
          let earlier = i < kh || (i == kh && j < kw);
          rivals += u32(other > mine) + u32(other == mine && earlier);
        }
      }
      if (rivals == 0u) { sum += grad_output[(plane * params.oH + oh) * params.oW + ow]; }
""",
    "the place of the maximum, as the forward pass finds it": """
// 5-6
      var best = -3.0e38;
      var place = 0u;
      for (var i = 0u; i < params.k * params.k; i++) {
        let y = row + i / params.k - params.P;
        let x = column + i % params.k - params.P;
        if (y >= params.H || x >= params.W) { continue; }
        let pixel = input[(plane * params.H + y) * params.W + x];
        if (pixel > best) {
          best = pixel;
          place = (plane * params.H + y) * params.W + x;
        }
      }
      if (place == index) { sum += grad_output[(plane * params.oH + oh) * params.oW + ow]; }
""",
    "loops over the windows from the first to the last that have the pixel": """
// 3-6
  let top = ih + params.P;
  let left = iw + params.P;
  let first_h = select(0u, (top - params.k) / params.S + 1u, top >= params.k);
  let first_w = select(0u, (left - params.k) / params.S + 1u, left >= params.k);
  for (var oh = first_h; oh <= min(top / params.S, params.oH - 1u); oh++) {
    for (var ow = first_w; ow <= min(left / params.S, params.oW - 1u); ow++) {
      let place = (top - oh * params.S) * params.k + left - ow * params.S;
      var wins = true;
      for (var i = 0u; i < params.k * params.k; i++) {
        let y = oh * params.S + i / params.k - params.P;
        let x = ow * params.S + i % params.k - params.P;
        if (y >= params.H || x >= params.W) { continue; }
        let rival = input[(plane * params.H + y) * params.W + x];
        wins = wins && rival <= mine && (rival < mine || i >= place);
      }
      if (wins) { sum += grad_output[(plane * params.oH + oh) * params.oW + ow]; }
    }
  }
""",
    "the guard around the body, and select": """
  let index = global.x;
  if (index < arrayLength(&grad_input)) {
    let area = params.H * params.W;
    let plane = index / area;
    let ih = index % area / params.W;
    let iw = index % params.W;
    var sum = 0.0;
    for (var place = 0u; place < params.k * params.k; place++) {
      let row = ih + params.P - place / params.k;
      let column = iw + params.P - place % params.k;
      let oh = row / params.S;
      let ow = column / params.S;
      if (oh * params.S != row || ow * params.S != column) { continue; }
      if (oh >= params.oH || ow >= params.oW) { continue; }
      var wins = 1.0;
      for (var i = 0u; i < params.k * params.k; i++) {
        let y = row + i / params.k - params.P;
        let x = column + i % params.k - params.P;
        if (y >= params.H || x >= params.W) { continue; }
        let rival = input[plane * area + y * params.W + x];
        wins = select(wins, 0.0, rival > input[index] || (rival == input[index] && i < place));
      }
      sum += wins * grad_output[(plane * params.oH + oh) * params.oW + ow];
    }
    grad_input[index] = sum;
  }
""",
}
