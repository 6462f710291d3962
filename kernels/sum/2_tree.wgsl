// sum / 2_tree
//
// in        input (n)
// out       total (1)
// dispatch  1 workgroup of THREADS = 256 threads
// barriers  one before each step of the tree:
//           a thread adds a partial sum that another thread wrote
// cost      per sum: n global loads, 2*THREADS - 1 workgroup loads,
//           0 multiply-adds (only additions);
//           one thread has ceil(n/THREADS) of the numbers,
//           then log2(THREADS) = 8 steps of the tree
// limits    THREADS is a power of two; one workgroup keeps only
//           a small part of a GPU busy
// new here  THREADS threads share the sum: coalesced loads,
//           then a tree reduction in workgroup memory

override THREADS: u32 = 256u;

struct Params {
  count: u32,  // n
}

@group(0) @binding(0) var<storage, read> input: array<f32>;        // (n)
@group(0) @binding(1) var<storage, read_write> total: array<f32>;  // (1)
@group(0) @binding(2) var<uniform> params: Params;

var<workgroup> partial: array<f32, THREADS>;  // one partial sum per thread

@compute @workgroup_size(THREADS)
fn main(@builtin(local_invocation_index) thread: u32) {  // [0, THREADS)
  // 1. Take every THREADS-th number: neighbors read neighboring addresses.
  var sum = 0.0;
  for (var i = thread; i < params.count; i += THREADS) {  // [0, n)
    sum += input[i];
  }
  partial[thread] = sum;  // 0 from a thread without a number

  // 2. Add the partial sums in a tree: each step leaves half as many.
  for (var half = THREADS / 2u; half > 0u; half /= 2u) {  // 128, 64, ..., 1
    workgroupBarrier();  // the sums that this step reads are written
    if (thread < half) {
      partial[thread] += partial[thread + half];
    }
  }

  // 3. Thread 0 wrote the last sum itself, so it needs no barrier to read it.
  if (thread == 0u) {
    total[0] = partial[0];
  }
}
