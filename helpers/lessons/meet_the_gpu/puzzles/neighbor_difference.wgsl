// The official kernel of the puzzle neighbor_difference;
// lines that end in a star are not in the skeleton.
//
// equation  output[i] = input[i + 1] - input[i] for i < n - 1
// numpy     output = np.diff(input)
// in        input (n), sizes: n
// out       output (n - 1)
// dispatch  ceil((n - 1) / 64) workgroups of 64 threads:
//           one thread computes one difference
// barriers  none: each thread writes its own element

struct Sizes { n: u32 }

@group(0) @binding(0) var<storage, read> input: array<f32>;         // (n)
@group(0) @binding(1) var<storage, read_write> output: array<f32>;  // (n - 1)
@group(0) @binding(2) var<uniform> sizes: Sizes;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) global: vec3u) {
  // 1. Give the number of this thread, global.x, the name i.
  let i = global.x;  // *
  // 2. Return if input[i] has no right neighbor.
  if (i + 1u >= sizes.n) { return; }  // *
  // 3. Write the right neighbor minus input[i] to output[i].
  output[i] = input[i + 1u] - input[i];  // *
}
