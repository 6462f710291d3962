// The official kernel of the puzzle fixed_point_sum;
// lines that end in a star are not in the skeleton.
//
// equation  total = (sum over i of round(input[i] * SCALE)) / SCALE
// dispatch  add_up: ceil(n / 64) workgroups of 64 threads; then divide: 1
// barriers  none: no thread reads what another one wrote, but by atomics
// limits    |total| < 2^31 / SCALE

struct Params { n: u32 }

@group(0) @binding(0) var<storage, read> input: array<f32>;        // (n)
@group(0) @binding(1) var<storage, read_write> total: array<f32>;  // (1)
// steps (1): the total in steps of 1/65,536. It begins at 0.
@group(0) @binding(2) var<storage, read_write> steps: array<atomic<i32>>;
@group(0) @binding(3) var<uniform> params: Params;

const SCALE = 65536.0;  // steps in 1

@compute @workgroup_size(64)
fn add_up(@builtin(global_invocation_id) global: vec3u) {
  let i = global.x;
  // 1. Return if there is no number i.
  if (i >= params.n) { return; }  // *
  // 2. How many steps is number i? Round, and make it an i32.
  let count = i32(round(input[i] * SCALE));  // *
  // 3. Add them to steps[0], with atomicAdd(&steps[0], ...).
  atomicAdd(&steps[0], count);  // *
}

@compute @workgroup_size(1)
fn divide() {
  // 4. Write the total as an f32, from atomicLoad(&steps[0]).
  total[0] = f32(atomicLoad(&steps[0])) / SCALE;  // *
}
