// gemm_bias_act / 1_thread_per_element
//
// equation  output = act(pre), with
//             pre[i,m,n] = bias[n] + sum over k of a[i,m,k] * b[i,k,n]
// numpy     pre = a @ b + bias; output = act(pre)
// in        a (batch, M, K), b (K, N) or (batch, K, N), bias (N)
// out       output (batch, M, N)
// dispatch  ceil(batch*M*N / 256) workgroups of 256 threads
// barriers  none: each thread writes its own element and reads only inputs
// cost      per element, without act:
//           2*K + 1 global loads, 0 workgroup loads, K multiply-adds
// limits    two global loads for each multiply-add;
//           N threads load each row of a again, M threads each column of b
// new here  one thread computes one element,
//           and act follows the sum while it is still in a register (fused)

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

// 1. The number of a thread in the whole dispatch, whose workgroups lie in rows
//    of up to 65,535.
fn flat_index(global: vec3u, grid: vec3u) -> u32 {
  return global.y * grid.x * 256u + global.x;
}

// 2. A row of a times a column of b, after the bias. Neighbors have the same m and
//    the next n: they read one number of a together and neighboring numbers of b
//    (coalesced loads).
@compute @workgroup_size(256)
fn main(
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
  output[index] = activate(pre);
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
