// The official kernel of ReLU's gradient;
// lines that end in a star are not in the skeleton.
//
// equation  grad_pre[i] = grad_output[i] where pre[i] > 0, else 0
// dispatch  ceil(n / 256) workgroups of 256 threads:
//           one thread computes one element
// barriers  none: each thread writes its own element and reads only inputs

struct Params { n: u32 }

// pre (n), grad_output (n), grad_pre (n)
@group(0) @binding(0) var<storage, read> pre: array<f32>;
@group(0) @binding(1) var<storage, read> grad_output: array<f32>;
@group(0) @binding(2) var<storage, read_write> grad_pre: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) global: vec3u) {
  let i = global.x;  // [0, n)
  if (i >= params.n) { return; }
  // 1. Write grad_output[i] where ReLU passed pre[i] on,
  //    and 0 elsewhere.
  grad_pre[i] = select(0.0, grad_output[i], pre[i] > 0.0);  // *
}
