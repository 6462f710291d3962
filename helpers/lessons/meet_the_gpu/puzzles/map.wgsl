// The official kernel of the puzzle map;
// lines that end in a star are not in the skeleton.
//
// equation  output[i] = 3 * input[i] + 1
// numpy     output = 3 * input + 1
// in        input (n), n a multiple of 64
// out       output (n)
// dispatch  n / 64 workgroups of 64 threads: one thread computes one element
// barriers  none: each thread writes its own element

@group(0) @binding(0) var<storage, read> input: array<f32>;         // (n)
@group(0) @binding(1) var<storage, read_write> output: array<f32>;  // (n)

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) global: vec3u) {
  // 1. Which element is this thread's own? Call its number i.
  let i = global.x;  // *
  // 2. Compute the element, and store it.
  output[i] = 3.0 * input[i] + 1.0;  // *
}
