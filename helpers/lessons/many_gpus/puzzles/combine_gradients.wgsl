// The official kernel of the puzzle combine_gradients;
// lines that end in a star are not in the skeleton.

// One step of a tree over workers: worker a and worker b have the gradients
// of the same three tensors, which differ in size. Each gradient is a mean
// over the worker's images. Write the means over the images of both, one
// tensor after the other, into one buffer, in one dispatch. Write the whole
// kernel, with an entry point called main.
//
// binding 0  a0 (n0)          var<storage, read>, array<f32>: tensor 0 of a
// binding 1  a1 (n1)          the same: tensor 1 of worker a
// binding 2  a2 (n2)          the same: tensor 2 of worker a
// binding 3  b0 (n0)          the same: tensor 0 of worker b
// binding 4  b1 (n1)          the same: tensor 1 of worker b
// binding 5  b2 (n2)          the same: tensor 2 of worker b
// binding 6  combined (n0 + n1 + n2)   var<storage, read_write>, array<f32>
// binding 7  var<uniform>, a struct of five u32: n0, n1, n2, and how many
//            images worker a and worker b have
// main       workgroups of 256 threads, a thread for each number of combined
// dispatch   ceil((n0 + n1 + n2) / 256) workgroups in x, 1 in y, 1 in z
// counts     of 640 numbers, your busiest thread may load 4, store 2 and run
//            80 statements
struct Params { n0: u32, n1: u32, n2: u32, images_a: u32, images_b: u32 }  // *
// *
@group(0) @binding(0) var<storage, read> a0: array<f32>;  // *
@group(0) @binding(1) var<storage, read> a1: array<f32>;  // *
@group(0) @binding(2) var<storage, read> a2: array<f32>;  // *
@group(0) @binding(3) var<storage, read> b0: array<f32>;  // *
@group(0) @binding(4) var<storage, read> b1: array<f32>;  // *
@group(0) @binding(5) var<storage, read> b2: array<f32>;  // *
@group(0) @binding(6) var<storage, read_write> combined: array<f32>;  // *
@group(0) @binding(7) var<uniform> params: Params;  // *
// *
fn mean(a: f32, b: f32) -> f32 {  // *
  let images_a = f32(params.images_a);  // *
  let images_b = f32(params.images_b);  // *
  return (a * images_a + b * images_b) / (images_a + images_b);  // *
}  // *
// *
@compute @workgroup_size(256)  // *
fn main(@builtin(global_invocation_id) global: vec3u) {  // *
  let i = global.x;  // *
  // 1. Where does each tensor begin in combined, and where do they end?  // *
  let first_1 = params.n0;  // *
  let first_2 = first_1 + params.n1;  // *
  if (i >= first_2 + params.n2) { return; }  // *
  // 2. Combine two numbers of the tensor that i is in.  // *
  if (i < first_1) {  // *
    combined[i] = mean(a0[i], b0[i]);  // *
  } else if (i < first_2) {  // *
    combined[i] = mean(a1[i - first_1], b1[i - first_1]);  // *
  } else {  // *
    combined[i] = mean(a2[i - first_2], b2[i - first_2]);  // *
  }  // *
}  // *
