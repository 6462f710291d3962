// The sum of 256 numbers by one workgroup. It is right where a subgroup has 32 threads, and one line makes it so.
enable subgroups;

@group(0) @binding(0) var<storage, read> input: array<f32>;
@group(0) @binding(1) var<storage, read_write> total: array<f32>;
var<workgroup> sums: array<f32, 64>;

@compute @workgroup_size(256)
fn main(
  @builtin(local_invocation_index) i: u32,
  @builtin(num_subgroups) subgroups: u32,
) {
  let sum = subgroupAdd(input[i]);
  if subgroupElect() { sums[i / 32u] = sum; }
  workgroupBarrier();
  if i == 0u {
    var all = 0.0;
    for (var k = 0u; k < subgroups; k++) { all += sums[k]; }
    total[0] = all;
  }
}
