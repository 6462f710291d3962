const ACTIVATION: u32 = 0u;  // 0 none, 1 relu, 2 gelu, 3 silu, 4 sigmoid, 5 tanh
