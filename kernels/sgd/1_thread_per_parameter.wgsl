// sgd / 1_thread_per_parameter
//
// equation  velocity[i] becomes momentum * velocity[i] + grad[i];
//           parameter[i] becomes parameter[i] - learning_rate * velocity[i]
// numpy     velocity = momentum * velocity + grad
//           parameter = parameter - learning_rate * velocity
// in        parameter (n), grad (n), velocity (n)
// out       parameter (n), velocity (n)
// dispatch  ceil(n / 256) workgroups of 256 threads
// barriers  none: each thread reads and writes its own parameter
// cost      per parameter:
//           3 global loads, 0 workgroup loads, 2 multiply-adds
// limits    none that matter: it only moves memory
// new here  gradient descent with momentum, in place

struct Params {
  count: u32,          // n
  learning_rate: f32,
  momentum: f32,
}

@group(0) @binding(0)
var<storage, read_write> parameter: array<f32>;  // (n)
@group(0) @binding(1)
var<storage, read> grad: array<f32>;             // (n)
@group(0) @binding(2)
var<storage, read_write> velocity: array<f32>;   // (n)
@group(0) @binding(3)
var<uniform> params: Params;

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) thread: u32,  // [0, 256)
) {
  // 1. Which parameter is mine? Workgroups lie in rows of up to 65,535.
  let i = (workgroup.y * grid.x + workgroup.x) * 256u + thread;
  if (i >= params.count) { return; }

  // 2. The velocity remembers the gradients of earlier steps.
  let v = params.momentum * velocity[i] + grad[i];
  velocity[i] = v;

  // 3. Step against it.
  parameter[i] -= params.learning_rate * v;
}
