// sum / 3_two_passes
//
// in        input (n)
// out       total (1)
// dispatch  G = min(ceil(n/THREADS), THREADS) workgroups of THREADS = 256 threads,
//           then 1 such workgroup
// barriers  one before each step of a tree:
//           a thread adds a partial sum that another thread wrote
// cost      per sum: n + G global loads, (G + 1) * (2*THREADS - 1) workgroup loads,
//           0 multiply-adds (only additions);
//           one thread has ceil(n/(G*THREADS)) of the numbers,
//           then log2(THREADS) = 8 steps of a tree in each pass
// limits    THREADS is a power of two
// new here  many workgroups: each writes one part, and a second pass adds
//           the parts, as no barrier orders two workgroups

override THREADS: u32 = 256u;

struct Params {
  count: u32,  // n
}

@group(0) @binding(0) var<storage, read> input: array<f32>;        // (n)
@group(0) @binding(1) var<storage, read_write> total: array<f32>;  // (1)
@group(0) @binding(2) var<storage, read_write> parts: array<f32>;  // (G)
@group(0) @binding(3) var<uniform> params: Params;

var<workgroup> partial: array<f32, THREADS>;  // one partial sum per thread

// 1. The tree, for both passes: afterwards, partial[0] is the sum of all.
fn add_in_tree(thread: u32) {
  for (var half = THREADS / 2u; half > 0u; half /= 2u) {  // 128, 64, ..., 1
    workgroupBarrier();  // the sums that this step reads are written
    if (thread < half) {
      partial[thread] += partial[thread + half];
    }
  }
}

// 2. The first pass: each workgroup adds up its share, and writes one part.
@compute @workgroup_size(THREADS)
fn sum_shares(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) thread: u32,  // [0, THREADS)
) {
  var sum = 0.0;
  let first = workgroup.x * THREADS + thread;
  for (var i = first; i < params.count; i += grid.x * THREADS) {  // [0, n)
    sum += input[i];
  }
  partial[thread] = sum;
  add_in_tree(thread);
  if (thread == 0u) {
    parts[workgroup.x] = partial[0];
  }
}

// 3. The second pass: one workgroup adds up the parts, at most one for each thread.
@compute @workgroup_size(THREADS)
fn sum_parts(@builtin(local_invocation_index) thread: u32) {  // [0, THREADS)
  partial[thread] = 0.0;
  if (thread < arrayLength(&parts)) {
    partial[thread] = parts[thread];
  }
  add_in_tree(thread);
  if (thread == 0u) {
    total[0] = partial[0];
  }
}
