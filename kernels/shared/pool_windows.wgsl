// The windows that hold a row or column of the padded input: from x to below y.
fn windows(at: u32, size: u32, stride: u32, count: u32) -> vec2u {
  var first = 0u;
  if (at >= size) {
    first = (at - size) / stride + 1u;  // behind the last one that ends before it
  }
  return vec2u(first, min(at / stride + 1u, count));
}
