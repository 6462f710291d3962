// conv2d_grad_input / 4_residue_classes
//
// in        grad_output (N, Co, oH, oW), weight (Co, Ci, kH, kW)
// out       grad_input (N, Ci, H, W)
// dispatch  one thread for 4 weights of the padded matrix; then for each class,
//           each of its PIECES and each tile of TILE_M channels x TILE_N pixels
//           one workgroup of TILE_M/8 * TILE_N/8 threads; then one thread
//           for each pixel
// barriers  one before a product: a thread multiplies what others loaded;
//           one after it: no thread may still read the old tile
// cost      per pixel of full tiles, with PIECES = 1 and steps of whole taps:
//           Co*kH*kW*(1/TILE_M + 1/(4*TILE_N) + S*S/(N*H*W))/(S*S) + 1
//           global loads,
//           Co*kH*kW/(16*S*S) workgroup loads, Co*kH*kW/(S*S) multiply-adds
// limits    S > 1: at stride 1 there is one class, and 3_implicit_gemm has no
//           third pass; a zero of the border is multiplied too, so that a weight
//           of NaN or infinity reaches pixels at the border
// new here  pixels whose rows and columns leave the same rests when divided by
//           the stride use the same taps, and no others: S*S classes, each a
//           product of stride 1 without a wasted tap

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

// --- Shared with other files: vec4_tiles ---

// The tiles: rows of vec4f. Where an index is a constant, as k is in
// `multiply`, an array of rows saves what one flat array would have to check.
const TILE_M: u32 = 64u;  // rows of a workgroup
const TILE_N: u32 = 64u;  // columns of a workgroup
const TILE_K: u32 = 16u;  // products between two barriers
const THREADS: u32 = TILE_M / 8u * TILE_N / 8u;
const A_VEC4S: u32 = TILE_M / 4u;
const B_VEC4S: u32 = TILE_N / 4u;
const A_LOADS: u32 = TILE_K * A_VEC4S / THREADS;  // vec4s that one thread loads
const B_LOADS: u32 = TILE_K * B_VEC4S / THREADS;

var<private> sums: array<vec4f, 16>;  // 8 rows of 2 vec4s, in registers
var<private> next_left: array<vec4f, A_LOADS>;
var<private> next_right: array<vec4f, B_LOADS>;

// --- In this file only: sizes ---

// The layer's filters: the launcher writes their sizes in here, too.
const KERNEL_H: u32 = 3u;       // kH
const KERNEL_W: u32 = 3u;       // kW
const STRIDE: u32 = 2u;         // S

const PLANE: u32 = OUT_H * OUT_W;           // outputs of a channel

// Class (rh, rw) has the pixels with (ih + Ph) % S = rh and (iw + Pw) % S = rw,
// and the taps kh = rh, rh + S, ... and kw = rw, rw + S, ... Every class has as
// many rows and columns of pixels as the largest one: what comes out for those
// behind the image is not read again.
const CLASS_ROWS = min(STRIDE, KERNEL_H);  // the others have no taps
const CLASS_COLUMNS = min(STRIDE, KERNEL_W);
const CLASS_H: u32 = (IN_H + STRIDE - 1u) / STRIDE;
const CLASS_W: u32 = (IN_W + STRIDE - 1u) / STRIDE;
const PIXELS: u32 = BATCH * CLASS_H * CLASS_W;     // columns of one class

// The sum over k: first all channels of the first tap, then those of the next, ...
// RUN is Co or the next multiple of TILE_K, so that no step has two taps.
const RUN: u32 = 16u;
const STEPS: u32 = 9u;          // of TILE_K products each, for all taps
const PIECES: u32 = 1u;         // workgroups that share the sum of the first class
const PIECE_STEPS: u32 = 9u;    // of each; the other classes have fewer

