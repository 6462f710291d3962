// The official kernel of the puzzle dilated_output;
// lines that end in a star are not in the skeleton.
//
// equation  output[oh,ow] = sum over kh, kw of
//             input[ih,iw] * weight[kh,kw],
//             where ih = oh*S + kh*D - P and iw = ow*S + kw*D - P
// dispatch  ceil(oH*oW / 64) workgroups of 64 threads:
//           one thread computes one output
// barriers  none: each thread writes its own output and reads only inputs
// limits    one image, one channel; one S, D and P for rows and columns

struct Params {
  in_h: u32, in_w: u32,          // H, W: the image
  kernel_h: u32, kernel_w: u32,  // kH, kW: the filter
  stride: u32,                   // S
  dilation: u32,                 // D
  padding: u32,                  // P
  out_h: u32, out_w: u32,        // oH, oW: the output
}

// input (H, W), weight (kH, kW), output (oH, oW)
@group(0) @binding(0) var<storage, read> input: array<f32>;
@group(0) @binding(1) var<storage, read> weight: array<f32>;
@group(0) @binding(2) var<storage, read_write> output: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) global: vec3u) {
  let index = global.x;
  if (index >= params.out_h * params.out_w) { return; }
  let ow = index % params.out_w;
  let oh = index / params.out_w;
  let S = params.stride;
  let D = params.dilation;
  let P = params.padding;
  var sum = 0.0;
  for (var kh = 0u; kh < params.kernel_h; kh++) {
    for (var kw = 0u; kw < params.kernel_w; kw++) {
      // 1. Over which pixel does this weight lie?
      //    Give ih and iw their values.
      var ih = 0u;
      var iw = 0u;
      ih = oh * S + kh * D - P;  // *
      iw = ow * S + kw * D - P;  // *
      if (ih >= params.in_h || iw >= params.in_w) { continue; }
      let pixel = input[ih * params.in_w + iw];
      sum += pixel * weight[kh * params.kernel_w + kw];
    }
  }
  output[index] = sum;
}
