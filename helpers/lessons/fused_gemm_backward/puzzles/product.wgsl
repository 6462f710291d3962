// The official kernel of a matrix product without tiles;
// lines that end in a star are not in the skeleton.
//
// equation  c[m,n] = sum over k of a[m,k] * b[k,n]
// dispatch  (ceil(N/16), ceil(M/16), 1)
//           workgroups of 16 x 16 threads: one thread computes one element
// barriers  none: each thread writes its own element and reads only inputs

struct Params { M: u32, K: u32, N: u32 }

// a (M, K), b (K, N), c (M, N)
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> c: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

@compute @workgroup_size(16, 16)
fn main(@builtin(global_invocation_id) global: vec3u) {
  let n = global.x;  // the column
  let m = global.y;  // the row
  if (m >= params.M || n >= params.N) { return; }
  // 1. Add up the products of row m of a and column n of b.
  var sum = 0.0;  // *
  for (var k = 0u; k < params.K; k++) {  // *
    sum += a[m * params.K + k] * b[k * params.N + n];  // *
  }  // *
  // 2. Write the sum to c[m,n].
  c[m * params.N + n] = sum;  // *
}
