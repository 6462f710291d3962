// The activation's derivative, act'(x), right for every finite x: 1 - sigmoid(z) is
// written as sigmoid(-z), for the difference would lose its digits to cancellation.
// At an infinity it is the limit, and of NaN it is NaN; `none` has 1 everywhere.
fn derivative(x: f32) -> f32 {
  if (is_nan(x) && ACTIVATION > 0u) { return x; }
  switch ACTIVATION {
    case 1u: { return select(0.0, 1.0, x > 0.0); }    // relu: 0 at 0
    case 2u: {                                        // gelu: x * sigmoid(z)
      // Farther out the derivative is 0 or 1, and t*t stays finite.
      let t = clamp(x, -11.0, 11.0);
      let z = GELU * t * (1.0 + CUBE * t * t);
      let dz = GELU * (1.0 + 3.0 * CUBE * t * t);
      return sigmoid(z) * (1.0 + t * dz * sigmoid(-z));
    }
    case 3u: {                                        // silu: x * sigmoid(x)
      let t = clamp(x, -88.0, 88.0);                  // keeps infinity * 0 away
      return sigmoid(t) * (1.0 + t * sigmoid(-t));
    }
    case 4u: { return sigmoid(x) * sigmoid(-x); }     // sigmoid
    case 5u: {                                        // tanh: 1 - tanh^2, which is
      let t = clamp(x, -44.0, 44.0);                  // 4*sigmoid(2x)*sigmoid(-2x)
      return 4.0 * sigmoid(2.0 * t) * sigmoid(-2.0 * t);
    }
    default: { return 1.0; }                          // none
  }
}
