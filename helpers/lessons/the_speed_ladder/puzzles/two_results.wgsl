// The official kernel of a product in which each thread has two results;
// lines that end in a star are not in the skeleton.
//
// equation  c[m,n] = sum over k of a[m,k] * b[k,n]
// dispatch  (ceil(N/16), ceil(M/16), 1)
//           workgroups of 16 x 8 threads: one thread computes two elements
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
const ROWS = 8u;   // rows of threads
var<workgroup> left: array<array<f32, TILE>, TILE>;   // of a: [row][k]
var<workgroup> right: array<array<f32, TILE>, TILE>;  // of b: [k][column]

// Two numbers of each tile, or 0.0 past an edge.
fn load_tiles(thread: u32, row: u32, column: u32, first: u32) {
  for (var slot = thread; slot < TILE * TILE; slot += ROWS * TILE) {
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

@compute @workgroup_size(TILE, ROWS)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(local_invocation_id) local: vec3u,
  @builtin(local_invocation_index) thread: u32,
) {
  var upper = 0.0;  // of row local.y of the tile
  var lower = 0.0;  // of row local.y + ROWS
  for (var first = 0u; first < params.K; first += TILE) {
    load_tiles(thread, workgroup.y * TILE, workgroup.x * TILE, first);
    workgroupBarrier();  // both tiles are loaded
    for (var k = 0u; k < TILE; k++) {
      // 1. Read the number of right that both sums need.
      let number = right[k][local.x];  // *
      // 2. Add a product to each of the two sums.
      upper += left[local.y][k] * number;  // *
      lower += left[local.y + ROWS][k] * number;  // *
    }
    workgroupBarrier();  // no thread reads the tiles any more
  }
  let m = workgroup.y * TILE + local.y;
  let n = workgroup.x * TILE + local.x;
  // 3. Write each sum, if c has such an element.
  if (m < params.M && n < params.N) { c[m * params.N + n] = upper; }  // *
  let below = m + ROWS;  // *
  if (below < params.M && n < params.N) { c[below * params.N + n] = lower; }  // *
}
