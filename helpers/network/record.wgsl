// What is recorded of a step, one number after the other in a row of the history.

struct Params {
  row: u32,         // the step's
  losses: u32,      // how many numbers are recorded of each tensor
  logits: u32,
  parameters: u32,  // and of their gradients
}

@group(0) @binding(0) var<storage, read> losses: array<f32>;
@group(0) @binding(1) var<storage, read> logits: array<f32>;
@group(0) @binding(2) var<storage, read> parameters: array<f32>;
@group(0) @binding(3) var<storage, read> gradients: array<f32>;
@group(0) @binding(4) var<storage, read_write> history: array<f32>;
@group(0) @binding(5) var<uniform> params: Params;

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let i = (workgroup.y * grid.x + workgroup.x) * 256u + thread;
  let first_logit = params.losses;
  let first_parameter = first_logit + params.logits;
  let first_gradient = first_parameter + params.parameters;
  let width = first_gradient + params.parameters;
  if (i >= width) { return; }
  var number = 0.0;
  if (i < first_logit) {
    number = losses[i];
  } else if (i < first_parameter) {
    number = logits[i - first_logit];
  } else if (i < first_gradient) {
    number = parameters[i - first_parameter];
  } else {
    number = gradients[i - first_gradient];
  }
  history[params.row * width + i] = number;
}
