// The official kernel of the puzzle strided_grad_weight;
// lines that end in a star are not in the skeleton.

// Write the gradient of the weights, for any stride, any padding and any
// filter: the whole kernel, with an entry point called main.
//
// binding 0  grad_output (N,Co,oH,oW)   var<storage, read>, array<f32>
// binding 1  input (N,Ci,H,W)           var<storage, read>, array<f32>
// binding 2  grad_weight (Co,Ci,kH,kW)  var<storage, read_write>, array<f32>
// binding 3  var<uniform>, a struct of twelve u32 in this order
//            (Pw comes last):
//              N, Ci, H, W, Co, kH, kW, S, Ph, oH, oW, Pw
// main       workgroups of 256 threads, and a thread for each weight
// dispatch   ceil(Co*Ci*kH*kW / 256) workgroups in x, 1 in y, 1 in z
// counts     your busiest thread may write at most 2 weights, and load at
//            most 8 times as many numbers as ours; at least a quarter as
//            many of your threads work at once, also in a larger problem
struct Params {  // *
  batch: u32, in_channels: u32, in_h: u32, in_w: u32,  // *
  out_channels: u32, kernel_h: u32, kernel_w: u32,  // *
  stride: u32, padding_h: u32, out_h: u32, out_w: u32, padding_w: u32,  // *
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
  let taps = params.kernel_h * params.kernel_w;  // *
  let index = global.x;  // *
  if (index >= params.out_channels * params.in_channels * taps) { return; }  // *
  // 2. Decode kw, kh, ci and co.  // *
  let kw = index % params.kernel_w;  // *
  let kh = index / params.kernel_w % params.kernel_h;  // *
  let ci = index / taps % params.in_channels;  // *
  let co = index / (taps * params.in_channels);  // *
  // 3. Loop over n, oh and ow: every output of the channel co.  // *
  var sum = 0.0;  // *
  for (var n = 0u; n < params.batch; n++) {  // *
    for (var oh = 0u; oh < params.out_h; oh++) {  // *
      for (var ow = 0u; ow < params.out_w; ow++) {  // *
        // 4. Skip what lies in the padding: below 0, a u32 wraps around.  // *
        let ih = oh * params.stride + kh - params.padding_h;  // *
        let iw = ow * params.stride + kw - params.padding_w;  // *
        if (ih >= params.in_h || iw >= params.in_w) { continue; }  // *
        // 5. Add the product.  // *
        let grad_plane = (n * params.out_channels + co) * params.out_h;  // *
        let grad_at = (grad_plane + oh) * params.out_w + ow;  // *
        let input_plane = (n * params.in_channels + ci) * params.in_h;  // *
        let input_at = (input_plane + ih) * params.in_w + iw;  // *
        sum += grad_output[grad_at] * input[input_at];  // *
      }  // *
    }  // *
  }  // *
  // 6. Write the sum.  // *
  grad_weight[index] = sum;  // *
}  // *
