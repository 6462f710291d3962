struct Params {
  m: u32,           // M
  k: u32,           // K
  n: u32,           // N
  batch_size: u32,  // items
  activation: u32,  // 0 none, 1 relu, 2 gelu, 3 silu, 4 sigmoid, 5 tanh
  b_stride: u32,    // from one item's b to the next: K*N, or 0 if all share one b
  d_b_stride: u32,  // for the backward passes
  unused: u32,      // fills eight words: some backends want multiples of 16 bytes
}
