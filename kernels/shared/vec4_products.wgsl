// Read the operands: 0 past an edge, where a tile reaches farther than the matrix.
fn read_a(item: u32, m: u32, k: u32) -> f32 {
  if (ALIGNED || (m < M && k < K)) { return a[(item * M + m) * K + k]; }
  return 0.0;
}

fn read_b(item: u32, k: u32, n: u32) -> vec4f {
  if (ALIGNED || (k < K && n < N)) { return b[(item * B_STRIDE + k * N + n) / 4u]; }
  return vec4f();
}

// Add the bias and apply act, while the sums are still in registers; then
// write. First all loads, then all stores: in turns, a load would wait for the
// store before it.
fn m_at(m0: u32, i: u32) -> u32 {  // of a thread's row i
  return m0 + i / 4u * (TILE_M / 2u) + i % 4u;
}

fn n_at(n0: u32, j: u32) -> u32 {  // of its column j
  return n0 + j / 4u * (TILE_N / 2u) + j % 4u;
}

fn read_bias(n: u32) -> f32 {
  if (ALIGNED || n < N) { return bias[n]; }
  return 0.0;
}

fn finish(n0: u32) {
  for (var j = 0u; j < 8u; j++) {  // unroll
    let bias_n = read_bias(n_at(n0, j));
    for (var i = 0u; i < 8u; i++) {  // unroll
      let pre = sums[2u * i + j / 4u][j % 4u] + bias_n;
      sums[2u * i + j / 4u][j % 4u] = activate(pre);
    }
  }
}

fn write(item: u32, m: u32, n: u32, result: f32) {
  if (ALIGNED || (m < M && n < N)) { output[(item * M + m) * N + n] = result; }
}
