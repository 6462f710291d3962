// conv2d_grad_weight / 4_winograd
//
// in        grad_output (N, Co, oH, oW), input (N, Ci, H, W)
// out       grad_weight (Co, Ci, kH, kW)
// dispatch  three passes; a tile is a 4 x 4 piece of grad_output
//           transform        one thread for a tile and 4 channels co, and
//                            one for a tile and 4 channels ci of input
//           multiply_points  for each of 36 points, TILE_M channels co and TILE_N
//                            channels ci, PARTS workgroups
//                            of TILE_M/8 * TILE_N/8 threads
//           write_weights    6 threads for co and 4 channels ci
// barriers  one before a product: a thread multiplies what others loaded;
//           one after it: no thread may still read the old tile;
//           one between the rows and the columns of the last transform, and one
//           before the weights that it gives are written by other threads
// cost      per weight of full tiles and workgroups, a load of a product being one
//           of 4 numbers:
//           TILES/TILE_M + TILES/TILE_N + 4*TILES/Co + 16*TILES/(9*Ci)
//             + PARTS global loads,
//           TILES/4 + 3/2 workgroup loads,
//           4*TILES + 40*TILES/(9*Ci) + 8*TILES/Co + 1 multiply-adds
// limits    filters of 3 x 3 at stride 1; scratch buffers of at most 128 MiB,
//           which hold 36/16 numbers for each of grad_output and of input;
//           rounding errors are larger than in other versions, and whole numbers
//           round too; a NaN or an infinity makes all 9 weights NaN; a number
//           above 1e37, or a sum of products above 1e34, may overflow
// new here  Winograd's F(3x3, 4x4): a tile takes 36 products for the 9 weights of
//           each pair of channels instead of 144, at the price of transforms
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
// channels co, k the tiles and n the channels ci, all filled up to full tiles
// of a workgroup with zeros. So no load and no store of the product needs a guard.
const PARTS: u32 = 2u;          // workgroups that share the sums of one tile
const PAD: u32 = 1u;            // vec4s behind each row: without, 16 threads would
                                // store to the same banks
const TILES_H: u32 = (OUT_H + 3u) / 4u;
const TILES_W: u32 = (OUT_W + 3u) / 4u;
const TILES: u32 = BATCH * TILES_H * TILES_W;
const STEPS: u32 = (TILES + TILE_K - 1u) / TILE_K;
const PART_STEPS: u32 = (STEPS + PARTS - 1u) / PARTS;
const M: u32 = (OUT_CHANNELS + TILE_M - 1u) / TILE_M * TILE_M;
const M_VEC4S: u32 = M / 4u;
const N_VEC4S: u32 = (IN_CHANNELS + TILE_N - 1u) / TILE_N * B_VEC4S;
const LINE: u32 = 8u;           // vec4s of a workgroup in the last pass

// --- Shared with other files: conv2d_grad_weight_buffers ---

// Where a version takes G groups, a filter has Ci/G channels.
@group(0) @binding(0)
var<storage, read> grad_output: array<f32>;        // (N,Co,oH,oW)
@group(0) @binding(1)
var<storage, read> input: array<f32>;              // (N,Ci,H,W)
@group(0) @binding(2)
var<storage, read_write> grad_weight: array<f32>;  // (Co,Ci,kH,kW)

// --- In this file only: passes ---

@group(0) @binding(3)
var<storage, read_write> transformed_grad: array<vec4f>;   // (36,STEPS,M_VEC4S,16)
@group(0) @binding(4)
var<storage, read_write> transformed_input: array<vec4f>;  // (36,STEPS,N_VEC4S,16)
@group(0) @binding(5)
var<storage, read_write> products: array<vec4f>;           // (36,PARTS,M,N_VEC4S)

var<workgroup> left: array<array<vec4f, A_VEC4S + PAD>, TILE_K>;
var<workgroup> right: array<array<vec4f, B_VEC4S + PAD>, TILE_K>;
var<workgroup> rows: array<array<vec4f, LINE>, 18>;  // (6 rows, 3 columns)
var<workgroup> found: array<f32, LINE * 36u>;         // the weights of 4 channels

// 1. The gradients' part at the points: G g. Each line is the work for four.
fn grad_points(g: array<vec4f, 4>) -> array<vec4f, 6> {
  const at_0 = 1.0 / (NEAR_2 * FAR_2);
  const at_near = 0.5 / (NEAR_2 * (NEAR_2 - FAR_2));
  const at_far = 0.5 / (FAR_2 * (FAR_2 - NEAR_2));
  let near_even = at_near * (g[0] + NEAR_2 * g[2]);
  let near_odd = at_near * NEAR * (g[1] + NEAR_2 * g[3]);
  let far_even = at_far * (g[0] + FAR_2 * g[2]);
  let far_odd = at_far * FAR * (g[1] + FAR_2 * g[3]);
  return array<vec4f, 6>(
    at_0 * g[0],
    near_even + near_odd, near_even - near_odd,
    far_even + far_odd, far_even - far_odd,
    g[3],
  );
}

