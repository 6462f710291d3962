// The official kernel of a product in tiles;
// lines that end in a star are not in the skeleton.
//
// equation  c[m,n] = sum over k of a[m,k] * b[k,n]
// dispatch  (ceil(N/16), ceil(M/16), 1)
//           workgroups of 16 x 16 threads: one thread computes one element
// barriers  one after the loads: a thread reads what others loaded;
//           one after the products:
//           no thread may still read what the next loads overwrite

struct Params { M: u32, K: u32, N: u32 }

// a (M, K), b (K, N), c (M, N)
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> c: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

const TILE = 16u;
// Tiles of a and b, as they lie.
var<workgroup> left: array<f32, TILE * TILE>;
var<workgroup> right: array<f32, TILE * TILE>;

@compute @workgroup_size(TILE, TILE)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(local_invocation_id) local: vec3u,
) {
  // 1. Which element is mine: which column n, and which row m?
  let n = workgroup.x * TILE + local.x;  // *
  let m = workgroup.y * TILE + local.y;  // *
  let slot = local.y * TILE + local.x;  // *
  // 2. Loop along k, one pair of tiles a turn.
  var sum = 0.0;  // *
  for (var first = 0u; first < params.K; first += TILE) {  // *
  // 3. Load one number of a and one of b into the tiles,
  //    or 0.0 past an edge.
    let k_left = first + local.x;  // *
    let k_right = first + local.y;  // *
    left[slot] = 0.0;  // *
    right[slot] = 0.0;  // *
    if (m < params.M && k_left < params.K) {  // *
      left[slot] = a[m * params.K + k_left];  // *
    }  // *
    if (k_right < params.K && n < params.N) {  // *
      right[slot] = b[k_right * params.N + n];  // *
    }  // *
  // 4. Wait until both tiles are loaded.
    workgroupBarrier();  // *
    for (var i = 0u; i < TILE; i++) {  // *
  // 5. Add the products of a row of left with a column of right.
      sum += left[local.y * TILE + i] * right[i * TILE + local.x];  // *
    }  // *
  // 6. Wait until no thread reads the tiles any more.
    workgroupBarrier();  // *
  }  // *
  // 7. Write the sum, if c has such an element.
  if (m < params.M && n < params.N) {  // *
    c[m * params.N + n] = sum;  // *
  }  // *
}
