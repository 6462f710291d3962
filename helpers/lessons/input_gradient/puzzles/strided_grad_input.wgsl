// The official kernel of the puzzle strided_grad_input;
// lines that end in a star are not in the skeleton.

// Write the gradient of the input, for any stride, any padding and any
// filter: the whole kernel, with an entry point called main.
//
// binding 0  grad_output (N,Co,oH,oW)  var<storage, read>, array<f32>
// binding 1  weight (Co,Ci,kH,kW)      var<storage, read>, array<f32>
// binding 2  grad_input (N,Ci,H,W)     var<storage, read_write>, array<f32>
// binding 3  var<uniform>, a struct of twelve u32 in this order
//            (Pw comes last):
//              N, Ci, H, W, Co, kH, kW, S, Ph, oH, oW, Pw
// main       workgroups of 256 threads, and a thread for each pixel
// dispatch   ceil(N*Ci*H*W / 256) workgroups in x, 1 in y, 1 in z
// counts     your busiest thread may write at most 2 pixels, and load at
//            most 8 times as many numbers as ours; at least a quarter as
//            many of your threads work at once, also in a larger problem
struct Params {  // *
  N: u32, Ci: u32, H: u32, W: u32,  // *
  Co: u32, kH: u32, kW: u32, S: u32,  // *
  Ph: u32, oH: u32, oW: u32, Pw: u32,  // *
}  // *
// *
@group(0) @binding(0) var<storage, read> grad_output: array<f32>;  // *
@group(0) @binding(1) var<storage, read> weight: array<f32>;  // *
@group(0) @binding(2) var<storage, read_write> grad_input: array<f32>;  // *
@group(0) @binding(3) var<uniform> params: Params;  // *
// *
@compute @workgroup_size(256)  // *
fn main(@builtin(global_invocation_id) global: vec3u) {  // *
  // 1. Return if no pixel has this index.  // *
  let index = global.x;  // *
  if (index >= params.N * params.Ci * params.H * params.W) { return; }  // *
  // 2. Decode iw, ih, ci and n.  // *
  let iw = index % params.W;  // *
  let ih = index / params.W % params.H;  // *
  let ci = index / (params.W * params.H) % params.Ci;  // *
  let n = index / (params.W * params.H * params.Ci);  // *
  // 3. Loop over co, kh and kw: every weight of the channel ci.  // *
  var sum = 0.0;  // *
  for (var co = 0u; co < params.Co; co++) {  // *
    for (var kh = 0u; kh < params.kH; kh++) {  // *
      for (var kw = 0u; kw < params.kW; kw++) {  // *
        // 4. Skip the holes, and outputs that do not exist.  // *
        let row = ih + params.Ph - kh;  // *
        let column = iw + params.Pw - kw;  // *
        if (row % params.S != 0u || column % params.S != 0u) { continue; }  // *
        let oh = row / params.S;  // *
        let ow = column / params.S;  // *
        if (oh >= params.oH || ow >= params.oW) { continue; }  // *
        // 5. Add the product.  // *
        let grad_at =  // *
          ((n * params.Co + co) * params.oH + oh) * params.oW + ow;  // *
        let weight_at =  // *
          ((co * params.Ci + ci) * params.kH + kh) * params.kW + kw;  // *
        sum += grad_output[grad_at] * weight[weight_at];  // *
      }  // *
    }  // *
  }  // *
  // 6. Write the sum.  // *
  grad_input[index] = sum;  // *
}  // *
