// The official kernel of the last pass;
// lines that end in a star are not in the skeleton.
//
// equation  d_bias[n] = sum over item, m of grad_pre[item,m,n]
// dispatch  (ceil(N/256), 1, 1) workgroups of 256 threads:
//           one thread sums one column
// barriers  none: each thread reads only an input and writes its own element

struct Params { M: u32, N: u32, batch: u32 }

// grad_pre (batch, M, N), d_bias (N)
@group(0) @binding(0) var<storage, read> grad_pre: array<f32>;
@group(0) @binding(1) var<storage, read_write> d_bias: array<f32>;
@group(0) @binding(2) var<uniform> params: Params;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) global: vec3u) {
  // 1. Which column is mine? Return if there is no such column.
  let n = global.x;  // *
  if (n >= params.N) { return; }  // *
  // 2. Add up the column, over all rows of all items.
  var sum = 0.0;  // *
  for (var row = 0u; row < params.batch * params.M; row++) {  // *
    sum += grad_pre[row * params.N + n];  // *
  }  // *
  // 3. Write the sum.
  d_bias[n] = sum;  // *
}
