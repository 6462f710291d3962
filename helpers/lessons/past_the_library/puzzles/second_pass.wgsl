// The official kernel of a product in slices;
// lines that end in a star are not in the skeleton.
//
// equation  parts[s,m,n] = sum over the k of slice s of a[m,k] * b[k,n];
//           c[m,n] = sum over s of parts[s,m,n]
// dispatch  first_pass: (ceil(M*N / 64), S, 1) workgroups of 64 threads,
//           one thread for each result of each slice;
//           then second_pass: ceil(M*N / 64) workgroups of 64 threads,
//           one thread for each result
// barriers  none: each thread writes its own element;
//           none between the passes: the second sees what the first wrote
// limits    S at most 65,535

struct Params { M: u32, K: u32, N: u32, S: u32 }  // S slices

// a (M, K), b (K, N), c (M, N), parts (S, M, N)
@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> c: array<f32>;
@group(0) @binding(3) var<storage, read_write> parts: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;

// The first k of a slice; slice s ends where slice s + 1 begins.
fn first_of(s: u32) -> u32 { return s * params.K / params.S; }

@compute @workgroup_size(64)
fn first_pass(@builtin(global_invocation_id) global: vec3u) {
  let results = params.M * params.N;
  let i = global.x;  // the result, c[m,n]
  let s = global.y;  // the slice
  if (i >= results) { return; }
  let m = i / params.N;
  let n = i % params.N;
  var sum = 0.0;
  for (var k = first_of(s); k < first_of(s + 1u); k++) {
    sum += a[m * params.K + k] * b[k * params.N + n];
  }
  parts[s * results + i] = sum;
}

@compute @workgroup_size(64)
fn second_pass(@builtin(global_invocation_id) global: vec3u) {
  let results = params.M * params.N;
  let i = global.x;  // the result, c[m,n]
  // 1. Only as many threads as there are results have something to do.
  if (i >= results) { return; }  // *
  // 2. Add the parts of your result, one of each slice.
  var sum = 0.0;  // *
  for (var s = 0u; s < params.S; s++) {  // *
    sum += parts[s * results + i];  // *
  }  // *
  // 3. Write the sum.
  c[i] = sum;  // *
}
