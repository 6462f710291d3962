// conv2d / 2_implicit_gemm
//
// in        input (N, Ci, H, W), weight (Co, Ci/G, kH, kW), bias (Co)
// out       output (N, Co, oH, oW)
// dispatch  one thread for 4 weights of the padded matrices; then for each tile of
//           TILE_M channels of a group x TILE_N pixels, SPLITS workgroups of
//           TILE_M/8 * TILE_N/8 threads; then, where SPLITS > 1,
//           one thread for each element
// barriers  one before a product: a thread multiplies what others loaded;
//           one after it: no thread may still read the old tile
// cost      per element of full tiles, without act, with SPLITS = 1, where TILE_K
//           divides Ci/G:
//           Ci/G*kH*kW*(1/TILE_M + 1/(4*TILE_N) + 1/(N*oH*oW)) + 1/8
//           global loads, Ci/G*kH*kW/16 workgroup loads,
//           Ci/G*kH*kW multiply-adds
// limits    G * ceil(Co/G / TILE_M) * SPLITS is at most 65,535;
//           a group of few channels fills little of a tile of 32 rows or more;
//           a zero of the padding is multiplied too, so that a weight of NaN
//           or infinity reaches every window that has padding under it
// new here  a matrix product without its matrix: rows are channels, columns are
//           output pixels, and each column of the right matrix, the window under
//           a pixel, is read from the input where it lies; the sizes are
//           constants, and SPLITS workgroups may share a sum;
//           a stride for each axis; dilation: tap (kh, kw) lies kh*Dh rows and
//           kw*Dw columns from the window's corner; groups: filter co reads the
//           Ci/G channels of its group, and each group is a product of its own;
//           act follows the sum

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

// --- Shared with other files: filter_sizes ---

// The layer's filters: the launcher writes their sizes in here, too.
const KERNEL_H: u32 = 3u;    // kH
const KERNEL_W: u32 = 3u;    // kW
const STRIDE_H: u32 = 1u;    // Sh
const STRIDE_W: u32 = 1u;    // Sw
const DILATION_H: u32 = 1u;  // Dh
const DILATION_W: u32 = 1u;  // Dw
const GROUPS: u32 = 1u;      // G
const GROUP_IN: u32 = IN_CHANNELS / GROUPS;  // channels of a group
const GROUP_OUT: u32 = OUT_CHANNELS / GROUPS;

// --- Shared with other files: activation_number ---

const ACTIVATION: u32 = 0u;  // 0 none, 1 relu, 2 gelu, 3 silu, 4 sigmoid, 5 tanh

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

const PLANE: u32 = IN_H * IN_W;              // pixels of a channel
const PIXELS: u32 = BATCH * OUT_H * OUT_W;   // columns

// The sum over k: first all channels of tap (0, 0), then those of (0, 1), ...
// RUN is Ci/G, or the next multiple of TILE_K: then no step has two taps.
const RUN: u32 = 16u;
const STEPS: u32 = 9u;          // of TILE_K products each
const SPLITS: u32 = 1u;         // workgroups that share the sum of one tile
const ALIGNED: bool = false;    // are all tiles full?
const ROW_TILES: u32 = (GROUP_OUT + TILE_M - 1u) / TILE_M;  // of a group
const OUTPUTS: u32 = OUT_CHANNELS * PIXELS;

// --- Shared with other files: implicit_gemm_tiles ---

const A_EVERY: u32 = THREADS / A_VEC4S;    // from one k of a thread to its next
const B_EVERY: u32 = THREADS / B_VEC4S;
const TAP_STEPS = max(RUN / TILE_K, 1u);
const GROUP_VEC4S: u32 = ROW_TILES * A_VEC4S;  // of one k of a group
const M_VEC4S: u32 = GROUPS * GROUP_VEC4S;     // of one k in weights_by_k

var<workgroup> left: array<array<vec4f, A_VEC4S>, TILE_K>;
var<workgroup> right: array<array<vec4f, B_VEC4S>, TILE_K>;

// --- Shared with other files: conv2d_buffers ---

// Where a version takes G groups, a filter has Ci/G channels.
@group(0) @binding(0)
var<storage, read> input: array<f32>;         // (N,Ci,H,W)
@group(0) @binding(1)
var<storage, read> weight: array<f32>;        // (Co,Ci,kH,kW)
@group(0) @binding(2)
var<storage, read> bias: array<f32>;          // (Co)
@group(0) @binding(3)
var<storage, read_write> output: array<f32>;  // (N,Co,oH,oW)

