// The official kernel of the puzzle pixel_stride;
// lines that end in a star are not in the skeleton.
//
// equation  grad_input[ih,iw] = sum over kh, kw of
//             grad_output[oh,ow] * weight[kh,kw],
//             where oh = (ih + Ph - kh) / S and ow = (iw + Pw - kw) / S
//             are whole and exist
// dispatch  ceil(H*W / 64) workgroups of 64 threads:
//           one thread computes one pixel
// barriers  none: each thread writes its own pixel and reads only inputs
// limits    one image, one channel

struct Params {
  in_h: u32, in_w: u32,            // H, W: the image
  kernel_h: u32, kernel_w: u32,    // kH, kW: the filter
  stride: u32,                     // S
  padding_h: u32, padding_w: u32,  // Ph above and below, Pw left and right
  out_h: u32, out_w: u32,          // oH, oW: the output
}

// grad_output (oH, oW), weight (kH, kW), grad_input (H, W)
@group(0) @binding(0) var<storage, read> grad_output: array<f32>;
@group(0) @binding(1) var<storage, read> weight: array<f32>;
@group(0) @binding(2) var<storage, read_write> grad_input: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) global: vec3u) {
  let index = global.x;
  if (index >= params.in_h * params.in_w) { return; }
  let iw = index % params.in_w;
  let ih = index / params.in_w;
  let S = params.stride;
  var sum = 0.0;
  for (var kh = 0u; kh < params.kernel_h; kh++) {
    for (var kw = 0u; kw < params.kernel_w; kw++) {
      let row = ih + params.padding_h - kh;     // oh * S, or a hole
      let column = iw + params.padding_w - kw;  // ow * S, or a hole
      // 1. Skip the holes: what is no multiple of the stride.
      if (row % S != 0u || column % S != 0u) { continue; }  // *
      // 2. Compute the output, oh and ow. Skip it if it does not exist.
      let oh = row / S;  // *
      let ow = column / S;  // *
      if (oh >= params.out_h || ow >= params.out_w) { continue; }  // *
      // 3. Add its upstream gradient times the weight.
      let gradient = grad_output[oh * params.out_w + ow];  // *
      sum += gradient * weight[kh * params.kernel_w + kw];  // *
    }
  }
  grad_input[index] = sum;
}
