// gemm_bias_act_backward / 3_register_tiles
//
// in        a (batch, M, K), b (K, N) or (batch, K, N),
//           bias (N), grad (batch, M, N)
// out       grad_pre (batch, M, N), d_a (batch, M, K),
//           d_b (K, N) or (batch, K, N), d_bias (N)
// dispatch  workgroups of TILE_M/8 * TILE_N/8 threads, of 16 x 16 in the last pass;
//           the last three passes read the grad_pre that the first one writes
//           gemm_bwd_grad_pre_f32  (ceil(N/TILE_N), ceil(M/TILE_M), batch)
//           gemm_bwd_da_f32        (ceil(K/TILE_N), ceil(M/TILE_M), batch)
//           gemm_bwd_db_f32        (ceil(N/TILE_N), ceil(K/TILE_M), 1), or
//                                  batch layers where d_b is per item
//           gemm_bwd_dbias_f32     (ceil(N/16), 1, 1)
//           where all items share one b, the first two passes take them for one
//           item with batch*M rows
// barriers  one after the loads: a thread reads what others loaded;
//           one after the products:
//           no thread may still read what the next load overwrites;
//           one in d_bias: 16 threads of a column add their sums
// cost      per element of full tiles, without act':
//           global loads, workgroup loads, multiply-adds
//           grad_pre  K/TILE_M + K/TILE_N + 1 + 1/8, K/16, K
//           d_a       N/TILE_M + N/TILE_N, N/16, N
//           d_b       batch*M/TILE_M + batch*M/TILE_N, batch*M/16, batch*M; or
//                     M/TILE_M + M/TILE_N, M/16, M where d_b is per item
//           d_bias    batch*M, 15, 0 (only additions)
// limits    the eight storage bindings are eight distinct buffers;
//           every number takes a global load of its own
// new here  one thread computes 8 x 8 elements in registers, from tiles of vec4f;
//           the next tiles are on their way while these ones are multiplied;
//           the sizes are constants, and marked loops are written out

// --- Shared with other files: product_gradient_sizes ---

// The layer: the launcher writes its sizes in here.
const ROWS: u32 = 64u;       // M, or batch*M where all items share one b
const D_B_ROWS: u32 = 64u;   // M, or batch*M where all items share one d_b
const ALL_ROWS: u32 = 64u;   // batch*M
const K: u32 = 64u;
const N: u32 = 64u;
const B_STRIDE: u32 = 0u;    // from one item's b to the next: K*N, or 0
const D_B_STRIDE: u32 = 0u;  // likewise for d_b

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

// TILE_M is 64, as d_bias needs.
const ALIGNED: bool = false;  // are all tiles of all passes full?
const PAD: u32 = 1u;          // vec4s behind each row of a tile, if there is room
const A_EVERY: u32 = THREADS / A_VEC4S;  // from one k of a thread to its next,
const B_EVERY: u32 = THREADS / B_VEC4S;  // where neighbors load the next vec4;
const K_EVERY: u32 = THREADS / TILE_K;   // from vec4 to vec4, where the next k
const ACROSS: u32 = TILE_N / 64u;        // warps side by side

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

// A tile of each operand. The 4 rows (columns) of a vec4 lie A_VEC4S (B_VEC4S)
// apart: then neighbors load neighboring numbers of each.
var<workgroup> left: array<array<vec4f, A_VEC4S + PAD>, TILE_K>;
var<workgroup> right: array<array<vec4f, B_VEC4S + PAD>, TILE_K>;

// 1. Reading an operand: 0 past an edge, where a tile reaches farther than
//    the matrix. Rows count through all items; `end` is behind the last one.
fn read_a(end: u32, row: u32, k: u32) -> f32 {
  if (ALIGNED || (row < end && k < K)) { return a[row * K + k]; }
  return 0.0;
}

fn read_b(item: u32, k: u32, n: u32) -> f32 {
  if (ALIGNED || (k < K && n < N)) { return b[item * B_STRIDE + k * N + n]; }
  return 0.0;
}

