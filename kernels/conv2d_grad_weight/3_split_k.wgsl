// conv2d_grad_weight / 3_split_k
//
// in        grad_output (N, Co, oH, oW), input (N, Ci, H, W)
// out       grad_weight (Co, Ci/G, kH, kW)
// dispatch  for each tile of TILE_M output channels of a group x TILE_N weights,
//           SPLITS workgroups of TILE_M/8 * TILE_N/8 threads; then workgroups
//           of 128 threads, each for 64 weights
// barriers  one before a product: a thread multiplies what others loaded;
//           one after it: no thread may still read the old tile;
//           one before the last sum: it adds what others added
// cost      per weight of full tiles, with K = N*oH*oW:
//           K/TILE_M + K/TILE_N + SPLITS/4 global loads,
//           K/16 + 7/4 workgroup loads, K multiply-adds
// limits    G * ceil(Co/G / TILE_M) * SPLITS is at most 65,535; a group of few
//           channels fills little of a tile of 32 rows or more;
//           channels are taken in fours, so that a group with one input channel has
//           3 zeros for each weight; a zero of the padding is multiplied too:
//           a grad_output of NaN or infinity reaches weights that saw only
//           padding there
// new here  a matrix product: rows are channels co, columns the channels ci of each
//           tap, and k counts the outputs; the sizes are constants;
//           split-K: a few weights, each with a sum over all outputs, make few
//           tiles; SPLITS workgroups share the sum of each, and a second pass
//           adds their parts in a fixed order;
//           a stride for each axis; dilation: tap (kh, kw) lies kh*Dh rows and
//           kw*Dw columns from the window's corner; groups: filter co has weights
//           for the Ci/G channels of its group only, and each group is a product
//           of its own

// --- Shared with other files: convolution_sizes ---

// The layer: the launcher writes its sizes in here.
const BATCH: u32 = 2u;         // N
const IN_CHANNELS: u32 = 4u;   // Ci
const IN_H: u32 = 8u;          // H
const IN_W: u32 = 9u;          // W
const OUT_CHANNELS: u32 = 4u;  // Co
const PADDING_H: u32 = 1u;     // Ph
const PADDING_W: u32 = 1u;     // Pw
const OUT_H: u32 = 8u;         // oH
const OUT_W: u32 = 9u;         // oW

// --- Shared with other files: filter_sizes ---

// The layer's filters: the launcher writes their sizes in here, too.
const KERNEL_H: u32 = 3u;    // kH
const KERNEL_W: u32 = 3u;    // kW
const STRIDE_H: u32 = 1u;    // Sh
const STRIDE_W: u32 = 1u;    // Sw
const DILATION_H: u32 = 1u;  // Dh
const DILATION_W: u32 = 1u;  // Dw
const GROUPS: u32 = 1u;      // G
const GROUP_IN: u32 = IN_CHANNELS / GROUPS;  // channels of a group
const GROUP_OUT: u32 = OUT_CHANNELS / GROUPS;

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

const PLANE: u32 = IN_H * IN_W;        // pixels of a channel
const OUT_PLANE: u32 = OUT_H * OUT_W;  // outputs of a channel
const K: u32 = BATCH * OUT_PLANE;      // products of a sum

// A vec4 of columns is 4 channels of one tap: first all of tap (0, 0), ...
const TAP_VEC4S: u32 = (GROUP_IN + 3u) / 4u;
const VEC4S_FULL: bool = GROUP_IN % 4u == 0u;  // no channel past Ci/G in any
const N_VEC4S: u32 = KERNEL_H * KERNEL_W * TAP_VEC4S;  // of a row of parts
const STEPS: u32 = 9u;          // of TILE_K products each
const SPLITS: u32 = 1u;         // workgroups that share the sum of one tile

const PAD: u32 = 1u;            // vec4s behind each row: without, 16 threads would
                                // store into one bank
