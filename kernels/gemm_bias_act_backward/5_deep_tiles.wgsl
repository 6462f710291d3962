// gemm_bias_act_backward / 5_deep_tiles
//
// in        a (batch, M, K), b (K, N) or (batch, K, N),
//           bias (N), grad (batch, M, N)
// out       grad_pre (batch, M, N), d_a (batch, M, K),
//           d_b (K, N) or (batch, K, N), d_bias (N)
// dispatch  workgroups of TILE x TILE x SLICES = 8 x 8 x 4 threads;
//           the second pass reads the grad_pre that the first one writes
//           gemm_bwd_grad_pre_f32   (ceil(N/TILE), ceil(M/TILE), batch)
//           gemm_bwd_gradients_f32  (ceil(K/TILE) + 1, ceil(M/TILE) + ceil(N/TILE),
//                                   batch, or 1 where the items share b and d_b)
//           where all items share one b, they count as one item with batch*M rows
// barriers  one after the loads: a thread reads what others loaded;
//           one after the products:
//           no thread may still read what the next load overwrites;
//           one at the end: SLICES threads add the sums of an element
// cost      per element of full tiles, without act'; the last three are one pass:
//           global loads, workgroup loads, multiply-adds
//           grad_pre  2*K/TILE + 2, 2*ceil(K/4) + SLICES - 1, 4*ceil(K/4)
//           d_a       2*N/TILE, 2*ceil(N/4) + SLICES - 1, 4*ceil(N/4)
//           d_b       2*batch*M/TILE, 2*ceil(batch*M/4) + SLICES - 1,
//                     4*ceil(batch*M/4); or
//                     2*M/TILE, 2*ceil(M/4) + SLICES - 1,
//                     4*ceil(M/4) where d_b is per item
//           d_bias    batch*M, TILE*(2*ceil(batch*M/4) + SLICES - 1),
//                     4*TILE*ceil(batch*M/4)
// limits    the eight storage bindings are eight distinct buffers;
//           each side of a dispatch is at most 65,535;
//           with many elements, each number is loaded too often: 64/TILE times
//           as often as by version 3
// new here  for small layers, which wait more than they compute: a tile is 128
//           numbers deep, so a thread waits once for 128 products of a sum, not for
//           16 as in version 2; small tiles and shared sums give more of a GPU
//           something to do; d_a, d_b and d_bias need nothing of each other: one
//           pass computes all three, with d_bias as one more row of d_b;
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

// --- Shared with other files: gemm_bias_act_backward_read_buffers ---

@group(0) @binding(0)
var<storage, read> a: array<f32>;               // (batch, M, K)
@group(0) @binding(1)
var<storage, read> b: array<f32>;               // ([batch,] K, N)
@group(0) @binding(2)
var<storage, read> bias: array<f32>;            // (N)
@group(0) @binding(3)
var<storage, read> grad: array<f32>;            // (batch, M, N)
@group(0) @binding(4)
var<storage, read_write> grad_pre: array<f32>;  // (batch, M, N)
@group(0) @binding(5)
var<storage, read_write> d_a: array<f32>;       // (batch, M, K)
@group(0) @binding(6)
var<storage, read_write> d_b: array<f32>;       // ([batch,] K, N)
@group(0) @binding(7)
var<storage, read_write> d_bias: array<f32>;    // (N)

// --- In this file only: passes ---

@group(0) @binding(8)
var<uniform> params: Params;

// 1. Reading an operand: 0 past an edge. Rows count through all items; `end` is
//    behind the last one of the sum or of the item.
fn read_a(end: u32, row: u32, k: u32) -> f32 {
  if (row < end && k < params.k) { return a[row * params.k + k]; }
  // The bias is the weight of an input that is always 1: column K of a, row K of b.
  return select(0.0, 1.0, k == params.k);
}

fn read_b(item: u32, k: u32, n: u32) -> f32 {
  let at = item * params.b_stride + k * params.n + n;
  if (k < params.k && n < params.n) { return b[at]; }
  return 0.0;
}

fn read_grad_pre(end: u32, row: u32, n: u32) -> f32 {
  if (row < end && n < params.n) { return grad_pre[row * params.n + n]; }
  return 0.0;
}

// Of one item, or of all where they share one b or one d_b.
fn count_rows(stride: u32) -> u32 {
  return select(params.m, params.batch_size * params.m, stride == 0u);
}

// 2. grad_pre = grad * act'(a @ b + bias): along k, tile by tile.
fn a_along_k(end: u32, row: u32, k: u32) -> vec4f {
  return vec4f(
    read_a(end, row, k), read_a(end, row, k + 1u),
    read_a(end, row, k + 2u), read_a(end, row, k + 3u),
  );
}

