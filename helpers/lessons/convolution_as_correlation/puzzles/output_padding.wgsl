// The official kernel of the puzzle output_padding;
// lines that end in a star are not in the skeleton.
//
// equation  output[oh,ow] = sum over kh, kw of
//             input[ih,iw] * weight[kh,kw],
//             where ih = oh*S + kh - Ph and iw = ow*S + kw - Pw
// dispatch  ceil(oH*oW / 64) workgroups of 64 threads:
//           one thread computes one output
// barriers  none: each thread writes its own output and reads only inputs
// limits    one image, one channel

struct Params {
  in_h: u32, in_w: u32,            // H, W: the image
  kernel_h: u32, kernel_w: u32,    // kH, kW: the filter
  stride: u32,                     // S
  padding_h: u32, padding_w: u32,  // Ph above and below, Pw left and right
  out_h: u32, out_w: u32,          // oH, oW: the output
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
  var sum = 0.0;
  for (var kh = 0u; kh < params.kernel_h; kh++) {
    for (var kw = 0u; kw < params.kernel_w; kw++) {
      // 1. Over which pixel, ih and iw, does this weight lie?
      let ih = oh * params.stride + kh - params.padding_h;  // *
      let iw = ow * params.stride + kw - params.padding_w;  // *
      // 2. Skip what lies in the padding.
      if (ih >= params.in_h || iw >= params.in_w) { continue; }  // *
      // 3. Add the pixel times the weight.
      let pixel = input[ih * params.in_w + iw];  // *
      sum += pixel * weight[kh * params.kernel_w + kw];  // *
    }
  }
  output[index] = sum;
}
