// The official gather; lines that end in a star are not in the skeleton.
//
// equation  grad_input[n,ci,ih,iw] = sum over co, kh, kw of
//             grad_output[n,co,oh,ow] * weight[co,ci,kh,kw],
//             where oh = (ih + Ph - kh) / S and ow = (iw + Pw - kw) / S
//             are whole and inside the output
// dispatch  ceil(N*Ci*H*W / 256) workgroups of 256 threads:
//           one thread computes one pixel
// barriers  none: each thread writes its own pixel and reads only inputs
// limits    N*Ci*H*W at most 65,535 * 256

struct Params {
  N: u32, Ci: u32, H: u32, W: u32,
  Co: u32, kH: u32, kW: u32, S: u32,
  Ph: u32, oH: u32, oW: u32, Pw: u32,
}

@group(0) @binding(0)
var<storage, read> grad_output: array<f32>;       // (N, Co, oH, oW)
@group(0) @binding(1)
var<storage, read> weight: array<f32>;            // (Co, Ci, kH, kW)
@group(0) @binding(2)
var<storage, read_write> grad_input: array<f32>;  // (N, Ci, H, W)
@group(0) @binding(3)
var<uniform> params: Params;

@compute @workgroup_size(256)
fn main(@builtin(global_invocation_id) global: vec3u) {
  // 1. index is global.x. Return if there is no such pixel.
  let index = global.x;  // *
  if (index >= params.N * params.Ci * params.H * params.W) { return; }  // *
  // 2. Decode iw, ih, ci and n from index; iw changes fastest.
  let iw = index % params.W;  // *
  let ih = index / params.W % params.H;  // *
  let ci = index / (params.W * params.H) % params.Ci;  // *
  let n = index / (params.W * params.H * params.Ci);  // *
  // 3. Start a sum at 0.0.
  var sum = 0.0;  // *
  // 4. Loop over co, kh and kw.
  for (var co = 0u; co < params.Co; co++) {  // *
    for (var kh = 0u; kh < params.kH; kh++) {  // *
      for (var kw = 0u; kw < params.kW; kw++) {  // *
        // 5. Compute row (it should be oh * S) and column (ow * S). Skip a
        //    weight where one is no multiple of S, or oh or ow is too large.
        let row = ih + params.Ph - kh;  // *
        let column = iw + params.Pw - kw;  // *
        if (row % params.S != 0u || column % params.S != 0u) { continue; }  // *
        let oh = row / params.S;  // *
        let ow = column / params.S;  // *
        if (oh >= params.oH || ow >= params.oW) { continue; }  // *
        // 6. Add grad_output[n,co,oh,ow] * weight[co,ci,kh,kw].
        let grad_at =  // *
          ((n * params.Co + co) * params.oH + oh) * params.oW + ow;  // *
        let weight_at =  // *
          ((co * params.Ci + ci) * params.kH + kh) * params.kW + kw;  // *
        sum += grad_output[grad_at] * weight[weight_at];  // *
      }  // *
    }  // *
  }  // *
  // 7. Write the sum to grad_input[index].
  grad_input[index] = sum;  // *
}
