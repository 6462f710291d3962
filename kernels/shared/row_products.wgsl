fn read_b(item: u32, k: u32, n: u32) -> vec4f {
  return b[(item * B_STRIDE + k * N + n) / 4u];
}

// Multiply: four products for each number in one column of vec4s.
fn multiply(four: u32) {
  for (var row = 0u; row < TILE_ROWS; row++) {  // unroll
    for (var i = 0u; i < 4u; i++) {  // unroll
      sums[row * TILE_VEC4S + four] += left[row][i] * right[i];
    }
  }
}
