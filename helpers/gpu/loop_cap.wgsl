// Counts to 300,000 in two loops, as a driver that caps loops counts the iterations of both together.

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
