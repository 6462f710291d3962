// The official kernel of the puzzle tree_sum;
// lines that end in a star are not in the skeleton.
//
// equation  total = sum over i of input[i]
// dispatch  1 workgroup of 256 threads
// barriers  one before each step of the tree:
//           a thread adds a partial sum that another thread wrote
// limits    none but the size of a buffer

struct Params { n: u32 }

@group(0) @binding(0) var<storage, read> input: array<f32>;        // (n)
@group(0) @binding(1) var<storage, read_write> total: array<f32>;  // (1)
@group(0) @binding(2) var<uniform> params: Params;

var<workgroup> partial: array<f32, 256>;  // one partial sum per thread

@compute @workgroup_size(256)
fn main(@builtin(local_invocation_index) thread: u32) {  // [0, 256)
  // 1. Add up the numbers thread, thread + 256, thread + 512, ... below n.
  var sum = 0.0;  // *
  for (var i = thread; i < params.n; i += 256u) { sum += input[i]; }  // *
  // 2. Put your sum into partial, even if you had no number.
  partial[thread] = sum;  // *
  // 3. Halve the number of sums until one is left: 128, 64, ..., 1.
  //    Every thread reaches the barrier before each step.
  for (var half = 128u; half > 0u; half /= 2u) {  // *
    workgroupBarrier();  // *
    if (thread < half) { partial[thread] += partial[thread + half]; }  // *
  }  // *
  // 4. Let one thread write the last sum to total[0].
  if (thread == 0u) { total[0] = partial[0]; }  // *
}
