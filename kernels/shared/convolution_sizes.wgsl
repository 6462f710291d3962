// The layer: the launcher writes its sizes in here.
const BATCH: u32 = 2u;         // N
const IN_CHANNELS: u32 = 4u;   // Ci
const IN_H: u32 = 8u;          // H
const IN_W: u32 = 9u;          // W
const OUT_CHANNELS: u32 = 4u;  // Co
const PADDING_H: u32 = 1u;     // Ph
const PADDING_W: u32 = 1u;     // Pw
const OUT_H: u32 = 8u;         // oH
const OUT_W: u32 = 9u;         // oW