const ALIGNED: bool = false;    // are all tiles full?
const EVERY: u32 = THREADS / TILE_K;  // from one vec4 of a thread to its next
const ROW_TILES: u32 = (GROUP_OUT + TILE_M - 1u) / TILE_M;  // of a group
const SHARES: u32 = 8u;         // threads that share the parts of 4 weights

// --- Shared with other files: conv2d_grad_weight_buffers ---

// Where a version takes G groups, a filter has Ci/G channels.
@group(0) @binding(0)
var<storage, read> grad_output: array<f32>;        // (N,Co,oH,oW)
@group(0) @binding(1)
var<storage, read> input: array<f32>;              // (N,Ci,H,W)
@group(0) @binding(2)
var<storage, read_write> grad_weight: array<f32>;  // (Co,Ci,kH,kW)

// --- In this file only: passes ---

@group(0) @binding(3)
var<storage, read_write> parts: array<vec4f>;      // (SPLITS,Co,N_VEC4S)

var<workgroup> left: array<array<vec4f, A_VEC4S + PAD>, TILE_K>;
var<workgroup> right: array<array<vec4f, B_VEC4S + PAD>, TILE_K>;

// 1. Which taps? They stay the same for all products of a thread.
var<private> tap_h: array<u32, B_LOADS>;   // kh*Dh - Ph; below 0 it wraps
var<private> tap_w: array<u32, B_LOADS>;   // kw*Dw - Pw
var<private> channel: array<u32, B_LOADS>; // the first of 4 in the group

fn find_taps(first_four: u32) {
  for (var i = 0u; i < B_LOADS; i++) {  // unroll
    let four = first_four + i * EVERY;
    let tap = four / TAP_VEC4S;
    tap_h[i] = tap / KERNEL_W * DILATION_H - PADDING_H;
    tap_w[i] = tap % KERNEL_W * DILATION_W - PADDING_W;
    channel[i] = four % TAP_VEC4S * 4u;
    if (!ALIGNED && four >= N_VEC4S) {
      tap_h[i] = IN_H;  // below the input: reads nothing
    }
  }
}

// 2. Fetch the next tile into registers, while this one is multiplied. Lanes lie
//    along k, where neighbors are neighbors in memory. Divisions by
//    constants compile to multiplications.
fn output_at(first_plane: u32, m: u32, position: u32, k: u32) -> f32 {
  if ((K % TILE_K == 0u || k < K) && (ALIGNED || m < GROUP_OUT)) {
    return grad_output[(first_plane + m) * OUT_PLANE + position];
  }
  return 0.0;
}

fn fetch_outputs(thread: u32, group: u32, m0: u32, k: u32) {
  let first = k / OUT_PLANE * OUT_CHANNELS + group * GROUP_OUT;
  let position = k % OUT_PLANE;
  for (var i = 0u; i < A_LOADS; i++) {  // unroll
    let m = m0 + 4u * (thread / TILE_K + i * EVERY);
    next_left[i] = vec4f(
      output_at(first, m, position, k), output_at(first, m + 1u, position, k),
      output_at(first, m + 2u, position, k), output_at(first, m + 3u, position, k),
    );
  }
}

// Outside, any pixel is loaded and `place` drops it: a branch around the load would
// cost more.
var<private> inside: array<bool, B_LOADS>;

fn fetch_inputs(group: u32, k: u32) {
  let first = k / OUT_PLANE * IN_CHANNELS + group * GROUP_IN;
  let top = k / OUT_W % OUT_H * STRIDE_H;
  let start = k % OUT_W * STRIDE_W;
  for (var i = 0u; i < B_LOADS; i++) {  // unroll
    let ih = top + tap_h[i];    // [0, H) or padding
    let iw = start + tap_w[i];  // [0, W) or padding
    inside[i] = ih < IN_H && iw < IN_W && (K % TILE_K == 0u || k < K);
    let pixel = (first + channel[i]) * PLANE + ih * IN_W + iw;
    let at = select(0u, pixel, inside[i]);
    for (var c = 0u; c < 4u; c++) {  // unroll
      next_right[i][c] = 0.0;
      if (VEC4S_FULL || channel[i] + c < GROUP_IN) {
        next_right[i][c] = input[at + c * PLANE];
      }
    }
  }
}