// --- In this file only: passes ---

@group(0) @binding(4)
var<storage, read_write> weights_by_k: array<vec4f>;  // (STEPS*TILE_K,M_VEC4S)
@group(0) @binding(5)
var<storage, read_write> parts: array<f32>;           // (SPLITS,N,Co,oH,oW)

// 1. The first pass: weights in the order of k, with zeros behind the last row
//    and in the gaps, so that the product loads them four at a time, unguarded.
fn weight_at(group: u32, m: u32, k: u32) -> f32 {
  let ci = k % RUN;
  let tap = k / RUN;
  if (m >= GROUP_OUT || ci >= GROUP_IN || tap >= KERNEL_H * KERNEL_W) {
    return 0.0;
  }
  let plane = (group * GROUP_OUT + m) * GROUP_IN + ci;
  return weight[plane * (KERNEL_H * KERNEL_W) + tap];
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
  let group = index % M_VEC4S / GROUP_VEC4S;
  let m = index % GROUP_VEC4S * 4u;
  weights_by_k[index] = vec4f(
    weight_at(group, m, k), weight_at(group, m + 1u, k),
    weight_at(group, m + 2u, k), weight_at(group, m + 3u, k),
  );
}

// 2. Which pixels? A vec4 of columns holds 4 pixels that lie B_VEC4S apart, so
//    that neighboring threads load neighboring pixels (coalesced).
var<private> image: vec4u;   // where the group's channels of its image begin
var<private> top: vec4u;     // row of its window's corner; one below 0 wraps
var<private> start: vec4u;   // column of its window's corner, likewise

fn find_columns(group: u32, first_pixel: u32) {
  for (var i = 0u; i < 4u; i++) {  // unroll
    let pixel = first_pixel + i * B_VEC4S;
    let n = pixel / (OUT_H * OUT_W);
    image[i] = (n * IN_CHANNELS + group * GROUP_IN) * PLANE;
    top[i] = pixel / OUT_W % OUT_H * STRIDE_H - PADDING_H;
    start[i] = pixel % OUT_W * STRIDE_W - PADDING_W;
    if (!ALIGNED && pixel >= PIXELS) {
      top[i] = IN_H;  // a window below the input reads nothing
    }
  }
}

// 3. Fetch the factors of the next columns, while this tile is multiplied. All k of
//    a step are channels of one tap: where it falls is found once a tap.
var<private> tap: u32 = KERNEL_H * KERNEL_W;  // none yet

// Where a pixel has no factor, any number is loaded and `place` drops it: a branch
// around the load would cost more.
var<private> inside: vec4<bool>;  // has each pixel a factor at this tap?
var<private> at: vec4u;           // where it lies, without its channel

fn go_to_tap() {
  for (var i = 0u; i < 4u; i++) {  // unroll
    let ih = top[i] + tap / KERNEL_W * DILATION_H;    // [0, H) or padding
    let iw = start[i] + tap % KERNEL_W * DILATION_W;  // [0, W) or padding
    inside[i] = ih < IN_H && iw < IN_W;
    let address = image[i] + ih * IN_W + iw;
    at[i] = select(0u, address, inside[i]);
  }
}

fn read_channel(pixel: u32, ci: u32) -> f32 {
  if (RUN == GROUP_IN || ci < GROUP_IN) {
    return input[pixel + ci * PLANE];
  }
  return 0.0;
}

fn fetch_channels(thread: u32, step: u32) {
  if (step / TAP_STEPS != tap) {
    tap = step / TAP_STEPS;
    go_to_tap();
  }
  let ci = step % TAP_STEPS * TILE_K + thread / B_VEC4S;
  for (var i = 0u; i < 4u; i++) {  // unroll
    for (var j = 0u; j < B_LOADS; j++) {  // unroll
      next_right[j][i] = read_channel(at[i], ci + j * B_EVERY);
    }
  }
}

