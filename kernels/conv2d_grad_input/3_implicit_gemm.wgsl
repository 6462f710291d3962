// conv2d_grad_input / 3_implicit_gemm
//
// equation  grad_input[n,ci,ih,iw] = sum over co, kh, kw of
//             grad_output[n,co,oh,ow] * weight[co,ci,kh,kw],
//             where oh = (ih + Ph - kh) / S and ow = (iw + Pw - kw) / S
//             are whole and inside the output
// numpy     # grad_output with zeros between and around its elements
//           dilated = np.zeros((N, Co, H + 2*Ph + kH - 1, W + 2*Pw + kW - 1))
//           dilated[:, :, kH-1:H+2*Ph:S, kW-1:W+2*Pw:S] = grad_output
//           windows = sliding_window_view(dilated, (kH, kW), (2, 3))
//           windows = windows[:, :, Ph:Ph+H, Pw:Pw+W]
//           flipped = weight[:, :, ::-1, ::-1]
//           grad_input = np.einsum("nohwij,ocij->nchw", windows, flipped)
// in        grad_output (N, Co, oH, oW), weight (Co, Ci, kH, kW)
// out       grad_input (N, Ci, H, W)
// dispatch  one thread for 4 weights of the padded matrix; then for each tile of
//           TILE_M channels x TILE_N pixels, SPLITS workgroups of
//           TILE_M/8 * TILE_N/8 threads; then, where SPLITS > 1,
//           one thread for each pixel
// barriers  one before a product: a thread multiplies what others loaded;
//           one after it: no thread may still read the old tile
// cost      per pixel of full tiles, with K = Co*kH*kW, at most:
//           K/TILE_M + K/TILE_N global loads, K/4 workgroup loads of 4 numbers,
//           K multiply-adds
// limits    where S > 1, all but one of S*S products are with a zero;
//           a zero is multiplied too, so that a weight of NaN reaches pixels
//           to which it did not contribute
// new here  a matrix product without its matrix: rows are channels, columns are
//           input pixels, and each column of the right matrix, the outputs to
//           which a pixel contributed, is read from grad_output where it lies

// The layer: `specialize` writes in its sizes.
const BATCH: u32 = 2u;          // N
const IN_CHANNELS: u32 = 16u;   // Ci
const IN_H: u32 = 9u;           // H
const IN_W: u32 = 8u;           // W
const OUT_CHANNELS: u32 = 5u;   // Co
const KERNEL_H: u32 = 3u;       // kH
const KERNEL_W: u32 = 3u;       // kW
const STRIDE: u32 = 1u;         // S
const PADDING_H: u32 = 1u;      // Ph
const PADDING_W: u32 = 1u;      // Pw
const OUT_H: u32 = 9u;          // oH
const OUT_W: u32 = 8u;          // oW
const PLANE: u32 = OUT_H * OUT_W;           // outputs of a channel
const PIXELS: u32 = BATCH * IN_H * IN_W;    // columns

// The sum over k: first all channels of tap (0, 0), then those of (0, 1), ...
// RUN is Co, or the next multiple of TILE_K: then no step has two taps.
const RUN: u32 = 16u;
const STEPS: u32 = 9u;          // of TILE_K products each
const SPLITS: u32 = 1u;         // workgroups that share the sum of one tile

// The tile.
const TILE_M: u32 = 64u;        // rows of a workgroup
const TILE_N: u32 = 64u;        // columns of a workgroup
const TILE_K: u32 = 16u;        // products between two barriers
const PAD: u32 = 0u;            // quads behind each row, stored as it lies
const ALIGNED: bool = false;    // are all tiles full?
const THREADS: u32 = TILE_M / 8u * TILE_N / 8u;
const A_QUADS: u32 = TILE_M / 4u;
const B_QUADS: u32 = TILE_N / 4u;
const A_LOADS: u32 = TILE_K * A_QUADS / THREADS;
const B_LOADS: u32 = TILE_K * B_QUADS / THREADS;
const A_EVERY: u32 = THREADS / A_QUADS;    // from one k of a thread to its next
const B_EVERY: u32 = THREADS / B_QUADS;
const TAP_STEPS: u32 = max(RUN / TILE_K, 1u);
const ROW_TILES: u32 = (IN_CHANNELS + TILE_M - 1u) / TILE_M;
const M_QUADS: u32 = ROW_TILES * A_QUADS;  // of one k in weights_by_k
const INPUTS: u32 = IN_CHANNELS * PIXELS;

