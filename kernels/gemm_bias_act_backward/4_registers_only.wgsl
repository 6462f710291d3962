// gemm_bias_act_backward / 4_registers_only
//
// in        a (batch, M, K), b (K, N) or (batch, K, N),
//           bias (N), grad (batch, M, N)
// out       grad_pre (batch, M, N), d_a (batch, M, K),
//           d_b (K, N) or (batch, K, N), d_bias (N)
// dispatch  workgroups of 8 threads, each with TILE_ROWS x TILE_VEC4S vec4s,
//           or with one vec4 of columns in the last pass;
//           the last three passes read the grad_pre that the first one writes
//           gemm_bwd_grad_pre_f32  (ceil(N/W), ceil(M/H), batch), with
//                                  W = 4*ACROSS*TILE_VEC4S, H = DOWN*TILE_ROWS
//           gemm_bwd_da_f32        (ceil(K/W), ceil(M/H), batch)
//           gemm_bwd_db_f32        (ceil(N/W), ceil(K/H), 1), or
//                                  batch layers where d_b is per item
//           gemm_bwd_dbias_f32     (ceil(N/32), 1, 1)
//           where all items share one b, the first two passes take them for one
//           item with batch*M rows
// barriers  none: a thread keeps all that it reads to itself
// cost      per element of full tiles, without act':
//           global loads, workgroup loads, multiply-adds
//           grad_pre  K/(4*TILE_ROWS) + K/(16*TILE_VEC4S) + 3/4, 0, K
//           d_a       N/(4*TILE_ROWS) + N/(16*TILE_VEC4S), 0, N
//           d_b       batch*M/(4*TILE_ROWS) + batch*M/(16*TILE_VEC4S), 0,
//                     batch*M; or
//                     M/(4*TILE_ROWS) + M/(16*TILE_VEC4S), 0,
//                     M where d_b is per item
//           d_bias    batch*M/4, 0, 0 (only additions)
// limits    the eight storage bindings are eight distinct buffers;
//           K and N are multiples of 4, as all tensors are bound as vec4f;
//           on a GPU, too many registers for a thread, and too few threads
// new here  made for a CPU, where a load costs as much as 20 multiply-adds, be it
//           from workgroup memory or not, and a barrier more: so a thread loads
//           for as many products as it can, and waits for nobody; all tensors
//           are vec4f

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

// --- Shared with other files: row_tiles ---

// A thread's tile: rows of vec4f. The workgroup is the 8 threads that a
// CPU with AVX runs as one: DOWN rows of ACROSS threads, with neighboring vec4s.
const TILE_ROWS: u32 = 4u;
const TILE_VEC4S: u32 = 1u;
const ACROSS: u32 = 4u;
const DOWN: u32 = 8u / ACROSS;
const NEXT: u32 = 4u * ACROSS;  // from one of a thread's vec4s to its next

// Of both operands, four steps along k; and the results.
var<private> left: array<vec4f, TILE_ROWS>;  // each row's numbers at the four steps
var<private> right: array<vec4f, 4>;         // one vec4 of columns at each step
var<private> sums: array<vec4f, TILE_ROWS * TILE_VEC4S>;

// --- In this file only: passes ---

@group(0) @binding(0)
var<storage, read_write> a: array<vec4f>;         // (batch, M, K)
@group(0) @binding(1)
var<storage, read_write> b: array<vec4f>;         // ([batch,] K, N)
@group(0) @binding(2)
var<storage, read_write> bias: array<vec4f>;      // (N)
@group(0) @binding(3)
var<storage, read_write> grad: array<vec4f>;      // (batch, M, N)
@group(0) @binding(4)
var<storage, read_write> grad_pre: array<vec4f>;  // (batch, M, N)
@group(0) @binding(5)
var<storage, read_write> d_a: array<vec4f>;       // (batch, M, K)
@group(0) @binding(6)
var<storage, read_write> d_b: array<vec4f>;       // ([batch,] K, N)
@group(0) @binding(7)
var<storage, read_write> d_bias: array<vec4f>;    // (N)

// 1. Read a vec4 of each operand. Rows count through all items.
fn read_a(row: u32, k: u32) -> vec4f {
  return a[(row * K + k) / 4u];
}

