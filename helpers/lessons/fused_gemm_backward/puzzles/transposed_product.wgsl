// The official kernel of the puzzle transposed_product;
// lines that end in a star are not in the skeleton.

// Write c = a @ b^T in tiles: the whole kernel, with an entry
// point called main. c[m,n] = sum over k of a[m,k] * b[n,k]
//
// binding 0  a (M,K)   var<storage, read>, array<f32>
// binding 1  b (N,K)   var<storage, read>, array<f32>
// binding 2  c (M,N)   var<storage, read_write>, array<f32>
// binding 3  var<uniform>, a struct of three u32: M, K, N
// main       workgroups of 16 x 16 threads, one tile of c for
//            each, and a thread for each of its elements
// dispatch   ceil(N / 16) workgroups in x, ceil(M / 16) in y
// counts     at most, in the test three_tiles and in a larger
//            problem of 9 tiles: all threads
//            together load twice as many numbers from storage
//            as ours, and touch 1.5 times as many sectors (8
//            numbers side by side); the busiest thread loads
//            twice as many numbers as ours, writes 2, and runs
//            8 times as many statements
struct Params { M: u32, K: u32, N: u32 }  // *
// *
@group(0) @binding(0) var<storage, read> a: array<f32>;  // *
@group(0) @binding(1) var<storage, read> b: array<f32>;  // *
@group(0) @binding(2) var<storage, read_write> c: array<f32>;  // *
@group(0) @binding(3) var<uniform> params: Params;  // *
// *
const TILE = 16u;  // *
var<workgroup> left: array<f32, TILE * TILE>;   // of a, as it lies  // *
var<workgroup> right: array<f32, TILE * TILE>;  // of b, transposed  // *
// *
fn read_a(m: u32, k: u32) -> f32 {  // *
  if (m >= params.M || k >= params.K) { return 0.0; }  // *
  return a[m * params.K + k];  // *
}  // *
// *
fn read_b(n: u32, k: u32) -> f32 {  // *
  if (n >= params.N || k >= params.K) { return 0.0; }  // *
  return b[n * params.K + k];  // *
}  // *
// *
@compute @workgroup_size(TILE, TILE)  // *
fn main(  // *
  @builtin(workgroup_id) workgroup: vec3u,  // *
  @builtin(local_invocation_id) local: vec3u,  // *
) {  // *
  // 1. Which element is mine, and which row of b do I load?  // *
  let n = workgroup.x * TILE + local.x;  // *
  let m = workgroup.y * TILE + local.y;  // *
  let load_n = workgroup.x * TILE + local.y;  // *
  // 2. Loop along k, one pair of tiles a turn.  // *
  var sum = 0.0;  // *
  for (var first = 0u; first < params.K; first += TILE) {  // *
    // 3. Load along rows of both; the tile of b is transposed.  // *
    left[local.y * TILE + local.x] = read_a(m, first + local.x);  // *
    right[local.x * TILE + local.y] = read_b(load_n, first + local.x);  // *
    // 4. Wait until both tiles are loaded.  // *
    workgroupBarrier();  // *
    // 5. Add the products of a row of left with a column of right.  // *
    for (var i = 0u; i < TILE; i++) {  // *
      sum += left[local.y * TILE + i] * right[i * TILE + local.x];  // *
    }  // *
    // 6. Wait until no thread reads the tiles any more.  // *
    workgroupBarrier();  // *
  }  // *
  // 7. Write the sum, if c has such an element.  // *
  if (m < params.M && n < params.N) { c[m * params.N + n] = sum; }  // *
}  // *
