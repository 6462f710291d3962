// The official kernel of the puzzle grouped_weight;
// lines that end in a star are not in the skeleton.
//
// equation  grad_weight[co,ci,kh,kw] = sum over n, oh, ow of
//             grad_output[n,co,oh,ow] * input[n,channel,oh+kh,ow+kw],
//             where ci counts the input channels of co's group
// dispatch  ceil(Co*(Ci/G)*kH*kW / 64) workgroups of 64 threads:
//           one thread computes one weight
// barriers  none: each thread writes its own weight and reads only inputs
// limits    stride and dilation 1, no padding; G divides Ci and Co

struct Params {
  batch: u32,                    // N
  in_channels: u32,              // Ci
  in_h: u32, in_w: u32,          // H, W: the image
  out_channels: u32,             // Co
  kernel_h: u32, kernel_w: u32,  // kH, kW: the filter
  groups: u32,                   // G
}

// grad_output (N, Co, oH, oW), input (N, Ci, H, W),
// grad_weight (Co, Ci/G, kH, kW)
@group(0) @binding(0) var<storage, read> grad_output: array<f32>;
@group(0) @binding(1) var<storage, read> input: array<f32>;
@group(0) @binding(2) var<storage, read_write> grad_weight: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) global: vec3u) {
  let index = global.x;
  let in_group = params.in_channels / params.groups;    // Ci/G
  let out_group = params.out_channels / params.groups;  // Co/G
  let taps = params.kernel_h * params.kernel_w;         // kH * kW
  if (index >= params.out_channels * in_group * taps) { return; }
  let kw = index % params.kernel_w;                    // [0, kW)
  let kh = index / params.kernel_w % params.kernel_h;  // [0, kH)
  let ci = index / taps % in_group;                    // [0, Ci/G)
  let co = index / (taps * in_group);                  // [0, Co)
  let out_h = params.in_h - params.kernel_h + 1u;
  let out_w = params.in_w - params.kernel_w + 1u;
  // 1. Which of the Ci input channels does the weight [co,ci]
  //    multiply? ci counts from the first channel of co's group.
  //    Give channel its value.
  var channel = 0u;
  channel = co / out_group * in_group + ci;  // *
  var sum = 0.0;
  for (var n = 0u; n < params.batch; n++) {
    for (var oh = 0u; oh < out_h; oh++) {
      for (var ow = 0u; ow < out_w; ow++) {
        let plane = n * params.in_channels + channel;
        let row = plane * params.in_h + oh + kh;
        let pixel = input[row * params.in_w + ow + kw];
        let map = n * params.out_channels + co;
        let output = (map * out_h + oh) * out_w + ow;
        sum += grad_output[output] * pixel;
      }
    }
  }
  grad_weight[index] = sum;
}
