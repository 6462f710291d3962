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
  H: u32, W: u32,    // the image
  kH: u32, kW: u32,  // the filter
  S: u32,            // the stride
  Ph: u32, Pw: u32,  // rows of padding above and below, columns left and right
  oH: u32, oW: u32,  // the output
}

// grad_output (oH, oW), input (H, W), grad_weight (kH, kW)
@group(0) @binding(0) var<storage, read> grad_output: array<f32>;
@group(0) @binding(1) var<storage, read> input: array<f32>;
@group(0) @binding(2) var<storage, read_write> grad_weight: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) global: vec3u) {
  let index = global.x;
  if (index >= params.kH * params.kW) { return; }
  let kw = index % params.kW;
  let kh = index / params.kW;
  var sum = 0.0;
  for (var oh = 0u; oh < params.oH; oh++) {
    for (var ow = 0u; ow < params.oW; ow++) {
      // 1. Over which pixel, ih and iw, did my weight lie?
      let ih = oh * params.S + kh - params.Ph;  // *
      let iw = ow * params.S + kw - params.Pw;  // *
      // 2. Skip what lies in the padding.
      if (ih >= params.H || iw >= params.W) { continue; }  // *
      // 3. Add the upstream gradient times the pixel.
      sum += grad_output[oh * params.oW + ow] * input[ih * params.W + iw];  // *
    }
  }
  grad_weight[index] = sum;
}
