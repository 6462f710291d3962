// The official kernel of the puzzle add_bias, which begins with a blank page:
// all lines of code end in a star, and the comments that stay state the task.
//
// equation  output[n,c,p] = input[n,c,p] + bias[c]
// numpy     output = input + bias[:, None]
// in        input (N, C, P), bias (C), params: N, C, P
// out       output (N, C, P)
// dispatch  ceil(N C P / 256) workgroups of 256 threads: a thread for each element
// barriers  none: each thread writes its own element

// Add its channel's bias to each pixel of N images:
//
//     output[n,c,p] = input[n,c,p] + bias[c]
//
// n counts images, c channels, and p the pixels of a channel. Each array is one
// long row of numbers: p changes fastest, then c, then n.
//
// Group 0 has these bindings:
//
//     0  input   array<f32>, read        // input (N, C, P)
//     1  bias    array<f32>, read        // bias (C)
//     2  output  array<f32>, read_write  // output (N, C, P)
//     3  params  a uniform: a struct of three u32, in this order: N, C, P
//
// `main` is run by workgroups of 256 threads, one thread for each of the
// N * C * P elements. It is judged by its loads and stores, too.
//
// 1. What the kernel is given: the struct and the bindings.
struct Params { N: u32, C: u32, P: u32 }  // *
@group(0) @binding(0) var<storage, read> input: array<f32>;  // *
@group(0) @binding(1) var<storage, read> bias: array<f32>;  // *
@group(0) @binding(2) var<storage, read_write> output: array<f32>;  // *
@group(0) @binding(3) var<uniform> params: Params;  // *
// 2. One thread: which element is its own, and of which channel is that?
@compute @workgroup_size(256)  // *
fn main(@builtin(global_invocation_id) global: vec3u) {  // *
  let i = global.x;  // *
  if (i >= params.N * params.C * params.P) { return; }  // *
  let c = i / params.P % params.C;  // *
  output[i] = input[i] + bias[c];  // *
}  // *
