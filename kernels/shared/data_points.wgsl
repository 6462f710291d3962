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