// The weights, from the products at the points: A^T m.
fn weights(m: array<vec4f, 6>) -> array<vec4f, 3> {
  let near_even = m[1] + m[2];
  let near_odd = NEAR * (m[1] - m[2]);
  let far_even = m[3] + m[4];
  let far_odd = FAR * (m[3] - m[4]);
  return array<vec4f, 3>(
    m[0] + near_even + far_even,
    near_odd + far_odd,
    NEAR_2 * near_even + FAR_2 * far_even + m[5],
  );
}

// 2. Where the vec4s of a tile of the product begin: TILE_K numbers along k are
//    neighbors, as their pixels are, then come the vec4s.
fn grad_block(point: u32, step: u32, four: u32) -> u32 {
  return ((point * STEPS + step) * M_VEC4S + four) * TILE_K;
}

fn input_block(point: u32, step: u32, four: u32) -> u32 {
  return ((point * STEPS + step) * N_VEC4S + four) * TILE_K;
}

fn product_at(point: u32, part: u32, m: u32, four: u32) -> u32 {
  return ((point * PARTS + part) * M + m) * N_VEC4S + four;
}

// 3. A tile of grad_output, and the 6 x 6 pixels of input that its windows see.
struct Tile {
  image: u32,    // [0, N)
  row: u32,      // of its first number in grad_output
  column: u32,   // likewise
  exists: bool,  // else it only fills up the last step
}

fn tile_of(k: u32) -> Tile {
  let row = k / TILES_W % TILES_H * 4u;
  return Tile(k / (TILES_W * TILES_H), row, k % TILES_W * 4u, k < TILES);
}

fn read_grad(tile: Tile, co: u32, i: u32, j: u32) -> f32 {
  let row = tile.row + i;
  let column = tile.column + j;
  if (tile.exists && co < OUT_CHANNELS && row < OUT_H && column < OUT_W) {
    let plane = tile.image * OUT_CHANNELS + co;
    return grad_output[(plane * OUT_H + row) * OUT_W + column];
  }
  return 0.0;
}

fn read_input(tile: Tile, ci: u32, i: u32, j: u32) -> f32 {
  // Below 0, row and column wrap to more than H and W.
  let row = tile.row + i - PADDING_H;
  let column = tile.column + j - PADDING_W;
  if (tile.exists && ci < IN_CHANNELS && row < IN_H && column < IN_W) {
    let plane = tile.image * IN_CHANNELS + ci;
    return input[(plane * IN_H + row) * IN_W + column];
  }
  return 0.0;
}

// 4. Four channels of a tile at the points: first along its columns, then along
//    the rows.
fn transform_grad(tile: Tile, four: u32, at: u32) {
  var half: array<vec4f, 24>;  // (6 points, 4 columns)
  for (var j = 0u; j < 4u; j++) {  // unroll
    var column: array<vec4f, 4>;
    for (var i = 0u; i < 4u; i++) {  // unroll
      for (var c = 0u; c < 4u; c++) {  // unroll
        column[i][c] = read_grad(tile, 4u * four + c, i, j);
      }
    }
    let points = grad_points(column);
    for (var i = 0u; i < 6u; i++) {  // unroll
      half[4u * i + j] = points[i];
    }
  }
  for (var i = 0u; i < 6u; i++) {  // unroll
    var row: array<vec4f, 4>;
    for (var j = 0u; j < 4u; j++) {  // unroll
      row[j] = half[4u * i + j];
    }
    let points = grad_points(row);
    for (var j = 0u; j < 6u; j++) {  // unroll
      transformed_grad[grad_block(6u * i + j, 0u, 0u) + at] = points[j];
    }
  }
}

