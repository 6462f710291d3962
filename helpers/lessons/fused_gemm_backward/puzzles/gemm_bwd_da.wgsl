// The official kernel of the second pass;
// lines that end in a star are not in the skeleton.
//
// equation  d_a[item,m,k] = sum over n of grad_pre[item,m,n] * b[k,n]
// dispatch  (ceil(K/16), ceil(M/16), batch)
//           workgroups of 16 x 16 threads: one thread computes one element
// barriers  one after the loads: a thread reads what others loaded;
//           one after the products:
//           no thread may still read what the next loads overwrite

struct Params { M: u32, K: u32, N: u32, batch: u32 }

// grad_pre (batch, M, N), b (K, N), d_a (batch, M, K)
@group(0) @binding(0) var<storage, read> grad_pre: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> d_a: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

const TILE = 16u;
var<workgroup> left: array<f32, TILE * TILE>;   // of grad_pre, as it lies
var<workgroup> right: array<f32, TILE * TILE>;  // of b, transposed

fn read_grad_pre(item: u32, m: u32, n: u32) -> f32 {
  if (m >= params.M || n >= params.N) { return 0.0; }  // past an edge
  return grad_pre[(item * params.M + m) * params.N + n];
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
  let k = workgroup.x * TILE + local.x;  // [0, K) or past the edge
  let m = workgroup.y * TILE + local.y;  // [0, M) or past the edge
  let item = workgroup.z;                // [0, batch)
  var sum = 0.0;
  for (var first = 0u; first < params.N; first += TILE) {
    // 1. Load one number of grad_pre into left.
    left[local.y * TILE + local.x] = read_grad_pre(item, m, first + local.x);  // *
    // 2. Load one number of b into right, so that the tile is transposed.
    let load_k = workgroup.x * TILE + local.y;  // *
    right[local.x * TILE + local.y] = read_b(load_k, first + local.x);  // *
    // 3. Wait until both tiles are loaded.
    workgroupBarrier();  // *
    // 4. Add the products of a row of left with a column of right to sum.
    for (var i = 0u; i < TILE; i++) {  // *
      sum += left[local.y * TILE + i] * right[i * TILE + local.x];  // *
    }  // *
    // 5. Wait until no thread reads the tiles any more.
    workgroupBarrier();  // *
  }
  // 6. Write the sum to d_a[item,m,k], if there is such an element.
  if (m < params.M && k < params.K) {  // *
    d_a[(item * params.M + m) * params.K + k] = sum;  // *
  }  // *
}
