// conv2d_grad_input / 5_winograd
//
// in        grad_output (N, Co, oH, oW), weight (Co, Ci, kH, kW)
// out       grad_input (N, Ci, H, W)
// dispatch  three passes; a tile are 4 x 4 pixels of grad_input, a vec4 4 tiles
//           transform        one thread for co and a vec4, and
//                            one for co and 4 channels ci of weight
//           multiply_points  one workgroup of TILE_M/8 * TILE_N/8 threads for
//                            each of 36 points, TILE_M channels, TILE_N tiles
//           write_pixels     one thread for ci and a vec4
// barriers  one before a product: a thread multiplies what others loaded;
//           one after it: no thread may still read the old tile;
//           the same around tiles that change hands before they are written
// cost      per pixel of full tiles and workgroups, a load of a product being one
//           of 4 numbers:
//           9*Co/(16*TILE_M) + 9*Co/(16*TILE_N) + 9*Co/(4*Ci)
//             + 9*Co/(N*H*W) + 9/16 global loads,
//           9*Co/64 + 1/4 workgroup loads,
//           9*Co/4 + 9*Co/(2*Ci) + 18*Co/(N*H*W) + 5/4 multiply-adds
// limits    filters of 3 x 3 at stride 1; scratch buffers of at most 128 MiB,
//           which hold 36/16 numbers for each of grad_output;
//           rounding errors are larger than in other versions, and whole numbers
//           round too; a NaN or an infinity makes all of its tile NaN; a number
//           above 1e37, or a sum of products above 1e34, may overflow
// new here  Winograd's F(4x4, 3x3): a tile takes 36 products for each pair of
//           channels instead of 144, at the price of transforms
//           that move 36 numbers for 16

// --- Shared with other files: convolution_sizes ---

// The layer: the launcher writes its sizes in here.
const BATCH: u32 = 2u;         // N
const IN_CHANNELS: u32 = 4u;   // Ci
const IN_H: u32 = 8u;          // H
const IN_W: u32 = 9u;          // W
const OUT_CHANNELS: u32 = 4u;  // Co
const PADDING_H: u32 = 1u;     // Ph
const PADDING_W: u32 = 1u;     // Pw
const OUT_H: u32 = 8u;         // oH
const OUT_W: u32 = 9u;         // oW

// --- Shared with other files: vec4_tiles ---

// The tiles: rows of vec4f. Where an index is a constant, as k is in
// `multiply`, an array of rows saves what one flat array would have to check.
const TILE_M: u32 = 64u;  // rows of a workgroup
const TILE_N: u32 = 64u;  // columns of a workgroup
const TILE_K: u32 = 16u;  // products between two barriers
const THREADS: u32 = TILE_M / 8u * TILE_N / 8u;
const A_VEC4S: u32 = TILE_M / 4u;
const B_VEC4S: u32 = TILE_N / 4u;
const A_LOADS: u32 = TILE_K * A_VEC4S / THREADS;  // vec4s that one thread loads
const B_LOADS: u32 = TILE_K * B_VEC4S / THREADS;

var<private> sums: array<vec4f, 16>;  // 8 rows of 2 vec4s, in registers
var<private> next_left: array<vec4f, A_LOADS>;
var<private> next_right: array<vec4f, B_LOADS>;

// --- Shared with other files: winograd_points ---

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

// --- In this file only: sizes ---

// At each of 36 points, a product of matrices: (m, k) times (k, n), where m are the
// channels ci, k the channels co and n the tiles, all filled up to full tiles
// of a workgroup with zeros. So no load and no store of the product needs a guard.
const TILES_H: u32 = (IN_H + 3u) / 4u;
const TILES_W: u32 = (IN_W + 3u) / 4u;
const TILES: u32 = BATCH * TILES_H * TILES_W;
const K: u32 = (OUT_CHANNELS + TILE_K - 1u) / TILE_K * TILE_K;
const M: u32 = (IN_CHANNELS + TILE_M - 1u) / TILE_M * TILE_M;

// --- Shared with other files: winograd_sizes ---

const PAD: u32 = 0u;            // vec4s behind each row, which is stored as it lies
const M_VEC4S: u32 = M / 4u;
const N_VEC4S: u32 = (TILES + TILE_N - 1u) / TILE_N * B_VEC4S;
const LINE: u32 = 64u;          // threads of a workgroup in the other passes
const LINES: u32 = (N_VEC4S + LINE - 1u) / LINE;

var<workgroup> left: array<array<vec4f, A_VEC4S + PAD>, TILE_K>;
var<workgroup> right: array<array<vec4f, B_VEC4S + PAD>, TILE_K>;
var<workgroup> staged: array<array<vec4f, LINE>, 4>;  // one tile a thread

// --- Shared with other files: conv2d_grad_input_buffers ---

// Where a version takes G groups, a filter has Ci/G channels.
@group(0) @binding(0)
var<storage, read> grad_output: array<f32>;       // (N,Co,oH,oW)
@group(0) @binding(1)
var<storage, read> weight: array<f32>;            // (Co,Ci,kH,kW)
@group(0) @binding(2)
var<storage, read_write> grad_input: array<f32>;  // (N,Ci,H,W)

// --- In this file only: passes ---

@group(0) @binding(3)
var<storage, read_write> transformed_weight: array<vec4f>;  // (36,K,M_VEC4S)
@group(0) @binding(4)
var<storage, read_write> transformed_data: array<vec4f>;    // (36,K,N_VEC4S)
@group(0) @binding(5)
var<storage, read_write> products: array<vec4f>;            // (36,M,N_VEC4S)

// 1. One of the 9 numbers of a filter.
fn read_weight(co: u32, ci: u32, tap: u32) -> f32 {
  if (co < OUT_CHANNELS && ci < IN_CHANNELS) {
    return weight[(co * IN_CHANNELS + ci) * 9u + 8u - tap];  // flipped
  }
  return 0.0;
}

