// Along one axis, 4 outputs of a filter of 3 take 12 products, and so do 3 weights
// with 4 gradients. Winograd's method takes 6, as many as points at which two
// polynomials are multiplied by their values: 0, a, -a, b, -b and infinity (the
// highest coefficient). Two opposite points share their even and their odd terms.
// Any a and b are right; rounding errors with these are half as large as with 1
// and 2.
const NEAR: f32 = 0.625;  // a
const FAR: f32 = 1.5;     // b
const NEAR_2: f32 = NEAR * NEAR;
const FAR_2: f32 = FAR * FAR;

// The data's part at the points: B^T d.
fn data_points(d: array<vec4f, 6>) -> array<vec4f, 6> {
  let near_even = d[4] - FAR_2 * d[2];
  let near_odd = NEAR * (d[3] - FAR_2 * d[1]);
  let far_even = d[4] - NEAR_2 * d[2];
  let far_odd = FAR * (d[3] - NEAR_2 * d[1]);
  return array<vec4f, 6>(
    NEAR_2 * FAR_2 * d[0] - (NEAR_2 + FAR_2) * d[2] + d[4],
    near_even + near_odd, near_even - near_odd,
    far_even + far_odd, far_even - far_odd,
    NEAR_2 * FAR_2 * d[1] - (NEAR_2 + FAR_2) * d[3] + d[5],
  );
}
