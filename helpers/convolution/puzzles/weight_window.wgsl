// The official kernel of the puzzle weight_window;
// lines that end in a star are not in the skeleton.
//
// equation  grad_weight[kh,kw] = sum over oh, ow of
//             grad_output[oh,ow] * input[oh + kh, ow + kw]
// dispatch  ceil(kH*kW / 64) workgroups of 64 threads:
//           one thread computes one weight
// barriers  none: each thread writes its own weight and reads only inputs
// limits    one image, one channel, stride 1, no padding

struct Params { H: u32, W: u32, oH: u32, oW: u32 }

// grad_output (oH, oW), input (H, W), grad_weight (kH, kW)
@group(0) @binding(0) var<storage, read> grad_output: array<f32>;
@group(0) @binding(1) var<storage, read> input: array<f32>;
@group(0) @binding(2) var<storage, read_write> grad_weight: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) global: vec3u) {
  let kH = params.H - params.oH + 1u;
  let kW = params.W - params.oW + 1u;
  let index = global.x;
  if (index >= kH * kW) { return; }
  let kw = index % kW;
  let kh = index / kW;
  var sum = 0.0;
  // 1. Loop over oh and ow: every output of the image.
  for (var oh = 0u; oh < params.oH; oh++) {  // *
    for (var ow = 0u; ow < params.oW; ow++) {  // *
      // 2. Add its upstream gradient times the pixel under my weight.
      let pixel = input[(oh + kh) * params.W + ow + kw];  // *
      sum += grad_output[oh * params.oW + ow] * pixel;  // *
    }  // *
  }  // *
  grad_weight[index] = sum;
}
