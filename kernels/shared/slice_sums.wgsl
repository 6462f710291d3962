// A row of the left tile times a column of the right one: every SLICES-th vec4.
fn slice_product(local: vec3u, terms: u32) -> f32 {
  let vec4s = min(VEC4S, (terms + 3u) / 4u);  // up to the sum's end
  var sums = vec4f();
  for (var four = local.z; four < vec4s; four += SLICES) {
    let row_four = left[local.y * STRIDE + four];
    sums = fma(row_four, right[local.x * STRIDE + four], sums);
  }
  return sums.x + sums.y + sums.z + sums.w;
}

// The sums of all slices, in the threads of the first one.
fn add_slices(thread: u32, part: f32) -> f32 {
  parts[thread] = part;
  workgroupBarrier();  // all sums are in place
  var sum = part;
  if (thread < TILE * TILE) {
    for (var i = 1u; i < SLICES; i++) {  // [1, SLICES)
      sum += parts[i * TILE * TILE + thread];
    }
  }
  return sum;
}
