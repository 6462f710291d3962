// gemm_bias_act / 2_tiled
//
// in        a (batch, M, K), b (K, N) or (batch, K, N), bias (N)
// out       output (batch, M, N)
// dispatch  (ceil(N/TILE), ceil(M/TILE), batch) workgroups
//           of TILE x TILE = 16 x 16 threads
// barriers  one after the loads: a thread reads what others loaded;
//           one after the products:
//           no thread may still read what the next load overwrites
// cost      per element, without act, where TILE divides M, K and N:
//           2*K/TILE + 1 global loads, 2*K workgroup loads, K multiply-adds
// limits    ceil(N/TILE), ceil(M/TILE) and batch are at most 65,535;
//           two workgroup loads for each multiply-add
// new here  each number of a tile is loaded once for TILE threads:
//           TILE times fewer global loads than version 1

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

var<workgroup> left: array<f32, TILE * TILE>;   // a tile of a
var<workgroup> right: array<f32, TILE * TILE>;  // a tile of b

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

// 2. One row of the left tile times one column of the right one.
fn tile_product(row: u32, column: u32) -> f32 {
  var sum = 0.0;
  for (var i = 0u; i < TILE; i++) {  // [0, TILE)
    sum += left[row * TILE + i] * right[i * TILE + column];
  }
  return sum;
}

// 3. Add up along k, tile by tile; then bias and activation, while the sum
//    is still in a register.
@compute @workgroup_size(TILE, TILE)
fn main(
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
    output[(item * params.m + m) * params.n + n] = activate(pre + bias[n]);
  }
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
