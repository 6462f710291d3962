// conv2d_grad_weight / 5_register_windows
//
// in        grad_output (N, Co, oH, oW), input (N, Ci, H, W)
// out       grad_weight (Co, Ci, kH, kW)
// dispatch  32 threads a workgroup; a thread for each four channels of a row
//           of both copies; one for each CHANNELS input channels, four output
//           channels, TAPS_H x TAPS_W taps and part of the outputs; one for
//           each four weights
// barriers  none: each thread writes its own results, and later passes read them
// cost      per weight of full tiles:
//           N*oH*oW/(Ci*kH*kW) + N*H*W/(Co*kH*kW)
//             + STRIPS*(KEPT*WINDOW + ROWS*(COLUMNS + NEW*WINDOW))
//               /(4*CHANNELS*TAPS_H*TAPS_W) + PARTS/4 global loads,
//           0 workgroup loads, N*oH*oW multiply-adds
// limits    channels are taken in fours: a layer with 1 has 3 zeros for each
//           pixel; a zero of the padding is multiplied too: a NaN or an
//           infinity reaches weights that saw only padding there
// new here  threads share no memory: each has many sums in registers, and
//           beside them a window that slides down the input, so that of its
//           TAPS_H rows only STRIDE are loaded anew; one load is four channels

// --- Shared with other files: convolution_sizes ---

// The layer: the launcher writes its sizes in here.
const BATCH: u32 = 2u;         // N
const IN_CHANNELS: u32 = 4u;   // Ci
const IN_H: u32 = 8u;          // H
const IN_W: u32 = 9u;          // W
const OUT_CHANNELS: u32 = 4u;  // Co
const PADDING_H: u32 = 1u;     // Ph
const PADDING_W: u32 = 1u;     // Pw
const OUT_H: u32 = 8u;         // oH
const OUT_W: u32 = 9u;         // oW

// --- In this file only: sizes ---

const KERNEL_H: u32 = 3u;      // kH
const KERNEL_W: u32 = 3u;      // kW
const STRIDE: u32 = 1u;        // S

// What a thread computes: sums for four output channels and for these.
const CHANNELS: u32 = 4u;      // input channels, at most 4
const TAPS_H: u32 = 3u;        // rows of the filter
const TAPS_W: u32 = 3u;        // columns of the filter
const COLUMNS: u32 = 4u;       // neighboring outputs at a time
const ROWS: u32 = 8u;          // outputs below each other: a strip
const RUNS: u32 = 1u;          // strips, one after the other

// The window: the input under COLUMNS outputs.
const WINDOW: u32 = (COLUMNS - 1u) * STRIDE + TAPS_W;
const KEPT: u32 = 2u;          // rows that the outputs below lie over, too
const NEW: u32 = TAPS_H - KEPT;

// How many there are of each, the last one filled up with zeros.
const VEC4S: u32 = (OUT_CHANNELS + 3u) / 4u;
const CHUNKS: u32 = (IN_CHANNELS + CHANNELS - 1u) / CHANNELS;
const TILES_H: u32 = (KERNEL_H + TAPS_H - 1u) / TAPS_H;
const TILES_W: u32 = (KERNEL_W + TAPS_W - 1u) / TAPS_W;
const BLOCKS: u32 = (OUT_H + ROWS - 1u) / ROWS;
const ACROSS: u32 = (OUT_W + COLUMNS - 1u) / COLUMNS;
const STRIPS: u32 = BATCH * BLOCKS * ACROSS;
const PARTS: u32 = (STRIPS + RUNS - 1u) / RUNS;

// The copies, the partial sums, and how many threads each pass needs.
const GRAD_H: u32 = BLOCKS * ROWS;
const GRAD_W: u32 = ACROSS * COLUMNS;
const ALL_H: u32 = TILES_H * TAPS_H;
const ALL_W: u32 = TILES_W * TAPS_W;
const COPY_H: u32 = (GRAD_H - 1u) * STRIDE + ALL_H;
const COPY_W: u32 = (GRAD_W - 1u) * STRIDE + ALL_W;
const PART: u32 = CHUNKS * CHANNELS * ALL_H * ALL_W * VEC4S;
const GRAD_ROWS: u32 = BATCH * GRAD_H * VEC4S;
const INPUT_ROWS: u32 = BATCH * COPY_H * CHUNKS;
const SUMMING: u32 = VEC4S * CHUNKS * TILES_H * TILES_W * PARTS;
const WEIGHTS: u32 = VEC4S * IN_CHANNELS * KERNEL_H * KERNEL_W;

