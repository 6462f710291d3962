// What layer and convolution apply to each output: right for every finite x, its
// limit at an infinity, and NaN of NaN.
fn activate(x: f32) -> f32 {
  if (is_nan(x)) { return x; }
  switch ACTIVATION {
    case 1u: { return max(x, 0.0); }                 // relu
    case 2u: {                                       // gelu: x * sigmoid(z)
      // Farther out sigmoid(z) is 0 or 1, and t*t stays finite.
      let t = clamp(x, -11.0, 11.0);
      return max(x, -11.0) * sigmoid(GELU * t * (1.0 + CUBE * t * t));
    }
    case 3u: {                                       // silu: x * sigmoid(x)
      return max(x, -88.0) * sigmoid(x);             // max keeps 0 * infinity away
    }
    case 4u: { return sigmoid(x); }
    case 5u: {                                       // tanh = (1-e) / (1+e),
      let t = clamp(x, -44.0, 44.0);                 // with e = exp(-2x)
      // Near 0 a difference cancels: a series replaces it.
      let series = t - t * t * t * (1.0 / 3.0 - t * t * (2.0 / 15.0));
      return select(sigmoid(2.0 * t) - sigmoid(-2.0 * t), series, abs(t) < 0.1);
    }
    default: { return x; }                           // none
  }
}