fn b_along_k(item: u32, k: u32, n: u32) -> vec4f {
  return vec4f(
    read_b(item, k, n), read_b(item, k + 1u, n),
    read_b(item, k + 2u, n), read_b(item, k + 3u, n),
  );
}

@compute @workgroup_size(TILE, TILE, SLICES)
fn gemm_bwd_grad_pre_f32(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(local_invocation_id) local: vec3u,
  @builtin(local_invocation_index) thread: u32,  // [0, TILE * VEC4S)
) {
  let item = workgroup.z;  // the only one, unless each has its own b
  let rows = count_rows(params.b_stride);
  let end = (item + 1u) * rows;
  let m0 = item * rows + workgroup.y * TILE;
  let n0 = workgroup.x * TILE;
  // The vec4 that a thread loads. Neighbors read what lies side by side in memory:
  // the next vec4 of a row of a, the next column of b.
  let row = thread / VEC4S;        // [0, TILE)
  let a_four = thread % VEC4S;     // [0, VEC4S)
  let column = thread % TILE;      // [0, TILE)
  let b_four = thread / TILE;      // [0, VEC4S)
  var part = 0.0;
  for (var first = 0u; first < params.k; first += DEPTH) {  // [0, K)
    let next_left = a_along_k(end, m0 + row, first + 4u * a_four);
    let next_right = b_along_k(item, first + 4u * b_four, n0 + column);
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
    let at = m * params.n + n;
    grad_pre[at] = grad[at] * finite_or_0(derivative(pre + bias[n]));
  }
}

// 3. d_a = grad_pre @ b^T: along n, where both operands lie side by side.
fn grad_pre_along_n(end: u32, row: u32, n: u32) -> vec4f {
  return vec4f(
    read_grad_pre(end, row, n), read_grad_pre(end, row, n + 1u),
    read_grad_pre(end, row, n + 2u), read_grad_pre(end, row, n + 3u),
  );
}

fn b_along_n(item: u32, k: u32, n: u32) -> vec4f {
  return vec4f(
    read_b(item, k, n), read_b(item, k, n + 1u),
    read_b(item, k, n + 2u), read_b(item, k, n + 3u),
  );
}

fn d_a_tile(item: u32, m_tile: u32, k_tile: u32, local: vec3u, thread: u32) {
  let rows = count_rows(params.b_stride);
  let end = (item + 1u) * rows;
  let m0 = item * rows + m_tile * TILE;
  let k0 = k_tile * TILE;
  let row = thread / VEC4S;   // [0, TILE), of both tiles
  let four = thread % VEC4S;  // [0, VEC4S)
  var part = 0.0;
  for (var first = 0u; first < params.n; first += DEPTH) {  // [0, N)
    let next_left = grad_pre_along_n(end, m0 + row, first + 4u * four);
    let next_right = b_along_n(item, k0 + row, first + 4u * four);
    left[row * STRIDE + four] = next_left;
    right[row * STRIDE + four] = next_right;
    workgroupBarrier();  // both tiles are in place
    part += slice_product(local, params.n - first);
    workgroupBarrier();  // no thread still reads them
  }
  let sum = add_slices(thread, part);
  let m = m0 + local.y;  // a row of this item, or past its end
  let k = k0 + local.x;  // [0, K) or past the edge
  if (local.z == 0u && m < end && k < params.k) { d_a[m * params.k + k] = sum; }
}

// 4. d_b = a^T @ grad_pre: along the rows of one item, or of all. Row K is d_bias.
fn a_along_rows(end: u32, row: u32, k: u32) -> vec4f {
  return vec4f(
    read_a(end, row, k), read_a(end, row + 1u, k),
    read_a(end, row + 2u, k), read_a(end, row + 3u, k),
  );
}

fn grad_pre_along_rows(end: u32, row: u32, n: u32) -> vec4f {
  return vec4f(
    read_grad_pre(end, row, n), read_grad_pre(end, row + 1u, n),
    read_grad_pre(end, row + 2u, n), read_grad_pre(end, row + 3u, n),
  );
}

fn sum_over_rows(
  start: u32, end: u32, k0: u32, n0: u32, local: vec3u, thread: u32,
) -> f32 {
  let column = thread % TILE;  // [0, TILE), of both tiles
  let four = thread / TILE;    // [0, VEC4S)
  var part = 0.0;
  for (var first = start; first < end; first += DEPTH) {  // [start, end)
    let next_left = a_along_rows(end, first + 4u * four, k0 + column);
    let next_right = grad_pre_along_rows(end, first + 4u * four, n0 + column);
    left[column * STRIDE + four] = next_left;
    right[column * STRIDE + four] = next_right;
    workgroupBarrier();  // both tiles are in place
    part += slice_product(local, end - first);
    workgroupBarrier();  // no thread still reads them
  }
  return add_slices(thread, part);
}

