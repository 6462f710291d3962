// sum / 1_one_thread
//
// equation  total = sum over i of input[i]
// numpy     total = input.sum(keepdims=True)
// in        input (n)
// out       total (1)
// dispatch  1 workgroup of 1 thread
// barriers  none: one thread does everything
// cost      per sum: n global loads, 0 workgroup loads,
//           0 multiply-adds (n additions, one after another)
// limits    the whole GPU waits for one thread
// new here  the order in which everyone adds by hand: from left to right

struct Params {
  count: u32,  // n
}

@group(0) @binding(0) var<storage, read> input: array<f32>;        // (n)
@group(0) @binding(1) var<storage, read_write> total: array<f32>;  // (1)
@group(0) @binding(2) var<uniform> params: Params;

@compute @workgroup_size(1)
fn main() {
  // 1. Add from left to right.
  var sum = 0.0;
  for (var i = 0u; i < params.count; i++) {  // [0, n)
    sum += input[i];
  }

  // 2. Write it.
  total[0] = sum;
}