fn fetch(thread: u32, group: u32, m0: u32, step: u32) {
  let k = step * TILE_K + thread % TILE_K;  // [0, N*oH*oW), or behind it
  fetch_outputs(thread, group, m0, k);
  fetch_inputs(group, k);
}

fn place(thread: u32) {
  for (var i = 0u; i < A_LOADS; i++) {  // unroll
    left[thread % TILE_K][thread / TILE_K + i * EVERY] = next_left[i];
  }
  for (var i = 0u; i < B_LOADS; i++) {  // unroll
    let factors = select(vec4f(), next_right[i], inside[i]);
    right[thread % TILE_K][thread / TILE_K + i * EVERY] = factors;
  }
}

@compute @workgroup_size(THREADS)
fn multiply_parts(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) thread: u32,  // [0, THREADS)
) {
  let n0 = (workgroup.y * grid.x + workgroup.x) * TILE_N;
  let m0 = workgroup.z % ROW_TILES * TILE_M;    // in its group
  let group = workgroup.z / ROW_TILES % GROUPS;
  let split = workgroup.z / (ROW_TILES * GROUPS);
  let end = (split + 1u) * STEPS / SPLITS;

  // A warp reads 4 vec4s of rows and 8 of columns: few addresses, no conflicts.
  const ACROSS = TILE_N / 64u;
  let row = thread / 32u / ACROSS * 4u + thread / 8u % 4u;
  let column = thread / 32u % ACROSS * 8u + thread % 8u;

  find_taps(n0 / 4u + thread / TILE_K);
  fetch(thread, group, m0, split * STEPS / SPLITS);
  for (var step = split * STEPS / SPLITS; step < end; step++) {
    place(thread);
    workgroupBarrier();  // the tiles are complete
    if (step + 1u < end) {
      fetch(thread, group, m0, step + 1u);
    }
    multiply(row, column);
    workgroupBarrier();  // no thread still reads them
  }

  for (var i = 0u; i < 8u; i++) {  // unroll
    let m = m0 + 4u * (row + i / 4u * (TILE_M / 8u)) + i % 4u;
    let co = group * GROUP_OUT + m;
    for (var j = 0u; j < 2u; j++) {  // unroll
      let four = n0 / 4u + column + j * (TILE_N / 8u);
      if (ALIGNED || (m < GROUP_OUT && four < N_VEC4S)) {
        parts[(split * OUT_CHANNELS + co) * N_VEC4S + four] = sums[2u * i + j];
      }
    }
  }
}

// 3. The second pass: 8 threads share the parts of 4 weights, each takes every
//    eighth; then one of them adds the 8 sums.
var<workgroup> shared_sums: array<array<vec4f, 16>, SHARES>;

@compute @workgroup_size(128)
fn add_parts(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) thread: u32,  // [0, 128)
) {
  let index = (workgroup.y * grid.x + workgroup.x) * 16u + thread % 16u;
  let share = thread / 16u;
  var sum = vec4f();
  if (index < OUT_CHANNELS * N_VEC4S) {
    for (var split = share; split < SPLITS; split += SHARES) {
      sum += parts[split * OUT_CHANNELS * N_VEC4S + index];
    }
  }
  shared_sums[share][thread % 16u] = sum;
  workgroupBarrier();  // all shares are written

  if (share == 0u && index < OUT_CHANNELS * N_VEC4S) {
    for (var i = 1u; i < SHARES; i++) {  // unroll
      sum += shared_sums[i][thread];
    }
    let co = index / N_VEC4S;
    let tap = index % N_VEC4S / TAP_VEC4S;
    let ci = index % TAP_VEC4S * 4u;
    for (var c = 0u; c < 4u; c++) {  // unroll
      if (VEC4S_FULL || ci + c < GROUP_IN) {
        let plane = co * GROUP_IN + ci + c;
        grad_weight[plane * (KERNEL_H * KERNEL_W) + tap] = sum[c];
      }
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
