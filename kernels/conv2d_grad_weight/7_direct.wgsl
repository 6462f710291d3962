// conv2d_grad_weight / 7_direct
//
// in        grad_output (N, Co, oH, oW), input (N, Ci, H, W)
// out       grad_weight (Co, Ci/G, kH, kW)
// dispatch  Co*Ci/G * ceil(kH*kW/TAPS) * PARTS workgroups of THREADS threads; then
//           ceil(Co*Ci/G*kH*kW / 256) workgroups of 256 threads
// barriers  one before each step of a tree, and one after the last:
//           a thread adds, or writes, partial sums that another thread wrote
// cost      per weight, with C = ceil(kH*kW/TAPS), at most:
//           N*oH*oW*(1 + C/(kH*kW)) + PARTS global loads,
//           PARTS*(2*(THREADS - 1)*C*TAPS/(kH*kW) + 1) workgroup loads,
//           N*oH*oW multiply-adds
// limits    where a group has many channels, each pixel is loaded again for each
//           of its filters: then tiles of a matrix product load less
// new here  a thread loads an element of grad_output once for TAPS weights of a
//           filter, and PARTS workgroups share their sums; strides, dilation and
//           groups as in version 3

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

// --- In this file only: sizes ---

const THREADS: u32 = 256u;     // of a workgroup: a power of two
const TAPS: u32 = 9u;          // weights of a filter that a workgroup adds up:
                               // at most THREADS, as a thread writes each
const PARTS: u32 = 1u;         // workgroups that share their sums

const FILTER: u32 = KERNEL_H * KERNEL_W;
const CUTS: u32 = (FILTER + TAPS - 1u) / TAPS;  // of a filter
const COUNT: u32 = BATCH * OUT_H * OUT_W;       // terms of each sum
const SLICE: u32 = (COUNT + PARTS - 1u) / PARTS;
const WEIGHTS: u32 = OUT_CHANNELS * GROUP_IN * FILTER;

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
var<storage, read_write> parts: array<f32>;        // (PARTS,Co,Ci/G,kH,kW)

var<private> sums: array<f32, TAPS>;
var<workgroup> partial: array<array<f32, TAPS>, THREADS>;

// 1. Add the terms of TAPS weights at one output position. Outside of the input, ih
//    and iw wrap or are too large.
fn add_terms(n: u32, co: u32, ci: u32, place: u32, first_tap: u32) {
  let factor = grad_output[(n * OUT_CHANNELS + co) * (OUT_H * OUT_W) + place];
  let plane = (n * IN_CHANNELS + co / GROUP_OUT * GROUP_IN + ci) * IN_H;
  for (var i = 0u; i < TAPS; i++) {  // unroll
    let tap = first_tap + i;
    let ih = place / OUT_W * STRIDE_H + tap / KERNEL_W * DILATION_H - PADDING_H;
    let iw = place % OUT_W * STRIDE_W + tap % KERNEL_W * DILATION_W - PADDING_W;
    if (ih < IN_H && iw < IN_W && (FILTER % TAPS == 0u || tap < FILTER)) {
      sums[i] += factor * input[(plane + ih) * IN_W + iw];
    }
  }
}

// 2. The tree adds up the threads' sums, all taps in each step: afterwards,
//    partial[0] holds those of the workgroup.
fn add_in_tree(thread: u32) {
  for (var i = 0u; i < TAPS; i++) {  // unroll
    partial[thread][i] = sums[i];
  }
  for (var half = THREADS / 2u; half > 0u; half /= 2u) {  // 128, 64, ..., 1
    workgroupBarrier();  // the sums that this step reads are written
    if (thread < half) {
      for (var i = 0u; i < TAPS; i++) {  // unroll
        partial[thread][i] += partial[thread + half][i];
      }
    }
  }
  workgroupBarrier();  // the last step's sums are written
}

@compute @workgroup_size(THREADS)
fn sum_slices(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) thread: u32,  // [0, THREADS)
) {
  // 3. Which weights, and which slice of their sums, are this workgroup's?
  let index = workgroup.y * grid.x + workgroup.x;
  let part = index % PARTS;                        // [0, PARTS)
  let first_tap = index / PARTS % CUTS * TAPS;     // [0, kH*kW)
  let ci = index / (PARTS * CUTS) % GROUP_IN;      // [0, Ci/G)
  let co = index / (PARTS * CUTS * GROUP_IN);      // [0, Co), or behind it
  let exists = co < OUT_CHANNELS;                  // the last row is rarely full

  // 4. A thread takes every THREADS-th position of the slice.
  let end = select(0u, min((part + 1u) * SLICE, COUNT), exists);
  for (var i = part * SLICE + thread; i < end; i += THREADS) {
    add_terms(i / (OUT_H * OUT_W), co, ci, i % (OUT_H * OUT_W), first_tap);
  }

  // 5. One thread for each weight writes its part.
  add_in_tree(thread);
  let tap = first_tap + thread;
  if (exists && thread < TAPS && tap < FILTER) {
    let weight = (co * GROUP_IN + ci) * FILTER + tap;
    parts[part * WEIGHTS + weight] = partial[0][thread];
  }
}

// 6. The second pass adds up the parts, in the same order on every run.
@compute @workgroup_size(256)
fn sum_parts(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) thread: u32,  // [0, 256)
) {
  let index = (workgroup.y * grid.x + workgroup.x) * 256u + thread;
  if (index >= WEIGHTS) {
    return;
  }
  var sum = 0.0;
  for (var part = 0u; part < PARTS; part++) {  // [0, PARTS)
    sum += parts[part * WEIGHTS + index];
  }
  grad_weight[index] = sum;
}
