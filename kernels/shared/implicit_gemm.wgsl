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

// Where are the 8 x 8 sums of a thread? Sum (i, j) is in vec4 j/4 of row i.
// A row of the product is a channel of the tile's group.
fn m_of(tile: Tile, thread: u32, i: u32) -> u32 {
  return tile.m0 + 4u * (row_of(thread) + i / 4u * (TILE_M / 8u)) + i % 4u;
}

fn pixel_of(tile: Tile, thread: u32, j: u32) -> u32 {
  return tile.n0 + column_of(thread) + j / 4u * (TILE_N / 8u) + j % 4u * B_VEC4S;
}
