// conv2d_grad_bias / 3_two_passes
//
// in        grad_output (N, Co, oH, oW)
// out       grad_bias (Co)
// dispatch  (G, Co) workgroups of THREADS = 256 threads, G for each channel,
//           with G = ceil(N*oH*oW/SLICE) workgroups, then Co such workgroups
// barriers  one before each step of a tree:
//           a thread adds a partial sum that another thread wrote
// cost      per channel: N*oH*oW + G global loads,
//           (G + 1) * (2*THREADS - 1) workgroup loads,
//           0 multiply-adds (only additions);
//           in each pass log2(THREADS) = 8 steps of a tree
// limits    G and Co are at most 65,535; THREADS is a power of two
// new here  many workgroups for each channel, as memory is only fast when all of a
//           GPU asks for data; and a thread asks for LOADS elements at once,
//           instead of waiting for each before it asks for the next; the sizes
//           are constants

// The layer: the launcher writes its sizes in here.
const OUT_CHANNELS: u32 = 3u;  // Co
const PIXELS: u32 = 12u;       // oH*oW
const COUNT: u32 = 24u;        // N*oH*oW
const SLICE: u32 = 2048u;      // elements of a channel for each workgroup
const SLICES: u32 = (COUNT + SLICE - 1u) / SLICE;  // G

const THREADS: u32 = 256u;
const LOADS: u32 = 8u;

// --- Shared with other files: conv2d_grad_bias_buffers ---

@group(0) @binding(0)
var<storage, read> grad_output: array<f32>;      // (N,Co,oH,oW)
@group(0) @binding(1)
var<storage, read_write> grad_bias: array<f32>;  // (Co)

// --- In this file only: passes ---

@group(0) @binding(2)
var<storage, read_write> parts: array<f32>;      // (Co,G)

var<workgroup> partial: array<f32, THREADS>;  // one partial sum per thread

// 1. An element of a channel, which has PIXELS of them in each image.
fn element(co: u32, i: u32) -> f32 {
  return grad_output[(i / PIXELS * OUT_CHANNELS + co) * PIXELS + i % PIXELS];
}

// 2. The tree, for both passes: afterwards, partial[0] is the sum of all.
fn add_in_tree(thread: u32) {
  for (var half = THREADS / 2u; half > 0u; half /= 2u) {  // 128, 64, ..., 1
    workgroupBarrier();  // the sums that this step reads are written
    if (thread < half) {
      partial[thread] += partial[thread + half];
    }
  }
}

// 3. The first pass: each workgroup adds up its slice. A thread takes every
//    THREADS-th element, LOADS of them at a time, each with a sum of its own: so no
//    addition waits for another, and no load for an addition.
@compute @workgroup_size(THREADS)
fn sum_slices(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(local_invocation_index) thread: u32,  // [0, THREADS)
) {
  let co = workgroup.y;  // [0, Co)
  let first = workgroup.x * SLICE;
  let end = min(first + SLICE, COUNT);
  var sums: array<f32, LOADS>;
  var i = first + thread;  // [first, end)
  for (; i + (LOADS - 1u) * THREADS < end; i += LOADS * THREADS) {
    for (var j = 0u; j < LOADS; j++) {  // unroll
      sums[j] += element(co, i + j * THREADS);
    }
  }
  for (; i < end; i += THREADS) {  // the rest, in the last slice
    sums[0] += element(co, i);
  }
  for (var j = 1u; j < LOADS; j++) {  // unroll
    sums[0] += sums[j];
  }
  partial[thread] = sums[0];
  add_in_tree(thread);
  if (thread == 0u) {
    parts[co * SLICES + workgroup.x] = partial[0];
  }
}

// 4. The second pass: one workgroup for each channel adds up its parts, in the same
//    order on every run.
@compute @workgroup_size(THREADS)
fn sum_parts(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(local_invocation_index) thread: u32,  // [0, THREADS)
) {
  let co = workgroup.x;  // [0, Co)
  var sum = 0.0;
  for (var i = thread; i < SLICES; i += THREADS) {  // [0, G)
    sum += parts[co * SLICES + i];
  }
  partial[thread] = sum;
  add_in_tree(thread);
  if (thread == 0u) {
    grad_bias[co] = partial[0];
  }
}
