// The official kernel of a product that loads the next tiles early;
// lines that end in a star are not in the skeleton.
//
// equation  c[m,n] = sum over k of a[m,k] * b[k,n]
// dispatch  (ceil(N/16), ceil(M/16), 1)
//           workgroups of 16 x 16 threads: one thread computes one element
// barriers  one after the loads: a thread reads what others loaded;
//           one after the products:
//           no thread may still read what the next turn overwrites

struct Params { M: u32, K: u32, N: u32 }

// a (M, K), b (K, N), c (M, N)
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> c: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

const TILE = 16u;  // rows and columns of a tile
var<workgroup> left: array<array<f32, TILE>, TILE>;   // of a: [row][k]
var<workgroup> right: array<array<f32, TILE>, TILE>;  // of b: [k][column]

fn read_a(m: u32, k: u32) -> f32 {
  if (m >= params.M || k >= params.K) { return 0.0; }  // past an edge
  return a[m * params.K + k];
}

fn read_b(k: u32, n: u32) -> f32 {
  if (k >= params.K || n >= params.N) { return 0.0; }  // past an edge
  return b[k * params.N + n];
}

@compute @workgroup_size(TILE, TILE)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(local_invocation_id) local: vec3u,
) {
  let n = workgroup.x * TILE + local.x;
  let m = workgroup.y * TILE + local.y;
  var sum = 0.0;
  var next_left = read_a(m, local.x);   // of the first tiles
  var next_right = read_b(local.y, n);
  for (var first = 0u; first < params.K; first += TILE) {
    // 1. Put the two numbers that you have loaded into the tiles.
    left[local.y][local.x] = next_left;  // *
    right[local.y][local.x] = next_right;  // *
    workgroupBarrier();  // both tiles are full
    // 2. Load your two numbers of the next tiles.
    next_left = read_a(m, first + TILE + local.x);  // *
    next_right = read_b(first + TILE + local.y, n);  // *
    for (var k = 0u; k < TILE; k++) {
      sum += left[local.y][k] * right[k][local.x];
    }
    workgroupBarrier();  // no thread reads the tiles any more
  }
  if (m < params.M && n < params.N) { c[m * params.N + n] = sum; }
}
