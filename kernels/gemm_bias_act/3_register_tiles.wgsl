// gemm_bias_act / 3_register_tiles
//
// in        a (batch, M, K), b (K, N) or (batch, K, N), bias (N)
// out       output (batch, M, N)
// dispatch  (ceil(N/TILE_N), ceil(M/TILE_M), batch) workgroups
//           of TILE_M/8 * TILE_N/8 = 64 threads;
//           where all items share one b, they count as one with batch*M rows
// barriers  one after the loads: a thread reads what others loaded;
//           one after the products:
//           no thread may still read what the next load overwrites
// cost      per element of full tiles, without act:
//           K/TILE_M + K/TILE_N + 1/8 global loads, K/4 workgroup loads,
//           K multiply-adds
// limits    neighbors store into one column of `left`: bank conflicts;
//           every number takes a load, a store and an address of its own
// new here  one thread computes 8 x 8 elements in registers: 16 workgroup loads
//           for 64 multiply-adds; the sizes are constants, and marked loops are
//           written out

const ALIGNED: bool = false;  // are all tiles full?

// The tiles.
const TILE_M: u32 = 64u;      // rows of a workgroup
const TILE_N: u32 = 64u;      // columns of a workgroup
const TILE_K: u32 = 16u;      // products between two barriers
const THREADS: u32 = TILE_M / 8u * TILE_N / 8u;
const LEFT_LOADS: u32 = TILE_M * TILE_K / THREADS;   // of one thread
const RIGHT_LOADS: u32 = TILE_K * TILE_N / THREADS;

// --- Shared with other files: product_sizes ---

// The layer: the launcher writes its sizes in here.
const M: u32 = 64u;        // rows of one item, or of all that share one b
const K: u32 = 64u;
const N: u32 = 64u;
const B_STRIDE: u32 = 0u;  // from one item's b to the next: K*N, or 0

// --- Shared with other files: activation_number ---

const ACTIVATION: u32 = 0u;  // 0 none, 1 relu, 2 gelu, 3 silu, 4 sigmoid, 5 tanh

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

var<workgroup> left: array<array<f32, TILE_M>, TILE_K>;   // a tile of a, transposed
var<workgroup> right: array<array<f32, TILE_N>, TILE_K>;  // a tile of b
var<private> sums: array<f32, 64>;  // in registers, as every index is a constant

// 1. Load the tiles: 0 past an edge, where a tile reaches farther than the matrix.
fn read_a(item: u32, m: u32, k: u32) -> f32 {
  if (ALIGNED || (m < M && k < K)) { return a[(item * M + m) * K + k]; }
  return 0.0;
}

fn read_b(item: u32, k: u32, n: u32) -> f32 {
  if (ALIGNED || (k < K && n < N)) { return b[item * B_STRIDE + k * N + n]; }
  return 0.0;
}

fn load_tiles(thread: u32, item: u32, m0: u32, n0: u32, k0: u32) {
  for (var i = 0u; i < LEFT_LOADS; i++) {  // unroll
    let m = (i * THREADS + thread) / TILE_K;  // [0, TILE_M)
    let k = (i * THREADS + thread) % TILE_K;  // [0, TILE_K), along neighbors
    left[k][m] = read_a(item, m0 + m, k0 + k);
  }
  for (var i = 0u; i < RIGHT_LOADS; i++) {  // unroll
    let k = (i * THREADS + thread) / TILE_N;  // [0, TILE_K)
    let n = (i * THREADS + thread) % TILE_N;  // [0, TILE_N), along neighbors
    right[k][n] = read_b(item, k0 + k, n0 + n);
  }
}

// 2. Multiply the tiles: 8 rows by 8 columns, each TILE/8 from the next.
fn multiply(row: u32, column: u32) {
  for (var k = 0u; k < TILE_K; k++) {  // [0, TILE_K)
    var b_k: array<f32, 8>;
    for (var j = 0u; j < 8u; j++) {  // unroll
      b_k[j] = right[k][column + j * (TILE_N / 8u)];
    }
    for (var i = 0u; i < 8u; i++) {  // unroll
      let a_k = left[k][row + i * (TILE_M / 8u)];
      for (var j = 0u; j < 8u; j++) {  // unroll
        sums[8u * i + j] = fma(a_k, b_k[j], sums[8u * i + j]);
      }
    }
  }
}

// 3. Add the bias and apply act, while the sums are still in registers; then
//    write. First all loads, then all stores: in turns, a load would wait for the
//    store before it.
fn read_bias(n: u32) -> f32 {
  if (ALIGNED || n < N) { return bias[n]; }
  return 0.0;
}

fn finish(n0: u32) {
  for (var j = 0u; j < 8u; j++) {  // unroll
    let bias_n = read_bias(n0 + j * (TILE_N / 8u));
    for (var i = 0u; i < 8u; i++) {  // unroll
      sums[8u * i + j] = activate(sums[8u * i + j] + bias_n);
    }
  }
}

fn write(item: u32, m: u32, n: u32, result: f32) {
  if (ALIGNED || (m < M && n < N)) { output[(item * M + m) * N + n] = result; }
}

// 4. Add up along k, tile by tile.
@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(local_invocation_index) thread: u32,  // [0, THREADS)
) {
  let item = workgroup.z;
  let m0 = workgroup.y * TILE_M;
  let n0 = workgroup.x * TILE_N;
  let row = thread / (TILE_N / 8u);     // [0, TILE_M/8)
  let column = thread % (TILE_N / 8u);  // [0, TILE_N/8)
  for (var k0 = 0u; k0 < K; k0 += TILE_K) {  // [0, K)
    load_tiles(thread, item, m0, n0, k0);
    workgroupBarrier();  // both tiles are in place
    multiply(row, column);
    workgroupBarrier();  // no thread still reads them
  }
  finish(n0 + column);
  for (var i = 0u; i < 8u; i++) {  // unroll
    let m = m0 + row + i * (TILE_M / 8u);  // [0, M) or past the edge
    for (var j = 0u; j < 8u; j++) {  // unroll
      let n = n0 + column + j * (TILE_N / 8u);  // [0, N) or past the edge
      write(item, m, n, sums[8u * i + j]);
    }
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