@group(0) @binding(0)
var<storage, read> grad_output: array<f32>;           // (N,Co,oH,oW)
@group(0) @binding(1)
var<storage, read> weight: array<f32>;                // (Co,Ci,kH,kW)
@group(0) @binding(2)
var<storage, read_write> grad_input: array<f32>;      // (N,Ci,H,W)
@group(0) @binding(3)
var<storage, read_write> weights_by_k: array<vec4f>;  // (STEPS*TILE_K,M_QUADS)
@group(0) @binding(4)
var<storage, read_write> parts: array<f32>;           // (SPLITS,N,Ci,H,W)

var<workgroup> left: array<array<vec4f, A_QUADS + PAD>, TILE_K>;
var<workgroup> right: array<array<vec4f, B_QUADS + PAD>, TILE_K>;
var<private> sums: array<vec4f, 16>;
var<private> next_left: array<vec4f, A_LOADS>;
var<private> next_right: array<vec4f, B_LOADS>;

// 1. The first pass: weights in the order of k, with zeros behind the last row
//    and in the gaps, so that the product loads them four at a time, unguarded.
fn weight_at(ci: u32, k: u32) -> f32 {
  let co = k % RUN;
  let tap = k / RUN;
  if (ci >= IN_CHANNELS || co >= OUT_CHANNELS || tap >= KERNEL_H * KERNEL_W) {
    return 0.0;
  }
  return weight[(co * IN_CHANNELS + ci) * (KERNEL_H * KERNEL_W) + tap];
}

@compute @workgroup_size(256)
fn lay_out_weights(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let index = (workgroup.y * grid.x + workgroup.x) * 256u + thread;
  if (index >= STEPS * TILE_K * M_QUADS) {
    return;
  }
  let k = index / M_QUADS;
  let quad = index % M_QUADS;
  weights_by_k[index] = vec4f(
    weight_at(4u * quad, k), weight_at(4u * quad + 1u, k),
    weight_at(4u * quad + 2u, k), weight_at(4u * quad + 3u, k),
  );
}

// 2. Which pixels? A quad of columns holds 4 pixels that lie B_QUADS apart, so
//    that neighboring threads load neighboring pixels (coalesced).
var<private> image: vec4u;   // where the image of each begins in grad_output
var<private> row: vec4u;     // ih + Ph, which is oh*S + kh
var<private> column: vec4u;  // iw + Pw, which is ow*S + kw

fn find_pixels(first_pixel: u32) {
  for (var i = 0u; i < 4u; i++) {  // unroll
    let pixel = first_pixel + i * B_QUADS;
    image[i] = pixel / (IN_H * IN_W) * (OUT_CHANNELS * PLANE);
    row[i] = pixel / IN_W % IN_H + PADDING_H;
    column[i] = pixel % IN_W + PADDING_W;
    if (!ALIGNED && pixel >= PIXELS) {
      row[i] = OUT_H * STRIDE + KERNEL_H;  // below every window: reads nothing
    }
  }
}

// 3. Fetch the next tile into registers, while this one is multiplied.
fn fetch_weights(thread: u32, m0: u32, step: u32) {
  let k = step * TILE_K + thread / A_QUADS;
  let at = k * M_QUADS + m0 / 4u + thread % A_QUADS;
  for (var i = 0u; i < A_LOADS; i++) {  // unroll
    next_left[i] = weights_by_k[at + i * A_EVERY * M_QUADS];
  }
}

// All k of a step are channels of one tap: where it falls is found once a tap.
var<private> tap: u32 = KERNEL_H * KERNEL_W;  // none yet
var<private> at: vec4u;
var<private> inside: vec4<bool>;

fn go_to_tap() {
  for (var i = 0u; i < 4u; i++) {  // unroll
    // Below 0, row and column wrap to more than oH*S and oW*S.
    let h = row[i] - tap / KERNEL_W;     // oh*S, if oh is whole
    let w = column[i] - tap % KERNEL_W;  // ow*S, if ow is whole
    let whole = h % STRIDE == 0u && w % STRIDE == 0u;
    inside[i] = whole && h / STRIDE < OUT_H && w / STRIDE < OUT_W;
    at[i] = select(0u, image[i] + h / STRIDE * OUT_W + w / STRIDE, inside[i]);  // no branch: any pixel will do
  }
}

fn read_channel(pixel: u32, co: u32) -> f32 {
  if (RUN == OUT_CHANNELS || co < OUT_CHANNELS) {
    return grad_output[pixel + co * PLANE];
  }
  return 0.0;
}

