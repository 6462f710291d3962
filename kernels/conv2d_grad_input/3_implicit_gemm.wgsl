// conv2d_grad_input / 3_implicit_gemm
//
// in        grad_output (N, Co, oH, oW), weight (Co, Ci/G, kH, kW)
// out       grad_input (N, Ci, H, W)
// dispatch  one thread for 4 weights of the padded matrices; then for each tile of
//           TILE_M channels of a group x TILE_N pixels, SPLITS workgroups of
//           TILE_M/8 * TILE_N/8 threads; then, where SPLITS > 1,
//           one thread for each pixel
// barriers  one before a product: a thread multiplies what others loaded;
//           one after it: no thread may still read the old tile
// cost      per pixel of full tiles, with SPLITS = 1, where TILE_K divides Co/G:
//           Co/G*kH*kW*(1/TILE_M + 1/(4*TILE_N) + 1/(N*H*W)) global loads,
//           Co/G*kH*kW/16 workgroup loads, Co/G*kH*kW multiply-adds
// limits    G * ceil(Ci/G / TILE_M) * SPLITS is at most 65,535;
//           with a stride over 1, all but one of Sh*Sw products are with a zero;
//           a group of few channels fills little of a tile of 32 rows or more;
//           a zero is multiplied too, so that a weight of NaN or infinity
//           reaches pixels to which it did not contribute
// new here  a matrix product without its matrix: rows are channels, columns are
//           input pixels, and each column of the right matrix, the outputs to
//           which a pixel contributed, is read from grad_output where it lies;
//           the sizes are constants, and SPLITS workgroups may share a sum;
//           a stride for each axis; dilation: tap (kh, kw) lies kh*Dh rows and
//           kw*Dw columns from the window's corner; groups: channel ci has
//           contributed to the Co/G channels of its group only, and each group is
//           a product of its own

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

const PLANE: u32 = OUT_H * OUT_W;           // outputs of a channel
const PIXELS: u32 = BATCH * IN_H * IN_W;    // columns

// The sum over k: first all channels of tap (0, 0), then those of (0, 1), ...
// RUN is Co/G, or the next multiple of TILE_K: then no step has two taps.
const RUN: u32 = 16u;
const STEPS: u32 = 9u;          // of TILE_K products each
const SPLITS: u32 = 1u;         // workgroups that share the sum of one tile
const ALIGNED: bool = false;    // are all tiles full?
const ROW_TILES: u32 = (GROUP_IN + TILE_M - 1u) / TILE_M;  // of a group
const INPUTS: u32 = IN_CHANNELS * PIXELS;

// --- Shared with other files: implicit_gemm_tiles ---

const A_EVERY: u32 = THREADS / A_VEC4S;    // from one k of a thread to its next
const B_EVERY: u32 = THREADS / B_VEC4S;
const TAP_STEPS = max(RUN / TILE_K, 1u);
const GROUP_VEC4S: u32 = ROW_TILES * A_VEC4S;  // of one k of a group
const M_VEC4S: u32 = GROUPS * GROUP_VEC4S;     // of one k in weights_by_k

var<workgroup> left: array<array<vec4f, A_VEC4S>, TILE_K>;
var<workgroup> right: array<array<vec4f, B_VEC4S>, TILE_K>;

// --- Shared with other files: conv2d_grad_input_buffers ---

// Where a version takes G groups, a filter has Ci/G channels.
@group(0) @binding(0)
var<storage, read> grad_output: array<f32>;       // (N,Co,oH,oW)
@group(0) @binding(1)
var<storage, read> weight: array<f32>;            // (Co,Ci,kH,kW)
@group(0) @binding(2)
var<storage, read_write> grad_input: array<f32>;  // (N,Ci,H,W)

// --- In this file only: passes ---

@group(0) @binding(3)
var<storage, read_write> weights_by_k: array<vec4f>;  // (STEPS*TILE_K,M_VEC4S)
@group(0) @binding(4)
var<storage, read_write> parts: array<f32>;           // (SPLITS,N,Ci,H,W)

// 1. The first pass: weights in the order of k, with zeros behind the last row
//    and in the gaps, so that the product loads them four at a time, unguarded.
fn weight_at(group: u32, m: u32, k: u32) -> f32 {
  let co = k % RUN;
  let tap = k / RUN;
  if (m >= GROUP_IN || co >= GROUP_OUT || tap >= KERNEL_H * KERNEL_W) {
    return 0.0;
  }
  let plane = (group * GROUP_OUT + co) * GROUP_IN + m;
  return weight[plane * (KERNEL_H * KERNEL_W) + tap];
}

@compute @workgroup_size(256)
fn lay_out_weights(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) thread: u32,  // [0, 256)
) {
  let index = (workgroup.y * grid.x + workgroup.x) * 256u + thread;
  if (index >= STEPS * TILE_K * M_VEC4S) {
    return;
  }
  let k = index / M_VEC4S;
  let group = index % M_VEC4S / GROUP_VEC4S;
  let m = index % GROUP_VEC4S * 4u;
  weights_by_k[index] = vec4f(
    weight_at(group, m, k), weight_at(group, m + 1u, k),
    weight_at(group, m + 2u, k), weight_at(group, m + 3u, k),
  );
}

