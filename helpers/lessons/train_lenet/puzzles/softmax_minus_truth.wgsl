// The official kernel of the loss's gradient;
// lines that end in a star are not in the skeleton.
//
// equation  grad_logits[n,c] = (softmax of logits[n,c] - truth) / N,
//             where truth is 1 if c is the label of image n, else 0
// dispatch  ceil(N / 64) workgroups of 64 threads:
//           one thread computes the gradients of one image
// barriers  none: each thread writes its own row and reads only inputs

struct Params { N: u32, C: u32 }  // images, classes

// logits (N, C), labels (N), grad_logits (N, C)
@group(0) @binding(0) var<storage, read> logits: array<f32>;
@group(0) @binding(1) var<storage, read> labels: array<u32>;
@group(0) @binding(2) var<storage, read_write> grad_logits: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) global: vec3u) {
  let n = global.x;  // [0, N)
  if (n >= params.N) { return; }
  let first = n * params.C;  // where the logits of image n begin
  var largest = logits[first];
  for (var c = 1u; c < params.C; c++) {
    largest = max(largest, logits[first + c]);
  }
  var total = 0.0;
  for (var c = 0u; c < params.C; c++) {
    // 1. Add exp(logit - largest) of class c to total.
    total += exp(logits[first + c] - largest);  // *
  }
  for (var c = 0u; c < params.C; c++) {
    // 2. Compute the softmax of class c, and subtract the truth, which is 1
    //    for the class labels[n], else 0. Divide by N. Write the result.
    let softmax = exp(logits[first + c] - largest) / total;  // *
    let truth = select(0.0, 1.0, c == labels[n]);  // *
    grad_logits[first + c] = (softmax - truth) / f32(params.N);  // *
  }
}
