@group(0) @binding(0)
var<storage, read> grad_output: array<f32>;      // (N,Co,oH,oW)
@group(0) @binding(1)
var<storage, read_write> grad_bias: array<f32>;  // (Co)
