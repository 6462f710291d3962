// The official kernel of the puzzle weight_window;
// lines that end in a star are not in the skeleton.
//
// equation  grad_weight[kh,kw] = sum over oh, ow of
//             grad_output[oh,ow] * input[oh + kh, ow + kw]
// dispatch  ceil(kH*kW / 64) workgroups of 64 threads:
//           one thread computes one weight
// barriers  none: each thread writes its own weight and reads only inputs
// limits    one image, one channel, stride 1, no padding

struct Params {
  in_h: u32, in_w: u32,    // H, W: the image
  out_h: u32, out_w: u32,  // oH, oW: the output
}

// grad_output (oH, oW), input (H, W), grad_weight (kH, kW)
@group(0) @binding(0) var<storage, read> grad_output: array<f32>;
@group(0) @binding(1) var<storage, read> input: array<f32>;
@group(0) @binding(2) var<storage, read_write> grad_weight: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) global: vec3u) {
  let kernel_h = params.in_h - params.out_h + 1u;
  let kernel_w = params.in_w - params.out_w + 1u;
  let index = global.x;
  if (index >= kernel_h * kernel_w) { return; }
  let kw = index % kernel_w;
  let kh = index / kernel_w;
  var sum = 0.0;
  // 1. Loop over oh and ow: every output of the image.
  for (var oh = 0u; oh < params.out_h; oh++) {  // *
    for (var ow = 0u; ow < params.out_w; ow++) {  // *
      // 2. Add its upstream gradient times the pixel under my weight.
      let pixel = input[(oh + kh) * params.in_w + ow + kw];  // *
      sum += grad_output[oh * params.out_w + ow] * pixel;  // *
    }  // *
  }  // *
  grad_weight[index] = sum;
}