// --- Shared with other files: conv2d_grad_weight_buffers ---

// Where a version takes G groups, a filter has Ci/G channels.
@group(0) @binding(0)
var<storage, read> grad_output: array<f32>;        // (N,Co,oH,oW)
@group(0) @binding(1)
var<storage, read> input: array<f32>;              // (N,Ci,H,W)
@group(0) @binding(2)
var<storage, read_write> grad_weight: array<f32>;  // (Co,Ci,kH,kW)

// --- In this file only: passes ---

@group(0) @binding(3)
var<storage, read_write> grad_vec4s: array<vec4f>;   // (N,GRAD_H,GRAD_W,VEC4S)
@group(0) @binding(4)
var<storage, read_write> input_vec4s: array<vec4f>;  // (N,COPY_H,COPY_W,CHUNKS)
@group(0) @binding(5)
var<storage, read_write> parts: array<vec4f>;        // (PARTS,PART)

// 1. Copy grad_output with its channels last and in fours. Behind its edges and
//    its channels lie zeros, so that the other passes test nothing.
@compute @workgroup_size(32)
fn copy_grad_output(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) thread: u32,  // [0, 32)
) {
  let index = (workgroup.y * grid.x + workgroup.x) * 32u + thread;
  if (index >= GRAD_ROWS) { return; }
  let four = index % VEC4S;
  let oh = index / VEC4S % GRAD_H;       // [0, oH) or zeros
  let n = index / (VEC4S * GRAD_H);      // [0, N)
  let read_at = ((n * OUT_CHANNELS + four * 4u) * OUT_H + oh) * OUT_W;
  let write_at = (n * GRAD_H + oh) * GRAD_W * VEC4S + four;
  for (var ow = 0u; ow < GRAD_W; ow++) { // [0, oW) or zeros
    var values = vec4f();
    for (var i = 0u; i < 4u; i++) {  // unroll
      if (oh < OUT_H && ow < OUT_W && four * 4u + i < OUT_CHANNELS) {
        values[i] = grad_output[read_at + i * OUT_H * OUT_W + ow];
      }
    }
    grad_vec4s[write_at + ow * VEC4S] = values;
  }
}

// 2. Copy the input in the same way, with its padding.
@compute @workgroup_size(32)
fn copy_input(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) thread: u32,  // [0, 32)
) {
  let index = (workgroup.y * grid.x + workgroup.x) * 32u + thread;
  if (index >= INPUT_ROWS) { return; }
  let chunk = index % CHUNKS;
  let row = index / CHUNKS % COPY_H;
  let ih = row - PADDING_H;              // [0, H) or zeros; below 0 it wraps
  let n = index / (CHUNKS * COPY_H);     // [0, N)
  let plane = n * IN_CHANNELS + chunk * CHANNELS;
  let read_at = (plane * IN_H + ih) * IN_W - PADDING_W;
  let write_at = (n * COPY_H + row) * COPY_W * CHUNKS + chunk;
  for (var column = 0u; column < COPY_W; column++) {
    let iw = column - PADDING_W;         // [0, W) or zeros; below 0 it wraps
    var values = vec4f();
    for (var i = 0u; i < CHANNELS; i++) {  // unroll
      if (ih < IN_H && iw < IN_W && chunk * CHANNELS + i < IN_CHANNELS) {
        values[i] = input[read_at + i * IN_H * IN_W + column];
      }
    }
    input_vec4s[write_at + column * CHUNKS] = values;
  }
}

// 3. What a thread has in registers: every index into it is a constant.
var<private> sums: array<array<array<vec4f, CHANNELS>, TAPS_W>, TAPS_H>;
var<private> window: array<array<vec4f, WINDOW>, TAPS_H>;
var<private> grads: array<vec4f, COLUMNS>;

fn load_grads(at: u32) {
  for (var i = 0u; i < COLUMNS; i++) {  // unroll
    grads[i] = grad_vec4s[at + i * VEC4S];
  }
}

// Load the rows that the first outputs of a strip share with those below.
fn load_top(at: u32) {
  for (var row = 0u; row < KEPT; row++) {  // unroll
    for (var i = 0u; i < WINDOW; i++) {  // unroll
      window[NEW + row][i] = input_vec4s[at + (row * COPY_W + i) * CHUNKS];
    }
  }
}

