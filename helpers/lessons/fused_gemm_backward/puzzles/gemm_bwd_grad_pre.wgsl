// The official kernel of the first pass;
// lines that end in a star are not in the skeleton.
//
// equation  grad_pre = grad where a @ b + bias is positive, and 0 elsewhere (relu)
// dispatch  (ceil(N/16), ceil(M/16), batch)
//           workgroups of 16 x 16 threads: one thread computes one element
// barriers  one after the loads: a thread reads what others loaded;
//           one after the products:
//           no thread may still read what the next loads overwrite

struct Params { M: u32, K: u32, N: u32, batch: u32 }

// a (batch, M, K), b (K, N), bias (N),
// grad (batch, M, N), grad_pre (batch, M, N)
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read> bias: array<f32>;
@group(0) @binding(3) var<storage, read> grad: array<f32>;
@group(0) @binding(4) var<storage, read_write> grad_pre: array<f32>;
@group(0) @binding(5) var<uniform> params: Params;

const TILE = 16u;
var<workgroup> left: array<f32, TILE * TILE>;   // of a, as it lies
var<workgroup> right: array<f32, TILE * TILE>;  // of b, as it lies

fn read_a(item: u32, m: u32, k: u32) -> f32 {
  if (m >= params.M || k >= params.K) { return 0.0; }  // past an edge
  return a[(item * params.M + m) * params.K + k];
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
  let n = workgroup.x * TILE + local.x;  // [0, N) or past the edge
  let m = workgroup.y * TILE + local.y;  // [0, M) or past the edge
  let item = workgroup.z;                // [0, batch)
  var pre = 0.0;
  for (var first = 0u; first < params.K; first += TILE) {
    // 1. Load one number of a into left and one of b into right.
    left[local.y * TILE + local.x] = read_a(item, m, first + local.x);  // *
    right[local.y * TILE + local.x] = read_b(first + local.y, n);  // *
    // 2. Wait until both tiles are loaded.
    workgroupBarrier();  // *
    // 3. Add the products of a row of left with a column of right to pre.
    for (var i = 0u; i < TILE; i++) {  // *
      pre += left[local.y * TILE + i] * right[i * TILE + local.x];  // *
    }  // *
    // 4. Wait until no thread reads the tiles any more.
    workgroupBarrier();  // *
  }
  // 5. Add the bias to pre. Write grad where the sum is positive and 0
  //    elsewhere, if there is such an element.
  if (m < params.M && n < params.N) {  // *
    let at = (item * params.M + m) * params.N + n;  // *
    grad_pre[at] = select(0.0, grad[at], pre + bias[n] > 0.0);  // *
  }  // *
}
