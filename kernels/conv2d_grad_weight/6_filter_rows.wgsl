// conv2d_grad_weight / 6_filter_rows
//
// in        grad_output (N, Co, oH, oW), input (N, Ci, H, W)
// out       grad_weight (Co, Ci, kH, kW)
// dispatch  for each part of the outputs, each TEAMS*FILTERS output channels and
//           each CHANNELS input channels, one workgroup of SLOTS threads for
//           each row of FILTERS filters; then 256 threads for 16 weights
// barriers  two around the load of a tile: no thread may still read the old
//           one; a thread multiplies what others loaded. Two around each sum
//           over the slots, and one in the last pass, for the same reasons
// cost      per weight of full tiles as wide as the image:
//           N*oH*oW/(CHANNELS*kH*kW)
//             + TILES*WINDOW_ROWS*W/(TEAMS*FILTERS*kH*kW) + PARTS global loads,
//           TILES*ROWS*(WINDOW + FILTERS*VEC4S)/(FILTERS*kW) + PARTS*SLOTS + 15
//           workgroup loads, N*oH*oW multiply-adds
// limits    kW is at most 16, and a tile takes at most 16 KiB; a zero of the
//           padding is multiplied too: a NaN or an infinity reaches weights
//           that saw only padding there
// new here  for few weights and short sums: a thread has rows of FILTERS filters
//           in registers, and under them a row of the input, each number of
//           which it loads once and multiplies FILTERS*kW times

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

// --- In this file only: sizes ---

const KERNEL_H: u32 = 3u;      // kH
const KERNEL_W: u32 = 3u;      // kW
const STRIDE: u32 = 1u;        // S
const WEIGHTS: u32 = OUT_CHANNELS * IN_CHANNELS * KERNEL_H * KERNEL_W;

// What a workgroup computes.
const FILTERS: u32 = 2u;       // output channels of one thread
const TEAMS: u32 = 1u;         // of threads, with FILTERS each
const CHANNELS: u32 = 3u;      // input channels
const ROWS: u32 = 8u;          // of outputs
const COLUMNS: u32 = 12u;      // of outputs, in fours
const SLOTS: u32 = 8u;         // threads that share the rows
const RUNS: u32 = 1u;          // tiles, one after the other
const UNITS: u32 = TEAMS * CHANNELS * KERNEL_H;  // of SLOTS threads
const THREADS: u32 = UNITS * SLOTS;
const SHARED: u32 = max(256u, KERNEL_W * THREADS);  // sums in workgroup memory

// A tile in workgroup memory: rows of vec4s, an odd number of them, so that threads
// on neighboring rows read from different banks.
const VEC4S: u32 = COLUMNS / 4u;
const PITCH: u32 = VEC4S + 1u - VEC4S % 2u;
const GRAD_ROWS: u32 = FILTERS * TEAMS * ROWS;
const GRAD_LOADS: u32 = (GRAD_ROWS * VEC4S + THREADS - 1u) / THREADS;
const WINDOW: u32 = ((COLUMNS - 1u) * STRIDE + KERNEL_W + 3u) / 4u;  // vec4s
const WINDOW_PITCH: u32 = WINDOW + 1u - WINDOW % 2u;
const WINDOW_ROWS: u32 = (ROWS - 1u) * STRIDE + KERNEL_H;            // of a channel
const INPUT_ROWS: u32 = CHANNELS * WINDOW_ROWS;
const INPUT_LOADS: u32 = (INPUT_ROWS * WINDOW + THREADS - 1u) / THREADS;

// How many there are.
const BLOCKS: u32 = (OUT_H + ROWS - 1u) / ROWS;
const ACROSS: u32 = (OUT_W + COLUMNS - 1u) / COLUMNS;
const TILES: u32 = BATCH * BLOCKS * ACROSS;
const PARTS: u32 = (TILES + RUNS - 1u) / RUNS;
const CO_BLOCKS: u32 = (OUT_CHANNELS + FILTERS * TEAMS - 1u) / (FILTERS * TEAMS);
const CI_BLOCKS: u32 = (IN_CHANNELS + CHANNELS - 1u) / CHANNELS;
const PART_LOADS: u32 = (PARTS + 15u) / 16u;

