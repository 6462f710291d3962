// Where a version takes G groups, a filter has Ci/G channels.
@group(0) @binding(0)
var<storage, read> input: array<f32>;         // (N,Ci,H,W)
@group(0) @binding(1)
var<storage, read> weight: array<f32>;        // (Co,Ci,kH,kW)
@group(0) @binding(2)
var<storage, read> bias: array<f32>;          // (Co)
@group(0) @binding(3)
var<storage, read_write> output: array<f32>;  // (N,Co,oH,oW)
