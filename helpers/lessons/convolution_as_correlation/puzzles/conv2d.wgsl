// The puzzle of lesson 01:
// lines that end in a star are not in the skeleton that the learner gets.
//
// equation  output[n,co,oh,ow] = bias[co] + sum over ci, kh, kw of
//             input[n, ci, oh*S + kh - P, ow*S + kw - P] * weight[co,ci,kh,kw]
// dispatch  ceil(N*Co*oH*oW / 256) workgroups of 256 threads:
//           one thread computes one output
// barriers  none: each thread writes its own output and reads only inputs
// limits    the same padding for rows and columns, N*Co*oH*oW at most 65,535 * 256

struct Params {
  N: u32, Ci: u32, H: u32, W: u32,  // input
  Co: u32, kH: u32, kW: u32,        // weight
  S: u32, P: u32,                   // stride and padding
}

// input (N, Ci, H, W), weight (Co, Ci, kH, kW), bias (Co),
// output (N, Co, oH, oW)
@group(0) @binding(0) var<storage, read> input: array<f32>;
@group(0) @binding(1) var<storage, read> weight: array<f32>;
@group(0) @binding(2) var<storage, read> bias: array<f32>;
@group(0) @binding(3) var<storage, read_write> output: array<f32>;
@group(0) @binding(4) var<uniform> params: Params;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) global: vec3u) {
  // 1. Compute oH and oW, the size of the output.
  let oH = (params.H + 2u * params.P - params.kH) / params.S + 1u;  // *
  let oW = (params.W + 2u * params.P - params.kW) / params.S + 1u;  // *
  // 2. index is global.x. Return if there is no such output.
  let index = global.x;  // *
  if (index >= params.N * params.Co * oH * oW) { return; }  // *
  // 3. Decode ow, oh, co and n from index.
  let ow = index % oW;  // *
  let oh = index / oW % oH;  // *
  let co = index / (oW * oH) % params.Co;  // *
  let n = index / (oW * oH * params.Co);  // *
  // 4. Start a sum at bias[co], and loop over ci, kh and kw.
  var sum = bias[co];  // *
  for (var ci = 0u; ci < params.Ci; ci++) {  // *
    for (var kh = 0u; kh < params.kH; kh++) {  // *
      for (var kw = 0u; kw < params.kW; kw++) {  // *
        // 5. Compute ih and iw; skip a position in the padding.
        let ih = oh * params.S + kh - params.P;  // *
        let iw = ow * params.S + kw - params.P;  // *
        if (ih >= params.H || iw >= params.W) { continue; }  // *
        // 6. Add input[n,ci,ih,iw] * weight[co,ci,kh,kw].
        let input_at = ((n * params.Ci + ci) * params.H + ih) * params.W + iw;  // *
        let weight_at =  // *
          ((co * params.Ci + ci) * params.kH + kh) * params.kW + kw;  // *
        sum += input[input_at] * weight[weight_at];  // *
      }  // *
    }  // *
  }  // *
  // 7. Write the sum to output[index].
  output[index] = sum;  // *
}
