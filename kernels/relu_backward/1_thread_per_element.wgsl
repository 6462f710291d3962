// relu_backward / 1_thread_per_element
//
// equation  grad_pre[i] = 0 where output[i] <= 0, else grad_output[i]
// numpy     grad_pre = np.where(output <= 0, 0, grad_output)
// in        output (n), grad_output (n)
// out       grad_pre (n)
// dispatch  ceil(n / 256) workgroups of 256 threads
// barriers  none: each thread writes its own element and reads only inputs
// cost      per element:
//           2 global loads, 0 workgroup loads, 0 multiply-adds
// limits    none that matter: it only moves memory
// new here  the output of a fused ReLU is enough: it is positive exactly where its
//           input was, which was never stored; where it is NaN, the gradient
//           passes, as in PyTorch

struct Params {
  count: u32,  // n
}

@group(0) @binding(0)
var<storage, read> output: array<f32>;          // (n)
@group(0) @binding(1)
var<storage, read> grad_output: array<f32>;     // (n)
@group(0) @binding(2)
var<storage, read_write> grad_pre: array<f32>;  // (n)
@group(0) @binding(3)
var<uniform> params: Params;

@compute @workgroup_size(256)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) thread: u32,  // [0, 256)
) {
  // 1. Which element is mine? Workgroups lie in rows of up to 65,535.
  let i = (workgroup.y * grid.x + workgroup.x) * 256u + thread;
  if (i >= params.count) { return; }

  // 2. The derivative of ReLU is 0 where its output is 0, and else 1.
  grad_pre[i] = select(grad_output[i], 0.0, output[i] <= 0.0);
}