fn fetch_channels(thread: u32, step: u32) {
  if (step / TAP_STEPS != tap) {
    tap = step / TAP_STEPS;
    go_to_tap();
  }
  let co = step % TAP_STEPS * TILE_K + thread / B_QUADS;
  for (var i = 0u; i < 4u; i++) {  // unroll
    for (var j = 0u; j < B_LOADS; j++) {  // unroll
      next_right[j][i] = read_channel(at[i], co + j * B_EVERY);
    }
  }
}

// Few channels: a step has several taps, and each k is decoded.
fn fetch_taps(thread: u32, step: u32) {
  inside = vec4<bool>(true);  // zeros are fetched, too
  for (var j = 0u; j < B_LOADS; j++) {  // unroll
    let k = step * TILE_K + thread / B_QUADS + j * B_EVERY;
    let kh = k / (RUN * KERNEL_W);  // [0, kH), or behind the last tap
    let kw = k / RUN % KERNEL_W;    // [0, kW)
    for (var i = 0u; i < 4u; i++) {  // unroll
      let h = row[i] - kh;
      let w = column[i] - kw;
      let whole = h % STRIDE == 0u && w % STRIDE == 0u;
      let oh = h / STRIDE;
      let ow = w / STRIDE;
      next_right[j][i] = 0.0;
      if (whole && oh < OUT_H && ow < OUT_W && kh < KERNEL_H) {
        let plane = image[i] + k % RUN * PLANE;
        next_right[j][i] = grad_output[plane + oh * OUT_W + ow];
      }
    }
  }
}

fn fetch(thread: u32, m0: u32, step: u32) {
  fetch_weights(thread, m0, step);
  if (RUN % TILE_K == 0u) {
    fetch_channels(thread, step);
  } else {
    fetch_taps(thread, step);
  }
}

fn place(thread: u32) {
  for (var i = 0u; i < A_LOADS; i++) {  // unroll
    left[thread / A_QUADS + i * A_EVERY][thread % A_QUADS] = next_left[i];
  }
  for (var i = 0u; i < B_LOADS; i++) {  // unroll
    right[thread / B_QUADS + i * B_EVERY][thread % B_QUADS] = select(vec4f(), next_right[i], inside);
  }
}

// 4. Multiply the tiles: two quads of rows by two quads of columns, 8 x 8 sums.
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

// 5. Write the 8 x 8 sums of a thread, as pixels or as parts of them.
fn write(ci: u32, pixel: u32, split: u32, sum: f32) {
  if (ALIGNED || (ci < IN_CHANNELS && pixel < PIXELS)) {
    let plane = pixel / (IN_H * IN_W) * IN_CHANNELS + ci;
    let index = plane * (IN_H * IN_W) + pixel % (IN_H * IN_W);
    if (SPLITS == 1u) {
      grad_input[index] = sum;
    } else {
      parts[split * INPUTS + index] = sum;
    }
  }
}

@compute @workgroup_size(THREADS)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) thread: u32,  // [0, THREADS)
) {
  let n0 = (workgroup.y * grid.x + workgroup.x) * TILE_N;
  let m0 = workgroup.z % ROW_TILES * TILE_M;
  let split = workgroup.z / ROW_TILES;
  let end = (split + 1u) * STEPS / SPLITS;

  // A warp reads 4 quads of rows and 8 of columns: few addresses, no conflicts.
  const ACROSS = TILE_N / 64u;
  let tile_row = thread / 32u / ACROSS * 4u + thread / 8u % 4u;
  let tile_column = thread / 32u % ACROSS * 8u + thread % 8u;

  find_pixels(n0 + thread % B_QUADS);
  fetch(thread, m0, split * STEPS / SPLITS);
  for (var step = split * STEPS / SPLITS; step < end; step++) {
    place(thread);
    workgroupBarrier();  // the tiles are complete
    if (step + 1u < end) {
      fetch(thread, m0, step + 1u);
    }
    multiply(tile_row, tile_column);
    workgroupBarrier();  // no thread still reads them
  }

  for (var i = 0u; i < 8u; i++) {  // unroll
    let ci = m0 + 4u * (tile_row + i / 4u * (TILE_M / 8u)) + i % 4u;
    for (var j = 0u; j < 8u; j++) {  // unroll
      let pixel = n0 + tile_column + j / 4u * (TILE_N / 8u) + j % 4u * B_QUADS;
      write(ci, pixel, split, sums[2u * i + j / 4u][j % 4u]);
    }
  }
}

// 6. The last pass, where several workgroups shared a sum: add their parts.
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
