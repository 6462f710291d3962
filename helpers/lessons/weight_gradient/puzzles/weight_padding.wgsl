// The official kernel of the puzzle weight_padding;
// lines that end in a star are not in the skeleton.
//
// equation  grad_weight[kh,kw] = sum over oh, ow of
//             grad_output[oh,ow] * input[ih,iw],
//             where ih = oh*S + kh - Ph and iw = ow*S + kw - Pw
// dispatch  ceil(kH*kW / 64) workgroups of 64 threads:
//           one thread computes one weight
// barriers  none: each thread writes its own weight and reads only inputs
// limits    one image, one channel

struct Params {
  in_h: u32, in_w: u32,            // H, W: the image
  kernel_h: u32, kernel_w: u32,    // kH, kW: the filter
  stride: u32,                     // S
  padding_h: u32, padding_w: u32,  // Ph above and below, Pw left and right
  out_h: u32, out_w: u32,          // oH, oW: the output
}

// grad_output (oH, oW), input (H, W), grad_weight (kH, kW)
@group(0) @binding(0) var<storage, read> grad_output: array<f32>;
@group(0) @binding(1) var<storage, read> input: array<f32>;
@group(0) @binding(2) var<storage, read_write> grad_weight: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) global: vec3u) {
  let index = global.x;
  if (index >= params.kernel_h * params.kernel_w) { return; }
  let kw = index % params.kernel_w;
  let kh = index / params.kernel_w;
  var sum = 0.0;
  for (var oh = 0u; oh < params.out_h; oh++) {
    for (var ow = 0u; ow < params.out_w; ow++) {
      // 1. Over which pixel, ih and iw, did my weight lie?
      let ih = oh * params.stride + kh - params.padding_h;  // *
      let iw = ow * params.stride + kw - params.padding_w;  // *
      // 2. Skip what lies in the padding.
      if (ih >= params.in_h || iw >= params.in_w) { continue; }  // *
      // 3. Add the upstream gradient times the pixel.
      let pixel = input[ih * params.in_w + iw];  // *
      sum += grad_output[oh * params.out_w + ow] * pixel;  // *
    }
  }
  grad_weight[index] = sum;
}