// 2. Which pixels? A vec4 of columns holds 4 pixels that lie B_VEC4S apart, so
//    that neighboring threads load neighboring pixels (coalesced).
var<private> image: vec4u;   // where the group's channels of its image begin
var<private> padded_row: vec4u;     // ih + Ph, which is oh*Sh + kh*Dh
var<private> padded_column: vec4u;  // iw + Pw, which is ow*Sw + kw*Dw

fn find_columns(group: u32, first_pixel: u32) {
  for (var i = 0u; i < 4u; i++) {  // unroll
    let pixel = first_pixel + i * B_VEC4S;
    let n = pixel / (IN_H * IN_W);
    image[i] = (n * OUT_CHANNELS + group * GROUP_OUT) * PLANE;
    padded_row[i] = pixel / IN_W % IN_H + PADDING_H;
    padded_column[i] = pixel % IN_W + PADDING_W;
    if (!ALIGNED && pixel >= PIXELS) {
      // Below every window: it reads nothing.
      padded_row[i] = OUT_H * STRIDE_H + KERNEL_H * DILATION_H;
    }
  }
}

// 3. Fetch the factors of the next columns, while this tile is multiplied. All k of
//    a step are channels of one tap: where it falls is found once a tap.
var<private> tap: u32 = KERNEL_H * KERNEL_W;  // none yet

// Where a pixel has no factor, any number is loaded and `place` drops it: a branch
// around the load would cost more.
var<private> inside: vec4<bool>;  // has each pixel a factor at this tap?
var<private> at: vec4u;           // where it lies, without its channel

fn go_to_tap() {
  for (var i = 0u; i < 4u; i++) {  // unroll
    // h is oh*Sh, if oh is whole. Below 0, it wraps to more than oH*Sh; so does w.
    let h = padded_row[i] - tap / KERNEL_W * DILATION_H;
    let w = padded_column[i] - tap % KERNEL_W * DILATION_W;
    let whole = h % STRIDE_H == 0u && w % STRIDE_W == 0u;
    inside[i] = whole && h / STRIDE_H < OUT_H && w / STRIDE_W < OUT_W;
    let address = image[i] + h / STRIDE_H * OUT_W + w / STRIDE_W;
    at[i] = select(0u, address, inside[i]);
  }
}

fn read_channel(pixel: u32, co: u32) -> f32 {
  if (RUN == GROUP_OUT || co < GROUP_OUT) {
    return grad_output[pixel + co * PLANE];
  }
  return 0.0;
}

fn fetch_channels(thread: u32, step: u32) {
  if (step / TAP_STEPS != tap) {
    tap = step / TAP_STEPS;
    go_to_tap();
  }
  let co = step % TAP_STEPS * TILE_K + thread / B_VEC4S;
  for (var i = 0u; i < 4u; i++) {  // unroll
    for (var j = 0u; j < B_LOADS; j++) {  // unroll
      next_right[j][i] = read_channel(at[i], co + j * B_EVERY);
    }
  }
}

// Few channels: a step has several taps, and each k is decoded.
fn fetch_taps(thread: u32, step: u32) {
  inside = vec4<bool>(true);  // here, zeros are put in at once
  for (var j = 0u; j < B_LOADS; j++) {  // unroll
    let k = step * TILE_K + thread / B_VEC4S + j * B_EVERY;
    let kh = k / (RUN * KERNEL_W);  // [0, kH), or behind the last tap
    let kw = k / RUN % KERNEL_W;    // [0, kW)
    for (var i = 0u; i < 4u; i++) {  // unroll
      let h = padded_row[i] - kh * DILATION_H;
      let w = padded_column[i] - kw * DILATION_W;
      let oh = h / STRIDE_H;
      let ow = w / STRIDE_W;
      let whole = h % STRIDE_H == 0u && w % STRIDE_W == 0u;
      next_right[j][i] = 0.0;
      if (whole && kh < KERNEL_H && oh < OUT_H && ow < OUT_W) {
        let plane = image[i] + k % RUN * PLANE;
        next_right[j][i] = grad_output[plane + oh * OUT_W + ow];
      }
    }
  }
}

// 4. Add up the products of a tile, from step `first` up to `end`. The next tile is
//    on its way while this one is multiplied.
fn add_products(tile: Tile, thread: u32) {
  let first = tile.split * STEPS / SPLITS;
  let end = (tile.split + 1u) * STEPS / SPLITS;
  find_columns(tile.group, tile.n0 + thread % B_VEC4S);
  fetch(thread, tile, first);
  for (var step = first; step < end; step++) {
    place(thread);
    workgroupBarrier();  // the tiles are complete
    if (step + 1u < end) {
      fetch(thread, tile, step + 1u);
    }
    multiply(row_of(thread), column_of(thread));
    workgroupBarrier();  // no thread still reads them
  }
}

