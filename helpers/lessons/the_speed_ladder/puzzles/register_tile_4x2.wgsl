// The official kernel of the puzzle register_tile_4x2;
// lines that end in a star are not in the skeleton.

// Write c = a @ b with 4 x 2 results in each thread: the whole
// kernel, with an entry point called main.
// c[m,n] = sum over k of a[m,k] * b[k,n]
//
// binding 0  a (M,K)   var<storage, read>, array<f32>
// binding 1  b (K,N)   var<storage, read>, array<f32>
// binding 2  c (M,N)   var<storage, read_write>, array<f32>
// binding 3  var<uniform>, a struct of three u32: M, K, N
// main       workgroups of 8 x 4 threads, one tile of 16 x 16
//            elements of c for each; a thread has 4 rows and 2
//            columns of it
// dispatch   ceil(N / 16) workgroups in x, ceil(M / 16) in y
// counts     at most, in the test three_tiles and in a larger
//            problem of 9 tiles: all threads together load 1.25
//            times as many numbers from storage as ours, and
//            read workgroup memory 1.25 times as often; the
//            busiest thread loads twice as many numbers as ours,
//            and writes 8
struct Params { M: u32, K: u32, N: u32 }  // *
// *
// a (M, K), b (K, N), c (M, N)  // *
@group(0) @binding(0) var<storage, read> a: array<f32>;  // *
@group(0) @binding(1) var<storage, read> b: array<f32>;  // *
@group(0) @binding(2) var<storage, read_write> c: array<f32>;  // *
@group(0) @binding(3) var<uniform> params: Params;  // *
// *
const TILE = 16u;   // rows and columns of a tile  // *
const ACROSS = 8u;  // columns of threads  // *
const DOWN = 4u;    // rows of threads  // *
var<workgroup> left: array<array<f32, TILE>, TILE>;   // of a: [row][k]  // *
var<workgroup> right: array<array<f32, TILE>, TILE>;  // of b: [k][column]  // *
// *
// Eight numbers of each tile, or 0.0 past an edge.  // *
fn load_tiles(thread: u32, row: u32, column: u32, first: u32) {  // *
  for (var slot = thread; slot < TILE * TILE; slot += ACROSS * DOWN) {  // *
    let y = slot / TILE;  // *
    let x = slot % TILE;  // *
    left[y][x] = 0.0;  // *
    right[y][x] = 0.0;  // *
    if (row + y < params.M && first + x < params.K) {  // *
      left[y][x] = a[(row + y) * params.K + first + x];  // *
    }  // *
    if (first + y < params.K && column + x < params.N) {  // *
      right[y][x] = b[(first + y) * params.N + column + x];  // *
    }  // *
  }  // *
}  // *
// *
@compute @workgroup_size(ACROSS, DOWN)  // *
fn main(  // *
  @builtin(workgroup_id) workgroup: vec3u,  // *
  @builtin(local_invocation_id) local: vec3u,  // *
  @builtin(local_invocation_index) thread: u32,  // *
) {  // *
  // 1. Where in the tile are my results? Give each of them a sum.  // *
  let row = 4u * local.y;  // *
  let column = 2u * local.x;  // *
  var sums = array<f32, 8>();  // *
  // 2. Loop along k, one pair of tiles a turn.  // *
  for (var first = 0u; first < params.K; first += TILE) {  // *
    load_tiles(thread, workgroup.y * TILE, workgroup.x * TILE, first);  // *
    // 3. Wait until both tiles are loaded.  // *
    workgroupBarrier();  // *
    for (var k = 0u; k < TILE; k++) {  // *
      // 4. Read two numbers of right, then four of left, each only once.  // *
      let right_0 = right[k][column];  // *
      let right_1 = right[k][column + 1u];  // *
      for (var i = 0u; i < 4u; i++) {  // *
        let of_left = left[row + i][k];  // *
        sums[2u * i] += of_left * right_0;  // *
        sums[2u * i + 1u] += of_left * right_1;  // *
      }  // *
    }  // *
    // 5. Wait until no thread reads the tiles any more.  // *
    workgroupBarrier();  // *
  }  // *
  // 6. Write each sum, if c has such an element.  // *
  for (var i = 0u; i < 8u; i++) {  // *
    let m = workgroup.y * TILE + row + i / 2u;  // *
    let n = workgroup.x * TILE + column + i % 2u;  // *
    if (m < params.M && n < params.N) { c[m * params.N + n] = sums[i]; }  // *
  }  // *
}  // *
