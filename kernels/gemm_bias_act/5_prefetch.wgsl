// gemm_bias_act / 5_prefetch
//
// in        a (batch, M, K), b (K, N) or (batch, K, N), bias (N)
// out       output (batch, M, N)
// dispatch  (ceil(N/TILE_N), ceil(M/TILE_M), batch) workgroups
//           of TILE_M/8 * TILE_N/8 threads;
//           where all items share one b, they count as one with batch*M rows
// barriers  one after the loads: a thread reads what others loaded;
//           one after the products:
//           no thread may still read what the next load overwrites
// cost      per element of full tiles, without act:
//           K/TILE_N + K/(4*TILE_M) + 1/8 global loads, K/16 workgroup loads,
//           K multiply-adds
// limits    N is a multiple of 4, as b is bound as vec4f;
//           where the tiles leave no room for PAD, stores have bank conflicts
// new here  the next tiles are on their way into registers while these ones are
//           multiplied

const ALIGNED: bool = false;  // are all tiles full?

// --- Shared with other files: product_sizes ---

// The layer: the launcher writes its sizes in here.
const M: u32 = 64u;        // rows of one item, or of all that share one b
const K: u32 = 64u;
const N: u32 = 64u;
const B_STRIDE: u32 = 0u;  // from one item's b to the next: K*N, or 0

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

// --- Shared with other files: vec4_product_buffers ---

const PAD: u32 = 0u;  // vec4s behind each row of left, if there is room

@group(0) @binding(0)
var<storage, read> a: array<f32>;             // (batch, M, K)
@group(0) @binding(1)
var<storage, read> b: array<vec4f>;           // ([batch,] K, N)
@group(0) @binding(2)
var<storage, read> bias: array<f32>;          // (N)
@group(0) @binding(3)
var<storage, read_write> output: array<f32>;  // (batch, M, N)

var<workgroup> left: array<array<vec4f, A_VEC4S + PAD>, TILE_K>;  // a, transposed
var<workgroup> right: array<array<vec4f, B_VEC4S>, TILE_K>;       // b

// --- In this file only: kernel ---

// 1. Fetch the next tiles into registers.
fn fetch(thread: u32, item: u32, m0: u32, n0: u32, k0: u32) {
  for (var i = 0u; i < A_LOADS; i++) {  // unroll
    let k = k0 + thread % TILE_K;  // neighbors read along k
    let m = m0 + 4u * (thread / TILE_K + i * (THREADS / TILE_K));
    next_left[i] = vec4f(
      read_a(item, m, k), read_a(item, m + 1u, k),
      read_a(item, m + 2u, k), read_a(item, m + 3u, k),
    );
  }
  for (var i = 0u; i < B_LOADS; i++) {  // unroll
    let k = k0 + thread / B_VEC4S + i * (THREADS / B_VEC4S);
    let n = n0 + 4u * (thread % B_VEC4S);  // neighbors read along n
    next_right[i] = read_b(item, k, n);
  }
}

// 2. Place what was fetched, each vec4 where `fetch` found it.
fn place(thread: u32) {
  for (var i = 0u; i < A_LOADS; i++) {  // unroll
    let four = thread / TILE_K + i * (THREADS / TILE_K);
    left[thread % TILE_K][four] = next_left[i];
  }
  for (var i = 0u; i < B_LOADS; i++) {  // unroll
    let k = thread / B_VEC4S + i * (THREADS / B_VEC4S);
    right[k][thread % B_VEC4S] = next_right[i];
  }
}

// 3. Add up along k, tile by tile: each fetch has the time of a product.
@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(local_invocation_index) thread: u32,  // [0, THREADS)
) {
  let item = workgroup.z;
  let m0 = workgroup.y * TILE_M;
  let n0 = workgroup.x * TILE_N;

  // A warp reads 4 vec4s of rows and 8 of columns: few addresses, no conflicts.
  const ACROSS = TILE_N / 64u;
  let row = thread / 32u / ACROSS * 4u + thread / 8u % 4u;
  let column = thread / 32u % ACROSS * 8u + thread % 8u;

  fetch(thread, item, m0, n0, 0u);
  for (var k0 = 0u; k0 < K; k0 += TILE_K) {  // [0, K)
    place(thread);
    workgroupBarrier();  // both tiles are in place
    if (k0 + TILE_K < K) { fetch(thread, item, m0, n0, k0 + TILE_K); }
    multiply(row, column);
    workgroupBarrier();  // no thread still reads them
  }
  finish(n0 + 4u * column);
  for (var i = 0u; i < 8u; i++) {  // unroll
    let m = m_at(m0 + 4u * row, i);
    for (var j = 0u; j < 8u; j++) {  // unroll
      let n = n_at(n0 + 4u * column, j);
      write(item, m, n, sums[2u * i + j / 4u][j % 4u]);
    }
  }
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

// --- Shared with other files: vec4_products ---

// Read the operands: 0 past an edge, where a tile reaches farther than the matrix.
fn read_a(item: u32, m: u32, k: u32) -> f32 {
  if (ALIGNED || (m < M && k < K)) { return a[(item * M + m) * K + k]; }
  return 0.0;
}

fn read_b(item: u32, k: u32, n: u32) -> vec4f {
  if (ALIGNED || (k < K && n < N)) { return b[(item * B_STRIDE + k * N + n) / 4u]; }
  return vec4f();
}

// Add the bias and apply act, while the sums are still in registers; then
// write. First all loads, then all stores: in turns, a load would wait for the
// store before it.
fn m_at(m0: u32, i: u32) -> u32 {  // of a thread's row i
  return m0 + i / 4u * (TILE_M / 2u) + i % 4u;
}

fn n_at(n0: u32, j: u32) -> u32 {  // of its column j
  return n0 + j / 4u * (TILE_N / 2u) + j % 4u;
}

fn read_bias(n: u32) -> f32 {
  if (ALIGNED || n < N) { return bias[n]; }
  return 0.0;
}

fn finish(n0: u32) {
  for (var j = 0u; j < 8u; j++) {  // unroll
    let bias_n = read_bias(n_at(n0, j));
    for (var i = 0u; i < 8u; i++) {  // unroll
      let pre = sums[2u * i + j / 4u][j % 4u] + bias_n;
      sums[2u * i + j / 4u][j % 4u] = activate(pre);
    }
  }
}

fn write(item: u32, m: u32, n: u32, result: f32) {
  if (ALIGNED || (m < M && n < N)) { output[(item * M + m) * N + n] = result; }
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
