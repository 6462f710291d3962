// The official kernel of the puzzle grad_bias_two_passes;
// lines that end in a star are not in the skeleton.
//
// equation  parts[co,g] = sum of slice g of channel co;
//           grad_bias[co] = sum over g of parts[co,g]
// dispatch  sum_slices: (G, Co) workgroups of 64 threads;
//           then sum_parts: Co workgroups of 64 threads
// barriers  one before each step of a tree:
//           a thread adds a partial sum that another thread wrote;
//           none between the passes: the second sees what the first wrote
// limits    G and Co at most 65,535

struct Params { N: u32, Co: u32, pixels: u32, G: u32 }  // pixels is oH*oW

// grad_output (N, Co, oH, oW), grad_bias (Co), parts (Co, G)
@group(0) @binding(0) var<storage, read> grad_output: array<f32>;
@group(0) @binding(1) var<storage, read_write> grad_bias: array<f32>;
@group(0) @binding(2) var<storage, read_write> parts: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

const SLICE = 128u;  // numbers of a channel for each workgroup
var<workgroup> partial: array<f32, 64>;  // one partial sum per thread

// Number i of channel co, which has N * pixels numbers.
fn element(co: u32, i: u32) -> f32 {
  let plane = i / params.pixels * params.Co + co;
  return grad_output[plane * params.pixels + i % params.pixels];
}

// 1. The tree, for both passes: halve the number of sums until one is left.
//    Every thread reaches the barrier before each step.
fn add_in_tree(thread: u32) {
  for (var half = 32u; half > 0u; half /= 2u) {  // *
    workgroupBarrier();  // *
    if (thread < half) { partial[thread] += partial[thread + half]; }  // *
  }  // *
}

@compute @workgroup_size(64)
fn sum_slices(
  @builtin(workgroup_id) workgroup: vec3u,  // (g, co): slice and channel
  @builtin(local_invocation_index) thread: u32,  // [0, 64)
) {
  // 2. Slice g has SLICE numbers from g * SLICE on, the last one maybe fewer.
  let co = workgroup.y;  // *
  let first = workgroup.x * SLICE;  // *
  let end = min(first + SLICE, params.N * params.pixels);  // *
  // 3. Add up every 64th number of the slice, from your own on.
  var sum = 0.0;  // *
  for (var i = first + thread; i < end; i += 64u) {  // *
    sum += element(co, i);  // *
  }  // *
  // 4. Put your sum into partial, and add all sums in the tree.
  partial[thread] = sum;  // *
  add_in_tree(thread);  // *
  // 5. Let one thread write the part to parts[co,g].
  if (thread == 0u) { parts[co * params.G + workgroup.x] = partial[0]; }  // *
}

@compute @workgroup_size(64)
fn sum_parts(
  @builtin(workgroup_id) workgroup: vec3u,  // (co, 0): one workgroup a channel
  @builtin(local_invocation_index) thread: u32,  // [0, 64)
) {
  // 6. Add up every 64th part of your channel, which has G parts.
  let co = workgroup.x;  // *
  var sum = 0.0;  // *
  for (var g = thread; g < params.G; g += 64u) {  // *
    sum += parts[co * params.G + g];  // *
  }  // *
  // 7. Put your sum into partial, and add all sums in the tree.
  partial[thread] = sum;  // *
  add_in_tree(thread);  // *
  // 8. Let one thread write the last sum to grad_bias[co].
  if (thread == 0u) { grad_bias[co] = partial[0]; }  // *
}