// Few channels: a step has several taps, and each k is decoded.
fn fetch_taps(thread: u32, step: u32) {
  inside = vec4<bool>(true);  // here, zeros are put in at once
  for (var j = 0u; j < B_LOADS; j++) {  // unroll
    let k = step * TILE_K + thread / B_VEC4S + j * B_EVERY;
    let kh = k / (RUN * KERNEL_W);  // [0, kH), or behind the last tap
    let kw = k / RUN % KERNEL_W;    // [0, kW)
    for (var i = 0u; i < 4u; i++) {  // unroll
      let ih = top[i] + kh * DILATION_H;
      let iw = start[i] + kw * DILATION_W;
      next_right[j][i] = 0.0;
      if (ih < IN_H && iw < IN_W && kh < KERNEL_H) {
        next_right[j][i] = input[image[i] + k % RUN * PLANE + ih * IN_W + iw];
      }
    }
  }
}

// 4. Add up the products of a tile, from step `first` up to `end`. The next tile is
//    on its way while this one is multiplied.
fn add_products(tile: Tile, thread: u32) {
  let first = tile.split * STEPS / SPLITS;
  let end = (tile.split + 1u) * STEPS / SPLITS;
  find_columns(tile.group, tile.n0 + thread % B_VEC4S);
  fetch(thread, tile, first);
  for (var step = first; step < end; step++) {
    place(thread);
    workgroupBarrier();  // the tiles are complete
    if (step + 1u < end) {
      fetch(thread, tile, step + 1u);
    }
    multiply(row_of(thread), column_of(thread));
    workgroupBarrier();  // no thread still reads them
  }
}

// 5. Where is the element of a channel and a pixel? Is there one?
fn index_of(co: u32, pixel: u32) -> u32 {
  let plane = pixel / (OUT_H * OUT_W) * OUT_CHANNELS + co;
  return plane * (OUT_H * OUT_W) + pixel % (OUT_H * OUT_W);
}

fn exists(m: u32, pixel: u32) -> bool {
  return ALIGNED || (m < GROUP_OUT && pixel < PIXELS);
}

// 6. The second pass, where one workgroup has a whole sum: write it.
@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) thread: u32,  // [0, THREADS)
) {
  let tile = tile_of(workgroup, grid.x);
  add_products(tile, thread);
  for (var i = 0u; i < 8u; i++) {  // unroll
    let m = m_of(tile, thread, i);
    let co = tile.group * GROUP_OUT + m;
    let bias_co = bias[min(co, OUT_CHANNELS - 1u)];
    for (var j = 0u; j < 8u; j++) {  // unroll
      let pixel = pixel_of(tile, thread, j);
      if (exists(m, pixel)) {
        let pre = bias_co + sums[2u * i + j / 4u][j % 4u];
        output[index_of(co, pixel)] = activate(pre);
      }
    }
  }
}

// 7. The second pass, where SPLITS workgroups share a sum: write a part of it.
@compute @workgroup_size(THREADS)
fn multiply_parts(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) thread: u32,  // [0, THREADS)
) {
  let tile = tile_of(workgroup, grid.x);
  add_products(tile, thread);
  for (var i = 0u; i < 8u; i++) {  // unroll
    let m = m_of(tile, thread, i);
    let co = tile.group * GROUP_OUT + m;
    for (var j = 0u; j < 8u; j++) {  // unroll
      let pixel = pixel_of(tile, thread, j);
      if (exists(m, pixel)) {
        let index = tile.split * OUTPUTS + index_of(co, pixel);
        parts[index] = sums[2u * i + j / 4u][j % 4u];
      }
    }
  }
}

