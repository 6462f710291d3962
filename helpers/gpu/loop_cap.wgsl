// Counts to 300,000. A driver that stops a thread after 65,535 loop iterations leaves a smaller number.

@group(0) @binding(0) var<storage, read_write> counted: array<u32>;  // (1)

@compute @workgroup_size(1)
fn main() {
  var count = 0u;
  for (var i = 0u; i < 600u; i++) {  // two loops: what such a driver counts is the iterations of all loops together
    for (var j = 0u; j < 500u; j++) {
      count++;
    }
  }
  counted[0] = count;
}