fn read_grad_pre(row: u32, n: u32) -> vec4f {
  return grad_pre[(row * N + n) / 4u];
}

// The row of a and grad_pre at a step of d_b's sum; and is the step within it?
fn row_of_d_b(item: u32, m: u32) -> u32 {
  return item * D_B_ROWS + min(m, D_B_ROWS - 1u);
}

fn counts(m: u32) -> bool {
  return D_B_ROWS % 4u == 0u || m < D_B_ROWS;
}

// 2. Which tile is a thread's: its first row, and its first column.
fn first_row(workgroup: u32, thread: u32) -> u32 {
  return (workgroup * DOWN + thread / ACROSS) * TILE_ROWS;
}

fn first_column(workgroup: u32, thread: u32) -> u32 {
  return workgroup * NEXT * TILE_VEC4S + thread % ACROSS * 4u;
}

// 3. Where rows lie side by side along the sum, four vec4s hold four rows at one
//    step: exchange rows and steps.
fn transposed(block: array<vec4f, 4>) -> array<vec4f, 4> {
  return array<vec4f, 4>(
    vec4f(block[0].x, block[1].x, block[2].x, block[3].x),
    vec4f(block[0].y, block[1].y, block[2].y, block[3].y),
    vec4f(block[0].z, block[1].z, block[2].z, block[3].z),
    vec4f(block[0].w, block[1].w, block[2].w, block[3].w),
  );
}

// 4. grad_pre = grad * act'(a @ b + bias): the sum is along k. A row or a vec4
//    past the edge reads the last one again, and is not written. `finish` makes a
//    vec4 of the sums one of grad_pre.
fn finish(at: u32, n: u32) {
  let pre = grad_pre[at / 4u] + bias[n / 4u];
  grad_pre[at / 4u] = grad[at / 4u] * vec4f(
    finite_or_0(derivative(pre.x)), finite_or_0(derivative(pre.y)),
    finite_or_0(derivative(pre.z)), finite_or_0(derivative(pre.w)),
  );
}

@compute @workgroup_size(8)
fn gemm_bwd_grad_pre_f32(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(local_invocation_index) thread: u32,  // [0, 8)
) {
  let item = workgroup.z;
  let m0 = first_row(workgroup.y, thread);
  let n0 = first_column(workgroup.x, thread);
  for (var k = 0u; k < K; k += 4u) {  // [0, K)
    for (var row = 0u; row < TILE_ROWS; row++) {  // unroll
      left[row] = read_a(item * ROWS + min(m0 + row, ROWS - 1u), k);
    }
    for (var four = 0u; four < TILE_VEC4S; four++) {  // unroll
      for (var i = 0u; i < 4u; i++) {  // unroll
        right[i] = read_b(item, k + i, min(n0 + NEXT * four, N - 4u));
      }
      multiply(four);
    }
  }
  for (var row = 0u; row < TILE_ROWS; row++) {  // unroll
    for (var four = 0u; four < TILE_VEC4S; four++) {  // unroll
      let m = m0 + row;
      let n = n0 + NEXT * four;
      if (m < ROWS && n < N) {
        grad_pre[((item * ROWS + m) * N + n) / 4u] = sums[row * TILE_VEC4S + four];
      }
    }
  }
  // Registers have no index at run time, and act' is too long a text to be written
  // out for each of them: so it works on what is in memory by now.
  for (var i = 0u; i < TILE_ROWS * TILE_VEC4S; i++) {
    let m = m0 + i / TILE_VEC4S;
    let n = n0 + NEXT * (i % TILE_VEC4S);
    if (m < ROWS && n < N) {
      finish((item * ROWS + m) * N + n, n);
    }
  }
}

