// Adds up to 64 numbers in one workgroup: the sum of `input`, in total[0].
@group(0) @binding(0) var<storage, read> input: array<f32>;
@group(0) @binding(1) var<storage, read_write> total: array<f32>;
var<workgroup> sums: array<f32, 64>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
  if i < arrayLength(&input) { sums[i] = input[i]; } else { sums[i] = 0.0; }
  workgroupBarrier();  // the numbers that the first step reads are written
  for (var half = 32u; half > 0u; half /= 2u) {
    if i < half { sums[i] += sums[i + half]; }
    workgroupBarrier();  // the sums that the next step reads are written
  }
  if i == 0u { total[0] = sums[0]; }
}