// Slide the window down: its lower rows move up, and new ones are loaded.
fn slide(at: u32) {
  for (var row = 0u; row < KEPT; row++) {  // unroll
    window[row] = window[row + NEW];
  }
  for (var row = 0u; row < NEW; row++) {  // unroll
    for (var i = 0u; i < WINDOW; i++) {  // unroll
      window[KEPT + row][i] = input_vec4s[at + (row * COPY_W + i) * CHUNKS];
    }
  }
}

fn multiply() {
  for (var kh = 0u; kh < TAPS_H; kh++) {  // unroll
    for (var ci = 0u; ci < CHANNELS; ci++) {  // unroll
      for (var kw = 0u; kw < TAPS_W; kw++) {  // unroll
        for (var i = 0u; i < COLUMNS; i++) {  // unroll
          sums[kh][kw][ci] += grads[i] * window[kh][i * STRIDE + kw][ci];
        }
      }
    }
  }
}

fn write_sums(first: u32) {
  for (var ci = 0u; ci < CHANNELS; ci++) {  // unroll
    for (var kh = 0u; kh < TAPS_H; kh++) {  // unroll
      for (var kw = 0u; kw < TAPS_W; kw++) {  // unroll
        parts[first + ((ci * ALL_H + kh) * ALL_W + kw) * VEC4S] = sums[kh][kw][ci];
      }
    }
  }
}

// 4. Walk down the strips of a part.
@compute @workgroup_size(32)
fn sum_parts(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) thread: u32,  // [0, 32)
) {
  let index = (workgroup.y * grid.x + workgroup.x) * 32u + thread;
  if (index >= SUMMING) { return; }
  let four = index % VEC4S;
  let chunk = index / VEC4S % CHUNKS;
  let kw = index / (VEC4S * CHUNKS) % TILES_W * TAPS_W;            // the first tap
  let kh = index / (VEC4S * CHUNKS * TILES_W) % TILES_H * TAPS_H;  // and its row
  let part = index / (VEC4S * CHUNKS * TILES_W * TILES_H);

  for (var strip = part * RUNS; strip < min(part * RUNS + RUNS, STRIPS); strip++) {
    let ow = strip % ACROSS * COLUMNS;
    let row = strip / ACROSS % BLOCKS * ROWS;
    let n = strip / (ACROSS * BLOCKS);
    let grad_at = ((n * GRAD_H + row) * GRAD_W + ow) * VEC4S + four;
    let first_row = n * COPY_H + row * STRIDE + kh;
    let input_at = (first_row * COPY_W + ow * STRIDE + kw) * CHUNKS + chunk;
    load_top(input_at);
    for (var i = 0u; i < ROWS; i++) {
      load_grads(grad_at + i * GRAD_W * VEC4S);
      slide(input_at + (i * STRIDE + KEPT) * COPY_W * CHUNKS);
      multiply();
    }
  }
  let first_tap = (chunk * CHANNELS * ALL_H + kh) * ALL_W + kw;
  write_sums(part * PART + first_tap * VEC4S + four);
}

// 5. Add the parts, always in the same order, and write four weights.
@compute @workgroup_size(32)
fn add_parts(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) thread: u32,  // [0, 32)
) {
  let index = (workgroup.y * grid.x + workgroup.x) * 32u + thread;
  if (index >= WEIGHTS) { return; }
  let co = index % VEC4S * 4u;                 // [0, Co), the first of four
  let weight = index / VEC4S;                  // [0, Ci*kH*kW)
  let kw = weight % KERNEL_W;                  // [0, kW)
  let kh = weight / KERNEL_W % KERNEL_H;       // [0, kH)
  let ci = weight / (KERNEL_W * KERNEL_H);     // [0, Ci)
  let at = ((ci * ALL_H + kh) * ALL_W + kw) * VEC4S + co / 4u;
  var sum = vec4f();
  for (var part = 0u; part < PARTS; part++) {
    sum += parts[part * PART + at];
  }
  let weights = IN_CHANNELS * KERNEL_H * KERNEL_W;  // of an output channel
  for (var i = 0u; i < 4u; i++) {  // unroll
    if (co + i < OUT_CHANNELS) {
      grad_weight[(co + i) * weights + weight] = sum[i];
    }
  }
}