// 5. Where is the element of a channel and a pixel? Is there one?
fn index_of(ci: u32, pixel: u32) -> u32 {
  let plane = pixel / (IN_H * IN_W) * IN_CHANNELS + ci;
  return plane * (IN_H * IN_W) + pixel % (IN_H * IN_W);
}

fn exists(m: u32, pixel: u32) -> bool {
  return ALIGNED || (m < GROUP_IN && pixel < PIXELS);
}

// 6. The second pass, where one workgroup has a whole sum: write it.
@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) thread: u32,  // [0, THREADS)
) {
  let tile = tile_of(workgroup, grid.x);
  add_products(tile, thread);
  for (var i = 0u; i < 8u; i++) {  // unroll
    let m = m_of(tile, thread, i);
    let ci = tile.group * GROUP_IN + m;
    for (var j = 0u; j < 8u; j++) {  // unroll
      let pixel = pixel_of(tile, thread, j);
      if (exists(m, pixel)) {
        grad_input[index_of(ci, pixel)] = sums[2u * i + j / 4u][j % 4u];
      }
    }
  }
}

// 7. The second pass, where SPLITS workgroups share a sum: write a part of it.
@compute @workgroup_size(THREADS)
fn multiply_parts(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) thread: u32,  // [0, THREADS)
) {
  let tile = tile_of(workgroup, grid.x);
  add_products(tile, thread);
  for (var i = 0u; i < 8u; i++) {  // unroll
    let m = m_of(tile, thread, i);
    let ci = tile.group * GROUP_IN + m;
    for (var j = 0u; j < 8u; j++) {  // unroll
      let pixel = pixel_of(tile, thread, j);
      if (exists(m, pixel)) {
        let index = tile.split * INPUTS + index_of(ci, pixel);
        parts[index] = sums[2u * i + j / 4u][j % 4u];
      }
    }
  }
}

// 8. The last pass, where there are parts: add them.
@compute @workgroup_size(256)
fn add_parts(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) thread: u32,  // [0, 256)
) {
  let index = (workgroup.y * grid.x + workgroup.x) * 256u + thread;
  if (index >= INPUTS) {
    return;
  }
  var sum = 0.0;
  for (var split = 0u; split < SPLITS; split++) {
    sum += parts[split * INPUTS + index];
  }
  grad_input[index] = sum;
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

// --- Shared with other files: implicit_gemm ---

// Which tile is a workgroup's? Each group of channels has tiles of its own.
struct Tile {
  group: u32,  // [0, G)
  m0: u32,     // its first row in the group
  n0: u32,     // its first column
  split: u32,  // which part of the sums, [0, SPLITS)
}

fn tile_of(workgroup: vec3u, across: u32) -> Tile {
  let group = workgroup.z / ROW_TILES % GROUPS;
  let m0 = workgroup.z % ROW_TILES * TILE_M;
  let n0 = (workgroup.y * across + workgroup.x) * TILE_N;
  return Tile(group, m0, n0, workgroup.z / (ROW_TILES * GROUPS));
}

// Fetch the next tile into registers, while this one is multiplied.
fn fetch_weights(thread: u32, tile: Tile, step: u32) {
  let k = step * TILE_K + thread / A_VEC4S;
  let first_of_k = k * M_VEC4S + tile.group * GROUP_VEC4S + tile.m0 / 4u;
  let first = first_of_k + thread % A_VEC4S;
  for (var i = 0u; i < A_LOADS; i++) {  // unroll
    next_left[i] = weights_by_k[first + i * A_EVERY * M_VEC4S];
  }
}

fn fetch(thread: u32, tile: Tile, step: u32) {
  fetch_weights(thread, tile, step);
  if (RUN % TILE_K == 0u) {
    fetch_channels(thread, step);
  } else {
    fetch_taps(thread, step);
  }
}

fn place(thread: u32) {
  for (var i = 0u; i < A_LOADS; i++) {  // unroll
    left[thread / A_VEC4S + i * A_EVERY][thread % A_VEC4S] = next_left[i];
  }
  for (var i = 0u; i < B_LOADS; i++) {  // unroll
    let factors = select(vec4f(), next_right[i], inside);
    right[thread / B_VEC4S + i * B_EVERY][thread % B_VEC4S] = factors;
  }
}

// A warp reads 4 vec4s of rows and 8 of columns: few addresses, no conflicts.
fn row_of(thread: u32) -> u32 {
  return thread / 32u / (TILE_N / 64u) * 4u + thread / 8u % 4u;
}

fn column_of(thread: u32) -> u32 {
  return thread / 32u % (TILE_N / 64u) * 8u + thread % 8u;
}

// Where are the 8 x 8 sums of a thread? Sum (i, j) is in vec4 j/4 of row i.
// A row of the product is a channel of the tile's group.
fn m_of(tile: Tile, thread: u32, i: u32) -> u32 {
  return tile.m0 + 4u * (row_of(thread) + i / 4u * (TILE_M / 8u)) + i % 4u;
}

fn pixel_of(tile: Tile, thread: u32, j: u32) -> u32 {
  return tile.n0 + column_of(thread) + j / 4u * (TILE_N / 8u) + j % 4u * B_VEC4S;
}