fn read_grad_pre(end: u32, row: u32, n: u32) -> f32 {
  if (ALIGNED || (row < end && n < N)) { return grad_pre[row * N + n]; }
  return 0.0;
}

// 2. Place what was fetched. Neighbors fetch what lies side by side in memory:
//    the next k where that is along the sum, else the next vec4.
fn place_left_by_k(thread: u32) {
  for (var i = 0u; i < A_LOADS; i++) {  // unroll
    left[thread % TILE_K][thread / TILE_K + i * K_EVERY] = next_left[i];
  }
}

fn place_right_by_k(thread: u32) {
  for (var i = 0u; i < B_LOADS; i++) {  // unroll
    right[thread % TILE_K][thread / TILE_K + i * K_EVERY] = next_right[i];
  }
}

fn place_left_by_vec4(thread: u32) {
  for (var i = 0u; i < A_LOADS; i++) {  // unroll
    left[thread / A_VEC4S + i * A_EVERY][thread % A_VEC4S] = next_left[i];
  }
}

fn place_right_by_vec4(thread: u32) {
  for (var i = 0u; i < B_LOADS; i++) {  // unroll
    right[thread / B_VEC4S + i * B_EVERY][thread % B_VEC4S] = next_right[i];
  }
}

// A warp reads 4 vec4s of rows and 8 of columns: few addresses, no conflicts.
fn row_of(thread: u32) -> u32 {
  return thread / 32u / ACROSS * 4u + thread / 8u % 4u;
}

fn column_of(thread: u32) -> u32 {
  return thread / 32u % ACROSS * 8u + thread % 8u;
}

// Where row i and column j of a thread's 8 x 8 sums are.
fn row_at(first: u32, i: u32) -> u32 {
  return first + i / 4u * (TILE_M / 8u) + i % 4u * A_VEC4S;
}

fn column_at(first: u32, j: u32) -> u32 {
  return first + j / 4u * (TILE_N / 8u) + j % 4u * B_VEC4S;
}

// 3. grad_pre = grad * act'(a @ b + bias): the sum is along k.
fn fetch_a_and_b(thread: u32, item: u32, m0: u32, n0: u32, k0: u32) {
  let end = (item + 1u) * ROWS;
  for (var i = 0u; i < A_LOADS; i++) {  // unroll
    let m = m0 + thread / TILE_K + i * K_EVERY;
    let k = k0 + thread % TILE_K;
    next_left[i] = vec4f(
      read_a(end, m, k), read_a(end, m + A_VEC4S, k),
      read_a(end, m + 2u * A_VEC4S, k), read_a(end, m + 3u * A_VEC4S, k),
    );
  }
  for (var i = 0u; i < B_LOADS; i++) {  // unroll
    let k = k0 + thread / B_VEC4S + i * B_EVERY;
    let n = n0 + thread % B_VEC4S;
    next_right[i] = vec4f(
      read_b(item, k, n), read_b(item, k, n + B_VEC4S),
      read_b(item, k, n + 2u * B_VEC4S), read_b(item, k, n + 3u * B_VEC4S),
    );
  }
}

fn read_bias(n: u32) -> f32 {
  if (ALIGNED || n < N) { return bias[n]; }
  return 0.0;
}

fn read_grad(end: u32, m: u32, n: u32) -> f32 {
  if (ALIGNED || (m < end && n < N)) { return grad[m * N + n]; }
  return 0.0;
}

// First all loads, then all stores: in turns, a load would wait for the store
// before it.
fn finish(end: u32, m0: u32, n0: u32) {
  for (var j = 0u; j < 8u; j++) {  // unroll
    let n = column_at(n0, j);
    let bias_n = read_bias(n);
    for (var i = 0u; i < 8u; i++) {  // unroll
      let pre = sums[2u * i + j / 4u][j % 4u] + bias_n;
      let upstream = read_grad(end, row_at(m0, i), n);
      sums[2u * i + j / 4u][j % 4u] = upstream * finite_or_0(derivative(pre));
    }
  }
}