fn transform_input(tile: Tile, four: u32, at: u32) {
  var half: array<vec4f, 36>;  // (6 points, 6 columns)
  for (var j = 0u; j < 6u; j++) {  // unroll
    var column: array<vec4f, 6>;
    for (var i = 0u; i < 6u; i++) {  // unroll
      for (var c = 0u; c < 4u; c++) {  // unroll
        column[i][c] = read_input(tile, 4u * four + c, i, j);
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
      transformed_input[input_block(6u * i + j, 0u, 0u) + at] = points[j];
    }
  }
}

// 5. Both transforms are one dispatch: a second one would wait for the first.
@compute @workgroup_size(4u * TILE_K)
fn transform(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(local_invocation_index) thread: u32,  // [0, 4*TILE_K)
) {
  let step = workgroup.y;                         // [0, STEPS)
  let k = thread % TILE_K;                        // neighbors: neighboring tiles
  let four = workgroup.x * 4u + thread / TILE_K;  // [0, M_VEC4S + N_VEC4S)
  let tile = tile_of(step * TILE_K + k);
  if (four < M_VEC4S) {
    transform_grad(tile, four, grad_block(0u, step, four) + k);
  } else {
    let of_input = four - M_VEC4S;                // [0, N_VEC4S)
    transform_input(tile, of_input, input_block(0u, step, of_input) + k);
  }
}

// 6. The products at one point, of a part of the tiles. The next tile of both
//    matrices is on its way while this one is multiplied.
fn fetch(t: u32, point: u32, m0: u32, n0: u32, step: u32) {
  for (var i = 0u; i < A_LOADS; i++) {  // unroll
    next_left[i] =
      transformed_grad[grad_block(point, step, m0 / 4u) + i * THREADS + t];
  }
  for (var i = 0u; i < B_LOADS; i++) {  // unroll
    next_right[i] =
      transformed_input[input_block(point, step, n0 / 4u) + i * THREADS + t];
  }
}

fn place(t: u32) {
  for (var i = 0u; i < A_LOADS; i++) {  // unroll
    left[t % TILE_K][t / TILE_K + i * (THREADS / TILE_K)] = next_left[i];
  }
  for (var i = 0u; i < B_LOADS; i++) {  // unroll
    right[t % TILE_K][t / TILE_K + i * (THREADS / TILE_K)] = next_right[i];
  }
}

@compute @workgroup_size(THREADS)
fn multiply_points(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(local_invocation_index) t: u32,  // [0, THREADS)
) {
  let m0 = workgroup.x % (M / TILE_M) * TILE_M;  // the first row, a channel co
  let n0 = workgroup.x / (M / TILE_M) * TILE_N;  // the first column, a channel ci
  let point = workgroup.y;                       // [0, 36)
  let part = workgroup.z;                        // [0, PARTS)
  let first = part * PART_STEPS;
  let end = min(first + PART_STEPS, STEPS);
  let across = TILE_N / 64u;
  let column = t / 32u % across * 8u + t % 8u;
  let row = t / 32u / across * 4u + t / 8u % 4u;
  if (first < end) { fetch(t, point, m0, n0, first); }
  for (var step = first; step < end; step++) {  // [0, STEPS)
    place(t);
    workgroupBarrier();  // both tiles are in place
    if (step + 1u < end) { fetch(t, point, m0, n0, step + 1u); }
    multiply(row, column);
    workgroupBarrier();  // no thread still reads them
  }
  for (var i = 0u; i < 8u; i++) {  // unroll
    let m = m0 + 4u * (row + i / 4u * (TILE_M / 8u)) + i % 4u;
    for (var j = 0u; j < 2u; j++) {  // unroll
      let four = n0 / 4u + column + j * (TILE_N / 8u);
      products[product_at(point, part, m, four)] = sums[2u * i + j];
    }
  }
}

// 7. Add up the parts in their order, then from the products at the points to the
//    weights: each of 6 threads takes a row of points, then 3 of them a column.
fn sums_of_row(i: u32, co: u32, four: u32) -> array<vec4f, 6> {
  var row: array<vec4f, 6>;
  for (var part = 0u; part < PARTS; part++) {  // [0, PARTS)
    for (var j = 0u; j < 6u; j++) {  // unroll
      row[j] += products[product_at(6u * i + j, part, co, four)];
    }
  }
  return row;
}

@compute @workgroup_size(LINE, 6)
fn write_weights(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(local_invocation_id) local: vec3u,
) {
  let q = local.x;                             // [0, LINE)
  let i = local.y;                             // [0, 6)
  let co = workgroup.x * LINE / N_VEC4S;       // [0, Co)
  let first = workgroup.x * LINE % N_VEC4S;    // vec4 of the workgroup
  let three = weights(sums_of_row(i, co, first + q));
  for (var j = 0u; j < 3u; j++) {  // unroll
    rows[3u * i + j][q] = three[j];
  }
  workgroupBarrier();  // all six rows are there
  if (i < 3u) {
    var column: array<vec4f, 6>;
    for (var k = 0u; k < 6u; k++) {  // unroll
      column[k] = rows[3u * k + i][q];
    }
    let weights_of_column = weights(column);
    for (var c = 0u; c < 4u; c++) {  // unroll
      for (var kh = 0u; kh < 3u; kh++) {  // unroll
        found[(4u * q + c) * 9u + 3u * kh + i] = weights_of_column[kh][c];
      }
    }
  }
  workgroupBarrier();  // all weights are there; neighbors write neighbors
  for (var part = 0u; part < 6u; part++) {  // unroll
    let own = part * (6u * LINE) + i * LINE + q;  // [0, 36*LINE)
    let at = first * 36u + own;                   // [0, Ci*9) or past the end
    if (at < IN_CHANNELS * 9u) {
      grad_weight[co * IN_CHANNELS * 9u + at] = found[own];
    }
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
