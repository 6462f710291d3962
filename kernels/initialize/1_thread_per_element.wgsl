// initialize / 1_thread_per_element
//
// equation  parameter[i] = bound * (2*u - 1), where u in [0, 1) is
//             the upper 24 bits of hash(hash(hash(seed) + stream) + i) / 2**24
// numpy     def hash(x):
//             state = x * np.uint32(747796405) + np.uint32(2891336453)
//             word = state >> ((state >> 28) + 4)
//             word = (word ^ state) * np.uint32(277803737)
//             return (word >> 22) ^ word
//           own = hash(hash(np.uint32([seed])) + np.uint32(stream))
//           bits = hash(own + np.arange(n, dtype=np.uint32)) >> 8
//           parameter = bound * (bits * 2.0**-23 - 1)
// in        none
// out       parameter (n)
// dispatch  ceil(n / 256) workgroups of 256 threads
// barriers  none: each thread writes its own parameter
// cost      per parameter:
//           0 global loads, 0 workgroup loads, 1 multiply-adds
// limits    the same seed, stream and i give the same number on every adapter:
//           good for a repeatable start, not for secrets
// new here  random numbers without a state: thread i asks a hash for the i-th

struct Params {
  count: u32,   // n
  seed: u32,
  stream: u32,  // another one for each tensor
  bound: f32,   // 1 / sqrt(terms of the layer's sum), as in PyTorch
}

const STEP = 1.0 / 8388608.0;  // 2**-23, exactly

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
  parameter[i] = params.bound * (f32(bits) * STEP - 1.0);
}
