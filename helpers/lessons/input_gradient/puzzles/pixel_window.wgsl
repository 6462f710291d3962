// The official kernel of the puzzle pixel_window;
// lines that end in a star are not in the skeleton.
//
// equation  grad_input[ih,iw] = sum over kh, kw of
//             grad_output[ih - kh, iw - kw] * weight[kh,kw],
//             over the outputs that exist
// dispatch  ceil(H*W / 64) workgroups of 64 threads:
//           one thread computes one pixel
// barriers  none: each thread writes its own pixel and reads only inputs
// limits    one image, one channel, stride 1, no padding

struct Params {
  in_h: u32, in_w: u32,          // H, W: the image
  kernel_h: u32, kernel_w: u32,  // kH, kW: the filter
  out_h: u32, out_w: u32,        // oH, oW: the output
}

// grad_output (oH, oW), weight (kH, kW), grad_input (H, W)
@group(0) @binding(0) var<storage, read> grad_output: array<f32>;
@group(0) @binding(1) var<storage, read> weight: array<f32>;
@group(0) @binding(2) var<storage, read_write> grad_input: array<f32>;
@group(0) @binding(3) var<uniform> params: Params;

// The upstream gradient of an output, or 0 where there is none.
fn upstream(oh: u32, ow: u32) -> f32 {
  if (oh >= params.out_h || ow >= params.out_w) { return 0.0; }
  return grad_output[oh * params.out_w + ow];
}

@compute @workgroup_size(64)
fn main(@builtin(global_invocation_id) global: vec3u) {
  let index = global.x;
  if (index >= params.in_h * params.in_w) { return; }
  let iw = index % params.in_w;
  let ih = index / params.in_w;
  var sum = 0.0;
  // 1. Loop over kh and kw: every weight of the filter.
  for (var kh = 0u; kh < params.kernel_h; kh++) {  // *
    for (var kw = 0u; kw < params.kernel_w; kw++) {  // *
      // 2. Which output had my pixel under this weight? Add its upstream
      //    gradient, from the function above, times the weight.
      let gradient = upstream(ih - kh, iw - kw);  // *
      sum += gradient * weight[kh * params.kernel_w + kw];  // *
    }  // *
  }  // *
  grad_input[index] = sum;
}
