override SIZE = 256u;
@group(0) @binding(0) var<storage> input: array<f32>;
@group(0) @binding(1) var<storage, read_write>
  sums: array<f32>;
@group(0) @binding(2) var<uniform> n: u32;
var<workgroup> partial: array<f32, SIZE>;
@compute @workgroup_size(SIZE) fn main(
  @builtin(local_invocation_index) t: u32,
  @builtin(workgroup_id) workgroup: vec3u) {
  let i = workgroup.x * SIZE + t;
  partial[t] = 0.0;
  if (i < n) { partial[t] = input[i]; }
  for (var k = SIZE / 2u; k > 0u; k /= 2u) {
    workgroupBarrier();
    if (t < k) { partial[t] += partial[t + k]; }
  }
  if (t == 0u) { sums[workgroup.x] = partial[0]; }
}
// pass.dispatch_workgroups(blocks)
