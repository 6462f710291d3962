// The official kernel of the puzzle subgroup_sum;
// lines that end in a star are not in the skeleton.
//
// equation  total = sum over i of input[i]
// dispatch  1 workgroup of 256 threads
// barriers  one: each subgroup adds sums that other subgroups wrote
// limits    none but the size of a buffer

enable subgroups;

struct Params { n: u32 }

@group(0) @binding(0) var<storage, read> input: array<f32>;        // (n)
@group(0) @binding(1) var<storage, read_write> total: array<f32>;  // (1)
@group(0) @binding(2) var<uniform> params: Params;

var<workgroup> sums: array<f32, 64>;  // one per subgroup: enough for 256 / 4

@compute @workgroup_size(256)
fn main(
  @builtin(local_invocation_index) thread: u32,  // [0, 256)
  @builtin(subgroup_size) size: u32,             // 4, 8, 16, 32, 64 or 128
  @builtin(subgroup_invocation_id) lane: u32,    // [0, size)
  @builtin(num_subgroups) subgroups: u32,        // 256 / size
  @builtin(subgroup_id) subgroup: u32,           // [0, subgroups)
) {
  var sum = 0.0;
  for (var i = thread; i < params.n; i += 256u) { sum += input[i]; }
  // 1. Add up the sums of your subgroup, without any memory.
  let own = subgroupAdd(sum);  // *
  // 2. Let lane 0 put that into sums, at the place of its subgroup, and wait.
  if (lane == 0u) { sums[subgroup] = own; }  // *
  workgroupBarrier();  // *
  // 3. Add up sums[lane], sums[lane + size], sums[lane + 2 size], ...
  sum = 0.0;  // *
  for (var k = lane; k < subgroups; k += size) { sum += sums[k]; }  // *
  // 4. Add up the sums of your subgroup once more.
  sum = subgroupAdd(sum);  // *
  if (thread == 0u) { total[0] = sum; }
}
