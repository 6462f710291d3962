// Where a version takes G groups, a filter has Ci/G channels.
@group(0) @binding(0)
var<storage, read> grad_output: array<f32>;       // (N,Co,oH,oW)
@group(0) @binding(1)
var<storage, read> weight: array<f32>;            // (Co,Ci,kH,kW)
@group(0) @binding(2)
var<storage, read_write> grad_input: array<f32>;  // (N,Ci,H,W)
