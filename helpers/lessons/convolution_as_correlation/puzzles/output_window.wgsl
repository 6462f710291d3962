// The official kernel of the puzzle output_window;
// lines that end in a star are not in the skeleton.
//
// equation  output[oh,ow] = sum over kh, kw of
//             input[oh + kh, ow + kw] * weight[kh,kw]
// dispatch  ceil(oH*oW / 64) workgroups of 64 threads:
//           one thread computes one output
// barriers  none: each thread writes its own output and reads only inputs
// limits    one image, one channel, stride 1, no padding

struct Params {
  in_w: u32,                     // W, of the image
  kernel_h: u32, kernel_w: u32,  // kH, kW: the filter
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
  var sum = 0.0;
  // 1. Loop over kh and kw: every weight of the filter.
  for (var kh = 0u; kh < params.kernel_h; kh++) {  // *
    for (var kw = 0u; kw < params.kernel_w; kw++) {  // *
      // 2. Add the weight times the pixel under it.
      let pixel = input[(oh + kh) * params.in_w + ow + kw];  // *
      sum += pixel * weight[kh * params.kernel_w + kw];  // *
    }  // *
  }  // *
  output[index] = sum;
}