// 2. One of the 6 x 6 numbers in and around a tile.
fn read_data(co: u32, tile: Tile, i: u32, j: u32) -> f32 {
  // Below 0, row and column wrap to more than oH and oW.
  let row = tile.row + i + PADDING_H - 2u;
  let column = tile.column + j + PADDING_W - 2u;
  if (tile.exists && co < OUT_CHANNELS && row < OUT_H && column < OUT_W) {
    let plane = tile.image * OUT_CHANNELS + co;
    return grad_output[(plane * OUT_H + row) * OUT_W + column];
  }
  return 0.0;
}

// 3. Both transforms are one dispatch: a second one would wait for the first.
@compute @workgroup_size(LINE)
fn transform(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(local_invocation_index) thread: u32,  // [0, LINE)
) {
  let k = workgroup.x;  // [0, K)
  if (workgroup.y < LINES) {
    let four = workgroup.y * LINE + thread;            // [0, N_VEC4S) or more
    if (four < N_VEC4S) { transform_data(k, four); }
  } else {
    let four = (workgroup.y - LINES) * LINE + thread;  // [0, M_VEC4S) or more
    if (four < M_VEC4S) { transform_weight(k, four); }
  }
}

// 4. The products at one point. The next tile of both matrices is on its way while
//    this one is multiplied.
@compute @workgroup_size(THREADS)
fn multiply_points(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(local_invocation_index) t: u32,  // [0, THREADS)
) {
  let m0 = workgroup.x * TILE_M;  // the first row, a channel
  let point = workgroup.y;        // [0, 36)
  // The first column, a tile: from the last to the first, for what the pass before
  // wrote last is still in the cache.
  let n0 = (N_VEC4S / B_VEC4S - 1u - workgroup.z) * TILE_N;
  let across = TILE_N / 64u;
  let column = t / 32u % across * 8u + t % 8u;
  let row = t / 32u / across * 4u + t / 8u % 4u;
  fetch(t, point, m0, n0, 0u);
  for (var k0 = 0u; k0 < K; k0 += TILE_K) {  // [0, K)
    place(t);
    workgroupBarrier();  // both tiles are in place
    if (k0 + TILE_K < K) { fetch(t, point, m0, n0, k0 + TILE_K); }
    multiply(row, column);
    workgroupBarrier();  // no thread still reads them
  }
  for (var i = 0u; i < 8u; i++) {  // unroll
    let m = m0 + 4u * (row + i / 4u * (TILE_M / 8u)) + i % 4u;
    for (var j = 0u; j < 2u; j++) {  // unroll
      let four = n0 / 4u + column + j * (TILE_N / 8u);
      products[product_at(point, m, four)] = sums[2u * i + j];
    }
  }
}

// 5. Four pixels of a tile, one below the other.
fn write_column(ci: u32, tile: Tile, j: u32, pixels: vec4f) {
  let column = tile.column + j;
  let plane = tile.image * IN_CHANNELS + ci;
  for (var i = 0u; i < 4u; i++) {  // unroll
    let row = tile.row + i;
    if (tile.exists && row < IN_H && column < IN_W) {
      grad_input[(plane * IN_H + row) * IN_W + column] = pixels[i];
    }
  }
}

// 6. The last pass: from the products at the points to the 4 x 4 pixels of four
//    tiles.
@compute @workgroup_size(LINE)
fn write_pixels(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(local_invocation_index) thread: u32,  // [0, LINE)
) {
  let m = workgroup.x;                     // a channel that comes out
  let four = workgroup.y * LINE + thread;  // [0, N_VEC4S) or past the end
  var tiles: array<vec4f, 16>;
  if (four < N_VEC4S) {  // no return: barriers follow
    tiles = tiles_from_points(m, four);
  }
  // A thread has whole tiles, but neighboring threads should write neighboring
  // pixels: each takes one column of pixels from a neighbor's tile.
  for (var c = 0u; c < 4u; c++) {  // unroll
    for (var j = 0u; j < 4u; j++) {  // unroll
      staged[j][thread] =
        vec4f(tiles[j][c], tiles[4u + j][c], tiles[8u + j][c], tiles[12u + j][c]);
    }
    workgroupBarrier();  // one tile of each thread is there
    for (var part = 0u; part < 4u; part++) {  // unroll
      let other = part * (LINE / 4u) + thread / 4u;  // [0, LINE)
      let tile = tile_of(workgroup.y * LINE + other, c);
      write_column(m, tile, thread % 4u, staged[thread % 4u][other]);
    }
    workgroupBarrier();  // no thread still reads it
  }
}

// --- Shared with other files: multiply_vec4s ---

// Multiply the tiles: two vec4s of rows by two vec4s of columns, 8 x 8 sums.
fn multiply(row: u32, column: u32) {
  for (var k = 0u; k < TILE_K; k++) {  // unroll
    let b0 = right[k][column];
    let b1 = right[k][column + TILE_N / 8u];
    let a0 = left[k][row];
    let a1 = left[k][row + TILE_M / 8u];
    for (var i = 0u; i < 4u; i++) {  // unroll
      sums[2u * i] = fma(vec4f(a0[i]), b0, sums[2u * i]);
      sums[2u * i + 1u] = fma(vec4f(a0[i]), b1, sums[2u * i + 1u]);
      sums[2u * i + 8u] = fma(vec4f(a1[i]), b0, sums[2u * i + 8u]);
      sums[2u * i + 9u] = fma(vec4f(a1[i]), b1, sums[2u * i + 9u]);
    }
  }
}

// --- Shared with other files: winograd_tiles ---

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

// --- Shared with other files: data_points ---

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
