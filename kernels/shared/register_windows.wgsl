const TAPS: u32 = KERNEL_H * KERNEL_W;
const COLUMNS: u32 = 4u * VEC4S;
const WINDOW_H: u32 = ROWS + KERNEL_H - 1u;
const WINDOW_W: u32 = COLUMNS + KERNEL_W - 1u;
const SUMS: u32 = ROWS * VEC4S;  // of one channel
const THREADS: u32 = 8u;
