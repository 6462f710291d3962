// gemm_bias_act / 6_registers_only
//
// in        a (batch, M, K), b (K, N) or (batch, K, N), bias (N)
// out       output (batch, M, N)
// dispatch  (ceil(N/W), ceil(M/H), batch) workgroups of 8 threads, each with
//           TILE_ROWS x TILE_VEC4S vec4s, with W = 4*ACROSS*TILE_VEC4S and
//           H = DOWN*TILE_ROWS;
//           where all items share one b, they count as one with batch*M rows
// barriers  none: a thread keeps all that it reads to itself
// cost      per element of full tiles, without act:
//           K/(4*TILE_ROWS) + K/(16*TILE_VEC4S) + 1/2 global loads,
//           0 workgroup loads, K multiply-adds
// limits    K and N are multiples of 4, as all tensors are bound as vec4f;
//           on a GPU, too many registers for a thread, and too few threads
// new here  made for a CPU, where a load costs as much as 20 multiply-adds, be it
//           from workgroup memory or not, and a barrier more: so a thread loads
//           for as many products as it can, and waits for nobody; all tensors
//           are vec4f

// --- Shared with other files: product_sizes ---

// The layer: the launcher writes its sizes in here.
const M: u32 = 64u;        // rows of one item, or of all that share one b
const K: u32 = 64u;
const N: u32 = 64u;
const B_STRIDE: u32 = 0u;  // from one item's b to the next: K*N, or 0

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

// --- In this file only: kernel ---

@group(0) @binding(0)
var<storage, read> a: array<vec4f>;             // (batch, M, K)
@group(0) @binding(1)
var<storage, read> b: array<vec4f>;             // ([batch,] K, N)
@group(0) @binding(2)
var<storage, read> bias: array<vec4f>;          // (N)
@group(0) @binding(3)
var<storage, read_write> output: array<vec4f>;  // (batch, M, N)

// 1. Read a vec4 of each operand.
fn read_a(item: u32, m: u32, k: u32) -> vec4f {
  return a[((item * M + m) * K + k) / 4u];
}

// 2. A vec4 of the sums becomes one of the output.
fn finish(at: u32, n: u32) {
  let pre = output[at / 4u] + bias[n / 4u];
  output[at / 4u] = vec4f(
    activate(pre.x), activate(pre.y), activate(pre.z), activate(pre.w)
  );
}

// 3. Add up along k. A row or a vec4 past the edge reads the last one again, and
//    is not written.
@compute @workgroup_size(8)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(local_invocation_index) thread: u32,  // [0, 8)
) {
  let item = workgroup.z;
  let m0 = (workgroup.y * DOWN + thread / ACROSS) * TILE_ROWS;
  let n0 = workgroup.x * NEXT * TILE_VEC4S + thread % ACROSS * 4u;
  for (var k = 0u; k < K; k += 4u) {  // [0, K)
    for (var row = 0u; row < TILE_ROWS; row++) {  // unroll
      left[row] = read_a(item, min(m0 + row, M - 1u), k);
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
      if (m < M && n < N) {
        output[((item * M + m) * N + n) / 4u] = sums[row * TILE_VEC4S + four];
      }
    }
  }
  // Registers have no index at run time, and act is too long a text to be written
  // out for each of them: so it works on what is in memory by now.
  for (var i = 0u; i < TILE_ROWS * TILE_VEC4S; i++) {
    let m = m0 + i / TILE_VEC4S;
    let n = n0 + NEXT * (i % TILE_VEC4S);
    if (m < M && n < N) {
      finish((item * M + m) * N + n, n);
    }
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