// Are all tiles full? Then nothing is tested.
const GRADS_FULL: bool = OUT_CHANNELS % (FILTERS * TEAMS) == 0u
  && OUT_H % ROWS == 0u && OUT_W % COLUMNS == 0u;
const INPUTS_FULL: bool = GRADS_FULL && IN_CHANNELS % CHANNELS == 0u
  && PADDING_H == 0u && PADDING_W == 0u && OUT_W == COLUMNS && WINDOW * 4u <= IN_W;

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
var<storage, read_write> parts: array<f32>;        // (PARTS,WEIGHTS)

var<workgroup> grads: array<array<vec4f, PITCH>, GRAD_ROWS>;
var<workgroup> inputs: array<array<vec4f, WINDOW_PITCH>, INPUT_ROWS>;
var<workgroup> shared_sums: array<f32, SHARED>;
var<private> sums: array<array<f32, KERNEL_W>, FILTERS>;
var<private> window: array<f32, WINDOW * 4u>;

// 1. Load a tile. Behind the edges of image and channels lie zeros.
fn load_grads(thread: u32, n: u32, first_co: u32, first_oh: u32, first_ow: u32) {
  for (var load = 0u; load < GRAD_LOADS; load++) {  // unroll
    let i = load * THREADS + thread;
    if (GRAD_ROWS * VEC4S % THREADS == 0u || i < GRAD_ROWS * VEC4S) {
      let row = i / VEC4S;
      let co = first_co + row / ROWS;                 // [0, Co) or zeros
      let oh = first_oh + row % ROWS;                 // [0, oH) or zeros
      let ow = first_ow + i % VEC4S * 4u;             // [0, oW) or zeros
      let at = ((n * OUT_CHANNELS + co) * OUT_H + oh) * OUT_W + ow;
      var four = vec4f();
      for (var j = 0u; j < 4u; j++) {  // unroll
        if (GRADS_FULL || (co < OUT_CHANNELS && oh < OUT_H && ow + j < OUT_W)) {
          four[j] = grad_output[at + j];
        }
      }
      grads[row][i % VEC4S] = four;
    }
  }
}

fn load_inputs(thread: u32, n: u32, first_ci: u32, first_oh: u32, first_ow: u32) {
  for (var load = 0u; load < INPUT_LOADS; load++) {  // unroll
    let i = load * THREADS + thread;
    if (INPUT_ROWS * WINDOW % THREADS == 0u || i < INPUT_ROWS * WINDOW) {
      let row = i / WINDOW;
      let ci = first_ci + row / WINDOW_ROWS;          // [0, Ci) or zeros
      // Below 0, ih and iw wrap to more than H and W.
      let ih = first_oh * STRIDE + row % WINDOW_ROWS - PADDING_H;
      let iw = first_ow * STRIDE + i % WINDOW * 4u - PADDING_W;
      let at = ((n * IN_CHANNELS + ci) * IN_H + ih) * IN_W + iw;
      var four = vec4f();
      for (var j = 0u; j < 4u; j++) {  // unroll
        if (INPUTS_FULL || (ci < IN_CHANNELS && ih < IN_H && iw + j < IN_W)) {
          four[j] = input[at + j];
        }
      }
      inputs[row][i % WINDOW] = four;
    }
  }
}

// 2. Multiply one row of outputs by the row of inputs under it, at all kW shifts.
fn add_row(grad_row: u32, input_row: u32) {
  for (var q = 0u; q < WINDOW; q++) {  // unroll
    let four = inputs[input_row][q];
    for (var j = 0u; j < 4u; j++) {  // unroll
      window[q * 4u + j] = four[j];
    }
  }
  for (var f = 0u; f < FILTERS; f++) {  // unroll
    for (var q = 0u; q < VEC4S; q++) {  // unroll
      let four = grads[grad_row + f * ROWS][q];
      for (var j = 0u; j < 4u; j++) {  // unroll
        for (var kw = 0u; kw < KERNEL_W; kw++) {  // unroll
          sums[f][kw] += four[j] * window[(q * 4u + j) * STRIDE + kw];
        }
      }
    }
  }
}

