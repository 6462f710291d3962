// initialize / 1_thread_per_element
//
// equation  parameter[i] = bound * (2*u - 1),
//             where u in [0, 1) is made from hash(hash(hash(seed) + stream) + i)
// numpy     state = x * 747796405 + 2891336453  # of each hash, in uint32
//           word = ((state >> ((state >> 28) + 4)) ^ state) * 277803737
//           hash = (word >> 22) ^ word
//           parameter = bound * (2 * (hash >> 8) / 2**24 - 1)
// in        none
// out       parameter (n)
// dispatch  ceil(n / 256) workgroups of 256 threads
// barriers  none: each thread writes its own parameter
// cost      per parameter:
//           0 global loads, 0 workgroup loads, 0 multiply-adds
// limits    the same seed, stream and i give the same number on every adapter:
//           good for a repeatable start, not for secrets
// new here  random numbers without a state: thread i asks a hash for the i-th

struct Params {
  count: u32,   // n
  seed: u32,
  stream: u32,  // another one for each tensor
  bound: f32,   // 1 / sqrt(terms of the layer's sum), as in PyTorch
}

@group(0) @binding(0)
var<storage, read_write> parameter: array<f32>;  // (n)
@group(0) @binding(1)
var<uniform> params: Params;

// 1. PCG's output function as a hash: neighbors in, unrelated numbers out.
fn hash(x: u32) -> u32 {
  let state = x * 747796405u + 2891336453u;
  let word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
  return (word >> 22u) ^ word;
}

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) thread: u32,  // [0, 256)
) {
  // 2. Which parameter is mine? Workgroups lie in rows of up to 65,535.
  let i = (workgroup.y * grid.x + workgroup.x) * 256u + thread;
  if (i >= params.count) { return; }

  // 3. The upper 24 bits, which float32 holds exactly, as a number from -1 to 1.
  let bits = hash(hash(hash(params.seed) + params.stream) + i) >> 8u;
  parameter[i] = params.bound * (f32(bits) * 0x1p-23 - 1.0);
}