fn d_b_tile(item: u32, k_tile: u32, n_tile: u32, local: vec3u, thread: u32) {
  let rows = count_rows(params.d_b_stride);
  let start = item * rows;
  let sum = sum_over_rows(
    start, start + rows, k_tile * TILE, n_tile * TILE, local, thread,
  );
  let k = k_tile * TILE + local.y;  // [0, K) or past the edge
  let n = n_tile * TILE + local.x;  // [0, N) or past the edge
  if (local.z == 0u && k < params.k && n < params.n) {
    d_b[item * params.d_b_stride + k * params.n + n] = sum;
  }
}

fn d_bias_tile(n_tile: u32, local: vec3u, thread: u32) {
  let rows = params.batch_size * params.m;  // the bias was added to all of them
  let sum = sum_over_rows(0u, rows, params.k, n_tile * TILE, local, thread);
  let n = n_tile * TILE + local.x;  // [0, N) or past the edge
  if (local.z == 0u && local.y == 0u && n < params.n) { d_bias[n] = sum; }
}

// 5. All three: a workgroup takes a tile of one of them. Which one follows from its
//    number alone, so all its threads reach the same barriers.
@compute @workgroup_size(TILE, TILE, SLICES)
fn gemm_bwd_gradients_f32(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(local_invocation_id) local: vec3u,
  @builtin(local_invocation_index) thread: u32,  // [0, TILE * VEC4S)
) {
  let item = workgroup.z;  // [0, batch), or 0 where there is one b, and one d_b
  let k_tiles = (params.k + TILE - 1u) / TILE;
  let m_tiles = (count_rows(params.b_stride) + TILE - 1u) / TILE;
  let in_d_a = item == 0u || params.b_stride != 0u;
  let in_d_b = item == 0u || params.d_b_stride != 0u;
  if (workgroup.y < m_tiles) {
    if (workgroup.x < k_tiles && in_d_a) {
      d_a_tile(item, workgroup.y, workgroup.x, local, thread);
    }
  } else if (workgroup.x < k_tiles) {
    if (in_d_b) {
      d_b_tile(item, workgroup.x, workgroup.y - m_tiles, local, thread);
    }
  } else if (item == 0u) {
    d_bias_tile(workgroup.y - m_tiles, local, thread);
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

// --- Shared with other files: derivative ---

// The activation's derivative, act'(x), right for every finite x: 1 - sigmoid(z) is
// written as sigmoid(-z), for the difference would lose its digits to cancellation.
// At an infinity it is the limit, and of NaN it is NaN; `none` has 1 everywhere.
fn derivative(x: f32) -> f32 {
  if (is_nan(x) && params.activation > 0u) { return x; }
  switch params.activation {
    case 1u: { return select(0.0, 1.0, x > 0.0); }    // relu: 0 at 0
    case 2u: {                                        // gelu: x * sigmoid(z)
      // Farther out the derivative is 0 or 1, and t*t stays finite.
      let t = clamp(x, -11.0, 11.0);
      let z = GELU * t * (1.0 + CUBE * t * t);
      let dz = GELU * (1.0 + 3.0 * CUBE * t * t);
      return sigmoid(z) * (1.0 + t * dz * sigmoid(-z));
    }
    case 3u: {                                        // silu: x * sigmoid(x)
      let t = clamp(x, -88.0, 88.0);                  // keeps infinity * 0 away
      return sigmoid(t) * (1.0 + t * sigmoid(-t));
    }
    case 4u: { return sigmoid(x) * sigmoid(-x); }     // sigmoid
    case 5u: {                                        // tanh: 1 - tanh^2, which is
      let t = clamp(x, -44.0, 44.0);                  // 4*sigmoid(2x)*sigmoid(-2x)
      return 4.0 * sigmoid(2.0 * t) * sigmoid(-2.0 * t);
    }
    default: { return 1.0; }                          // none
  }
}

// --- Shared with other files: finite_or_0 ---

// A derivative that is not finite counts as 0. This happens only where pre is
// NaN: of a NaN in a, b or bias, or because its sum overflowed both ways.
fn finite_or_0(x: f32) -> f32 {
  // Look at the bits: a compiler may assume that no value is NaN,
  // and drop a test x == x.
  let finite = (bitcast<u32>(x) & 0x7f800000u) != 0x7f800000u;
  return select(0.0, x, finite);
}

// --- Shared with other files: is_nan ---

// Is x NaN? Only its bits show it: WGSL lets compilers assume that NaN does not
// occur, so that x != x may be false; max, min and clamp may drop a NaN.
fn is_nan(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;
}
