// loop_cap / 1_count
//
// equation  counted[0] = 1 + 1 + ... + 1, once for each of 600 * 500 loop iterations
// in        nothing
// out       counted (1): 300,000, or less where the driver stops a long loop
// dispatch  1 workgroup of 1 thread
// owner     the one thread
// barriers  none: there is nobody to wait for
// limits    none
// new here  a fault found by trying, so that no sum is ever cut short unseen

@group(0) @binding(0) var<storage, read_write> counted: array<u32>;  // (1)

@compute @workgroup_size(1)
fn main() {
  // 1. Count, in two loops: the cap is on the iterations of both together.
  var count = 0u;
  for (var i = 0u; i < 600u; i++) {
    for (var j = 0u; j < 500u; j++) {
      count++;
    }
  }
  counted[0] = count;
}
