// The official kernel of the puzzle dilated_weight;
// lines that end in a star are not in the skeleton.
//
// equation  grad_weight[kh,kw] = sum over oh, ow of
//             grad_output[oh,ow] * input[ih,iw],
//             where ih = oh*S + kh*D - P and iw = ow*S + kw*D - P
// dispatch  ceil(kH*kW / 64) workgroups of 64 threads:
//           one thread computes one weight
// barriers  none: each thread writes its own weight and reads only inputs
// limits    one image, one channel; one S, D and P for rows and columns

struct Params {
  in_h: u32, in_w: u32,          // H, W: the image
  kernel_h: u32, kernel_w: u32,  // kH, kW: the filter
  stride: u32,                   // S
  dilation: u32,                 // D
  padding: u32,                  // P
  out_h: u32, out_w: u32,        // oH, oW: the output
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
  let S = params.stride;
  let D = params.dilation;
  let P = params.padding;
  var sum = 0.0;
  for (var oh = 0u; oh < params.out_h; oh++) {
    for (var ow = 0u; ow < params.out_w; ow++) {
      // 1. Over which pixel did my weight lie?
      //    Give ih and iw their values.
      var ih = 0u;
      var iw = 0u;
      ih = oh * S + kh * D - P;  // *
      iw = ow * S + kw * D - P;  // *
      if (ih >= params.in_h || iw >= params.in_w) { continue; }
      let pixel = input[ih * params.in_w + iw];
      sum += grad_output[oh * params.out_w + ow] * pixel;
    }
  }
  grad_weight[index] = sum;
}
