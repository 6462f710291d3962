// The filter's values at the points: G g. Each line is four filters' work.
fn filter_points(g: array<vec4f, 3>) -> array<vec4f, 6> {
  const at_0 = 1.0 / (NEAR_2 * FAR_2);
  const at_near = 0.5 / (NEAR_2 * (NEAR_2 - FAR_2));
  const at_far = 0.5 / (FAR_2 * (FAR_2 - NEAR_2));
  let near_even = at_near * (g[0] + NEAR_2 * g[2]);
  let near_odd = at_near * NEAR * g[1];
  let far_even = at_far * (g[0] + FAR_2 * g[2]);
  let far_odd = at_far * FAR * g[1];
  return array<vec4f, 6>(
    at_0 * g[0],
    near_even + near_odd, near_even - near_odd,
    far_even + far_odd, far_even - far_odd,
    g[2],
  );
}

// The outputs, from the products at the points: A^T m.
fn outputs(m: array<vec4f, 6>) -> array<vec4f, 4> {
  let near_even = m[1] + m[2];
  let near_odd = NEAR * (m[1] - m[2]);
  let far_even = m[3] + m[4];
  let far_odd = FAR * (m[3] - m[4]);
  return array<vec4f, 4>(
    m[0] + near_even + far_even,
    near_odd + far_odd,
    NEAR_2 * near_even + FAR_2 * far_even,
    NEAR_2 * near_odd + FAR_2 * far_odd + m[5],
  );
}

// Where each number lies at a point. The 4 tiles of a vec4 are B_VEC4S apart, so
// that neighboring threads have neighboring tiles.
fn weight_at(point: u32, k: u32, four: u32) -> u32 {
  return (point * K + k) * M_VEC4S + four;
}

fn data_at(point: u32, k: u32, four: u32) -> u32 {
  return (point * K + k) * N_VEC4S + four;
}

fn product_at(point: u32, m: u32, four: u32) -> u32 {
  return (point * M + m) * N_VEC4S + four;
}

struct Tile {
  image: u32,    // [0, N)
  row: u32,      // of its first pixel
  column: u32,   // likewise
  exists: bool,  // else it only fills up the last vec4s
}

fn tile_of(four: u32, c: u32) -> Tile {
  let tile = four / B_VEC4S * TILE_N + c * B_VEC4S + four % B_VEC4S;
  let row = tile / TILES_W % TILES_H * 4u;
  let column = tile % TILES_W * 4u;
  return Tile(tile / (TILES_W * TILES_H), row, column, tile < TILES);
}

// Four filters at the points: first along their columns, then along the rows.
fn transform_weight(k: u32, four: u32) {
  var half: array<vec4f, 18>;  // (6 points, 3 columns)
  for (var j = 0u; j < 3u; j++) {  // unroll
    var column: array<vec4f, 3>;
    for (var i = 0u; i < 3u; i++) {  // unroll
      for (var c = 0u; c < 4u; c++) {  // unroll
        column[i][c] = read_weight(k, 4u * four + c, 3u * i + j);
      }
    }
    let points = filter_points(column);
    for (var i = 0u; i < 6u; i++) {  // unroll
      half[3u * i + j] = points[i];
    }
  }
  for (var i = 0u; i < 6u; i++) {  // unroll
    let row = array<vec4f, 3>(half[3u * i], half[3u * i + 1u], half[3u * i + 2u]);
    let points = filter_points(row);
    for (var j = 0u; j < 6u; j++) {  // unroll
      transformed_weight[weight_at(6u * i + j, k, four)] = points[j];
    }
  }
}

// Four tiles at the points, with what lies around them: 6 x 6 each.
fn transform_data(k: u32, four: u32) {
  let tiles = array<Tile, 4>(
    tile_of(four, 0u), tile_of(four, 1u), tile_of(four, 2u), tile_of(four, 3u),
  );
  var half: array<vec4f, 36>;  // (6 points, 6 columns)
  for (var j = 0u; j < 6u; j++) {  // unroll
    var column: array<vec4f, 6>;
    for (var i = 0u; i < 6u; i++) {  // unroll
      for (var c = 0u; c < 4u; c++) {  // unroll
        column[i][c] = read_data(k, tiles[c], i, j);
      }
    }
    let points = data_points(column);
    for (var i = 0u; i < 6u; i++) {  // unroll
      half[6u * i + j] = points[i];
    }
  }
  for (var i = 0u; i < 6u; i++) {  // unroll
    var row: array<vec4f, 6>;
    for (var j = 0u; j < 6u; j++) {  // unroll
      row[j] = half[6u * i + j];
    }
    let points = data_points(row);
    for (var j = 0u; j < 6u; j++) {  // unroll
      transformed_data[data_at(6u * i + j, k, four)] = points[j];
    }
  }
}

// Fetch the next tile of both matrices into registers, and place it.
fn fetch(t: u32, point: u32, m0: u32, n0: u32, k0: u32) {
  for (var i = 0u; i < A_LOADS; i++) {  // unroll
    let k = k0 + t / A_VEC4S + i * (THREADS / A_VEC4S);
    next_left[i] = transformed_weight[weight_at(point, k, m0 / 4u + t % A_VEC4S)];
  }
  for (var i = 0u; i < B_LOADS; i++) {  // unroll
    let k = k0 + t / B_VEC4S + i * (THREADS / B_VEC4S);
    next_right[i] = transformed_data[data_at(point, k, n0 / 4u + t % B_VEC4S)];
  }
}

fn place(t: u32) {
  for (var i = 0u; i < A_LOADS; i++) {  // unroll
    left[t / A_VEC4S + i * (THREADS / A_VEC4S)][t % A_VEC4S] = next_left[i];
  }
  for (var i = 0u; i < B_LOADS; i++) {  // unroll
    right[t / B_VEC4S + i * (THREADS / B_VEC4S)][t % B_VEC4S] = next_right[i];
  }
}

// From the products at the points to the 4 x 4 pixels of four tiles.
fn tiles_from_points(m: u32, four: u32) -> array<vec4f, 16> {
  var half: array<vec4f, 24>;  // (4 rows, 6 points)
  for (var j = 0u; j < 6u; j++) {  // unroll
    var column: array<vec4f, 6>;
    for (var i = 0u; i < 6u; i++) {  // unroll
      column[i] = products[product_at(6u * i + j, m, four)];
    }
    let rows = outputs(column);
    for (var i = 0u; i < 4u; i++) {  // unroll
      half[6u * i + j] = rows[i];
    }
  }
  var tiles: array<vec4f, 16>;
  for (var i = 0u; i < 4u; i++) {  // unroll
    var row: array<vec4f, 6>;
    for (var j = 0u; j < 6u; j++) {  // unroll
      row[j] = half[6u * i + j];
    }
    let pixels = outputs(row);
    for (var j = 0u; j < 4u; j++) {  // unroll
      tiles[4u * i + j] = pixels[j];
    }
  }
  return tiles;
}
