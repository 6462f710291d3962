// gemm_bias_act / 7_deep_tiles
//
// in        a (batch, M, K), b (K, N) or (batch, K, N), bias (N)
// out       output (batch, M, N)
// dispatch  (ceil(N/TILE), ceil(M/TILE), batch) workgroups
//           of TILE x TILE x SLICES = 8 x 8 x 4 threads;
//           where all items share one b, they count as one item with batch*M rows
// barriers  one after the loads: a thread reads what others loaded;
//           one after the products:
//           no thread may still read what the next load overwrites;
//           one at the end: SLICES threads add the sums of an element
// cost      per element of full tiles, without act:
//           2*K/TILE + 1 global loads,
//           2*ceil(K/4) + SLICES - 1 workgroup loads,
//           4*ceil(K/4) multiply-adds
// limits    ceil(N/TILE), ceil(M/TILE) and batch are at most 65,535;
//           with many elements, each number is loaded too often: 64/TILE times
//           as often as by version 5
// new here  for small layers, which wait more than they compute: a tile is 128
//           numbers deep, so a thread waits K/128 times, not K/16 times as in
//           version 2; eight loads of a thread are on their way at once;
//           small tiles and shared sums give more of a GPU something to do;
//           the sizes come from a uniform, as in version 2

// --- Shared with other files: deep_tiles ---

override TILE: u32 = 8u;     // rows and columns of a workgroup
override DEPTH: u32 = 128u;  // products between two barriers
override VEC4S: u32 = DEPTH / 4u;     // of a row of a tile; in all, one a thread
override SLICES: u32 = VEC4S / TILE;  // threads that share a sum
override STRIDE: u32 = VEC4S + 1u;    // from row to row, odd: no bank conflicts

// A tile of each operand, in vec4s: four numbers that lie side by side along
// the sum. So the right one holds columns.
var<workgroup> left: array<vec4f, TILE * STRIDE>;
var<workgroup> right: array<vec4f, TILE * STRIDE>;
var<workgroup> parts: array<f32, TILE * TILE * SLICES>;  // the sum of each thread

// --- Shared with other files: product_params ---

struct Params {
  m: u32,           // M
  k: u32,           // K
  n: u32,           // N
  batch_size: u32,  // items
  activation: u32,  // 0 none, 1 relu, 2 gelu, 3 silu, 4 sigmoid, 5 tanh
  b_stride: u32,    // from one item's b to the next: K*N, or 0 if all share one b
  d_b_stride: u32,  // for the backward passes
  unused: u32,      // fills eight words: some backends want multiples of 16 bytes
}

// --- Shared with other files: gemm_bias_act_buffers ---

@group(0) @binding(0)
var<storage, read> a: array<f32>;             // (batch, M, K)
@group(0) @binding(1)
var<storage, read> b: array<f32>;             // ([batch,] K, N)
@group(0) @binding(2)
var<storage, read> bias: array<f32>;          // (N)
@group(0) @binding(3)
var<storage, read_write> output: array<f32>;  // (batch, M, N)

// --- In this file only: kernel ---

@group(0) @binding(4)
var<uniform> params: Params;

// 1. Reading a vec4 of an operand along k: 0 past an edge.
fn read_a(end: u32, row: u32, k: u32) -> f32 {
  if (row < end && k < params.k) { return a[row * params.k + k]; }
  return 0.0;
}

fn read_b(item: u32, k: u32, n: u32) -> f32 {
  let at = item * params.b_stride + k * params.n + n;
  if (k < params.k && n < params.n) { return b[at]; }
  return 0.0;
}

fn four_of_a(end: u32, row: u32, k: u32) -> vec4f {
  return vec4f(
    read_a(end, row, k), read_a(end, row, k + 1u),
    read_a(end, row, k + 2u), read_a(end, row, k + 3u),
  );
}

fn four_of_b(item: u32, k: u32, n: u32) -> vec4f {
  return vec4f(
    read_b(item, k, n), read_b(item, k + 1u, n),
    read_b(item, k + 2u, n), read_b(item, k + 3u, n),
  );
}

// 2. Add up along k, tile by tile; then over the slices, bias and activation.
@compute @workgroup_size(TILE, TILE, SLICES)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(local_invocation_id) local: vec3u,
  @builtin(local_invocation_index) thread: u32,  // [0, TILE * VEC4S)
) {
  let item = workgroup.z;  // the only one, unless each has its own b
  let rows = select(params.m, params.batch_size * params.m, params.b_stride == 0u);
  let end = (item + 1u) * rows;
  let m0 = item * rows + workgroup.y * TILE;  // rows count through all items
  let n0 = workgroup.x * TILE;
  // The vec4 that a thread loads. Neighbors read what lies side by side in memory:
  // the next vec4 of a row of a, the next column of b.
  let row = thread / VEC4S;        // [0, TILE)
  let a_four = thread % VEC4S;     // [0, VEC4S)
  let column = thread % TILE;      // [0, TILE)
  let b_four = thread / TILE;      // [0, VEC4S)
  var part = 0.0;
  for (var first = 0u; first < params.k; first += DEPTH) {  // [0, K)
    let next_left = four_of_a(end, m0 + row, first + 4u * a_four);
    let next_right = four_of_b(item, first + 4u * b_four, n0 + column);
    left[row * STRIDE + a_four] = next_left;
    right[column * STRIDE + b_four] = next_right;
    workgroupBarrier();  // both tiles are in place
    part += slice_product(local, params.k - first);
    workgroupBarrier();  // no thread still reads them
  }
  // No return above: every thread must reach the barriers.
  let pre = add_slices(thread, part);
  let m = m0 + local.y;  // a row of this item, or past its end
  let n = n0 + local.x;  // [0, N) or past the edge
  if (local.z == 0u && m < end && n < params.n) {
    output[m * params.n + n] = activate(pre + bias[n]);
  }
}

// --- Shared with other files: slice_sums ---

// A row of the left tile times a column of the right one: every SLICES-th vec4.
fn slice_product(local: vec3u, terms: u32) -> f32 {
  let vec4s = min(VEC4S, (terms + 3u) / 4u);  // up to the sum's end
  var sums = vec4f();
  for (var four = local.z; four < vec4s; four += SLICES) {
    let row_four = left[local.y * STRIDE + four];
    sums = fma(row_four, right[local.x * STRIDE + four], sums);
  }
  return sums.x + sums.y + sums.z + sums.w;
}

// The sums of all slices, in the threads of the first one.
fn add_slices(thread: u32, part: f32) -> f32 {
  parts[thread] = part;
  workgroupBarrier();  // all sums are in place
  var sum = part;
  if (thread < TILE * TILE) {
    for (var i = 1u; i < SLICES; i++) {  // [1, SLICES)
      sum += parts[i * TILE * TILE + thread];
    }
  }
  return sum;
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
  switch params.activation {
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
