struct Params {
  planes: u32,     // N*C
  in_h: u32,       // H
  in_w: u32,       // W
  kernel_h: u32,   // kH
  kernel_w: u32,   // kW
  stride_h: u32,   // Sh
  stride_w: u32,   // Sw
  padding_h: u32,  // Ph
  padding_w: u32,  // Pw
  out_h: u32,      // oH
  out_w: u32,      // oW
}
