struct Params {
  batch: u32,         // N
  out_channels: u32,  // Co
  out_h: u32,         // oH
  out_w: u32,         // oW
}
