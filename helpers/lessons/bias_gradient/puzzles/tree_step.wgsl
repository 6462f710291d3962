// The official kernel of the puzzle tree_step;
// lines that end in a star are not in the skeleton.
//
// equation  in each step, partial[t] += partial[t + half] for t < half
// in        input (8)
// out       after (3, 8): partial after each step
// dispatch  1 workgroup of 8 threads
// barriers  one before each step:
//           a thread adds a partial sum that another thread wrote

@group(0) @binding(0) var<storage, read> input: array<f32>;        // (8)
@group(0) @binding(1) var<storage, read_write> after: array<f32>;  // (3, 8)

var<workgroup> partial: array<f32, 8>;  // one partial sum per thread

@compute @workgroup_size(8)
fn main(@builtin(local_invocation_index) thread: u32) {  // [0, 8)
  partial[thread] = input[thread];
  var step = 0u;
  for (var half = 4u; half > 0u; half /= 2u) {  // 4, 2, 1
    // 1. Wait until all eight threads are here.
    workgroupBarrier();  // *
    // 2. Each thread below half adds the sum half places to its right.
    if (thread < half) { partial[thread] += partial[thread + half]; }  // *
    after[step * 8u + thread] = partial[thread];
    step++;
  }
}