const PAD: u32 = 0u;            // vec4s behind each row, stored as it lies
const ALIGNED: bool = false;    // are all tiles full?
const A_EVERY: u32 = THREADS / A_VEC4S;    // from one k of a thread to its next
const B_EVERY: u32 = THREADS / B_VEC4S;
const TAP_STEPS: u32 = RUN / TILE_K;
const ROW_TILES: u32 = (IN_CHANNELS + TILE_M - 1u) / TILE_M;
const M_VEC4S: u32 = ROW_TILES * A_VEC4S;  // of one k in weights_by_k
const INPUTS: u32 = BATCH * IN_CHANNELS * IN_H * IN_W;
const CLASS_INPUTS: u32 = IN_CHANNELS * PIXELS;  // of one piece of parts

// --- Shared with other files: conv2d_grad_input_buffers ---

// Where a version takes G groups, a filter has Ci/G channels.
@group(0) @binding(0)
var<storage, read> grad_output: array<f32>;       // (N,Co,oH,oW)
@group(0) @binding(1)
var<storage, read> weight: array<f32>;            // (Co,Ci,kH,kW)
@group(0) @binding(2)
var<storage, read_write> grad_input: array<f32>;  // (N,Ci,H,W)

// --- In this file only: passes ---

@group(0) @binding(3)
var<storage, read_write> weights_by_k: array<vec4f>;  // (STEPS*TILE_K,M_VEC4S)
@group(0) @binding(4)
var<storage, read_write> parts: array<f32>;  // (class,PIECES,N,Ci,CLASS_H,CLASS_W)

var<workgroup> left: array<array<vec4f, A_VEC4S + PAD>, TILE_K>;
var<workgroup> right: array<array<vec4f, B_VEC4S + PAD>, TILE_K>;

// 1. The first pass: weights in the order of k, with zeros behind the last row
//    and in the gaps, so that the product loads them four at a time, unguarded.
fn weight_at(ci: u32, k: u32) -> f32 {
  let co = k % RUN;
  let tap = k / RUN;
  if (ci >= IN_CHANNELS || co >= OUT_CHANNELS || tap >= KERNEL_H * KERNEL_W) {
    return 0.0;
  }
  return weight[(co * IN_CHANNELS + ci) * (KERNEL_H * KERNEL_W) + tap];
}

@compute @workgroup_size(256)
fn lay_out_weights(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) thread: u32,  // [0, 256)
) {
  let index = (workgroup.y * grid.x + workgroup.x) * 256u + thread;
  if (index >= STEPS * TILE_K * M_VEC4S) {
    return;
  }
  let k = index / M_VEC4S;
  let four = index % M_VEC4S;
  weights_by_k[index] = vec4f(
    weight_at(4u * four, k), weight_at(4u * four + 1u, k),
    weight_at(4u * four + 2u, k), weight_at(4u * four + 3u, k),
  );
}

// 2. Which class? How many of its taps lie along one side of the filter, and which
//    row of windows its first row of pixels uses with its first tap (q0, where
//    ih + Ph = q*S + rh).
fn taps_along(size: u32, rest: u32) -> u32 {
  return (size - rest + STRIDE - 1u) / STRIDE;
}

fn first_window(rest: u32, padding: u32) -> u32 {
  let first_pixel = (rest + STRIDE - padding % STRIDE) % STRIDE;
  return (first_pixel + padding) / STRIDE;
}

// 3. Which pixels? A vec4 of columns holds 4 pixels that lie B_VEC4S apart, so
//    that neighboring threads load neighboring pixels (coalesced).
var<private> image: vec4u;   // where the image of each begins in grad_output
var<private> row: vec4u;     // oh of the first tap; the others lie above it
var<private> column: vec4u;  // ow of the first tap

fn find_columns(first_pixel: u32, class_h: u32, class_w: u32) {
  for (var i = 0u; i < 4u; i++) {  // unroll
    let pixel = first_pixel + i * B_VEC4S;
    image[i] = pixel / (CLASS_H * CLASS_W) * (OUT_CHANNELS * PLANE);
    row[i] = pixel / CLASS_W % CLASS_H + first_window(class_h, PADDING_H);
    column[i] = pixel % CLASS_W + first_window(class_w, PADDING_W);
    if (!ALIGNED && pixel >= PIXELS) {
      row[i] = OUT_H + KERNEL_H;  // below every window: reads nothing
    }
  }
}