fn write_grad_pre(end: u32, m: u32, n: u32, result: f32) {
  if (ALIGNED || (m < end && n < N)) { grad_pre[m * N + n] = result; }
}

@compute @workgroup_size(THREADS)
fn gemm_bwd_grad_pre_f32(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(local_invocation_index) thread: u32,  // [0, THREADS)
) {
  let item = workgroup.z;
  let end = (item + 1u) * ROWS;
  let m0 = item * ROWS + workgroup.y * TILE_M;
  let n0 = workgroup.x * TILE_N;
  let row = row_of(thread);
  let column = column_of(thread);
  fetch_a_and_b(thread, item, m0, n0, 0u);
  for (var k0 = 0u; k0 < K; k0 += TILE_K) {  // [0, K)
    place_left_by_k(thread);
    place_right_by_vec4(thread);
    workgroupBarrier();  // both tiles are in place
    if (k0 + TILE_K < K) {
      fetch_a_and_b(thread, item, m0, n0, k0 + TILE_K);
    }
    multiply(row, column);
    workgroupBarrier();  // no thread still reads them
  }
  finish(end, m0 + row, n0 + column);
  for (var i = 0u; i < 8u; i++) {  // unroll
    let m = row_at(m0 + row, i);
    for (var j = 0u; j < 8u; j++) {  // unroll
      let n = column_at(n0 + column, j);
      write_grad_pre(end, m, n, sums[2u * i + j / 4u][j % 4u]);
    }
  }
}

// 4. d_a = grad_pre @ b^T: the sum is along n, and so are both operands in memory.
fn fetch_grad_pre_and_b(thread: u32, item: u32, m0: u32, k0: u32, n0: u32) {
  let end = (item + 1u) * ROWS;
  for (var i = 0u; i < A_LOADS; i++) {  // unroll
    let m = m0 + thread / TILE_K + i * K_EVERY;
    let n = n0 + thread % TILE_K;
    next_left[i] = vec4f(
      read_grad_pre(end, m, n), read_grad_pre(end, m + A_VEC4S, n),
      read_grad_pre(end, m + 2u * A_VEC4S, n),
      read_grad_pre(end, m + 3u * A_VEC4S, n),
    );
  }
  for (var i = 0u; i < B_LOADS; i++) {  // unroll
    let k = k0 + thread / TILE_K + i * K_EVERY;
    let n = n0 + thread % TILE_K;
    next_right[i] = vec4f(
      read_b(item, k, n), read_b(item, k + B_VEC4S, n),
      read_b(item, k + 2u * B_VEC4S, n), read_b(item, k + 3u * B_VEC4S, n),
    );
  }
}

fn write_d_a(end: u32, m: u32, k: u32, sum: f32) {
  if (ALIGNED || (m < end && k < K)) { d_a[m * K + k] = sum; }
}

@compute @workgroup_size(THREADS)
fn gemm_bwd_da_f32(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(local_invocation_index) thread: u32,  // [0, THREADS)
) {
  let item = workgroup.z;
  let end = (item + 1u) * ROWS;
  let m0 = item * ROWS + workgroup.y * TILE_M;
  let k0 = workgroup.x * TILE_N;
  let row = row_of(thread);
  let column = column_of(thread);
  fetch_grad_pre_and_b(thread, item, m0, k0, 0u);
  for (var n0 = 0u; n0 < N; n0 += TILE_K) {  // [0, N)
    place_left_by_k(thread);
    place_right_by_k(thread);
    workgroupBarrier();  // both tiles are in place
    if (n0 + TILE_K < N) {
      fetch_grad_pre_and_b(thread, item, m0, k0, n0 + TILE_K);
    }
    multiply(row, column);
    workgroupBarrier();  // no thread still reads them
  }
  for (var i = 0u; i < 8u; i++) {  // unroll
    let m = row_at(m0 + row, i);
    for (var j = 0u; j < 8u; j++) {  // unroll
      let k = column_at(k0 + column, j);
      write_d_a(end, m, k, sums[2u * i + j / 4u][j % 4u]);
    }
  }
}

