struct Params {
  batch: u32,         // N
  in_channels: u32,   // Ci
  in_h: u32,          // H
  in_w: u32,          // W
  out_channels: u32,  // Co
  kernel_h: u32,      // kH
  kernel_w: u32,      // kW
  stride: u32,        // S
  padding_h: u32,     // Ph
  out_h: u32,         // oH
  out_w: u32,         // oW
  padding_w: u32,     // Pw
}
