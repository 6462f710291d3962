// The official kernel of one step with momentum;
// lines that end in a star are not in the skeleton.
//
// equation  velocity[i] becomes momentum * velocity[i] + grad[i];
//           parameter[i] becomes parameter[i] - learning_rate * velocity[i]
// dispatch  ceil(n / 256) workgroups of 256 threads, once for each step:
//           one thread moves one parameter
// barriers  none: each thread reads and writes its own parameter

struct Params { n: u32, learning_rate: f32, momentum: f32 }

@group(0) @binding(0) var<storage, read> grad: array<f32>;             // (n)
@group(0) @binding(1) var<storage, read_write> parameter: array<f32>;  // (n)
@group(0) @binding(2) var<storage, read_write> velocity: array<f32>;   // (n)
@group(0) @binding(3) var<uniform> params: Params;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) global: vec3u) {
  let i = global.x;  // [0, n)
  if (i >= params.n) { return; }
  // 1. Make the velocity the new one.
  velocity[i] = params.momentum * velocity[i] + grad[i];  // *
  // 2. Move the parameter by it.
  parameter[i] = parameter[i] - params.learning_rate * velocity[i];  // *
}
