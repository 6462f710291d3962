// The official kernel of the puzzle strided_grad_weight;
// lines that end in a star are not in the skeleton.

// Write the whole kernel, with an entry point called main.
//
// equation   grad_weight[co,ci,kh,kw] = sum over n, oh, ow of
//              grad_output[n,co,oh,ow] * input[n,ci,ih,iw],
//              where ih = oh*S + kh - Ph and iw = ow*S + kw - Pw;
//              what lies in the padding adds nothing
// binding 0  grad_output (N,Co,oH,oW)   var<storage, read>, array<f32>
// binding 1  input (N,Ci,H,W)           var<storage, read>, array<f32>
// binding 2  grad_weight (Co,Ci,kH,kW)  var<storage, read_write>, array<f32>
// binding 3  var<uniform>, a struct of twelve u32 in this order
//            (Pw comes last):
//              N, Ci, H, W, Co, kH, kW, S, Ph, oH, oW, Pw
// main       workgroups of 256 threads, and a thread for each weight
// dispatch   ceil(Co*Ci*kH*kW / 256) workgroups in x, 1 in y, 1 in z
struct Params {  // *
  N: u32, Ci: u32, H: u32, W: u32,  // *
  Co: u32, kH: u32, kW: u32,  // *
  S: u32, Ph: u32, oH: u32, oW: u32, Pw: u32,  // *
}  // *
// *
@group(0) @binding(0) var<storage, read> grad_output: array<f32>;  // *
@group(0) @binding(1) var<storage, read> input: array<f32>;  // *
@group(0) @binding(2) var<storage, read_write> grad_weight: array<f32>;  // *
@group(0) @binding(3) var<uniform> params: Params;  // *
// *
@compute @workgroup_size(256)  // *
fn main(@builtin(global_invocation_id) global: vec3u) {  // *
  // 1. Return if no weight has this index.  // *
  let taps = params.kH * params.kW;  // *
  let index = global.x;  // *
  if (index >= params.Co * params.Ci * taps) { return; }  // *
  // 2. Decode kw, kh, ci and co.  // *
  let kw = index % params.kW;  // *
  let kh = index / params.kW % params.kH;  // *
  let ci = index / taps % params.Ci;  // *
  let co = index / (taps * params.Ci);  // *
  // 3. Loop over n, oh and ow: every output of the channel co.  // *
  var sum = 0.0;  // *
  for (var n = 0u; n < params.N; n++) {  // *
    for (var oh = 0u; oh < params.oH; oh++) {  // *
      for (var ow = 0u; ow < params.oW; ow++) {  // *
        // 4. Skip what lies in the padding: below 0, a u32 wraps around.  // *
        let ih = oh * params.S + kh - params.Ph;  // *
        let iw = ow * params.S + kw - params.Pw;  // *
        if (ih >= params.H || iw >= params.W) { continue; }  // *
        // 5. Add the product.  // *
        let grad_at =  // *
          ((n * params.Co + co) * params.oH + oh) * params.oW + ow;  // *
        let input_at =  // *
          ((n * params.Ci + ci) * params.H + ih) * params.W + iw;  // *
        sum += grad_output[grad_at] * input[input_at];  // *
      }  // *
    }  // *
  }  // *
  // 6. Write the sum.  // *
  grad_weight[index] = sum;  // *
}  // *
