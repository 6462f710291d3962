// All activations except `none` and `relu` use the sigmoid.
fn sigmoid(x: f32) -> f32 {
  // Farther out, exp(-|x|) soon falls below the smallest normal float32.
  if (abs(x) > 87.0) { return select(0.0, 1.0, x > 0.0); }
  let e = exp(-abs(x));                        // at most 1: it never overflows
  return select(e, 1.0, x > 0.0) / (1.0 + e);  // 1/(1+e) right of 0, else e/(1+e)
}

const GELU = 1.5957691216;  // 2 * sqrt(2/pi)
const CUBE = 0.044715;
