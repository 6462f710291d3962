// The sum of 64 numbers by one workgroup. One line is missing.
@group(0) @binding(0) var<storage, read> input: array<f32>;
@group(0) @binding(1) var<storage, read_write> total: array<f32>;
var<workgroup> sums: array<f32, 64>;

@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) i: u32) {
  sums[i] = input[i];
  for (var half = 32u; half > 0u; half /= 2u) {
    if i < half { sums[i] += sums[i + half]; }
  }
  if i == 0u { total[i] = sums[i]; }
}
