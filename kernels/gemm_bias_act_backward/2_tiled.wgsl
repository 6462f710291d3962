// gemm_bias_act_backward / 2_tiled
//
// in        a (batch, M, K), b (K, N) or (batch, K, N),
//           bias (N), grad (batch, M, N)
// out       grad_pre (batch, M, N), d_a (batch, M, K),
//           d_b (K, N) or (batch, K, N), d_bias (N)
// dispatch  workgroups of TILE x TILE = 16 x 16 threads, of 256 in the last pass;
//           the last three passes read the grad_pre that the first one writes
//           gemm_bwd_grad_pre_f32  (ceil(N/TILE), ceil(M/TILE), batch)
//           gemm_bwd_da_f32        (ceil(K/TILE), ceil(M/TILE), batch)
//           gemm_bwd_db_f32        (ceil(N/TILE), ceil(K/TILE), 1), or
//                                  batch layers where d_b is per item
//           gemm_bwd_dbias_f32     (ceil(N/256), 1, 1)
// barriers  one after the loads: a thread reads what others loaded;
//           one after the products:
//           no thread may still read what the next load overwrites
// cost      per element, without act', where TILE divides M, K and N:
//           global loads, workgroup loads, multiply-adds
//           grad_pre  2*K/TILE + 2, 2*K, K
//           d_a       2*N/TILE, 2*N, N
//           d_b       2*batch*M/TILE, 2*batch*M, batch*M; or
//                     2*M/TILE, 2*M, M where d_b is per item
//           d_bias    batch*M, 0, 0 (only additions)
// limits    the eight storage bindings are eight distinct buffers;
//           each side of a dispatch is at most 65,535
// new here  each number of a tile is loaded once for TILE threads:
//           TILE times fewer global loads than version 1 (except in d_bias),
//           and all coalesced, as a tile that is needed transposed
//           is transposed on its way in

override TILE: u32 = 16u;

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

// --- Shared with other files: gemm_bias_act_backward_buffers ---

@group(0) @binding(0)
var<storage, read_write> a: array<f32>;         // (batch, M, K)
@group(0) @binding(1)
var<storage, read_write> b: array<f32>;         // ([batch,] K, N)
@group(0) @binding(2)
var<storage, read_write> bias: array<f32>;      // (N)
@group(0) @binding(3)
var<storage, read_write> grad: array<f32>;      // (batch, M, N)
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

// A tile of each operand: rows of left lie along local.y,
// columns of right along local.x.
var<workgroup> left: array<f32, TILE * TILE>;
var<workgroup> right: array<f32, TILE * TILE>;

// 1. Reading an operand: 0 past an edge, where a tile reaches farther
//    than the matrix.
fn read_a(item: u32, m: u32, k: u32) -> f32 {
  let at = (item * params.m + m) * params.k + k;
  if (m < params.m && k < params.k) { return a[at]; }
  return 0.0;
}

fn read_b(item: u32, k: u32, n: u32) -> f32 {
  let at = item * params.b_stride + k * params.n + n;
  if (k < params.k && n < params.n) { return b[at]; }
  return 0.0;
}

fn read_grad_pre(item: u32, m: u32, n: u32) -> f32 {
  let at = (item * params.m + m) * params.n + n;
  if (m < params.m && n < params.n) { return grad_pre[at]; }
  return 0.0;
}

// 2. One row of the left tile times one column of the right one.
fn tile_product(row: u32, column: u32) -> f32 {
  var sum = 0.0;
  for (var i = 0u; i < TILE; i++) {  // [0, TILE)
    sum += left[row * TILE + i] * right[i * TILE + column];
  }
  return sum;
}

// 3. grad_pre = grad * act'(a @ b + bias): along k, tile by tile.
@compute @workgroup_size(TILE, TILE)
fn gemm_bwd_grad_pre_f32(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(local_invocation_id) local: vec3u,
) {
  let n = workgroup.x * TILE + local.x;  // [0, N) or past the edge
  let m = workgroup.y * TILE + local.y;  // [0, M) or past the edge
  let item = workgroup.z;                // [0, batch)
  var pre = 0.0;
  for (var first = 0u; first < params.k; first += TILE) {  // [0, K)
    left[local.y * TILE + local.x] = read_a(item, m, first + local.x);
    right[local.y * TILE + local.x] = read_b(item, first + local.y, n);
    workgroupBarrier();  // both tiles are in place
    pre += tile_product(local.y, local.x);
    workgroupBarrier();  // no thread still reads them
  }
  // No return above: every thread must reach the barriers.
  if (m < params.m && n < params.n) {
    let at = (item * params.m + m) * params.n + n;
    grad_pre[at] = grad[at] * finite_or_0(derivative(pre + bias[n]));
  }
}

// 4. d_a = grad_pre @ b^T: along n. The tile of b is transposed on its way in.
@compute @workgroup_size(TILE, TILE)
fn gemm_bwd_da_f32(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(local_invocation_id) local: vec3u,
) {
  let k = workgroup.x * TILE + local.x;       // [0, K) or past the edge
  let m = workgroup.y * TILE + local.y;       // [0, M) or past the edge
  let item = workgroup.z;                     // [0, batch)
  let load_k = workgroup.x * TILE + local.y;  // the row of b that the thread loads;
                                              // neighbors read along n
  var sum = 0.0;
  for (var first = 0u; first < params.n; first += TILE) {  // [0, N)
    left[local.y * TILE + local.x] = read_grad_pre(item, m, first + local.x);
    right[local.x * TILE + local.y] = read_b(item, load_k, first + local.x);
    workgroupBarrier();  // both tiles are in place
    sum += tile_product(local.y, local.x);
    workgroupBarrier();  // no thread still reads them
  }
  if (m < params.m && k < params.k) {
    d_a[(item * params.m + m) * params.k + k] = sum;
  }
}

// 5. d_b = a^T @ grad_pre: along m, and along the batch unless d_b is per item.
@compute @workgroup_size(TILE, TILE)
fn gemm_bwd_db_f32(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(local_invocation_id) local: vec3u,
) {
  let n = workgroup.x * TILE + local.x;       // [0, N) or past the edge
  let k = workgroup.y * TILE + local.y;       // [0, K) or past the edge
  let load_k = workgroup.y * TILE + local.x;  // the column of a that it loads;
                                              // neighbors read along k
  let per_item = params.d_b_stride != 0u;
  let last = select(params.batch_size, workgroup.z + 1u, per_item);  // all, or one
  var sum = 0.0;
  for (var item = workgroup.z; item < last; item++) {        // [0, batch)
    for (var first = 0u; first < params.m; first += TILE) {  // [0, M)
      left[local.x * TILE + local.y] = read_a(item, first + local.y, load_k);
      right[local.y * TILE + local.x] = read_grad_pre(item, first + local.y, n);
      workgroupBarrier();  // both tiles are in place
      sum += tile_product(local.y, local.x);
      workgroupBarrier();  // no thread still reads them
    }
  }
  if (k < params.k && n < params.n) {
    d_b[workgroup.z * params.d_b_stride + k * params.n + n] = sum;
  }
}

// 6. d_bias = the sum of a column of grad_pre: the bias was added to each row
//    of every item.
@compute @workgroup_size(256)
fn gemm_bwd_dbias_f32(@builtin(global_invocation_id) global: vec3u) {
  let n = global.x;  // [0, N) or past the edge
  if (n >= params.n) {
    return;  // no barrier follows
  }
  var sum = 0.0;
  for (var row = 0u; row < params.batch_size * params.m; row++) {  // [0, batch*M)
    sum += grad_pre[row * params.n + n];
  }
  d_bias[n] = sum;
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
