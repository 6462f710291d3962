override TILE: u32 = 8u;     // rows and columns of a workgroup
override DEPTH: u32 = 128u;  // products between two barriers
override VEC4S: u32 = DEPTH / 4u;     // of a row of a tile; in all, one a thread
override SLICES: u32 = VEC4S / TILE;  // threads that share a sum
override STRIDE: u32 = VEC4S + 1u;    // from row to row, odd: no bank conflicts

// A tile of each operand, in vec4s: four numbers that lie side by side along
// the sum. So the right one holds columns.
var<workgroup> left: array<vec4f, TILE * STRIDE>;
var<workgroup> right: array<vec4f, TILE * STRIDE>;
var<workgroup> parts: array<f32, TILE * TILE * SLICES>;  // the sum of each thread

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
