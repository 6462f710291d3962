// The layer: the launcher writes its sizes in here.
const ROWS: u32 = 64u;       // M, or batch*M where all items share one b
const D_B_ROWS: u32 = 64u;   // M, or batch*M where all items share one d_b
const ALL_ROWS: u32 = 64u;   // batch*M
const K: u32 = 64u;
const N: u32 = 64u;
const B_STRIDE: u32 = 0u;    // from one item's b to the next: K*N, or 0
const D_B_STRIDE: u32 = 0u;  // likewise for d_b
