// The official kernel of rows under filters of three weights, by Winograd's
// method; lines that end in a star are not in the skeleton.
//
// equation  output[co,ow] = sum over ci, kw of
//             weight[co,ci,kw] * input[ci,ow+kw]
// dispatch  transform: ceil(Co*Ci / 64) workgroups of 64 threads,
//           one thread for each filter of one channel;
//           then two_outputs: (ceil(oW/128), Co, 1) workgroups of 64 threads,
//           one thread computes two outputs side by side
// barriers  none: each thread writes its own elements;
//           none between the passes: the second sees what the first wrote
// limits    oW is even; Co at most 65,535

struct Params { Ci: u32, W: u32, Co: u32, oW: u32 }  // oW = W - 2, even

// input (Ci, W), weight (Co, Ci, 3), output (Co, oW), u (Co, Ci, 4)
@group(0) @binding(0) var<storage, read> input: array<f32>;
@group(0) @binding(1) var<storage, read> weight: array<f32>;
@group(0) @binding(2) var<storage, read_write> output: array<f32>;
@group(0) @binding(3) var<storage, read_write> u: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;

// First pass: the weights, transformed.
@compute @workgroup_size(64)
fn transform(@builtin(global_invocation_id) global: vec3u) {
  let pair = global.x;  // co * Ci + ci
  if (pair >= params.Co * params.Ci) { return; }
  let g0 = weight[3u * pair];
  let g1 = weight[3u * pair + 1u];
  let g2 = weight[3u * pair + 2u];
  u[4u * pair] = g0;
  u[4u * pair + 1u] = 0.5 * (g0 + g1 + g2);
  u[4u * pair + 2u] = 0.5 * (g0 - g1 + g2);
  u[4u * pair + 3u] = g2;
}

// Second pass: two outputs a thread.
@compute @workgroup_size(64)
fn two_outputs(@builtin(global_invocation_id) global: vec3u) {
  let ow = 2u * global.x;  // the first of the two
  let co = global.y;
  if (ow >= params.oW) { return; }
  // Four sums, one for each product, over all channels.
  var m0 = 0.0;
  var m1 = 0.0;
  var m2 = 0.0;
  var m3 = 0.0;
  for (var ci = 0u; ci < params.Ci; ci++) {
    // The four pixels that the two outputs need.
    let at = ci * params.W + ow;
    let d0 = input[at];
    let d1 = input[at + 1u];
    let d2 = input[at + 2u];
    let d3 = input[at + 3u];
    let first = 4u * (co * params.Ci + ci);  // of the filter's numbers in u
    // 1. Add one product to each sum: a sum or difference of two pixels,
    //    times a number of u.
    m0 += (d0 - d2) * u[first];  // *
    m1 += (d1 + d2) * u[first + 1u];  // *
    m2 += (d2 - d1) * u[first + 2u];  // *
    m3 += (d1 - d3) * u[first + 3u];  // *
  }
  // 2. Write both outputs, each of three of the sums.
  output[co * params.oW + ow] = m0 + m1 + m2;  // *
  output[co * params.oW + ow + 1u] = m1 - m2 - m3;  // *
}
