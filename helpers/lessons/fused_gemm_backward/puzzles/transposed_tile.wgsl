// The official kernel of a product with a transposed operand, in tiles;
// lines that end in a star are not in the skeleton.
//
// equation  d_b[k,n] = sum over m of a[m,k] * grad_pre[m,n]
// dispatch  (ceil(N/16), ceil(K/16), 1)
//           workgroups of 16 x 16 threads: one thread computes one element
// barriers  one after the loads: a thread reads what others loaded;
//           one after the products:
//           no thread may still read what the next loads overwrite

struct Params { M: u32, K: u32, N: u32 }

// a (M, K), grad_pre (M, N), d_b (K, N)
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> grad_pre: array<f32>;
@group(0) @binding(2) var<storage, read_write> d_b: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

const TILE = 16u;
// A tile of a, transposed, and one of grad_pre, as it lies.
var<workgroup> left: array<f32, TILE * TILE>;
var<workgroup> right: array<f32, TILE * TILE>;

fn read_a(m: u32, k: u32) -> f32 {
  if (m >= params.M || k >= params.K) { return 0.0; }  // past an edge
  return a[m * params.K + k];
}

fn read_grad_pre(m: u32, n: u32) -> f32 {
  if (m >= params.M || n >= params.N) { return 0.0; }  // past an edge
  return grad_pre[m * params.N + n];
}

@compute @workgroup_size(TILE, TILE)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(local_invocation_id) local: vec3u,
) {
  let n = workgroup.x * TILE + local.x;  // the column of d_b
  let k = workgroup.y * TILE + local.y;  // the row of d_b
  var sum = 0.0;
  for (var first = 0u; first < params.M; first += TILE) {
    // 1. Load one number of a into left, so that the tile is
    //    transposed. A thread with the next local.x reads the
    //    next number in memory.
    let load_k = workgroup.y * TILE + local.x;  // *
    left[local.x * TILE + local.y] = read_a(first + local.y, load_k);  // *
    // 2. Load one number of grad_pre into right, as it lies.
    right[local.y * TILE + local.x] = read_grad_pre(first + local.y, n);  // *
    workgroupBarrier();  // both tiles are loaded
    for (var i = 0u; i < TILE; i++) {
      sum += left[local.y * TILE + i] * right[i * TILE + local.x];
    }
    workgroupBarrier();  // no thread reads the tiles any more
  }
  if (k < params.K && n < params.N) {
    d_b[k * params.N + n] = sum;
  }
}
