// The official kernel of the puzzle strided_conv2d;
// lines that end in a star are not in the skeleton.

// Write the whole kernel, with an entry point called main.
//
// task       each output is its channel's bias, and the sum of one window:
//              over all input channels, pixel times weight;
//              what lies in the padding adds nothing
// binding 0  input (N,Ci,H,W)           var<storage, read>, array<f32>
// binding 1  weight (Co,Ci,kH,kW)       var<storage, read>, array<f32>
// binding 2  bias (Co)                  var<storage, read>, array<f32>
// binding 3  output (N,Co,oH,oW)        var<storage, read_write>, array<f32>
// binding 4  var<uniform>, a struct of twelve u32 in this order
//            (Pw comes last, as in the official kernel):
//              N, Ci, H, W, Co, kH, kW, S, Ph, oH, oW, Pw
// main       workgroups of 256 threads, and a thread for each output
// dispatch   ceil(N*Co*oH*oW / 256) workgroups in x, 1 in y, 1 in z
// judged by  the thread that does most: it may write at most two outputs,
//            and load at most 8 times as many numbers as ours; at least a
//            quarter as many threads work at once, also in a larger problem
struct Params {  // *
  batch: u32, in_channels: u32, in_h: u32, in_w: u32,  // *
  out_channels: u32, kernel_h: u32, kernel_w: u32,  // *
  stride: u32, padding_h: u32, out_h: u32, out_w: u32, padding_w: u32,  // *
}  // *
// *
@group(0) @binding(0) var<storage, read> input: array<f32>;  // *
@group(0) @binding(1) var<storage, read> weight: array<f32>;  // *
@group(0) @binding(2) var<storage, read> bias: array<f32>;  // *
@group(0) @binding(3) var<storage, read_write> output: array<f32>;  // *
@group(0) @binding(4) var<uniform> params: Params;  // *
// *
@compute @workgroup_size(256)  // *
fn main(@builtin(global_invocation_id) global: vec3u) {  // *
  // 1. Return if no output has this index.  // *
  let plane = params.out_h * params.out_w;  // *
  let index = global.x;  // *
  if (index >= params.batch * params.out_channels * plane) { return; }  // *
  // 2. Decode ow, oh, co and n.  // *
  let ow = index % params.out_w;  // *
  let oh = index / params.out_w % params.out_h;  // *
  let co = index / plane % params.out_channels;  // *
  let n = index / (plane * params.out_channels);  // *
  // 3. Loop over ci, kh and kw: every weight of the filter co.  // *
  var sum = bias[co];  // *
  for (var ci = 0u; ci < params.in_channels; ci++) {  // *
    for (var kh = 0u; kh < params.kernel_h; kh++) {  // *
      for (var kw = 0u; kw < params.kernel_w; kw++) {  // *
        // 4. Skip what lies in the padding: below 0, a u32 wraps around.  // *
        let ih = oh * params.stride + kh - params.padding_h;  // *
        let iw = ow * params.stride + kw - params.padding_w;  // *
        if (ih >= params.in_h || iw >= params.in_w) { continue; }  // *
        // 5. Add the product.  // *
        let input_at =  // *
          ((n * params.in_channels + ci) * params.in_h + ih)  // *
          * params.in_w + iw;  // *
        let weight_at =  // *
          ((co * params.in_channels + ci) * params.kernel_h + kh)  // *
          * params.kernel_w + kw;  // *
        sum += input[input_at] * weight[weight_at];  // *
      }  // *
    }  // *
  }  // *
  // 6. Write the sum.  // *
  output[index] = sum;  // *
}  // *