// 5. d_a = grad_pre @ b^T: the sum is along n, where a vec4 has four steps of one
//    column of b^T.
@compute @workgroup_size(8)
fn gemm_bwd_da_f32(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(local_invocation_index) thread: u32,  // [0, 8)
) {
  let item = workgroup.z;
  let m0 = first_row(workgroup.y, thread);
  let k0 = first_column(workgroup.x, thread);
  for (var n = 0u; n < N; n += 4u) {  // [0, N)
    for (var row = 0u; row < TILE_ROWS; row++) {  // unroll
      left[row] = read_grad_pre(item * ROWS + min(m0 + row, ROWS - 1u), n);
    }
    for (var four = 0u; four < TILE_VEC4S; four++) {  // unroll
      let k = min(k0 + NEXT * four, K - 4u);
      for (var i = 0u; i < 4u; i++) {  // unroll
        right[i] = read_b(item, k + i, n);
      }
      right = transposed(right);
      multiply(four);
    }
  }
  for (var row = 0u; row < TILE_ROWS; row++) {  // unroll
    for (var four = 0u; four < TILE_VEC4S; four++) {  // unroll
      let m = m0 + row;
      let k = k0 + NEXT * four;
      if (m < ROWS && k < K) {
        d_a[((item * ROWS + m) * K + k) / 4u] = sums[row * TILE_VEC4S + four];
      }
    }
  }
}

// 6. d_b = a^T @ grad_pre: the sum is along the rows of one item, or of all, where
//    a vec4 has one step of four rows of a^T. Steps past the end count as 0.
@compute @workgroup_size(8)
fn gemm_bwd_db_f32(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(local_invocation_index) thread: u32,  // [0, 8)
) {
  let item = workgroup.z;  // the only one, unless d_b is per item
  let k0 = first_row(workgroup.y, thread);
  let n0 = first_column(workgroup.x, thread);
  for (var m = 0u; m < D_B_ROWS; m += 4u) {  // [0, D_B_ROWS)
    for (var row = 0u; row < TILE_ROWS; row += 4u) {  // unroll
      let k = min(k0 + row, K - 4u);
      var block: array<vec4f, 4>;
      for (var i = 0u; i < 4u; i++) {  // unroll
        block[i] = read_a(row_of_d_b(item, m + i), k);
        block[i] = select(vec4f(), block[i], counts(m + i));
      }
      block = transposed(block);
      for (var i = 0u; i < 4u; i++) {  // unroll
        left[row + i] = block[i];
      }
    }
    for (var four = 0u; four < TILE_VEC4S; four++) {  // unroll
      let n = min(n0 + NEXT * four, N - 4u);
      for (var i = 0u; i < 4u; i++) {  // unroll
        right[i] = read_grad_pre(row_of_d_b(item, m + i), n);
        right[i] = select(vec4f(), right[i], counts(m + i));
      }
      multiply(four);
    }
  }
  for (var row = 0u; row < TILE_ROWS; row++) {  // unroll
    for (var four = 0u; four < TILE_VEC4S; four++) {  // unroll
      let k = k0 + row;
      let n = n0 + NEXT * four;
      if (k < K && n < N) {
        d_b[(item * D_B_STRIDE + k * N + n) / 4u] = sums[row * TILE_VEC4S + four];
      }
    }
  }
}

// 7. d_bias = the sum of a column of grad_pre: the bias was added to each row
//     of every item.
@compute @workgroup_size(8)
fn gemm_bwd_dbias_f32(@builtin(global_invocation_id) global: vec3u) {
  let n = min(global.x * 4u, N - 4u);  // past the edge, the last vec4 again
  var sum = vec4f();
  for (var row = 0u; row < ALL_ROWS; row += 4u) {  // [0, batch*M)
    for (var i = 0u; i < 4u; i++) {  // unroll
      let next = read_grad_pre(min(row + i, ALL_ROWS - 1u), n);
      sum += select(vec4f(), next, row + i < ALL_ROWS);
    }
  }
  if (global.x * 4u < N) {
    d_bias[n / 4u] = sum;
  }
}

// --- Shared with other files: row_products ---

fn read_b(item: u32, k: u32, n: u32) -> vec4f {
  return b[(item * B_STRIDE + k * N + n) / 4u];
}

// Multiply: four products for each number in one column of vec4s.
fn multiply(four: u32) {
  for (var row = 0u; row < TILE_ROWS; row++) {  // unroll
    for (var i = 0u; i < 4u; i++) {  // unroll
      sums[row * TILE_VEC4S + four] += left[row][i] * right[i];
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
