// The official kernel of the puzzle repair;
// lines that end in a star are not in the skeleton.
//
// equation  output[i] = sum over k = 0, 1, 2, 3 of k * input[i+k]
// numpy     output = np.correlate(input, [0, 1, 2, 3])
// in        input (n + 3), sizes: n
// out       output (n)
// dispatch  ceil(n / 64) workgroups of 64 threads: one thread adds up one sum
// barriers  none: each thread writes its own element

struct Sizes { n: u32 }

@group(0) @binding(0) var<storage, read> input: array<f32>;         // (n + 3)
@group(0) @binding(1) var<storage, read_write> output: array<f32>;  // (n)
@group(0) @binding(2) var<uniform> sizes: Sizes;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) global: vec3u) {
  // 1. Give the number of this thread, global.x, the name i.
  let i = global.x;  // *
  // ~   let i = global.x
  if (i >= sizes.n) { return; }
  // 2. Begin a sum, which grows in the loop.
  var sum = 0.0;  // *
  // ~   let sum = 0.0;
  for (var k = 0u; k < 4u; k++) {
    // 3. Add k times input[i + k].
    sum += input[i + k] * f32(k);  // *
    // ~     sum += input[i + k] * k;
  }
  output[i] = sum;
}
