// The official kernel of the third pass;
// lines that end in a star are not in the skeleton.
//
// equation  d_b[k,n] = sum over item, m of a[item,m,k] * grad_pre[item,m,n]
// dispatch  (ceil(N/16), ceil(K/16), 1)
//           workgroups of 16 x 16 threads: one thread computes one element
// barriers  one after the loads: a thread reads what others loaded;
//           one after the products:
//           no thread may still read what the next loads overwrite

struct Params { M: u32, K: u32, N: u32, batch: u32 }

// a (batch, M, K), grad_pre (batch, M, N), d_b (K, N)
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> grad_pre: array<f32>;
@group(0) @binding(2) var<storage, read_write> d_b: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

const TILE = 16u;
var<workgroup> left: array<f32, TILE * TILE>;   // of a, transposed
var<workgroup> right: array<f32, TILE * TILE>;  // of grad_pre, as it lies

fn read_a(item: u32, m: u32, k: u32) -> f32 {
  if (m >= params.M || k >= params.K) { return 0.0; }  // past an edge
  return a[(item * params.M + m) * params.K + k];
}

fn read_grad_pre(item: u32, m: u32, n: u32) -> f32 {
  if (m >= params.M || n >= params.N) { return 0.0; }  // past an edge
  return grad_pre[(item * params.M + m) * params.N + n];
}

@compute @workgroup_size(TILE, TILE)
fn main(
  @builtin(workgroup_id) workgroup: vec3u,
  @builtin(local_invocation_id) local: vec3u,
) {
  let n = workgroup.x * TILE + local.x;  // [0, N) or past the edge
  let k = workgroup.y * TILE + local.y;  // [0, K) or past the edge
  var sum = 0.0;
  var item = 0u;   // [0, batch)
  var first = 0u;  // the first row of a tile
  // 1. Loop over the items, and in each of them along m, a tile at a time.
  for (item = 0u; item < params.batch; item++) {  // *
    for (first = 0u; first < params.M; first += TILE) {  // *
      // 2. Load one number of a into left, so that the tile is transposed,
      //    and one of grad_pre into right.
      let load_k = workgroup.y * TILE + local.x;
      left[local.x * TILE + local.y] = read_a(item, first + local.y, load_k);
      right[local.y * TILE + local.x] =
        read_grad_pre(item, first + local.y, n);
      // 3. Wait until both tiles are loaded.
      workgroupBarrier();
      // 4. Add the products of a row of left with a column of right.
      for (var i = 0u; i < TILE; i++) {
        sum += left[local.y * TILE + i] * right[i * TILE + local.x];
      }
      // 5. Wait until no thread reads the tiles any more.
      workgroupBarrier();
  // 6. End both loops.
    }  // *
  }  // *
  // 7. Write the sum to d_b[k,n], if there is such an element.
  if (k < params.K && n < params.N) {
    d_b[k * params.N + n] = sum;
  }
}