// 5. d_b = a^T @ grad_pre: the sum is along the rows of one item, or of all.
fn fetch_a_and_grad_pre(thread: u32, end: u32, k0: u32, n0: u32, m0: u32) {
  for (var i = 0u; i < A_LOADS; i++) {  // unroll
    let m = m0 + thread / A_VEC4S + i * A_EVERY;
    let k = k0 + thread % A_VEC4S;
    next_left[i] = vec4f(
      read_a(end, m, k), read_a(end, m, k + A_VEC4S),
      read_a(end, m, k + 2u * A_VEC4S), read_a(end, m, k + 3u * A_VEC4S),
    );
  }
  for (var i = 0u; i < B_LOADS; i++) {  // unroll
    let m = m0 + thread / B_VEC4S + i * B_EVERY;
    let n = n0 + thread % B_VEC4S;
    next_right[i] = vec4f(
      read_grad_pre(end, m, n), read_grad_pre(end, m, n + B_VEC4S),
      read_grad_pre(end, m, n + 2u * B_VEC4S),
      read_grad_pre(end, m, n + 3u * B_VEC4S),
    );
  }
}

fn write_d_b(item: u32, k: u32, n: u32, sum: f32) {
  if (ALIGNED || (k < K && n < N)) { d_b[item * D_B_STRIDE + k * N + n] = sum; }
}

@compute @workgroup_size(THREADS)
fn gemm_bwd_db_f32(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(local_invocation_index) thread: u32,  // [0, THREADS)
) {
  let item = workgroup.z;  // the only one, unless d_b is per item
  let first = item * D_B_ROWS;
  let end = first + D_B_ROWS;
  let k0 = workgroup.y * TILE_M;
  let n0 = workgroup.x * TILE_N;
  let row = row_of(thread);
  let column = column_of(thread);
  fetch_a_and_grad_pre(thread, end, k0, n0, first);
  for (var m0 = first; m0 < end; m0 += TILE_K) {  // [first, end)
    place_left_by_vec4(thread);
    place_right_by_vec4(thread);
    workgroupBarrier();  // both tiles are in place
    if (m0 + TILE_K < end) {
      fetch_a_and_grad_pre(thread, end, k0, n0, m0 + TILE_K);
    }
    multiply(row, column);
    workgroupBarrier();  // no thread still reads them
  }
  for (var i = 0u; i < 8u; i++) {  // unroll
    let k = row_at(k0 + row, i);
    for (var j = 0u; j < 8u; j++) {  // unroll
      let n = column_at(n0 + column, j);
      write_d_b(item, k, n, sums[2u * i + j / 4u][j % 4u]);
    }
  }
}

// 6. d_bias = the sum of a column of grad_pre: the bias was added to each row
//    of every item. 16 loads of a thread are on their way at once.
@compute @workgroup_size(16, TILE_K)
fn gemm_bwd_dbias_f32(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(local_invocation_id) local: vec3u,
) {
  let n = workgroup.x * 16u + local.x;  // [0, N) or past the edge
  let column = min(n, N - 1u);          // past the edge, the last one again
  var sum = vec4f();
  var row = local.y;
  for (; row + 15u * TILE_K < ALL_ROWS; row += 16u * TILE_K) {  // [0, batch*M)
    for (var i = 0u; i < 16u; i++) {  // unroll
      sum[i % 4u] += grad_pre[(row + i * TILE_K) * N + column];
    }
  }
  for (; row < ALL_ROWS; row += TILE_K) {  // the rest
    sum.x += grad_pre[row * N + column];
  }
  left[local.y][local.x] = sum;
  workgroupBarrier();  // the sums of all rows are in place
  if (local.y == 0u && n < N) {
    for (var i = 1u; i < TILE_K; i++) {  // unroll
      sum += left[i][local.x];
    }
    d_bias[n] = sum.x + sum.y + sum.z + sum.w;
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
  if (is_nan(x) && ACTIVATION > 0u) { return x; }
  switch ACTIVATION {
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
