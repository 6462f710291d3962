// The layer: the launcher writes its sizes in here.
const M: u32 = 64u;        // rows of one item, or of all that share one b
const K: u32 = 64u;
const N: u32 = 64u;
const B_STRIDE: u32 = 0u;  // from one item's b to the next: K*N, or 0