// 4. Fetch the next tile into registers, while this one is multiplied. All k of a
//    step are channels of one tap: where it falls is found once a tap.
var<private> tap: u32 = KERNEL_H * KERNEL_W;  // none yet
var<private> weight_row: u32;                 // of the tap's first channel

// Where a pixel has no factor, any number is loaded and `place` drops it: a branch
// around the load would cost more.
var<private> inside: vec4<bool>;  // has each pixel a factor at this tap?
var<private> at: vec4u;           // where it lies, without its channel

fn go_to_tap(class_h: u32, class_w: u32) {
  let down = tap / taps_along(KERNEL_W, class_w);
  let right_of = tap % taps_along(KERNEL_W, class_w);
  let kh = class_h + STRIDE * down;
  let kw = class_w + STRIDE * right_of;
  weight_row = (kh * KERNEL_W + kw) * RUN;
  for (var i = 0u; i < 4u; i++) {  // unroll
    let oh = row[i] - down;         // [0, oH), or no such output: below 0 it wraps
    let ow = column[i] - right_of;  // [0, oW), likewise
    inside[i] = oh < OUT_H && ow < OUT_W;
    let address = image[i] + oh * OUT_W + ow;
    at[i] = select(0u, address, inside[i]);
  }
}

fn fetch_weights(thread: u32, m0: u32, first_channel: u32) {
  let k = weight_row + first_channel + thread / A_VEC4S;
  let first = k * M_VEC4S + m0 / 4u + thread % A_VEC4S;
  for (var i = 0u; i < A_LOADS; i++) {  // unroll
    next_left[i] = weights_by_k[first + i * A_EVERY * M_VEC4S];
  }
}

fn read_channel(pixel: u32, co: u32) -> f32 {
  if (RUN == OUT_CHANNELS || co < OUT_CHANNELS) {
    return grad_output[pixel + co * PLANE];
  }
  return 0.0;
}

fn fetch_channels(thread: u32, first_channel: u32) {
  let co = first_channel + thread / B_VEC4S;
  for (var i = 0u; i < 4u; i++) {  // unroll
    for (var j = 0u; j < B_LOADS; j++) {  // unroll
      next_right[j][i] = read_channel(at[i], co + j * B_EVERY);
    }
  }
}

fn fetch(thread: u32, m0: u32, class_h: u32, class_w: u32, step: u32) {
  if (step / TAP_STEPS != tap) {
    tap = step / TAP_STEPS;
    go_to_tap(class_h, class_w);
  }
  let first_channel = step % TAP_STEPS * TILE_K;
  fetch_weights(thread, m0, first_channel);
  fetch_channels(thread, first_channel);
}

fn place(thread: u32) {
  for (var i = 0u; i < A_LOADS; i++) {  // unroll
    left[thread / A_VEC4S + i * A_EVERY][thread % A_VEC4S] = next_left[i];
  }
  for (var i = 0u; i < B_LOADS; i++) {  // unroll
    let factors = select(vec4f(), next_right[i], inside);
    right[thread / B_VEC4S + i * B_EVERY][thread % B_VEC4S] = factors;
  }
}