// 3. Add what the slots have of each filter, always in the same order.
fn write_sums(thread: u32, part: u32, first_co: u32, first_ci: u32) {
  for (var f = 0u; f < FILTERS; f++) {  // unroll
    workgroupBarrier();  // no thread still reads the sums of the filter before
    for (var kw = 0u; kw < KERNEL_W; kw++) {  // unroll
      shared_sums[kw * THREADS + thread] = sums[f][kw];
    }
    workgroupBarrier();  // they are in place
    for (var i = thread; i < UNITS * KERNEL_W; i += THREADS) {
      add_slots(i, part, first_co + f, first_ci);
    }
  }
}

fn add_slots(i: u32, part: u32, first_co: u32, first_ci: u32) {
  let unit = i % UNITS;
  let kh = unit % KERNEL_H;                          // [0, kH)
  let kw = i / UNITS;                                // [0, kW)
  let ci = first_ci + unit / KERNEL_H % CHANNELS;    // [0, Ci) or none
  let team = unit / (KERNEL_H * CHANNELS);           // [0, TEAMS)
  let co = first_co + team * FILTERS;                // [0, Co) or none
  var sum = 0.0;
  for (var slot = 0u; slot < SLOTS; slot++) {  // unroll
    sum += shared_sums[kw * THREADS + slot * UNITS + unit];
  }
  if (ci < IN_CHANNELS && co < OUT_CHANNELS) {
    let weight = ((co * IN_CHANNELS + ci) * KERNEL_H + kh) * KERNEL_W + kw;
    if (PARTS == 1u) {
      grad_weight[weight] = sum;
    } else {
      parts[part * WEIGHTS + weight] = sum;
    }
  }
}

// 4. The tiles of a part.
@compute @workgroup_size(THREADS)
fn sum_parts(
  @builtin(workgroup_id) workgroup: vec3u,       // [0, PARTS), channels
  @builtin(local_invocation_index) thread: u32,  // [0, THREADS)
) {
  let unit = thread % UNITS;
  let slot = thread / UNITS;                   // [0, SLOTS)
  let kh = unit % KERNEL_H;                    // [0, kH)
  let channel = unit / KERNEL_H % CHANNELS;    // [0, CHANNELS)
  let team = unit / (KERNEL_H * CHANNELS);     // [0, TEAMS)
  let first_co = workgroup.y * FILTERS * TEAMS;
  let first_ci = workgroup.z * CHANNELS;
  let first = workgroup.x * RUNS;
  for (var tile = first; tile < min(first + RUNS, TILES); tile++) {
    let ow = tile % ACROSS * COLUMNS;
    let oh = tile / ACROSS % BLOCKS * ROWS;
    let n = tile / (ACROSS * BLOCKS);
    workgroupBarrier();  // no thread still reads the old tile
    load_grads(thread, n, first_co, oh, ow);
    load_inputs(thread, n, first_ci, oh, ow);
    workgroupBarrier();  // the new tile is in place
    for (var row = slot; row < ROWS; row += SLOTS) {
      let input_row = channel * WINDOW_ROWS + row * STRIDE + kh;
      add_row(team * FILTERS * ROWS + row, input_row);
    }
  }
  write_sums(thread, workgroup.x, first_co, first_ci);
}

// 5. Add the parts: 16 threads for each of 16 weights, then one for each.
@compute @workgroup_size(256)
fn add_parts(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) thread: u32,  // [0, 256)
) {
  let weight = (workgroup.y * grid.x + workgroup.x) * 16u + thread % 16u;
  let slot = thread / 16u;             // [0, 16)
  var sum = 0.0;
  if (weight < WEIGHTS) {
    for (var i = 0u; i < PART_LOADS; i++) {  // unroll
      let part = i * 16u + slot;       // [0, PARTS) or none
      if (PARTS % 16u == 0u || part < PARTS) {
        sum += parts[part * WEIGHTS + weight];
      }
    }
  }
  shared_sums[thread] = sum;
  workgroupBarrier();  // all sums of the slots are in place
  if (slot == 0u && weight < WEIGHTS) {
    for (var i = 1u; i < 16u; i++) {  // unroll
      sum += shared_sums[i * 16u + thread];
    }
    grad_weight[weight] = sum;
  }
}
