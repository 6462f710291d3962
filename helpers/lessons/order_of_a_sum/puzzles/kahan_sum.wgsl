// The official kernel of the puzzle kahan_sum;
// lines that end in a star are not in the skeleton.
//
// equation  total = sum over i of input[i], from left to right
// dispatch  1 workgroup of 1 thread
// barriers  none: one thread does everything
// limits    none but the size of a buffer

struct Params { n: u32, zero: u32 }  // zero is 0

@group(0) @binding(0) var<storage, read> input: array<f32>;        // (n)
@group(0) @binding(1) var<storage, read_write> total: array<f32>;  // (1)
@group(0) @binding(2) var<uniform> params: Params;

// The same number; but no compiler knows that zero is 0.
fn hidden(x: f32) -> f32 {
  return bitcast<f32>(bitcast<u32>(x) + params.zero);
}
fn plus(a: f32, b: f32) -> f32 { return hidden(a + b); }
fn minus(a: f32, b: f32) -> f32 { return hidden(a - b); }

@compute @workgroup_size(1)
fn main() {
  var sum = 0.0;
  var excess = 0.0;  // what the last addition made too much
  for (var i = 0u; i < params.n; i++) {
    // 1. Take the excess off the next number.
    let corrected = minus(input[i], excess);  // *
    // 2. Add what is left. The old sum is still needed.
    let next = plus(sum, corrected);  // *
    // 3. The excess: how much sum grew, minus what was added.
    excess = minus(minus(next, sum), corrected);  // *
    // 4. Keep the new sum.
    sum = next;  // *
  }
  total[0] = sum;
}