// 5. Write the 8 x 8 sums of a thread as a piece of its class.
fn write(ci: u32, pixel: u32, piece: u32, sum: f32) {
  if (ALIGNED || (ci < IN_CHANNELS && pixel < PIXELS)) {
    const PIXELS_OF_PLANE = CLASS_H * CLASS_W;
    let plane = pixel / PIXELS_OF_PLANE * IN_CHANNELS + ci;
    let index = plane * PIXELS_OF_PLANE + pixel % PIXELS_OF_PLANE;
    parts[piece * CLASS_INPUTS + index] = sum;
  }
}

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) thread: u32,  // [0, THREADS)
) {
  let n0 = (workgroup.y * grid.x + workgroup.x) * TILE_N;
  let m0 = workgroup.z % ROW_TILES * TILE_M;
  let piece = workgroup.z / ROW_TILES;      // of all classes
  let class_h = piece / PIECES / CLASS_COLUMNS;
  let class_w = piece / PIECES % CLASS_COLUMNS;
  let taps = taps_along(KERNEL_H, class_h) * taps_along(KERNEL_W, class_w);
  let first = piece % PIECES * PIECE_STEPS;
  let end = min(first + PIECE_STEPS, taps * TAP_STEPS);

  // A warp reads 4 vec4s of rows and 8 of columns: few addresses, no conflicts.
  const ACROSS = TILE_N / 64u;
  let tile_row = thread / 32u / ACROSS * 4u + thread / 8u % 4u;
  let tile_column = thread / 32u % ACROSS * 8u + thread % 8u;

  find_columns(n0 + thread % B_VEC4S, class_h, class_w);
  if (first < end) {
    fetch(thread, m0, class_h, class_w, first);
  }
  for (var step = first; step < end; step++) {
    place(thread);
    workgroupBarrier();  // the tiles are complete
    if (step + 1u < end) {
      fetch(thread, m0, class_h, class_w, step + 1u);
    }
    multiply(tile_row, tile_column);
    workgroupBarrier();  // no thread still reads them
  }

  if (first < end) {
    for (var i = 0u; i < 8u; i++) {  // unroll
      let ci = m0 + 4u * (tile_row + i / 4u * (TILE_M / 8u)) + i % 4u;
      for (var j = 0u; j < 8u; j++) {  // unroll
        let pixel = n0 + tile_column + j / 4u * (TILE_N / 8u) + j % 4u * B_VEC4S;
        write(ci, pixel, piece, sums[2u * i + j / 4u][j % 4u]);
      }
    }
  }
}

// 6. The last pass: each pixel adds the pieces of its class.
@compute @workgroup_size(256)
fn interleave(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) thread: u32,  // [0, 256)
) {
  let index = (workgroup.y * grid.x + workgroup.x) * 256u + thread;
  if (index >= INPUTS) {
    return;
  }
  let iw = index % IN_W;
  let ih = index / IN_W % IN_H;
  let plane = index / (IN_W * IN_H);  // [0, N*Ci)
  let class_h = (ih + PADDING_H) % STRIDE;
  let class_w = (iw + PADDING_W) % STRIDE;

  var sum = 0.0;
  if (class_h < CLASS_ROWS && class_w < CLASS_COLUMNS) {
    let taps = taps_along(KERNEL_H, class_h) * taps_along(KERNEL_W, class_w);
    let pieces = (taps * TAP_STEPS + PIECE_STEPS - 1u) / PIECE_STEPS;
    let first = (class_h * CLASS_COLUMNS + class_w) * PIECES;
    let place = (plane * CLASS_H + ih / STRIDE) * CLASS_W + iw / STRIDE;
    for (var piece = 0u; piece < pieces; piece++) {
      sum += parts[(first + piece) * CLASS_INPUTS + place];
    }
  }
  grad_input[index] = sum;
}

// --- Shared with other files: multiply_vec4s ---

// Multiply the tiles: two vec4s of rows by two vec4s of columns, 8 x 8 sums.
fn multiply(row: u32, column: u32) {
  for (var k = 0u; k < TILE_K; k++) {  // unroll
    let b0 = right[k][column];
    let b1 = right[k][column + TILE_N / 8u];
    let a0 = left[k][row];
    let a1 = left[k][row + TILE_M / 8u];
    for (var i = 0u; i < 4u; i++) {  // unroll
      sums[2u * i] = fma(vec4f(a0[i]), b0, sums[2u * i]);
      sums[2u * i + 1u] = fma(vec4f(a0[i]), b1, sums[2u * i + 1u]);
      sums[2u * i + 8u] = fma(vec4f(a1[i]), b0, sums[2u * i + 8u]);
      sums[2u * i + 9u] = fma(vec4f(a1[i]), b1, sums[2u * i + 9u]);
    }
  }
}