// 8. The last pass, where there are parts: add them.
@compute @workgroup_size(256)
fn add_parts(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) thread: u32,  // [0, 256)
) {
  let index = (workgroup.y * grid.x + workgroup.x) * 256u + thread;
  if (index >= OUTPUTS) {
    return;
  }
  var pre = bias[index / (OUT_H * OUT_W) % OUT_CHANNELS];
  for (var split = 0u; split < SPLITS; split++) {
    pre += parts[split * OUTPUTS + index];
  }
  output[index] = activate(pre);
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

// --- Shared with other files: implicit_gemm ---

// Which tile is a workgroup's? Each group of channels has tiles of its own.
struct Tile {
  group: u32,  // [0, G)
  m0: u32,     // its first row in the group
  n0: u32,     // its first column
  split: u32,  // which part of the sums, [0, SPLITS)
}

fn tile_of(workgroup: vec3u, across: u32) -> Tile {
  let group = workgroup.z / ROW_TILES % GROUPS;
  let m0 = workgroup.z % ROW_TILES * TILE_M;
  let n0 = (workgroup.y * across + workgroup.x) * TILE_N;
  return Tile(group, m0, n0, workgroup.z / (ROW_TILES * GROUPS));
}

// Fetch the next tile into registers, while this one is multiplied.
fn fetch_weights(thread: u32, tile: Tile, step: u32) {
  let k = step * TILE_K + thread / A_VEC4S;
  let first_of_k = k * M_VEC4S + tile.group * GROUP_VEC4S + tile.m0 / 4u;
  let first = first_of_k + thread % A_VEC4S;
  for (var i = 0u; i < A_LOADS; i++) {  // unroll
    next_left[i] = weights_by_k[first + i * A_EVERY * M_VEC4S];
  }
}

fn fetch(thread: u32, tile: Tile, step: u32) {
  fetch_weights(thread, tile, step);
  if (RUN % TILE_K == 0u) {
    fetch_channels(thread, step);
  } else {
    fetch_taps(thread, step);
  }
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

// A warp reads 4 vec4s of rows and 8 of columns: few addresses, no conflicts.
fn row_of(thread: u32) -> u32 {
  return thread / 32u / (TILE_N / 64u) * 4u + thread / 8u % 4u;
}

fn column_of(thread: u32) -> u32 {
  return thread / 32u % (TILE_N / 64u) * 8u + thread % 8u;
}

// Where are the 8 x 8 sums of a thread? Sum (i, j) is in vec4 j/4 of row i.
// A row of the product is a channel of the tile's group.
fn m_of(tile: Tile, thread: u32, i: u32) -> u32 {
  return tile.m0 + 4u * (row_of(thread) + i / 4u * (TILE_M / 8u)) + i % 4u;
}

fn pixel_of(tile: Tile, thread: u32, j: u32) -> u32 {
  return tile.n0 + column_of(thread) + j / 4u * (TILE_N / 8u) + j % 4u * B_VEC4S;
}

// --- Shared with other files: sigmoid ---

// All activations except `none` and `relu` use the sigmoid.
fn sigmoid(x: f32) -> f32 {
  // Farther out, exp(-|x|) soon falls below the smallest normal float32.
  if (abs(x) > 87.0) { return select(0.0, 1.0, x > 0.0); }
  let e = exp(-abs(x));                        // at most 1: it never overflows
  return select(e, 1.0, x > 0.0) / (1.0 + e);  // 1/(1+e) right of 0, else e/(1+e)
}

const GELU = 1.5957691216;  // 2 * sqrt(2/pi)
const CUBE = 0.044715;

// --- Shared with other files: activate ---

// What layer and convolution apply to each output: right for every finite x, its
// limit at an infinity, and NaN of NaN.
fn activate(x: f32) -> f32 {
  if (is_nan(x)) { return x; }
  switch ACTIVATION {
    case 1u: { return max(x, 0.0); }                 // relu
    case 2u: {                                       // gelu: x * sigmoid(z)
      // Farther out sigmoid(z) is 0 or 1, and t*t stays finite.
      let t = clamp(x, -11.0, 11.0);
      return max(x, -11.0) * sigmoid(GELU * t * (1.0 + CUBE * t * t));
    }
    case 3u: {                                       // silu: x * sigmoid(x)
      return max(x, -88.0) * sigmoid(x);             // max keeps 0 * infinity away
    }
    case 4u: { return sigmoid(x); }
    case 5u: {                                       // tanh = (1-e) / (1+e),
      let t = clamp(x, -44.0, 44.0);                 // with e = exp(-2x)
      // Near 0 a difference cancels: a series replaces it.
      let series = t - t * t * t * (1.0 / 3.0 - t * t * (2.0 / 15.0));
      return select(sigmoid(2.0 * t) - sigmoid(-2.0 * t), series, abs(t) < 0.1);
    }
    default: { return x; }                           // none
  }
}

// --- Shared with other files: is_nan ---

// Is x NaN? Only its bits show it: WGSL lets compilers assume that NaN does not
// occur, so that x != x may be false; max, min and clamp may drop a NaN.
fn is_nan(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;
}
