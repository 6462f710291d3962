// gemm_bias_act_backward / 1_thread_per_element
//
// equation  grad_pre = grad * act'(pre), with pre = a @ b + bias;
//           d_a = grad_pre @ b^T; d_b = sum over batch of a^T @ grad_pre;
//           d_bias[n] = sum over batch, m of grad_pre[i,m,n]
// numpy     grad_pre = grad * derivative(a @ b + bias)
//           d_a = grad_pre @ b.swapaxes(-1, -2)
//           d_b = np.einsum("imk,imn->kn", a, grad_pre)  # "->ikn" per item
//           d_bias = grad_pre.sum((0, 1))
// in        a (batch, M, K), b (K, N) or (batch, K, N),
//           bias (N), grad (batch, M, N)
// out       grad_pre (batch, M, N), d_a (batch, M, K),
//           d_b (K, N) or (batch, K, N), d_bias (N)
// dispatch  workgroups of 256 threads;
//           the last three passes read the grad_pre that the first one writes
//           gemm_bwd_grad_pre_f32  ceil(batch*M*N / 256)
//           gemm_bwd_da_f32        ceil(batch*M*K / 256)
//           gemm_bwd_db_f32        ceil(K*N / 256), or
//                                  ceil(batch*K*N / 256) where d_b is per item
//           gemm_bwd_dbias_f32     ceil(N / 256)
// barriers  none: each thread writes its own element
//           and reads nothing that its own pass writes
// cost      per element, without act': global loads, workgroup loads, multiply-adds
//           grad_pre  2*K + 2, 0, K
//           d_a       2*N, 0, N
//           d_b       2*batch*M, 0, batch*M; or 2*M, 0, M where d_b is per item
//           d_bias    batch*M, 0, 0 (only additions)
// limits    the eight storage bindings are eight distinct buffers;
//           in d_a the loads of b are not coalesced
// new here  four entry points over one bind group,
//           and a pre that is recomputed instead of stored

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

// 1. The number of a thread in the whole dispatch, whose workgroups lie in rows
//    of up to 65,535.
fn flat_index(global: vec3u, grid: vec3u) -> u32 {
  return global.y * grid.x * 256u + global.x;
}

// 2. grad_pre = grad * act'(a @ b + bias): a row of a times a column of b.
//    Neighbors have the same m and the next n: they read one number of a together
//    and neighboring numbers of b (coalesced loads).
@compute @workgroup_size(256)
fn gemm_bwd_grad_pre_f32(
  @builtin(global_invocation_id) global: vec3u,
  @builtin(num_workgroups) grid: vec3u,
) {
  let index = flat_index(global, grid);
  if (index >= params.batch_size * params.m * params.n) {
    return;  // the last workgroup is rarely full
  }
  let n = index % params.n;              // [0, N)
  let row = index / params.n;            // [0, batch*M): m, counted over all items
  let item = row / params.m;             // [0, batch)
  var pre = bias[n];
  for (var k = 0u; k < params.k; k++) {  // [0, K)
    pre += a[row * params.k + k] * b[item * params.b_stride + k * params.n + n];
  }
  grad_pre[index] = grad[index] * finite_or_0(derivative(pre));
}

// 3. d_a = grad_pre @ b^T: a row of grad_pre times a row of b. Neighbors have
//    the next k: they read numbers of b that lie N apart, so these loads are
//    not coalesced.
@compute @workgroup_size(256)
fn gemm_bwd_da_f32(
  @builtin(global_invocation_id) global: vec3u,
  @builtin(num_workgroups) grid: vec3u,
) {
  let index = flat_index(global, grid);
  if (index >= params.batch_size * params.m * params.k) {
    return;  // the last workgroup is rarely full
  }
  let k = index % params.k;              // [0, K)
  let row = index / params.k;            // [0, batch*M)
  let item = row / params.m;             // [0, batch)
  var sum = 0.0;
  for (var n = 0u; n < params.n; n++) {  // [0, N)
    let at = k * params.n + n;           // in the item's b
    sum += grad_pre[row * params.n + n] * b[item * params.b_stride + at];
  }
  d_a[index] = sum;
}

// 4. d_b = a^T @ grad_pre: a column of a times a column of grad_pre, through
//    all items, or one where d_b is per item. Neighbors have the same k and
//    the next n: coalesced loads again.
@compute @workgroup_size(256)
fn gemm_bwd_db_f32(
  @builtin(global_invocation_id) global: vec3u,
  @builtin(num_workgroups) grid: vec3u,
) {
  let index = flat_index(global, grid);
  let per_item = params.d_b_stride != 0u;
  let results = select(1u, params.batch_size, per_item);  // one, or one per item
  if (index >= results * params.k * params.n) {
    return;  // the last workgroup is rarely full
  }
  let n = index % params.n;                           // [0, N)
  let k = index / params.n % params.k;                // [0, K)
  let rows = params.batch_size / results * params.m;  // of one sum: batch*M, or M
  let first = index / (params.n * params.k) * rows;   // 0, or item*M
  var sum = 0.0;
  for (var row = first; row < first + rows; row++) {  // [0, batch*M)
    sum += a[row * params.k + k] * grad_pre[row * params.n + n];
  }
  d_b[index] = sum;
}

// 5. d_bias = the sum of a column of grad_pre: the bias was added to each row
//    of every item. Coalesced, too.
@compute @workgroup_size(256)
fn gemm_bwd_dbias_f32(
  @builtin(global_invocation_id) global: vec3u,
  @builtin(num_workgroups) grid: vec3u,
) {
  let n = flat_index(global, grid);  // [0, N) or past the end
  if (n >= params.n) {
    return;  // the last workgroup is rarely full
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
