// The official kernel of the puzzle guard;
// lines that end in a star are not in the skeleton.
//
// equation  output[i] = 3 * input[i] + 1 for i < n
// numpy     output = 3 * input + 1
// in        input (n), sizes: n
// out       output (n)
// dispatch  ceil(n / 64) workgroups of 64 threads: one thread computes one element
// barriers  none: each thread writes its own element

// 1. Declare the struct Sizes, with one u32 of the name n.
struct Sizes { n: u32 }  // *

@group(0) @binding(0) var<storage, read> input: array<f32>;         // (n)
@group(0) @binding(1) var<storage, read_write> output: array<f32>;  // (n)
// 2. Declare the uniform sizes, of type Sizes, at binding 2.
@group(0) @binding(2) var<uniform> sizes: Sizes;  // *

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) global: vec3u) {
  // 3. Which element is this thread's own? Call its number i.
  let i = global.x;  // *
  // 4. Return if there is no such element.
  if (i >= sizes.n) { return; }  // *
  // 5. Compute the element, and store it.
  output[i] = 3.0 * input[i] + 1.0;  // *
}
