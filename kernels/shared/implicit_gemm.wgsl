const A_EVERY: u32 = THREADS / A_VEC4S;    // from one k of a thread to its next
const B_EVERY: u32 = THREADS / B_VEC4S;
const TAP_STEPS = max(RUN / TILE_K, 1u);
const GROUP_VEC4S: u32 = ROW_TILES * A_VEC4S;  // of one k of a group
const M_VEC4S: u32 = GROUPS * GROUP_VEC4S;     // of one k in weights_by_k

var<workgroup> left: array<array<vec4f, A_VEC4S>, TILE_K>;
var<workgroup> right: array<array<vec4f, B_VEC4S>, TILE_K>;

// The first pass: weights in the order of k, four at a time.
@compute @workgroup_size(256)
fn lay_out_weights(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(num_workgroups) grid: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  let index = (workgroup.y * grid.x + workgroup.x) * 256u + thread;
  if (index >= STEPS * TILE_K * M_VEC4S) {
    return;
  }
  let k = index / M_VEC4S;
  let group = index % M_VEC4S / GROUP_VEC4S;
  let m = index % GROUP_VEC4S * 4u;
  weights_by_k[index] = vec4f(
    weight_at(group, m, k), weight_at(group, m + 1u, k),
    weight_at(group, m + 2u, k), weight_at(group, m + 3u, k),
  );
}

// Which tile is a workgroup's? Each group of channels has tiles of its own.
struct Tile {
  group: u32,  // [0, G)
  m0: u32,     // its first row in the group
  n0: u32,     // its first column
  split: u32,  // which part of the sums, [0, SPLITS)
}

fn tile_of(workgroup: vec3u, across: u32) -> Tile {
  let group = workgroup.z / ROW_TILES % GROUPS;
  let m0 = workgroup.z % ROW_TILES * TILE_M;
  let n0 = (workgroup.y * across + workgroup.x) * TILE_N;
  return Tile(group, m0, n0, workgroup.z / (ROW_TILES * GROUPS));
}

// Fetch the next tile into registers, while this one is multiplied.
fn fetch_weights(thread: u32, tile: Tile, step: u32) {
  let k = step * TILE_K + thread / A_VEC4S;
  let first_of_k = k * M_VEC4S + tile.group * GROUP_VEC4S + tile.m0 / 4u;
  let first = first_of_k + thread % A_VEC4S;
  for (var i = 0u; i < A_LOADS; i++) {  // unroll
    next_left[i] = weights_by_k[first + i * A_EVERY * M_VEC4S];
  }
}

fn fetch(thread: u32, tile: Tile, step: u32) {
  fetch_weights(thread, tile, step);
  if (RUN % TILE_K == 0u) {
    fetch_channels(thread, step);
  } else {
    fetch_taps(thread, step);
  }
}

fn place(thread: u32) {
  for (var i = 0u; i < A_LOADS; i++) {  // unroll
    left[thread / A_VEC4S + i * A_EVERY][thread % A_VEC4S] = next_left[i];
  }
  for (var i = 0u; i < B_LOADS; i++) {  // unroll
    let factors = select(vec4f(), next_right[i], inside);
    right[thread / B_VEC4S + i * B_EVERY][thread % B_VEC4S] = factors;
  }
}

// A warp reads 4 vec4s of rows and 8 of columns: few addresses, no conflicts.
fn row_of(thread: u32) -> u32 {
  return thread / 32u / (TILE_N / 64u) * 4u + thread / 8u % 4u;
}

fn column_of(thread: u32) -> u32 {
  return thread / 32u % (TILE_N / 64u) * 8u + thread % 8u;
}

// Add up the products of a tile, from step `first` up to `end`.
fn add_products(tile: Tile, thread: u32) {
  let first = tile.split * STEPS / SPLITS;
  let end = (tile.split + 1u) * STEPS / SPLITS;
  find_columns(tile.group, tile.n0 + thread % B_VEC4S);
  fetch(thread, tile, first);
  for (var step = first; step < end; step++) {
    place(thread);
    workgroupBarrier();  // the tiles are complete
    if (step + 1u < end) {
      fetch(thread, tile, step + 1u);
    }
    multiply(row_of(thread), column_of(thread));
    workgroupBarrier();  // no thread still reads them
  }
}

// Where are the 8 x 8 sums of a thread? Sum (i, j) is in vec4 j/4 of row i.
// A row of the product is a channel of the tile's group.
fn m_of(tile: Tile, thread: u32, i: u32) -> u32 {
  return tile.m0 + 4u * (row_of(thread) + i / 4u * (TILE_M / 8u)) + i % 4u;
}

fn pixel_of(tile: Tile, thread: u32, j: u32) -> u32 {
  return tile.n0 + column_of(thread) + j / 4u * (TILE_N / 8u) + j % 4u * B_VEC4S;
}
