// The official kernel of a product in which each thread has 2 x 2 results;
// lines that end in a star are not in the skeleton.
//
// equation  c[m,n] = sum over k of a[m,k] * b[k,n]
// dispatch  (ceil(N/16), ceil(M/16), 1)
//           workgroups of 8 x 8 threads: one thread computes 2 x 2 elements
// barriers  one after the loads: a thread reads what others loaded;
//           one after the products:
//           no thread may still read what the next loads overwrite

struct Params { M: u32, K: u32, N: u32 }

// a (M, K), b (K, N), c (M, N)
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> c: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

const TILE = 16u;  // rows and columns of a tile
const SIDE = 8u;   // rows and columns of threads
var<workgroup> left: array<array<f32, TILE>, TILE>;   // of a: [row][k]
var<workgroup> right: array<array<f32, TILE>, TILE>;  // of b: [k][column]

// Four numbers of each tile, or 0.0 past an edge.
fn load_tiles(thread: u32, row: u32, column: u32, first: u32) {
  for (var slot = thread; slot < TILE * TILE; slot += SIDE * SIDE) {
    let y = slot / TILE;
    let x = slot % TILE;
    left[y][x] = 0.0;
    right[y][x] = 0.0;
    if (row + y < params.M && first + x < params.K) {
      left[y][x] = a[(row + y) * params.K + first + x];
    }
    if (first + y < params.K && column + x < params.N) {
      right[y][x] = b[(first + y) * params.N + column + x];
    }
  }
}

@compute @workgroup_size(SIDE, SIDE)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(local_invocation_id) local: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  // The square of a thread begins in an even row and an even column.
  let row = 2u * local.y;
  let column = 2u * local.x;
  var sums = array<f32, 4>();
  for (var first = 0u; first < params.K; first += TILE) {
    load_tiles(thread, workgroup.y * TILE, workgroup.x * TILE, first);
    workgroupBarrier();  // both tiles are loaded
    for (var k = 0u; k < TILE; k++) {
      // 1. Read two numbers of left and two of right.
      let left_0 = left[row][k];
      let left_1 = left[row + 1u][k];  // *
      let right_0 = right[k][column];
      let right_1 = right[k][column + 1u];  // *
      // 2. Add a product to each of the four sums.
      sums[0] += left_0 * right_0;  // *
      sums[1] += left_0 * right_1;  // *
      sums[2] += left_1 * right_0;  // *
      sums[3] += left_1 * right_1;  // *
    }
    workgroupBarrier();  // no thread reads the tiles any more
  }
  // Write each sum, if c has such an element.
  for (var i = 0u; i < 4u; i++) {
    let m = workgroup.y * TILE + row + i / 2u;
    let n = workgroup.x * TILE + column + i % 2u;
    if (m < params.M && n < params.N) {
      c[m * params.N + n] = sums[i];
    }
  }
}
